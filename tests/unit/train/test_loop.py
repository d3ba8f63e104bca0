"""The loop and the measuring, with objects made by hand."""

import contextlib
import random
import statistics
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, near
from tinynet import nn, optim
from tinynet.data import DataLoader, TensorDataset
from tinynet.errors import TrainingWarning
from tinynet.train import NonFiniteError, evaluate, fit
from tinynet.train.step.epoch import Totals
from tinynet.train.step.seeds import derive, get_states, isolated, seed_all


def line(points=20):
    """A line to be fitted, in batches of 8."""
    xs = tn.linspace(-1, 1, points).unsqueeze(1)
    return DataLoader(TensorDataset(xs, 3 * xs - 1), batch_size=8)


def parts(lr=0.3):
    tn.manual_seed(0)
    model = nn.Linear(1, 1)
    return model, nn.MSELoss(), optim.SGD(model.parameters(), lr=lr)


# ---- fit ----


def test_it_learns():
    model, loss, optimizer = parts()
    *_, last = fit(model, loss, optimizer, line(), epochs=60)
    assert last.loss < 1e-4
    assert abs(model.weight.item() - 3) < 0.01
    assert abs(model.bias.item() + 1) < 0.01


def test_steps_are_counted():
    steps = [*fit(*parts(), line(), epochs=2)]
    assert [step.number for step in steps] == [0, 1, 2, 3, 4, 5]
    assert [(step.epoch, step.batch) for step in steps] == [
        (e, b) for e in (0, 1) for b in range(3)
    ]
    assert [step.ends_epoch for step in steps] == [False, False, True] * 2
    assert [len(step.inputs) for step in steps[:3]] == [8, 8, 4]
    assert steps[0].outputs.shape == steps[0].targets.shape


def test_the_same_as_written_out():
    model, loss, optimizer = parts()
    for _ in fit(model, loss, optimizer, line(), epochs=3):
        pass
    by_hand, _, sgd = parts()
    for _ in range(3):
        for xs, ys in line():
            sgd.zero_grad()
            ((by_hand(xs) - ys) ** 2).mean().backward()
            sgd.step()
    assert model.weight.item() == near(by_hand.weight.item(), 2 * 9 * (8 + STEPS))


def test_the_loss_is_that_before_the_step():
    model, loss, optimizer = parts()
    batches = [next(iter(line()))]
    before = loss(model(batches[0][0]), batches[0][1]).item()
    step = next(fit(model, loss, optimizer, batches, epochs=1))
    assert step.loss == before
    assert loss(model(batches[0][0]), batches[0][1]).item() < before


@pytest.mark.parametrize(
    "per, expected", [("epoch", [8, 8, 8, 4, 4, 4]), ("step", [8, 4, 2, 1, 0.5, 0.25])]
)
def test_schedule(per, expected):
    model, loss, optimizer = parts(lr=8)
    schedule = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    flat = [(tn.zeros(4, 1), tn.zeros(4, 1))] * 3
    with contextlib.closing(
        fit(model, loss, optimizer, flat, 2, schedule=schedule, per=per)
    ) as steps:
        assert [step.lr for step in steps] == expected


def test_going_on_with_later_epochs():
    steps = [*fit(*parts(), line(), range(3, 5), first_step=9)]
    assert [(step.number, step.epoch) for step in steps][::3] == [(9, 3), (12, 4)]


def test_clipping():
    model, loss, optimizer = parts(lr=1)
    start = np.array([model.weight.item(), model.bias.item()])
    batch = (tn.full((4, 1), 100.0), tn.full((4, 1), -100.0))
    next(fit(model, loss, optimizer, [batch], 1, clip_norm=0.5))
    moved = np.array([model.weight.item(), model.bias.item()]) - start
    assert np.linalg.norm(moved) == near(0.5, scale=1)


def test_clipping_of_values():
    model, loss, optimizer = parts(lr=1)
    start = np.array([model.weight.item(), model.bias.item()])
    batch = (tn.full((4, 1), 100.0), tn.full((4, 1), -100.0))
    next(fit(model, loss, optimizer, [batch], 1, clip_value=0.25))
    moved = np.array([model.weight.item(), model.bias.item()]) - start
    assert np.abs(moved) == near([0.25] * 2, scale=1)


@pytest.mark.parametrize("points, steps", [(16, 1), (24, 2)])
def test_accumulated_gradients_are_those_of_one_large_batch(points, steps):
    model, loss, optimizer = parts()
    done = [*fit(model, loss, optimizer, line(points), epochs=2, accumulate=2)]
    assert [step.number for step in done] == [*range(2 * steps)]
    assert [len(step.batches) for step in done] == [2, 1][:steps] * 2
    assert [step.ends_epoch for step in done] == [False, True][-steps:] * 2
    whole, _, sgd = parts()
    xs = tn.linspace(-1, 1, points).unsqueeze(1)
    large = DataLoader(TensorDataset(xs, 3 * xs - 1), batch_size=16)
    losses = [step.loss for step in fit(whole, nn.MSELoss(), sgd, large, epochs=2)]
    roundings = 2 * len(done) * (16 + STEPS)
    assert model.weight.item() == near(whole.weight.item(), roundings)
    assert [step.loss for step in done] == near(losses, roundings)


def test_a_schedule_per_step_counts_steps_and_not_batches():
    model, loss, optimizer = parts(lr=8)
    schedule = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    flat = [(tn.zeros(4, 1), tn.zeros(4, 1))] * 3
    steps = fit(model, loss, optimizer, flat, 2, schedule=schedule, per="step", accumulate=2)
    assert [step.lr for step in steps] == [8, 4, 2, 1]


def test_train_mode_at_the_start_of_each_epoch():
    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5)).eval()
    sgd = optim.SGD(model.parameters(), lr=0.1)
    for step in fit(model, nn.MSELoss(), sgd, line(), 2):
        assert model.training
        assert model[1].training
        if step.ends_epoch:
            model.eval()


# ---- steps that are taken at once, or never ----


def test_run_takes_all_steps_and_returns_the_loss_of_each_epoch():
    by_loop, by_run = parts(), parts()
    expected: dict[int, list[float]] = {}
    for step in fit(*by_loop, line(), epochs=3):
        expected.setdefault(step.epoch, []).append(step.loss)
    losses = fit(*by_run, line(), epochs=3).run()
    assert losses == [statistics.fmean(found) for found in expected.values()]
    assert by_run[0].weight.item() == by_loop[0].weight.item()


def test_run_takes_the_steps_that_are_left():
    steps = fit(*parts(), line(), epochs=2)
    for step in steps:
        if step.ends_epoch:
            break
    assert len(steps.run()) == 1
    assert steps.run() == []


def dropped(*arguments):
    fit(*arguments)


def kept_and_dropped(*arguments):
    steps = fit(*arguments)
    assert "none taken yet" in repr(steps)


@pytest.mark.parametrize("use", [dropped, kept_and_dropped])
def test_steps_that_nobody_takes_warn_with_the_line_that_made_them(use):
    model, loss, optimizer = parts()
    before = model.weight.item()
    with pytest.warns(
        TrainingWarning, match=r"fit\(\) trained nothing.*`fit\(...\).run\(\)`"
    ) as all:
        use(model, loss, optimizer, line(), 2)
    (warning,) = all
    assert (warning.filename, warning.lineno) == (__file__, use.__code__.co_firstlineno + 1)
    assert model.weight.item() == before


@pytest.mark.parametrize(
    "use",
    [
        next,
        lambda steps: [*steps],
        lambda steps: steps.run(),
        lambda steps: steps.close(),
        lambda steps: next(iter(steps)),
    ],
)
def test_steps_that_are_used_do_not_warn(use):
    use(fit(*parts(), line(), epochs=2))  # warnings are errors here


def test_a_program_that_ends_without_taking_steps_warns():
    program = """
        from tinynet import nn, optim, tensor, train
        net = nn.Linear(1, 1)
        sgd, batches = optim.SGD(net.parameters()), [(tensor([[1.0]]), tensor([[1.0]]))]
        steps = train.fit(net, nn.MSELoss(), sgd, batches, epochs=1)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True)
    assert b"fit() trained nothing" in ran.stderr


# ---- a loss or gradient that is not a number ----


class Poisoned(nn.Module):
    """A line whose outputs turn to something else at a given batch."""

    def __init__(self, at, value):
        super().__init__()
        self.inside = nn.Linear(1, 1)
        self.at, self.value, self.calls = at, value, 0

    def forward(self, xs):
        self.calls += 1
        outputs = self.inside(xs)
        return outputs * self.value if self.calls == self.at else outputs


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_stops_before_the_step(value):
    model = Poisoned(5, value)
    sgd = optim.SGD(model.parameters(), lr=0.1)
    steps = fit(model, nn.MSELoss(), sgd, line(), 3)
    for _ in range(4):
        next(steps)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    with pytest.raises(NonFiniteError) as caught:
        next(steps)
    assert str(caught.value).splitlines()[0] == (
        f"the loss is {value} in epoch 2, step 5 (batch 2 of 3); "
        "stopped before the weights were changed."
    )
    assert (caught.value.epoch, caught.value.number, caught.value.batch) == (1, 4, 1)
    for name, parameter in model.named_parameters():
        assert (parameter == before[name]).all()


def test_a_gradient_that_is_not_finite_is_named():
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    with tn.no_grad():
        model[0].weight.zero_()
        model[0].bias.zero_()
    sgd = optim.SGD(model.parameters(), lr=0.1)

    def root(outputs, targets):  # its derivative at 0 is infinite, its value is not
        return (outputs - outputs.detach()).abs().sum().sqrt()

    before = model[1].weight.item()
    with pytest.raises(
        NonFiniteError, match=r"the gradient of \d\.\w+ is not finite in epoch 1, step 1"
    ):
        next(fit(model, root, sgd, line(), 1))
    assert model[1].weight.item() == before


def test_a_large_gradient_is_no_mistake():
    model, loss, optimizer = parts(lr=1e-30)
    batch = (tn.full((1, 1), 1e15), tn.full((1, 1), -1e15))
    step = next(fit(model, lambda o, t: (o - t).sum() * 1e5, optimizer, [batch], 1))
    assert np.isfinite(step.loss)
    assert model.weight.grad.item() > 1e19  # its square is more than float32 can hold


def test_sparse_gradients():
    table = nn.Embedding(5, 2, sparse=True)
    sgd = optim.SGD(table.parameters(), lr=0.1)
    batch = (tn.tensor([1, 3]), tn.zeros(2, 2))
    assert next(fit(table, nn.MSELoss(), sgd, [batch], 1)).loss > 0
    assert table.weight.grad.is_sparse
    with pytest.raises(NonFiniteError, match="the gradient of weight is not finite"):
        next(fit(table, lambda o, t: (o - o.detach()).abs().sum().sqrt(), sgd, [batch], 1))


# ---- measuring ----


def test_accuracy_and_loss_weigh_examples_not_batches():
    scores = tn.tensor([[2.0, 0.0]] * 5)
    batches = DataLoader(TensorDataset(scores, tn.tensor([0, 0, 0, 0, 1])), batch_size=4)
    figures = evaluate(nn.Identity(), nn.CrossEntropyLoss(), batches)
    assert figures["accuracy"] == 0.8
    whole = nn.CrossEntropyLoss()(scores, tn.tensor([0, 0, 0, 0, 1])).item()
    assert figures["loss"] == near(whole, 2 * STEPS)


def test_no_accuracy_without_classes():
    model, loss, _ = parts()
    assert [*evaluate(model, loss, line())] == ["loss"]
    assert Totals().figures() == {}


class Noisy(nn.Module):
    """Draws from every generator that there is."""

    def forward(self, xs):
        return xs + tn.rand(1) + float(np.random.rand()) + random.random()


def test_measuring_changes_nothing():
    frozen = nn.Dropout(0.5).eval()
    model = nn.Sequential(Noisy(), frozen, nn.Dropout(0.5))
    seed_all(1, "training")
    before = get_states()
    first = evaluate(model, nn.MSELoss(), line())
    assert evaluate(model, nn.MSELoss(), line()) == first
    assert repr(get_states()) == repr(before)
    assert [module.training for module in model.modules()] == [True, True, False, True]


def test_modes_come_back_after_an_error():
    model = nn.Sequential(nn.Linear(1, 1))
    with pytest.raises(RuntimeError):
        evaluate(model, nn.MSELoss(), [(tn.zeros(2, 3), tn.zeros(2, 3))])
    assert model.training
    assert model[0].training


def test_no_graph_is_recorded():
    seen = []

    def loss(outputs, targets):
        seen.append(outputs.requires_grad)
        return nn.functional.mse_loss(outputs, targets)

    evaluate(parts()[0], loss, line())
    assert seen == [False] * 3


# ---- seeds ----


def test_seeds_differ_by_purpose_and_do_not_change_between_versions():
    assert derive(0, "model") == 5558024794847056428
    assert len({derive(seed, purpose) for seed in range(10) for purpose in "abc"}) == 30
    assert all(0 <= derive(seed, "x") < 2**63 for seed in range(100))


def test_isolated_numbers_are_the_same_each_time_and_leave_no_trace():
    seed_all(0, "x")
    before = get_states()
    drawn = []
    for _ in range(2):
        with isolated():
            drawn.append((tn.rand(1).item(), random.random(), np.random.rand()))
    assert drawn[0] == drawn[1]
    assert repr(get_states()) == repr(before)
