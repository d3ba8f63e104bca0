"""The guard around each training step, and the post-mortem of a step that produced NaN or infinity.

The guard takes a snapshot of the buffers and generators before each step, in microseconds. It
examines a failed step from there; the post-mortem has the cause, the message and the files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tinynet import nn
from tinynet import random as generator
from tinynet.board.graphs.build import flatten
from tinynet.board.graphs.recorder import preserved
from tinynet.board.graphs.watch import array_of
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data import Subset
from tinynet.dtypes import Array
from tinynet.train.base.checkpoint_file import write_checkpoint
from tinynet.train.base.files import (
    has_valid_checksum,
    make_folder,
    read_json,
    with_checksum,
    write_json,
)
from tinynet.train.base.problems import TrainError
from tinynet.train.incidents.culprit import Search, Suspect, Values, repeat_step
from tinynet.train.step import seeds
from tinynet.train.step.task import NonFiniteError, Place, RankError

Skip = Callable[[NonFiniteError], bool]
"""A function of the error of a failed step that returns whether to skip the step."""


class Guard:
    """Examines the failed steps of a training loop.

    Args:
        model: the trained model.
        batches: its batches; with a method ``batch_indices``, messages name the examples.
        skip: decides whether to skip a failed step; by default, none is skipped.
    """

    def __init__(self, model: nn.Module, batches: Any, skip: Skip | None = None) -> None:
        self.model = model
        self.batches = batches
        self.skip = skip
        self.snapshot = Snapshot(model)
        self._step: tuple[Place, Sequence[Sequence[Any]], Callable[[], object]] | None = None

    def begin_epoch(self) -> None:
        """Prepare for a pass over the batches."""
        self.snapshot.find_buffers()

    def watch(
        self, where: Place, batches: Sequence[Sequence[Any]], repeat: Callable[[], object]
    ) -> Guard:
        """Return a context for one step, which suppresses a NonFiniteError to skip the step.

        Args:
            where: the place of its first batch.
            batches: the batches of the step.
            repeat: repeats the step up to the failure, without changing weights.

        Raises:
            NonFiniteError: with its post-mortem; the buffers are restored.
        """
        self.snapshot.take()
        self._step = where, batches, repeat
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: Any
    ) -> bool:
        step, self._step = self._step, None
        if not isinstance(error, NonFiniteError) or step is None:
            return False
        try:
            if not isinstance(error, RankError):
                self._investigate(error, *step)
        except Exception as problem:  # a bug in tinynet must not hide the error
            text = f"{type(problem).__name__}: {problem}"
            error.remarks.append(f"  {'note':<8} the step could not be examined: {text}")
        return self.skip is not None and self.skip(error)

    def _investigate(
        self,
        error: NonFiniteError,
        where: Place,
        batches: Sequence[Sequence[Any]],
        repeat: Callable[[], object],
    ) -> None:
        indices_of = getattr(self.batches, "batch_indices", lambda number: None)
        failure = Failure(
            error.what,
            (where.epoch, where.number, where.batch, where.batches),
            error.loss is not None,
            batches,
            [indices_of(where.batch + number) for number in range(len(batches))],
            getattr(self.batches, "dataset", None),
        )

        error.post_mortem = investigate(
            failure, self.model, self.snapshot, partial(loss_of, repeat)
        )
        error.batch = error.post_mortem.report.batch - 1


def loss_of(step: Callable[[], object]) -> Array | None:
    """Take a step; return the loss if it is not finite, else None."""
    try:
        step()
    except NonFiniteError as error:
        return error.loss
    return None


class Snapshot:
    """The buffers of a model and the states of the generators before a step.

    Reading the states of numpy's and Python's generators takes longer than a small step. After the
    first step it happens only if that step drew numbers from them.

    Args:
        model: the model.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._holders: list[nn.Module] = []
        self._buffers: list[tuple[nn.Module, str, Tensor, Array]] = []
        self.generators: dict[str, Any] = {}
        self._ours_only = False
        self.find_buffers()

    def find_buffers(self) -> None:
        """Find the modules with buffers."""
        self._holders = [m for m in self._model.modules() if m._buffers]

    def take(self) -> None:
        """Take a new snapshot."""
        if self._ours_only:
            self.generators = {"tinynet": generator.default_generator.state_dict()}
        else:
            before, self.generators = self.generators, seeds.get_states()
            self._ours_only = bool(before) and _only_ours_changed(before, self.generators)
        self._buffers = [
            (holder, name, tensor, tensor._array.copy())
            for holder in self._holders
            for name, tensor in holder._buffers.items()
            if tensor is not None
        ]

    def restore_buffers(self) -> None:
        """Restore the buffers of the model."""
        with no_grad():
            for holder, name, tensor, array in self._buffers:
                tensor.copy_(wrap(array))
                if holder._buffers.get(name) is not tensor:  # the forward replaced it
                    setattr(holder, name, tensor)

    def restore(self) -> None:
        """Restore the buffers and the generators."""
        self.restore_buffers()
        seeds.set_states(self.generators)

    def named(self) -> dict[str, Tensor]:
        """Return the buffers of the snapshot, by their names in the model."""
        known = {id(tensor): array for _, _, tensor, array in self._buffers}
        buffers = self._model.named_buffers()
        return {name: wrap(known[id(t)].copy()) for name, t in buffers if id(t) in known}


def _only_ours_changed(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether the states of numpy's and Python's generators are unchanged."""
    a, b = one["numpy"], other["numpy"]
    key = np.array_equal(a["state"]["key"], b["state"]["key"])
    rest = repr({**a, "state": a["state"]["pos"]}) == repr({**b, "state": b["state"]["pos"]})
    return key and rest and one["python"] == other["python"]


REPORT, STATE = "report.json", "step.npz"
_NAMED = 5  # examples to name in a message


@dataclass(frozen=True)
class Example:
    """A row of a batch, and its origin."""

    row: int
    index: int | None = None
    """The index in the training set."""

    original: int | None = None
    """The index in the data set that the training set is a subset of."""

    def __str__(self) -> str:
        text = f"row {self.row} of the batch"
        if self.index is not None:
            text += f" is training example {self.index}"
        return text if self.original is None else f"{text} (number {self.original} of all)"


@dataclass(frozen=True)
class Report:
    """The report on a failed step; numbers are from 1, rows and indices from 0."""

    what: str
    epoch: int
    step: int
    batch: int
    batches: int
    suspects: list[Suspect]
    """The origin of the first NaN or infinity, and related operations."""

    values: list[Values]
    """The inputs and targets of the batch."""

    examples: list[Example] = field(default_factory=list)
    """The affected examples, if known; at most ten."""

    affected: int = 0
    """The number of affected examples."""

    rows: int = 0
    """The number of examples in the batch."""

    indices: list[int] | None = None
    """The indices of all rows of the batch in the training set."""

    note: str = ""
    skipped: bool = False

    @property
    def headline(self) -> str:
        """What happened, and its place in the training."""
        return (
            f"{self.what} in epoch {self.epoch}, step {self.step} "
            f"(batch {self.batch} of {self.batches})"
        )

    def lines(self) -> list[str]:
        """Return the lines of the message below the headline."""
        lines = [line for suspect in self.suspects for line in suspect.lines()]
        lines += [f"  {'batch' * (not i):<8} {values}" for i, values in enumerate(self.values)]
        lines += self._examples()
        if self.note:
            lines.append(f"  {'note':<8} {self.note}")
        return [*lines, f"  {'hint':<8} {self._hint()}"]

    def _examples(self) -> list[str]:
        if self.affected and self.affected == self.rows:
            return [f"  {'examples':<8} all {self.rows} of the batch"]
        named = [str(example) for example in self.examples[:_NAMED]]
        if self.affected > _NAMED:
            named.append(f"... {self.affected} of {self.rows} in all")
        return [f"  {'example' * (not i):<8} {text}" for i, text in enumerate(named)]

    def _hint(self) -> str:
        kinds = {suspect.kind for suspect in self.suspects[:1]}
        if "batch" in kinds:
            return "repair or remove these examples; `tinynet check` finds more of them"
        if "weights" in kinds:
            return "the initial weights had it, or the update of an earlier step produced it"
        if "constant" in kinds:
            return "a number in this line is NaN or infinite"
        if "elsewhere" in kinds:
            return "check the code that made this tensor"
        hints = [suspect.hint for suspect in self.suspects if suspect.hint]
        return hints[0] if hints else "a smaller learning rate, or optimizer.clip_norm, may help"

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Report:
        """Return the report of a dict from `dataclasses.asdict`."""
        inside = {
            "suspects": [Suspect.of(suspect) for suspect in saved["suspects"]],
            "values": [Values(**values) for values in saved["values"]],
            "examples": [Example(**example) for example in saved["examples"]],
        }
        return cls(**{**saved, **inside})


@dataclass(frozen=True)
class PostMortem:
    """The report on a failed step, and everything that repeating it needs."""

    report: Report
    state: dict[str, Any]
    """``"batches"``, ``"model"`` (weights and buffers before the step), ``"generators"``."""

    def save(self, folder: str | Path) -> None:
        """Create a folder with ``report.json`` and ``step.npz``.

        Raises:
            TrainError: if it cannot be written, or a batch cannot be stored.
        """
        path = Path(folder)
        make_folder(path)
        write_json(path / REPORT, with_checksum(asdict(self.report)))
        write_checkpoint(path / STATE, self.state)


def read_report(folder: Path) -> Report:
    """Return the report that `PostMortem.save` wrote.

    Raises:
        TrainError: if there is none, or it is damaged.
    """
    path = folder / REPORT
    try:
        saved = read_json(path)
        if "sha256" in saved and not has_valid_checksum(saved):
            raise ValueError("its checksum does not fit its content")
        return Report.of({key: value for key, value in saved.items() if key != "sha256"})
    except FileNotFoundError as error:
        raise TrainError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TrainError(f"{path} is damaged: {type(error).__name__}: {error}") from None


@dataclass
class Failure:
    """A failed step before its investigation.

    Args:
        what: the failure as a clause, such as ``"the loss is nan"``.
        place: epoch, step, first batch, batches per epoch, all from 0.
        loss: whether the loss is not finite, rather than a gradient.
        batches: the batches of the step.
        indices: the indices of each batch in the training set, if known.
        data_set: the training set, if known.
    """

    what: str
    place: tuple[int, int, int, int]
    loss: bool
    batches: Sequence[Sequence[Any]]
    indices: list[list[int] | None]
    data_set: Any = None


def investigate(
    failure: Failure,
    model: nn.Module,
    snapshot: Snapshot,
    step: Callable[[], Array | None],
) -> PostMortem:
    """Repeat a failed step under a `Search` to find the cause, and restore all state.

    Args:
        failure: the failed step.
        model: the model, with the weights before the step.
        snapshot: the buffers and generators before the step.
        step: repeats the step without changing weights; returns the array of a loss that is not
            finite, or None.
    """
    state = {
        "what": failure.what,
        "place": list(failure.place),
        "loss": failure.loss,
        "batches": [list(batch) for batch in failure.batches],
        "indices": failure.indices,
        "generators": snapshot.generators,
    }
    snapshot.restore_buffers()
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    weights = {name: p.detach().clone() for name, p in model.named_parameters()}
    state["model"] = weights | buffers
    arrays = [_arrays(batch) for batch in failure.batches]
    named = {f"{name}{' ' * i}": a for i, batch in enumerate(arrays) for name, a in batch.items()}
    search = Search(model, named, [_rows(batch) for batch in arrays])
    note, loss = "", None
    with preserved(model.modules(), named.values()):
        snapshot.restore()
        try:
            with search.started():
                loss = repeat_step(step)
        except Exception as error:
            note = f"repeating the step failed: {type(error).__name__}: {error}"
    suspects = search.suspects(loss)
    number = min(search.batches - (loss is None), len(arrays) - 1)
    return PostMortem(_report(failure, suspects, arrays, number, note), state)


def _report(
    failure: Failure, suspects: list[Suspect], arrays: list[dict[str, Array]], at: int, note: str
) -> Report:
    epoch, number, first, batches = failure.place
    if not suspects and not note:
        note = (
            "it did not happen again when the step was repeated: it depends on something besides "
            "weights, buffers, batch and random numbers"
        )
    values = [Values.of(name, array) for name, array in arrays[at].items()]
    indices = failure.indices[at] if at < len(failure.indices) else None
    found = next((suspect for suspect in suspects if suspect.rows), None)
    rows, affected = ([], 0) if found is None else (found.rows, found.count)
    examples = [_example(row, indices, failure.data_set) for row in rows]
    return Report(
        failure.what,
        epoch + 1,
        number + 1,
        first + at + 1,
        batches,
        suspects,
        values,
        examples,
        affected,
        _rows(arrays[at]),
        indices,
        note,
    )


def _example(row: int, indices: Sequence[int] | None, data_set: Any) -> Example:
    if indices is None or row >= len(indices):
        return Example(row)
    return Example(row, indices[row], original(data_set, indices[row]))


def original(data_set: Any, index: int) -> int | None:
    """Return the index in the data set that a training set is a subset of; None if it is none."""
    found = None
    while isinstance(data_set, Subset):
        index = found = int(data_set.indices[index])
        data_set = data_set.dataset
    return found


def _rows(batch: Mapping[str, Array]) -> int:
    """Return the number of examples in a batch: the length of its first array."""
    return next((len(array) for array in batch.values() if array.ndim), 0)


def _arrays(batch: Sequence[Any]) -> dict[str, Array]:
    """Return the arrays of a batch by name: ``inputs``, ``targets``, or their elements."""
    named = dict(zip(("inputs", "targets"), batch, strict=False))
    leaves = (leaf for name, part in named.items() for leaf in flatten(part, name))
    found = {name: array_of(value) for name, value in leaves}
    return {name: array for name, array in found.items() if array is not None}
