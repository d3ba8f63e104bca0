"""The code of a worker (a thread, a process or the program), its seeds, and worker threads."""

from __future__ import annotations

import contextlib
import copy
import itertools
import queue
import random
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tinynet.core import numpy_errors
from tinynet.core.explanations.failures import explain
from tinynet.data.dataset import Dataset, Samples
from tinynet.data.loading import collate
from tinynet.data.loading.collate import default_collate
from tinynet.kernels import threads
from tinynet.random import default_generator

Seeded = Callable[[int], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Information about a worker, returned by `get_worker_info`.

    Example:
        >>> class Who(tn.data.Dataset):
        ...     def __len__(self):
        ...         return 2
        ...     def __getitem__(self, index):
        ...         return tn.data.get_worker_info().num_workers
        >>> list(tn.data.DataLoader(Who(), batch_size=None, num_workers=1))
        [1, 1]
    """

    id: int
    """The number of the worker, from 0."""

    num_workers: int
    """The number of workers."""

    seed: int
    """A seed for other libraries; it differs for each worker and each pass that starts workers."""

    dataset: Any
    """The worker's copy of the dataset: a full copy in a process, a shallow one in a thread."""

    worker_method: str = "multiprocessing"
    """``"thread"`` or ``"multiprocessing"``."""


class _ThreadState(threading.local):
    info: WorkerInfo | None = None
    asked = False


_thread_state = _ThreadState()


def get_worker_info() -> WorkerInfo | None:
    """Return information about the current DataLoader worker, or None outside of workers.

    Intended for datasets and for a ``worker_init_fn``. If an IterableDataset calls it in its
    ``__iter__``, all workers iterate the dataset, and it must yield each worker's share only.

    Example:
        >>> class Names(tn.data.Dataset):
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, index):
        ...         return f"{index} by {tn.data.get_worker_info().id}"
        >>> print(*tn.data.DataLoader(Names(), batch_size=None, num_workers=2), sep=", ")
        0 by 0, 1 by 1, 2 by 0, 3 by 1
        >>> tn.data.get_worker_info() is None
        True
    """
    _thread_state.asked = True
    return _thread_state.info


# ---- one batch ----


@dataclass(frozen=True)
class Work:
    """The settings of the loader that a worker needs."""

    dataset: Any
    iterable: bool
    batch_size: int | None
    """Samples per batch of an iterable dataset; None: no batching."""

    batched: bool
    drop_last: bool
    collate_fn: Callable[[Any], Any]
    init_fn: Callable[[int], None] | None = None

    def collated(self, samples: Any) -> Any:
        """Return samples collated into a batch, or the single sample without batching."""
        if isinstance(samples, Samples) and self.collate_fn is not default_collate:
            samples = list(samples)  # a collate_fn expects a list, which it may sort
        return self.collate_fn(samples)

    def reader(self, start: Start, seeded: Seeded) -> Reader:
        """Return the reader that loads the batches of one pass."""
        return (StreamReader if self.iterable else _MapReader)(self, start, seeded)


class Start(NamedTuple):
    """A message that starts a pass in a worker."""

    pass_number: int
    seed: int
    shard: int = 0
    """For an iterable dataset: the number of the share."""

    given: int = 0
    """For an iterable dataset: the number of batches of the share returned before a resume."""

    state: Any = None
    """For an iterable dataset: its own state at that position, if it supports states."""

    ended: bool = False
    """For an iterable dataset: whether the share is exhausted."""


class EndOfStream(Exception):  # noqa: N818  # like StopIteration, not an error
    """The share of an iterable dataset is exhausted."""


class StreamMark(NamedTuple):
    """The position of a stream, reported to the loader."""

    asked: bool
    """Whether the dataset called `get_worker_info`, so that it yields only a share."""

    state: Any
    """The dataset's own state, if it supports states."""

    ended: bool
    """Whether the stream is known to be exhausted."""


class Reader:
    """Loads batches, each with the seed of its position."""

    def __init__(self, work: Work, start: Start, seeded: Seeded) -> None:
        self.work, self.start, self.seeded = work, start, seeded

    @property
    def mark(self) -> StreamMark | None:
        """The position of a stream after the last batch read."""
        return None

    def read(self, number: int, request: Any) -> Any:
        """Return batch ``number`` for a request of the sampler."""
        raise NotImplementedError


class _MapReader(Reader):
    def __init__(self, work: Work, start: Start, seeded: Seeded) -> None:
        super().__init__(work, start, seeded)
        options = work.batched, work.collated, work.drop_last
        self.fetcher = collate._MapDatasetFetcher(work.dataset, *options)

    def read(self, number: int, request: Any) -> Any:
        with self.seeded(mix(self.start.seed, 0, number)):
            try:
                return self.fetcher.fetch(request)
            except StopIteration as error:  # would be mistaken for the end of the pass
                raise RuntimeError("the dataset or collate_fn raised StopIteration") from error


class StreamReader(Reader):
    """Reads the samples of an iterable dataset, which it opens on the first request."""

    def __init__(self, work: Work, start: Start, seeded: Seeded) -> None:
        super().__init__(work, start, seeded)
        self.number = start.given
        self.iterator: Any = None
        self.ended = start.ended
        self.asked = False

    @property
    def mark(self) -> StreamMark:
        dataset = self.work.dataset
        # A copy, because the dataset continues while the loader keeps this state.
        state = copy.deepcopy(dataset.state_dict()) if hasattr(dataset, "state_dict") else None
        return StreamMark(self.asked, state, self.ended)

    def read(self, number: int, request: Any) -> Any:
        del number, request  # a stream counts by itself, and every request asks for the next batch
        if self.iterator is None and not self.ended:
            self._open()
        self.number += 1
        with self._seeded(self.number - 1):
            samples = self._take()
            try:
                return self.work.collated(samples)
            except StopIteration as error:
                raise RuntimeError("collate_fn raised StopIteration") from error

    def _seeded(self, number: int) -> AbstractContextManager[None]:
        return self.seeded(mix(self.start.seed, self.start.shard, number))

    def _open(self) -> None:
        _thread_state.asked = False
        self.ended = True  # in case opening fails
        try:
            with self._seeded(-1):
                if self.start.state is not None:
                    self.work.dataset.load_state_dict(self.start.state)
                self.iterator = iter(self.work.dataset)
        finally:
            self.asked = _thread_state.asked
        self.ended = False
        if self.start.state is None:
            for skipped in range(self.start.given):
                with self._seeded(skipped), contextlib.suppress(Exception):  # as then
                    self._take()

    def _take(self) -> Any:
        """Return the samples of the next batch."""
        if self.ended:
            raise EndOfStream
        size = self.work.batch_size
        samples = list(itertools.islice(self.iterator, size or 1))
        self.asked = self.asked or _thread_state.asked
        self.ended = len(samples) < (size or 1)
        if not samples or (self.ended and self.work.drop_last):
            raise EndOfStream
        return samples if self.work.batched else samples[0]


# ---- a worker: starts and requests in, replies out ----


class Reply(NamedTuple):
    """The reply to a request."""

    pass_number: int
    number: int
    worker: int
    kind: str
    """``"data"``, ``"error"`` (the value is an exception) or ``"end"`` of a stream."""

    value: Any
    mark: Any


class Died(NamedTuple):
    """Reports that a worker died without replying."""

    text: str


class Server:
    """Handles the messages to one worker: a Start, or a request (number, output of the sampler)."""

    def __init__(self, work: Work, worker: int, workers: int, method: str, seeded: Seeded) -> None:
        self.work, self.worker, self.workers = work, worker, workers
        self.method, self.seeded = method, seeded
        self.failure: BaseException | None = None
        self.ready = False
        self.seeds: Iterator[int] | None = None  # of passes, from one that init_fn set
        self.start: Start
        self.reader: Reader

    def answer(self, message: Any) -> Reply | None:
        """Handle a message; return the reply to a request."""
        if isinstance(message, Start):
            self.start = message
            if not self.ready:
                self._prepare(message.seed)
            if self.seeds is not None:
                message = message._replace(seed=next(self.seeds))
            self.reader = self.work.reader(message, self.seeded)
            return None
        number, request = message
        kind, value = self._read(number, request)
        return Reply(self.start.pass_number, number, self.worker, kind, value, self.reader.mark)

    def _prepare(self, seed: int) -> None:
        self.ready = True
        known = (self.worker, self.workers, seed + self.worker, self.work.dataset, self.method)
        # In a process the class attribute also serves threads that the dataset starts.
        state: Any = _thread_state if self.method == "thread" else _ThreadState
        state.info = WorkerInfo(*known)
        if self.method != "thread":
            threads.limit(1)  # of each process: there are several
        if self.work.init_fn is not None:
            try:
                with self.seeded(seed + self.worker):
                    self.work.init_fn(self.worker)
                    own = default_generator.initial_seed()
                if own != seed + self.worker:
                    self.seeds = itertools.count(own)
            except BaseException as error:
                self.failure = self._wrapped(error)

    def _read(self, number: int, request: Any) -> tuple[str, Any]:
        if self.failure is not None:
            return ("end", None) if self.work.iterable and number else ("error", self.failure)
        try:
            return "data", self.reader.read(number, request)
        except EndOfStream:
            return "end", None
        except BaseException as error:  # SystemExit too, as it would be raised without workers
            return "error", self._wrapped(error)

    def _wrapped(self, error: BaseException) -> BaseException:
        kind = "thread" if self.method == "thread" else "process"
        return with_origin(error, f"in DataLoader worker {kind} {self.worker}")


class _Verbatim(str):
    """A text that KeyError shows verbatim instead of its repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def with_origin(error: BaseException, where: str) -> BaseException:
    """Return an exception of the same type whose message has the origin and the traceback.

    If the type cannot be constructed from a text, the exception itself is returned, with the text
    as a note.
    """
    if isinstance(error, Exception):
        explain(error, is_last=True)
    original = "".join(traceback.format_exception(error))
    text = f"Caught {type(error).__name__} {where}.\nOriginal {original}"
    kind: Any = type(error)
    try:
        wrapped: BaseException = kind(_Verbatim(text) if isinstance(error, KeyError) else text)
        if text in str(wrapped):
            _note_origin(wrapped, error)
            return wrapped
    except Exception:  # the constructor has another signature
        pass
    _note_origin(error, error)
    error.__traceback__ = error.__cause__ = error.__context__ = None  # drop references to frames
    error.add_note(text)
    return error


def replica(dataset: Any) -> Any:
    """Return a worker thread's own copy of a dataset, which shares the data.

    Attributes set by one worker, such as an open file or its share, are invisible to the others.
    Nested datasets are copied likewise. Other objects, and datasets that cannot be copied, are
    shared.
    """
    if not isinstance(dataset, Dataset):
        return dataset
    try:
        own = copy.copy(dataset)
        for name in ("dataset", "datasets"):
            if name in own.__dict__:
                setattr(own, name, _replicas(own.__dict__[name]))
    except Exception:
        return dataset
    return own


def _replicas(inside: Any) -> Any:
    if type(inside) in (list, tuple):
        return type(inside)(map(replica, inside))
    if type(inside) is dict:
        return {name: replica(dataset) for name, dataset in inside.items()}
    return replica(inside)


class Origin(NamedTuple):
    """The origin of an exception in a worker, as plain data without references to frames."""

    frames: list[tuple[str, int, str, str]]
    """File, line, function and text of each frame of its traceback."""

    last: list[str]
    """The last lines of its traceback: its type and message."""


def _note_origin(wrapped: BaseException, error: BaseException) -> None:
    summary = traceback.extract_tb(error.__traceback__)
    frames = [(f.filename, f.lineno or 0, f.name, f.line or "") for f in summary]
    origin = Origin(frames, traceback.format_exception_only(error))
    wrapped.worker_origin = origin  # type: ignore[attr-defined]  # read by explanations


_WORD = 2**64 - 1


def mix(seed: int, shard: int, number: int) -> int:
    """Return the seed of a batch, below 2**63, from the scrambled bits of all three numbers.

    The scrambling is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators", 2014).

    Example:
        >>> mix(0, 0, 1) != mix(0, 1, 0) != mix(1, 0, 0)
        True
    """
    state = 0
    for part in (seed, shard, number):
        state = (state ^ part & _WORD) + 0x9E3779B97F4A7C15 & _WORD
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _WORD
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _WORD
        state ^= state >> 31
    return state >> 1


# ---- worker processes ----


@contextlib.contextmanager
def in_process(seed: int) -> Iterator[None]:
    """Seed the three streams of a worker process."""
    default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    yield


# ---- worker threads ----


@contextlib.contextmanager
def in_thread(seed: int) -> Iterator[None]:
    """Seed the default generator of a worker thread."""
    default_generator.manual_seed(seed)
    yield


# ---- no workers ----


@contextlib.contextmanager
def in_caller(seed: int) -> Iterator[None]:
    """Seed the three streams, and restore them at the end.

    One value is not restored, because querying numpy for it takes 0.1 ms: the second of a pair of
    normal numbers, which ``np.random.randn`` and similar functions may hold back.
    """
    with default_generator.forked(seed):
        legacy: Any = np.random
        python, bits = random.getstate(), legacy.get_bit_generator()
        spare: Any = _spares.pop() if _spares else np.random.MT19937(0)
        spare._legacy_seeding(seed % 2**32)  # as np.random.seed does
        random.seed(seed)
        legacy.set_bit_generator(spare)
        try:
            yield
        finally:
            random.setstate(python)
            legacy.set_bit_generator(bits)
            _spares.append(spare)


_spares: list[Any] = []  # constructing one takes 0.2 ms


# ---- the pool of worker threads ----


_LOOK = 5.0  # seconds between checks that the threads are alive


class Threads:
    """Worker threads, until `close`."""

    def __init__(self, work: Work, workers: int) -> None:
        # Not a SimpleQueue: where a signal arrives as its timeout ends, CPython's waits for ever.
        self._replies: queue.Queue[Reply] = queue.Queue()
        self._messages: list[queue.Queue[Any]] = [queue.Queue() for _ in range(workers)]
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []
        try:
            for worker, messages in enumerate(self._messages):
                own = replace(work, dataset=replica(work.dataset))
                server = Server(own, worker, workers, "thread", in_thread)
                self._start(worker, server, messages)
        except BaseException:
            self.close()
            raise

    def _start(self, worker: int, server: Server, messages: queue.Queue[Any]) -> None:
        thread = threading.Thread(
            target=_serve,
            args=(server, messages, self._replies, self._closed),
            name=f"DataLoader worker {worker}",
            daemon=True,  # a dataset that hangs must not keep the program alive
        )
        try:
            thread.start()
        except RuntimeError as error:
            error.add_note("Where there are no threads, DataLoader works with num_workers=0.")
            raise
        self._threads.append(thread)

    def send(self, worker: int, message: Any) -> None:
        """Give a message to a worker."""
        self._messages[worker].put(message)

    def receive(self, timeout: float | None) -> Reply | Died | None:
        """Return the next reply, or None if there is none within ``timeout`` seconds."""
        while True:
            try:
                return self._replies.get(timeout=_LOOK if timeout is None else timeout)
            except queue.Empty:
                dead = [thread.name for thread in self._threads if not thread.is_alive()]
                if dead:
                    return Died(f"{dead[0]} exited unexpectedly")
                if timeout is not None:
                    return None

    def close(self) -> None:
        """Let the threads exit; each finishes its current batch."""
        self._closed.set()
        for messages in self._messages:
            messages.put(None)

    @property
    def workers(self) -> Sequence[threading.Thread]:
        """The threads."""
        return self._threads


def _serve(
    server: Server,
    messages: queue.Queue[Any],
    replies: queue.Queue[Reply],
    closed: threading.Event,
) -> None:
    numpy_errors.install()  # core/modes.py may not have run in this thread yet
    threads.beside.begin()
    try:
        while (message := messages.get()) is not None and not closed.is_set():
            reply = server.answer(message)
            if reply is not None:
                replies.put(reply)
            del message, reply  # they are as large as a batch
    finally:
        threads.beside.end()
