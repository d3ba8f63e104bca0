"""The recording of one training step: forward, backward and optimizers."""

from __future__ import annotations

from tinynet import board
from tinynet.train.build.build import Parts, copied, first_batch
from tinynet.train.build.method import Task
from tinynet.train.build.optimizers import updaters_for
from tinynet.train.build.seeds import isolated


def record_step(parts: Parts) -> board.Recording:
    """Record one step of a copy of the model on the first batch; no random stream advances."""
    config = parts.config
    with isolated(config.run.seed, "trial"):
        batch = first_batch(parts, parts.train_set, config.data.batch_size)
        model = copied(parts)
        updaters = updaters_for(config, model)
        with board.record(model) as recording:
            task = Task(model, parts.loss, updaters, [batch], strict=False, part=recording.part)
            parts.method.step(task)
    return recording
