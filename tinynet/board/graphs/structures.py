"""Flattening nested inputs and outputs into named leaves."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from tinynet.board.graphs.names import clean


class Arguments:
    """The arguments of a model, including keyword arguments.

    Args:
        *args, **kwargs: the model's arguments.

    Example:
        >>> from tinynet.board import Arguments
        >>> Arguments(1, mask=2)
        Arguments(1, mask=2)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        parts = [*map(repr, self.args), *(f"{key}={value!r}" for key, value in self.kwargs.items())]
        return f"Arguments({', '.join(parts)})"

    @staticmethod
    def of(value: Any) -> Arguments:
        """Return a model's arguments by PyTorch's rule: a tuple or list holds several.

        Raises:
            RuntimeError: ``value`` is None.
        """
        if isinstance(value, Arguments):
            return value
        if value is None:
            raise RuntimeError(
                "example_kwarg_inputs should be a dict. The 'input_to_model' of add_graph "
                "must hold what the model is called with: () if it takes nothing."
            )
        return Arguments(*value) if isinstance(value, (tuple, list)) else Arguments(value)

    def leaves(self, module: Any) -> Iterator[tuple[str, Any]]:
        """Yield the leaves, named by the parameters of the module's forward: `target`."""
        try:
            bound = inspect.signature(module.forward).bind(*self.args, **self.kwargs).arguments
        except (TypeError, ValueError):  # a forward without a signature, or invalid arguments
            bound = {**{str(i): arg for i, arg in enumerate(self.args)}, **self.kwargs}
        for name, value in bound.items():
            yield from flatten(value, clean(name))


def flatten(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested dicts, lists, tuples and dataclasses, named by their paths.

    Example:
        >>> from tinynet.board.graphs.structures import flatten
        >>> list(flatten({"a": [1, None], "b": "x"}, "input"))
        [('input/a/0', 1), ('input/a/1', None), ('input/b', 'x')]
    """
    members: list[tuple[Any, Any]]
    if isinstance(value, Mapping):
        members = list(value.items())
    elif isinstance(value, (list, tuple)):
        keys = getattr(value, "_fields", range(len(value)))  # a named tuple has names
        members = list(zip(keys, value, strict=True))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = [(entry.name, getattr(value, entry.name)) for entry in dataclasses.fields(value)]
    else:
        yield name, value
        return
    for key, member in members:
        yield from flatten(member, f"{name}/{clean(str(key))}")
