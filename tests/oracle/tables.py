"""All tables, in the order of the families."""

from . import (
    cases_comparison,
    cases_conversion,
    cases_convolution,
    cases_creation,
    cases_functions,
    cases_gathering,
    cases_in_place,
    cases_indexed_writes,
    cases_indexing,
    cases_joining,
    cases_linear_algebra,
    cases_nn_functional,
    cases_normalization,
    cases_order,
    cases_padding,
    cases_pointwise_binary,
    cases_pointwise_unary,
    cases_printing,
    cases_products,
    cases_random_numbers,
    cases_reductions,
    cases_views,
)
from .spec import Case, Table

TABLES: tuple[Table, ...] = (
    cases_pointwise_unary.TABLE,
    cases_pointwise_binary.TABLE,
    cases_functions.TABLE,
    cases_order.TABLE,
    cases_comparison.TABLE,
    cases_reductions.TABLE,
    cases_linear_algebra.TABLE,
    cases_views.TABLE,
    cases_joining.TABLE,
    cases_indexing.TABLE,
    cases_indexed_writes.TABLE,
    cases_gathering.TABLE,
    cases_creation.TABLE,
    cases_random_numbers.TABLE,
    cases_in_place.TABLE,
    cases_conversion.TABLE,
    cases_nn_functional.TABLE,
    cases_normalization.TABLE,
    cases_padding.TABLE,
    cases_convolution.TABLE,
    cases_printing.TABLE,
    cases_products.TABLE,
)

CASES: tuple[Case, ...] = tuple(case for table in TABLES for case in table.cases)
