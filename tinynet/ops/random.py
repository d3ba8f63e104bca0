"""Random tensors, and random fills in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.device import DeviceLike
from tinynet.core.generator import Generator, default_generator
from tinynet.core.inplace import run_inplace
from tinynet.core.operation import operation, public
from tinynet.core.tensor import Tensor, wrap
from tinynet.dtypes import Array, DtypeLike
from tinynet.ops.shape import Ints, sizes


def _numpy(generator: Generator | None) -> np.random.Generator:
    return (generator or default_generator).numpy


def _made(array: Any, dtype: Any, requires_grad: bool) -> Tensor:
    kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
    t = wrap(np.asarray(array).astype(kind, copy=False))
    t.requires_grad = requires_grad
    return t


def _float_kind(dtype: Any, name: str) -> Any:
    kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
    _refuse_whole(kind, name)
    return kind


def _refuse_whole(kind: np.dtype[Any], name: str) -> None:
    if kind.kind != "f":
        what = dtypes.from_numpy(kind).scalar_name
        raise NotImplementedError(f"\"{name}\" not implemented for '{what}'")


def _shape(args: tuple[Any, ...]) -> tuple[int, ...]:
    shape = sizes(args)
    for n in shape:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            )
    return shape


def _uniform(generator: Generator | None, shape: tuple[int, ...], kind: Any) -> Array:
    """Return values in [0, 1), drawn in the dtype: rounding a float64 could give 1.0."""
    drawn = np.float32 if kind == np.float32 else np.float64
    return np.asarray(_numpy(generator).random(shape, dtype=drawn))


def rand(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers drawn uniformly from [0, 1).

    Example:
        >>> tn.rand(2, 3).shape
        tinynet.Size([2, 3])
    """
    kind = _float_kind(dtype, "uniform")
    return _made(_uniform(generator, _shape(size), kind), dtype, requires_grad)


def randn(
    *size: Ints,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return numbers drawn from the normal distribution with mean 0 and variance 1."""
    _float_kind(dtype, "normal_kernel_cpu")
    return _made(_numpy(generator).standard_normal(_shape(size)), dtype, requires_grad)


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: DtypeLike = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return whole numbers drawn uniformly from ``low`` (0) to before ``high``.

    Called as ``randint(high, size)`` or ``randint(low, high, size)``.
    """
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    kind = dtypes.int64 if dtype is None else dtype
    return _made(_numpy(generator).integers(low, high, tuple(size)), kind, requires_grad)


def randperm(n: int, *, generator: Generator | None = None, dtype: DtypeLike = None) -> Tensor:
    """Return the numbers 0 to n - 1 in random order."""
    _shape((n,))
    return _made(_numpy(generator).permutation(n), dtypes.int64 if dtype is None else dtype, False)


def rand_like(input: Tensor, *, dtype: DtypeLike = None, requires_grad: bool = False) -> Tensor:
    """Return uniform numbers in the shape and dtype of a tensor."""
    kind = input.dtype if dtype is None else dtype
    return rand(*input.shape, dtype=kind, requires_grad=requires_grad)


def randn_like(input: Tensor, *, dtype: DtypeLike = None, requires_grad: bool = False) -> Tensor:
    """Return normal numbers in the shape and dtype of a tensor."""
    kind = input.dtype if dtype is None else dtype
    return randn(*input.shape, dtype=kind, requires_grad=requires_grad)


def randint_like(
    input: Tensor, low: int, high: int | None = None, *, dtype: DtypeLike = None
) -> Tensor:
    """Return whole numbers in the shape and dtype of a tensor."""
    if high is None:
        low, high = 0, low
    return randint(low, high, input.shape, dtype=input.dtype if dtype is None else dtype)


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Return ones with the given probabilities, zeros otherwise."""
    p = input._array
    return wrap((_uniform(generator, p.shape, p.dtype) < p).astype(p.dtype))


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Return indices drawn with the given weights, from each row."""
    rows = np.atleast_2d(input._array).astype(np.float64)
    if not replacement and ((rows > 0).sum(1) < num_samples).any():
        raise RuntimeError(
            "invalid multinomial distribution (with replacement=False, not enough non-negative "
            "category to sample)"
        )
    draw = _numpy(generator)
    picked = np.stack([draw.choice(len(r), num_samples, replacement, r / r.sum()) for r in rows])
    return wrap(picked if input._array.ndim > 1 else picked[0])


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None
) -> Tensor:
    """Return normal numbers with given means and standard deviations (numbers or tensors)."""
    m = mean._array if isinstance(mean, Tensor) else mean
    s = std._array if isinstance(std, Tensor) else std
    shape = np.broadcast_shapes(np.shape(m), np.shape(s)) if size is None else tuple(size)
    return _made(m + s * _numpy(generator).standard_normal(shape), None, False)


# ---- fills in place: nothing comes in, so the gradient is zero ----------------------------------


@operation(methods=False, node="NormalBackward0")
def normal_values(self: Array, /, values: Array) -> Array:
    """Return freshly drawn values in the dtype of ``self``."""
    return values.astype(self.dtype)


normal_values.grad(self=lambda g: g * 0)


@operation(methods=False, node="UniformBackward0")
def uniform_values(self: Array, /, values: Array) -> Array:
    """Return freshly drawn values in the dtype of ``self``."""
    return values.astype(self.dtype)


uniform_values.grad(self=lambda g: g * 0)


@public
def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill this tensor with normal numbers and return it."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    _refuse_whole(self._array.dtype, "normal_kernel_cpu")
    values = mean + std * np.asarray(_numpy(generator).standard_normal(self._array.shape))
    return run_inplace(normal_values, self, (values,), {}, what="normal_")


def _fill_uniform(t: Tensor, values: Array, what: str) -> Tensor:
    return run_inplace(uniform_values, t, (values,), {}, what=what)


@public
def uniform_(
    self: Tensor,
    from_: float = 0.0,
    to: float = 1.0,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill this tensor with uniform numbers from ``[from_, to)`` and return it."""
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}"
        )
    _refuse_whole(self._array.dtype, "check_uniform_bounds")
    drawn = _uniform(generator, self._array.shape, self._array.dtype)
    return _fill_uniform(self, from_ + (to - from_) * drawn, "uniform_")


@public
def random_(
    self: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Fill this tensor with whole numbers from ``[low, high)`` and return it."""
    if high is None:
        high = (
            low or 2**24
            if self._array.dtype.kind == "f"
            else low or int(np.iinfo(self._array.dtype).max)
        )
        low = 0
    return _fill_uniform(
        self, np.asarray(_numpy(generator).integers(low, high, self._array.shape)), "random_"
    )


@public
def bernoulli_(self: Tensor, p: float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill this tensor with ones (with probability ``p``) and zeros, and return it."""
    drawn = _uniform(generator, self._array.shape, self._array.dtype) < p
    return _fill_uniform(self, drawn, "bernoulli_")


@public
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill this tensor with exponentially distributed numbers and return it."""
    drawn = np.asarray(_numpy(generator).exponential(1 / lambd, self._array.shape))
    return _fill_uniform(self, drawn, "exponential_")
