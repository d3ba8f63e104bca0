"""Optimizers, schedules and clipping in a compiled step: the same as eagerly, to the bit."""

import copy

import numpy as np
import pytest

import tinynet as tn
from tests.unit.optim import trajectories
from tests.unit.optim.algorithms import RUN
from tests.unit.optim.trajectories import LBFGS, MUON, PLATEAU, SCHEDULES, SPARSE
from tinynet import nn, optim
from tinynet.nn import functional as F

from .pairs import compare

DEFAULTS = ({"foreach": True}, {"foreach": False}, {"fused": True}, {"maximize": True})
OPTIONS = {
    f"{name} {options}": (name, options)
    for name, row in RUN.items()
    for options in [{}, row.full, *DEFAULTS]
    if not options.keys() - getattr(optim, name)([tn.ones(1, requires_grad=True)]).defaults.keys()
}


def bumpy(params, x):
    return sum(((p.sin() * (i + 1)) * p + p * 0.1 * x).sum() for i, p in enumerate(params))


def numbers(i):
    return (tn.tensor(0.3 * i),)


def training(made, params, *more):
    """Return a step of an optimizer on a bumpy loss, followed by steps of schedules."""

    def step(x):
        made.zero_grad()
        loss = bumpy(params, x)
        loss.backward()
        made.step()
        for other in more:
            other.step()
        return loss

    return step


@pytest.mark.parametrize("label", OPTIONS)
def test_every_optimizer(label):
    name, options = OPTIONS[label]

    def build():
        made, params, idle = trajectories.optimizer(tn, name, options, True, "float32")
        return [made, *params, idle], training(made, params)

    assert compare(build, numbers) is None


@pytest.mark.parametrize("label", MUON)
def test_muon(label):
    def build():
        params = [tn.randn(3, 2, requires_grad=True), tn.randn(4, 4, requires_grad=True)]
        made = optim.Muon(params, lr=0.05, **MUON[label])
        return [made, *params], training(made, params)

    assert compare(build, numbers) is None


@pytest.mark.parametrize("label", SPARSE)
def test_sparse_gradients(label):
    name, options = SPARSE[label]

    def build():
        table = nn.Embedding(6, 3, sparse=True)
        made = getattr(optim, name)(table.parameters(), lr=0.05, **options)

        def step(i):
            made.zero_grad()
            table(i).sin().sum().backward()
            made.step()

        return [table, made], step

    assert compare(build, lambda i: (tn.tensor([i, 2, i, 0]),)) is None


@pytest.mark.parametrize("label", LBFGS)
def test_lbfgs_runs_eagerly(label):
    """It decides by values how often it calls the closure."""

    def build():
        w = tn.tensor([-0.7, 0.4, 0.5], requires_grad=True)
        made = optim.LBFGS([w], **LBFGS[label])

        def step(x):
            def closure():
                made.zero_grad()
                loss = ((w - x) ** 2).sum() + w.sin().sum()
                loss.backward()
                return loss

            return made.step(closure)

        return [w, made], step

    assert "eagerly" in compare(build, numbers)


# ---- schedules ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler")
@pytest.mark.parametrize("label", SCHEDULES)
def test_every_schedule(label):
    def build():
        made, params, schedule, idle = trajectories.scheduled(tn, label)
        return [made, *params, idle, schedule.get_last_lr()], training(made, params, schedule)

    assert compare(build, numbers, calls=9) is None


@pytest.mark.parametrize("label", PLATEAU)
def test_a_plateau_takes_a_number(label):
    """The step returns the loss, and the schedule takes it outside."""

    def build():
        made, params, _ = trajectories.optimizer(tn, "SGD", {}, True, "float32")
        schedule = optim.lr_scheduler.ReduceLROnPlateau(made, **PLATEAU[label])
        return [made, *params, schedule], training(made, params)

    def after(i, state):
        state[-1].step(2.0 + 0.1 * i)

    assert compare(build, numbers, between=after, calls=8) is None


def test_a_plateau_in_the_step_takes_the_loss():
    def build():
        made, params, _ = trajectories.optimizer(tn, "SGD", {}, True, "float32")
        schedule = optim.lr_scheduler.ReduceLROnPlateau(made, patience=1)

        def step(x):
            made.zero_grad()
            loss = bumpy(params, x)
            loss.backward()
            made.step()
            schedule.step(loss.detach())
            return loss

        return [made, *params, schedule], step

    compare(build, numbers, calls=9)


def test_a_rate_that_changes_between_calls():
    def build():
        made, params, idle = trajectories.optimizer(tn, "Adam", {}, True, "float32")
        return [made, *params, idle], training(made, params)

    def between(i, state):
        state[0].param_groups[0]["lr"] *= 0.9
        state[0].param_groups[1]["weight_decay"] = 0.1 * i

    assert compare(build, numbers, between=between, calls=8) is None


def test_a_rate_that_is_a_tensor():
    def build():
        params = trajectories.parameters(tn, "float32")
        made = optim.Adam(params, lr=tn.tensor(0.05))
        schedule = optim.lr_scheduler.ExponentialLR(made, 0.9)
        return [made, *params], training(made, params, schedule)

    assert compare(build, numbers) is None


# ---- clipping, accumulation, averages -----------------------------------------------------------


def network(*, seed=0):
    tn.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))


def batches(i):
    return tn.randn(4, 6), tn.randint(0, 3, (4,))


CLIPS = {
    "norm": lambda net: nn.utils.clip_grad_norm_(net.parameters(), 0.1),
    "norm inf": lambda net: nn.utils.clip_grad_norm_(net.parameters(), 0.1, norm_type=float("inf")),
    "norm foreach": lambda net: nn.utils.clip_grad_norm_([*net.parameters()], 0.1, foreach=True),
    "norm or an error": lambda net: nn.utils.clip_grad_norm_(
        net.parameters(), 0.1, error_if_nonfinite=True
    ),
    "value": lambda net: nn.utils.clip_grad_value_(net.parameters(), 0.01),
    "total": lambda net: nn.utils.get_total_norm([p.grad for p in net.parameters()]),
}


@pytest.mark.parametrize("clip", CLIPS)
def test_clipping(clip):
    def build():
        net = network()
        made = optim.AdamW(net.parameters(), lr=0.01)

        def step(x, y):
            made.zero_grad(set_to_none=False)
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            norm = CLIPS[clip](net)
            made.step()
            return loss, norm

        return [net, made], step

    assert compare(build, batches) is None


def test_gradients_accumulate_over_calls():
    def build():
        net = network()
        made = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def accumulate(x, y):
            loss = F.cross_entropy(net(x), y) / 3
            loss.backward()
            return loss

        return [net, made], accumulate

    def between(i, state):
        if i % 3 == 0 and i:
            state[1].step()
            state[1].zero_grad()

    assert compare(build, batches, between=between, calls=14) is None


def test_a_loss_whose_backward_runs_outside():
    def build():
        net = network()
        made = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        return [net, made], lambda x, y: F.cross_entropy(net(x), y)

    def between(i, state):
        if i:
            state[1].step()
            state[1].zero_grad()

    assert compare(build, batches, between=between, after=lambda r, _: r.backward()) is None


def averaged(kind):
    net = network()
    if kind == "hand":
        average = copy.deepcopy(net).requires_grad_(False)

        def update():
            with tn.no_grad():
                for a, p in zip(average.parameters(), net.parameters(), strict=True):
                    a.mul_(0.9).add_(p, alpha=0.1)
                for a, b in zip(average.buffers(), net.buffers(), strict=True):
                    a.copy_(b)
    elif kind == "lerp":
        average = copy.deepcopy(net).requires_grad_(False)

        def update():
            with tn.no_grad():
                for a, p in zip(average.parameters(), net.parameters(), strict=True):
                    a.lerp_(p, 0.1)
    else:
        swa = optim.swa_utils
        options = {
            "mean": {},
            "buffers": {"use_buffers": True},
            "ema": {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)},
            "ema one by one": {"avg_fn": swa.get_ema_avg_fn(0.9), "use_buffers": True},
            "swa": {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
        }
        average = swa.AveragedModel(net, **options[kind])

        def update():
            average.update_parameters(net)

    return net, average, update


@pytest.mark.parametrize(
    "kind", ["hand", "lerp", "mean", "buffers", "ema", "ema one by one", "swa"]
)
def test_averages_of_weights(kind):
    def build():
        net, average, update = averaged(kind)
        made = optim.SGD(net.parameters(), lr=0.1)

        def step(x, y):
            made.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            made.step()
            update()
            return loss

        return [net, average, made], step

    assert compare(build, batches) is None


@pytest.mark.parametrize("dtype", [tn.float16, tn.bfloat16])
def test_autocast(dtype):
    def build():
        net = network()
        made = optim.SGD(net.parameters(), lr=0.1)

        def step(x, y):
            made.zero_grad()
            with tn.autocast("cpu", dtype=dtype):
                loss = F.cross_entropy(net(x), y)
            loss.backward()
            made.step()
            return loss

        return [net, made], step

    assert compare(build, batches) is None


@pytest.mark.parametrize("infinite", [(), (3, 4)])
def test_scaled_gradients(infinite):
    """A scaler looks at the gradients to decide whether to take the step, at each replay."""

    def build():
        net = network()
        made = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        scaler = tn.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)

        def step(x, y):
            made.zero_grad()
            loss = F.cross_entropy(net(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(made)
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(made)
            scaler.update()
            return loss

        return [net, made, scaler], step

    def inputs(i):
        x, y = batches(i)
        return (x * np.inf if i in infinite else x), y

    compare(build, inputs, calls=8)
