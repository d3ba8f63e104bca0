"""Windows for spectral analysis and filter design: ``torch.signal.windows``.

A window weights ``M`` neighbouring samples. A symmetric window suits filters; a periodic one, the
symmetric one of ``M + 1`` elements without its last, suits spectra. The formulas are those of F. J.
Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform",
Proceedings of the IEEE 66 (1978).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypedDict, Unpack

import numpy as np

from tinynet import dtypes
from tinynet.core import layouts
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.creation.constructors import finish
from tinynet.signal.periodic import Formula, bessel, cosines, sampled, triangle, with_options_of

__path__: list[str] = []  # PyTorch has a module inside: windows.windows


class _Options(TypedDict, total=False):
    """Options of every window, besides its size."""

    sym: bool
    dtype: DtypeLike
    layout: layouts.layout
    device: DeviceLike
    requires_grad: bool


@traced
def _window(
    name: str,
    M: int,
    formula: Formula,
    *,
    sym: bool = True,
    dtype: DtypeLike = None,
    layout: layouts.layout = layouts.strided,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a window.

    Raises:
        ValueError: a negative size, or an unsupported dtype or layout.
    """
    kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not layouts.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if kind not in (np.float32, np.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if device is not None:
        require_cpu(device)
    return finish(sampled(formula, M, sym).astype(kind), requires_grad)


@with_options_of(_window)
def bartlett(M: int, **options: Unpack[_Options]) -> Tensor:
    """Return the Bartlett window, a triangle that is 0 at both ends.

    Element ``n`` is ``1 - abs(2 * n / (M - 1) - 1)``.

    Args:
        M: the number of elements.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64.

    Example:
        >>> tn.signal.windows.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _window("bartlett", M, triangle, **options)


@with_options_of(_window)
def blackman(M: int, **options: Unpack[_Options]) -> Tensor:
    """Return the Blackman window, a sum of three cosines.

    Element ``n`` is ``0.42 - 0.5 * cos(t) + 0.08 * cos(2 * t)``, with
    ``t = 2 * pi * n / (M - 1)``.

    Args:
        M: the number of elements.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64.

    Example:
        >>> tn.signal.windows.blackman(6)[1:-1]
        tensor([0.2008, 0.8492, 0.8492, 0.2008])
    """
    return _window("blackman", M, cosines([0.42, 0.5, 0.08]), **options)


@with_options_of(_window)
def cosine(M: int, **options: Unpack[_Options]) -> Tensor:
    """Return half a period of a sine, whose zeros lie half a sample outside.

    Element ``n`` is ``sin(pi * (n + 0.5) / M)``.

    Args:
        M: the number of elements.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64.

    Example:
        >>> tn.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])
    """
    return _window("cosine", M, lambda k, n: np.cos(math.pi * k / (n + 1)), **options)


@with_options_of(_window)
def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    **options: Unpack[_Options],
) -> Tensor:
    """Return the exponential (Poisson) window, which decays on both sides.

    Element ``n`` is ``exp(-abs(n - center) / tau)``.

    Args:
        M: the number of elements.
        center: the position of the maximum of a periodic window; its middle by default.
        tau: the number of samples after which the window has fallen to 1/e.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64, a decay that is
            not positive, or a center of a symmetric window.

    Example:
        >>> tn.signal.windows.exponential(3, tau=2.0)
        tensor([0.6065, 1.0000, 0.6065])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if options.get("sym", True) and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def formula(k: Array, extent: float) -> Array:
        middle = 0 if center is None else center - (k.size if k.size > 1 else 0) / 2
        return np.exp(-abs(k - middle) / tau)

    return _window("exponential", M, formula, **options)


@with_options_of(_window)
def gaussian(
    M: int,
    *,
    std: float = 1.0,
    **options: Unpack[_Options],
) -> Tensor:
    """Return the Gaussian window, in the shape of a normal density.

    Element ``n`` is ``exp(-((n - (M - 1) / 2) / std) ** 2 / 2)``.

    Args:
        M: the number of elements.
        std: the standard deviation, in samples.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64, or a standard
            deviation that is not positive.

    Example:
        >>> tn.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, lambda k, n: np.exp(-((k / std) ** 2) / 2), **options)


@with_options_of(_window)
def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    **options: Unpack[_Options],
) -> Tensor:
    """Return a sum of cosines.

    Element ``n`` is the sum of ``(-1) ** i * a[i] * cos(2 * pi * i * n / (M - 1))``.

    Args:
        M: the number of elements.
        a: the weights of the cosines.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64, or no weights.
        TypeError: weights that are not a list.

    Example:
        >>> tn.signal.windows.general_cosine(4, a=[0.5, 0.3, 0.2])
        tensor([0.4000, 0.5500, 0.5500, 0.4000])
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, cosines(weights), **options)


@with_options_of(_window)
def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    **options: Unpack[_Options],
) -> Tensor:
    """Return a constant plus one cosine: 0.54 gives the Hamming window, 0.5 the Hann window.

    Element ``n`` is ``alpha - (1 - alpha) * cos(2 * pi * n / (M - 1))``.

    Args:
        M: the number of elements.
        alpha: the weight of the constant; the cosine has ``1 - alpha``.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64.

    Example:
        >>> tn.signal.windows.general_hamming(5, alpha=0.75)
        tensor([0.5000, 0.7500, 1.0000, 0.7500, 0.5000])
    """
    return _window("general_cosine", M, cosines([alpha, 1 - alpha]), **options)


@with_options_of(_window)
def hamming(M: int, **options: Unpack[_Options]) -> Tensor:
    """Return the Hamming window, a cosine raised by a small constant.

    Element ``n`` is ``0.54 - 0.46 * cos(2 * pi * n / (M - 1))``.

    Args:
        M: the number of elements.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64.

    Example:
        >>> tn.signal.windows.hamming(5)
        tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    return _window("general_cosine", M, cosines([0.54, 0.46]), **options)


@with_options_of(_window)
def hann(M: int, **options: Unpack[_Options]) -> Tensor:
    """Return the Hann window, a squared sine that is 0 at both ends.

    Element ``n`` is ``sin(pi * n / (M - 1)) ** 2``.

    Args:
        M: the number of elements.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64.

    Example:
        >>> tn.signal.windows.hann(4, sym=False)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("general_cosine", M, cosines([0.5, 0.5]), **options)


@with_options_of(_window)
def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    **options: Unpack[_Options],
) -> Tensor:
    """Return the Kaiser window, based on the modified Bessel function of order 0.

    Element ``n`` is ``i0(beta * sqrt(1 - (2 * n / (M - 1) - 1) ** 2)) / i0(beta)``.

    Args:
        M: the number of elements.
        beta: the shape; larger values trade resolution for less leakage.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64, or a negative
            shape.

    Example:
        >>> tn.signal.windows.kaiser(3, beta=2.0)
        tensor([0.4387, 1.0000, 0.4387])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    return _window("kaiser", M, bessel(beta), **options)


@with_options_of(_window)
def nuttall(M: int, **options: Unpack[_Options]) -> Tensor:
    """Return the Blackman-Harris window with Nuttall's four weights.

    It is ``general_cosine`` with ``a = [0.3635819, 0.4891775, 0.1365995, 0.0106411]``.

    Args:
        M: the number of elements.
        **options: ``sym=True``, symmetric or else periodic; ``dtype``, float32 or float64, the
            default dtype unless given; ``layout``; ``device``; ``requires_grad``.

    Raises:
        ValueError: a negative size, a dtype that is neither float32 nor float64.

    Example:
        >>> tn.signal.windows.nuttall(4, sym=False)
        tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01])
    """
    weights = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return _window("general_cosine", M, cosines(weights), **options)
