"""Generation token by token: a GPT that keeps the keys and values of earlier tokens."""

from collections.abc import Callable
from typing import Any

import numpy as np

import tinynet
from benchmarks import models
from benchmarks.tables import Table
from benchmarks.turns import compare
from benchmarks.workloads import LETTERS

BATCHES = 1, 4, 16
_LENGTH, _BLOCKS, _WIDTH, _HEADS = 64, 4, 128, 4  # those of gpt_small


def report(torch: Any, rounds: int) -> Table:
    """Measure texts of 64 tokens, each the most likely one after those before it."""
    heads = ["batch", "tinynet µs a token", "PyTorch µs a token", "times as fast as PyTorch"]
    table = Table("Generation by a GPT of 4 blocks, d 128, with cached keys and values", heads)
    for batch in BATCHES:
        ours, theirs = _generators(torch, batch)
        if ours() != theirs():
            raise RuntimeError(f"batch {batch}: the texts differ")
        seconds, torch_seconds, ratio = compare(ours, theirs, rounds)
        tokens = 1e6 / _LENGTH
        table.add(batch, seconds * tokens, torch_seconds * tokens, 1 / ratio)
    return table


def _generators(torch: Any, batch: int) -> list[Callable[[], Any]]:
    """Return a function for each library that generates texts, from the same weights."""
    theirs, ours = (
        models.gpt(lib, LETTERS, _LENGTH, _BLOCKS, _WIDTH, _HEADS) for lib in (torch, tinynet)
    )
    state = {name: t.numpy() for name, t in theirs.state_dict().items()}
    ours.load_state_dict({name: tinynet.from_numpy(array) for name, array in state.items()})
    first = np.arange(batch)[:, None]
    pairs = (tinynet, ours), (torch, theirs)
    return [lambda lib=lib, model=model: _generate(lib, model, first) for lib, model in pairs]


def _generate(lib: Any, model: Any, first: Any) -> list[list[int]]:
    """Return texts that begin with these tokens."""
    token, texts, cache = lib.from_numpy(first), [first], [None] * _BLOCKS
    with lib.no_grad():
        for place in range(_LENGTH):
            x = model.token(token) + model.place[place]
            for number, block in enumerate(model.blocks):
                x, cache[number] = models.decode(lib, block, x, cache[number])
            token = model.head(model.norm(x)).argmax(-1)
            texts.append(token.numpy())
    found: list[list[int]] = np.concatenate(texts, 1).tolist()
    return found
