"""Experiment trackers: where a run's figures go besides TensorBoard, named by ``run.trackers``."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.train.trackers.mlflow import MLflow as MLflow
    from tinynet.train.trackers.tracking import Point as Point
    from tinynet.train.trackers.tracking import TrackedRun as TrackedRun
    from tinynet.train.trackers.tracking import Tracker as Tracker
    from tinynet.train.trackers.wandb import Wandb as Wandb
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
