"""The batching rule of each operation, from its declaration or from the lists here."""

from __future__ import annotations

from typing import Any

from tinynet.batching import convolution, indexing, layers, products
from tinynet.batching.rules import (
    DIMENSIONS,
    SHAPES,
    Rule,
    copied,
    dimensions,
    elementwise,
    embedded,
    expanded,
    folded,
    leading,
    of_all,
    of_difference,
    permuted,
    repeated,
    squeezed,
    transposed,
)

FAMILIES: dict[str, Rule] = {}


def rule_of(op: Any) -> Rule | None:
    """Return the batching rule of an operation; None: example by example."""
    found = FAMILIES.get(op.name)
    if found is not None or op.name in EXAMPLE_BY_EXAMPLE:
        return found
    if op.attributes[:1] == ("how",) or op.attributes == ("pad",):  # resampling, padding
        return folded
    if op.kind == "pointwise":
        return elementwise
    if DIMENSIONS & {*op.attributes} or SHAPES & {*op.attributes}:
        return dimensions
    return None


EXAMPLE_BY_EXAMPLE = frozenset("take_sum renorm".split())


def _enter(rule: Rule, names: str) -> None:
    FAMILIES.update(dict.fromkeys(names.split(), rule))


_enter(
    elementwise,
    """
    alias cast clone contiguous_copy fill filled filled_with kept masked_by masked_number
    frexp higher_gamma mvlgamma nan_to_num number_minus power_number power_of_number scaled zeroed
    zeros_instead
    """,
)
# Kernels that take any number of dimensions before those that they are about.
_enter(
    leading,
    """
    attend attend_with_bias cholesky_and_info cofactors constant_pad determinant eigen_system
    inverse_and_info least_squares lower_upper matrix_exponential orthogonal_triangular
    pseudoinverse shuffled_pixels sign_and_log singular_system solution_and_info triangular tril
    triu unshuffled_pixels
    """,
)
# Kernels that compute each entry of the first dimension for itself.
_enter(
    folded,
    """
    adaptive_avg_pool2d adaptive_avg_pool3d adaptive_avg_spread2d adaptive_avg_spread3d
    adaptive_max_pool2d adaptive_max_pool3d adaptive_max_spread2d adaptive_max_spread3d
    affine_places affine_sums avg_pool2d avg_pool3d avg_spread2d avg_spread3d col2im
    fractional_max_pool2d fractional_max_pool3d grid_sampler2d grid_sampler3d grid_spread2d
    grid_spread3d im2col max_pool2d max_pool3d max_pool_halves max_pool_values max_spread2d
    max_spread3d max_taken max_unpool2d max_unpool3d plane_mean shuffled_channels
    """,
)
_enter(of_all("sum_dims"), "sum_all")
_enter(of_all("mean_dims"), "mean_all")
_enter(of_all("prod_dim"), "prod_all")
_enter(of_all("amax"), "max_all")
_enter(of_all("amin"), "min_all")
_enter(of_all("median_dim"), "median_all")
_enter(of_all("nanmedian_dim"), "nanmedian_all")
_enter(expanded, "expand_to")
_enter(repeated, "repeat_dims")
_enter(embedded, "embed")
_enter(permuted, "permute_dims")
_enter(transposed, "t")
_enter(squeezed, "squeeze_all squeezed")
_enter(
    copied,
    """
    copy bernoulli_values poisson_values binomial_values uniform_values random_values
    exponential_values cauchy_values log_normal_values geometric_values gamma_values
    """,
)
_enter(products.matrices, "mm")
_enter(products.stacks, "bmm")
_enter(products.matrix_vector, "mv")
_enter(products.vector_matrix, "row_product")
_enter(products.vectors, "dot vdot")
_enter(products.linear, "linear_map affine_map")
_enter(products.added_matrices, "addmm")
_enter(products.added_stacks, "baddbmm")
_enter(products.added_vector, "addmv")
_enter(indexing.taken, "index")
_enter(indexing.summed, "index_sum")
_enter(indexing.cleared, "cleared")
_enter(indexing.put, "index_set")
_enter(layers.rows, "embedding_rows")
_enter(layers.rows_summed, "summed_rows")
_enter(layers.row_norm, "layer_normalized rms_normalized")
_enter(layers.group_norm, "group_normalized batch_scaled")
_enter(layers.cross_entropy, "indexed_cross_entropy")
_enter(layers.likelihood, "likelihood likelihood_of_places")
_enter(layers.likelihood_slope, "likelihood_backward likelihood_of_places_backward")
_enter(layers.squared_error, "squared_error")
_enter(of_difference, "distance")
_enter(convolution.mapped, "convolve convolve_biased spread spread_biased")
_enter(convolution.weights, "correlate")
