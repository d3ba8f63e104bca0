"""The position of a DataLoader within a pass, for its state_dict and for resuming."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from tinynet.data.loading.sampler import (
    BatchSampler,
    SequentialSampler,
    load_sampler_state,
    random_source,
    sampler_state,
)
from tinynet.data.loading.worker import Start, StreamReader


@dataclass
class Share:
    """The position of one worker in its share of an iterable dataset."""

    given: int = 0
    """Batches."""

    ended: bool = False
    state: Any = None
    """The dataset's own state, if it supports states."""


@dataclass
class Progress:
    """The position of a loader."""

    epoch: int = 0
    """The number of earlier passes."""

    position: int = 0
    """The number of batches returned in this pass: all below this number, ..."""

    ahead: set[int] = field(default_factory=set)
    """... and these, with ``in_order=False``."""

    order: dict[str, Any] | None = None
    """The states from which the order of this pass was drawn; None between passes."""

    drawn: dict[str, Any] | None = None
    """The same states for the current or last pass."""

    asked: bool | None = None
    """Whether the workers share an iterable dataset; None: not yet known."""

    shares: list[Share] = field(default_factory=list)
    turn: int = 0
    """The number of the share that provides the next batch."""

    reader: StreamReader | None = None
    """Without workers: the reader of the stream, which knows its position."""

    def count_batch(self, number: int) -> None:
        """Record that a batch was returned."""
        if self.shares or self.reader is not None:  # a stream: only the number of batches matters
            self.position += 1
            return
        self.ahead.add(number)
        while self.position in self.ahead:
            self.ahead.remove(self.position)
            self.position += 1

    def start_message(self, pass_number: int, seed: int, worker: int) -> Start:
        """Return the message that makes a worker start or continue a pass."""
        share = self.shares[worker] if worker < len(self.shares) else Share()
        return Start(pass_number, seed, worker, share.given, share.state, share.ended)

    def finish(self) -> None:
        """Record the end of the pass."""
        self.__dict__.update(vars(Progress(epoch=self.epoch + 1, drawn=self.drawn)))

    def next(self) -> Progress:
        """Return the progress of a new pass."""
        return Progress(epoch=self.epoch + (self.order is not None))

    def as_dict(self) -> dict[str, Any]:
        """Return the progress as plain data."""
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
        """Return the progress that an `as_dict` was made from."""
        known = {key: state[key] for key in ("epoch", "position", "order", "asked", "turn")}
        shares = [Share(**share) for share in state["shares"]]
        return cls(**known, ahead=set(state["ahead"]), shares=shares)


# ---- the order of a pass ----


class Order:
    """The numbered outputs of the sampler, and the seed of the pass.

    A resumed pass draws its order again from the states at its beginning and skips the batches
    already returned. Then the generator and the sampler are restored to their previous states.
    """

    def __init__(self, loader: Any, progress: Progress, resumed: bool) -> None:
        source = random_source(loader.generator, "DataLoader")
        sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
        found = order_state(loader)
        if resumed:
            set_order_state(loader, progress.order)
        progress.order = progress.drawn = order_state(loader)
        self.seed = int(source.numpy.integers(2**63))
        self.numbered = self._left(iter(sampler), progress)
        if resumed:
            set_order_state(loader, found)

    def _left(self, requests: Iterator[Any], progress: Progress) -> Iterator[tuple[int, Any]]:
        numbers = count()
        if not progress.shares:  # a stream is forwarded by its worker
            for _ in range(progress.position):
                next(requests, None)
                next(numbers)
        ahead = frozenset(progress.ahead)
        return (pair for pair in zip(numbers, requests) if pair[0] not in ahead)  # noqa: B905


def requested(loader: Any, progress: Progress, number: int) -> Any:
    """Return the sampler's output for a batch of the current or last pass, by drawing again.

    None if there is no such batch, or if drawing again may give another order.
    """
    sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
    of_batches = isinstance(sampler, BatchSampler)
    inside = getattr(sampler, "sampler", None if of_batches else sampler)
    if progress.drawn is None or not (
        hasattr(inside, "state_dict") or isinstance(inside, (SequentialSampler, Sequence))
    ):
        return None
    found = order_state(loader)
    set_order_state(loader, progress.drawn)
    try:
        random_source(loader.generator, "DataLoader").numpy.integers(2**63)  # the seed, as in Order
        return next(islice(iter(sampler), number, None), None)
    finally:
        set_order_state(loader, found)


def order_state(loader: Any) -> dict[str, Any]:
    """Return the states of the generator and the sampler, which determine the order."""
    sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
    return {
        "generator": random_source(loader.generator, "DataLoader").state_dict(),
        "sampler": sampler_state(sampler),
    }


def set_order_state(loader: Any, saved: Any) -> None:
    """Restore the states returned by `order_state`."""
    sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
    load_sampler_state(sampler, saved["sampler"])
    random_source(loader.generator, "DataLoader").load_state_dict(saved["generator"])
