"""The repetition of a step that produced NaN, from the stored post-mortem."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.train.assemble.build import Parts, build
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.base.run_folder import RunFolder, read_record
from tinynet.train.config.resolve import load_config
from tinynet.train.config.sources import stand_ins
from tinynet.train.diagnose.explanation import post_mortems
from tinynet.train.incidents.guard import loss_of
from tinynet.train.incidents.post_mortem import REPORT, STATE, Failure, PostMortem, investigate
from tinynet.train.incidents.snapshot import Snapshot
from tinynet.train.step import seeds
from tinynet.train.step.task import Place, Task


def replayed(path: Path) -> str:
    """Repeat a step with the current code, and report what produces the NaN now.

    Args:
        path: a run folder, for its last failed step; or the folder of a post-mortem.

    Raises:
        TrainError: if it has no post-mortem, or one that does not fit the config of the run.
    """
    place = (
        path if (path / REPORT).is_file() else next(iter(post_mortems(RunFolder(path))[::-1]), None)
    )
    if place is None:
        raise UsageError(f"{path} has no stored step that produced NaN or infinity")
    report = replay(place).report
    if not report.suspects:
        return f"{report.headline}: this no longer happens. {report.note}"
    return "\n".join([f"{report.headline}; repeated just now:", *report.lines()])


def replay(place: Path) -> PostMortem:
    """Repeat the step of a post-mortem, with the model and the loss of its run's config.

    Args:
        place: the folder of the post-mortem, inside the run folder.

    Raises:
        TrainError: as for `replayed`.
    """
    saved = read_checkpoint(place / STATE)
    folder = RunFolder(place.parent.parent)
    copies = stand_ins(folder, read_record(folder))  # not for changed files, which may have the fix
    parts = build(load_config(folder.config, stand_ins=copies))
    _load(parts, saved["model"], place)
    parts.model.train()
    where = Place(*saved["place"])
    batches = saved["batches"]
    failure = Failure(
        saved["what"],
        tuple(saved["place"]),
        saved["loss"],
        batches,
        saved["indices"],
        parts.train_set,
    )
    task = Task(parts.model, parts.loss, parts.updaters, batches, where, dry=True)
    with seeds.isolated():
        seeds.set_states(saved["generators"])
        snapshot = Snapshot(parts.model)
        snapshot.take()
        step = partial(loss_of, partial(parts.method.step, task))
        return investigate(failure, parts.model, snapshot, step)


def _load(parts: Parts, saved: dict[str, Tensor], place: Path) -> None:
    """Load the weights and all buffers, including those that are not in the state_dict."""
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
