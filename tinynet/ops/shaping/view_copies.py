"""Copies of views, declared with the view: ``expand_copy`` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tinynet.core import layouts
from tinynet.core.declaration.operation import Operation, composite, operation
from tinynet.core.declaration.out_argument import OutRules
from tinynet.core.tensors.tensor import METHODS, Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, keywords, refuse_others

F = TypeVar("F")
SEVERAL = EXPECTED._replace(silent=True)


@operation(node="CloneBackward0", complex=True, order="")
def contiguous_copy(self: Array, /, wanted: Any = layouts.contiguous_format) -> Array:
    """Return a copy in row-major order or another memory format."""
    if wanted is layouts.contiguous_format:
        return np.array(self, order="C")
    return layouts.arranged(self, wanted)


contiguous_copy.grad(self=lambda g: g)


def copied(
    call: str, shown: object, out: bool | OutRules = EXPECTED, method: bool = False
) -> Callable[[F], F]:
    """Declare for a view the function ``name_copy``, which returns a copy of it.

    Args:
        call: a call for the example of its docstring, on the matrix ``x`` of 1 and 2.
        shown: the result of the call, as lists.
        out: the rules of its argument ``out=``.
        method: whether it is a Tensor method too.
    """

    def declare(declared: F) -> F:
        view: Any = declared.function if isinstance(declared, Operation) else declared
        name = view.__name__.rstrip("_")  # ``slice_`` hides no builtin
        with_names = keywords(view)

        def function(self: Tensor, *args: Any, **kwargs: Any) -> Any:
            refuse_others(f"{name}_copy", self=self)
            if name == "view":  # its copy takes any strides
                self = contiguous_copy.function(self)
            found = with_names(self, *args, **kwargs)
            if isinstance(found, tuple):
                return tuple(contiguous_copy.function(part) for part in found)
            return contiguous_copy.function(found)

        function.__name__ = function.__qualname__ = f"{name}_copy"
        function.__doc__ = f"""Return a copy of what ``{name}`` returns.

        Raises:
            TypeError: the input is not a tensor; otherwise as ``{name}``.

        Example:
            >>> x = tn.tensor([[1.0, 2.0]])
            >>> {call}.tolist()
            {shown}
        """
        composite(function, method=method, out=out)
        return declared

    return declare


@copied("tn.alias_copy(x)", [[1.0, 2.0]])
def alias(self: Tensor) -> Tensor:
    """Return the tensor itself."""
    return self


copied("tn.detach_copy(x)", [[1.0, 2.0]], out=True)(METHODS["detach"])
