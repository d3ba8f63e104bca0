"""Additional files of a run, written so that a failing disk never stops training."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from tinynet.base.atomic_write import write_atomically
from tinynet.board import storage


class FilesBeside:
    """The files of a run other than event files, written atomically.

    Files that cannot be written wait in memory, with one warning, until the next `write`.
    """

    def __init__(self, folder: str, outages: storage.Outages) -> None:
        self._folder = folder
        self._outages = outages
        self._waiting: dict[str, bytes] = {}
        self._lock = threading.RLock()
        self._pid = os.getpid()

    def put(self, files: dict[str, bytes]) -> None:
        """Write files: path below the folder -> contents."""
        self._check_process()
        with self._lock:
            for path in files:
                self._waiting.pop(path, None)  # the newest goes last: it may refer to the others
            self._waiting |= files
            self.write()
            while len(self._waiting) > 1 and self._size() > storage.MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]

    def write(self, revive: bool = True) -> None:
        """Try to write the waiting files. With `revive=False`, do not recreate a removed folder."""
        self._check_process()
        with self._lock:
            if not revive and not os.path.isdir(self._folder):
                return
            try:
                for name in list(self._waiting):
                    self._write_one(Path(self._folder, name), self._waiting[name])
                    del self._waiting[name]
                self._outages.end(self)
            except OSError as error:
                self._outages.begin(self, self._folder, error.strerror or str(error))

    def _size(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _write_one(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda file: file.write(data))

    def _check_process(self) -> None:
        """After a fork, discard the parent's waiting files."""
        if os.getpid() != self._pid:
            self._pid = os.getpid()
            self._lock = threading.RLock()
            self._waiting.clear()
