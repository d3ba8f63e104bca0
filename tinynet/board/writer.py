"""The SummaryWriter: PyTorch's names and signatures, on files that cannot stop a training run."""

from __future__ import annotations

import datetime
import os
import socket
import time
import warnings
import weakref
from types import TracebackType
from typing import Any

from tinynet.board import tensorboardx
from tinynet.board.files import FilesBeside
from tinynet.board.graphs.graph import Graph, problems
from tinynet.board.graphs.recorder import record_forward
from tinynet.board.graphs.structures import Arguments
from tinynet.board.storage import BoardWarning, EventFile, Outages
from tinynet.board.summaries import checks
from tinynet.board.summaries.curves import Curves
from tinynet.board.summaries.embeddings import Embeddings
from tinynet.board.summaries.histograms import Histograms
from tinynet.board.summaries.hparams import Hparams
from tinynet.board.summaries.images import Images
from tinynet.board.summaries.media import Media
from tinynet.board.summaries.scalars import Scalars


class SummaryWriter(Scalars, Histograms, Images, Hparams, Curves, Embeddings, Media):
    """Writes numbers, pictures, graphs and more to event files that TensorBoard reads.

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
        self._doubted: set[str] = set()
        self._projected: dict[str, str] | None = None
        self._files: dict[str, EventFile] = {}
        self._outages = Outages()
        self._beside = FilesBeside(self.log_dir, self._outages)
        self._finalizer = weakref.finalize(self, _finish, self._files, self._beside)
        tensorboardx.load()
        self._main_file()

    # ---- graphs ------------------------------------------------------------------------------

    def add_graph(
        self,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Write the graph of a model: one forward runs, and every operation of it becomes a node.

        The forward runs in evaluation mode under `no_grad`; model, inputs and random numbers are
        bit-identical afterwards. The first graph of a writer is the run's; further ones (the
        discriminator of a GAN) are selected by their tag, the name of the model's class. A
        RuntimeError is printed before it is raised.

        Args:
            model: a Module.
            input_to_model: its input; a tuple or list holds several, and is empty for none;
                `board.Arguments` also takes keyword arguments. Inputs and outputs may be nested in
                any way.
            verbose: also print the graph.
            use_strict_trace: refuse a dict in the output.

        Raises:
            AttributeError: `model` is no Module.
            RuntimeError: there is no input, or `use_strict_trace` and a dict in the output.
        """
        if not hasattr(model, "training"):
            raise AttributeError(
                f"'{type(model).__name__}' object has no attribute 'training'. "
                "The 'model' parameter of add_graph must be a tinynet.nn.Module."
            )
        try:
            graph = record_forward(model, Arguments.of(input_to_model), use_strict_trace)
        except RuntimeError as error:
            print(error)
            print("Error occurs, No graph saved")
            raise
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
        self._add(event)

    def add_onnx_graph(self, prototxt: Any) -> None:
        """Not supported: it needs the package onnx, and nothing in tinynet writes ONNX files.

        Raises:
            NotImplementedError: always; it says what to do instead.
        """
        raise NotImplementedError(
            "add_onnx_graph is not supported: reading ONNX files needs the package onnx. Write the "
            "graph of a tinynet model with add_graph."
        )

    # ---- files -------------------------------------------------------------------------------

    @property
    def file_writer(self) -> FileWriter | None:
        """What takes TensorBoard's own messages; None after ``close``."""
        return FileWriter(self) if self._files else None

    @property
    def all_writers(self) -> dict[str, FileWriter] | None:
        """The folders that are written to, each with what takes its messages."""
        return {folder: FileWriter(self, folder) for folder in self._files} or None

    def _get_file_writer(self) -> FileWriter:  # programs written for PyTorch call it
        return FileWriter(self)

    def get_logdir(self) -> str:
        """The folder that the event files are in."""
        return self.log_dir

    def flush(self) -> None:
        """Put all events on disk; what was flushed survives the death of the process."""
        for file in list(self._files.values()):
            file.flush()
        self._beside.write()

    def close(self) -> None:
        """Flush and close. Closing twice is fine; adding afterwards begins a new event file."""
        while self._files:
            self._files.popitem()[1].close()
        self._beside.write()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _add(self, event: bytes, folder: str | None = None) -> None:
        file = self._main_file() if folder in (None, self.log_dir) else self._file(str(folder))
        file.add(tensorboardx.frame(event))

    def _store(self, files: dict[str, bytes]) -> None:
        self._beside.put(files)

    def _file(self, folder: str) -> EventFile:
        file = self._files.get(folder)
        if file is None:
            file = self._files[folder] = EventFile(
                folder,
                self.max_queue,
                self.flush_secs,
                self.filename_suffix,
                _header,
                self._outages,
            )
        return file

    def _main_file(self) -> EventFile:
        created = self.log_dir not in self._files
        file = self._file(self.log_dir)
        if created and self.purge_step is not None:
            step, self.purge_step = checks.step(self.purge_step, "purge_step"), None
            assert step is not None
            when = time.time()
            file.add(tensorboardx.frame(tensorboardx.version(when, step)))
            # TensorBoard's own loader (--load_fast=false) takes the first start of a run for its
            # beginning, and hides nothing: the second one is surely that of a run that goes on.
            for _ in range(2):
                file.add(tensorboardx.frame(tensorboardx.session_start(when, step)))
        return file

    def _written(self) -> dict[str, int]:
        """How many bytes are on the disk of each event file, by its path inside of the folder."""
        files = [file.written() for file in self._files.values()]
        return {os.path.relpath(path, self.log_dir): size for path, size in files if path}


class FileWriter:
    """Takes TensorBoard's own messages for one folder, as PyTorch's ``writer.file_writer`` does.

    Example:
        >>> import tempfile
        >>> from tensorboardX.proto.summary_pb2 import Summary
        >>> from tinynet.utils.tensorboard import SummaryWriter
        >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        ...     message = Summary(value=[Summary.Value(tag="loss", simple_value=0.5)])
        ...     writer.file_writer.add_summary(message, 1)
    """

    def __init__(self, writer: SummaryWriter, folder: str | None = None) -> None:
        self._writer = writer
        self._folder = writer.log_dir if folder is None else folder

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._folder

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event.

        Args:
            event: a message ``Event`` of tensorboardX or TensorBoard.
            step: its step, unless it has one.
            walltime: its time in seconds, unless it is now.
        """
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self._writer._add(event.SerializeToString(), self._folder)

    def add_summary(
        self, summary: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a message ``Summary``; arguments as in ``add_event``."""
        own = tensorboardx.load()
        event = own.Event(summary=own.Summary.FromString(summary.SerializeToString()))
        self.add_event(event, global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Write a graph.

        Args:
            graph_profile: a message ``GraphDef``, and a ``RunMetadata`` with its times.
            walltime: its time in seconds, unless it is now.
        """
        graph, run_metadata = graph_profile
        self.add_onnx_graph(graph, walltime)
        own = tensorboardx.load()
        content = run_metadata.SerializeToString()
        tagged = own.TaggedRunMetadata(tag="step1", run_metadata=content)
        self.add_event(own.Event(tagged_run_metadata=tagged), None, walltime)

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Write a message ``GraphDef``; arguments as in ``add_graph``."""
        event = tensorboardx.load().Event(graph_def=graph.SerializeToString())
        self.add_event(event, None, walltime)

    def flush(self) -> None:
        """Put all events on disk."""
        self._writer.flush()

    def reopen(self) -> None:
        """Do nothing: what is added after ``close`` begins a new event file."""

    def close(self) -> None:
        """Flush and close the writer."""
        self._writer.close()


# ---- helpers ---------------------------------------------------------------------------------


def _default_folder(comment: str) -> str:
    date = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
    return os.path.join("runs", f"{date}_{socket.gethostname()}{comment}")


def _header() -> bytes:
    return tensorboardx.frame(tensorboardx.version(time.time()))


def _finish(files: dict[str, EventFile], beside: FilesBeside) -> None:
    """Close what a writer that was never closed leaves behind."""
    while files:
        files.popitem()[1].close(revive=False)
    beside.write(revive=False)
