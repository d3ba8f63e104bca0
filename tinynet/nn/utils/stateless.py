"""Calling a module with substitute parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import BUFFERS, PARAMETERS, table_of
from tinynet.ops.shaping.joining import stack

_MISSING: Any = object()


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Return ``module(*args, **kwargs)``, computed with substitute parameters and buffers.

    Gradients flow to the given tensors, which may have a history. The module's own tensors are
    restored afterwards. If the forward replaces a given buffer, the dictionary is updated.

    Args:
        module: the module.
        parameter_and_buffer_dicts: path -> tensor, as in ``named_parameters``; or a sequence of
            such dictionaries. Other tensors stay the module's own.
        args: a tuple of positional arguments, or a single one.
        kwargs: the keyword arguments.
        tie_weights: replace a tensor that has several paths under all of them.
        strict: require exactly the paths of all parameters and buffers.

    Raises:
        ValueError: a path is in several dictionaries, or tied tensors get different values.
        RuntimeError: with ``strict``: paths are missing or unknown.
        TypeError: a path does not lead to a tensor, or a value is not a tensor.

    Example:
        >>> net = nn.Linear(2, 1)
        >>> weights = {"weight": tn.ones(1, 2), "bias": tn.zeros(1)}
        >>> tn.nn.utils.stateless.functional_call(net, weights, tn.tensor([[1.0, 2.0]]))
        tensor([[3.]])
    """
    given = _merged(parameter_and_buffer_dicts)
    tensors = _with_tied(module, given) if tie_weights else given
    if strict:
        _check_names(module, tensors)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, tensors) as now:
        try:
            return module(*args, **(kwargs or {}))
        finally:
            if isinstance(parameter_and_buffer_dicts, dict):
                parameter_and_buffer_dicts.update((path, now(path)) for path in given)


def _merged(dicts: Any) -> dict[str, Any]:
    """Return one dictionary of all."""
    if isinstance(dicts, dict):
        return dict(dicts)
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    repeated = [path for path, n in Counter(path for d in dicts for path in d).items() if n > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    return {path: tensor for d in dicts for path, tensor in d.items()}


def _named(module: Module) -> dict[str, Tensor]:
    """Return all parameters and buffers by path, shared ones under all their paths."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _with_tied(module: Module, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given tensors, also under the other paths of the tensors they replace."""
    paths_of: dict[int, list[str]] = {}
    for path, tensor in _named(module).items():
        paths_of.setdefault(id(tensor), []).append(path)
    tensors = dict(given)
    for paths in paths_of.values():
        values = {id(given[path]): given[path] for path in paths if path in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(paths)}, which are tied. "
                "Consider using tie_weights=False"
            )
        for value in values.values():
            tensors.update(dict.fromkeys(paths, value))
    return tensors


def _check_names(module: Module, tensors: Mapping[str, Any]) -> None:
    own = _named(module).keys()
    problems = [
        f"{what} key(s): {', '.join(map(repr, sorted(paths)))}."
        for what, paths in [("Unexpected", tensors.keys() - own), ("Missing", own - tensors.keys())]
        if paths
    ]
    if problems:
        listed = "\n\t".join(problems)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t{listed}")


# ---- replacing ----------------------------------------------------------------------------------


@contextmanager
def _replaced(module: Module, tensors: Mapping[str, Any]) -> Iterator[Any]:
    """Substitute the given tensors inside the block; yield a function that reads them."""
    before: dict[str, Any] = {}
    try:
        for path, tensor in tensors.items():
            before[path] = _swap(module, path, tensor)
        yield lambda path: getattr(*_owner(module, path))
    finally:
        for path, tensor in before.items():
            _swap(module, path, tensor)


def _owner(module: Module, path: str) -> tuple[Module, str]:
    """Return the submodule and the attribute at a path."""
    inside, _, name = path.rpartition(".")
    return module.get_submodule(inside), name


def _swap(module: Module, path: str, tensor: Any) -> Any:
    """Set a tensor by path and return the previous one."""
    owner, name = _owner(module, path)
    if tensor is not _MISSING and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of tinynet.Tensor")
    table = table_of(owner, name)
    if table in (PARAMETERS, BUFFERS):  # any tensor is allowed temporarily
        held = getattr(owner, table)
        old, held[name] = held[name], tensor
        return old
    old = getattr(owner, name, _MISSING)
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of tinynet.Tensor")
    if tensor is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, tensor)
    return old


# ---- several models at once ---------------------------------------------------------------------


def stack_module_state(
    models: Sequence[Module] | Any,
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Stack the parameters and the buffers of equal modules along a new dimension 0.

    The results are new leaves, suitable for an optimizer.

    Args:
        models: modules of the same class and mode.

    Raises:
        RuntimeError: there are no models, or they differ in class, mode or ``requires_grad``.

    Example:
        >>> models = [nn.Linear(2, 3) for _ in range(4)]
        >>> params, buffers = tn.nn.utils.stateless.stack_module_state(models)
        >>> params["weight"].shape
        tinynet.Size([4, 3, 2])
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(parameters), _stacked(buffers)


def _stacked(states: list[dict[str, Any]]) -> dict[str, Tensor]:
    stacked = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        if len({t.requires_grad for t in tensors}) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        together = stack.function(tensors).detach()
        stacked[name] = together.requires_grad_(tensors[0].requires_grad)
    return stacked
