"""Experiment trackers: where a run's figures go besides TensorBoard, named by ``run.trackers``."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.train.trackers.services import MLflow as MLflow
    from tinynet.train.trackers.services import Wandb as Wandb
    from tinynet.train.trackers.tracking import Point as Point
    from tinynet.train.trackers.tracking import TrackedRun as TrackedRun
    from tinynet.train.trackers.tracking import Tracker as Tracker
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
