"""Subclasses of Optimizer and of schedulers, as public programs write them."""

from __future__ import annotations

import copy
import pickle

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)


def trained(T, make):
    """A parameter after a step of an optimizer, and the optimizer."""
    p = T.nn.Parameter(T.ones(2))
    optimizer = make([p])
    (p * p).sum().backward()
    optimizer.step()
    return p, optimizer


@program
def parameters_in_any_container(T):
    nn, SGD = T.nn, T.optim.SGD
    listed = nn.ParameterList([nn.Parameter(T.ones(2)), nn.Parameter(T.ones(3))])
    named = nn.ParameterDict({"a": nn.Parameter(T.ones(2))})
    _net = nn.Linear(2, 2)

    def sizes(params):
        return [len(group["params"]) for group in SGD(params, lr=0.1).param_groups]

    found = [
        sizes(listed),
        sizes([{"params": listed}]),
        sizes(named.values()),
        sizes([{"params": _net.parameters()}, {"params": (p for p in listed)}]),
        sizes(map(lambda p: p, _net.parameters())),
        sizes(filter(lambda p: p.dim() == 1, _net.parameters())),
        sizes(p for p in _net.parameters()),
        sizes({p: 1 for p in _net.parameters()}),
        sizes(tuple(_net.parameters())),
        sizes([{"params": _net.weight}, {"params": [_net.bias]}]),
    ]
    refused = [
        attempt(lambda: SGD(_net, lr=0.1)),
        attempt(lambda: SGD(_net.parameters, lr=0.1)),
        attempt(lambda: SGD([[_net.weight]], lr=0.1)),
        attempt(lambda: SGD(named, lr=0.1)),
        attempt(lambda: SGD([{"params": {_net.weight}}], lr=0.1)),
        attempt(lambda: SGD(3, lr=0.1)),
    ]
    return locals()


@program
def an_optimizer_with_its_own_step(T):
    class Momentum(T.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, dict(lr=lr, extra=3))

        def __setstate__(self, state):
            super().__setstate__(state)
            for group in self.param_groups:
                group.setdefault("amsgrad", False)

        def step(self, closure=None):
            loss = None if closure is None else closure()
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if len(state) == 0:
                        state["step"], state["mean"] = 0, T.zeros_like(p.data)
                    state["step"] += 1
                    state["mean"].mul_(0.9).add_(p.grad.data, alpha=0.1)
                    p.data.add_(state["mean"], alpha=-group["lr"])
            return loss

    p, optimizer = trained(T, Momentum)
    before = sorted(optimizer.param_groups[0])
    saved = pickle.loads(pickle.dumps(optimizer.state_dict()))
    optimizer.load_state_dict(saved)
    after, text = sorted(optimizer.param_groups[0]), repr(optimizer)
    state, kept = saved["state"], sorted(optimizer.__getstate__())
    copied = copy.deepcopy(optimizer)
    groups, number = len(copied.param_groups), len(copied.state)
    return locals()


@program
def hooks_stand_under_their_names(T):
    optimizer = T.optim.SGD([T.nn.Parameter(T.ones(1))], lr=0.1)
    names = [name for name in sorted(vars(optimizer)) if name.startswith("_optimizer_")]
    empty = [len(getattr(optimizer, name)) for name in names]
    handle = optimizer.register_step_post_hook(lambda *given: None)
    one = len(optimizer._optimizer_step_post_hooks)
    handle.remove()
    none = len(optimizer._optimizer_step_post_hooks)
    optimizer._patch_step_function()
    return locals()


@program
def an_optimizer_around_another(T):
    class Around(T.optim.Optimizer):
        def __init__(self, inner):
            self.optimizer, self.param_groups = inner, inner.param_groups
            self.state, self.defaults = inner.state, inner.defaults

        def step(self, closure=None):
            return self.optimizer.step(closure)

    p, optimizer = trained(T, lambda params: Around(T.optim.SGD(params, lr=0.1)))
    optimizer.zero_grad()
    gone, text = p.grad, repr(optimizer)
    return locals()


@program
def a_base_optimizer_that_shares_groups(T):
    class Sharp(T.optim.Optimizer):
        def __init__(self, params, base, rho=0.05, **options):
            super().__init__(params, dict(rho=rho, **options))
            self.base = base(self.param_groups, **options)
            self.param_groups = self.base.param_groups
            self.defaults.update(self.base.defaults)

        def step(self, closure=None):
            self.base.step()

        def load_state_dict(self, state_dict):
            super().load_state_dict(state_dict)
            self.base.param_groups = self.param_groups

    p, optimizer = trained(T, lambda params: Sharp(params, T.optim.SGD, lr=0.1))
    optimizer.load_state_dict(optimizer.state_dict())
    names = sorted(optimizer.defaults)
    same = optimizer.base.param_groups is optimizer.param_groups
    return locals()


@program
def groups_that_a_subclass_completes(T):
    class Marked(T.optim.SGD):
        def add_param_group(self, param_group):
            param_group["seen"] = 1
            super().add_param_group(param_group)

    optimizer = Marked(T.nn.Linear(1, 1).parameters(), lr=0.1)
    seen = [group["seen"] for group in optimizer.param_groups]
    return locals()


@program
def decay_before_the_step_of_adam(T):
    class Decay(T.optim.Adam):
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.data.mul_(0.9)
            return super().step(closure)

    p, _optimizer = trained(T, lambda params: Decay(params, lr=0.1))
    return locals()


@program
def copies(T):
    p, optimizer = trained(T, lambda params: T.optim.Adam(params, lr=0.1))
    shallow, deep = copy.copy(optimizer), copy.deepcopy(optimizer)
    loaded = pickle.loads(pickle.dumps(optimizer))
    shared = shallow.param_groups is optimizer.param_groups, shallow.state is optimizer.state
    q = loaded.param_groups[0]["params"][0]
    states = sorted(loaded.state[q]), len(deep.state), deep.param_groups[0]["params"][0] is p
    texts = [repr(one) for one in (shallow, deep, loaded)]
    return locals()


# ---- schedulers ---------------------------------------------------------------------------------


def rates(T, scheduler, optimizer, steps=6):
    found = []
    for _ in range(steps):
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad = T.zeros_like(p)
        optimizer.step()
        scheduler.step()
        found.append(optimizer.param_groups[0]["lr"])
    return found


@program
def a_schedule_of_the_old_base_class(T):
    class Warmup(T.optim.lr_scheduler._LRScheduler):
        def __init__(self, optimizer, total, last_epoch=-1):
            self.total = total
            super().__init__(optimizer, last_epoch)

        def get_lr(self):
            return [base * self.last_epoch / self.total for base in self.base_lrs]

    _optimizer = T.optim.SGD([T.nn.Parameter(T.ones(1))], lr=0.1)
    _scheduler = Warmup(_optimizer, 4)
    found = rates(T, _scheduler, _optimizer)
    last, count, epoch = _scheduler.get_last_lr(), _scheduler._step_count, _scheduler.last_epoch
    saved, kept = sorted(_scheduler.state_dict()), sorted(vars(_scheduler))
    return locals()


@program
def a_schedule_before_another(T):
    base = T.optim.lr_scheduler._LRScheduler

    class Gradual(base):
        def __init__(self, optimizer, multiplier, total, after):
            self.multiplier, self.total, self.after, self.finished = multiplier, total, after, False
            super().__init__(optimizer)

        def get_lr(self):
            if self.last_epoch > self.total:
                if not self.finished:
                    self.after.base_lrs = [lr * self.multiplier for lr in self.base_lrs]
                    self.finished = True
                return self.after.get_last_lr()
            part = (self.multiplier - 1.0) * self.last_epoch / self.total + 1.0
            return [lr * part for lr in self.base_lrs]

        def step(self, epoch=None, metrics=None):
            if self.finished:
                self.after.step(None)
                self._last_lr = self.after.get_last_lr()
            else:
                super().step(epoch)

    _optimizer = T.optim.SGD([T.nn.Parameter(T.ones(1))], lr=0.1)
    _after = T.optim.lr_scheduler.StepLR(_optimizer, 2, 0.5)
    found = rates(T, Gradual(_optimizer, 2.0, 3, _after), _optimizer, 8)
    return locals()


@program
def closed_forms_and_missing_ones(T):
    class Closed(T.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [1.0]

        def _get_closed_form_lr(self):
            return [5.0]

    _optimizer = T.optim.SGD([T.nn.Parameter(T.ones(1))], lr=0.1)
    _scheduler = Closed(_optimizer)
    first = rates(T, _scheduler, _optimizer, 1)
    _scheduler.step(3)
    then, epoch = _optimizer.param_groups[0]["lr"], _scheduler.last_epoch
    names = [hasattr(_scheduler, name) for name in ("_initial_step", "_is_initial", "_step_count")]
    return locals()


@program
def copies_of_schedules(T):
    _optimizer = T.optim.SGD([T.nn.Parameter(T.ones(1))], lr=0.1, momentum=0.9)
    of = T.optim.lr_scheduler
    made = [
        of.StepLR(_optimizer, 2),
        of.CosineAnnealingLR(_optimizer, 4),
        of.ReduceLROnPlateau(_optimizer),
        of.OneCycleLR(_optimizer, 1.0, 10),
        of.ExponentialLR(_optimizer, 0.9),
    ]
    kept = [sorted(vars(one)) for one in made]
    saved = [sorted(one.state_dict()) for one in made]
    loaded = [sorted(vars(pickle.loads(pickle.dumps(one)))) for one in made]
    shared = [copy.copy(one).optimizer is _optimizer for one in made]
    own = [copy.deepcopy(one).optimizer is _optimizer for one in made]
    return locals()
