"""Optimizers that take their steps by PyTorch's functions of lists."""

from __future__ import annotations

from importlib import import_module

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)

ADAM = {
    "amsgrad": False, "beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "eps": 1e-8,
    "maximize": False,
}  # fmt: skip
OPTIONS = {
    "adadelta": {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.0, "maximize": True},
    "adagrad": {"lr": 0.1, "weight_decay": 0.1, "lr_decay": 0.1, "eps": 1e-10, "maximize": False},
    "adam": ADAM,
    "adamw": ADAM,
    "adamax": {"eps": 1e-8, "beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.0},
    "asgd": {"lambd": 1e-4, "lr": 0.1, "t0": 1e6, "alpha": 0.75, "weight_decay": 0.1},
    "nadam": {
        "beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.0, "momentum_decay": 0.004,
        "eps": 1e-8,
    },
    "radam": {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.1, "eps": 1e-8},
    "rmsprop": {
        "lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0.0, "momentum": 0.5,
        "centered": True,
    },
    "rprop": {"step_size_min": 1e-6, "step_size_max": 50.0, "etaminus": 0.5, "etaplus": 1.2},
    "sgd": {
        "weight_decay": 0.1, "momentum": 0.9, "lr": 0.1, "dampening": 0.1, "nesterov": False,
        "maximize": False,
    },
}  # fmt: skip
ENTRIES = {"adagrad": 1, "adam": 3, "adamw": 3, "rmsprop": 3}  # of the others: 2


def function_of(T, name):
    """Return the function of an optimizer; that of AdamW has a module of its own in PyTorch."""
    file = "adam" if name == "adamw" and T.__name__ != "torch" else name
    return getattr(import_module(f"{T.__name__}.optim.{file}"), name)


def three_steps(T, name, state, **options):
    """Return parameters and state after three steps."""
    params = [T.ones(2, requires_grad=True), T.linspace(-1, 1, 3).requires_grad_()]
    step = function_of(T, name)
    with T.no_grad():
        for scale in (1.0, -0.5, 2.0):
            step(params, [T.full_like(p, scale) * p.cos() for p in params], *state, **options)
    return params


def per_parameter(T, value):
    return [T.full((2,), value), T.full((3,), value)]


def steps_of(name):
    """Return a program that takes steps of an optimizer whose state begins with zeros."""

    def run(T):
        state = [per_parameter(T, 0.0) for _ in range(ENTRIES.get(name, 2))]
        steps = [T.tensor(0.0), T.tensor(0.0)]
        params = three_steps(T, name, [*state, steps], **OPTIONS[name])
        return {"params": params, "state": state, "steps": steps}

    return run


for _name in OPTIONS:
    if _name not in ("asgd", "nadam", "rprop", "sgd"):
        program.add(f"steps_of_{_name}", steps_of(_name))


@program
def steps_of_asgd(T):
    averages, steps = per_parameter(T, 0.0), [T.tensor(0.0), T.tensor(0.0)]
    mus, etas = [T.tensor(1.0), T.tensor(1.0)], [T.tensor(0.1), T.tensor(0.1)]
    params = three_steps(T, "asgd", [averages, mus, etas, steps], **OPTIONS["asgd"])
    return locals()


@program
def steps_of_nadam(T):
    state, steps = [per_parameter(T, 0.0) for _ in range(2)], [T.tensor(0.0), T.tensor(0.0)]
    products = [T.tensor(1.0), T.tensor(1.0)]
    params = three_steps(T, "nadam", [*state, products, steps], **OPTIONS["nadam"])
    return locals()


@program
def steps_of_rprop(T):
    state, steps = [per_parameter(T, 0.0), per_parameter(T, 0.1)], [T.tensor(0.0), T.tensor(0.0)]
    params = three_steps(T, "rprop", [*state, steps], **OPTIONS["rprop"])
    return locals()


@program
def steps_of_sgd_create_its_buffers(T):
    buffers = [None, None]
    params = three_steps(T, "sgd", [buffers], **OPTIONS["sgd"])
    plain = three_steps(T, "sgd", [[None, None]], **{**OPTIONS["sgd"], "momentum": 0.0})
    return locals()


@program
def the_step_counts_are_tensors(T):
    lists = [per_parameter(T, 1.0)[:1] for _ in range(5)]
    return {"found": attempt(lambda: function_of(T, "adam")(*lists, [1], **ADAM))}


LISTS = {
    "SGD": 1, "Adam": 4, "RMSprop": 4, "Adagrad": 2, "Adadelta": 3, "Adamax": 3, "NAdam": 4,
    "RAdam": 3, "Rprop": 3, "ASGD": 4,
}  # fmt: skip


def lists_of(name):
    """Return a program that fills the lists of an optimizer's step, as its subclasses do."""

    def run(T):
        p, unused = T.nn.Parameter(T.linspace(-1, 1, 3)), T.nn.Parameter(T.ones(2))
        optimizer = getattr(T.optim, name)([p, unused], lr=0.1)
        (p * p).sum().backward()
        optimizer.step()
        lists = [[] for _ in range(2 + LISTS[name])]
        sparse = optimizer._init_group(optimizer.param_groups[0], *lists)
        return {"lists": [[x.detach() for x in one] for one in lists], "sparse": bool(sparse)}

    return run


for _name in LISTS:
    program.add(f"lists_of_{_name}", lists_of(_name))
