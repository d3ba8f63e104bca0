"""A snapshot of the buffers and generators before a step, taken in microseconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import nn
from tinynet import random as generator
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.train.step import seeds


class Snapshot:
    """The buffers of a model and the states of the generators before a step.

    Reading the states of numpy's and Python's generators takes longer than a small step. After the
    first step it happens only if that step drew numbers from them.

    Args:
        model: the model.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._holders: list[nn.Module] = []
        self._buffers: list[tuple[nn.Module, str, Tensor, Array]] = []
        self.generators: dict[str, Any] = {}
        self._ours_only = False
        self.find_buffers()

    def find_buffers(self) -> None:
        """Find the modules with buffers."""
        self._holders = [m for m in self._model.modules() if m._buffers]

    def take(self) -> None:
        """Take a new snapshot."""
        if self._ours_only:
            self.generators = {"tinynet": generator.default_generator.state_dict()}
        else:
            before, self.generators = self.generators, seeds.get_states()
            self._ours_only = bool(before) and _only_ours_changed(before, self.generators)
        self._buffers = [
            (holder, name, tensor, tensor._array.copy())
            for holder in self._holders
            for name, tensor in holder._buffers.items()
            if tensor is not None
        ]

    def restore_buffers(self) -> None:
        """Restore the buffers of the model."""
        with no_grad():
            for holder, name, tensor, array in self._buffers:
                tensor.copy_(wrap(array))
                if holder._buffers.get(name) is not tensor:  # the forward replaced it
                    setattr(holder, name, tensor)

    def restore(self) -> None:
        """Restore the buffers and the generators."""
        self.restore_buffers()
        seeds.set_states(self.generators)

    def named(self) -> dict[str, Tensor]:
        """Return the buffers of the snapshot, by their names in the model."""
        known = {id(tensor): array for _, _, tensor, array in self._buffers}
        buffers = self._model.named_buffers()
        return {name: wrap(known[id(t)].copy()) for name, t in buffers if id(t) in known}


def _only_ours_changed(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether the states of numpy's and Python's generators are unchanged."""
    a, b = one["numpy"], other["numpy"]
    key = np.array_equal(a["state"]["key"], b["state"]["key"])
    rest = repr({**a, "state": a["state"]["pos"]}) == repr({**b, "state": b["state"]["pos"]})
    return key and rest and one["python"] == other["python"]
