"""The optimizers, one row each, with the options that the common tests use."""

import inspect
import itertools
from typing import NamedTuple

from tinynet import optim

DECAYS = {"weight_decay": (0, 0.1), "maximize": (False, True)}


class Algorithm(NamedTuple):
    """The options that the common tests use for one optimizer.

    Attributes:
        runs: the options of the runs that are compared with PyTorch.
        full: options that use all of the state.
        refused: options that raise an error, by what is wrong with them.
    """

    runs: list
    full: dict
    refused: dict


ALGORITHMS = {}


def algorithm(name, *rows, full=None, refused=None, **choices):
    """Add a row: each of `rows` runs with each combination of `choices` (by default DECAYS)."""
    choices = choices or DECAYS
    runs = [
        {**row, **dict(zip(choices, values, strict=True))}
        for row in rows
        for values in itertools.product(*choices.values())
    ]
    ALGORITHMS[name] = Algorithm(runs, full or {}, {**usual_refusals(name), **(refused or {})})


def usual_refusals(name):
    """Return out-of-range values of the options that most optimizers have."""
    wrong = {
        "lr": {"lr": -0.5},
        "weight_decay": {"weight_decay": -1.0},
        "betas": {"betas": (1.0, 0.9)},
        "beta 1": {"betas": (0.9, -0.1)},
        "fused and foreach": {"fused": True, "foreach": True},
    }
    taken = inspect.signature(getattr(optim, name)).parameters
    return {what: options for what, options in wrong.items() if options.keys() <= taken.keys()}


EPS = {"eps": {"eps": -1.0}}
SGD_ROWS = (
    {"momentum": 0, "dampening": 0, "nesterov": False},
    {"momentum": 0.9, "dampening": 0, "nesterov": False},
    {"momentum": 0.9, "dampening": 0.3, "nesterov": False},
    {"momentum": 0.9, "dampening": 0, "nesterov": True},
)
ADAM_ROWS = ({"betas": (0.9, 0.999)}, {"betas": (0.5, 0.8)})
ADAM_CHOICES = {"weight_decay": (0, 0.1), "amsgrad": (False, True), "maximize": (False, True)}

algorithm(
    "SGD", *SGD_ROWS,
    full={"momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
    refused={
        "momentum": {"momentum": -0.1},
        "nesterov": {"nesterov": True},
        "dampened nesterov": {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
    },
)  # fmt: skip
algorithm(
    "Adam", *ADAM_ROWS, **ADAM_CHOICES,
    full={"amsgrad": True, "weight_decay": 0.1},
    refused={**EPS, "betas of two kinds": {"betas": (0, 0.9)}},
)  # fmt: skip
algorithm("AdamW", *ADAM_ROWS, **ADAM_CHOICES, full={"amsgrad": True}, refused=EPS)
algorithm(
    "Adadelta", {}, {"rho": 0.5, "eps": 0.1},
    full={"weight_decay": 0.1},
    refused={**EPS, "rho": {"rho": 1.5}},
)  # fmt: skip
algorithm(
    "Adagrad", {}, {"lr_decay": 0.1, "initial_accumulator_value": 0.3, "eps": 0.01},
    refused={**EPS, "lr_decay": {"lr_decay": -1.0}, "start": {"initial_accumulator_value": -1.0}},
)  # fmt: skip
algorithm("Adamax", {}, {"betas": (0.5, 0.8), "eps": 0.1}, refused=EPS)
algorithm(
    "ASGD", {}, {"lambd": 0.1, "alpha": 0.5, "t0": 5},
    full={"t0": 1, "maximize": True},
)  # fmt: skip
algorithm(
    "NAdam", {"betas": (0.5, 0.8), "momentum_decay": 0.1}, {"decoupled_weight_decay": True},
    full={"decoupled_weight_decay": True, "weight_decay": 0.1},
    refused={**EPS, "momentum_decay": {"momentum_decay": -1.0}},
)  # fmt: skip
algorithm(
    "RAdam", {"betas": (0.5, 0.8)}, {"decoupled_weight_decay": True},
    full={"betas": (0.5, 0.8)},
    refused=EPS,
)  # fmt: skip
algorithm(
    "RMSprop",
    {}, {"centered": True, "alpha": 0.7}, {"momentum": 0.9}, {"momentum": 0.5, "centered": True},
    full={"momentum": 0.9, "centered": True},
    refused={**EPS, "momentum": {"momentum": -1.0}, "alpha": {"alpha": -1.0}},
)  # fmt: skip
algorithm(
    "Rprop", {}, {"etas": (0.3, 1.5), "step_sizes": (0.01, 0.1)}, maximize=(False, True),
    refused={"etas": {"etas": (1.0, 1.2)}},
)  # fmt: skip
algorithm(
    "Adafactor", {}, {"beta2_decay": -0.5, "eps": (1e-3, 0.1), "d": 4.0},
    refused={
        "beta2_decay": {"beta2_decay": 0.1},
        "eps 0": {"eps": (-1.0, 0.1)},
        "eps 1": {"eps": (None, -0.1)},
        "d": {"d": 0.5},
    },
)  # fmt: skip

# Those that need parameters, gradients or closures of their own: trajectories.py runs them.
algorithm("Muon", refused={"momentum": {"momentum": -1.0}, "adjust_lr_fn": {"adjust_lr_fn": "x"}})
algorithm("LBFGS")
algorithm("SparseAdam", refused={**EPS, "lr 0": {"lr": 0.0}, "eps 0": {"eps": 0.0}})

RUN = {name: row for name, row in ALGORITHMS.items() if row.runs}
ELEMENTWISE = [n for n in RUN if issubclass(getattr(optim, n), optim.base.elementwise.Elementwise)]
