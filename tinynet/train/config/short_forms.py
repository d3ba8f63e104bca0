"""Values that stand for others, and values that exclude each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tinynet.train.config.document import Source
from tinynet.train.config.sections import RunSection

Problem = tuple[tuple[str, ...], str]


def expand_short_forms(source: Source) -> None:
    """Rename ``loss.weights = "balanced"``, except for the user's own losses."""
    loss = source.tree.get("loss")
    if not isinstance(loss, dict) or "class_weights" in loss or ":" in str(loss.get("type")):
        return
    if loss.get("weights") in ("balanced", "none"):
        source.rename(("loss", "weights"), ("loss", "class_weights"))


def limited(run: RunSection, given: Any) -> RunSection:
    """Return the section with its number of epochs, which other limits replace.

    Args:
        run: the section; None after a mistake.
        given: its table in the config.
    """
    if not run or "epochs" in (given or {}) or not (run.max_steps or run.max_time):
        return run
    return dataclasses.replace(run, epochs=0)


def contradictions(run: RunSection | None, sections: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the paths of keys that do not go together with others, and the reasons."""
    if run and run.epochs == 0 and not (run.max_steps or run.max_time):
        text = "must be at least 1, got 0. 0 needs run.max_steps or run.max_time"
        yield ("run", "epochs"), text
    if run and run.limit_batches and run.overfit_batches:
        yield ("run", "overfit_batches"), "cannot stand beside run.limit_batches"
    if sections["ema"] and sections["swa"]:
        yield ("swa",), "[swa] cannot stand beside [ema]"
