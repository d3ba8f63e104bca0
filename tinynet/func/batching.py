"""``vmap``, which applies a function of single examples to a batch."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from tinynet.compat.pytree import (
    TreeSpec,
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_leaves,
    tree_unflatten,
)
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.batchnorm import _BatchNorm
from tinynet.ops import cat, stack
from tinynet.ops.batching import Level, UnbatchableError
from tinynet.ops.batching.dispatch import set_fallback_warning
from tinynet.ops.shaping.views import axis_of
from tinynet.random import default_generator, refused_drawing

_DRAWN = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that applies ``func`` to each example of a batch, and stacks the results.

    ``func`` runs once: tensors have the shape of one example, and operations compute all examples
    at once. A few operations without batching rules run example by example, and so does the whole
    ``func`` if it converts tensors to numpy. The result is differentiable, and ``func`` may itself
    be a transform: ``vmap(grad(f))`` computes a gradient for each example.

    Args:
        func: function of tensors, or trees of them, that returns tensors or trees.
        in_dims: the batch dimension of each argument, None for an argument shared by all examples:
            a single value for all arguments, or a tree that matches them.
        out_dims: the batch dimension of the results; None for a result shared by all examples.
        randomness: ``"error"``: random operations raise; ``"same"``: all examples draw the same
            numbers; ``"different"``: each example draws its own.
        chunk_size: the number of examples to compute at once; by default all.

    Raises:
        ValueError: dimensions do not fit the arguments or results, or batches differ in length.
        RuntimeError: a random operation runs with ``randomness="error"``; ``func`` reads the value
            of a tensor (``item()``, ``if``) or writes an example to a shared tensor.

    Example:
        >>> rows = tn.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> tn.vmap(tn.dot)(rows, rows)
        tensor([ 5., 25.])
        >>> tn.vmap(tn.func.grad(lambda w, x: (w * x).sum() ** 2), (None, 0))(tn.ones(2), rows)
        tensor([[ 6., 12.],
                [42., 56.]])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        check_out_dims(func, out_dims)
        leaves, dims, spec = inputs_of(func, in_dims, args)
        count = batch_length(leaves, dims)
        call = _Call(func, out_dims, randomness, spec, kwargs)
        if chunk_size is None or count <= chunk_size:
            flat, form, _ = call.results(leaves, dims, count)
        else:
            flat, form = call.in_chunks(leaves, dims, count, chunk_size)
        return tree_unflatten(flat, form)

    return wrapped


class _Call:
    """One call of a mapped function."""

    def __init__(
        self, func: Any, out_dims: Any, randomness: str, spec: TreeSpec, kwargs: dict[str, Any]
    ):
        self.func, self.out_dims, self.randomness = func, out_dims, randomness
        self.spec, self.kwargs = spec, kwargs

    def results(
        self, leaves: list[Any], dims: list[int | None], count: int
    ) -> tuple[list[Any], TreeSpec, list[int | None]]:
        """Return the leaves of the results, their structure, and their batch dimensions."""
        start = default_generator.position() if self.randomness == "same" else None
        try:
            if not count:  # an example of zeros shows the shapes
                raise UnbatchableError("vmap: there are no examples")
            return self._at_once(leaves, dims, count)
        except UnbatchableError:
            if start is not None:
                default_generator.go_to(start)
        found, form = self._one_by_one(leaves, dims, count)
        where = output_dims(self.func, self.out_dims, form)
        whole = [
            _joined(self.func, [row[i] for row in found], dim, count) for i, dim in enumerate(where)
        ]
        return whole, form, where

    def in_chunks(
        self, leaves: list[Any], dims: list[int | None], count: int, size: int
    ) -> tuple[list[Any], TreeSpec]:
        """Return the results of parts of the batch, joined, and their structure."""
        start = default_generator.position() if self.randomness == "same" else None
        parts = []
        for begin in range(0, count, size):
            if start is not None:
                default_generator.go_to(start)
            length = min(size, count - begin)
            some = [
                x if d is None else x.narrow(d, begin, length)
                for x, d in zip(leaves, dims, strict=True)
            ]
            parts.append(self.results(some, dims, length))
        _, form, where = parts[0]
        columns = zip(*(flat for flat, _, _ in parts), strict=True)
        joined = [
            column[0] if dim is None else cat(list(column), dim)
            for column, dim in zip(columns, where, strict=True)
        ]
        return joined, form

    def _run(self, leaves: list[Any]) -> tuple[list[Any], TreeSpec]:
        return tree_flatten(self.func(*tree_unflatten(leaves, self.spec), **self.kwargs))

    def _at_once(
        self, leaves: list[Any], dims: list[int | None], count: int
    ) -> tuple[list[Any], TreeSpec, list[int | None]]:
        """Run the function once, on all examples."""
        level = Level(count)
        inside = [x if d is None else level.enter(x, d) for x, d in zip(leaves, dims, strict=True)]
        problem: Any = None  # raised by random operations
        if self.randomness != "same":
            problem = (
                RuntimeError(_DRAWN) if self.randomness == "error" else UnbatchableError(_DRAWN)
            )
        with level, contextlib.nullcontext() if problem is None else refused_drawing(problem):
            flat, form = self._run(inside)
            where = output_dims(self.func, self.out_dims, form)
            whole = [_left(self.func, level, x, d) for x, d in zip(flat, where, strict=True)]
        return whole, form, where

    def _one_by_one(
        self, leaves: list[Any], dims: list[int | None], count: int
    ) -> tuple[list[list[Any]], TreeSpec]:
        """Return the leaves of what the function returns for each example, and their structure."""
        if count == 0:  # one example of zeros shows the shapes
            shown = [
                x if d is None else x.new_zeros([n for i, n in enumerate(x.shape) if i != d])
                for x, d in zip(leaves, dims, strict=True)
            ]
            with _drawing(self.randomness), no_grad():
                leaf, form = self._run(shown)
            return [leaf], form
        columns = [
            [x] * count if d is None else _examples(x, d) for x, d in zip(leaves, dims, strict=True)
        ]
        found, forms = [], []
        start = default_generator.position() if self.randomness == "same" else None
        for example in zip(*columns, strict=True):
            if start is not None:
                default_generator.go_to(start)
            with _drawing(self.randomness):
                leaf, form = self._run(list(example))
            found.append(leaf)
            forms.append(form)
        if any(form != forms[0] for form in forms):
            name = name_of(self.func)
            raise ValueError(f"vmap({name}, ...): the examples return different structures")
        return found, forms[0]


def _examples(x: Tensor, dim: int) -> list[Tensor]:
    """Return the examples of a batch, with one node for all if they require grad."""
    return [*x.unbind(dim)] if x.requires_grad else [x.select(dim, i) for i in range(x.shape[dim])]


@contextlib.contextmanager
def _drawing(randomness: str) -> Iterator[None]:
    with (
        refused_drawing(RuntimeError(_DRAWN)) if randomness == "error" else contextlib.nullcontext()
    ):
        yield


# ---- results ------------------------------------------------------------------------------------


def _left(func: Any, level: Level, result: Any, dim: int | None) -> Any:
    """Return a result of all examples, with the batch at ``dim``; None: they share the result."""
    if dim is None:
        if isinstance(result, Tensor) and level.holds(result):
            raise _differ(func)
        return result
    if not isinstance(result, Tensor):
        raise _no_tensor(func, result)
    return level.leave(result, axis_of(dim, result.dim() + 1))


def _differ(func: Any) -> ValueError:
    name = name_of(func)
    return ValueError(
        f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
    )


def _no_tensor(func: Any, result: Any) -> ValueError:
    name = name_of(func)
    return ValueError(
        f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(result)}. "
        "Did you mean to set out_dims= to None for output?"
    )


def _joined(func: Any, results: list[Any], dim: int | None, count: int) -> Any:
    """Return the results of all examples as one tensor, or the one that they share."""
    first = results[0]
    if dim is None:
        if isinstance(first, Tensor) and not all(
            r is first or (r.shape == first.shape and bool((r == first).all())) for r in results
        ):
            raise _differ(func)
        return first
    for r in results:
        if not isinstance(r, Tensor):
            raise _no_tensor(func, r)
    whole = stack(results, dim)
    return whole if count else whole.narrow(dim, 0, 0)


# ---- dimensions ---------------------------------------------------------------------------------
# Which dimensions of arguments and results run over the batch of a ``vmap``.


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


# ---- other functions of torch.func --------------------------------------------------------------


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return the function unchanged: transforms support in-place writes.

    Args:
        func: the function.
        remove: ``"mutations"`` or ``"mutations_and_views"``.

    Raises:
        RuntimeError: ``remove`` is something else.

    Example:
        >>> tn.func.functionalize(tn.sin) is tn.sin
        True
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for "
            f"remove={remove}. Valid options are: remove='mutations', 'mutations_and_views'"
        )
    return func


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """Return the tensor unchanged: transforms do not wrap tensors.

    Args:
        tensor: the tensor.
        recurse: accepted.

    Example:
        >>> tn.func.debug_unwrap(tn.tensor(1.0))
        tensor(1.)
    """
    return tensor


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Remove the running statistics of all batch norms in a module, and return it.

    Args:
        root: the module.

    Raises:
        AttributeError: ``root`` is not a module.

    Example:
        >>> tn.func.replace_all_batch_norm_modules_(nn.BatchNorm1d(2)).running_mean is None
        True
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def set_vmap_fallback_warning(enabled: bool) -> None:
    """Enable or disable (the default) warnings for operations that run example by example.

    Args:
        enabled: whether to warn; the warning names the operation.

    Raises:
        TypeError: ``enabled`` is not a bool.

    Example:
        >>> tn.func.set_vmap_fallback_warning(False)
    """
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool, not {type(enabled).__name__}")
    set_fallback_warning(enabled)


_vmap = vmap  # its first name in PyTorch, under which programs import it
