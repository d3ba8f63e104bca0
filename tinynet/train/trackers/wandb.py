"""Weights & Biases. Only this module imports wandb, when a run begins."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tinynet.train.metrics.criterion import EPOCHS
from tinynet.train.trackers.tracking import Point, TrackedRun, Tracker, require

_PATIENCE = 30.0  # seconds for W&B to answer; it would wait longer, even at the end of a program
_TOKEN = "WANDB_IDENTITY_TOKEN_FILE"  # instead of a key
_EXIT_CODES = {"finished": 0, "failed": 1, "interrupted": 130}


class Wandb(Tracker):
    """Runs for Weights & Biases, by default offline: ``wandb sync`` sends them.

    The config becomes the run's config; figures are logged by step, or by epoch.
    The config file, the best weights and the report become files of the run. The runs of a sweep
    or search are a group. A resumed run has the same id. Reports of errors and usage to W&B, system
    metrics and the capture of the terminal are switched off.

    Args:
        folder: where the folder ``wandb`` with the runs is; defaults to `run.out`.
        project: the project; defaults to `run.name`, and for a sweep or search to the name of its
            config.
        mode: ``"online"`` sends everything at once; this needs ``wandb login``.
        entity: the user or team that owns the project.
        tags: tags of the run.
        artifacts: whether to store files, too.

    Raises:
        ModuleNotFoundError: if wandb is not installed.
        ValueError: if W&B does not accept the project's name, or the mode is unknown.

    Example:
        >>> Wandb(mode="sometimes")
        Traceback (most recent call last):
        ValueError: 'mode' must be 'offline' or 'online'. Got 'sometimes' instead.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        project: str = "",
        mode: Literal["offline", "online"] = "offline",
        entity: str = "",
        tags: Sequence[str] = (),
        artifacts: bool = True,
    ) -> None:
        if mode not in ("offline", "online"):
            raise ValueError(f"'mode' must be 'offline' or 'online'. Got {mode!r} instead.")
        if project and project != _project(project):
            text = "must have at most 128 characters, and none of /\\#?%:"
            raise ValueError(f"'project' {text}. Got {project!r} instead.")
        require("wandb", "wandb")
        self._folder = folder
        self._mode = mode
        self._names = {"project": project, "entity": entity}
        self._tags = tuple(tags)
        self._artifacts = artifacts
        self._run: Any = None
        self._step = -1

    def begin(self, run: TrackedRun) -> str:
        """Open the run, with the id of the run that it continues, or a new one."""
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        import wandb

        if self._run is not None:
            return str(self._run.id)
        if self._mode == "online" and not (wandb.api.api_key or os.environ.get(_TOKEN)):
            raise PermissionError("there is no API key: run `wandb login`, or set WANDB_API_KEY")
        folder = Path(self._folder or run.out).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        self._run = wandb.init(
            mode=self._mode,
            dir=str(folder),
            id=run.id or uuid.uuid4().hex[:8],
            resume="allow",
            project=self._names["project"] or _project(run.experiment),
            entity=self._names["entity"] or None,
            name=run.name,
            group=run.group or None,
            tags=self._tags,
            config={**run.config, "tinynet": dict(run.about)},
            allow_val_change=True,
            reinit="create_new",
            settings=wandb.Settings(
                silent=True,
                console="off",
                disable_code=True,
                disable_git=True,
                disable_job_creation=True,
                init_timeout=_PATIENCE,
                x_disable_machine_info=True,
                x_disable_meta=True,
                x_disable_stats=True,
                x_save_requirements=False,
            ),
        )
        self._run.define_metric(f"{EPOCHS}*", step_metric="epoch")
        self._step = self._run.step  # of a resumed run; its earlier steps cannot be logged again
        return str(self._run.id)

    def log(self, points: Sequence[Point]) -> None:
        """Log figures, except of steps before the last one, which W&B would refuse."""
        for point in points:
            if point.step >= self._step:
                self._run.log({**point.figures, "epoch": point.epoch}, step=point.step)
                self._step = point.step

    def end(self, status: str, files: Sequence[Path]) -> None:
        """Copy the files into the run, and close it."""
        for path in files if self._artifacts else ():
            shutil.copy(path, self._run.dir)
        self._run.finish(exit_code=_EXIT_CODES[status])


def _project(name: str) -> str:
    """Return a name that W&B accepts for a project.

    Example:
        >>> _project("digits/mlp: 50%"), _project("")
        ('digits-mlp- 50-', 'tinynet')
    """
    kept = ("-" if character in "/\\#?%:" else character for character in name[:128])
    return "".join(kept) or "tinynet"
