"""Training from config files: ``tinynet.train.run("configs/digits_mlp.toml")``.

`fit` is the training loop, for custom programs: ``fit(...).run()`` trains, ``for step in fit(...)``
too, with your code between the steps. `run` trains from a config.
"""

from tinynet.train.build.method import Batch as Batch
from tinynet.train.build.method import Method as Method
from tinynet.train.build.task import Task as Task
from tinynet.train.build.task import Updater as Updater
from tinynet.train.callbacks.callback import Callback as Callback
from tinynet.train.callbacks.callback import Moment as Moment
from tinynet.train.callbacks.events import Callbacks as Callbacks
from tinynet.train.checkpoint.drift import ChangedWarning as ChangedWarning
from tinynet.train.checkpoint.files import CheckpointError as CheckpointError
from tinynet.train.checkpoint.run_folder import latest_run as latest_run
from tinynet.train.checkpoint.storage import StorageWarning as StorageWarning
from tinynet.train.config.problems import ConfigError as ConfigError
from tinynet.train.config.problems import Origin as Origin
from tinynet.train.config.problems import Problem as Problem
from tinynet.train.config.problems import TrainError as TrainError
from tinynet.train.config.problems import UsageError as UsageError
from tinynet.train.config.rendering import to_toml as to_toml
from tinynet.train.config.resolve import load_config as load_config
from tinynet.train.config.sections import Config as Config
from tinynet.train.config.signatures import Component as Component
from tinynet.train.finders.batch_size import BatchSizeSearch as BatchSizeSearch
from tinynet.train.finders.batch_size import find_batch_size as find_batch_size
from tinynet.train.finders.learning_rate import RangeTest as RangeTest
from tinynet.train.finders.learning_rate import find_lr as find_lr
from tinynet.train.incidents.nonfinite import NonFiniteError as NonFiniteError
from tinynet.train.report.generation import generate as generate
from tinynet.train.report.generation import generate_text as generate_text
from tinynet.train.running.loop import Step as Step
from tinynet.train.running.loop import Steps as Steps
from tinynet.train.running.loop import evaluate as evaluate
from tinynet.train.running.loop import fit as fit
from tinynet.train.running.result import Result as Result
from tinynet.train.running.resuming import resume as resume
from tinynet.train.running.runner import evaluate_run as evaluate_run
from tinynet.train.running.runner import load_run as load_run
from tinynet.train.running.runner import run as run
from tinynet.train.trackers.callback import Track as Track
from tinynet.train.trackers.tracker import Tracker as Tracker
from tinynet.train.trackers.tracker import TrackerWarning as TrackerWarning
