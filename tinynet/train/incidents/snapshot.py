"""What a step of training depends on besides weights and batch, remembered in microseconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import nn
from tinynet import random as generator
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import Array
from tinynet.train.build import seeds


class Snapshot:
    """The buffers of a model, and the states of the generators, as they were before a step.

    To ask numpy and Python for the states of their generators takes longer than a small step, so
    it is done only if steps draw from them, which the first step shows.

    Args:
        model: whose buffers.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._holders: list[nn.Module] = []
        self._buffers: list[tuple[nn.Module, str, Tensor, Array]] = []
        self.generators: dict[str, Any] = {}
        self._ours_only = False
        self.look()

    def look(self) -> None:
        """Look which modules have buffers."""
        self._holders = [m for m in self._model.modules() if m._buffers]

    def take(self) -> None:
        """Remember what is now."""
        if self._ours_only:
            self.generators = {"tinynet": generator.default_generator.state_dict()}
        else:
            before, self.generators = self.generators, seeds.states()
            self._ours_only = bool(before) and _same_but_ours(before, self.generators)
        self._buffers = [
            (holder, name, tensor, tensor._array.copy())
            for holder in self._holders
            for name, tensor in holder._buffers.items()
            if tensor is not None
        ]

    def restore_buffers(self) -> None:
        """Give the model the buffers that it had."""
        with no_grad():
            for holder, name, tensor, array in self._buffers:
                tensor.copy_(wrap(array))
                if holder._buffers.get(name) is not tensor:  # the forward replaced it
                    setattr(holder, name, tensor)

    def restore(self) -> None:
        """Go back to what was."""
        self.restore_buffers()
        seeds.restore(self.generators)

    def named(self) -> dict[str, Tensor]:
        """The buffers as they were, by the names that the model gives them."""
        known = {id(tensor): array for _, _, tensor, array in self._buffers}
        buffers = self._model.named_buffers()
        return {name: wrap(known[id(t)].copy()) for name, t in buffers if id(t) in known}


def _same_but_ours(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the generators of numpy and Python are where they were."""
    a, b = one["numpy"], other["numpy"]
    key = np.array_equal(a["state"]["key"], b["state"]["key"])
    rest = repr({**a, "state": a["state"]["pos"]}) == repr({**b, "state": b["state"]["pos"]})
    return key and rest and one["python"] == other["python"]
