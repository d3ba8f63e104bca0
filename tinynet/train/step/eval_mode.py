"""Evaluating a model in the middle of its training."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tinynet import nn
from tinynet.core.modes import no_grad
from tinynet.train.step.seeds import isolated


@contextlib.contextmanager
def as_evaluated(model: nn.Module, seed: int = 0) -> Iterator[None]:
    """Enter eval mode and `no_grad`; restore the modes and all random streams at the end."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with no_grad(), isolated(seed):
            yield
    finally:
        for module, training in modes:
            module.training = training
