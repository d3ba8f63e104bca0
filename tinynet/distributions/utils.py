"""Shared helpers: broadcasting, probabilities and logits, lazy attributes."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

from tinynet import dtypes
from tinynet.core.devices import DeviceLike
from tinynet.core.modes import enable_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import DtypeLike, type_info
from tinynet.ops import (
    arange,
    broadcast_tensors,
    log,
    log1p,
    logaddexp,
    logsumexp,
    randn,
    sigmoid,
    softmax,
    tensor,
    where,
    zeros_like,
)

EULER = 0.5772156649015328606  # the Euler-Mascheroni constant
LOG_2PI = math.log(2 * math.pi)


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Convert numbers and tensors to tensors of a common shape.

    Numbers get the dtype of the first tensor, or the default dtype if there is none.

    Raises:
        ValueError: an argument is neither a number nor a tensor.

    Example:
        >>> tn.distributions.utils.broadcast_all(0.0, tn.ones(2))
        (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not all(isinstance(v, (Tensor, Number)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, "
            "tinynet.Tensor or objects implementing __torch_function__."
        )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    kind = dtypes.get_default_dtype() if first is None else first.dtype
    made = [v if isinstance(v, Tensor) else tensor(v, dtype=kind) for v in values]
    return tuple(broadcast_tensors(*made))


def _standard_normal(shape: Sequence[int], dtype: DtypeLike, device: DeviceLike) -> Tensor:
    return randn(tuple(shape), dtype=dtype, device=device)


def sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """Sum over the last ``dim`` dimensions."""
    return value.reshape(value.shape[: len(value.shape) - dim] + (-1,)).sum(-1) if dim else value


_sum_rightmost = sum_rightmost  # PyTorch's private name, imported by libraries


def softplus(x: Tensor) -> Tensor:
    """Return ``log(1 + exp(x))``, without overflow."""
    return logaddexp(x, zeros_like(x))


def xlogx(x: Tensor) -> Tensor:
    """Return ``x * log(x)``, or its limit 0 at 0, where the gradient is also 0."""
    return x * log(where(x > 0, x, 1.0))


def broadcastable(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether two shapes broadcast to a common one."""
    pairs = zip(reversed(shape), reversed(other), strict=False)
    return all(i == j or 1 in (i, j) for i, j in pairs)


def attribute(path: str, doc: str | None = None) -> Any:
    """Return a property that reads another attribute, or one of an attribute: ``base_dist.loc``."""
    return property(operator.attrgetter(path), doc=doc or f"The same as ``{path}``.")


# ---- probabilities and logits -------------------------------------------------------------------


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Convert logits to probabilities: by a sigmoid if binary, otherwise a softmax.

    Example:
        >>> tn.distributions.utils.logits_to_probs(tn.zeros(2))
        tensor([0.5000, 0.5000])
    """
    return sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Clamp probabilities to the open interval (0, 1), by one rounding unit.

    Example:
        >>> bool(tn.distributions.utils.clamp_probs(tn.tensor(0.0)) > 0)
        True
    """
    eps = finfo(probs).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Convert probabilities to logits: log-odds if binary, otherwise logarithms.

    Example:
        >>> tn.distributions.utils.probs_to_logits(tn.tensor(0.5), is_binary=True)
        tensor(0.)
    """
    inside = clamp_probs(probs)
    return log(inside) - log1p(-inside) if is_binary else log(inside)


def finfo(x: Tensor) -> Any:
    """Return the limits of a tensor's dtype (of the default dtype for integers)."""
    kind = x.dtype if x.dtype.is_floating_point else dtypes.get_default_dtype()
    return type_info.finfo(kind)


def one_of(**given: Any) -> tuple[str, Any]:
    """Return the name and the value of the one argument given.

    Raises:
        ValueError: none is given, or both.
    """
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return names[0], given[names[0]]


class lazy_property:  # noqa: N801  PyTorch's name
    """An attribute that is computed on first access and then kept, with its history.

    Example:
        >>> d = tn.distributions.Bernoulli(logits=tn.tensor(0.0))
        >>> d.probs
        tensor(0.5000)
    """

    def __init__(self, wrapped: Callable[[Any], Any]):
        self.wrapped = wrapped
        self.__doc__, self.name = wrapped.__doc__, wrapped.__name__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _ReadFromClass(self.wrapped)
        with enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.name] = value  # later reads find this before the descriptor
        return value


class _ReadFromClass(property, lazy_property):
    """The class's view of a lazy attribute: a property, which documentation tools expect."""


class ProbsOrLogits:
    """Parameters ``probs`` or ``logits``: one is given, the other computed on demand."""

    is_binary = True

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds, or for several categories the log-probabilities up to a constant."""
        return probs_to_logits(self.probs, is_binary=self.is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=self.is_binary)

    @property
    def _param(self) -> Tensor:
        """The parameter that was given."""
        return vars(self)[self._given]

    _given: str

    def _give(self, name: str, value: Tensor) -> None:
        self._given = name
        vars(self)[name] = value

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter that was given."""
        return self._param.size()


def normalized(name: str, value: Tensor) -> Tensor:
    """Normalize weights of categories to probabilities, or logits to log-probabilities.

    Raises:
        ValueError: the parameter has no dimension.
    """
    if value.dim() < 1:
        raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
    if name == "probs":
        return value / value.sum(-1, keepdim=True)
    return value - logsumexp(value, dim=-1, keepdim=True)


# ---- triangular matrices ------------------------------------------------------------------------


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return the lower triangles of matrices, up to diagonal ``diag``, as vectors, row by row.

    Raises:
        ValueError: the matrix has no such diagonal.

    Example:
        >>> tn.distributions.utils.tril_matrix_to_vec(tn.tensor([[1.0, 0.0], [2.0, 3.0]]))
        tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows = arange(n)
    return mat[..., rows < rows.view(-1, 1) + diag + 1]


def _entries(n: int, diag: int) -> int:
    """Return the number of entries of an n by n matrix on and below a diagonal."""
    return sum(min(max(row + 1 + diag, 0), n) for row in range(n))


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Return lower triangular matrices with the given entries, row by row.

    Raises:
        ValueError: the number of entries fits no triangle.

    Example:
        >>> tn.distributions.utils.vec_to_tril_matrix(tn.tensor([1.0, 2.0, 3.0]))
        tensor([[1., 0.],
                [2., 3.]])
    """
    count = vec.shape[-1]
    n = next(n for n in itertools.count(max(-diag, diag)) if _entries(n, diag) >= count)
    if _entries(n, diag) != count:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    mat = vec.new_zeros(vec.shape[:-1] + (n, n))
    rows = arange(n)
    mat[..., rows < rows.view(-1, 1) + diag + 1] = vec
    return mat
