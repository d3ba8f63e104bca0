"""One pass over a DataLoader: the iterators that return its batches."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Protocol

from tinynet.data.loading.collate import default_collate
from tinynet.data.loading.progress import Order, Progress, Share
from tinynet.data.loading.seeding import in_caller
from tinynet.data.loading.worker import Died, EndOfStream, Reply, StreamReader, Work
from tinynet.data.subset import runs_no_user_code
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
