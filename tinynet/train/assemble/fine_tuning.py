"""Initial weights from a file, frozen parameters, and learning rates per layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tinynet import exchange, nn
from tinynet.core.tensors.tensor import Tensor
from tinynet.train.base.problems import UsageError, did_you_mean, few_of

WEIGHT_FILES = {
    ".safetensors": "load_file",
    ".pt": "load_pytorch",
    ".pth": "load_pytorch",
    ".npz": "load",
}
"""The function of `exchange` that reads weights, for each file extension."""

_INSIDE = ("state_dict", "model_state_dict", "model")
"""The names under which checkpoints have a state_dict."""


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the state_dict in a file.

    Raises:
        UsageError: the file cannot be read, or has no state_dict.
    """
    try:
        content = getattr(exchange, WEIGHT_FILES[path.suffix])(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (exchange.ExchangeError, exchange.UnsafeError) as error:
        raise UsageError(str(error)) from None
    for name in _INSIDE:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping) or not content or not _are_tensors(content.values()):
        raise UsageError(f"{path} has no state_dict: names with a tensor each")
    return dict(content)


def load_initial(model: nn.Module, weights: Mapping[str, Any], skip: Sequence[str]) -> None:
    """Load weights, except those that a pattern leaves out.

    Raises:
        RuntimeError: names or shapes differ; the model may have been changed.
        UsageError: a pattern fits no name of the model.
    """
    own = model.state_dict()
    left = {name for pattern in skip for name in _fitting(pattern, own)}
    kept = {name: value for name, value in weights.items() if not _fits_any(name, skip)}
    model.load_state_dict({**kept, **{name: own[name] for name in left}})


def freeze(model: nn.Module, patterns: Sequence[str]) -> None:
    """Clear ``requires_grad`` of the parameters that a pattern fits.

    Raises:
        UsageError: a pattern fits none, or no parameter is left to train.

    Example:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        >>> freeze(net, ["0.*"])
        >>> [name for name, p in net.named_parameters() if p.requires_grad]
        ['1.weight', '1.bias']
    """
    parameters = dict(model.named_parameters())
    for pattern in patterns:
        for name in _fitting(pattern, parameters):
            parameters[name].requires_grad_(False)
    if patterns and not any(p.requires_grad for p in parameters.values()):
        raise UsageError("no parameter is left to train")


def groups_of(model: nn.Module, rates: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the parameter groups of an optimizer: those without a rate of their own first.

    Raises:
        UsageError: a pattern fits no parameter.

    Example:
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        >>> groups = groups_of(net, {"0.*": 1e-4})
        >>> [(len(group["params"]), group.get("lr")) for group in groups]
        [(2, None), (2, 0.0001)]
    """
    left = dict(model.named_parameters())
    found = []
    for pattern, rate in rates.items():
        _fitting(pattern, dict(model.named_parameters()))
        names = [name for name in left if fnmatchcase(name, pattern)]
        if names:
            found.append({"params": [left.pop(name) for name in names], "lr": float(rate)})
    return [{"params": [*left.values()]}, *found] if left else found


def _fitting(pattern: str, names: Iterable[str]) -> list[str]:
    names = [*names]
    found = [name for name in names if fnmatchcase(name, pattern)]
    if not found:
        hint = did_you_mean(pattern, names) or "."
        raise UsageError(f"{pattern!r} fits no name{hint} There are: {few_of(names, 'the model')}")
    return found


def _fits_any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _are_tensors(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Tensor) for value in values)
