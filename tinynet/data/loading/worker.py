"""What a worker does, whether it is a thread, a process, or the loader's own process."""

from __future__ import annotations

import contextlib
import copy
import threading
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from tinynet.data.dataset import Dataset, Samples, fetch
from tinynet.data.loading.collate import default_collate
from tinynet.data.loading.seeding import mix

Seeded = Callable[[int], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What `get_worker_info` tells a worker about itself.

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
    """How many workers there are."""

    seed: int
    """Another one for each worker and each pass that starts workers; for libraries of your own."""

    dataset: Any
    """The worker's own copy of the dataset: all of it in a process, a shallow one in a thread."""

    worker_method: str = "multiprocessing"
    """``"thread"`` or ``"multiprocessing"``."""


class _Here(threading.local):
    info: WorkerInfo | None = None
    asked = False


_here = _Here()


def get_worker_info() -> WorkerInfo | None:
    """Return which worker of which DataLoader runs this, or None outside of workers.

    Datasets and a ``worker_init_fn`` may ask. An IterableDataset that asks in its ``__iter__`` is
    iterated by all workers and has to give each of them its share (see there).

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
    _here.asked = True
    return _here.info


# ---- one batch ----


@dataclass(frozen=True)
class Work:
    """All that a worker has to know of the loader."""

    dataset: Any
    iterable: bool
    batch_size: int | None
    """Samples per batch of an iterable dataset; None: no batches."""

    batched: bool
    drop_last: bool
    collate_fn: Callable[[Any], Any]
    init_fn: Callable[[int], None] | None = None

    def collated(self, samples: Any) -> Any:
        """A batch of samples; of the one sample, if there are no batches."""
        if isinstance(samples, Samples) and self.collate_fn is not default_collate:
            samples = list(samples)  # a collate_fn is promised a list, which it may sort
        return self.collate_fn(samples)

    def reader(self, start: Start, seeded: Seeded) -> Reader:
        """What makes the batches of one pass."""
        return (StreamReader if self.iterable else _MapReader)(self, start, seeded)


class Start(NamedTuple):
    """Tells a worker that a pass begins."""

    pass_number: int
    seed: int
    shard: int = 0
    """Of an iterable dataset: whose share this is."""

    given: int = 0
    """Of an iterable dataset: how many batches of the share were given before a resume."""

    state: Any = None
    """Of an iterable dataset: its own state at that place, if it has states."""

    ended: bool = False
    """Of an iterable dataset: the share has no more."""


class EndOfStream(Exception):  # noqa: N818  # like StopIteration, it is no error
    """A share of an iterable dataset has no more batches."""


class StreamMark(NamedTuple):
    """What a loader has to know of a stream."""

    asked: bool
    """The dataset asked for its worker, so it gives only a share of itself."""

    state: Any
    """The dataset's own state, if it has states."""

    ended: bool
    """It is known that there is no more."""


class Reader:
    """Makes batches, each from the seed of its place."""

    def __init__(self, work: Work, start: Start, seeded: Seeded) -> None:
        self.work, self.start, self.seeded = work, start, seeded

    @property
    def mark(self) -> StreamMark | None:
        """Where a stream is after the batch that was read last."""
        return None

    def read(self, number: int, request: Any) -> Any:
        """Return batch ``number``, of which the sampler said ``request``."""
        raise NotImplementedError


class _MapReader(Reader):
    def read(self, number: int, request: Any) -> Any:
        work = self.work
        with self.seeded(mix(self.start.seed, 0, number)):
            try:
                found = fetch(work.dataset, request) if work.batched else work.dataset[request]
                return work.collated(found)
            except StopIteration as error:  # would look like the end of the pass
                raise RuntimeError("the dataset or collate_fn raised StopIteration") from error


class StreamReader(Reader):
    """Reads the samples of an iterable dataset; it opens the dataset when first asked."""

    def __init__(self, work: Work, start: Start, seeded: Seeded) -> None:
        super().__init__(work, start, seeded)
        self.number = start.given
        self.iterator: Any = None
        self.ended = start.ended
        self.asked = False

    @property
    def mark(self) -> StreamMark:
        dataset = self.work.dataset
        # A copy, as the dataset goes on while the loader keeps this.
        state = copy.deepcopy(dataset.state_dict()) if hasattr(dataset, "state_dict") else None
        return StreamMark(self.asked, state, self.ended)

    def read(self, number: int, request: Any) -> Any:
        del number, request  # a stream counts by itself, and knows only one request: the next
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
        _here.asked = False
        self.ended = True  # should this fail
        try:
            with self._seeded(-1):
                if self.start.state is not None:
                    self.work.dataset.load_state_dict(self.start.state)
                self.iterator = iter(self.work.dataset)
        finally:
            self.asked = _here.asked
        self.ended = False
        if self.start.state is None:
            for skipped in range(self.start.given):
                with self._seeded(skipped), contextlib.suppress(Exception):  # as then
                    self._take()

    def _take(self) -> Any:
        """The samples of the next batch."""
        if self.ended:
            raise EndOfStream
        size = self.work.batch_size
        samples = list(islice(self.iterator, size or 1))
        self.asked = self.asked or _here.asked
        self.ended = len(samples) < (size or 1)
        if not samples or (self.ended and self.work.drop_last):
            raise EndOfStream
        return samples if self.work.batched else samples[0]


# ---- a worker: starts and requests in, replies out ----


class Reply(NamedTuple):
    """The answer to a request."""

    pass_number: int
    number: int
    worker: int
    kind: str
    """``"data"``, ``"error"`` (the value is an exception) or ``"end"`` of a stream."""

    value: Any
    mark: Any


class Died(NamedTuple):
    """A worker is gone, and its answers with it."""

    text: str


class Server:
    """Answers the messages to one worker: a Start, or a request (number, what the sampler said)."""

    def __init__(self, work: Work, worker: int, workers: int, method: str, seeded: Seeded) -> None:
        self.work, self.worker, self.workers = work, worker, workers
        self.method, self.seeded = method, seeded
        self.failure: BaseException | None = None
        self.ready = False
        self.start: Start
        self.reader: Reader

    def answer(self, message: Any) -> Reply | None:
        """Do what a message asks for."""
        if isinstance(message, Start):
            self.start = message
            if not self.ready:
                self._prepare(message.seed)
            self.reader = self.work.reader(message, self.seeded)
            return None
        number, request = message
        kind, value = self._read(number, request)
        return Reply(self.start.pass_number, number, self.worker, kind, value, self.reader.mark)

    def _prepare(self, seed: int) -> None:
        self.ready = True
        known = (self.worker, self.workers, seed + self.worker, self.work.dataset, self.method)
        # In a process also for threads that the dataset starts, as the class has it.
        here: Any = _here if self.method == "thread" else _Here
        here.info = WorkerInfo(*known)
        if self.work.init_fn is not None:
            try:
                with self.seeded(mix(seed, self.worker, -2)):
                    self.work.init_fn(self.worker)
            except BaseException as error:
                self.failure = self._told(error)

    def _read(self, number: int, request: Any) -> tuple[str, Any]:
        if self.failure is not None:
            return ("end", None) if self.work.iterable and number else ("error", self.failure)
        try:
            return "data", self.reader.read(number, request)
        except EndOfStream:
            return "end", None
        except BaseException as error:  # also SystemExit: without workers it would arrive, too
            return "error", self._told(error)

    def _told(self, error: BaseException) -> BaseException:
        kind = "thread" if self.method == "thread" else "process"
        return retold(error, f"in DataLoader worker {kind} {self.worker}")


class _Verbatim(str):
    """A text that KeyError, which shows the repr of its argument, shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def retold(error: BaseException, where: str) -> BaseException:
    """Return an exception of the same type that says where it comes from, with the traceback.

    One that cannot be made from a text is returned itself, with the text as a note.
    """
    original = "".join(traceback.format_exception(error))
    text = f"Caught {type(error).__name__} {where}.\nOriginal {original}"
    kind: Any = type(error)
    try:
        told: BaseException = kind(_Verbatim(text) if isinstance(error, KeyError) else text)
        if text in str(told):
            _note_origin(told, error)
            return told
    except Exception:  # its constructor takes something else
        pass
    _note_origin(error, error)
    error.__traceback__ = error.__cause__ = error.__context__ = None  # they keep frames alive
    error.add_note(text)
    return error


def replica(dataset: Any) -> Any:
    """Return a worker thread's own copy of a dataset, which shares the data itself.

    What one worker sets on its copy (a file that it opened, the share that it was given), the
    others do not see. The datasets inside of a dataset are copied likewise. What is no Dataset, or
    cannot be copied, is shared.
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
    """Where an exception of a worker came from; plain data, which keeps no frame alive."""

    frames: list[tuple[str, int, str, str]]
    """File, line, function and text of each frame of its traceback."""

    last: list[str]
    """The last lines of its traceback: its type and message."""


def _note_origin(told: BaseException, error: BaseException) -> None:
    summary = traceback.extract_tb(error.__traceback__)
    frames = [(f.filename, f.lineno or 0, f.name, f.line or "") for f in summary]
    told.worker_origin = Origin(  # type: ignore[attr-defined]
        frames, traceback.format_exception_only(error)
    )
