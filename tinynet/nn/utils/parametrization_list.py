"""ParametrizationList: the functions that compute a parametrized tensor, with their inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.container import ModuleList
from tinynet.nn.parameter import Parameter


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
            check_same(
                *(inverse, original),
                "When `right_inverse` outputs one tensor, it may not change the {}.",
                "original.{}",
                "right_inverse(original).{}",
                ("dtype",),
            )
            original.data = inverse
            register(self, "original", original)
        else:
            self._keep_several(original, inverse)
        try:
            if not unsafe:
                check_value(self(), before, "", "unparametrized {}", "parametrized {}")
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
            register(self, f"original{i}", tensor)

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


def register(module: Module, name: str, tensor: Tensor) -> None:
    """Register a tensor as a parameter or, if it is not one, as a buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


# ---- validation ---------------------------------------------------------------------------------


def check_same(
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


def check_value(new: Any, old: Tensor, the: str, old_label: str, new_label: str) -> None:
    """Raise ValueError if a parametrized value is not a tensor, or of another dtype or shape."""
    if not isinstance(new, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(new).__name__}.")
    sentence = (
        "Registering a parametrization may not change the {} of the tensor, "
        f"unless {the}`unsafe` flag is enabled."
    )
    check_same(new, old, sentence, old_label, new_label)


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
