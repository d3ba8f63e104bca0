"""Discrete Fourier transforms, and spectrograms made of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.operation import composite, operation
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.errors import must_be_tensor
from tinynet.ops.arguments import name_of
from tinynet.ops.creation.constructors import ones, zeros
from tinynet.ops.indexing.index_select import index_select
from tinynet.ops.pointwise.complex_numbers import view_as_real
from tinynet.ops.shaping.joining import cat
from tinynet.ops.shaping.strided import unfold, windows_summed
from tinynet.ops.shaping.views import cut, embed, expand, reshape, transpose

# ---- transforms ---------------------------------------------------------------------------------
# The three discrete Fourier transforms: complex to complex, real to complex, complex to real.
#
# numpy computes them with the algorithms of pocketfft (Reinecke and Seljebotn, 2013), float32 in
# float32. ``tinynet/fft`` makes PyTorch's functions of them.


Axes = tuple[int, ...]

# numpy's names for how a transform is scaled: not at all, by 1 / sqrt(n), by 1 / n.
FORWARD: dict[str, Any] = {"none": "backward", "root": "ortho", "all": "forward"}
INVERSE: dict[str, Any] = {"none": "forward", "root": "ortho", "all": "backward"}


def _run(transform: Any, x: Array, scale: str, norm: str, **where: Any) -> Array:
    """Call a function of numpy, which computes what it does not scale in float64."""
    if scale != "none" or x.dtype not in (np.float32, np.complex64):
        found: Array = transform(x, norm=norm, **where)
        return found
    return _in(np.float32, transform(_in(np.float64, x), norm=norm, **where))


def _in(kind: Any, x: Array) -> Array:
    """Convert the parts of numbers: numpy converts complex numbers in 10 ns each."""
    if x.dtype.kind == "f":
        return x.astype(kind)
    parts = np.ascontiguousarray(x).view(dtypes.real_of(x.dtype)).astype(kind)
    return parts.view(dtypes.complex_of(parts.dtype))


@operation(node="FftC2CBackward0", complex="given")
def complex_transform(self: Array, /, axes: Axes, scale: str, forward: bool) -> Array:
    """Return the transform of complex numbers, ``sum(x[k] exp(-2 pi i j k / n))`` forward."""
    if not axes or not self.size:
        return self.copy()
    transform = np.fft.fftn if forward else np.fft.ifftn
    return _run(transform, self, scale, (FORWARD if forward else INVERSE)[scale], axes=axes)


@operation(node="FftR2CBackward0", complex="given")
def real_transform(self: Array, /, axes: Axes, scale: str, onesided: bool) -> Array:
    """Return the forward transform of real numbers; ``onesided``: the last axis up to n / 2."""
    dtypes.complex_of(self.dtype)  # prepares for complex numbers
    if not self.size:
        half = [n // 2 + 1 if onesided and i == axes[-1] else n for i, n in enumerate(self.shape)]
        return np.zeros(half, dtypes.complex_of(self.dtype))
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return _run(transform, self, scale, FORWARD[scale], axes=axes)


@operation(node="FftC2RBackward0", complex="given")
def transform_to_real(self: Array, /, axes: Axes, scale: str, size: int) -> Array:
    """Return the inverse transform to real numbers, of length ``size`` along the last axis."""
    lengths = [*(self.shape[axis] for axis in axes[:-1]), size]
    if not self.size:
        shape = [size if i == axes[-1] else n for i, n in enumerate(self.shape)]
        return np.zeros(shape, dtypes.real_of(self.dtype))
    return _run(np.fft.irfftn, self, scale, INVERSE[scale], s=lengths, axes=axes)


def _of_real(g: Any, shape: tuple[int, ...], axes: Axes, scale: str, onesided: bool) -> Any:
    """Return the gradient of ``real_transform``; the other half of the spectrum counts as zero."""
    if onesided:
        g = embed(g, shape, (slice(None),) * axes[-1] + (slice(0, g.shape[axes[-1]]),))
    return complex_transform(g, axes, scale, False).real


def _of_half(g: Any, axes: Axes, scale: str, half: int, size: int) -> Any:
    """Return the gradient of ``transform_to_real``, twice where a number stands for two."""
    g = real_transform(g, axes, scale, True)
    axis, twice = axes[-1], size - half
    if twice <= 0:
        return g
    parts = (slice(0, 1), slice(1, 1 + twice), slice(1 + twice, None))
    first, middle, last = (cut(g, axis, part) for part in parts)
    return cat([first, middle * 2, last], axis)


complex_transform.grad(
    self=lambda g, axes, scale, forward: complex_transform(g, axes, scale, not forward)
)
real_transform.grad(
    self=lambda g, self_shape, axes, scale, onesided: _of_real(g, self_shape, axes, scale, onesided)
)
transform_to_real.grad(
    self=lambda g, self_shape, axes, scale, size: _of_half(
        g, axes, scale, self_shape[axes[-1]], size
    )
)


# ---- spectrograms -------------------------------------------------------------------------------
# Short-time Fourier transforms, and signals from them.


_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
_TOO_SHORT = (
    "The length of signal is shorter than the length parameter. Result is being padded with zeros "
    "in the tail. Please check your center and hop_length settings."
)
_RECTANGULAR = (
    "A window was not provided. A rectangular window will be applied, which leaks between "
    "frequencies. Pass `window=tinynet.hann_window({0})`, or `tinynet.ones({0})` for the "
    "rectangular one."
)


def _shown(kind: str, settings: dict[str, Any]) -> str:
    """Return a call as PyTorch's messages show it."""
    texts = []
    for name, value in settings.items():
        if isinstance(value, Tensor):
            value = f"tinynet.{value.dtype.tensor_name}{{{list(value.shape)}}}"
        texts.append(f"{name}={int(value) if isinstance(value, bool) else value}")
    return f"{kind}, {', '.join(texts)})"


def _extended(x: Tensor, count: int, mode: str) -> Tensor:
    """Append ``count`` numbers to both ends of the rows of ``[batch, n]``."""
    batch, n = x._array.shape
    if mode == "constant":
        return embed.function(x, (batch, n + 2 * count), (slice(None), slice(count, count + n)))
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode == "reflect" and count >= n:
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but "
            f"got: padding ({count}, {count}) at dimension 2 of input {[1, batch, n]}"
        )
    places = np.pad(np.arange(n), count, mode=_MODES[mode])  # type: ignore[call-overload]  # its modes
    places.flags.writeable = False  # a constant of captured steps
    return index_select(x, 1, wrap(places))


def _centered(window: Tensor, n_fft: int) -> Tensor:
    """Return a window with zeros on both sides, of length ``n_fft``."""
    length = window._array.shape[0]
    left = (n_fft - length) // 2
    if length == n_fft:
        return window
    return embed.function(window, (n_fft,), (slice(left, left + length),))


def _is_complex(*tensors: Tensor | None) -> bool:
    return any(x is not None and x.is_complex() for x in tensors)


@composite
def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Return the short-time Fourier transform: those of windows along a signal.

    ``result[w, t] = sum(window[k] x[t hop_length + k] exp(-2 pi i w k / n_fft))`` over k (Allen,
    "Short term spectral analysis", 1977).

    Args:
        self: the signal, ``[n]`` or ``[batch, n]``.
        n_fft: the length of a transform.
        hop_length: the distance between windows, by default ``n_fft / 4``.
        win_length: the length of the window, by default ``n_fft``; zeros make up the rest.
        window: the window, ``[win_length]``, by default ones.
        center: whether window t has its middle at ``t hop_length``; the signal is extended for it.
        pad_mode: how it is extended: ``"reflect"``, ``"constant"`` (zeros), ``"replicate"`` or
            ``"circular"``.
        normalized: whether to divide by the root of ``n_fft``.
        onesided: whether to return frequencies up to ``n_fft / 2`` only, by default for real
            signals.
        return_complex: whether to return complex numbers; pairs of parts otherwise.
        align_to_window: must be None, or False if not ``center``.

    Returns:
        ``[batch, frequencies, windows]``, without ``center`` ``1 + (n - n_fft) // hop_length``
        windows, with it ``1 + n // hop_length``.

    Raises:
        RuntimeError: shapes, lengths or dtypes do not match, or a real signal without
            ``return_complex``.

    Example:
        >>> x = tn.sin(tn.arange(64.0))
        >>> tn.stft(x, 16, window=tn.hann_window(16), return_complex=True).shape
        tinynet.Size([9, 17])
    """
    if not isinstance(self, Tensor):
        raise must_be_tensor("stft", "input", 1, self)
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    x = reshape(self, (1, self._array.shape[0])) if self._array.ndim == 1 else self
    if center and x._array.ndim == 2:
        x = _extended(x, n_fft // 2, pad_mode)
    settings = dict(normalized=normalized, onesided=onesided, return_complex=return_complex)
    settings |= dict(align_to_window=align_to_window)
    _check_alignment(center, align_to_window)
    _check_signal(x, self._array.ndim == 1, n_fft, hop, length, window, settings)
    if _is_complex(x, window):
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        onesided, return_complex = False, True if return_complex is None else return_complex
    elif return_complex is None:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further "
            "require that return_complex=True in a future PyTorch release."
        )
    window = _or_ones(window, length, x)
    found = _spectra(unfold(x, 1, n_fft, hop) * _centered(window, n_fft), normalized, onesided)
    found = found[0] if self._array.ndim == 1 else found
    return found if return_complex else view_as_real(found)


def _spectra(frames: Tensor, normalized: bool, onesided: bool | None) -> Tensor:
    """Return the transforms of windows, ``[batch, frequencies, windows]``."""
    scale = "root" if normalized else "none"
    if frames.is_complex():
        found = complex_transform.function(frames, (2,), scale, True)
    else:
        found = real_transform.function(frames, (2,), scale, onesided is not False)
    return transpose.function(found, 1, 2)


def _or_ones(window: Tensor | None, length: int, x: Tensor) -> Tensor:
    """Return the window; with a warning, ones if there is none."""
    if window is not None:
        return window
    warnings.warn(_RECTANGULAR.format(length), UserWarning, stacklevel=3)
    return ones(length, dtype=x.dtype.to_real())


def _check_alignment(center: bool, align_to_window: bool | None) -> None:
    if align_to_window is not None and center:
        raise RuntimeError(
            "stft align_to_window should only be set when center = false. This value is ignored "
            "when center = true."
        )


def _check_signal(
    x: Tensor,
    single: bool,
    n_fft: int,
    hop: int,
    length: int,
    window: Tensor | None,
    settings: dict[str, Any],
) -> None:
    array = x._array
    kind = f"stft(tinynet.{x.dtype.tensor_name}{list(array.shape[single:])}"
    lengths = dict(n_fft=n_fft, hop_length=hop, win_length=length, window=window)
    call = _shown(kind, lengths | settings)
    if not dtypes.is_inexact(array.dtype):
        raise RuntimeError(f"{call} : expected a tensor of floating point or complex values")
    if array.ndim not in (1, 2):
        raise RuntimeError(f"{call} : expected a 1D or 2D tensor")
    n = array.shape[-1]
    if not 0 < n_fft <= n:
        raise RuntimeError(f"{call} : expected 0 < n_fft < {n}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{call} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(
            f"{call} : expected 0 < win_length <= n_fft, but got win_length={length}"
        )
    if window is not None and window._array.shape != (length,):
        raise RuntimeError(
            f"{call} : expected a 1D window tensor of size equal to win_length={length}, but got "
            f"window with size {list(window.shape)}"
        )


@composite
def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Return the signal of a short-time Fourier transform: the inverse of ``stft``.

    The signal whose transform is the nearest in squares (Griffin and Lim, "Signal estimation from
    modified short-time Fourier transform", 1984): windows are added where they overlap, and divided
    by the sum of the squared windows.

    Args:
        self: what ``stft`` returned, ``[frequencies, windows]`` or
            ``[batch, frequencies, windows]``, complex.
        n_fft, hop_length, win_length, window, center, normalized, onesided: as for ``stft``.
        length: the length of the result; by default as far as the windows reach.
        return_complex: whether the signal is complex.

    Returns:
        ``[n]`` or ``[batch, n]``.

    Raises:
        RuntimeError: shapes, lengths or dtypes do not match, or windows leave a gap.

    Example:
        >>> x, w = tn.sin(tn.arange(64.0)), tn.hann_window(16)
        >>> y = tn.istft(tn.stft(x, 16, window=w, return_complex=True), 16, window=w)
        >>> y.shape, bool((x - y).abs().max() < 1e-5)
        (tinynet.Size([64]), True)
    """
    if not isinstance(self, Tensor):
        raise must_be_tensor("istft", "input", 1, self)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    lengths = dict(n_fft=n_fft, hop_length=hop, win_length=width, window=window, center=center)
    if onesided is None:
        onesided = self._array.ndim < 2 or self._array.shape[-2] != n_fft
    last = dict(normalized=normalized, onesided=onesided, length=length)
    call = _check_spectrum(self, lengths | last | {"return_complex": return_complex})
    window = _centered(_or_ones(window, width, self), n_fft)
    frames = _frames(self, n_fft, "root" if normalized else "all", onesided, return_complex)
    cropped = n_fft // 2 if center else 0
    signal, envelope = _overlapped(frames * window, hop), _overlapped(window * window, hop, frames)
    total = signal._array.shape[1]
    end = total - cropped if length is None else cropped + length
    part = slice(cropped, min(end, total))
    signal, envelope = cut.function(signal, 1, part), cut.function(envelope, 1, part)
    least = np.abs(envelope._array).min(initial=np.inf)
    if not least > 1e-11:
        raise RuntimeError(f"{call} window overlap add min: 1")
    signal = signal / envelope
    if end > total:
        warnings.warn(_TOO_SHORT, UserWarning, stacklevel=2)
        signal = cat([signal, zeros(len(signal), end - total, dtype=signal.dtype)], 1)
    return signal if self._array.ndim == 3 else signal[0]


def _frames(spectrum: Tensor, n_fft: int, scale: str, onesided: bool, whole: bool) -> Tensor:
    """Return the windows of a signal, ``[batch, windows, n_fft]``, complex if ``whole``."""
    x = spectrum if spectrum._array.ndim == 3 else reshape(spectrum, (1, *spectrum._array.shape))
    x = transpose.function(x, 1, 2)
    if whole:
        return complex_transform.function(x, (2,), scale, False)
    half = x if onesided else cut.function(x, 2, slice(0, n_fft // 2 + 1))
    return transform_to_real.function(half, (2,), scale, n_fft)


def _overlapped(frames: Tensor, hop: int, like: Tensor | None = None) -> Tensor:
    """Add windows where they overlap; a single window as many times as ``like`` has."""
    if like is not None:
        frames = expand(frames, (1, *like.shape[1:]))
    batch, count, n_fft = frames._array.shape
    return windows_summed.function(frames, (batch, n_fft + hop * (count - 1)), 1, n_fft, hop)


def _check_spectrum(x: Tensor, settings: dict[str, Any]) -> str:
    """Refuse what is not a spectrum of these settings; return the call as messages show it."""
    n_fft, hop, width, window = [*settings.values()][:4]
    onesided, return_complex = settings["onesided"], settings["return_complex"]
    call = _shown(f"istft(CPU{name_of(x._array)}Type{list(x.shape)}", settings)
    if not x.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if not x._array.size:
        raise RuntimeError(f"{call} : input tensor cannot be empty.")
    ndim = x._array.ndim
    if ndim not in (2, 3):
        raise RuntimeError(f"{call} : expected a tensor with 3 or 4 dimensions, but got {ndim + 1}")
    wanted, has = n_fft // 2 + 1 if onesided else n_fft, x._array.shape[-2]
    if return_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and _is_complex(window):
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if has != wanted:
        size = "n_fft / 2 + 1 when onesided=True" if onesided else "n_fft when onesided=False"
        raise RuntimeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {size}, but got {has}"
        )
    if not 0 < hop <= width:
        raise RuntimeError(f"{call} : expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft")
    if window is not None and window._array.shape != (width,):
        raise RuntimeError(
            f"{call} : Invalid window shape. window has to be 1D and length of `win_length`"
        )
    return call
