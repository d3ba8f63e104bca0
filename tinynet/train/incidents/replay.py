"""A step that came to NaN, done again from what its run has kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.train.build import seeds
from tinynet.train.build.build import Parts, build
from tinynet.train.build.method import Task
from tinynet.train.checkpoint import files
from tinynet.train.checkpoint.run_folder import RunFolder
from tinynet.train.checkpoint.run_record import read_record
from tinynet.train.checkpoint.sources import stand_ins
from tinynet.train.config.problems import TrainError, UsageError
from tinynet.train.config.resolve import load_config
from tinynet.train.incidents.guard import loss_of
from tinynet.train.incidents.nonfinite import Place
from tinynet.train.incidents.post_mortem import REPORT, STATE, Failure, PostMortem, investigate
from tinynet.train.incidents.snapshot import Snapshot
from tinynet.train.report.explanation import post_mortems


def replayed(path: Path) -> str:
    """What makes the NaN of a run now: with the code of today, and all else as it was.

    Args:
        path: the folder of a run, whose last such step it is; or of one of its post-mortems.

    Raises:
        TrainError: nothing is kept there, or it does not fit the config of the run any more.
    """
    place = (
        path if (path / REPORT).is_file() else next(iter(post_mortems(RunFolder(path))[::-1]), None)
    )
    if place is None:
        raise UsageError(f"{path} has kept no step that came to NaN or infinity")
    report = replay(place).report
    if not report.suspects:
        return f"{report.headline}: now it does not happen. {report.note}"
    return "\n".join([f"{report.headline}; done again just now:", *report.lines()])


def replay(place: Path) -> PostMortem:
    """Do the step of a post-mortem again, with the model and the loss of its run's config.

    Args:
        place: the folder of the post-mortem, inside of that of its run.

    Raises:
        TrainError: as `replayed`.
    """
    saved = files.load(place / STATE)
    folder = RunFolder(place.parent.parent)
    copies = stand_ins(folder, read_record(folder))  # files that have changed may be mended
    parts = build(load_config(folder.config, stand_ins=copies))
    _load(parts, saved["model"], place)
    parts.model.train()
    where = Place(*saved["place"])
    batches = saved["batches"]
    known = (tuple(saved["place"]), saved["loss"], batches, saved["indices"], parts.train_set)
    task = Task(parts.model, parts.loss, parts.updaters, batches, where, dry=True)
    with seeds.isolated():
        seeds.restore(saved["generators"])
        snapshot = Snapshot(parts.model)
        snapshot.take()
        step = partial(loss_of, partial(parts.method.step, task))
        return investigate(Failure(saved["what"], *known), parts.model, snapshot, step)


def _load(parts: Parts, saved: dict[str, Tensor], place: Path) -> None:
    """Give the model the weights and buffers of then, those that no state_dict has included."""
    model = parts.model
    try:
        names = model.state_dict().keys()
        model.load_state_dict({name: saved[name] for name in names if name in saved})
        with no_grad():
            for name, buffer in model.named_buffers():
                if name not in names and name in saved:
                    buffer.copy_(saved[name])
    except RuntimeError as error:
        raise TrainError(f"{place} does not fit the model of its config: {error}") from error
