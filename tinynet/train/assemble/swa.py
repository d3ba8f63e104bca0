"""Stochastic weight averaging: the mean of the weights after the last epochs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tinynet import dtypes, nn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.nn.weight_averaging import update_bn
from tinynet.train.assemble.build import Parts
from tinynet.train.assemble.ema import MovingAverage, loaded
from tinynet.train.base.problems import UsageError
from tinynet.train.config.amounts import count_of
from tinynet.train.step.seeds import isolated


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
        """Set the statistics of BatchNorm layers to those of the averaged model."""
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
