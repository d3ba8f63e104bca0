"""Runs a call under either library and describes what came of it; needs no PyTorch."""

from __future__ import annotations

import builtins
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


class AbsentError(Exception):
    """tinynet has no function, dtype or layout of that name."""


@dataclass
class Call:
    """One call, the same for both libraries.

    Attributes:
        face: ``function``, ``method``, ``inplace``, ``out`` or ``error``.
        differentiable: whether gradients are compared.
        second: whether second gradients are compared, too.
        process: makes of a result what is unique of it, such as ``abs`` of eigenvectors.
    """

    face: str
    differentiable: bool = False
    second: bool = False
    process: Callable[[Any], Any] = lambda result: result

    def outcome(
        self, library: Any, function: Callable[..., Any], args: Any, kwargs: Any
    ) -> dict[str, Any]:
        """Return results and gradients as arrays, or ``raises`` and ``says`` of an error."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self._run(library, function, args, kwargs)
            except AbsentError:
                raise
            except Exception as error:
                return {"raises": _builtin(error), "says": first_sentence(error)}

    def _run(self, library: Any, function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        if self.face == "out":
            with library.no_grad():
                targets = _empty(function(*args, **kwargs), library)
                found = function(*_detached(args), **_detached(kwargs), out=targets)
            found, targets = self.process(found), self.process(targets)
            return {"result": plain(found), "targets": plain(targets)}
        if self.face == "inplace":
            with library.no_grad():
                result = function(*args, **kwargs)
            return {"result": plain(self.process(result)), "same": result is args[0]}
        result = self.process(function(*args, **kwargs))
        seen: dict[str, Any] = {
            "result": plain(result),
            "requires_grad": [t.requires_grad for t in tensors(result)],
        }
        if self.differentiable:
            self._differentiate(library, [args, kwargs], result, seen)
        return seen

    def _differentiate(self, library: Any, given: Any, result: Any, seen: Any) -> None:
        generator = np.random.default_rng(0)
        inputs = [t for t in tensors(given) if t.requires_grad]
        outputs = [t for t in tensors(result) if t.requires_grad]
        if not inputs or not outputs:
            return
        weights: Any = [_weights(t, library, generator) for t in outputs]
        grads = library.autograd.grad(
            outputs, inputs, weights, create_graph=self.second, allow_unused=True
        )
        seen["gradients"] = [plain(g) for g in grads]
        # Weights for all, so that a gradient that one library records more moves no other's.
        drawn = [(g, _weights(g, library, generator)) for g in grads if g is not None]
        recorded = [(g, weight) for g, weight in drawn if g.requires_grad]
        if self.second and recorded:
            firsts, weights = zip(*recorded, strict=True)
            found = library.autograd.grad(firsts, inputs, weights, allow_unused=True)
            seen["second"] = [plain(g) for g in found]


def _builtin(error: BaseException) -> str:
    """Return the name of the built-in class that ``except`` would name."""
    return next(k.__name__ for k in type(error).__mro__ if k in vars(builtins).values())


def first_sentence(error: BaseException) -> str:
    """Return the text up to its first full stop or line end, with one name for both libraries."""
    text = str(error).replace("tinynet.", "torch.").strip()
    return re.split(r"\.\s|\n", text, maxsplit=1)[0].rstrip(".")


def is_tensor(value: Any) -> bool:
    return hasattr(value, "requires_grad") and hasattr(value, "detach")


def _weights(t: Any, library: Any, generator: Any) -> Any:
    array = generator.standard_normal(tuple(t.shape))
    if t.dtype.is_complex:
        array = array + 1j * generator.standard_normal(tuple(t.shape))
    return library.from_numpy(np.asarray(array)).to(t.dtype)


def _empty(expected: Any, library: Any) -> Any:
    if isinstance(expected, (tuple, list)):
        return tuple(_empty(e, library) for e in expected)
    return library.zeros(tuple(expected.shape), dtype=expected.dtype)


def _detached(value: Any) -> Any:
    if is_tensor(value):
        return value.detach()
    if type(value) in (tuple, list):
        return type(value)(_detached(v) for v in value)
    if isinstance(value, dict):
        return {k: _detached(v) for k, v in value.items()}
    return value


def plain(value: Any) -> Any:
    """Return a result as arrays, numbers and structures that both libraries share."""
    if is_tensor(value):
        detached = value.detach()
        if type(detached).__module__ == "torch":  # what its method numpy refuses
            if detached._is_zerotensor():
                detached = detached.new_zeros(detached.shape)
            detached = detached.resolve_conj().resolve_neg()
        if str(detached.dtype).endswith("bfloat16"):  # which numpy has not
            return {"bfloat16": detached.float().numpy()}
        return detached.numpy()
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if value is NotImplemented:
        return "NotImplemented"
    if type(value).__module__.partition(".")[0] in ("torch", "tinynet"):
        return re.sub("torch.|tinynet.", "", str(value))
    return value


def tensors(value: Any) -> list[Any]:
    """Return the tensors of a structure, in order."""
    if is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors(v)]
    return []
