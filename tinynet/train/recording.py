"""One step of training, recorded: what ran forward, backward and in the optimizer."""

from __future__ import annotations

from tinynet import board
from tinynet.train.build import Parts, construct, copied, first_batch
from tinynet.train.seeds import isolated


def recorded(parts: Parts) -> board.Recording:
    """One step with a copy of the model, on the first batch; no random stream moves."""
    config = parts.config
    with isolated(config.run.seed, "trial"):
        inputs, targets = first_batch(parts, parts.train_set, config.data.batch_size)
        model = copied(parts)
        optimizer = construct(config.optimizer.component, model.parameters())
        with board.record(model) as recording:
            parts.loss(model(inputs), targets).backward()
            optimizer.step()
    return recording
