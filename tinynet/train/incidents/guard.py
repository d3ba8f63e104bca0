"""The guard around each training step, which examines a failed step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tinynet import nn
from tinynet.dtypes import Array
from tinynet.train.incidents.post_mortem import Failure, investigate
from tinynet.train.incidents.snapshot import Snapshot
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
