"""Schedules of optimizers whose groups change: added, removed, and states of other numbers."""

import warnings

from .trajectories import JUMPING, PLATEAU, SCHEDULES, schedule_of

EPOCHS = 17
FIXED = ("per group", "CyclicLR 2", "linear", "least")  # have one value for each of two groups


def group_of(lib):
    return {"params": [lib.zeros(1).requires_grad_()], "lr": 0.5}


def groups_of(lib, count):
    return lib.optim.SGD([group_of(lib) for _ in range(count)], lr=0.1, momentum=0.9)


def schedule_for(lib, label, made):
    if label in PLATEAU:
        return lib.optim.lr_scheduler.ReduceLROnPlateau(made, **PLATEAU[label])
    return schedule_of(lib, label, made)


def added(lib, label, schedule):
    schedule.optimizer.add_param_group(group_of(lib))


def removed(lib, label, schedule):
    del schedule.optimizer.param_groups[-1]


def loaded(count):
    def load(lib, label, schedule):
        other = groups_of(lib, count)
        source = schedule_for(lib, label, other)
        advance(label, source, 2)
        schedule.load_state_dict(source.state_dict())

    return load


def jumped(lib, label, schedule):
    added(lib, label, schedule)
    schedule.step(4)


CHANGES = {
    "added": added,
    "removed": removed,
    "fewer": loaded(1),
    "more": loaded(3),
    "jump": jumped,
}
CASES = {
    f"{label}: {change} {epochs}": (label, change, epochs)
    for label in [*SCHEDULES, *PLATEAU]
    for change in CHANGES
    for epochs in (0, 3)
    if (change not in ("fewer", "more") or not label.endswith(FIXED))
    and (change != "jump" or label in JUMPING)
}


def advance(label, schedule, epochs):
    """Return the rates and momenta before each epoch."""
    rates = []
    for _ in range(epochs):
        schedule.optimizer.step()
        groups = schedule.optimizer.param_groups
        rates.append([float(g.get(name, 0)) for name in ("lr", "momentum") for g in groups])
        schedule.step(*[1.0] * (label in PLATEAU))
    return rates


def regrouped(lib, case):
    """Return the rates after a change of the groups, and the error that ended them, if any."""
    label, change, epochs = CASES[case]
    rates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested ones and jumps warn
        schedule = schedule_for(lib, label, groups_of(lib, 2))
        advance(label, schedule, epochs)
        try:
            CHANGES[change](lib, label, schedule)
            for _ in range(EPOCHS):
                rates += advance(label, schedule, 1)
        except Exception as raised:
            return rates, raised
    return rates, None


def regrouped_rates(lib, case):
    """Return the number of epochs after a change, rates of some, and the class of the error."""
    rates, raised = regrouped(lib, case)
    return [len(rates), rates[::8], raised and type(raised).__name__]
