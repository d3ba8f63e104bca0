"""Which dimensions of arguments and results run over the batch of a ``vmap``."""

from __future__ import annotations

import functools
from typing import Any

from tinynet.compat.pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_leaves
from tinynet.core.tensors.tensor import Tensor


def name_of(func: Any) -> str:
    """Return the name of a function in messages."""
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return getattr(func, "__name__", repr(func))


# ---- dimensions of the arguments ----------------------------------------------------------------


def inputs_of(
    func: Any, in_dims: Any, args: tuple[Any, ...]
) -> tuple[list[Any], list[int | None], TreeSpec]:
    """Return the leaves of the arguments, and the batch dimension of each."""
    name = name_of(func)
    problem = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{problem}expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{problem}in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    return leaves, [_dimension(problem, x, d) for x, d in zip(leaves, dims, strict=True)], spec


def _dimension(problem: str, x: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{problem}Got in_dim={dim} for an input but in_dim must be either an integer "
            "dimension or None."
        )
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{problem}Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot "
            "vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -x.dim() <= dim < x.dim():
        raise ValueError(
            f"{problem}Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {x.dim()} so expected in_dim to satisfy "
            f"-{x.dim()} <= in_dim < {x.dim()}."
        )
    return dim % x.dim()


def batch_length(leaves: list[Any], dims: list[int | None]) -> int:
    """Return the number of examples; ValueError where the arguments differ."""
    sizes = [x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


# ---- dimensions of the results ------------------------------------------------------------------


def check_out_dims(func: Any, out_dims: Any) -> None:
    """Raise ValueError unless ``out_dims`` consists of ints and None."""
    if not all(dim is None or isinstance(dim, int) for dim in tree_leaves(out_dims)):
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or "
            "a python collection of ints representing where in the outputs the vmapped dimension "
            "should appear."
        )


def output_dims(func: Any, out_dims: Any, form: TreeSpec) -> list[int | None]:
    """Return where the batch dimension of each result goes."""
    single = form.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1
    dims = list(out_dims) if single else _broadcast_to_and_flatten(out_dims, form)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not "
            "compatible with the structure of `outputs`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} "
            f"but outputs has structure {form}."
        )
    return dims
