"""Passing figures to trackers, each in a thread of its own: training never waits for one."""

from __future__ import annotations

import itertools
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tinynet.core.printing import quantity
from tinynet.train.trackers.tracker import Point, TrackedRun, TrackerWarning

_PAUSE = 0.5  # seconds in which figures are collected
_RETRY = 10.0  # seconds between two attempts after an error
_PATIENCE = 60.0  # seconds for all trackers to store the last figures and the files
_MOST, _BATCH = 100_000, 500  # points that wait; points in a call


class Tracking:
    """The trackers of a run. Without any, it does nothing.

    Args:
        trackers: objects with the methods of `Tracker`, by a name for messages.
        run: the run.
        ids: the ids of runs to continue, by the same names.
        keep: called with the name of a tracker and the id of its run, in its thread.
    """

    def __init__(
        self,
        trackers: Mapping[str, Any] | None = None,
        run: TrackedRun | None = None,
        ids: Mapping[str, str] | None = None,
        keep: Callable[[str, str], None] = lambda name, identity: None,
    ) -> None:
        run, ids = run or TrackedRun("", ""), ids or {}
        self._workers = [
            _Worker(name, tracker, replace(run, id=ids.get(name, "")), keep)
            for name, tracker in (trackers or {}).items()
        ]

    def log(self, point: Point) -> None:
        """Pass figures on; warn if a tracker has failed since the last call."""
        for worker in self._workers:
            worker.add(point)
            worker.warn()

    def end(self, status: str, files: Sequence[Path] = ()) -> None:
        """End the run in all trackers; wait for them for a limited time.

        Args:
            status: ``"finished"``, ``"failed"`` or ``"interrupted"``.
            files: files to keep with it; missing ones are left out.
        """
        present = [path for path in files if path.is_file()]
        for worker in self._workers:
            worker.end(status, present)
        deadline = time.monotonic() + _PATIENCE
        for worker in self._workers:
            worker.join(deadline)
            worker.warn()
        self._workers = []


class _Worker:
    """The thread of a tracker."""

    def __init__(
        self, name: str, tracker: Any, run: TrackedRun, keep: Callable[[str, str], None]
    ) -> None:
        self._name, self._tracker, self._run, self._keep = name, tracker, run, keep
        self._points: deque[Point] = deque(maxlen=_MOST)
        self._batch: list[Point] = []
        self._lost = 0
        self._has_begun = self._has_warned = False
        self._failure: BaseException | None = None
        self._ending = threading.Event()
        self._last: tuple[str, Sequence[Path]] = ("failed", ())
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def add(self, point: Point) -> None:
        self._lost += len(self._points) == _MOST
        self._points.append(point)  # an operation of one step: it needs no lock

    def end(self, status: str, files: Sequence[Path]) -> None:
        self._last = status, files
        self._ending.set()

    def join(self, deadline: float) -> None:
        """Wait for the thread; leave it alone after a time."""
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._failure is None and self._thread.is_alive():
            self._failure = TimeoutError(f"it has not stored everything within {_PATIENCE:.0f} s")
        elif self._failure is None and self._lost:
            lost = quantity(f"{self._lost:,}", "point")
            self._failure = RuntimeError(f"it is too slow to store {lost}")

    def warn(self) -> None:
        """Warn of the first failure, in the thread that trains."""
        if self._failure is not None and not self._has_warned:
            self._has_warned = True
            error = self._failure
            text = f"{self._name} fails. {type(error).__name__}: {error}"
            rest = "The run is not affected; its metrics are in TensorBoard, too"
            rest += "" if self._ending.is_set() else f". Next attempt in {_RETRY:.0f} s"
            warnings.warn(f"{text}\n{rest}", TrackerWarning, stacklevel=4)

    # ---- in the thread ----

    def _work(self) -> None:
        while True:
            over = self._ending.is_set()  # read before the points that wait
            try:
                try:
                    self._send()
                finally:
                    if over and self._has_begun:  # also if its last figures could not be stored
                        self._call("end", *self._last)
            except BaseException as error:
                self._failure = self._failure or error
                if not over:
                    self._ending.wait(_RETRY)
            if over:
                return
            self._ending.wait(_PAUSE)

    def _send(self) -> None:
        """Begin, if that has not succeeded yet; pass on the points that wait."""
        if not self._has_begun:
            identity = self._call("begin", self._run)
            if identity:
                self._keep(self._name, str(identity))
            self._has_begun = True
        while True:
            for _ in itertools.repeat(None, _BATCH - len(self._batch)):
                if not self._points:
                    break
                self._batch.append(self._points.popleft())
            if not self._batch:
                return
            self._tracker.log(self._batch)  # after an error, they are passed again
            self._batch = []

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call a method that a user's tracker may leave out."""
        found = getattr(self._tracker, method, None)
        return None if found is None else found(*arguments)
