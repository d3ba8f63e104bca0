"""How far a DataLoader is: what its state_dict tells, and how a pass goes on from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from tinynet.data.loading.sampler import (
    SequentialSampler,
    load_sampler_state,
    random_source,
    sampler_state,
)
from tinynet.data.loading.worker import Start, StreamReader


@dataclass
class Share:
    """How far one worker is in its share of an iterable dataset."""

    given: int = 0
    """Batches."""

    ended: bool = False
    state: Any = None
    """The dataset's own state, if it has states."""


@dataclass
class Progress:
    """How far a loader is."""

    epoch: int = 0
    """Passes before this one."""

    position: int = 0
    """Batches of this pass that were given: all below this number, ..."""

    ahead: set[int] = field(default_factory=set)
    """... and these, with ``in_order=False``."""

    order: dict[str, Any] | None = None
    """The states from which the order of this pass was drawn; None between passes."""

    drawn: dict[str, Any] | None = None
    """These states, of the pass that was begun last, also when it is over."""

    asked: bool | None = None
    """Whether an iterable dataset is shared out among the workers; None: not known yet."""

    shares: list[Share] = field(default_factory=list)
    turn: int = 0
    """Whose share the next batch is from."""

    reader: StreamReader | None = None
    """Without workers: what reads the stream, and can be asked how far it is."""

    def gave(self, number: int) -> None:
        """Note that a batch was given."""
        if self.shares or self.reader is not None:  # a stream, of which only the sum counts
            self.position += 1
            return
        self.ahead.add(number)
        while self.position in self.ahead:
            self.ahead.remove(self.position)
            self.position += 1

    def start(self, pass_number: int, seed: int, worker: int) -> Start:
        """Return what tells a worker to begin, or where to go on."""
        share = self.shares[worker] if worker < len(self.shares) else Share()
        return Start(pass_number, seed, worker, share.given, share.state, share.ended)

    def finish(self) -> None:
        """Note that the pass is over."""
        self.__dict__.update(vars(Progress(epoch=self.epoch + 1, drawn=self.drawn)))

    def next(self) -> Progress:
        """Return the progress of a new pass."""
        return Progress(epoch=self.epoch + (self.order is not None))

    def state(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        asked, shares, reader = self.asked, self.shares, self.reader
        if reader is not None:
            mark = reader.mark
            asked, shares = mark.asked, [Share(reader.number, mark.ended, mark.state)]
        return {
            "epoch": self.epoch,
            "position": self.position,
            "ahead": sorted(self.ahead),
            "order": self.order,
            "asked": asked,
            "shares": [vars(share).copy() for share in shares],
            "turn": self.turn,
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> Progress:
        """Return the progress that `state` was called on."""
        known = {key: state[key] for key in ("epoch", "position", "order", "asked", "turn")}
        shares = [Share(**share) for share in state["shares"]]
        return cls(**known, ahead=set(state["ahead"]), shares=shares)


# ---- the order of a pass ----


class Order:
    """What the sampler says, numbered; and the seed of the pass.

    The order of a resumed pass is drawn again from the states of its beginning, and what was given
    is left out. Then generator and sampler go back to the states in which they were found.
    """

    def __init__(self, loader: Any, progress: Progress, resumed: bool) -> None:
        source = random_source(loader.generator, "DataLoader")
        sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
        found = states(loader)
        if resumed:
            restore(loader, progress.order)
        progress.order = progress.drawn = states(loader)
        self.seed = int(source.numpy.integers(2**63))
        self.numbered = self._left(iter(sampler), progress)
        if resumed:
            restore(loader, found)

    def _left(self, requests: Iterator[Any], progress: Progress) -> Iterator[tuple[int, Any]]:
        numbers = count()
        if not progress.shares:  # a stream is wound on by the worker that has it
            for _ in range(progress.position):
                next(requests, None)
                next(numbers)
        ahead = frozenset(progress.ahead)
        return (pair for pair in zip(numbers, requests) if pair[0] not in ahead)  # noqa: B905


def requested(loader: Any, progress: Progress, number: int) -> Any:
    """Return what the sampler said about a batch of the pass that was begun last, by drawing again.

    None if there is no such batch, or drawing again may give another order.
    """
    sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
    inside = getattr(sampler, "sampler", sampler)
    if progress.drawn is None or not (
        hasattr(inside, "state_dict") or isinstance(inside, (SequentialSampler, Sequence))
    ):
        return None
    found = states(loader)
    restore(loader, progress.drawn)
    try:
        random_source(loader.generator, "DataLoader").numpy.integers(2**63)  # the seed, as in Order
        return next(islice(iter(sampler), number, None), None)
    finally:
        restore(loader, found)


def states(loader: Any) -> dict[str, Any]:
    """Return the states of what decides about the order."""
    sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
    return {
        "generator": random_source(loader.generator, "DataLoader").state_dict(),
        "sampler": sampler_state(sampler),
    }


def restore(loader: Any, saved: Any) -> None:
    """Go back to what `states` returned."""
    sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
    load_sampler_state(sampler, saved["sampler"])
    random_source(loader.generator, "DataLoader").load_state_dict(saved["generator"])
