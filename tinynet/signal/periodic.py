"""Windows under their names in ``torch`` itself, periodic by default.

The formulas are those of ``torch.signal.windows``, from F. J. Harris, "On the use of windows for
harmonic analysis with the discrete Fourier transform", Proceedings of the IEEE 66 (1978).
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack, cast

import numpy as np

from tinynet import dtypes
from tinynet.core import layouts
from tinynet.core.devices import DeviceLike, require_cpu
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import traced
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.creation.constructors import finish

Formula = Callable[[Array, float], Array]
Window = TypeVar("Window", bound=Callable[..., Any])


def with_options_of(shared: Callable[..., Any]) -> Callable[[Window], Window]:
    """Return a decorator that replaces ``**options`` by the keyword arguments of a function.

    The signature shows them; a call with other names raises Python's TypeError.
    """
    plain = getattr(shared, "untraced", shared)  # has its own code while another is captured
    options = [p for p in inspect.signature(plain).parameters.values() if p.kind is p.KEYWORD_ONLY]

    def decorate(window: Window) -> Window:
        own = inspect.signature(window)
        *parameters, _ = own.parameters.values()
        signature = own.replace(parameters=[*parameters, *options])

        def checked(*args: Any, **given: Any) -> Any:
            for name in given.keys() - signature.parameters.keys():
                raise TypeError(f"{window.__name__}() got an unexpected keyword argument {name!r}")
            return window(*args, **given)

        made: Any = functools.wraps(window)(checked)
        made.__signature__ = signature
        return cast(Window, made)

    return decorate


def sampled(formula: Formula, M: int, sym: bool) -> Array:
    """Return a symmetric or periodic window of ``M`` elements in float64."""
    extent = M if not sym and M > 1 else M - 1
    return formula(np.arange(M) - extent / 2, extent)


def triangle(k: Array, extent: float) -> Array:
    """Fall linearly from 1 in the middle to 0 at both ends."""
    return 1 - abs(k) * 2 / max(extent, 1)


def cosines(a: list[float]) -> Formula:
    """Return the formula of a sum of cosines with weights ``a``, scaled from the middle."""

    def formula(k: Array, extent: float) -> Array:
        turns = np.multiply.outer(np.arange(len(a)), 2 * math.pi * k / max(extent, 1))
        values: Array = np.asarray(a, np.float64) @ np.cos(turns)
        return values if k.size > 1 else np.ones(k.shape)

    return formula


def bessel(beta: float) -> Formula:
    """Return the formula of the Kaiser window: the modified Bessel function of order 0."""

    def formula(k: Array, extent: float) -> Array:
        inside = 1 - (2 * k / max(extent, 1)) ** 2
        return np.i0(beta * np.sqrt(np.maximum(inside, 0))) / np.i0(beta)

    return formula


class _Options(TypedDict, total=False):
    """Options of every window, besides its length."""

    dtype: DtypeLike
    layout: layouts.layout | None
    device: DeviceLike
    pin_memory: bool
    requires_grad: bool


@traced
def _window(
    name: str,
    window_length: int,
    periodic: bool,
    formula: Formula,
    *,
    dtype: DtypeLike = None,
    layout: layouts.layout | None = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
    try:
        length = operator.index(window_length)
    except TypeError:
        raise TypeError(
            f"{name}(): argument 'window_length' (position 1) must be int, not "
            f"{type(window_length).__name__}"
        ) from None
    if layout not in (None, layouts.strided):
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {layout}")
    if np.dtype(kind).kind != "f":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={length}"
        )
    if device is not None:
        require_cpu(device)
    return finish(sampled(formula, length, not periodic).astype(kind), requires_grad)


@with_options_of(_window)
def bartlett_window(
    window_length: int, periodic: bool = True, **options: Unpack[_Options]
) -> Tensor:
    """Return the Bartlett window, a triangle that is 0 at the ends.

    The formula is in ``signal.windows.bartlett``; the defaults differ.

    Args:
        window_length: the number of elements.
        periodic: True for spectral analysis, False for a symmetric window.
        **options: ``dtype``, floating-point, by default the default dtype; ``layout``; ``device``;
            ``pin_memory``; ``requires_grad``.

    Raises:
        RuntimeError: a negative length, or a dtype that is not floating-point.
        TypeError: a length that is not an integer.

    Example:
        >>> tn.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("bartlett_window", window_length, periodic, triangle, **options)


@with_options_of(_window)
def blackman_window(
    window_length: int, periodic: bool = True, **options: Unpack[_Options]
) -> Tensor:
    """Return the Blackman window, a sum of three cosines.

    The formula is in ``signal.windows.blackman``; the defaults differ.

    Args:
        window_length: the number of elements.
        periodic: True for spectral analysis, False for a symmetric window.
        **options: ``dtype``, floating-point, by default the default dtype; ``layout``; ``device``;
            ``pin_memory``; ``requires_grad``.

    Raises:
        RuntimeError: a negative length, or a dtype that is not floating-point.
        TypeError: a length that is not an integer.

    Example:
        >>> tn.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _window(
        "blackman_window", window_length, periodic, cosines([0.42, 0.5, 0.08]), **options
    )


@with_options_of(_window)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Unpack[_Options],
) -> Tensor:
    """Return the Hamming window, a cosine raised by a small constant.

    The formula is in ``signal.windows.hamming``; the defaults differ.

    Args:
        window_length: the number of elements.
        periodic: True for spectral analysis, False for a symmetric window.
        alpha: the constant.
        beta: the weight of the cosine.
        **options: ``dtype``, floating-point, by default the default dtype; ``layout``; ``device``;
            ``pin_memory``; ``requires_grad``.

    Raises:
        RuntimeError: a negative length, or a dtype that is not floating-point.
        TypeError: a length that is not an integer.

    Example:
        >>> tn.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _window("hamming_window", window_length, periodic, cosines([alpha, beta]), **options)


@with_options_of(_window)
def hann_window(window_length: int, periodic: bool = True, **options: Unpack[_Options]) -> Tensor:
    """Return the Hann window, a squared sine that is 0 at the ends.

    The formula is in ``signal.windows.hann``; the defaults differ.

    Args:
        window_length: the number of elements.
        periodic: True for spectral analysis, False for a symmetric window.
        **options: ``dtype``, floating-point, by default the default dtype; ``layout``; ``device``;
            ``pin_memory``; ``requires_grad``.

    Raises:
        RuntimeError: a negative length, or a dtype that is not floating-point.
        TypeError: a length that is not an integer.

    Example:
        >>> tn.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann_window", window_length, periodic, cosines([0.5, 0.5]), **options)


@with_options_of(_window)
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options: Unpack[_Options]
) -> Tensor:
    """Return the Kaiser window, based on the modified Bessel function of order 0.

    The formula is in ``signal.windows.kaiser``; the defaults differ.

    Args:
        window_length: the number of elements.
        periodic: True for spectral analysis, False for a symmetric window.
        beta: the shape; larger values trade resolution for less leakage.
        **options: ``dtype``, floating-point, by default the default dtype; ``layout``; ``device``;
            ``pin_memory``; ``requires_grad``.

    Raises:
        RuntimeError: a negative length, or a dtype that is not floating-point.
        TypeError: a length that is not an integer.

    Example:
        >>> tn.kaiser_window(3, False, beta=2.0)
        tensor([0.4387, 1.0000, 0.4387])
    """
    return _window("kaiser_window", window_length, periodic, bessel(beta), **options)
