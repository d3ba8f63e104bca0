"""``run.compile``: the figures and weights of an eager run, to the bit."""

import json
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.config_pb2 import RunMetadata

import tinynet as tn
from tinynet import autograd, board, nn, optim
from tinynet.compiler import CompileError, CompileWarning
from tinynet.data import DataLoader, TensorDataset
from tinynet.train import NonFiniteError, Updater, fit, resume, run
from tinynet.train.cli import main

from .shipped import CONFIGS, SHORT, accuracy
from .test_cli import ENVIRONMENT, PROGRAM
from .test_method import GAN_CONFIG
from .test_resume import ALL, CASES, all_of, killed

pytestmark = pytest.mark.usefixtures("fast_captures")

COMPILED = {"run.compile": True}
SHORTER = {
    "digits_cnn.toml": {"data.batch_size": 120},
    "digits_gan.toml": {"data.batch_size": 120, "run.epochs": 1},
    "digits_vae.toml": {"data.batch_size": 120, "run.epochs": 1},
    "fashion_cnn.toml": {"data.batch_size": 50},
    "text_gpt.toml": {"data.limit": 15_000},
    "text_lstm.toml": {"data.limit": 15_000},
}


@pytest.fixture(autouse=True)
def no_fall_back():
    """A warning that something runs eagerly is an error, unless a test expects it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        yield


def record_of(folder):
    return json.loads((Path(folder) / "run.json").read_text())


def same(one, other):
    """Everything in the checkpoints and the figures of two runs is equal."""
    first, second = all_of(one), all_of(other)
    assert [key for key in first if first[key] != second[key]] == []
    assert first.keys() == second.keys()


# ---- runs ----


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_shipped_config_trains_as_eagerly(path, tmp_path):
    short = SHORT.get(path.name, accuracy(0.5))
    overrides = {"run.epochs": 1, **short.overrides, **short.files(tmp_path)}
    overrides |= SHORTER.get(path.name, {})
    eager = run(path, overrides, out=tmp_path / "eager", quiet=True)
    compiled = run(path, {**overrides, **COMPILED}, out=tmp_path / "compiled", quiet=True)
    same(eager.folder, compiled.folder)
    assert compiled.compiled["replayed"] > compiled.compiled["captured"]
    assert (compiled.compiled["eager"], compiled.compiled["eager_because"]) == (0, [])
    assert eager.compiled is None


@pytest.mark.slow
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_shipped_config_that_was_killed_ends_as_eagerly(path, tmp_path, dies):
    short = SHORT.get(path.name, accuracy(0.5))
    overrides = {**short.overrides, **short.files(tmp_path), **SHORTER.get(path.name, {})}
    overrides |= {"run.epochs": 1, "run.save_every_steps": 2}
    eager = run(path, overrides, out=tmp_path / "eager", quiet=True)
    folder = killed(path, {**overrides, **COMPILED}, dies, 5, tmp_path / "killed")
    again = resume(folder, quiet=True)
    same(eager.folder, folder)
    assert again.compiled["replayed"] > 0 and again.compiled["eager"] == 0


def test_a_config_says_that_it_compiles(write, digits):
    eager = run(write(digits), quiet=True)
    assert "[run]\n" in digits
    compiled = run(write(digits.replace("[run]\n", "[run]\ncompile = true\n")), quiet=True)
    same(eager.folder, compiled.folder)
    assert compiled.compiled["replayed"] > 0 and eager.compiled is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", [True, False], ids=["compiled first", "eager first"])
def test_a_killed_run_goes_on_in_the_other_way(case, first, write, whole_run, digits, dies):
    sections, extra = CASES[case]
    config = digits.replace("momentum = 0.9\n", "") if case == "Adam" else digits
    path = write(config + sections)
    whole = whole_run(config + sections, *extra)
    count = 9 if case == "accumulation" else 30
    folder = killed(path, [*extra, f"run.compile={str(first).lower()}"], dies, count, "killed")
    again = resume(folder, {"run.compile": not first}, quiet=True)
    assert (again.compiled is None) == first
    same(whole.folder, folder)


def test_it_says_that_it_compiled(write, digits, capsys):
    path = write(digits + ALL)
    assert main(["train", path, "--set", "run.compile=true"]) == 0
    assert "\ncompiled: 4 programs replayed " in capsys.readouterr().out
    assert main(["train", path, "--set", "run.compile=true", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert record_of(printed["folder"])["compiled"] == printed["compiled"]
    assert main(["train", path]) == 0
    assert "compiled" not in capsys.readouterr().out


READS = """\
    from tinynet import nn

    class Reads(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

        def forward(self, x):
            y = self.layers(x)
            return y / 2 if y.max().item() > 9 else y
"""


def test_what_cannot_be_captured_is_said_once(write, digits):
    path = write(
        digits.replace('type = "mlp"\nsizes = [64, 16, 10]', 'type = "./own.py:Reads"'), own=READS
    )
    eager = run(path, quiet=True)
    command = [*PROGRAM, "train", path, "--set", "run.compile=true", "run.name=compiled"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    first, place, *_ = done.stderr.splitlines()
    assert done.stderr.count("tn.compile:") == 1
    assert first.startswith("warning: tn.compile: training_step runs eagerly: item() reads values")
    assert place == "  where: own.py:10 in forward: return y / 2 if y.max().item() > 9 else y"
    assert "\ncompiled: nothing; all 46 steps ran eagerly\n" in done.stdout
    (folder,) = Path("runs/compiled").iterdir()
    same(eager.folder, folder)
    assert record_of(folder)["compiled"]["eager_because"] == ["item() reads values of a tensor"]


OWN = """\
    from tinynet.train import Batch, Method

    class Own(Method):
        def step(self, task):
            ((inputs, targets),) = task
            outputs = task.model(inputs)
            task.zero_grad()
            value = task.backward(task.loss(outputs, targets) / 2)
            task.step()
            return [Batch(inputs, targets, outputs, value)]

        def measure(self, model, loss, batch):
            inputs, targets = batch
            outputs = model(inputs)
            return Batch(inputs, targets, outputs, loss(outputs, targets).item())

    class OnTensors(Own):
        def step(self, task):
            ((inputs, targets),) = task
            outputs, loss = task.run(self.train_on, inputs, targets)
            return [Batch(inputs, targets, outputs, loss.item())]

        def train_on(self, task, inputs, targets):
            outputs = task.model(inputs)
            task.zero_grad()
            loss = task.add_gradients(task.loss(outputs, targets) / 2)
            task.step()
            return outputs, loss
"""


def test_a_method_of_ones_own(write, digits):
    path = write(digits, own=OWN)
    eager = run(path, {"method.type": "./own.py:Own"}, quiet=True)
    with pytest.warns(CompileWarning, match="the steps of the method Own run eagerly") as caught:
        other = run(path, {"method.type": "./own.py:Own", **COMPILED}, quiet=True)
    assert len(caught) == 1
    compiled = run(path, {"method.type": "./own.py:OnTensors", **COMPILED}, quiet=True)
    same(eager.folder, other.folder)
    same(eager.folder, compiled.folder)
    assert compiled.compiled["programs"] == 2


# ---- tinynet graph --compiled ----


def test_the_graph_of_the_program(write, digits, capsys):
    path = write(digits)
    assert main(["graph", path, "--compiled"]) == 0
    text = capsys.readouterr().out
    for name in ("check_loss", "check_gradients", "zero_grad", "ReluBackward0", "weight.grad"):
        assert name in text
    assert main(["graph", path, "--compiled", "--format", "tensorboard", "--save", "events"]) == 0
    assert "graphs: program; in events" in capsys.readouterr().out
    (event,) = EventAccumulator("events").Reload().Tensors(" program")
    (content,) = event.tensor_proto.string_val
    (graph,) = RunMetadata.FromString(content).function_graphs
    assert "check_gradients" in {node.op for node in graph.pre_optimization_graph.node}


def test_a_method_with_several_programs(write, capsys):
    path = write(GAN_CONFIG)
    assert main(["graph", path, "--compiled", "--part", "train_generator"]) == 0
    assert "Sequential[generator]/" in capsys.readouterr().out
    assert main(["graph", path, "--compiled", "--part", "generator"]) == 2
    assert "available: train_discriminator, train_generator" in capsys.readouterr().err


def test_no_graph_of_what_cannot_be_captured(write, digits, capsys):
    config = digits.replace('type = "mlp"\nsizes = [64, 16, 10]', 'type = "./own.py:Reads"')
    assert main(["graph", write(config, own=READS), "--compiled"]) == 2
    assert "item() reads values of a tensor.\n  where: own.py:10" in capsys.readouterr().err
    path = write(digits, own=OWN)
    assert main(["graph", path, "--compiled", "--set", "method.type=./own.py:Own"]) == 2
    assert "nothing in a step of this method is compiled" in capsys.readouterr().err


# ---- fit ----


def make(*last, seed=0):
    tn.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 3), *last
    )


def trained(model, batches, epochs=3, optimizer=None, **options):
    tn.manual_seed(1)
    optimizer = optimizer or optim.AdamW(model.parameters(), lr=0.01)
    return [
        (step.loss, step.rates, step.outputs.tolist())
        for step in fit(model, nn.MSELoss(), optimizer, batches, epochs, **options)
    ]


def pairs(count=22):
    tn.manual_seed(2)
    return TensorDataset(tn.randn(count, 4), tn.randn(count, 3))


def bits(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


@pytest.mark.parametrize("options", [{}, {"accumulate": 2}, {"clip_norm": 0.1, "clip_value": 0.1}])
def test_fit_takes_the_same_steps(options):
    models = make(), make()
    batches = DataLoader(pairs(), batch_size=4)  # the last one is smaller
    eager, compiled = (
        trained(model, batches, 6, compile=compile, **options)
        for model, compile in zip(models, (False, True), strict=True)
    )
    assert eager == compiled
    assert bits(models[0]) == bits(models[1])


def test_schedules_and_several_optimizers():
    results = []
    for compile in (False, True):
        model = make()
        updaters = {}
        for name in "03":
            sgd = optim.SGD(model.get_submodule(name).parameters(), lr=0.1, momentum=0.9)
            schedule = optim.lr_scheduler.StepLR(sgd, 2, gamma=0.5)
            updaters[name] = Updater(sgd, 1.0, None, schedule, "step")
        steps = trained(model, DataLoader(pairs(), 4), 3, updaters, compile=compile)
        results.append((steps, bits(model)))
    assert results[0] == results[1]


class Root(nn.Module):
    def forward(self, x):
        return (x * (x > 0)).sqrt()  # its derivative at 0 is infinite, and is multiplied by 0


@pytest.mark.parametrize("model", [[], [Root()]], ids=["the loss", "a gradient"])
@pytest.mark.parametrize("skip", [None, lambda error: True], ids=["stop", "skip"])
def test_a_step_that_is_not_finite_is_refused_as_eagerly(model, skip):
    data = pairs(24)
    if not model:
        data.tensors[0][17, 1] = np.inf  # in the fifth batch: the steps before it are replayed
    results = []
    for compile in (False, True):
        net = make(*model)
        try:
            result = trained_until_skipped(net, DataLoader(data, 4), skip, compile)
        except NonFiniteError as error:
            result = str(error)
        results.append((result, bits(net)))
    assert results[0] == results[1]
    assert skip or "not finite" in results[0][0] or "loss is nan" in results[0][0]


def trained_until_skipped(model, batches, skip, compile):
    sgd = optim.SGD(model.parameters(), lr=0.1)
    steps = fit(model, nn.MSELoss(), sgd, batches, 2, skip=skip, compile=compile)
    return [repr(step.loss) for step in steps]


def test_observers_see_each_step():
    seen = []
    for compile in (False, True):
        model = make()
        sgd = optim.SGD(model.parameters(), lr=0.1)
        steps = fit(model, nn.MSELoss(), sgd, DataLoader(pairs(), 4), 4, compile=compile)
        for _ in range(8):
            next(steps)
        with board.record(model) as recording:
            next(steps)
        with autograd.checked():
            next(steps)
        nodes = [node.name for node in recording.graphs["step"].nodes]
        seen.append((nodes, bits(model), next(steps).loss))
    assert seen[0] == seen[1]


def test_with_a_compiler_of_ones_own():
    seen = []

    def compiler(function):
        compiled = tn.compile(function, fullgraph=True)
        seen.append(compiled)
        return compiled

    trained(make(), DataLoader(pairs(20), 4), compile=compiler)
    assert seen[0].calls() == (13, 2, 0)
    model = nn.Sequential(make(), Reading())
    with pytest.raises(CompileError, match="item"):
        trained(model, DataLoader(pairs(20), 4), compile=compiler)


class Reading(nn.Module):
    def forward(self, x):
        return x * x.mean().item()
