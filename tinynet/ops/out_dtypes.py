"""Rules for the dtype of ``out=``, with PyTorch's errors for other dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet.core.declaration.out_argument import OutRules
from tinynet.dtypes import Array
from tinynet.ops.argument_errors import c_name, name_of


def same_dtype(*texts: str, **rules: Any) -> OutRules:
    """Return the rule that ``out`` must have the dtype of the result.

    Args:
        texts: the error for another dtype: one text per result, or one for all. ``{name}`` stands
            for the operation; ``{result}`` and ``{out}`` for the dtypes, as in ``Float``;
            ``{result_c}`` and ``{out_c}`` for their names in C; ``{is_int32}`` for whether the
            result has dtype int32.
        rules: further rules, see ``OutRules``.
    """
    return OutRules(texts=tuple(_error(text) for text in texts), **rules)


def _error(text: str) -> Callable[[str, Array, Array], str]:
    def error(name: str, result: Array, out: Array) -> str:
        return text.format(
            name=name,
            result=name_of(result),
            out=name_of(out),
            result_c=c_name(result),
            out_c=c_name(out),
            is_int32=result.dtype == np.int32,
        )

    return error


# The rules of several families.
EXPECTED_TEXT = "Expected out tensor to have dtype {result_c}, but got {out_c} instead"
EXPECTED = same_dtype(EXPECTED_TEXT)
FOUND = same_dtype("Found dtype {out} but expected {result}")
FOUND_SCALAR_TYPE = same_dtype("expected scalar type {result} but found {out}")
BOOLEAN = same_dtype("{name} does not support non-boolean outputs.")
