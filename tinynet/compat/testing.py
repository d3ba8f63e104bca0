"""``torch.testing``: assertions on tensors, and random tensors for tests."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import type_info
from tinynet.ops import complex, rand, randint, tensor

_TOLERANCES = {  # dtype -> rtol, atol; the others are compared exactly
    dtypes.float16: (1e-3, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
}
_NUMBERS = (bool, int, float, np.number, np.bool_)


@dataclasses.dataclass(frozen=True)
class _Comparison:
    """The options of ``assert_close``, and the comparison."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_dtype: bool
    check_stride: bool
    allow_subclasses: bool
    msg: str | Callable[[str], str] | None

    def fail(self, text: str, path: str, kind: type[Exception] = AssertionError) -> None:
        """Raise with the text, or with the user's message."""
        if path:
            text = f"{text}\n\nThe failure occurred for item {path}"
        raise kind(self.msg(text) if callable(self.msg) else self.msg or text)

    def compare(self, actual: Any, expected: Any, path: str = "") -> None:
        """Compare two values of any type."""
        pair = actual, expected
        if all(isinstance(x, Mapping) for x in pair):
            self._mappings(actual, expected, path)
        elif all(isinstance(x, Sequence) and not isinstance(x, str) for x in pair):
            self._sequences(actual, expected, path)
        elif actual is None or expected is None:
            if actual is not expected:
                self.fail(f"None mismatch: {actual} is not {expected}", path)
        elif all(isinstance(x, Tensor | np.ndarray) for x in pair):
            self._tensors(actual, expected, path)
        elif all(isinstance(x, _NUMBERS) for x in pair):
            self._numbers(actual, expected, path)
        else:
            self.fail(
                "No comparison pair was able to handle inputs of type "
                f"{type(actual)} and {type(expected)}.",
                path,
                TypeError,
            )

    def _mappings(self, actual: Any, expected: Any, path: str) -> None:
        if actual.keys() != expected.keys():
            missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
            self.fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing)}\n"
                f"Additional keys in the actual mapping: {sorted(more)}",
                path,
            )
        for key in expected:
            self.compare(actual[key], expected[key], f"{path}[{key!r}]")

    def _sequences(self, actual: Any, expected: Any, path: str) -> None:
        if len(actual) != len(expected):
            self.fail(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path
            )
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            self.compare(a, e, f"{path}[{i}]")

    def _tolerances(self, *kinds: Any) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        return _largest(_TOLERANCES, *kinds)

    def _numbers(self, actual: Any, expected: Any, path: str) -> None:
        if isinstance(actual, bool | np.bool_) and isinstance(expected, bool | np.bool_):
            if actual != expected:
                self.fail(f"Booleans mismatch: {actual} is not {expected}", path)
            return
        if self.check_dtype and type(actual) is not type(expected):
            self.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", path)
        kinds = [
            dtypes.float64 if isinstance(x, float | np.floating) else dtypes.int64
            for x in (actual, expected)
        ]
        rtol, atol = self._tolerances(*kinds)
        if bool(np.isclose(actual, expected, rtol, atol, self.equal_nan)):
            return
        self._fail_numbers(actual, expected, rtol, atol, path)

    def _fail_numbers(
        self, actual: Any, expected: Any, rtol: float, atol: float, path: str
    ) -> None:
        difference = abs(actual - expected)
        relative = difference / abs(expected) if expected else math.inf
        self.fail(
            f"Scalars are not {_word(rtol, atol)}!\n\nExpected {expected} but got {actual}.\n"
            f"Absolute difference: {difference}{_allowed(rtol, atol, atol)}\n"
            f"Relative difference: {relative}{_allowed(rtol, atol, rtol)}",
            path,
        )

    def _tensors(self, actual: Any, expected: Any, path: str) -> None:
        if not self.allow_subclasses and type(actual) is not type(expected):
            self.fail(
                "No comparison pair was able to handle inputs of type "
                f"{type(actual)} and {type(expected)}.",
                path,
                TypeError,
            )
        actual, expected = (x if isinstance(x, Tensor) else tensor(x) for x in (actual, expected))
        for checked, what in ((True, "shape"), (self.check_dtype, "dtype")):
            mine, its = getattr(actual, what), getattr(expected, what)
            if checked and mine != its:
                self.fail(f"The values for attribute '{what}' do not match: {mine} != {its}.", path)
        if self.check_stride and actual.stride() != expected.stride():
            self.fail(
                "The values for attribute 'stride()' do not match: "
                f"{actual.stride()} != {expected.stride()}.",
                path,
            )
        rtol, atol = self._tolerances(actual.dtype, expected.dtype)
        kind = dtypes.promoted(actual._array.dtype, expected._array.dtype)
        a, e = (np.asarray(x.detach()._array, kind) for x in (actual, expected))
        self._arrays(a, e, rtol, atol, path)

    def _arrays(self, actual: Any, expected: Any, rtol: float, atol: float, path: str) -> None:
        whole = not dtypes.is_floating(actual.dtype)
        with np.errstate(all="ignore"):
            if whole and rtol == atol == 0:
                matches = np.asarray(actual == expected)
            else:
                matches = np.asarray(np.isclose(actual, expected, rtol, atol, self.equal_nan))
            if matches.all():
                return
            if not matches.ndim:
                self._fail_numbers(actual.item(), expected.item(), rtol, atol, path)
            kind = np.int64 if whole else actual.dtype
            apart = np.abs(actual.astype(kind) - expected.astype(kind))
            difference = np.where(matches, 0, apart)
            relative = np.where(matches, 0, apart / np.abs(expected.astype(kind)))
        wrong = int((~matches).sum())
        lines = [f"Mismatched elements: {wrong} / {matches.size} ({wrong / matches.size:.1%})"]
        for what, values, bound in (
            ("absolute", difference, atol),
            ("relative", relative, rtol),
        ):
            place = np.unravel_index(int(np.argmax(values)), values.shape)
            at = tuple(int(i) for i in place)
            lines.append(
                f"Greatest {what} difference: {values[at].item()} at index {at}"
                f"{_allowed(rtol, atol, bound)}"
            )
        text = "\n".join(lines)
        self.fail(f"Tensor-likes are not {_word(rtol, atol)}!\n\n{text}", path)


def _largest(tolerances: Mapping[Any, tuple[float, float]], *kinds: Any) -> tuple[float, float]:
    """Return the largest rtol and atol of some dtypes; 0 for a dtype that is not listed."""
    known = [tolerances.get(kind, (0.0, 0.0)) for kind in kinds]
    return max(rtol for rtol, _ in known), max(atol for _, atol in known)


def default_tolerances(
    *inputs: Tensor | dtypes.dtype,
    dtype_precisions: Mapping[dtypes.dtype, tuple[float, float]] | None = None,
) -> tuple[float, float]:
    """Return the largest default tolerances of the dtypes of tensors (or of dtypes).

    Args:
        inputs: the tensors, or dtypes.
        dtype_precisions: rtol and atol of each dtype; PyTorch's by default.

    Example:
        >>> from tinynet.compat import testing
        >>> testing.default_tolerances(tn.ones(1), tn.float64)
        (1.3e-06, 1e-05)
    """
    kinds = [x.dtype if isinstance(x, Tensor) else x for x in inputs]
    return _largest(dtype_precisions or _TOLERANCES, *kinds)


def get_tolerances(
    *inputs: Tensor | dtypes.dtype, rtol: float | None, atol: float | None
) -> tuple[float, float]:
    """Return the tolerances that `assert_close` takes: those given, or the default ones.

    Args:
        inputs: the tensors, or dtypes.
        rtol, atol: the tolerances, both or neither.

    Raises:
        ValueError: one is given without the other.
    """
    _both_or_neither(rtol, atol)
    return default_tolerances(*inputs) if rtol is None or atol is None else (rtol, atol)


def _both_or_neither(rtol: float | None, atol: float | None) -> None:
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}."
        )


def _word(rtol: float, atol: float) -> str:
    return "equal" if rtol == atol == 0 else "close"


def _allowed(rtol: float, atol: float, bound: float) -> str:
    return "" if rtol == atol == 0 else f" (up to {bound} allowed)"


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Check that ``|actual - expected| <= atol + rtol * |expected|``, element by element.

    Args:
        actual, expected: tensors, numpy arrays, numbers, None, or sequences and mappings of them.
        allow_subclasses: accept different classes if one is a subclass of the other.
        rtol, atol: the tolerances, both or neither; by default the dtype's: 1e-3 and 1e-5
            for float16, 1.3e-6 and 1e-5 for float32, 1e-7 for both for float64, 0 for integers.
        equal_nan: treat NaNs as equal.
        check_device, check_layout: accepted for compatibility; there is one device.
        check_dtype: require equal dtypes.
        check_stride: require equal strides.
        msg: the text of the error, or a function of the default text that returns it.

    Raises:
        AssertionError: values, shapes, dtypes, lengths or keys differ.
        ValueError: only one tolerance is given.
        TypeError: the values cannot be compared.

    Example:
        >>> from tinynet.compat import testing
        >>> testing.assert_close(tn.ones(2), tn.ones(2) + 1e-7)
        >>> testing.assert_close([1, 2.5], [1, 2.5])
    """
    _both_or_neither(rtol, atol)
    _Comparison(rtol, atol, equal_nan, check_dtype, check_stride, allow_subclasses, msg).compare(
        actual, expected
    )


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Check that tensors are close; the deprecated predecessor of ``assert_close``.

    Args:
        actual, expected: tensors, or objects convertible to tensors.
        rtol, atol: the tolerances, both or neither.
        equal_nan: treat NaNs as equal.
        msg: the text of the error.

    Raises:
        AssertionError: values or shapes differ.

    Example:
        >>> import warnings
        >>> from tinynet.compat import testing
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     testing.assert_allclose(tn.ones(2), [1, 1])
    """
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    a = actual if isinstance(actual, Tensor) else tensor(actual)
    e = expected if isinstance(expected, Tensor) else tensor(expected, dtype=a.dtype)
    if rtol is None and atol is None:
        old = {
            dtypes.float16: (1e-3, 1e-3),
            dtypes.float32: (1e-4, 1e-5),
            dtypes.float64: (1e-5, 1e-8),
        }
        rtol, atol = _largest(old, a.dtype, e.dtype)
    assert_close(
        a, e, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )


def make_tensor(
    *shape: Any,
    dtype: dtypes.dtype,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return a tensor of numbers drawn uniformly from ``[low, high)``.

    Args:
        *shape: its shape.
        dtype: its dtype.
        device: the CPU.
        low, high: the range; by default -9 to 9, and 0 and 1 for bools.
        requires_grad: whether it requires gradients.
        noncontiguous: return a non-contiguous tensor.
        exclude_zero: replace zeros by ones, or by the smallest normal number.
        memory_format: accepted for compatibility.

    Raises:
        ValueError: the range is empty or exceeds the dtype's, or arguments exclude each
            other.

    Example:
        >>> from tinynet.compat import testing
        >>> testing.make_tensor(2, 3, dtype=tn.int64, device="cpu", low=3, high=4)
        tensor([[3, 3, 3],
                [3, 3, 3]])
    """
    sizes = [*shape[0]] if len(shape) == 1 and isinstance(shape[0], Sequence) else [*shape]
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not inexact:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}"
        )
    first, last = _range(dtype, low, high)
    apart = noncontiguous and math.prod(sizes) > 1
    if apart:
        sizes[-1] *= 2
    if inexact:
        parts = [
            rand(sizes, dtype=dtypes.float64) * (last - first) + first
            for _ in range(1 + dtype.is_complex)
        ]
        made = (complex(*parts) if dtype.is_complex else parts[0]).to(dtype)
    else:
        made = randint(int(first), int(last), sizes, dtype=dtype)
    if apart:
        made = made[..., 1::2]
    if exclude_zero:
        made[made == 0] = type_info.finfo(dtype).tiny if inexact else 1
    return made.requires_grad_(requires_grad)


def _range(dtype: dtypes.dtype, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the bounds, clipped to the range of the dtype."""
    least: Any
    most: Any
    if dtype is dtypes.bool:
        least, most, usual = 0, 2, (0, 2)
    elif dtype.is_floating_point or dtype.is_complex:
        info = type_info.finfo(dtype)
        least, most, usual = info.min, info.max, (-9, 9)
    else:
        whole = type_info.iinfo(dtype)
        least, most, usual = whole.min, whole.max + (dtype is not dtypes.int64), (-9, 10)
    low, high = (usual[0] if low is None else low), (usual[1] if high is None else high)
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    inexact = dtype.is_floating_point or dtype.is_complex
    if low > high or (low == high and not inexact):
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{least}, {most})"
        )
    low, high = (min(max(x, least), most) for x in (low, high))
    return (low, high) if inexact else (math.ceil(low), math.ceil(high))
