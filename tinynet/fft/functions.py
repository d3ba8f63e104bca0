"""The functions of ``tinynet.fft``: each family for one, two and any number of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet import ops
from tinynet.core.declaration.composite import called, composite
from tinynet.core.devices import DeviceLike
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import DtypeLike
from tinynet.fft.transforming import frequencies, from_real, to_complex, to_real
from tinynet.ops.arguments import EXPECTED, is_whole
from tinynet.ops.shaping.views import axis_of

Family = Callable[..., Tensor]
_SOURCES = {
    "fft": (to_complex, True, "the Fourier transform", "real or complex"),
    "ifft": (to_complex, False, "the inverse Fourier transform", "real or complex"),
    "rfft": (from_real, True, "half of the Fourier transform of real numbers", "real"),
    "irfft": (to_real, False, "the inverse of ``{r}``, which is real", "real or complex"),
    "hfft": (to_real, True, "the transform of half a Hermitian signal, which is real",
             "real or complex"),
    "ihfft": (from_real, False, "half of the inverse transform of real numbers", "real"),
}  # fmt: skip
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
    source, _, what, kinds = _SOURCES[name.rstrip("2n")]
    lengths = _HALVES if source is to_real else _LENGTHS
    base, example = name.rstrip("2n"), _EXAMPLES[name.rstrip("2n")]
    given, shown = f"tn.tensor({example[0]})", example[1]
    if name != base:
        given, shown = f"{given}[None]", shown.replace("tensor([", "tensor([[").replace("])", "]])")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return {what.format(r=name.removeprefix("i"))}, over {over}.

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
    return _made(frequencies(n, d, False) if n else [], dtype, device, requires_grad)


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
    return _made(frequencies(n, d, True) if n else [0.0], dtype, device, requires_grad)


def _rolled(input: Tensor, dim: Any, part: Callable[[int], int]) -> Tensor:
    ndim = input._array.ndim
    dims = [*range(ndim)] if dim is None else [dim] if is_whole(dim) else [*dim]
    axes = [axis_of(d, ndim) for d in dims]
    return ops.roll(input, [part(input._array.shape[a]) for a in axes], axes) if axes else input


def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Move the frequency zero from the start to the middle.

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
