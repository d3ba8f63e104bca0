"""Discrete Fourier transforms: ``torch.fft``.

A forward transform is ``y[j] = sum(x[k] exp(-2 pi i j k / n))`` over k (Cooley and Tukey, 1965); an
inverse one has ``exp(+...)`` and a factor 1 / n. ``norm`` places this factor: ``"backward"`` (the
default) on the inverse, ``"forward"`` on the forward transform, ``"ortho"`` its root on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import dtypes, errors, ops
from tinynet.core.complex_rules import conjugate
from tinynet.core.declaration.composite import called, composite
from tinynet.core.devices import DeviceLike
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import DtypeLike
from tinynet.ops.arguments import EXPECTED, is_whole, name_of
from tinynet.ops.fourier import complex_transform, real_transform, transform_to_real
from tinynet.ops.pointwise.conversion import converted
from tinynet.ops.shaping.views import axis_of, cut

Lengths = Sequence[int] | None


def _scale_of(norm: str | None, forward: bool) -> str:
    """Return how a transform is scaled: ``"none"``, ``"root"`` or ``"all"``."""
    if norm == "ortho":
        return "root"
    if norm not in (None, "forward", "backward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return "all" if (norm == "forward") == forward else "none"


def _numbers(name: str, x: Any, real: bool) -> Tensor:
    """Return the input in a floating-point or complex dtype, which ``real`` excludes."""
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(f"fft_{name}", "input", 1, x)
    if real and x.is_complex():
        if name == "ihfftn":
            raise RuntimeError(
                f"Only supports floating-point dtypes, but found: {name_of(x._array)}"
            )
        what = "real-valued" if name.endswith("n") else "real"
        raise RuntimeError(f"{name} expects a {what} input tensor, but got {name_of(x._array)}")
    kind = x._array.dtype
    if not dtypes.is_inexact(kind):
        return converted(x, dtypes.default_float())
    if kind.itemsize == 2:
        raise RuntimeError(f"Unsupported dtype {name_of(x._array)}")
    return x


def _axes(x: Tensor, s: Lengths, dim: Any) -> tuple[tuple[int, ...], list[int]]:
    """Return the dimensions to transform and their lengths."""
    shape, ndim = x._array.shape, x._array.ndim
    if dim is not None:
        if not ndim and len(dim):
            raise IndexError(f"Dimension specified as {dim[0]} but tensor has no dimensions")
        axes = [axis_of(d, ndim) for d in dim]
        if len(set(axes)) < len(axes):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(axes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > ndim:
            raise RuntimeError(
                f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions."
            )
        axes = [*range(ndim - len(s), ndim)]
    else:
        axes = [*range(ndim)]
    lengths = [shape[a] for a in axes] if s is None else [*s]
    return tuple(axes), [shape[a] if n == -1 else n for a, n in zip(axes, lengths, strict=True)]


def _resized(x: Tensor, axes: Sequence[int], lengths: Sequence[int]) -> Tensor:
    """Cut dimensions to lengths, or append zeros."""
    for axis, length in zip(axes, lengths, strict=True):
        own = x._array.shape[axis]
        if length < own:
            x = cut.function(x, axis, slice(0, length))
        elif length > own:
            more = [length - own if i == axis else n for i, n in enumerate(x._array.shape)]
            x = ops.cat([x, ops.zeros(more, dtype=x.dtype)], axis)
    return x


def _refuse_empty(lengths: Sequence[int]) -> None:
    for length in lengths:
        if length < 1:
            raise RuntimeError(f"Invalid number of data points ({length}) specified")


def _some(name: str, axes: Sequence[int]) -> None:
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")


def _to_complex(name: str, x: Any, s: Lengths, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """Return the transform of real or complex numbers: ``fftn``, ``ifftn``."""
    x = _numbers(name, x, real=False)
    axes, lengths = _axes(x, s, dim)
    _refuse_empty(lengths)
    x, scale = _resized(x, axes, lengths), _scale_of(norm, forward)
    if x.is_complex() or not axes:
        x = converted(x, dtypes.complex_of(x._array.dtype))
        return complex_transform.function(x, axes, scale, forward)
    found = real_transform.function(x, axes, scale, False)
    return found if forward else conjugate(found)


def _from_real(name: str, x: Any, s: Lengths, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """Return half of the spectrum of real numbers: ``rfftn``, ``ihfftn``."""
    x = _numbers(name, x, real=True)
    axes, lengths = _axes(x, s, dim)
    _some(name, axes)
    _refuse_empty(lengths)
    x, scale = _resized(x, axes, lengths), _scale_of(norm, forward)
    if forward:
        return real_transform.function(x, axes, scale, True)
    half = conjugate(real_transform.function(x, axes[-1:], scale, True))
    return complex_transform.function(half, axes[:-1], scale, False) if axes[:-1] else half


def _to_real(name: str, x: Any, s: Lengths, dim: Any, norm: str | None, forward: bool) -> Tensor:
    """Return the real numbers of half a spectrum: ``irfftn``, ``hfftn``."""
    x = _numbers(name, x, real=False)
    axes, lengths = _axes(x, s, dim)
    _some(name, axes)
    if s is None or s[-1] == -1:
        lengths[-1] = 2 * (x._array.shape[axes[-1]] - 1)
    _refuse_empty(lengths)
    x = _resized(x, axes, [*lengths[:-1], lengths[-1] // 2 + 1])
    x = converted(x, dtypes.complex_of(x._array.dtype))
    scale = _scale_of(norm, forward)
    if not forward:
        return transform_to_real.function(x, axes, scale, lengths[-1])
    if axes[:-1]:
        x = complex_transform.function(x, axes[:-1], scale, True)
    return transform_to_real.function(conjugate(x), axes[-1:], scale, lengths[-1])


@traced
def _frequencies(n: int, d: float, half: bool) -> Any:
    """Return the frequencies of a transform in cycles per unit, of a whole or half a spectrum."""
    return np.fft.rfftfreq(n, d) if half else np.fft.fftfreq(n, d)


# ---- the functions ----


Family = Callable[..., Tensor]
_SOURCES = {
    "fft": (_to_complex, True, "the Fourier transform", "real or complex"),
    "ifft": (_to_complex, False, "the inverse Fourier transform", "real or complex"),
    "rfft": (_from_real, True, "half of the Fourier transform of real numbers", "real"),
    "irfft": (_to_real, False, "the inverse of ``{r}``, which is real", "real or complex"),
    "hfft": (_to_real, True, "the transform of half a Hermitian signal, which is real",
             "real or complex"),
    "ihfft": (_from_real, False, "half of the inverse transform of real numbers", "real"),
}  # fmt: skip
_FORWARD = "y[j] = sum(x[k] * exp(-2 pi i j k / n))"
_INVERSE = "y[j] = sum(x[k] * exp(2 pi i j k / n)) / n"
_LENGTHS = "its length, by default the input's: cut, or extended by zeros"
_HALVES = "the length of the result, by default 2 (n - 1) for n numbers"
_EXAMPLES = {
    "fft": ("[1.0, 2.0, 3.0, 4.0]", "tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])"),
    # No zeros here: their signs depend on the processor.
    "ifft": ("[10 + 10j, -2 - 2j, -2 - 2j, -2 - 2j]", "tensor([1.+1.j, 3.+3.j, 3.+3.j, 3.+3.j])"),
    "rfft": ("[1.0, 2.0, 3.0, 4.0]", "tensor([10.+0.j, -2.+2.j, -2.+0.j])"),
    "irfft": ("[10.0, -2.0, -2.0]", "tensor([1., 3., 3., 3.])"),
    "hfft": ("[1.0, 2.0, 3.0]", "tensor([ 8., -2.,  0., -2.])"),
    "ihfft": (
        "[1.0, 2.0, 3.0, 4.0]",
        "tensor([ 2.5000-0.0000j, -0.5000-0.5000j, -0.5000-0.0000j])",
    ),
}


def _documented(function: Any, name: str, over: str, arguments: str) -> Any:
    source, forward, what, kinds = _SOURCES[name.rstrip("2n")]
    lengths = _HALVES if source is _to_real else _LENGTHS
    base, example = name.rstrip("2n"), _EXAMPLES[name.rstrip("2n")]
    given, shown = f"tn.tensor({example[0]})", example[1]
    if name != base:
        given, shown = f"{given}[None]", shown.replace("tensor([", "tensor([[").replace("])", "]])")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return {what.format(r=name.removeprefix("i"))}, over {over}.

    Along a dimension of n numbers, ``{_FORWARD if forward else _INVERSE}``.

    Args:
        input: a {kinds} tensor.
        {arguments.format(lengths=lengths)}
        norm: ``"backward"``, ``"ortho"`` or ``"forward"``, see ``tinynet.fft``.

    Raises:
        RuntimeError: an unknown ``norm``, no data points, or an unsuitable dtype.
        IndexError: a dimension is out of range.

    Example:
        >>> tn.fft.{name}({given})
        {shown}
    """
    return called(function, out=EXPECTED)


def _family(name: str) -> tuple[Family, Family, Family]:
    """Return the functions of a family for one, two and any number of dimensions."""
    source, forward, _, _ = _SOURCES[name]

    def one(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        if n is not None and not is_whole(n):
            kind = type(n).__name__
            raise TypeError(f"fft_{name}(): argument 'n' must be int, not {kind}")
        return source(name, input, None if n is None else (int(n),), (dim,), norm, forward)

    def two(
        input: Tensor,
        s: Sequence[int] | None = None,
        dim: Sequence[int] = (-2, -1),
        norm: str | None = None,
    ) -> Tensor:
        return several(input, s, dim, norm)

    def several(
        input: Tensor,
        s: Sequence[int] | None = None,
        dim: Sequence[int] | None = None,
        norm: str | None = None,
    ) -> Tensor:
        axes = (dim,) if is_whole(dim) else dim
        return source(
            f"{name}n", input, (s,) if isinstance(s, (int, np.integer)) else s, axes, norm, forward
        )

    single = "n: {lengths}.\n        dim: the dimension."
    plural = "s: for each dimension {lengths}; -1 is the default.\n        dim: the dimensions."
    return (
        _documented(one, name, "one dimension", single),
        _documented(two, f"{name}2", "two dimensions", plural),
        _documented(several, f"{name}n", "all or several dimensions", plural),
    )


fft, fft2, fftn = _family("fft")
ifft, ifft2, ifftn = _family("ifft")
rfft, rfft2, rfftn = _family("rfft")
irfft, irfft2, irfftn = _family("irfft")
hfft, hfft2, hfftn = _family("hfft")
ihfft, ihfft2, ihfftn = _family("ihfft")

# ---- frequencies and their order ----------------------------------------------------------------


def _made(found: Any, dtype: DtypeLike, device: DeviceLike, requires_grad: bool) -> Tensor:
    kind = dtype if dtype is not None else ops.zeros(()).dtype
    return ops.tensor(np.asarray(found), dtype=kind, device=device, requires_grad=requires_grad)


@composite(module=True, out=True)
def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the frequencies of the results of ``fft``, in cycles per unit.

    They are ``k / (n * d)`` for k = 0, 1, ..., -2, -1.

    Args:
        n: the number of data points.
        d: the distance between them.
        dtype: the default dtype if None.
        device: only ``"cpu"``.
        requires_grad: whether autograd records operations on the result.

    Example:
        >>> tn.fft.fftfreq(4)
        tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _made(_frequencies(n, d, False) if n else [], dtype, device, requires_grad)


@composite(module=True, out=True)
def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the frequencies of the results of ``rfft``, in cycles per unit; see ``fftfreq``.

    Example:
        >>> tn.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """
    return _made(_frequencies(n, d, True) if n else [0.0], dtype, device, requires_grad)


def _rolled(input: Tensor, dim: Any, part: Callable[[int], int]) -> Tensor:
    ndim = input._array.ndim
    dims = [*range(ndim)] if dim is None else [dim] if is_whole(dim) else [*dim]
    axes = [axis_of(d, ndim) for d in dims]
    return ops.roll(input, [part(input._array.shape[a]) for a in axes], axes) if axes else input


def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Move the frequency zero from the start to the middle: ``y[k] = x[(k - n // 2) % n]``.

    Args:
        input: the results of a transform.
        dim: the dimensions, by default all.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> tn.fft.fftshift(tn.fft.fftfreq(4))
        tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _rolled(input, dim, lambda n: n // 2)


def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Move the frequency zero from the middle to the start: the inverse of ``fftshift``.

    Args:
        input: what ``fftshift`` returned.
        dim: the dimensions, by default all.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> tn.fft.ifftshift(tn.tensor([-2, -1, 0, 1]))
        tensor([ 0,  1, -2, -1])
    """
    return _rolled(input, dim, lambda n: (n + 1) // 2)


__all__ = [
    "fft",
    "fft2",
    "fftn",
    "ifft",
    "ifft2",
    "ifftn",
    "rfft",
    "rfft2",
    "rfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "hfft",
    "hfft2",
    "hfftn",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
]
