"""Pruning methods: by magnitude, at random, or with a custom mask."""

from __future__ import annotations

import math
import numbers
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.utils.pruning import BasePruningMethod
from tinynet.ops import rand, rand_like, topk, zeros_like


class Identity(BasePruningMethod):
    """Prune nothing, but add mask and original.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> prune.Identity().prune(tn.ones(2))
        tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the existing mask."""
        return default_mask


class _Amount(BasePruningMethod):
    """Base class of methods that prune a number or a fraction of the elements."""

    def __init__(self, amount: Any):
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        most = math.inf if isinstance(amount, numbers.Integral) else 1.0
        self.amount: Any = amount
        if not 0 <= float(amount) <= most:
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
                "integer"
            )

    def _count(self, size: int) -> int:
        count = self.amount
        if not isinstance(count, numbers.Integral):
            count = round(count * size)
        if count > size:
            raise ValueError(
                f"amount={count} should be smaller than the number of parameters to prune={size}"
            )
        return int(count)

    def _smallest(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Return the mask with the lowest scores pruned."""
        mask = mask.clone()
        mask.view(-1)[topk(scores.reshape(-1), self._count(scores.numel()), largest=False)[1]] = 0
        return mask


class RandomUnstructured(_Amount):
    """Prune random elements.

    Args:
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> prune.RandomUnstructured(0.5).prune(tn.ones(4)).sum()
        tensor(2.)
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with random elements pruned."""
        return self._smallest(rand_like(t), default_mask)


class L1Unstructured(_Amount):
    """Prune the elements of smallest magnitude.

    Args:
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> prune.L1Unstructured(2).prune(tn.tensor([1.0, -4.0, 2.0, 3.0]))
        tensor([ 0., -4.,  0.,  3.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with the elements of smallest magnitude pruned."""
        return self._smallest(t.abs(), default_mask)


class _Structured(_Amount):
    PRUNING_TYPE = "structured"
    dim: int

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with the slices of the lowest scores pruned."""
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        if not count:
            return default_mask
        kept = topk(self._scores(t), size - count).indices
        mask = zeros_like(t).index_fill_(self.dim, kept, 1)
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Structured):
    """Prune random slices of a tensor, such as channels of a convolution.

    Args:
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.
        dim: the dimension that indexes the slices.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range, or the tensor has fewer than two dimensions.
        IndexError: the dimension is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> prune.RandomStructured(1, dim=0).prune(tn.ones(3, 2)).sum()
        tensor(4.)
    """

    def __init__(self, amount: Any, dim: int = -1):
        super().__init__(amount)
        self.dim = dim

    def _scores(self, t: Tensor) -> Tensor:
        return rand(t.shape[self.dim])


class LnStructured(_Structured):
    """Prune the slices of a tensor with the smallest norm.

    Args:
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.
        n: the order of the norm.
        dim: the dimension that indexes the slices.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range, or the tensor has fewer than two dimensions.
        IndexError: the dimension is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> prune.LnStructured(1, n=2, dim=0).prune(tn.tensor([[1.0, 1.0], [2.0, 0.0]]))
        tensor([[0., 0.],
                [2., 0.]])
    """

    def __init__(self, amount: Any, n: Any, dim: int = -1):
        super().__init__(amount)
        self.n, self.dim = n, dim

    def _scores(self, t: Tensor) -> Tensor:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return t.norm(p=self.n, dim=others)


class CustomFromMask(BasePruningMethod):
    """Prune with a custom mask.

    Args:
        mask: a tensor with zeros at the elements to prune.

    Raises:
        AssertionError: the mask does not have the shape of the tensor.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> prune.CustomFromMask(tn.tensor([1, 0])).prune(tn.ones(2))
        tensor([1., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor):
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match "
                f"self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)
