"""The SummaryWriter: PyTorch's names and signatures, on files that cannot stop a training run."""

from __future__ import annotations

import datetime
import os
import socket
import time
import warnings
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.graph import Graph, problems
from tinynet.board.recorder import record_forward
from tinynet.board.storage import BoardWarning, EventFile
from tinynet.board.structures import Arguments
from tinynet.core.tensor import Tensor


class SummaryWriter:
    """Writes scalars, texts and graphs to an event file that TensorBoard reads.

    Writing never stops or hangs a training run: when a disk is full, a folder removed or a file
    system read-only, there is one `BoardWarning` with the reason, events wait in memory, and
    writing resumes when it can. There is no thread: events are written when `max_queue` of them
    wait, or `flush_secs` seconds after the last write, both checked when one is added; `flush`
    and `close` put all on disk.

    Args:
        log_dir: the folder of the run. `runs/<date>_<host><comment>` unless given.
        comment: a suffix of the default folder; without effect when `log_dir` is given.
        purge_step: hide what the folder already has at this step and after (to resume a run).
        max_queue: how many events may wait before they are written.
        flush_secs: after how many seconds they are written in any case.
        filename_suffix: a suffix of the name of the event file.

    Example:
        >>> import tempfile
        >>> from tinynet.utils.tensorboard import SummaryWriter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with SummaryWriter(folder) as writer:
        ...         writer.add_scalar("loss", 0.5, global_step=1)
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        for name, value in (("max_queue", max_queue), ("flush_secs", flush_secs)):
            if value < 0:
                raise ValueError(
                    f"The '{name}' parameter of SummaryWriter must be >= 0. Got {value} instead."
                )
        self.log_dir = os.fspath(log_dir) if log_dir else _default_folder(comment)
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self._graphs: set[str] = set()
        self._files: dict[str, EventFile] = {}
        self._finalizer = weakref.finalize(self, _finish, self._files)
        tensorboardx.load()
        self._main_file()

    # ---- scalars and texts -------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write one number.

        Args:
            tag: the name of the curve; `/` groups curves.
            scalar_value: a Python number, a numpy number or a tensor of one element.
            global_step: the position on the x axis; 0 unless given.
            walltime: seconds since the epoch; now unless given.
            new_style: write a tensor instead of the `simple_value` field.
            double_precision: with `new_style`, keep 64 bits; otherwise the value is stored as
                float32.

        Raises:
            TypeError: the value is no number; the message names the tag.
            ValueError: it has more than one element.

        Example:
            >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
            >>> with SummaryWriter("runs/example") as writer:
            ...     for step in range(3):
            ...         writer.add_scalar("train/loss", 1 / (step + 1), step)
        """
        _check_tag(tag, "add_scalar")
        value, when, step = _number(tag, scalar_value), _now(walltime), _step(global_step, tag)
        if new_style:
            event = tensorboardx.scalar_tensor(tag, value, when, step, double_precision)
        else:
            event = tensorboardx.scalar(tag, value, when, step)
        self._main_file().add(tensorboardx.frame(event))

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers as curves of one chart, each as a run of its own below this one.

        Args:
            main_tag: the name of the chart.
            tag_scalar_dict: curve name -> number, as in `add_scalar`.
            global_step: the position on the x axis; 0 unless given.
            walltime: seconds since the epoch; now unless given.
        """
        _check_tag(main_tag, "add_scalars")
        when = _now(walltime)
        for tag, scalar_value in tag_scalar_dict.items():
            value = _number(f"{main_tag}/{tag}", scalar_value)
            event = tensorboardx.scalar(main_tag, value, when, _step(global_step, main_tag))
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            self._file(folder).add(tensorboardx.frame(event))

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a text for the Text tab, which shows it as Markdown.

        Args:
            tag: the name of the text.
            text_string: the text.
            global_step: its step; 0 unless given.
            walltime: seconds since the epoch; now unless given.

        Raises:
            TypeError: the text is no `str`.
        """
        _check_tag(tag, "add_text")
        if not isinstance(text_string, str):
            raise TypeError(
                f"The 'text_string' parameter of add_text must be a str. Got {_kind(text_string)} "
                f"instead, for the tag {tag!r}."
            )
        event = tensorboardx.text(tag, text_string, _now(walltime), _step(global_step, tag))
        self._main_file().add(tensorboardx.frame(event))

    # ---- graphs ------------------------------------------------------------------------------

    def add_graph(
        self,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Write the graph of a model: one forward runs, and every operation of it becomes a node.

        The forward runs under `no_grad`; model, inputs and random numbers are bit-identical
        afterwards. The first graph of a writer is the run's; further ones (the discriminator of a
        GAN) are selected by their tag, the name of the model's class.

        Args:
            model: a Module.
            input_to_model: its input; a tuple or list holds several; `board.Arguments` also takes
                keyword arguments. Inputs and outputs may be nested in any way.
            verbose: also print the graph.
            use_strict_trace: without effect, there for PyTorch's signature: nothing is traced.

        Raises:
            TypeError: `model` is no Module.
        """
        if not callable(getattr(model, "named_modules", None)):
            raise TypeError(
                "The 'model' parameter of add_graph must be a tinynet.nn.Module. "
                f"Got {_kind(model)} instead."
            )
        graph = record_forward(model, Arguments.of(input_to_model))
        if verbose:
            print(graph.text())
        self._add_graph(graph, type(model).__name__)

    def _add_graph(self, graph: Graph, tag: str) -> None:
        wrong = problems(graph)
        if wrong:  # a mistake of ours; a training run does not end because of it
            warnings.warn(
                f"The graph of {tag} was not written: {'; '.join(wrong[:3])}.",
                BoardWarning,
                stacklevel=3,
            )
            return
        when = time.time()
        if not self._graphs:
            event = tensorboardx.run_graph(graph, when)
        else:
            used, number = tag, 1
            while tag in self._graphs:
                tag, number = f"{used}_{number}", number + 1
            event = tensorboardx.tagged_graph(tag, graph, when)
        self._graphs.add(tag)
        self._main_file().add(tensorboardx.frame(event))

    # ---- files -------------------------------------------------------------------------------

    def get_logdir(self) -> str:
        """The folder that the event files are in."""
        return self.log_dir

    def flush(self) -> None:
        """Put all events on disk; what was flushed survives the death of the process."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Flush and close. Closing twice is fine; adding afterwards begins a new event file."""
        while self._files:
            self._files.popitem()[1].close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _file(self, folder: str) -> EventFile:
        file = self._files.get(folder)
        if file is None:
            file = self._files[folder] = EventFile(
                folder, self.max_queue, self.flush_secs, self.filename_suffix, _header
            )
        return file

    def _main_file(self) -> EventFile:
        created = self.log_dir not in self._files
        file = self._file(self.log_dir)
        if created and self.purge_step is not None:
            step, self.purge_step = _step(self.purge_step, "purge_step"), None
            assert step is not None
            when = time.time()
            file.add(tensorboardx.frame(tensorboardx.version(when, step)))
            file.add(tensorboardx.frame(tensorboardx.session_start(when, step)))
        return file


# ---- checks ----------------------------------------------------------------------------------


def _number(tag: str, value: Any) -> float:
    """The value as a Python float."""
    array = value._array if isinstance(value, Tensor) else value
    if isinstance(array, (np.ndarray, np.generic)):
        if array.size != 1:
            raise ValueError(
                f"The value of {tag!r} must be one number. Got {array.size} elements "
                f"(shape {list(array.shape)}) instead."
            )
        array = array.item()
    if not isinstance(array, (bool, int, float)):
        raise TypeError(f"The value of {tag!r} must be a number. Got {_kind(array)} instead.")
    try:
        return float(array)
    except OverflowError:
        raise ValueError(f"The value of {tag!r} must fit into a float. Got more.") from None


def _step(step: Any, tag: str) -> int | None:
    if step is None:
        return None
    try:
        number = int(step)
    except (TypeError, ValueError):
        number = None
    if number is None or not -(2**63) <= number < 2**63:
        raise TypeError(f"The step of {tag!r} must be a 64-bit integer. Got {step!r} instead.")
    return number


def _check_tag(tag: Any, method: str) -> None:
    if not isinstance(tag, str):
        raise TypeError(f"The tag of {method} must be a str. Got {_kind(tag)} instead.")


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__


def _now(walltime: float | None) -> float:
    return time.time() if walltime is None else walltime


# ---- helpers ---------------------------------------------------------------------------------


def _default_folder(comment: str) -> str:
    date = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
    return os.path.join("runs", f"{date}_{socket.gethostname()}{comment}")


def _header() -> bytes:
    return tensorboardx.frame(tensorboardx.version(time.time()))


def _finish(files: dict[str, EventFile]) -> None:
    """Close what a writer that was never closed leaves behind."""
    while files:
        files.popitem()[1].close(revive=False)
