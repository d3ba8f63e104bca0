"""The SummaryWriter: PyTorch's names and signatures; file errors never stop a training run."""

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
from tinynet.board.graphs.build import Arguments
from tinynet.board.graphs.graph import Graph, problems
from tinynet.board.graphs.recorder import record_forward
from tinynet.board.storage import BoardWarning, EventFile, FilesBeside, Outages
from tinynet.board.summaries.embeddings import Embeddings
from tinynet.board.summaries.family import as_step
from tinynet.board.summaries.histograms import Curves, Histograms
from tinynet.board.summaries.hparams import Hparams
from tinynet.board.summaries.images import Images, Media
from tinynet.board.summaries.scalars import Scalars


class SummaryWriter(Scalars, Histograms, Images, Hparams, Curves, Embeddings, Media):
    """Writes scalars, images, graphs and more to event files for TensorBoard.

    Writing never stops or blocks a training run: if a disk is full, a folder removed or a file
    system read-only, there is one `BoardWarning` with the reason, events wait in memory, and
    writing resumes when possible. There is no background thread: events are written when
    `max_queue` of them wait, or `flush_secs` seconds after the last write, both checked when an
    event is added; `flush` and `close` write everything to disk.

    Args:
        log_dir: the folder of the run; by default `runs/<date>_<host><comment>`.
        comment: a suffix of the default folder; without effect if `log_dir` is given.
        purge_step: hide existing data of the folder from this step on (to resume a run).
        max_queue: maximum number of events that wait to be written.
        flush_secs: maximum number of seconds between writes.
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
        """Write the graph of a model: runs one forward pass; every operation becomes a node.

        The forward pass runs in evaluation mode under `no_grad`; model, inputs and random
        generators are restored exactly. The first graph of a writer is the run's; further
        ones (such as the discriminator of a GAN) can be selected by tag, the name of the model's
        class. A RuntimeError is printed before it is raised.

        Args:
            model: a Module.
            input_to_model: its input; a tuple or list of several inputs, empty for none;
                `board.Arguments` also takes keyword arguments. Inputs and outputs may be nested.
            verbose: also print the graph.
            use_strict_trace: refuse a dict in the output.

        Raises:
            AttributeError: `model` is not a Module.
            RuntimeError: there is no input, or a dict in the output with `use_strict_trace`.
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

    def _add_graph(self, graph: Graph, name: str) -> None:
        """Write a graph under a free tag; the first one becomes the graph of the run."""
        if self._graphs:
            self._add_tagged_graph(graph, name)
        elif self._is_sound(graph, name):
            self._add(tensorboardx.run_graph(graph, time.time()))
            self._graphs.add(name)

    def _add_tagged_graph(self, graph: Graph, name: str) -> None:
        """Write a graph under a free tag, with the time and memory of its nodes.

        The graph of a run, in contrast, has a tag without them.
        """
        tag = self._free_tag(name)
        if self._is_sound(graph, tag):
            self._add(tensorboardx.tagged_graph(tag, graph, time.time()))
            self._graphs.add(tag)

    def _is_sound(self, graph: Graph, tag: str) -> bool:
        """Return whether TensorBoard can show a graph; warn if not."""
        wrong = problems(graph)
        if wrong:  # a bug in tinynet must not end a training run
            text = f"The graph of {tag} was not written: {'; '.join(wrong[:3])}."
            warnings.warn(text, BoardWarning, stacklevel=4)
        return not wrong

    def _add_conceptual_graph(self, keras: str, name: str) -> None:
        """Write a graph of modules, the JSON of a Keras model."""
        tag = self._free_tag(name)
        self._add(tensorboardx.conceptual_graph(tag, keras, time.time()))
        self._graphs.add(tag)

    def _free_tag(self, name: str) -> str:
        tag, number = name, 0
        while tag in self._graphs:
            number += 1
            tag = f"{name}_{number}"
        return tag

    def add_onnx_graph(self, prototxt: Any) -> None:
        """Not supported: requires the package onnx, and tinynet does not write ONNX files.

        Raises:
            NotImplementedError: always; the message names an alternative.
        """
        raise NotImplementedError(
            "add_onnx_graph is not supported: reading ONNX files needs the package onnx. Write the "
            "graph of a tinynet model with add_graph."
        )

    # ---- files -------------------------------------------------------------------------------

    @property
    def file_writer(self) -> FileWriter | None:
        """The writer of TensorBoard's own messages; None after ``close``."""
        return FileWriter(self) if self._files else None

    @property
    def all_writers(self) -> dict[str, FileWriter] | None:
        """The writers of TensorBoard's own messages, by folder."""
        return {folder: FileWriter(self, folder) for folder in self._files} or None

    def _get_file_writer(self) -> FileWriter:  # called by programs written for PyTorch
        return FileWriter(self)

    def get_logdir(self) -> str:
        """Return the folder of the event files."""
        return self.log_dir

    def flush(self) -> None:
        """Write all events to disk; flushed events survive the death of the process."""
        for file in list(self._files.values()):
            file.flush()
        self._beside.write()

    def close(self) -> None:
        """Flush and close. May be called twice; adding afterwards starts a new event file."""
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
            step, self.purge_step = as_step(self.purge_step, "purge_step"), None
            assert step is not None
            when = time.time()
            file.add(tensorboardx.frame(tensorboardx.version(when, step)))
            # TensorBoard's slow loader (--load_fast=false) takes the first start of a run for its
            # beginning, and hides nothing; a second one always marks a resumed run.
            for _ in range(2):
                file.add(tensorboardx.frame(tensorboardx.session_start(when, step)))
        return file

    def _written(self) -> dict[str, int]:
        """Return the number of bytes on disk of each event file, by its path in the folder."""
        files = [pair for file in self._files.values() for pair in file.written().items()]
        return {os.path.relpath(path, self.log_dir): size for path, size in files}

    def _is_behind(self) -> bool:
        """Return whether something cannot be written at present."""
        return bool(self._outages)


class FileWriter:
    """Writes TensorBoard's own messages to one folder, like PyTorch's ``writer.file_writer``.

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
            event: an ``Event`` message of tensorboardX or TensorBoard.
            step: its step, if the message has none.
            walltime: its time in seconds; now by default.
        """
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self._writer._add(event.SerializeToString(), self._folder)

    def add_summary(
        self, summary: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a ``Summary`` message; arguments as in ``add_event``."""
        own = tensorboardx.load()
        event = own.Event(summary=own.Summary.FromString(summary.SerializeToString()))
        self.add_event(event, global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Write a graph.

        Args:
            graph_profile: a ``GraphDef`` message, and a ``RunMetadata`` message with its times.
            walltime: its time in seconds; now by default.
        """
        graph, run_metadata = graph_profile
        self.add_onnx_graph(graph, walltime)
        own = tensorboardx.load()
        content = run_metadata.SerializeToString()
        tagged = own.TaggedRunMetadata(tag="step1", run_metadata=content)
        self.add_event(own.Event(tagged_run_metadata=tagged), None, walltime)

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """Write a ``GraphDef`` message; arguments as in ``add_graph``."""
        event = tensorboardx.load().Event(graph_def=graph.SerializeToString())
        self.add_event(event, None, walltime)

    def flush(self) -> None:
        """Write all events to disk."""
        self._writer.flush()

    def reopen(self) -> None:
        """Do nothing: adding after ``close`` starts a new event file anyway."""

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
    """Close the files of a writer that was never closed."""
    while files:
        files.popitem()[1].close(revive=False)
    beside.write(revive=False)
