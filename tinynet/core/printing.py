"""The text of printed tensors, in PyTorch's layout, and of numbers with their nouns.

This file handles only arrays and text. ``Tensor.__repr__`` calls ``format_tensor``; users call
``set_printoptions``.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.dtypes import Array

_PREFIX = "tensor("
_CUT = "..."

# Beyond these a fixed number of decimals would hide digits or waste width (PyTorch's bounds).
_LARGEST_FIXED = 1e8
_SMALLEST_FIXED = 1e-4
_WIDEST_RATIO = 1000.0


class _Options(NamedTuple):
    """The settings that ``set_printoptions`` changes; see there for each field."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=float("inf")),
}

_options = _Options()


# ---- options -------------------------------------------------------------------------------


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: Literal["default", "short", "full"] | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set options for printing tensors; omitted options keep their values.

    Args:
        precision: digits after the point of a float (4).
        threshold: number of elements above which a tensor is summarised (1000).
        edgeitems: elements kept at both ends of each dimension of a summary (3).
        linewidth: characters per line before a row is wrapped (80).
        profile: a set of the above to start from: "default", "short" or "full".
        sci_mode: scientific notation always (True), never (False) or if needed (None). As in
            PyTorch, a call without it resets it to None.

    Raises:
        ValueError: an unknown profile, or a number out of range.

    Example:
        >>> tn.set_printoptions(precision=2)
        >>> tn.tensor([1.12345])
        tensor([1.12])
        >>> tn.set_printoptions(profile="default")
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        known = ", ".join(repr(name) for name in _PROFILES)
        raise ValueError(
            f"The 'profile' parameter of set_printoptions must be one of {known}. "
            f"Got {profile!r} instead."
        )
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for name, value in changes.items():
        _check_size(name, value, whole=name != "threshold")
    start = _options if profile is None else _PROFILES[profile]
    _options = start._replace(**changes, sci_mode=sci_mode)


def _check_size(name: str, value: Any, whole: bool) -> None:
    kind = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if not isinstance(value, kind) or isinstance(value, bool) or not value >= 0:
        what = "an integer >= 0" if whole else "a number >= 0"
        raise ValueError(
            f"The {name!r} parameter of set_printoptions must be {what}. Got {value!r} instead."
        )


# ---- the whole tensor ----------------------------------------------------------------------


def format_tensor(array: Array, dtype_suffix: str = "", tail: Sequence[str] = ()) -> str:
    """Return ``array`` as PyTorch prints a tensor that holds these values.

    Args:
        array: bool, integer or float values of any shape.
        dtype_suffix: the text for the dtype; empty if it is implied (``shows_dtype``).
        tail: further text, such as ``"requires_grad=True"``, on a new line if the current one
            would exceed the line width.

    Example:
        >>> print(format_tensor(np.array([1.5, 2.0]), "dtype=tinynet.float64"))
        tensor([1.5000, 2.0000], dtype=tinynet.float64)
        >>> print(format_tensor(np.eye(2), tail=["requires_grad=True"]))
        tensor([[1., 0.],
                [0., 1.]], requires_grad=True)
    """
    facts = [f"size={array.shape}"] if _shows_size(array) else []
    if dtype_suffix:
        facts.append(dtype_suffix)
    return _with_tail(_PREFIX + _format_values(array), [*facts, *tail])


def shows_dtype(array: Array, default: np.dtype[Any]) -> bool:
    """Return whether the text must name the dtype.

    Elements imply bool, int64 and the default float dtype, also of complex parts; without elements
    only the default dtype is implied.
    """
    implied = ("bool", "int64", dtypes.complex_of(default).name)
    return not (array.dtype == default or (array.size > 0 and array.dtype.name in implied))


def _shows_size(array: Array) -> bool:
    return array.ndim != 1 if array.size == 0 else _options.edgeitems == 0


def _with_tail(text: str, tail: list[str]) -> str:
    # PyTorch reserves two columns for what follows, but none after a line it has just begun;
    # outputs must agree to the byte, so that is kept.
    used = len(text) - (text.rfind("\n") + 1) + 2
    for part in tail:
        if used + len(part) + 2 > _options.linewidth:
            text += ",\n" + " " * len(_PREFIX) + part
            used = len(_PREFIX) + len(part)
        else:
            text += ", " + part
            used += len(part) + 2
    return text + ")"


# ---- the values ----------------------------------------------------------------------------


def _format_values(array: Array) -> str:
    if array.size == 0:
        return "[]"
    edge = _options.edgeitems
    cut = tuple(array.size > _options.threshold and size > 2 * edge for size in array.shape)
    if any(cut):
        if edge == 0:
            return f"[{_CUT}]"
        array = _edges(array, edge, cut)
    if array.dtype.kind == "c":
        show, width = _complex_style(array)
    elif dtypes.is_floating(array.dtype):
        array = array.astype(np.float64)
        show, width = _padded(*_float_style(array))
    else:
        show, width = _padded(*_plain_style(array))
    return _format_block(array, show, width, cut)


def _edges(array: Array, edge: int, cut: tuple[bool, ...]) -> Array:
    """Return only the rows, columns, ... shown in a summary."""
    for axis, (size, short) in enumerate(zip(array.shape, cut, strict=True)):
        if short:
            array = array.take([*range(edge), *range(size - edge, size)], axis=axis)
    return array


def _format_block(
    array: Array,
    show: Callable[[Any], str],
    width: int,
    cut: tuple[bool, ...],
) -> str:
    """Return the lines of an array or summary; the bracket of dimension d is in column 7 + d."""
    if array.ndim == 0:
        return show(array.item())
    column = len(_PREFIX) + len(cut) - array.ndim
    new_line = "\n" + " " * (column + 1)
    edge = _options.edgeitems
    if array.ndim > 1:
        blocks = [_format_block(part, show, width, cut) for part in array]
        if cut[-array.ndim]:
            blocks.insert(edge, _CUT)
        return "[" + ("," + "\n" * (array.ndim - 2) + new_line).join(blocks) + "]"
    cells = [show(value) for value in array.tolist()]
    if cut[-1]:
        cells.insert(edge, " " + _CUT)
    per_line = max(1, (_options.linewidth - column) // (width + 2))
    lines = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
    return "[" + ("," + new_line).join(lines) + "]"


# ---- one value -----------------------------------------------------------------------------


def _padded(show: Callable[[Any], str], width: int) -> tuple[Callable[[Any], str], int]:
    return lambda value: show(value).rjust(width), width


def _plain_style(array: Array) -> tuple[Callable[[Any], str], int]:
    return str, max(len(str(value)) for value in array.ravel().tolist())


def _float_style(array: Array) -> tuple[Callable[[float], str], int]:
    """Choose one notation and width for all floats of a tensor.

    Zeros, infinities and nans are ignored. Whole numbers are written as ``7.``, others with a fixed
    number of decimals, and both in scientific notation if they would not fit.
    """
    decisive = array[np.isfinite(array) & (array != 0)]
    if decisive.size == 0:
        return _whole, 1
    sizes = np.abs(decisive)
    low, high = float(sizes.min()), float(sizes.max())
    whole = bool((np.ceil(decisive) == decisive).all())
    scientific = _options.sci_mode
    if scientific is None:
        too_small = not whole and low < _SMALLEST_FIXED
        scientific = high / low > _WIDEST_RATIO or high > _LARGEST_FIXED or too_small
    show: Callable[[float], str]
    if scientific:
        show = f"{{:.{_options.precision}e}}".format
    elif whole:
        show = _whole
    else:
        show = f"{{:.{_options.precision}f}}".format
    return show, max(len(show(value)) for value in decisive.tolist())


def _complex_style(array: Array) -> tuple[Callable[[complex], str], int]:
    """Choose the notations of the real and of the imaginary parts, each for itself."""
    (real, wide), (imaginary, high) = map(
        _float_style, (array.real.astype(np.float64), array.imag.astype(np.float64))
    )

    def show(value: complex) -> str:
        end = imaginary(value.imag)
        return f"{real(value.real).rjust(wide)}{'' if end.startswith('-') else '+'}{end}j"

    return show, wide + high + 1


def _whole(value: float) -> str:
    text = f"{value:.0f}"
    return text if text.endswith(("f", "n")) else text + "."  # inf and nan take no point


def quantity(count: int | str, noun: str, many: str = "") -> str:
    """Return a number with its noun, for a message.

    Args:
        count: the number, or its text.
        noun: the noun of one.
        many: its plural; by default with an ``s``.

    Example:
        >>> from tinynet.core.printing import quantity
        >>> quantity(1, "name"), quantity("1,562", "step"), quantity(0, "batch", "batches")
        ('1 name', '1,562 steps', '0 batches')
    """
    return f"{count} {noun if str(count) == '1' else many or f'{noun}s'}"
