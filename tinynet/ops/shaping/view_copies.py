"""Copies of views: ``expand_copy`` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.declaration.operation import public
from tinynet.core.tensors.tensor import METHODS, Tensor
from tinynet.ops.argument_errors import refuse_others
from tinynet.ops.shaping import flipping, strided, views


def _whole(self: Tensor) -> Tensor:
    return self


def _slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    return views.cut.function(self, views.axis_of(dim, self._array.ndim), slice(start, end, step))


def _declare(name: str, view: Callable[..., Any], example: str) -> None:
    """Declare ``name_copy``, with the arguments of the view that it copies."""

    def function(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        refuse_others(f"{name}_copy", self=self)
        found = view(self, *args, **kwargs)
        if isinstance(found, tuple):
            return tuple(flipping.contiguous_copy.function(part) for part in found)
        return flipping.contiguous_copy.function(found)

    call, shown = example.split(" -> ")
    function.__name__ = function.__qualname__ = f"{name}_copy"
    function.__doc__ = f"""Return a copy of what ``{name}`` returns.

    Raises:
        TypeError: the input is not a tensor; otherwise as ``{name}``.

    Example:
        >>> x = tn.tensor([[1.0, 2.0]])
        >>> tn.{name}_copy(x{call}.tolist()
        {shown}
    """
    public(function, as_method=name == "narrow", out=True)


for _name, _view, _example in (
    ("alias", _whole, ") -> [[1.0, 2.0]]"),
    ("as_strided", strided.as_strided, ", (2,), (1,)) -> [1.0, 2.0]"),
    ("detach", METHODS["detach"], ") -> [[1.0, 2.0]]"),
    ("diagonal", METHODS["diagonal"], ") -> [1.0]"),
    ("expand", METHODS["expand"], ", (2, 2)) -> [[1.0, 2.0], [1.0, 2.0]]"),
    ("narrow", METHODS["narrow"], ", 1, 0, 1) -> [[1.0]]"),
    ("permute", METHODS["permute"], ", (1, 0)) -> [[1.0], [2.0]]"),
    ("select", METHODS["select"], ", 1, 0) -> [1.0]"),
    ("slice", _slice, ", 1, 1) -> [[2.0]]"),
    ("split", METHODS["split"], ", 1)[0] -> [[1.0, 2.0]]"),
    ("split_with_sizes", METHODS["split_with_sizes"], ", [1])[0] -> [[1.0, 2.0]]"),
    ("squeeze", METHODS["squeeze"], ") -> [1.0, 2.0]"),
    ("t", METHODS["t"], ") -> [[1.0], [2.0]]"),
    ("transpose", METHODS["transpose"], ", 0, 1) -> [[1.0], [2.0]]"),
    ("unbind", METHODS["unbind"], ")[0] -> [1.0, 2.0]"),
    ("unfold", METHODS["unfold"], ", 1, 1, 1) -> [[[1.0], [2.0]]]"),
    ("unsqueeze", METHODS["unsqueeze"], ", 0) -> [[[1.0, 2.0]]]"),
    ("view", METHODS["view"], ", (2,)) -> [1.0, 2.0]"),
):
    _declare(_name, _view, _example)
