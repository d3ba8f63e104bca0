"""Pruning of modules: weights kept at zero by a mask, chosen by size, at random or directly.

A pruned parameter ``weight`` becomes ``weight_orig``, which is trained, and the buffer
``weight_mask``; their product is ``weight``, recomputed before each forward.

Source: Han et al. 2015, "Learning both Weights and Connections for Efficient Neural Networks".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.utils.parameters import parameters_to_vector
from tinynet.nn.utils.pruning import BasePruningMethod as BasePruningMethod
from tinynet.nn.utils.pruning import CustomFromMask as CustomFromMask
from tinynet.nn.utils.pruning import Identity as Identity
from tinynet.nn.utils.pruning import L1Unstructured as L1Unstructured
from tinynet.nn.utils.pruning import LnStructured as LnStructured
from tinynet.nn.utils.pruning import PruningContainer as PruningContainer
from tinynet.nn.utils.pruning import RandomStructured as RandomStructured
from tinynet.nn.utils.pruning import RandomUnstructured as RandomUnstructured
from tinynet.nn.utils.pruning import hooks_of
from tinynet.ops import ones_like


def identity(module: Module, name: str) -> Module:
    """Add mask and original of a parameter without pruning it, and return the module.

    Args:
        module: the module.
        name: the name of its parameter.

    Raises:
        AttributeError: the module has no such parameter.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.identity(nn.Linear(2, 3), "weight")
        >>> int(net.weight_mask.sum())
        6
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    """Prune random elements of a parameter and return the module.

    Args:
        module: the module.
        name: the name of its parameter.
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.random_unstructured(nn.Linear(2, 3), "weight", 0.5)
        >>> int(net.weight_mask.sum())
        3
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: Any, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of a parameter with the smallest magnitude and return the module.

    Args:
        module: the module.
        name: the name of its parameter.
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.
        importance_scores: scores to rank by instead of the parameter, of the same shape.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.l1_unstructured(nn.Linear(2, 3), "weight", 2)
        >>> int(net.weight_mask.sum())
        4
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    """Prune random slices of a parameter and return the module.

    Args:
        module: the module.
        name: the name of its parameter.
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.
        dim: the dimension that indexes the slices.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range.
        IndexError: the dimension is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.random_structured(nn.Linear(2, 3), "weight", 1, dim=0)
        >>> int(net.weight_mask.sum())
        4
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: Any,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the slices of a parameter with the smallest norm and return the module.

    Args:
        module: the module.
        name: the name of its parameter.
        amount: the number of elements as an int, or the fraction as a float from 0 to 1.
        n: the order of the norm.
        dim: the dimension that indexes the slices.
        importance_scores: scores to rank by instead of the parameter, of the same shape.

    Raises:
        TypeError: ``amount`` is not a number.
        ValueError: ``amount`` is out of range.
        IndexError: the dimension is out of range.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.ln_structured(nn.Linear(2, 3), "weight", 1, n=2, dim=1)
        >>> int(net.weight_mask.sum())
        3
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter with a custom mask and return the module.

    Args:
        module: the module.
        name: the name of its parameter.
        mask: a tensor with zeros at the elements to prune.

    Raises:
        AssertionError: the mask does not have the shape of the parameter.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.custom_from_mask(nn.Linear(2, 1), "weight", tn.tensor([[1, 0]]))
        >>> int(net.weight_mask.sum())
        1
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any,
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune elements of several parameters, ranked jointly.

    Args:
        parameters: pairs of a module and the name of its parameter.
        pruning_method: the pruning class, such as ``L1Unstructured``.
        importance_scores: scores to rank by instead of the parameters: pair -> tensor.
        **kwargs: arguments of the class, such as ``amount``.

    Raises:
        TypeError: the method is not unstructured, or an argument has the wrong type.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> a, b = nn.Linear(2, 2), nn.Linear(2, 2)
        >>> pairs = [(a, "weight"), (b, "weight")]
        >>> prune.global_unstructured(pairs, prune.L1Unstructured, amount=5)
        >>> int(a.weight_mask.sum() + b.weight_mask.sum())
        3
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = [*parameters]
    tensors = [getattr(module, name) for module, name in pairs]
    masks = [
        getattr(module, f"{name}_mask", ones_like(t))
        for (module, name), t in zip(pairs, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    compared = [scores.get(p, t) for p, t in zip(pairs, tensors, strict=True)]
    whole = PruningContainer(method).compute_mask(
        parameters_to_vector(compared), parameters_to_vector(masks)
    )
    parts = whole.split([t.numel() for t in tensors])
    for (module, name), t, mask in zip(pairs, tensors, parts, strict=True):
        custom_from_mask(module, name, mask.view_as(t))


def remove(module: Module, name: str) -> Module:
    """Make pruning permanent, removing the mask, and return the module.

    Args:
        module: the module.
        name: the name of its parameter.

    Raises:
        ValueError: the parameter is not pruned.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> net = prune.l1_unstructured(nn.Linear(2, 3), "weight", 2)
        >>> [*prune.remove(net, "weight").state_dict()]
        ['bias', 'weight']
    """
    for key, hook in hooks_of(module, name):
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Module) -> bool:
    """Return whether a parameter of the module or of a submodule is pruned.

    Args:
        module: the module.

    Example:
        >>> from tinynet.nn.utils import prune
        >>> prune.is_pruned(nn.Linear(2, 3))
        False
    """
    return any(hooks_of(m) for m in module.modules())
