"""Runs of optimizers and schedules that give the same numbers in PyTorch and tinynet."""

import warnings

import numpy as np

from tests.tools.recorded import describe
from tests.tools.recorded.layers import signature
from tinynet.optim import lr_scheduler

from .algorithms import ALGORITHMS, RUN

STEPS = 20
SHAPES = [(3, 2), (4,), (), (2, 1, 2)]


def _label(name, options, grouped):
    shown = " ".join(f"{k}={v}" for k, v in options.items())
    return f"{name} {shown}{' grouped' if grouped else ''}"


RUNS = {
    _label(name, options, grouped): (name, options, grouped)
    for name, row in RUN.items()
    for options in row.runs
    for grouped in (False, True)
}


def _sequential(lib, made):
    kinds = lib.optim.lr_scheduler
    parts = [kinds.LinearLR(made, 0.1, total_iters=4), kinds.CosineAnnealingLR(made, 8),
             kinds.ExponentialLR(made, 0.8)]  # fmt: skip
    return kinds.SequentialLR(made, parts, [4, 10])


def _chained(lib, made):
    kinds = lib.optim.lr_scheduler
    return kinds.ChainedScheduler(
        [kinds.ConstantLR(made, 0.1, 3), kinds.ExponentialLR(made, 0.9), kinds.StepLR(made, 5)]
    )


def _nested(lib, made):
    kinds = lib.optim.lr_scheduler
    inner = kinds.SequentialLR(
        made, [kinds.ConstantLR(made, 0.5, 2), kinds.StepLR(made, 2, 0.7)], [3]
    )
    return kinds.SequentialLR(made, [inner, kinds.CosineAnnealingLR(made, 9)], [6])


def _swa(lib, made, *args, **kwargs):
    return lib.optim.swa_utils.SWALR(made, *args, **kwargs)


SCHEDULES = {
    "StepLR 3": ("StepLR", (3,), {}),
    "StepLR 1 0.5": ("StepLR", (1, 0.5), {}),
    "MultiStepLR": ("MultiStepLR", ([2, 4, 4, 9],), {"gamma": 0.3}),
    "ExponentialLR": ("ExponentialLR", (0.9,), {}),
    "LambdaLR": ("LambdaLR", (lambda epoch: 0.95**epoch,), {}),
    "LambdaLR per group": ("LambdaLR", ([lambda e: 1 / (1 + e), lambda e: 1 - e / 40],), {}),
    "LinearLR": ("LinearLR", (), {}),
    "LinearLR down": ("LinearLR", (0.5, 0.1, 7), {}),
    "ConstantLR": ("ConstantLR", (), {}),
    "ConstantLR 0.2": ("ConstantLR", (0.2, 3), {}),
    "CosineAnnealingLR": ("CosineAnnealingLR", (6,), {"eta_min": 1e-3}),
    "CosineAnnealingLR long": ("CosineAnnealingLR", (50,), {}),
    "PolynomialLR": ("PolynomialLR", (), {}),
    "PolynomialLR 2": ("PolynomialLR", (12, 2.0), {}),
    "MultiplicativeLR": ("MultiplicativeLR", (lambda epoch: 1 - 1 / (2 + epoch),), {}),
    "MultiplicativeLR per group": (
        "MultiplicativeLR",
        ([lambda e: 0.9, lambda e: 1 + 0.01 * e],),
        {},
    ),
    "CosineAnnealingWarmRestarts": ("CosineAnnealingWarmRestarts", (4,), {}),
    "CosineAnnealingWarmRestarts 2": (
        "CosineAnnealingWarmRestarts",
        (3,),
        {"T_mult": 2, "eta_min": 1e-3},
    ),
    "CyclicLR": ("CyclicLR", (0.01, 0.1), {"step_size_up": 4}),
    "CyclicLR 2": ("CyclicLR", ([0.01, 0.02], [0.1, 0.3], 2, 3, "triangular2"), {}),
    "CyclicLR range": (
        "CyclicLR",
        (0.01, 0.1, 3),
        {"mode": "exp_range", "gamma": 0.9, "base_momentum": 0.5, "max_momentum": 0.95},
    ),
    "CyclicLR function": (
        "CyclicLR",
        (0.01, 0.1, 3),
        {"scale_fn": lambda x: 1 / (1 + x), "scale_mode": "iterations", "cycle_momentum": False},
    ),
    "OneCycleLR": ("OneCycleLR", (0.1,), {"total_steps": 25}),
    "OneCycleLR linear": (
        "OneCycleLR",
        ([0.1, 0.3],),
        {"epochs": 5, "steps_per_epoch": 4, "anneal_strategy": "linear", "div_factor": 10.0},
    ),
    "OneCycleLR three": (
        "OneCycleLR",
        (0.1, 21),
        {"three_phase": True, "pct_start": 0.4, "final_div_factor": 10.0},
    ),
    "OneCycleLR plain": ("OneCycleLR", (0.1, 30), {"cycle_momentum": False}),
    "SequentialLR": (_sequential, (), {}),
    "SequentialLR nested": (_nested, (), {}),
    "ChainedScheduler": (_chained, (), {}),
    "SWALR": (_swa, (0.2, 5), {}),
    "SWALR linear": (_swa, ([0.2, 0.01],), {"anneal_strategy": "linear", "anneal_epochs": 3}),
    "SWALR at once": (_swa, (0.2,), {"anneal_epochs": 0}),
}
SCHEDULER_CLASSES = [
    name
    for name, value in vars(lr_scheduler).items()
    if isinstance(value, type) and name != "_LRScheduler"
]
JUMPING = [
    label
    for label in SCHEDULES
    if not label.startswith(("Sequential", "Chained", "Multiplicative", "SWALR"))
]
WITH_TENSORS = [
    label
    for label, (name, *_) in SCHEDULES.items()
    if isinstance(name, str)
    and not label.endswith(("per group", "CyclicLR 2", "OneCycleLR linear"))
]
PLATEAU = {
    "default": {"patience": 2},
    "max": {"mode": "max", "patience": 1, "factor": 0.5},
    "abs": {"threshold": 0.1, "threshold_mode": "abs", "patience": 1, "cooldown": 2},
    "max abs": {"mode": "max", "threshold": 0.1, "threshold_mode": "abs", "patience": 0},
    "least": {"patience": 0, "min_lr": [0.01, 0.02], "eps": 1e-3},
}


def parameters(lib, dtype):
    random = np.random.RandomState(0)
    made = [lib.tensor(np.array(random.standard_normal(s), dtype=dtype)) for s in SHAPES]
    return [p.requires_grad_() for p in made]


def optimizer(lib, name, options, grouped, dtype="float64"):
    """Return an optimizer, its parameters, and another one that never gets a gradient."""
    params = parameters(lib, dtype)
    idle = lib.tensor(np.ones(2, dtype)).requires_grad_()
    groups = [*params, idle]
    if grouped:
        groups = [
            {"params": params[:2]},
            {"params": [*params[2:], idle], "lr": 0.03, "weight_decay": 0.2},
        ]
    return getattr(lib.optim, name)(groups, lr=0.05, **options), params, idle


def loss_of(params, step):
    """Return a bumpy loss; in every fifth step it ignores the first parameter."""
    if step % 5 == 4:
        return sum((p * p).sum() for p in params[1:])
    return sum(((p.sin() * (i + 1)) * p + p * 0.1 * step).sum() for i, p in enumerate(params))


def descend(lib, made, params, steps, schedule=None):
    """Take the steps; halve the first group's learning rate after ten."""
    rates = []
    for step in steps:
        made.zero_grad(set_to_none=step % 3 != 0)
        loss_of(params, step).backward()
        made.step()
        if schedule is not None:
            momenta = [float(group["momentum"]) for group in made.param_groups]
            rates.append([float(lr) for lr in schedule.get_last_lr()] + momenta)
            schedule.step()
        elif step == 10:
            made.param_groups[0]["lr"] *= 0.5
    return rates


def final_parameters(lib, label, dtype="float64"):
    made, params, idle = optimizer(lib, *RUNS[label], dtype)
    descend(lib, made, params, range(STEPS))
    return [p.detach().numpy().tolist() for p in [*params, idle]]


def rates_of(lib, label):
    made, params, schedule, _ = scheduled(lib, label)
    return descend(lib, made, params, range(STEPS), schedule)


def schedule_of(lib, label, made):
    name, args, kwargs = SCHEDULES[label]
    if isinstance(name, str):
        return getattr(lib.optim.lr_scheduler, name)(made, *args, **kwargs)
    return name(lib, made, *args, **kwargs)


def scheduled(lib, label):
    """Return an optimizer with two groups, its parameters, a schedule, and the idle parameter."""
    made, params, idle = optimizer(lib, "SGD", {"momentum": 0.9}, True)
    return made, params, schedule_of(lib, label, made), idle


def schedule_states(lib, label):
    """Return the state of a schedule after some steps."""
    made, params, schedule, _ = scheduled(lib, label)
    descend(lib, made, params, range(7), schedule)
    return plain(schedule.state_dict())


def jumps(lib, label):
    """Return the learning rates after jumps to given epochs."""
    made, params, schedule, _ = scheduled(lib, label)
    descend(lib, made, params, range(1), schedule)
    rates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated
        for epoch in (3, 4, 11, 2):
            schedule.step(epoch)
            rates.append([float(lr) for lr in schedule.get_last_lr()])
    return rates


def beta_rates(lib, label):
    """Return learning rates that are tensors, and Adam's betas, under a schedule."""
    name, args, kwargs = SCHEDULES[label]
    params = parameters(lib, "float64")
    rate = lib.tensor(0.05, dtype=lib.float64)
    made = lib.optim.Adam(params, lr=rate)
    schedule = getattr(lib.optim.lr_scheduler, name)(made, *args, **kwargs)
    rates = []
    for step in range(8):
        loss_of(params, step).backward()
        made.step()
        rates.append([float(rate), *made.param_groups[0]["betas"]])
        schedule.step()
    assert made.param_groups[0]["lr"] is rate
    return rates


def plateau_rates(lib, label):
    """Return the learning rates while a metric falls, stays and rises, and the final state."""
    made, _, _ = optimizer(lib, "SGD", {}, True)
    schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(made, **PLATEAU[label])
    rates = []
    for metric in (3.0, 2.5, 2.45, 2.45, 2.6, 2.5, 2.0, 1.9999, 2.2, 2.3, 2.3, 2.4, 2.5, 0.5, 0.6):
        schedule.step(metric)
        rates.append([float(lr) for lr in schedule.get_last_lr()])
    return [rates, plain(schedule.state_dict())]


# ---- algorithms that need gradients, parameters or closures of their own ------------------------

MUON = {
    "default": {},
    "plain": {"nesterov": False, "weight_decay": 0.0, "ns_steps": 3},
    "adamw": {"adjust_lr_fn": "match_rms_adamw", "momentum": 0.5, "eps": 0.1},
    "original": {"adjust_lr_fn": "original", "ns_coefficients": (2.0, -1.5, 0.5)},
}
SPARSE = {
    "SGD": ("SGD", {}),
    "SGD maximize": ("SGD", {"maximize": True}),
    "SGD momentum": ("SGD", {"momentum": 0.9}),
    "SGD dampening": ("SGD", {"momentum": 0.9, "dampening": 0.2, "maximize": True}),
    "SGD nesterov": ("SGD", {"momentum": 0.9, "nesterov": True}),
    "Adagrad": ("Adagrad", {}),
    "Adagrad options": (
        "Adagrad",
        {"lr_decay": 0.1, "initial_accumulator_value": 0.2, "eps": 0.1, "maximize": True},
    ),
    "SparseAdam": ("SparseAdam", {}),
    "SparseAdam options": ("SparseAdam", {"betas": (0.5, 0.7), "eps": 0.1, "maximize": True}),
}
LBFGS = {
    f"{search} {options}": {"line_search_fn": search, **options}
    for search in (None, "strong_wolfe")
    for options in ({}, {"max_iter": 4}, {"history_size": 2, "max_iter": 6}, {"max_eval": 1},
                    {"lr": 0.3, "max_iter": 5}, {"tolerance_grad": 0.1}, {"tolerance_change": 0.01})
}  # fmt: skip


def muon_parameters(lib, label, dtype="float64"):
    random = np.random.RandomState(0)
    starts = [random.standard_normal(s) for s in ((3, 2), (2, 5), (4, 4))]
    params = [lib.tensor(s.astype(dtype)).requires_grad_() for s in starts]
    made = lib.optim.Muon(params, lr=0.05, **MUON[label])
    descend(lib, made, params, range(STEPS))
    return [p.detach().numpy().tolist() for p in params]


def sparse_parameters(lib, label):
    """Return the table after 20 steps, and its dense state."""
    name, options = SPARSE[label]
    random = np.random.RandomState(1)
    table = lib.nn.Embedding(6, 3, sparse=True).double()
    with lib.no_grad():
        table.weight.copy_(lib.tensor(random.standard_normal((6, 3))))
    made = getattr(lib.optim, name)(table.parameters(), lr=0.05, **options)
    for step in range(STEPS):
        made.zero_grad()
        rows = table(lib.tensor(random.randint(0, 5, 4)))
        (rows.sin() * lib.tensor(random.standard_normal((4, 3)))).sum().backward()
        assert table.weight.grad.is_sparse
        if step % 4 != 3:
            made.step()
    return [table.weight.detach().numpy().tolist(), plain(made.state_dict()["state"])]


def lbfgs_parameters(lib, label):
    """Return parameters and losses of four steps down a curved valley, and the final state."""
    start = ([-0.7, 0.4, 0.5], [[0.3], [0.7]])
    valley, bowl = (lib.tensor(np.array(s)).requires_grad_() for s in start)
    idle = lib.tensor(np.ones(2)).requires_grad_()
    made = lib.optim.LBFGS([valley, bowl, idle], **LBFGS[label])
    losses = []

    def closure():
        made.zero_grad()
        loss = ((1 - valley[:-1]) ** 2 + 2 * (valley[1:] - valley[:-1] ** 2) ** 2).sum()
        loss = loss + (bowl.sin() * bowl).sum() * (1 + valley[0] * valley[0])
        loss.backward()
        losses.append(loss.item())
        return loss

    returned = [made.step(closure).item() for _ in range(4)]
    numbers = [valley.detach().tolist(), bowl.detach().tolist(), idle.detach().tolist()]
    return [numbers, losses, returned, plain(made.state_dict()["state"])]


def plain(value):
    """Return a state with lists instead of tensors, and strings as keys."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items() if not callable(v)}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "to_dense"):
        return value.to_dense().tolist()
    return value


def signatures(lib):
    """Return the parameters of all constructors and their defaults."""
    classes = [getattr(lib.optim, name) for name in ALGORITHMS]
    classes += [getattr(lib.optim.lr_scheduler, name) for name in SCHEDULER_CLASSES]
    return {kind.__name__: signature(kind) for kind in [*classes, lib.optim.swa_utils.SWALR]}


def error(lib, program):
    """Return the class and the first sentence of the error that a program raises."""
    try:
        program(lib)
    except Exception as raised:
        return "{raises}: {says}".format_map(describe.error(raised))
    return "nothing was raised"


def forms(lib, name):
    """Return the form of an optimizer's state_dict and its repr after three steps."""
    made, params, _ = optimizer(lib, name, RUN[name].full, True)
    lib.optim.lr_scheduler.StepLR(made, 3)
    descend(lib, made, params, range(3))
    saved = made.state_dict()
    return {
        "printed": repr(made),
        "groups": [{k: list(v) if isinstance(v, tuple) else v for k, v in g.items()}
                   for g in saved["param_groups"]],
        "state": {
            str(number): {key: [list(t.shape), str(t.dtype).rpartition(".")[2]]
                          for key, t in held.items()}
            for number, held in saved["state"].items()
        },
    }  # fmt: skip
