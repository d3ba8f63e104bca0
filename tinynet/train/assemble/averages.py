"""Averages of the weights: exponential, and over the last epochs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tinynet import dtypes, nn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.optim.swa_utils import update_bn
from tinynet.train.assemble.build import Parts
from tinynet.train.base.problems import UsageError
from tinynet.train.config.rules import count_of
from tinynet.train.step.seeds import isolated

# ---- ema ----------------------------------------------------------------------------------------
# The moving average of the weights, often a better model than the last weights.


class MovingAverage:
    """An exponential moving average of a model's floating-point weights and buffers.

    After step t, ``average = d * average + (1 - d) * weight`` with ``d = min(decay, (1 + t) /
    (10 + t))``. The smaller early decay moves it away from the random initial weights, as in
    TensorFlow's ``ExponentialMovingAverage``. Other buffers, such as counters, are copied.

    Args:
        model: the model.
        decay: the fraction of the average to keep at each step, from 0 to 1.

    Example:
        >>> model = nn.Linear(1, 1)
        >>> average = MovingAverage(model, decay=0.5)
        >>> with tn.no_grad():
        ...     _ = model.weight.add_(1)
        >>> average.update()
        >>> round(float(model.weight.item() - average.arrays["weight"].item()), 6)
        0.181818
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self._tensors = model.state_dict(keep_vars=True)
        self.arrays = {name: _array(value).copy() for name, value in self._tensors.items()}

    def update(self, ends_epoch: bool = False, epoch: int = 0) -> None:
        """Update the average after a step, any one."""
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for name, value in self._tensors.items():
            average, array = self.arrays[name], _array(value)
            if dtypes.is_floating(array.dtype):
                average += (1 - decay) * (array - average)
            else:
                np.copyto(average, array)

    @contextlib.contextmanager
    def in_place_of_weights(self) -> Iterator[None]:
        """Swap the averaged weights into the model, and restore its own at the end."""
        with _in_place(self._tensors, self.arrays):
            yield

    def state_dict(self) -> dict[str, Any]:
        """Return the average; its weights have the names of the model's."""
        return {"steps": self.steps, "model": {k: wrap(a) for k, a in self.arrays.items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        self.steps = state["steps"]
        for name, value in state["model"].items():
            np.copyto(self.arrays[name], _array(value))


@contextlib.contextmanager
def loaded(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Swap weights into a model, and restore its own at the end.

    Args:
        model: the model.
        weights: parameters and buffers of the model by name.

    Example:
        >>> model = nn.Linear(1, 1, bias=False)
        >>> before = model.weight.item()
        >>> with loaded(model, {"weight": tn.ones(1, 1)}):
        ...     model.weight.item()
        1.0
        >>> model.weight.item() == before
        True
    """
    tensors = model.state_dict(keep_vars=True)
    known = {name: _array(value) for name, value in weights.items() if isinstance(value, Tensor)}
    with _in_place({name: tensors[name] for name in known}, known):
        yield


@contextlib.contextmanager
def _in_place(tensors: Mapping[str, Tensor], arrays: Mapping[str, Array]) -> Iterator[None]:
    own = {name: _array(value).copy() for name, value in tensors.items()}
    _copy(arrays, tensors)
    try:
        yield
    finally:
        _copy(own, tensors)


def _copy(arrays: Mapping[str, Array], tensors: Mapping[str, Tensor]) -> None:
    with no_grad():
        for name, value in tensors.items():
            value.copy_(wrap(arrays[name]))


def _array(value: Tensor) -> Array:
    return value.detach().numpy()


# ---- swa ----------------------------------------------------------------------------------------
# Stochastic weight averaging: the mean of the weights after the last epochs.


def average_of(parts: Parts) -> MovingAverage | WeightAverage | None:
    """Return the average of the weights that a config asks for, if any."""
    config = parts.config
    if config.swa is not None:
        return WeightAverage(parts)
    return MovingAverage(parts.model, config.ema.decay) if config.ema else None


class WeightAverage:
    """The mean of a model's weights after each of the last epochs.

    Source: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization
    (2018), https://arxiv.org/abs/1803.05407

    Args:
        parts: the objects of a run.

    Raises:
        UsageError: the start is a share of a run of unknown length.
    """

    def __init__(self, parts: Parts) -> None:
        assert parts.config.swa is not None
        start, epochs = parts.config.swa.start, parts.length.epochs
        if epochs is None and not isinstance(start, int):
            text = "swa.start must be a number of epochs, as run.max_time leaves their number open"
            raise UsageError(f"{parts.config.origin('swa.start')}: {text}")
        self.start = count_of(start, epochs or 0)
        self.count = 0
        """The number of averaged epochs."""

        self.weights: dict[str, Tensor] = {}
        self._parts = parts

    def update(self, ends_epoch: bool, epoch: int) -> None:
        """Update the average after a step; only the last one of an epoch counts."""
        if not ends_epoch or epoch < self.start:
            return
        self.count += 1
        for name, value in self._parts.model.state_dict().items():
            array = value.detach().numpy()
            if self.count > 1 and dtypes.is_floating(array.dtype):
                own = self.weights[name].numpy()
                array = own + (array - own) / array.dtype.type(self.count)
            self.weights[name] = wrap(np.array(array))
        self._measure_statistics()

    def _measure_statistics(self) -> None:
        """Compute the statistics of BatchNorm layers anew for the averaged model."""
        model = self._parts.model
        if not any(map(_has_statistics, model.modules())):
            return
        with isolated(self._parts.config.run.seed, "swa"), loaded(model, self.weights):
            with no_grad():
                update_bn(self._parts.batches["training"], model)
            buffers = dict(model.named_buffers())
            self.weights |= {name: buffers[name].clone() for name in buffers.keys() & self.weights}

    def in_place_of_weights(self) -> contextlib.AbstractContextManager[None]:
        """Swap the averaged weights into the model, if there are any, and restore its own."""
        return loaded(self._parts.model, self.weights)

    def state_dict(self) -> dict[str, Any]:
        """Return the average; its weights have the names of the model's."""
        return {"steps": self.count, "model": dict(self.weights)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        self.count, self.weights = state["steps"], dict(state["model"])


def _has_statistics(module: nn.Module) -> bool:
    return getattr(module, "running_mean", None) is not None and hasattr(module, "momentum")
