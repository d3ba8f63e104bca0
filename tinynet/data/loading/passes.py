"""One pass over a DataLoader: the iterators that return its batches, and their position."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, Protocol

from tinynet.data.loading.collate import default_collate
from tinynet.data.loading.sampler import (
    BatchSampler,
    SequentialSampler,
    load_sampler_state,
    random_source,
    sampler_state,
)
from tinynet.data.loading.worker import (
    Died,
    EndOfStream,
    Reply,
    Start,
    StreamReader,
    Work,
    in_caller,
)
from tinynet.data.splits import runs_no_user_code
from tinynet.random import default_generator


class Pool(Protocol):
    """A pool of workers: takes messages for each worker, returns replies as they become ready."""

    def send(self, worker: int, message: Any) -> None:
        """Send a message to a worker."""

    def receive(self, timeout: float | None) -> Reply | Died | None:
        """Return the next reply, or None if there is none within ``timeout`` seconds."""

    def close(self) -> None:
        """Shut the workers down."""

    @property
    def workers(self) -> Sequence[Any]:
        """The threads or processes."""


class Pass(Iterator[Any]):
    """The batches of one pass."""

    def __init__(self, loader: Any, work: Work, progress: Progress, resumed: bool) -> None:
        self.work, self.progress = work, progress
        self.order = Order(loader, progress, resumed)
        self._length = loader.__len__
        self._reported_length = loader._reported_length
        self._yielded = 0
        self._over = False

    def __len__(self) -> int:
        return self._length()

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        try:
            batch = self._next()
        except StopIteration:
            self._over = True
            self.progress.finish()
            raise
        if self._reported_length is not None:
            self._check_length()
        return batch

    def _next(self) -> Any:
        """Return the next batch, or raise StopIteration."""
        raise NotImplementedError

    def _check_length(self) -> None:
        self._yielded += 1
        if self._reported_length is None or self._yielded <= self._reported_length:
            return
        warnings.warn(
            f"Length of IterableDataset {self.work.dataset} was reported to be "
            f"{self._reported_length}(when accessing len(dataloader)), but {self._yielded} samples "
            "have been fetched. ",
            stacklevel=3,
        )


class SerialPass(Pass):
    """Loads each batch on request."""

    def __init__(self, loader: Any, work: Work, progress: Progress, resumed: bool) -> None:
        super().__init__(loader, work, progress, resumed)
        plain = work.collate_fn is default_collate and runs_no_user_code(work.dataset)
        start = progress.start_message(0, self.order.seed, 0)
        seeded = in_caller if loader.seed_batches and not plain else default_generator.forked
        self._reader = work.reader(start, seeded)
        if isinstance(self._reader, StreamReader):
            progress.reader = self._reader

    def _next(self) -> Any:
        number, request = next(self.order.numbered)
        try:
            batch = self._reader.read(number, request)
        except EndOfStream:
            raise StopIteration from None
        except Exception:
            self.progress.count_batch(
                number
            )  # after an error, a resume continues with the next batch
            raise
        self.progress.count_batch(number)
        return batch


_pass_numbers = count()


class PrefetchingPass(Pass):
    """Lets workers prepare batches in advance.

    Requests are numbered and go to the workers in turn; each has exactly one reply. At most
    ``prefetch_factor`` batches per worker are in progress or wait here.
    """

    def __init__(
        self, loader: Any, work: Work, progress: Progress, resumed: bool, pool: Pool, holder: Any
    ) -> None:
        self._close = weakref.finalize(self, holder.give, pool)
        super().__init__(loader, work, progress, resumed)
        self._pool = pool
        self._timeout = loader.timeout or None
        self._in_order = loader.in_order
        self._workers = loader.num_workers
        self._capacity = loader.prefetch_factor * loader.num_workers
        self._number = next(_pass_numbers)
        self._under_way: dict[int, int] = {}  # number of a request -> its worker, in order
        self._ready: dict[int, Reply] = {}
        self._turn = progress.turn
        self._active = [True] * self._workers
        # Worker 0's first batch shows whether the workers share the dataset.
        self._probing = work.iterable and work.init_fn is None and progress.asked is None
        if work.iterable:
            self._share_out(progress)
        for worker in range(self._workers):
            pool.send(worker, progress.start_message(self._number, self.order.seed, worker))
        self._fill()

    def _share_out(self, progress: Progress) -> None:
        if progress.asked is None:
            progress.asked = True if self.work.init_fn is not None else None
            progress.shares = [Share() for _ in range(self._workers)]
        elif not progress.asked:
            progress.shares = progress.shares[:1]
        shares = progress.shares
        self._active = [w < len(shares) and not shares[w].ended for w in range(self._workers)]

    # ---- requests ----

    def _fill(self) -> None:
        """Send requests until enough are in progress."""
        while len(self._under_way) < self._capacity and not (self._probing and self._under_way):
            worker = self._next_worker()
            if worker is None:
                return
            for number, request in self.order.numbered:
                self._pool.send(worker, (number, request))
                self._under_way[number] = worker
                break
            else:
                return

    def _next_worker(self) -> int | None:
        active = [worker for worker, is_active in enumerate(self._active) if is_active]
        if self._probing:
            return 0
        if not self._in_order:
            asked = [w for n, w in self._under_way.items() if n not in self._ready]
            return min(active, key=asked.count, default=None)
        if not active:
            return None
        worker = next((w for w in active if w >= self._turn), active[0])
        self._turn = (worker + 1) % self._workers
        return worker

    # ---- replies ----

    def _next(self) -> Any:
        while True:
            self._fill()
            if not self._under_way:
                self._close()
                raise StopIteration
            number = self._due()
            if number is None:
                self._receive()
                continue
            reply, worker = self._ready.pop(number), self._under_way.pop(number)
            if reply.kind == "end":
                self.progress.shares[worker].ended = True
                continue
            self._fill()
            self._note(number, worker, reply)
            if reply.kind == "error":
                raise reply.value
            return reply.value

    def _due(self) -> int | None:
        """Return the number of the next batch to return, if it is ready."""
        if not self._in_order:
            return next(iter(self._ready), None)
        number = next(iter(self._under_way))
        return number if number in self._ready else None

    def _receive(self) -> None:
        try:
            reply = self._pool.receive(self._timeout)
        except BaseException:  # Ctrl-C
            self._abort()
            raise
        if reply is None:
            self._abort()
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        if isinstance(reply, Died):
            self._abort()
            raise RuntimeError(reply.text)
        if reply.pass_number != self._number:
            return  # the reply belongs to an abandoned pass of persistent workers
        self._ready[reply.number] = reply
        if reply.kind == "end":
            self._active[reply.worker] = False
        if self._probing:
            self._decide(reply.mark.asked)

    def _decide(self, asked: bool) -> None:
        """Split the dataset among the workers, or leave it to the first."""
        self._probing, self.progress.asked = False, asked
        self._turn = 1 % self._workers
        if not asked:
            del self.progress.shares[1:]
            self._active[1:] = [False] * (self._workers - 1)

    def _note(self, number: int, worker: int, reply: Reply) -> None:
        progress = self.progress
        progress.count_batch(number)
        if progress.shares:
            share = progress.shares[worker]
            share.given += 1
            if reply.mark is not None:
                share.state, share.ended = reply.mark.state, reply.mark.ended
            progress.turn = (worker + 1) % self._workers

    def _abort(self) -> None:
        """Shut the workers down and end the pass."""
        self._over = True
        self._close.detach()
        self._pool.close()


class PoolHolder:
    """Holds the persistent workers of a loader between two passes."""

    def __init__(self, persistent: bool) -> None:
        self._open = persistent
        self._pool: Pool | None = None

    def take(self) -> Pool | None:
        """Return the stored workers, if any."""
        pool, self._pool = self._pool, None
        return pool

    def give(self, pool: Pool) -> None:
        """Store the workers, or shut them down."""
        if self._open and self._pool is None:
            self._pool = pool
        else:
            pool.close()

    def close(self) -> None:
        """Shut down stored workers, and any stored later."""
        self._open = False
        pool = self.take()
        if pool is not None:
            pool.close()


# PyTorch's names, for libraries that annotate with them.
_BaseDataLoaderIter, _SingleProcessDataLoaderIter = Pass, SerialPass
_MultiProcessingDataLoaderIter = PrefetchingPass


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
        return (pair for pair in zip(numbers, requests) if pair[0] not in ahead)  # noqa: B905  # numbers are endless


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
