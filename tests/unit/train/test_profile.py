"""Where the time of a step goes: `tinynet profile`, and the costs that a recording has."""

import itertools
import json
import re
import time

import numpy as np
import pytest

import tinynet as tn
from tinynet import board, nn, optim
from tinynet.board.graphs import timing
from tinynet.board.graphs.costs import OUTSIDE, totals
from tinynet.train import run
from tinynet.train.assemble import trial as trials
from tinynet.train.assemble.trial import trial
from tinynet.train.base.checkpoint_file import read_checkpoint
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.cli import main
from tinynet.train.config.resolve import load_config
from tinynet.train.run import runner
from tinynet.train.run.runner import prepare
from tinynet.train.store.storage import newest_checkpoint

pytestmark = pytest.mark.usefixtures("repeats")

NET = """
from tinynet import nn

class Net(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.body = nn.Linear(64, width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        hidden = self.body(x.flatten(1)).relu()
        return self.head(hidden)
"""


class Twice(nn.Module):
    """Calls one module twice, and computes something itself."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(self.layer(x)) * 2


def recorded(model, *inputs):
    sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with board.record(model) as rec:
        loss = F.mse_loss(model(*inputs), tn.zeros(8, 4))
        loss.backward()
        sgd.step()
    return rec


F = nn.functional


def test_each_module_has_its_own_costs():
    rec = recorded(Twice(), tn.ones(8, 4))
    found = totals(rec.costs, lambda cost: cost.module)
    assert set(found) == {"layer", "", OUTSIDE}
    assert found["layer"].flops == 2 * 2 * 8 * 4 * 4  # both calls
    assert found["layer"].memory == 2 * 8 * 4 * 4
    assert found[""].memory == 8 * 4 * 4  # the product with 2
    assert min(found["layer"].forward, found["layer"].backward, found["layer"].update) > 0
    assert (found[""].flops, found[""].update) == (0, 0)
    assert rec.classes == {"": "Twice", "layer": "Linear"}
    whole = sum(cost.time for cost in rec.costs)
    assert whole == sum(total.time for total in found.values())


def test_costs_are_those_before_folding():
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(12)))
    sgd = optim.SGD(model.parameters(), lr=0.1)
    with board.record(model, max_nodes=10) as rec:
        model(tn.ones(8, 4)).sum().backward()
        sgd.step()
    assert rec.notes
    found = totals(rec.costs, lambda cost: cost.module)
    assert {str(n) for n in range(12)} <= set(found)
    assert {found[str(n)].flops for n in range(12)} == {2 * 8 * 4 * 4}


def test_a_second_model_has_paths_of_its_own():
    one, other = nn.Sequential(nn.Linear(4, 4)), nn.Sequential(nn.Linear(4, 4))
    with board.record(first=one, second=other) as rec:
        other(one(tn.ones(2, 4)))
    assert [cost.module for cost in rec.costs] == ["0", "second.0"]


class Clock:
    """A clock that stands still while nothing waits."""

    def __init__(self, monkeypatch):
        self.now = 1
        monkeypatch.setattr(time, "perf_counter_ns", lambda: self.now)

    def wait(self, nanoseconds):
        self.now += nanoseconds


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_an_operation_has_its_median_time_in_warm_steps(clock):
    delays = iter([900, 0, 7, 50, 7, 30, 9, 40])  # recorded, warm; alone, timed; ...

    def step():
        y = tn.ones(3)
        clock.wait(next(delays))
        y.add_(1)

    with board.record() as rec:
        step()
    assert [cost.time for cost in rec.costs if cost.time] == [900]
    rec.measure(step, steps=3)
    assert next(delays, None) is None
    assert rec.step_time == (3, 40, 0, 7)
    assert [cost.time for cost in rec.costs if cost.time] == [40]
    for name in ("step", "forward"):
        assert sum(n.cost.time for n in rec.graphs[name].nodes if n.cost) == 40


def test_python_between_operations_is_part_of_the_step(clock):
    delays = iter([0, 0, *[5] * 3, *[8] * 3])

    def step():
        y = tn.ones(3)
        clock.wait(d := next(delays))  # before an operation
        y = y * 2
        clock.wait(3 * d)  # at the end
        return y

    with board.record() as rec:
        step()
    rec.measure(step, steps=3)
    assert rec.step_time == (3, 0, 20 + 12, 4 * 5)
    assert (rec.step_time.sum, rec.step_time.waited) == (32, False)


@pytest.mark.parametrize("interrupted", [True, False])
def test_waiting_for_a_processor_is_no_time_of_an_operation(clock, monkeypatch, interrupted):
    interruptions = itertools.count()
    if not interrupted:
        interruptions = itertools.repeat(0)
    monkeypatch.setattr(timing, "_interruptions", lambda: next(interruptions))
    monkeypatch.setattr(time, "thread_time_ns", lambda: clock.now - clock.waited)
    clock.waited = 0

    def step():
        y = tn.ones(3)
        clock.wait(30)  # the processor works
        clock.wait(700)
        clock.waited += 700
        y.add_(1)

    with board.record() as rec:
        step()
    rec.measure(step, steps=3)
    expected = 30 if interrupted else 730  # which may be sleep
    assert [cost.time for cost in rec.costs if cost.time] == [expected]
    assert rec.step_time == (3, expected, 0, 730) and rec.step_time.waited == interrupted


def test_updates_share_the_median_time_of_an_optimizer_step_by_size(clock, monkeypatch):
    model = nn.Linear(4, 3)
    sgd = optim.SGD(model.parameters(), lr=0.1)
    delays = iter([900, 0, 0, 30, 0, 45, 0, 60])
    reported = type(sgd)._wrote

    def slowly(*args):
        clock.wait(next(delays))
        reported(*args)

    monkeypatch.setattr(type(sgd), "_wrote", slowly)

    def step():
        model(tn.ones(2, 4)).sum().backward()
        sgd.step()

    with board.record(model) as rec:
        step()
    rec.measure(step, steps=3)
    times = {n.attributes["elements"]: n.cost.time for n in rec.graphs["optimizer"].nodes if n.cost}
    assert times == {"12": 36, "3": 9}


def test_a_node_does_not_have_the_time_of_what_ran_inside(clock):
    class Slow(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            clock.wait(20)
            g = g * 2
            clock.wait(300)
            return g.add_(1)  # a write has the time since the last record

    x = tn.ones(3, requires_grad=True)
    with board.record() as rec:
        Slow.apply(x).sum().backward()
    times = {n.name: n.cost.time for n in rec.graphs["backward"].nodes if n.cost}
    assert sorted(times.values())[-2:] == [20, 300]
    assert times["backward/SlowBackward"] == 20 and sum(times.values()) == 320


def test_a_model_that_branches_has_the_times_of_the_steps_that_took_a_branch(clock):
    first, other = Slowly(clock, 900), Slowly(clock, 70)
    turns = itertools.count()
    with board.record(nn.Sequential(first, other)) as rec:
        other(first(tn.ones(2)))
    other.delay = 50
    rec.measure(lambda: (first if next(turns) % 2 else other)(tn.ones(2)), steps=2)
    assert {(cost.module, cost.time) for cost in rec.costs if cost.time} == {("0", 900), ("1", 50)}


class Slowly(nn.Module):
    """Writes after a delay."""

    def __init__(self, clock, delay):
        super().__init__()
        self.clock, self.delay = clock, delay

    def forward(self, x):
        y = x * 1
        self.clock.wait(self.delay)
        return y.add_(1)


def test_measuring_needs_a_recorded_step():
    rec = board.record()
    with pytest.raises(RuntimeError, match="measure.. belongs after the `with` block"):
        rec.measure(lambda: None)


STATEFUL = """
import random
import numpy as np
import tinynet as tn
from tinynet import nn
from tinynet.train.step.method import Supervised

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 8), nn.BatchNorm1d(8), nn.Dropout(0.5))
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        noise = random.random() + np.random.rand() + tn.rand(1)
        return self.head(self.body(x.flatten(1))) + 0.01 * noise

class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("batches", tn.zeros(1))
        self.seen = []

    def forward(self, outputs, targets):
        if self.training:
            self.batches += 1
            self.seen.append(len(targets))
        return nn.functional.cross_entropy(outputs, targets) * (1 + 0.01 * self.batches[0])

class Method(Supervised):
    def __init__(self):
        self.steps, self.inner = 0, nn.BatchNorm1d(10)

    def step(self, task):
        self.steps += 1
        (batch,) = super().step(task)
        self.inner(batch.outputs)
        return [batch]

    def state_dict(self):
        return {"steps": self.steps, "inner": self.inner.state_dict()}
"""


def stateful(digits):
    text = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./own.py:Net"')
    text = text.replace('"CrossEntropyLoss"', '"./own.py:Loss"')
    schedule = '\n[schedule]\ntype = "StepLR"\nstep_size = 3\nper = "step"\n'
    return text + schedule + '\n[method]\ntype = "./own.py:Method"\n'


def test_a_training_does_not_notice_that_its_steps_were_measured(write, digits, monkeypatch):
    path = write(stateful(digits), own=STATEFUL)
    measured = run(path, out="measured", quiet=True)
    record = json.loads((measured.folder / "run.json").read_text())
    assert record["step_time"]["steps"] == 9
    monkeypatch.setattr(runner, "trial", lambda parts, repeats: None)
    plain = run(path, out="plain", quiet=True)
    ours, theirs = (read_checkpoint(newest(result.folder)) for result in (measured, plain))
    assert ours["method"]["steps"] == ours["step"]
    assert_same(ours, theirs)


def newest(folder):
    return newest_checkpoint(RunFolder(folder))[0]


def assert_same(one, other):
    """Compare checkpoints to the bit."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one.keys() - {"config"}:  # it has the folder
            assert_same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same(*pair)
    else:
        assert np.array_equal(np.asarray(one), np.asarray(other))


def test_a_run_with_large_steps_repeats_fewer(write, digits, monkeypatch):
    parts = prepare(load_config(write(digits)))
    assert trial(parts, None).step_time.steps == 9
    monkeypatch.setattr(trials, "_SPARE", 0)
    assert trial(parts, None).step_time.steps == 1  # 0.5 % of 46 steps is less than one
    parts = prepare(load_config("digits.toml", {"run.epochs": 200}))
    assert trial(parts, None).step_time.steps == 9


def test_profile(write, digits, capsys):
    config = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    assert main(["profile", write(config, net=NET), "--steps", "3"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert re.search(r"%.* 3.6 kB +body \(Linear\)$", out, re.M)
    assert re.search(r"%.* net.py:12 in forward: return self.head\(hidden\)$", out, re.M)
    shares = [float(found) for found in re.findall(r"^ *([\d.]+) %", out, re.M)]
    assert sum(shares) == pytest.approx(200, abs=1)  # two tables, each of a whole step
    assert re.search(r"^step: .* operations take .* .medians over 3 warm steps.$", out, re.M)
    assert len(re.findall(r"% +.Python between the operations: ", out)) == 2


def test_profile_for_programs(write, digits, capsys, tmp_path):
    path = write(digits)
    assert main(["profile", path, "--steps", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["module"]: row for row in found["modules"]}
    assert rows["1"]["type"] == "Linear" and rows["1"]["flops"] == 2 * 57 * 64 * 16
    assert found["step_seconds"] > 0 and found["batch_seconds"] > 0
    times = [row[phase] for row in rows.values() for phase in ("forward", "backward", "update")]
    assert found["operations_seconds"] == pytest.approx(sum(times) / 1e9)
    parts = found["operations_seconds"] + found["between_seconds"]
    assert found["step_seconds"] == pytest.approx(parts)
    assert [p.name for p in tmp_path.iterdir()] == [path]


def test_profile_refuses(write, digits, capsys):
    path = write(digits)
    assert main(["profile", path, "--steps", "0"]) == 2
    assert "--steps must be at least 1, got 0" in capsys.readouterr().err
    assert main(["profile", path, "optimizer.lrr=1", "model.sizes=3"]) == 2
    err = capsys.readouterr().err
    assert "did you mean 'lr'?" in err and "2 mistakes; nothing was written." in err
