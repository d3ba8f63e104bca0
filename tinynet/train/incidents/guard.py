"""What stands around each step of training: one that fails is examined, and skipped or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tinynet import nn
from tinynet.dtypes import Array
from tinynet.train.incidents.nonfinite import NonFiniteError, Place
from tinynet.train.incidents.post_mortem import Failure, investigate
from tinynet.train.incidents.snapshot import Snapshot

Skip = Callable[[NonFiniteError], bool]
"""Is told of a step that failed; True if training is to go on without it."""


class Guard:
    """Stands around the steps of a loop.

    Args:
        model: what is trained.
        batches: what it is trained on; if it can say which examples a batch has, messages do.
        skip: decides whether a step that failed is left out; None: none is.
    """

    def __init__(self, model: nn.Module, batches: Any, skip: Skip | None = None) -> None:
        self.model = model
        self.batches = batches
        self.skip = skip
        self.snapshot = Snapshot(model)
        self._step: tuple[Place, Sequence[Sequence[Any]], Callable[[], object]] | None = None

    def begin_epoch(self) -> None:
        """A pass over the batches begins."""
        self.snapshot.look()

    def step(
        self, where: Place, batches: Sequence[Sequence[Any]], again: Callable[[], object]
    ) -> Guard:
        """A context for one step. It swallows a NonFiniteError if the step is to be skipped.

        Args:
            where: of the first batch.
            batches: what the step is made of.
            again: does the step once more up to the point where it failed, and changes no weights.

        Raises:
            NonFiniteError: with its post-mortem; buffers are as they were before the step.
        """
        self.snapshot.take()
        self._step = where, batches, again
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
            self._investigate(error, *step)
        except Exception as problem:  # a mistake of ours must not hide what has happened
            text = f"{type(problem).__name__}: {problem}"
            error.remarks.append(f"  {'note':<8} the step could not be examined: {text}")
        return self.skip is not None and self.skip(error)

    def _investigate(
        self,
        error: NonFiniteError,
        where: Place,
        batches: Sequence[Sequence[Any]],
        again: Callable[[], object],
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

        error.post_mortem = investigate(failure, self.model, self.snapshot, partial(loss_of, again))
        error.batch = error.post_mortem.report.batch - 1


def loss_of(step: Callable[[], object]) -> Array | None:
    """Do a step; the loss that is not finite, None if it is a gradient or nothing at all."""
    try:
        step()
    except NonFiniteError as error:
        return error.loss
    return None
