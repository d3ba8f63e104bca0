"""The errors of modules: what they do not accept as members, and what their classes lack."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from tinynet import errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.tables import PARAMETERS, attributes
from tinynet.nn.parameter import Buffer

if TYPE_CHECKING:
    from tinynet.nn.base.module import Module


def typename(value: Any) -> str:
    """Return the type name of a value for messages: ``tinynet.FloatTensor``, ``int``."""
    if type(value) in (Tensor, Buffer):
        return f"tinynet.{value.dtype.tensor_name}"
    kind = value if isinstance(value, (type, FunctionType)) else type(value)
    inside = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return inside + kind.__qualname__


def not_a_module(value: Any) -> TypeError:
    """Return the error for something else in the place of a module."""
    sentence = f"{typename(value)} is not a Module subclass"
    if isinstance(value, type) and hasattr(value, "named_modules"):
        fix = f"that is the class: make a layer with `{value.__name__}(...)`"
    elif isinstance(value, (list, tuple)):
        fix = "pass the layers one by one: `nn.Sequential(*layers)`"
    elif callable(value):
        fix = "a function is not a layer: use its class, such as nn.ReLU() for F.relu, or a Module"
    else:
        return TypeError(sentence)
    return TypeError(errors.with_fix(sentence, fix))


def not_set_up(module: Module, sentence: str) -> AttributeError:
    """Return the error for a module whose ``__init__`` does not call that of ``Module``."""
    kind = type(module).__name__
    fix = f"call `super().__init__()` first in `{kind}.__init__`"
    return AttributeError(errors.with_fix(sentence, fix))


def no_forward(module: Module) -> NotImplementedError:
    """Return the error for a module whose class does not define ``forward``."""
    name = type(module).__name__
    sentence = f'Module [{name}] is missing the required "forward" function'
    fix = f"define `def forward(self, x):` in the class {name}, indented like `__init__`"
    return NotImplementedError(errors.with_fix(sentence, fix))


def look_up(module: Module, name: str) -> Any:
    """Return an attribute that Python did not find.

    Raises:
        AttributeError: there is none; if the module is not set up, the error names the remedy.
    """
    try:
        return object.__getattribute__(module, name)
    except AttributeError as error:
        if error.obj is not module or error.name != name:  # raised by a property
            raise
        text = str(error)
    if PARAMETERS in attributes(module):
        raise AttributeError(text, name=name, obj=module)
    raise not_set_up(module, text)
