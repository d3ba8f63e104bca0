"""The base class of pruning methods: a hook that applies a mask."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.ops import ones_like, rand, rand_like, topk, zeros_like


class BasePruningMethod:
    """Base class of pruning methods, and the hook that prunes before each forward.

    Subclasses define ``compute_mask`` and ``PRUNING_TYPE``: ``"unstructured"`` for single elements,
    ``"structured"`` for slices along ``dim``, ``"global"`` for the whole tensor.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> class Negative(prune.BasePruningMethod):
        ...     PRUNING_TYPE = "unstructured"
        ...     def compute_mask(self, t, default_mask): return default_mask * (t >= 0)
        >>> net = nn.Linear(2, 2)
        >>> _ = Negative.apply(net, "weight")
        >>> bool((net.weight >= 0).all())
        True
    """

    PRUNING_TYPE: str
    _tensor_name: str | None = None

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, str(self._tensor_name), self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of zeros and ones for scores ``t``, given the existing mask."""
        raise NotImplementedError(f"{type(self).__name__} has no compute_mask")

    def apply_mask(self, module: Module) -> Tensor:
        """Return the product of parameter and mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, f"{self._tensor_name}_orig")
        return getattr(module, f"{self._tensor_name}_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> Any:
        """Prune a parameter and return the method: a container if it was already pruned."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        current = getattr(module, name)
        _check_scores(importance_scores, current, f"parameter {name} of {module}")
        earlier = hooks_of(module, name)
        if len(earlier) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module "
                f"{module}. Use a PruningContainer."
            )
        if earlier:
            key, old = earlier[0]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            method, before = container, getattr(module, f"{name}_mask").detach().clone()
        else:
            key, before = None, ones_like(current)
        scores = current if importance_scores is None else importance_scores
        mask = method.compute_mask(scores, default_mask=before)
        if key is None:
            delattr(module, name)
            module.register_parameter(f"{name}_orig", current)
        else:
            del module._forward_pre_hooks[key]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """Return a pruned copy of a tensor."""
        _check_scores(importance_scores, t, "tensor t")
        scores = t if importance_scores is None else importance_scores
        before = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=before)

    def remove(self, module: Module) -> None:
        """Make pruning permanent, removing the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        original, values = getattr(module, f"{name}_orig"), self.apply_mask(module)
        original.data = values.data
        for attribute in (name, f"{name}_orig", f"{name}_mask"):
            delattr(module, attribute)
        setattr(module, name, original)


def _check_scores(scores: Tensor | None, t: Tensor, what: str) -> None:
    if scores is not None and scores.shape != t.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, "
            f"got {scores.shape} vs {t.shape}"
        )


def hooks_of(module: Module, name: str | None = None) -> list[tuple[Any, BasePruningMethod]]:
    """Return the pruning hooks of a module (or of one parameter) with their keys."""
    return [
        (key, hook)
        for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and name in (None, hook._tensor_name)
    ]


class PruningContainer(BasePruningMethod):
    """A sequence of pruning methods for one parameter.

    Args:
        *args: the methods.

    Raises:
        TypeError: an argument is not a pruning method.
        ValueError: the methods prune different parameters.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.l1_unstructured(nn.Linear(2, 2), "weight", 1)
        >>> net = prune.random_unstructured(net, "weight", 1)
        >>> int(net.weight_mask.sum())
        2
    """

    PRUNING_TYPE = "global"

    def __init__(self, *args: BasePruningMethod):
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same parameter; only the newest computes a mask."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask after the newest method prunes the remaining elements."""
        method = self._pruning_methods[-1]
        remaining = _remaining(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype, copy=True)
        part = method.compute_mask(t[remaining], default_mask=default_mask[remaining])
        mask[remaining] = part.to(dtype=mask.dtype)
        return mask


def _remaining(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Any:
    """Return the index of the elements that a method may still prune."""
    index: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` '
                "defined."
            )
        dim = method.dim if method.dim >= 0 else method.dim + t.dim()
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        index[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(index)


# ---- pruning methods ----------------------------------------------------------------------------
# Pruning methods: by magnitude, at random, or with a custom mask.


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
