"""Programs that raise errors with the same first sentence in PyTorch and tinynet."""

from .algorithms import ALGORITHMS


def bad_option(name, options):
    def program(lib):
        getattr(lib.optim, name)([lib.ones(2, 2, requires_grad=True)], **options)

    return program


def long_lr(name):
    def program(lib):
        getattr(lib.optim, name)([lib.ones(2, 2, requires_grad=True)], lr=lib.ones(2))

    return program


def sparse(name, **options):
    """Take a step with the gradient of a sparse embedding."""

    def program(lib):
        table = lib.nn.Embedding(3, 2, sparse=True)
        optimizer = getattr(lib.optim, name)(table.parameters(), **options)
        table(lib.tensor([1])).sum().backward()
        optimizer.step()

    return program


def dense_for_sparse(lib):
    p = lib.ones(2, requires_grad=True)
    p.grad = lib.ones(2)
    lib.optim.SparseAdam([p]).step()


def tensor_lr_foreach(lib):
    lib.optim.Adam([lib.ones(2, requires_grad=True)], lr=lib.tensor(0.1), foreach=True)


def groups_of_lbfgs(lib):
    groups = [{"params": [lib.ones(1, requires_grad=True)]} for _ in range(2)]
    lib.optim.LBFGS(groups)


def lbfgs_of_shared_parameters(lib):
    p = lib.ones(1, requires_grad=True)
    lib.optim.LBFGS([{"params": [p]}, {"params": [p]}])


def lbfgs_of_names_and_none(lib):
    p, q = (lib.ones(1, requires_grad=True) for _ in range(2))
    lib.optim.LBFGS([{"params": [("p", p)]}, {"params": [q]}])


def sparse_parameters(lib):
    dense = lib.ones(3, requires_grad=True)
    params = [lib.sparse_coo_tensor([[i]], [1.0], (3,)) for i in range(2)]
    lib.optim.SparseAdam([{"params": [dense, params[0]]}, {"params": [params[1]]}])


def complex_parameters(lib):
    params = [lib.zeros(2, dtype=dtype) for dtype in (lib.float32, lib.complex64)]
    lib.optim.SparseAdam([{"params": params[:1]}, {"params": params[1:]}])


def lbfgs_without_closure(lib):
    lib.optim.LBFGS([lib.ones(1, requires_grad=True)]).step()


def lbfgs_search(lib):
    p = lib.ones(1, requires_grad=True)
    optimizer = lib.optim.LBFGS([p], line_search_fn="armijo")

    def closure():
        loss = (p * p).sum()
        loss.backward()
        return loss

    optimizer.step(closure)


def muon_of_a_vector(lib):
    lib.optim.Muon([lib.ones(3, requires_grad=True)])


def muon_steps(lib):
    p = lib.ones(3, 2, requires_grad=True)
    p.grad = lib.ones(3, 2)
    lib.optim.Muon([p], ns_steps=100).step()


def muon_coefficients(lib):
    p = lib.ones(3, 2, requires_grad=True)
    p.grad = lib.ones(3, 2)
    lib.optim.Muon([p], ns_coefficients=(1.0, 2.0)).step()


def schedule(name, *args, **kwargs):
    def program(lib):
        groups = [{"params": [lib.ones(1, requires_grad=True)]} for _ in range(2)]
        optimizer = lib.optim.SGD(groups, lr=0.1)
        source = lib.optim.swa_utils if name == "SWALR" else lib.optim.lr_scheduler
        getattr(source, name)(optimizer, *args, **kwargs)

    return program


def combined(name, *parts, **options):
    """Combine schedules; each of `parts` creates one from the library and an optimizer."""

    def program(lib):
        optimizer = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=0.1)
        kind = getattr(lib.optim.lr_scheduler, name)
        made = [part(lib, optimizer) for part in parts]
        if name == "SequentialLR":
            kind(optimizer, made, **options)
        else:
            kind(made, optimizer)

    return program


def exponential(lib, optimizer):
    return lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)


def of_another(lib, optimizer):
    other = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=0.1)
    return lib.optim.lr_scheduler.ExponentialLR(other, 0.9)


def plateau(lib, optimizer):
    return lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer)


def nothing(lib, optimizer):
    return 3


def no_optimizer(name, *args):
    def program(lib):
        getattr(lib.optim.lr_scheduler, name)(3, *args)

    return program


def without_momentum(name, *args, **kwargs):
    def program(lib):
        optimizer = lib.optim.Adagrad([lib.ones(1, requires_grad=True)])
        getattr(lib.optim.lr_scheduler, name)(optimizer, *args, **kwargs)

    return program


def past_the_end(lib):
    p = lib.ones(1, requires_grad=True)
    p.grad = lib.ones(1)
    optimizer = lib.optim.SGD([p], lr=0.1, momentum=0.9)
    made = lib.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 2)
    for _ in range(3):
        optimizer.step()
        made.step()


def resumed_without_rate(lib):
    schedule("StepLR", 2, last_epoch=3)(lib)


def plateau_of_more_groups(lib):
    optimizer = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=0.1)
    made = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, min_lr=[0.1], patience=0)
    optimizer.add_param_group({"params": [lib.ones(1, requires_grad=True)]})
    made.step(1.0)
    made.step(2.0)


SCHEDULES_REFUSED = {
    "no optimizer": no_optimizer("StepLR", 1),
    "Plateau no optimizer": no_optimizer("ReduceLROnPlateau"),
    "LambdaLR": schedule("LambdaLR", [abs]),
    "MultiplicativeLR": schedule("MultiplicativeLR", [abs]),
    "MultiplicativeLR function": schedule("MultiplicativeLR", 3),
    "ConstantLR": schedule("ConstantLR", 2),
    "LinearLR start": schedule("LinearLR", 0),
    "LinearLR end": schedule("LinearLR", 1, 2),
    "resumed": resumed_without_rate,
    "CyclicLR mode": schedule("CyclicLR", 0.1, 0.2, mode="square", cycle_momentum=False),
    "CyclicLR base_lr": schedule("CyclicLR", [0.1], 0.2),
    "CyclicLR max_lr": schedule("CyclicLR", 0.1, [0.2] * 3),
    "CyclicLR momentum": without_momentum("CyclicLR", 0.1, 0.2),
    "OneCycleLR steps": schedule("OneCycleLR", 0.1),
    "OneCycleLR total_steps": schedule("OneCycleLR", 0.1, 0),
    "OneCycleLR epochs": schedule("OneCycleLR", 0.1, epochs=0, steps_per_epoch=1),
    "OneCycleLR steps_per_epoch": schedule("OneCycleLR", 0.1, epochs=1, steps_per_epoch=-1),
    "OneCycleLR pct_start": schedule("OneCycleLR", 0.1, 10, pct_start=2.0),
    "OneCycleLR anneal_strategy": schedule("OneCycleLR", 0.1, 10, anneal_strategy="x"),
    "OneCycleLR max_lr": schedule("OneCycleLR", [0.1], 10),
    "OneCycleLR momentum": without_momentum("OneCycleLR", 0.1, 10),
    "OneCycleLR end": past_the_end,
    "WarmRestarts T_0": schedule("CosineAnnealingWarmRestarts", 0),
    "WarmRestarts T_mult": schedule("CosineAnnealingWarmRestarts", 1, 0),
    "WarmRestarts eta_min": schedule("CosineAnnealingWarmRestarts", 1, 1, "0"),
    "SWALR lr": schedule("SWALR", [0.1]),
    "SWALR strategy": schedule("SWALR", 0.1, anneal_strategy="x"),
    "SWALR epochs": schedule("SWALR", 0.1, -1),
    "Plateau factor": schedule("ReduceLROnPlateau", factor=1.0),
    "Plateau mode": schedule("ReduceLROnPlateau", mode="mean"),
    "Plateau threshold_mode": schedule("ReduceLROnPlateau", threshold_mode="mean"),
    "Plateau min_lr": schedule("ReduceLROnPlateau", min_lr=[0.1]),
    "Plateau groups": plateau_of_more_groups,
    **{
        f"{name} {part.__name__}": combined(name, exponential, part, milestones=[3])
        for name in ("SequentialLR", "ChainedScheduler")
        for part in (of_another, plateau, nothing)
    },
    "SequentialLR empty": combined("SequentialLR", milestones=[]),
    "SequentialLR milestones": combined("SequentialLR", exponential, milestones=[3]),
    "ChainedScheduler empty": combined("ChainedScheduler"),
}


def swapped(change=lambda state: state, stepped=True, count=2):
    """Swap in other parameters, with a changed state_dict."""

    def program(lib):
        params = [lib.ones(1, requires_grad=True) for _ in range(2)]
        optimizer = lib.optim.SGD(params, lr=0.1, momentum=0.9)
        if stepped:
            for p in params:
                p.grad = lib.ones(1)
            optimizer.step()
        state = optimizer.state_dict()
        state["param_groups"] = [dict(group) for group in state["param_groups"]]
        others = {str(i): lib.ones(1) for i in range(count)}
        with lib.optim.swap_in_optimizer_params_and_state(optimizer, others, change(state)):
            pass

    return program


def with_groups(**changes):
    def change(state):
        state["param_groups"][0].update(changes)
        return state

    return change


SWAP = {
    "no state": swapped(stepped=False),
    "no dict": swapped(lambda state: 3),
    "state": swapped(lambda state: {**state, "state": []}),
    "entries": swapped(lambda state: {**state, "state": {0: 3}}),
    "groups": swapped(lambda state: {**state, "param_groups": {}}),
    "number of groups": swapped(lambda state: {**state, "param_groups": []}),
    "group": swapped(lambda state: {**state, "param_groups": [3]}),
    "ids": swapped(with_groups(params=["a", "b"])),
    "number of params": swapped(with_groups(params=[0])),
    "keys": swapped(with_groups(extra=1)),
    "extra": swapped(lambda state: {**state, "state": {**state["state"], 7: {}}}),
    "too few": swapped(count=1),
}

REFUSED = {
    **SCHEDULES_REFUSED,
    **{f"swap {name}": program for name, program in SWAP.items()},
    **{
        f"{name} {what}": bad_option(name, options)
        for name, row in ALGORITHMS.items()
        for what, options in row.refused.items()
    },
    **{f"{name} long lr": long_lr(name) for name in ALGORITHMS},
    **{
        f"{name} sparse": sparse(name)
        for name in ALGORITHMS
        if name not in ("SGD", "Adagrad", "SparseAdam", "LBFGS")
    },
    "SGD sparse weight_decay": sparse("SGD", weight_decay=0.1),
    "Adagrad sparse weight_decay": sparse("Adagrad", weight_decay=0.1),
    "SparseAdam dense": dense_for_sparse,
    "Adam tensor lr foreach": tensor_lr_foreach,
    "LBFGS groups": groups_of_lbfgs,
    "LBFGS shared": lbfgs_of_shared_parameters,
    "LBFGS names": lbfgs_of_names_and_none,
    "SparseAdam sparse parameters": sparse_parameters,
    "SparseAdam complex parameters": complex_parameters,
    "LBFGS without closure": lbfgs_without_closure,
    "LBFGS search": lbfgs_search,
    "Muon vector": muon_of_a_vector,
    "Muon steps": muon_steps,
    "Muon coefficients": muon_coefficients,
}
