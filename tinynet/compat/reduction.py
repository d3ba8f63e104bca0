"""``torch.nn._reduction``: numbers and names of the reductions of losses."""

from __future__ import annotations

from tinynet.nn.functional.checks import REDUCTIONS, legacy_reduction


def get_enum(reduction: str) -> int:
    """Return the number of a reduction: 0 for none, 1 for mean, 2 for sum.

    Raises:
        ValueError: there is no such reduction.

    Example:
        >>> from tinynet.compat import reduction
        >>> reduction.get_enum("mean")
        1
    """
    return ("none", "mean", "sum").index(legacy_reduction(None, None, reduction, REDUCTIONS))


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """Return the reduction that the deprecated arguments stand for, with PyTorch's warning.

    Args:
        size_average: the mean instead of the sum; True by default.
        reduce: a number instead of an element each; True by default.
        emit_warning: whether to warn.
    """
    average, one = size_average is not False, reduce is not False
    if emit_warning:
        return legacy_reduction(average, one, "mean")
    return "none" if not one else "mean" if average else "sum"


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """Return the number of the reduction; arguments as of ``legacy_get_string``."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
