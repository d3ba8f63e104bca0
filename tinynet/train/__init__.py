"""Training from config files: ``tinynet.train.run("configs/digits_mlp.toml")``.

`fit` is the training loop, for custom programs: ``fit(...).run()`` trains, ``for step in fit(...)``
too, with your code between the steps. `run` trains from a config.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach
from tinynet.train.run.runner import run as run

if TYPE_CHECKING:
    from tinynet.train import commands as commands
    from tinynet.train.base.checkpoint_file import CheckpointError as CheckpointError
    from tinynet.train.base.problems import ConfigError as ConfigError
    from tinynet.train.base.problems import Origin as Origin
    from tinynet.train.base.problems import Problem as Problem
    from tinynet.train.base.problems import TrainError as TrainError
    from tinynet.train.base.problems import UsageError as UsageError
    from tinynet.train.base.run_folder import latest_run as latest_run
    from tinynet.train.config.reference import to_toml as to_toml
    from tinynet.train.config.resolve import load_config as load_config
    from tinynet.train.config.sections import Config as Config
    from tinynet.train.config.signatures import Component as Component
    from tinynet.train.diagnose.changes import ChangedWarning as ChangedWarning
    from tinynet.train.loop.callback import Callback as Callback
    from tinynet.train.loop.callback import Callbacks as Callbacks
    from tinynet.train.loop.callback import Moment as Moment
    from tinynet.train.loop.fit import Step as Step
    from tinynet.train.loop.fit import Steps as Steps
    from tinynet.train.loop.fit import evaluate as evaluate
    from tinynet.train.loop.fit import fit as fit
    from tinynet.train.outputs import generate as generate
    from tinynet.train.outputs import generate_text as generate_text
    from tinynet.train.run.measures import Result as Result
    from tinynet.train.run.resuming import resume as resume
    from tinynet.train.run.runner import evaluate_run as evaluate_run
    from tinynet.train.run.runner import load_run as load_run
    from tinynet.train.step.method import Batch as Batch
    from tinynet.train.step.method import Method as Method
    from tinynet.train.step.task import NonFiniteError as NonFiniteError
    from tinynet.train.step.task import Task as Task
    from tinynet.train.step.task import Updater as Updater
    from tinynet.train.store.storage import StorageWarning as StorageWarning
    from tinynet.train.study.batch_size import BatchSizeSearch as BatchSizeSearch
    from tinynet.train.study.batch_size import find_batch_size as find_batch_size
    from tinynet.train.study.learning_rate import RangeTest as RangeTest
    from tinynet.train.study.learning_rate import find_lr as find_lr
    from tinynet.train.trackers.tracking import Track as Track
    from tinynet.train.trackers.tracking import Tracker as Tracker
    from tinynet.train.trackers.tracking import TrackerWarning as TrackerWarning
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
