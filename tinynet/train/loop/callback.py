"""The base class of callbacks, and their argument."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tinynet import nn
from tinynet.data import DataLoader
from tinynet.dtypes import Array
from tinynet.train.loop.splits import dataset_attribute
from tinynet.train.metrics.criterion import figures_on
from tinynet.train.step.task import as_evaluated


def _nothing(reason: str) -> None:
    """Do nothing: no run can be stopped."""


@dataclass(frozen=True)
class Moment:
    """The argument of a callback, and of an exhibit.

    Example:
        >>> from tinynet.data import Digits
        >>> at = Moment(nn.Flatten(), None, 0, 1, Digits(train=True), Digits(train=False))
        >>> at.examples(5)[0].shape, at.tag("samples")
        (tinynet.Size([5, 1, 8, 8]), 'val/samples')
    """

    model: nn.Module
    """The model. During an evaluation it is in eval mode, no graph is recorded, and all random
    streams are restored afterwards."""

    writer: Any
    """The SummaryWriter of the run, for TensorBoard; None in `fit`."""

    step: int
    """The number of the last training step, from 0: the step for the methods of the writer."""

    epoch: int
    """The current epoch, from 1."""

    train_set: Any = None
    """The training set; None in `fit`."""

    test_set: Any = None
    """The test set; None in `fit`."""

    validation_set: Any = None
    """The validation set, on which the run selects; None without one, and in `fit`."""

    figures: Mapping[str, float] = field(default_factory=dict)
    """The figures of the event. After an evaluation: ``loss`` and the metrics on the validation set
    (without one, on the test set); after an epoch: ``train/loss``, ``val/loss``, ``lr`` and so on.
    """

    measured_on: str = "validation"
    """The data set of an evaluation: ``"test"`` if the run has no validation set."""

    last: Any = None
    """The result of the last step, a `Step`, for callbacks of steps and epochs; else None."""

    updaters: Mapping[str, Any] = field(default_factory=dict)
    """The optimizers by name, each in an `Updater`; a single one has the name ``""``."""

    stop: Callable[[str], None] = _nothing
    """``at.stop("reason")`` ends the run after the current epoch."""

    def examples(self, count: int, *, train: bool = False) -> Any:
        """Return the first examples of the validation set, or of the training set, as a batch.

        Without a validation set, they come from the test set.
        """
        measured = self.test_set if self.validation_set is None else self.validation_set
        examples = self.train_set if train else measured
        return next(iter(DataLoader(examples, batch_size=count, seed_batches=True)))

    def about(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the data set: ``at.about("classes")``, ``at.about("tokenizer")``.

        A subset (`data.Subset`) has the attributes of its data set.
        """
        return dataset_attribute(self.test_set, name, default)

    def tag(self, name: str) -> str:
        """Return the tag of something about the examples: ``val/name``, or ``test/name``."""
        (tag,) = figures_on(self.measured_on, {name: None})
        return tag

    def picture(self, tag: str, pixels: Array) -> None:
        """Write an image, (height, width, 3) of bytes."""
        self.writer.add_image(tag, pixels, self.step, dataformats="HWC")


class Callback:
    """The base class of callbacks; a user's class need not derive from it.

    A class with a state defines `state_dict` and `load_state_dict`, too: checkpoints contain it.

    Example:
        >>> class Stop(Callback):
        ...     def on_evaluation_end(self, at):
        ...         if at.figures["accuracy"] > 0.99:
        ...             at.stop("good enough")
    """

    def on_run_begin(self, at: Moment) -> None:
        """Act before the first step; a resumed run begins again."""

    def on_epoch_begin(self, at: Moment) -> None:
        """Act before an epoch."""

    def on_step_end(self, at: Moment) -> None:
        """Act after a step; ``at.last`` is its result."""

    def on_evaluation_end(self, at: Moment) -> None:
        """Act after an evaluation; ``at.figures`` has its results."""

    def on_epoch_end(self, at: Moment) -> None:
        """Act after an epoch and its evaluation, before its checkpoint is written."""

    def on_run_end(self, at: Moment) -> None:
        """Act after the last step, also if the run was interrupted or failed."""


EVENTS = tuple(name for name in vars(Callback) if name.startswith("on_"))


def unknown_events(callback: Any) -> list[str]:
    """Return the methods of a callback that look like events but are none.

    Example:
        >>> class Typo:
        ...     def on_epoch_ends(self, at): ...
        >>> unknown_events(Typo())
        ['on_epoch_ends']
    """
    return [name for name in dir(callback) if name.startswith("on_") and name not in EVENTS]


def is_callback(built: Any) -> bool:
    """Return whether an object has a method of a callback, or one that looks like it."""
    return any(name.startswith("on_") and callable(getattr(built, name)) for name in dir(built))


Hook = Callable[[Moment], object]


# ---- events -------------------------------------------------------------------------------------
# Calling callbacks at the events of a run.


@dataclass(frozen=True)
class Entry:
    """A callback in the list of a run, and what happens if it fails."""

    callback: Any
    """An object with methods of `Callback`; or these methods by name."""

    name: str = ""
    """Its name in checkpoints, which hold its state; empty for one of the run's own."""

    on_error: Callable[[Exception], object] | None = None
    """Called with an error in it, to warn of it; without it, the error ends the run."""

    def hook(self, event: str) -> Hook | None:
        """Return what to call at an event; None if that does nothing."""
        if isinstance(self.callback, Mapping):
            found = self.callback.get(event)
        else:
            found = getattr(self.callback, event, None)
        if found is None or getattr(found, "__func__", None) is getattr(Callback, event):
            return None
        return found if self.on_error is None else functools.partial(self._guarded, found)

    def _guarded(self, hook: Hook, at: Moment) -> None:
        assert self.on_error is not None
        try:
            hook(at)
        except Exception as error:
            self.on_error(error)


class Callbacks:
    """The callbacks of a run, in the order of their calls.

    A run from a config has one list: what shows its progress, what writes for TensorBoard and for
    trackers, the callbacks and exhibits of the config, and the caller's.

    `fit` calls them at the beginning and the end of the run, of epochs and of steps; its caller
    passes on evaluations, and may end an epoch with figures.

    Args:
        callbacks: objects with methods of `Callback`.
        names: their names in checkpoints; defaults to their positions.
        seed: the seed of random numbers drawn after an evaluation.

    Raises:
        ValueError: the numbers of callbacks and of names differ.

    Example:
        >>> class Losses:
        ...     def on_step_end(self, at):
        ...         print(f"step {at.step}: loss {at.last.loss:.2f}")
        >>> from tinynet.train import fit
        >>> model, xs = nn.Linear(1, 1, bias=False), tn.ones(4, 1)
        >>> with tn.no_grad():
        ...     _ = model.weight.zero_()
        >>> sgd = optim.SGD(model.parameters(), lr=0.25)
        >>> steps = [*fit(model, nn.MSELoss(), sgd, [(xs, 2 * xs)], 2, callbacks=[Losses()])]
        step 0: loss 4.00
        step 1: loss 1.00
    """

    def __init__(
        self, callbacks: Sequence[Any] = (), names: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        self._entries: list[Entry] = []
        self._seed = seed
        self._at: Moment | None = None
        self._running = self._in_epoch = self._epoch_is_over = False
        self.stopped_by: str | None = None
        """The reason that a callback gave for ending the run, or None."""
        self.add(dict(zip(names or map(str, range(len(callbacks))), callbacks, strict=True)))

    def add(self, callbacks: Mapping[str, Any]) -> None:
        """Add callbacks, before the run begins; they are called after the others.

        Args:
            callbacks: the callbacks by their names in checkpoints.
        """
        self.insert(len(self._entries), *(Entry(one, name) for name, one in callbacks.items()))

    def insert(self, place: int, *entries: Entry) -> None:
        """Insert callbacks before the one at a place; at 0, they are called before all others."""
        self._entries[place:place] = entries
        hooks = {event: [entry.hook(event) for entry in self._entries] for event in EVENTS}
        self._hooks = {event: [*filter(None, found)] for event, found in hooks.items()}
        # Else the outputs of a step would stay in memory during the next.
        self._keeps_steps = bool(self._hooks["on_step_end"] or self._hooks["on_epoch_end"])

    def attach(self, at: Moment) -> None:
        """Set what all calls have in common: the model, the data, the writer."""
        self._at = replace(at, stop=self._stop)

    def _stop(self, reason: str) -> None:
        self.stopped_by = reason or "no reason given"

    @contextlib.contextmanager
    def run(self, model: nn.Module, updaters: Mapping[str, Any], step: int) -> Iterator[None]:
        """Begin the run, and end it at the latest at the end of the block.

        Args:
            model: the model.
            updaters: the optimizers by name.
            step: the number of the first step.
        """
        if self._at is None:
            self.attach(Moment(model, None, step, 1))
        assert self._at is not None
        self._at = replace(self._at, model=model, updaters=updaters, step=step)
        self._running = True
        self._call("on_run_begin")
        try:
            yield
        finally:
            self.end_run()

    def epochs(self, numbers: Iterable[int]) -> Iterator[int]:
        """Yield the epochs, and begin and end each, until a callback ends the run."""
        for number in numbers:
            if self.stopped_by is not None:
                return
            self._begin_epoch(number)
            yield number
            self.end_epoch()

    def _begin_epoch(self, epoch: int) -> None:
        if self._at is not None:
            self._at = replace(self._at, epoch=epoch + 1, figures={})
        self._in_epoch, self._epoch_is_over = True, False
        self._call("on_epoch_begin")

    def end_step(self, step: Any) -> None:
        """Pass on the result of a step."""
        if self._entries and self._at is not None:
            last = step if self._keeps_steps else None
            self._at = replace(self._at, step=step.number, last=last)
            self._epoch_is_over = step.ends_epoch
            self._call("on_step_end")

    def evaluated(self, figures: Mapping[str, float], on: str = "validation") -> None:
        """Pass on the figures of an evaluation on a data set, such as ``"test"``."""
        if self._at is None:
            raise RuntimeError("Callbacks.evaluated() must be called inside a loop over fit()")
        for hook in self._hooks["on_evaluation_end"]:
            with as_evaluated(self._at.model, self._seed):
                hook(replace(self._at, figures=figures, measured_on=on))

    def end_epoch(self, figures: Mapping[str, float] | None = None) -> None:
        """End the epoch, if that has not happened yet."""
        if self._in_epoch and self._at is not None:
            self._in_epoch = False
            self._at = replace(self._at, figures=figures or {})
            self._call("on_epoch_end")

    def end_run(self) -> None:
        """End the run, if that has not happened yet."""
        if self._running and self._at is not None:
            self._running = False
            if self._epoch_is_over:
                self.end_epoch()
            self._call("on_run_end")

    def _call(self, event: str) -> None:
        if (at := self._at) is not None:
            for hook in self._hooks[event]:
                hook(at)

    def state_dict(self) -> dict[str, Any]:
        """Return the states of the callbacks that have one; an empty dict if there is nothing."""
        named = {entry.name: entry.callback for entry in self._entries if entry.name}
        states = {n: one.state_dict() for n, one in named.items() if hasattr(one, "state_dict")}
        return {"states": states, "stopped_by": self.stopped_by} if named else {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load the state that `state_dict` returned."""
        named = {entry.name: entry.callback for entry in self._entries}
        for name, own in state["states"].items():
            named[name].load_state_dict(own)
        self.stopped_by = state["stopped_by"]
