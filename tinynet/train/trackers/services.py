"""MLflow and Weights & Biases. Only this module imports mlflow and wandb, when a run begins."""

from __future__ import annotations

import logging
import math
import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from tinynet.train.metrics.criterion import EPOCHS
from tinynet.train.trackers.tracking import Point, TrackedRun, Tracker, flattened, require

_STATUS = {"finished": "FINISHED", "failed": "FAILED", "interrupted": "KILLED"}
_KEY, _VALUE, _TAG, _METRICS, _PARAMS = 250, 6000, 8000, 1000, 100  # the limits of MLflow
_MISSING = "RESOURCE_DOES_NOT_EXIST"


class MLflow(Tracker):
    """Runs in MLflow: in a local database, or on a server.

    The config becomes parameters, figures become metrics with steps, and the config file, the best
    weights and the report become artifacts. A sweep or search is an experiment of its own. A
    resumed run continues the same MLflow run. MLflow's telemetry is switched off
    (``MLFLOW_DISABLE_TELEMETRY``).

    Args:
        folder: the folder of the database and the artifacts; defaults to ``mlflow`` in `run.out`.
        uri: the address of a server, or of another store, instead of a folder.
        experiment: the name of the experiment; defaults to `run.name`, and for a sweep or search to
            ``NAME/FOLDER``.
        artifacts: whether to store files, too.

    Raises:
        ModuleNotFoundError: if mlflow is not installed.
        ValueError: if both a folder and a uri are given.

    Example:
        >>> MLflow(folder="a", uri="http://localhost:5000")
        Traceback (most recent call last):
        ValueError: 'uri' and a folder exclude each other. Got 'http://localhost:5000' and 'a'.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        uri: str = "",
        experiment: str = "",
        artifacts: bool = True,
    ) -> None:
        if folder is not None and uri:
            raise ValueError(f"'uri' and a folder exclude each other. Got {uri!r} and {folder!r}.")
        require("mlflow", "mlflow", *(() if uri else ("sqlalchemy", "alembic")))
        self._folder = folder
        self._uri = uri
        self._experiment = experiment
        self._artifacts = artifacts
        self._client: Any = None
        self._id = ""
        self._logged: set[tuple[str, int, str]] = set()

    def begin(self, run: TrackedRun) -> str:
        """Create the run, or continue the run ``run.id``; log the config."""
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        import mlflow

        for name in ("mlflow", "alembic"):  # each table of a new database is a line
            logging.getLogger(name).setLevel(logging.WARNING)
        folder = Path(self._folder or run.out / "mlflow").absolute()
        if not self._uri:
            folder.mkdir(parents=True, exist_ok=True)
        uri = self._uri or f"sqlite:///{folder.as_posix()}/mlflow.db"
        self._client = mlflow.MlflowClient(tracking_uri=uri, registry_uri=uri)
        place = None if self._uri else f"{folder.as_uri()}/artifacts"
        found = self._find(self._id or run.id)
        if found is None:
            experiment = self._experiment or "/".join(filter(None, [run.experiment, run.group]))
            found = self._client.create_run(
                self._experiment_id(experiment or "Default", place), run_name=run.name
            )
        self._id = found.info.run_id
        self._client.update_run(self._id, status="RUNNING")
        self._describe(run, found.data.params)
        if run.id == self._id:
            self._logged = {*self._points_from(run.first_step, found.data.metrics)}
        return self._id

    def _find(self, identity: str) -> Any:
        """Return a run of this store; None if it is not there, or was deleted."""
        import mlflow

        if not identity:
            return None
        try:
            found = self._client.get_run(identity)
        except mlflow.MlflowException as error:
            if error.error_code != _MISSING:
                raise
            return None
        return found if found.info.lifecycle_stage == "active" else None

    def _experiment_id(self, name: str, place: str | None) -> str:
        import mlflow

        found = self._client.get_experiment_by_name(name)
        if found is None:
            try:
                return str(self._client.create_experiment(name, artifact_location=place))
            except mlflow.MlflowException:  # another run of the group was faster
                found = self._client.get_experiment_by_name(name)
                if found is None:
                    raise
        if found.lifecycle_stage == "deleted":
            self._client.restore_experiment(found.experiment_id)
        return str(found.experiment_id)

    def _describe(self, run: TrackedRun, logged: Mapping[str, str]) -> None:
        """Log the config as parameters, which cannot change later; changed values become tags."""
        from mlflow.entities import Param, RunTag

        values = {_key(key): text[:_VALUE] for key, text in flattened(run.config)}
        tags = {f"tinynet.{key.removeprefix('tinynet.')}": text for key, text in run.about.items()}
        if "git.commit" in run.about:
            tags["mlflow.source.git.commit"] = run.about["git.commit"]
        changed = {key: text for key, text in values.items() if logged.get(key, text) != text}
        tags |= {f"changed.{key}"[:_KEY]: f"{logged[key]} -> {changed[key]}" for key in changed}
        new = [Param(key, text) for key, text in values.items() if key not in logged]
        for start in range(0, max(len(new), 1), _PARAMS):
            self._client.log_batch(self._id, params=new[start : start + _PARAMS])
        listed = [RunTag(key, text[:_TAG]) for key, text in tags.items()]
        for start in range(0, len(listed), _PARAMS):
            self._client.log_batch(self._id, tags=listed[start : start + _PARAMS])

    def _points_from(self, step: int, names: Mapping[str, float]) -> Iterator[Any]:
        """Yield the stored points that a resumed run may measure again."""
        for name in names:
            for metric in self._client.get_metric_history(self._id, name):
                if metric.step >= step or name.startswith("epoch/"):
                    yield name, metric.step, _stored(metric.value)

    def log(self, points: Sequence[Point]) -> None:
        """Store figures, except those that were stored before the run was resumed."""
        from mlflow.entities import Metric

        metrics = [
            Metric(_key(name), float(value), int(point.time * 1000), point.x(name))
            for point in points
            for name, value in point.figures.items()
            if (_key(name), point.x(name), _stored(float(value))) not in self._logged
        ]
        for start in range(0, len(metrics), _METRICS):
            self._client.log_batch(self._id, metrics=metrics[start : start + _METRICS])

    def end(self, status: str, files: Sequence[Path]) -> None:
        """Store the files and the status."""
        for path in files if self._artifacts else ():
            self._client.log_artifact(self._id, str(path))
        self._client.set_terminated(self._id, _STATUS[status])


def _key(name: str) -> str:
    """Return a name that MLflow accepts.

    Example:
        >>> _key("optimizer.layer_lr.features.*"), _key("train/loss"), len(_key("a" * 300))
        ('optimizer.layer_lr.features._', 'train/loss', 250)
    """
    return re.sub(r"[^/\w.\- ]", "_", name)[:_KEY]


def _stored(value: float) -> str:
    """Return the text of a value in MLflow, which has no infinity."""
    return repr(math.copysign(sys.float_info.max, value) if math.isinf(value) else value)


# ---- Weights & Biases ---------------------------------------------------------------------------

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
