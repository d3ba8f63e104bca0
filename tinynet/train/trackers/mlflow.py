"""MLflow. Only this module imports mlflow, when a run begins."""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
