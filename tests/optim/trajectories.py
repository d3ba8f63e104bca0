"""Runs of optimizers and schedules that PyTorch and tinynet do alike: same numbers, same calls."""

import itertools

import numpy as np

STEPS = 20
SHAPES = [(3, 2), (4,), (), (2, 1, 2)]


def _sgd():
    for momentum, dampening, nesterov in (
        (0, 0, False), (0.9, 0, False), (0.9, 0.3, False), (0.9, 0, True),
    ):  # fmt: skip
        for weight_decay, maximize in itertools.product((0, 0.1), (False, True)):
            yield {
                "momentum": momentum,
                "dampening": dampening,
                "nesterov": nesterov,
                "weight_decay": weight_decay,
                "maximize": maximize,
            }


def _adam():
    for betas, weight_decay, amsgrad, maximize in itertools.product(
        ((0.9, 0.999), (0.5, 0.8)), (0, 0.1), (False, True), (False, True)
    ):
        if not (maximize and betas == (0.5, 0.8)):
            yield {
                "betas": betas,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            }


def _variants(*rows, weight_decay=True):
    """Each row, with and without weight decay, up and down."""

    def made():
        for row, decay, maximize in itertools.product(rows, (0, 0.1), (False, True)):
            if weight_decay:
                yield {**row, "weight_decay": decay, "maximize": maximize}
            elif not decay:
                yield {**row, "maximize": maximize}

    return made


OPTIONS = {
    "SGD": _sgd,
    "Adam": _adam,
    "AdamW": _adam,
    "Adadelta": _variants({}, {"rho": 0.5, "eps": 0.1}),
    "Adagrad": _variants({}, {"lr_decay": 0.1, "initial_accumulator_value": 0.3, "eps": 0.01}),
    "Adamax": _variants({}, {"betas": (0.5, 0.8), "eps": 0.1}),
    "ASGD": _variants({}, {"lambd": 0.1, "alpha": 0.5, "t0": 5}),
    "NAdam": _variants(
        {"betas": (0.5, 0.8), "momentum_decay": 0.1}, {"decoupled_weight_decay": True}
    ),
    "RAdam": _variants({"betas": (0.5, 0.8)}, {"decoupled_weight_decay": True}),
    "RMSprop": _variants(
        {}, {"centered": True, "alpha": 0.7}, {"momentum": 0.9}, {"momentum": 0.5, "centered": True}
    ),
    "Rprop": _variants({}, {"etas": (0.3, 1.5), "step_sizes": (0.01, 0.1)}, weight_decay=False),
}
# Options under which all of the state is in use.
FORMS = {
    "SGD": {"momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {"amsgrad": True},
    "RMSprop": {"momentum": 0.9, "centered": True},
    **{n: {} for n in ("Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam", "Rprop")},
}


def _label(name, options, grouped):
    shown = " ".join(f"{k}={v}" for k, v in options.items())
    return f"{name} {shown}{' grouped' if grouped else ''}"


ALGORITHMS = {
    _label(name, options, grouped): (name, options, grouped)
    for name, rows in OPTIONS.items()
    for options in rows()
    for grouped in (False, True)
}
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
}


def parameters(lib, dtype):
    random = np.random.RandomState(0)
    made = [lib.tensor(np.array(random.standard_normal(s), dtype=dtype)) for s in SHAPES]
    return [p.requires_grad_() for p in made]


def optimizer(lib, name, options, grouped, dtype="float64"):
    """The optimizer, its parameters, and one more that never gets a gradient."""
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
    """Something bumpy; in every fifth step the first parameter takes no part."""
    if step % 5 == 4:
        return sum((p * p).sum() for p in params[1:])
    return sum(((p.sin() * (i + 1)) * p + p * 0.1 * step).sum() for i, p in enumerate(params))


def descend(lib, made, params, steps, schedule=None):
    """Does the steps; the learning rate of the first group is halved by hand after ten."""
    rates = []
    for step in steps:
        made.zero_grad(set_to_none=step % 3 != 0)
        loss_of(params, step).backward()
        made.step()
        if schedule is not None:
            rates.append([float(lr) for lr in schedule.get_last_lr()])
            schedule.step()
        elif step == 10:
            made.param_groups[0]["lr"] *= 0.5
    return rates


def final_parameters(lib, label, dtype="float64"):
    made, params, idle = optimizer(lib, *ALGORITHMS[label], dtype)
    descend(lib, made, params, range(STEPS))
    return [p.detach().numpy().tolist() for p in [*params, idle]]


def rates_of(lib, label):
    name, args, kwargs = SCHEDULES[label]
    made, params, _ = optimizer(lib, "SGD", {"momentum": 0.9}, True)
    schedule = getattr(lib.optim.lr_scheduler, name)(made, *args, **kwargs)
    return descend(lib, made, params, range(STEPS), schedule)


def answers(lib):
    """All that is recorded."""
    return {
        "parameters": {label: final_parameters(lib, label) for label in ALGORITHMS},
        "rates": {label: rates_of(lib, label) for label in SCHEDULES},
        "forms": {name: forms(lib, name) for name in FORMS},
    }


def forms(lib, name):
    """What an optimizer's state_dict and printed form look like after three steps."""
    made, params, _ = optimizer(lib, name, FORMS[name], True)
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
