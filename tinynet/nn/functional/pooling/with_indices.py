"""Max pooling functions that always return the indices of the maxima, too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.functional.pooling import adaptive_pooling, pooling, unpooling

__all__ = [
    "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d_with_indices"
]  # fmt: skip

P = ParamSpec("P")


def _with_indices(pool: Callable[P, Any], arguments: str) -> Callable[P, tuple[Tensor, Tensor]]:
    """Return a function that is ``pool`` with ``return_indices=True``.

    It accepts ``return_indices``, as in PyTorch, and ignores it.

    Args:
        pool: the pooling.
        arguments: those of the example in the docstring.
    """
    signature: Any = inspect.signature(pool)

    def function(*args: P.args, **kwargs: P.kwargs) -> tuple[Tensor, Tensor]:
        given = signature.bind(*args, **kwargs)
        given.arguments["return_indices"] = True
        return pool(*given.args, **given.kwargs)

    name = f"{pool.__name__}_with_indices"
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        return_annotation="tuple[Tensor, Tensor]"
    )
    function.__doc__ = f"""Return ``{pool.__name__}(..., return_indices=True)``.

    The arguments are those of ``{pool.__name__}``.

    Example:
        >>> values, indices = F.{name}({arguments})
        >>> values.shape == indices.shape
        True
    """
    return function


max_pool1d_with_indices = _with_indices(pooling.max_pool1d, "tn.rand(1, 4), 2")
max_pool2d_with_indices = _with_indices(pooling.max_pool2d, "tn.rand(1, 4, 4), 2")
max_pool3d_with_indices = _with_indices(pooling.max_pool3d, "tn.rand(1, 4, 4, 4), 2")
adaptive_max_pool1d_with_indices = _with_indices(
    adaptive_pooling.adaptive_max_pool1d, "tn.rand(1, 4), 2"
)
adaptive_max_pool2d_with_indices = _with_indices(
    adaptive_pooling.adaptive_max_pool2d, "tn.rand(1, 4, 4), 2"
)
adaptive_max_pool3d_with_indices = _with_indices(
    adaptive_pooling.adaptive_max_pool3d, "tn.rand(1, 4, 4, 4), 2"
)
fractional_max_pool2d_with_indices = _with_indices(
    unpooling.fractional_max_pool2d, "tn.rand(1, 6, 6), 2, 3"
)
fractional_max_pool3d_with_indices = _with_indices(
    unpooling.fractional_max_pool3d, "tn.rand(1, 6, 6, 6), 2, 3"
)
