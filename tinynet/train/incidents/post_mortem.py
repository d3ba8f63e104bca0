"""A step that came to NaN or infinity: run again to find out why, told, kept and read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tinynet import nn
from tinynet.board.graphs.snapshot import preserved
from tinynet.board.graphs.structures import flatten
from tinynet.board.graphs.watch import array_of
from tinynet.data import Subset
from tinynet.dtypes import Array
from tinynet.train.checkpoint import files
from tinynet.train.checkpoint.checksums import is_sealed, sealed
from tinynet.train.checkpoint.run_folder import write_json
from tinynet.train.config.problems import TrainError
from tinynet.train.incidents.culprit import Search, again
from tinynet.train.incidents.snapshot import Snapshot
from tinynet.train.incidents.suspects import Suspect, Values

REPORT, STATE = "report.json", "step.npz"
_NAMED = 5  # examples, in a message


@dataclass(frozen=True)
class Example:
    """A row of a batch, and where it came from."""

    row: int
    index: int | None = None
    """In the training set."""

    original: int | None = None
    """In the data set that the training set is a part of."""

    def __str__(self) -> str:
        text = f"row {self.row} of the batch"
        if self.index is not None:
            text += f" is training example {self.index}"
        return text if self.original is None else f"{text} (number {self.original} of all)"


@dataclass(frozen=True)
class Report:
    """What is known about a step that failed; numbers are from 1, rows and indices from 0."""

    what: str
    epoch: int
    step: int
    batch: int
    batches: int
    suspects: list[Suspect]
    """What made the first NaN or infinity, and what came of it or was behind it."""

    values: list[Values]
    """The inputs and targets of the batch."""

    examples: list[Example] = field(default_factory=list)
    """Those in which it happened, as far as known; at most ten."""

    affected: int = 0
    """How many examples that are."""

    rows: int = 0
    """How many examples the batch has."""

    indices: list[int] | None = None
    """Of all rows of the batch, the indices in the training set."""

    note: str = ""
    skipped: bool = False

    @property
    def headline(self) -> str:
        """What happened, and where in the training."""
        return (
            f"{self.what} in epoch {self.epoch}, step {self.step} "
            f"(batch {self.batch} of {self.batches})"
        )

    def lines(self) -> list[str]:
        """The message for people, below the headline."""
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
            return "repair or leave out these examples; `tinynet check` looks for more of them"
        if "weights" in kinds:
            return "the model began with it, or the update of an earlier step made it"
        if "constant" in kinds:
            return "a number in this line is NaN or infinite itself"
        if "elsewhere" in kinds:
            return "look at what made this tensor, and whether it can stay finite"
        hints = [suspect.hint for suspect in self.suspects if suspect.hint]
        return hints[0] if hints else "a smaller learning rate, or optimizer.clip_norm, may help"

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Report:
        """The report that `dataclasses.asdict` made a dict of."""
        inside = {
            "suspects": [Suspect.of(suspect) for suspect in saved["suspects"]],
            "values": [Values(**values) for values in saved["values"]],
            "examples": [Example(**example) for example in saved["examples"]],
        }
        return cls(**{**saved, **inside})


@dataclass(frozen=True)
class PostMortem:
    """A step that failed: why, and all that is needed to do it again."""

    report: Report
    state: dict[str, Any]
    """``"batches"``, ``"model"`` (weights and buffers before the step), ``"generators"``."""

    def save(self, folder: str | Path) -> None:
        """Write ``report.json`` and ``step.npz`` into a folder, which is made.

        Raises:
            TrainError: it cannot be written, or a batch holds what cannot be stored.
        """
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TrainError(f"{path} cannot be made ({error.strerror})") from error
        write_json(path / REPORT, sealed(asdict(self.report)))
        files.save(path / STATE, self.state)


def read_report(folder: Path) -> Report:
    """The report that `PostMortem.save` wrote.

    Raises:
        TrainError: there is none, or it is damaged.
    """
    path = folder / REPORT
    try:
        saved = json.loads(path.read_bytes())
        if "sha256" in saved and not is_sealed(saved):
            raise ValueError("its checksum is that of other contents")
        return Report.of({key: value for key, value in saved.items() if key != "sha256"})
    except OSError as error:
        raise TrainError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TrainError(f"{path} is damaged: {type(error).__name__}: {error}") from None


@dataclass
class Failure:
    """What is known of a step when it has failed.

    Args:
        what: as half a sentence, such as ``"the loss is nan"``.
        place: epoch, step, the first of its batches, batches per epoch, all from 0.
        loss: whether it is the loss that is not finite, not a gradient.
        batches: what the step was made of.
        indices: of each batch, the indices in the training set, if known.
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
    """Why a step failed: it is run again, watched. Everything is put back as it was before it.

    Args:
        failure: what is known.
        model: with the weights that the step began with.
        snapshot: what else it began with.
        step: does it again, without changing weights; returns the array of the loss that was not
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
                loss = again(step)
        except Exception as error:
            note = f"when the step was run again it failed: {type(error).__name__}: {error}"
    suspects = search.suspects(loss)
    number = min(search.batches - (loss is None), len(arrays) - 1)
    return PostMortem(_report(failure, suspects, arrays, number, note), state)


def _report(
    failure: Failure, suspects: list[Suspect], arrays: list[dict[str, Array]], at: int, note: str
) -> Report:
    epoch, number, first, batches = failure.place
    if not suspects and not note:
        note = (
            "it did not happen again when the step was run a second time: it depends on something "
            "besides weights, buffers, batch and random numbers"
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
    """The index in the data set that a training set is a part of; None if it is no part."""
    found = None
    while isinstance(data_set, Subset):
        index = found = int(data_set.indices[index])
        data_set = data_set.dataset
    return found


def _rows(batch: Mapping[str, Array]) -> int:
    """How many examples a batch has: the length of what is first in it."""
    return next((len(array) for array in batch.values() if array.ndim), 0)


def _arrays(batch: Sequence[Any]) -> dict[str, Array]:
    """The arrays of a batch: ``inputs``, ``targets``, or what is in them."""
    named = dict(zip(("inputs", "targets"), batch, strict=False))
    leaves = (leaf for name, part in named.items() for leaf in flatten(part, name))
    found = {name: array_of(value) for name, value in leaves}
    return {name: array for name, array in found.items() if array is not None}
