"""Parametrizations: parameters that are computed from others on each read.

``register_parametrization(module, "weight", f)`` moves the parameter to
``module.parametrizations.weight.original`` and makes ``module.weight`` a property that returns
``f(original)``. To this end the class of the module is replaced by a subclass with one property per
parametrized name. Such a class is never modified, only replaced, so copies of a module can share
it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import MODULES, table_of
from tinynet.nn.layers.container import ModuleDict, ModuleList
from tinynet.nn.parameter import Parameter

# ---- the functions and their inputs -------------------------------------------------------------


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor and their inputs: ``module.parametrizations.weight``.

    Created by ``register_parametrization``. Calling it returns the value.

    Args:
        modules: the functions in order.
        original: the parameter or buffer to replace.
        unsafe: whether the functions may change shape and dtype.

    Attributes:
        original: the input of the first function, a parameter or buffer; ``original0``,
            ``original1``, ... if its ``right_inverse`` returns several tensors.

    Raises:
        ValueError: there are no functions; or, unless ``unsafe``, they change shape or dtype.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
        >>> functions = layer.parametrizations.weight
        >>> functions.original0.shape, functions.original1.shape
        (tinynet.Size([2, 1]), tinynet.Size([2, 3]))
        >>> bool((functions() == layer.weight).all())
        True
    """

    original: Tensor

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False):
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        inverse = _inverted(reversed([*self]), original)
        self.is_tensor = isinstance(inverse, Tensor)
        self.ntensors = 1 if self.is_tensor else len(inverse)
        before = original.detach()
        if self.is_tensor:
            _check_same(
                *(inverse, original),
                "When `right_inverse` outputs one tensor, it may not change the {}.",
                "original.{}",
                "right_inverse(original).{}",
                ("dtype",),
            )
            original.data = inverse
            _register(self, "original", original)
        else:
            self._keep_several(original, inverse)
        try:
            if not unsafe:
                _check_value(self(), before, "", "unparametrized {}", "parametrized {}")
        except Exception:
            original.data = before
            raise

    def _keep_several(self, original: Tensor, inverse: Sequence[Any]) -> None:
        for i, tensor in enumerate(inverse):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                    f"tuple...). Got element {i} of the sequence with type {type(tensor).__name__}."
                )
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", tensor)

    def originals(self) -> list[Any]:
        """Return the inputs of the first function."""
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        return [getattr(self, name) for name in names]

    def forward(self) -> Any:
        """Return the value."""
        first, *others = self
        value = first(*self.originals())
        for function in others:
            value = function(value)
        return value

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the value becomes ``value``, through every ``right_inverse``.

        Raises:
            RuntimeError: a function has no ``right_inverse``.
            ValueError: the result of ``right_inverse`` does not match the originals.
        """
        with no_grad():
            for function in reversed([*self]):
                if not hasattr(function, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(function).__name__} does not implement "
                        "right_inverse."
                    )
                value = function.right_inverse(value)
        if self.is_tensor:
            _check_new_original(value, self.original)
            self.original.data = value
            return
        if not isinstance(value, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}."
            )
        if len(value) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(value)}."
            )
        originals = self.originals()
        for i, (tensor, original) in enumerate(zip(value, originals, strict=True)):
            _check_new_original(tensor, original, i)
        for tensor, original in zip(value, originals, strict=True):
            original.data = tensor


def _inverted(functions: Iterable[Any], value: Any) -> Any:
    """Return the input for which the functions return ``value``."""
    with no_grad():
        for function in functions:
            if hasattr(function, "right_inverse"):
                try:
                    value = function.right_inverse(value)
                except NotImplementedError:
                    pass
    if not isinstance(value, Tensor | Sequence):
        raise ValueError(
            "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
            f"Got {type(value).__name__}"
        )
    return value


def _register(module: Module, name: str, tensor: Tensor) -> None:
    """Register a tensor as a parameter or, if it is not one, as a buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


# ---- validation ---------------------------------------------------------------------------------


def _check_same(
    new: Any,
    old: Tensor,
    sentence: str,
    old_label: str,
    new_label: str,
    properties: tuple[str, ...] = ("dtype", "shape"),
) -> None:
    """Raise ValueError if dtype or shape differ; ``{}`` in the texts stands for which."""
    for what in properties:
        if getattr(new, what) != getattr(old, what):
            raise ValueError(
                f"{sentence.format(what)}\n{old_label.format(what)}: {getattr(old, what)}\n"
                f"{new_label.format(what)}: {getattr(new, what)}"
            )


def _check_value(new: Any, old: Tensor, the: str, old_label: str, new_label: str) -> None:
    """Raise ValueError if a parametrized value is not a tensor, or of another dtype or shape."""
    if not isinstance(new, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(new).__name__}.")
    sentence = (
        "Registering a parametrization may not change the {} of the tensor, "
        f"unless {the}`unsafe` flag is enabled."
    )
    _check_same(new, old, sentence, old_label, new_label)


def _check_new_original(value: Any, original: Tensor, number: int | None = None) -> None:
    """Validate the result of ``right_inverse`` for an original (one of several: ``number``)."""
    if not isinstance(value, Tensor):
        if number is None:
            text = f"`right_inverse` should return a tensor. Got {type(value).__name__}"
        else:
            text = (
                "'right_inverse' must return a sequence of tensors or reference-type opaques. "
                f"Got element {number} of type {type(value).__name__}."
            )
        raise ValueError(text)
    if value.dtype != original.dtype:
        which = ("The tensor", "") if number is None else (f"Tensor {number}", number)
        raise ValueError(
            f"{which[0]} returned by `right_inverse` has dtype {value.dtype} while "
            f"`original{which[1]}` has dtype {original.dtype}"
        )


# ---- reading once -------------------------------------------------------------------------------


class _Cache(threading.local):
    """The values cached inside ``cached()`` blocks: (id of the module, name) -> tensor."""

    def __init__(self) -> None:
        self.depth = 0
        self.values: dict[tuple[int, str], Any] = {}


_cache = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Cache parametrized values inside the block instead of computing them on each read.

    Use it for parameters that a forward reads several times, such as those of a recurrent cell.

    Raises:
        any exception raised inside the block; the cache is cleared regardless.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> with nn.utils.parametrize.cached():
        ...     layer.weight is layer.weight
        True
        >>> layer.weight is layer.weight
        False
    """
    _cache.depth += 1
    try:
        yield
    finally:
        _cache.depth -= 1
        if not _cache.depth:
            _cache.values.clear()


# ---- the class of a parametrized module ---------------------------------------------------------


def _property(name: str) -> property:
    def read(self: Any) -> Any:
        functions = self.parametrizations[name]
        if not _cache.depth:
            return functions()
        key = (id(self), name)
        if key not in _cache.values:
            _cache.values[key] = functions()
        return _cache.values[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    copied = object.__new__(type(self))
    memo[id(self)] = copied
    base: Any = type_before_parametrizations(self)
    state = base.__getstate__(self)  # the subclass raises
    copied.__setstate__(copy.deepcopy(state, memo))
    return copied


def _refuse_to_pickle(self: Any) -> dict[str, Any]:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). Its class "
        "is made at run time, so no other process has it."
    )


def _renew_class(module: Any, base: type, names: Iterable[str]) -> None:
    """Replace the class of a module by one with a property for each parametrized name."""
    own: dict[str, Any] = {name: _property(name) for name in names}
    if not own:
        module.__class__ = base
        return
    own.update(__getstate__=_refuse_to_pickle, __doc__=base.__doc__, __module__=base.__module__)
    if not hasattr(base, "__deepcopy__"):
        own["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), own)


# ---- registering and removing -------------------------------------------------------------------


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer as ``parametrization(original)``; return the module.

    Several parametrizations of one tensor are applied in order. Assigning to the parametrized
    attribute calls ``right_inverse(value)``, if defined: it returns the original, or a sequence of
    originals that become the arguments of the parametrization.

    Args:
        module: the module; its class is replaced by a subclass.
        tensor_name: the name of the parameter or buffer.
        parametrization: the function.
        unsafe: allow changes of shape and dtype.

    Raises:
        ValueError: the module has no such tensor, or its shape or dtype changes.

    Example:
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).T
        ...     def right_inverse(self, a):
        ...         return a.triu()
        >>> layer = nn.Linear(3, 3)
        >>> P = nn.utils.parametrize
        >>> _ = P.register_parametrization(layer, "weight", Symmetric())
        >>> bool((layer.weight == layer.weight.T).all())
        True
        >>> layer.weight = tn.ones(3, 3)
        >>> layer.parametrizations.weight.original
        Parameter containing:
        tensor([[1., 1., 1.],
                [0., 1., 1.],
                [0., 0., 1.]], requires_grad=True)
    """
    parametrization.train(module.training)
    owner: Any = module
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(owner, tensor_name, parametrization)
        functions = owner.parametrizations[tensor_name]
        functions.append(parametrization)
        functions.unsafe |= unsafe
        return module
    table = table_of(module, tensor_name)
    original = None if table in (None, MODULES) else getattr(module, table)[tensor_name]
    if original is None:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    functions = ParametrizationList([parametrization], original, unsafe=unsafe)
    base = type_before_parametrizations(module)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        owner.parametrizations = ModuleDict()
    owner.parametrizations[tensor_name] = functions
    _renew_class(module, base, owner.parametrizations)
    return module


def _check_another(module: Any, name: str, parametrization: Any) -> None:
    """Raise if another parametrization of a tensor changes shape or dtype."""
    old = getattr(module, name)
    new = parametrization(old)
    where = f"module.{name}"
    _check_value(new, old, "the ", where + ".{}", f"parametrization({where})" + ".{}")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        inverse = parametrization.right_inverse(new)
    except NotImplementedError:
        return
    if not isinstance(inverse, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}"
        )
    sentence = (
        "The tensor returned by parametrization.right_inverse must have the same {} as "
        f"{where}, unless the `unsafe` flag is enabled."
    )
    _check_same(inverse, old, sentence, where + ".{}", "returned {}")


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a module has a parametrization (of the tensor with the given name).

    Args:
        module: the module.
        tensor_name: the parameter or buffer; None stands for any.

    Example:
        >>> layer = nn.Linear(3, 3)
        >>> nn.utils.parametrize.is_parametrized(layer)
        False
    """
    found = module._modules.get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Turn a parametrized tensor back into a parameter or buffer and return the module.

    Args:
        module: the module.
        tensor_name: the name of the tensor.
        leave_parametrized: keep the parametrized value instead of ``original``.

    Raises:
        ValueError: the tensor is not parametrized, or has several originals.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
        >>> nn.utils.parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    owner: Any = module
    functions = owner.parametrizations[tensor_name]
    if functions.is_tensor:
        tensor = functions.original
        if leave_parametrized:
            with no_grad():
                tensor.data = getattr(module, tensor_name)
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        tensor = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    base = type_before_parametrizations(module)
    del owner.parametrizations[tensor_name]
    _renew_class(module, base, owner.parametrizations)
    _register(module, tensor_name, tensor)
    if not is_parametrized(module):
        del owner.parametrizations
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class of a module before parametrization.

    Raises:
        AttributeError: it is not a module and has no attributes.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))
        >>> type(layer).__name__, nn.utils.parametrize.type_before_parametrizations(layer).__name__
        ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Copy the parametrizations of ``from_module``, with their originals, to ``to_module``.

    Args:
        tensor_name: transfer only those of this tensor.

    Returns:
        ``to_module``, which then shares functions and originals with ``from_module``.

    Raises:
        KeyError: ``tensor_name`` is not parametrized, though another tensor is.

    Example:
        >>> from tinynet.nn.utils import parametrizations, parametrize
        >>> one, other = parametrizations.weight_norm(nn.Linear(3, 3)), nn.Linear(3, 3)
        >>> other = parametrize.transfer_parametrizations_and_params(one, other)
        >>> bool((other.weight == one.weight).all())
        True
    """
    source: Any = from_module
    target: Any = to_module
    if not is_parametrized(from_module):
        return to_module
    for name in [*source.parametrizations] if tensor_name is None else [tensor_name]:
        if not hasattr(target, name):
            setattr(target, name, Parameter(getattr(source, name)))
        functions = source.parametrizations[name]
        for function in functions:
            register_parametrization(target, name, function)
        for key, original in functions.named_parameters(recurse=False):
            setattr(target.parametrizations[name], key, original)
        for key, original in functions.named_buffers(recurse=False):
            setattr(target.parametrizations[name], key, original)
    return to_module
