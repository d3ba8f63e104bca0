"""Training from config files: ``tinynet.train.run("configs/digits_mlp.toml")``.

`fit` is the loop, for programs of one's own; `run` is everything around it.
"""

from tinynet.train.bind import Component as Component
from tinynet.train.checkpoint import CheckpointError as CheckpointError
from tinynet.train.config import Config as Config
from tinynet.train.drift import ChangedWarning as ChangedWarning
from tinynet.train.generation import generate as generate
from tinynet.train.generation import generate_text as generate_text
from tinynet.train.loop import Step as Step
from tinynet.train.loop import evaluate as evaluate
from tinynet.train.loop import fit as fit
from tinynet.train.method import Batch as Batch
from tinynet.train.method import Method as Method
from tinynet.train.method import NonFiniteError as NonFiniteError
from tinynet.train.method import Task as Task
from tinynet.train.method import Updater as Updater
from tinynet.train.problems import ConfigError as ConfigError
from tinynet.train.problems import Origin as Origin
from tinynet.train.problems import Problem as Problem
from tinynet.train.problems import TrainError as TrainError
from tinynet.train.problems import UsageError as UsageError
from tinynet.train.resolve import load_config as load_config
from tinynet.train.resolved import to_toml as to_toml
from tinynet.train.resuming import resume as resume
from tinynet.train.runner import evaluate_run as evaluate_run
from tinynet.train.runner import load_run as load_run
from tinynet.train.runner import run as run
from tinynet.train.storage import StorageWarning as StorageWarning
from tinynet.train.training import Result as Result
