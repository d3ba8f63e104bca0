"""`tinynet train` under mpirun: any number of processes gives the same run, to the bit.

The full form (``--full``) tries 2 and 4 processes, too, where the short form tries 3.
"""

import contextlib
import json
import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from tests.tools.patience import PATIENCE, wait_for
from tests.unit.distributed.launching import begin, needs_mpi, start
from tinynet.train import run

pytestmark = needs_mpi

CONFIG = """
run = {epochs = 2, report = false}
data = {type = "Digits", batch_size = 50, validation = 0}
model = {type = "./net.py:net"}
loss = {type = "CrossEntropyLoss"}
optimizer = {type = "Adam", lr = 0.01, accumulate = 4}
"""

NET = """
import os
import time
from tinynet import nn

def net():
    layers = [nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3)]
    return nn.Sequential(*layers, nn.Linear(32, 10))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "digits.toml").write_text(CONFIG)
    return tmp_path


def train(folder, n, name, *options, words=("train", "digits.toml")):
    """Train in ``n`` processes; return the run folder and what was printed."""
    return _train(folder, n, name, *options, words=words)[:2]


def _train(folder, n, name, *options, words=("train", "digits.toml"), environment=None):
    out = ["--out", name] if words[0] == "train" else []
    command = ["-m", "tinynet", *words, *out, *options]
    ended = start(n, *command, cwd=folder, environment=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (found,) = (folder / name).glob("*/*")
    return found, ended.stdout, ended.stderr


def content(run_folder):
    """What a run has computed: its checkpoint, and its figures."""
    with np.load(run_folder / "checkpoint.npz") as stored:
        found = {name: stored[name] for name in stored}
    found = {n: v if isinstance(v, bytes) else v.tobytes() for n, v in found.items()}
    described = json.loads(found.pop("checkpoint.json"))
    described = described.get("content", described)
    del described["config"]  # names the folder
    return {**found, **described, "figures": (run_folder / "metrics.jsonl").read_text()}


def different(one, other):
    """The entries in which two runs differ."""
    one, other = content(one), content(other)
    assert one.keys() == other.keys()
    return [name for name in one if one[name] != other[name]]


def alone(folder, name, *options):
    """Train in this process; return the run folder."""
    return run(folder / "digits.toml", options, out=folder / name, quiet=True).folder


@pytest.mark.parametrize(
    "n", [pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(4, marks=pytest.mark.slow)]
)
def test_any_number_of_processes(folder, n):
    expected = alone(folder, "alone")
    found, printed = train(folder, n, "together")
    assert different(expected, found) == []
    assert f"{n} processes share the 4 batches of 50 examples" in printed
    assert printed.count("epoch 1/2") == 1
    assert [path.name for path in (folder / "together").iterdir()] == ["digits"]


def test_compiled(folder):
    found, printed = train(folder, 2, "together", "run.compile=true")
    assert different(alone(folder, "alone"), found) == []
    assert "replayed" in printed


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "options",
    [
        ("run.max_steps=9",),
        ("run.limit_batches=10",),
        ("run.overfit_batches=6",),
        ("data.validation=0.2", "evaluation.limit_batches=2"),
        ("run.epochs=4", "swa.start=50%"),
        ("run.epochs=3", "swa.start=1", "run.max_steps=20"),
    ],
    ids=" ".join,
)
def test_limits_and_averaged_weights(folder, options):
    found, _ = train(folder, 2, "together", "--set", *options)
    assert different(alone(folder, "alone", *options), found) == []


def test_a_limit_of_time_ends_all_at_the_same_step(folder):
    """One process is slower than the other, so their clocks would not agree."""
    slow = "os.environ.get('PMI_RANK') == '1'"
    (folder / "net.py").write_text(
        f"{NET}\nclass Slow(nn.Module):\n    def forward(self, x):\n"
        f"        time.sleep(0.05 * ({slow}))\n        return x\n\nplain = net\n\n"
        "def net():\n    return plain().append(Slow())\n"
    )
    limit = "run.max_time=0.5 s"
    found, printed = train(folder, 2, "together", "--set", "run.epochs=500", limit)
    assert f"stopped by {limit.replace('=', ' = ')}" in printed
    together = content(found)
    steps = together["step"]
    assert 0 < steps < 500
    expected = content(alone(folder, "alone", "run.epochs=500", f"run.max_steps={steps}"))
    weights = [name for name in expected if name.startswith("model")]
    assert weights and all(together[name] == expected[name] for name in weights)


def test_each_process_takes_one_batch_by_default(folder):
    text = (folder / "digits.toml").read_text()
    (folder / "digits.toml").write_text(text.replace(", accumulate = 4", ""))
    found, printed = train(folder, 3, "together")
    assert "3 processes share the 3 batches of 50 examples of each step" in printed
    assert different(alone(folder, "alone", "optimizer.accumulate=3"), found) == []


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(4, 2, marks=pytest.mark.slow),
        pytest.param(2, 1, marks=pytest.mark.slow),  # as a test below resumes after 3
        (1, 3),
    ],
)
def test_resumed_with_another_number(folder, first, then):
    expected = alone(folder, "alone", "run.epochs=4")
    found, _ = train(folder, first, "together")
    words = ("resume", str(found), "--set", "run.epochs=4")
    again, printed = train(folder, then, "together", words=words)
    assert again == found
    assert printed.count("resuming after epoch 2") == 1
    assert different(expected, found) == []


def test_embeddings_with_max_norm_and_sparse_gradients(folder):
    (folder / "net.py").write_text(
        "from tinynet import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.table = nn.Embedding(17, 8, max_norm=0.9)\n"
        "        self.rows = nn.Embedding(17, 8, sparse=True)\n"
        "        self.out = nn.Linear(8, 10)\n"
        "    def forward(self, x):\n"
        "        levels = (x.flatten(1) * 16).long().clamp(0, 16)\n"
        "        return self.out((self.table(levels) + self.rows(levels)).mean(1))\n"
        "def net():\n"
        "    return Net()\n"
    )
    text = (folder / "digits.toml").read_text()
    text = text.replace('{type = "Adam", lr = 0.01', '{type = "SGD", lr = 0.1')
    (folder / "digits.toml").write_text(text)
    found, _ = train(folder, 3, "together")
    assert different(alone(folder, "alone"), found) == []


def test_batch_norm_in_sync_depends_on_the_number_and_says_so(folder):
    (folder / "net.py").write_text(NET.replace("BatchNorm1d", "SyncBatchNorm"))
    _, printed, errors = _train(folder, 2, "together", environment={"PYTHONWARNINGS": ""})
    assert errors.count("SyncBatchNorm normalises by the batches that all processes") == 1
    assert "epoch 2/2" in printed


METRICS = """
from dataclasses import dataclass

from tinynet import nn

from net import net

class Order:
    higher_is_better = True
    def __init__(self):
        self.number = self.sum = 0
    def update(self, outputs, targets):
        self.number += 1
        right = outputs.scores.argmax(1) == targets
        self.sum = (self.sum * self.number + right.float().mean().item()) % 1
    def compute(self):
        return {"sum": self.sum, "batches": self.number}

@dataclass
class Scores:
    scores: object
    more: object = None

class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = net()
    def forward(self, x):
        return Scores(self.inner(x), MORE)

class Loss(nn.Module):
    def forward(self, outputs, targets):
        return nn.functional.cross_entropy(outputs.scores, targets)
"""


def with_metrics(folder, more):
    """Measure with a class whose result depends on the order of all 8 batches."""
    (folder / "metrics.py").write_text(METRICS.replace("MORE", more))
    text = (folder / "digits.toml").read_text().replace("./net.py:net", "./metrics.py:Wrapped")
    text = text.replace("CrossEntropyLoss", "./metrics.py:Loss")
    own = 'evaluation = {metrics = ["./metrics.py:Order"], monitor = "Order_sum", patience = 1}\n'
    (folder / "digits.toml").write_text(text + own)


def test_metrics_of_users_are_those_of_all_batches(folder):
    with_metrics(folder, "None")
    expected = alone(folder, "alone", "run.epochs=6")
    found, _ = train(folder, 3, "together", "run.epochs=6")
    assert different(expected, found) == []
    first, *_ = map(json.loads, (found / "metrics.jsonl").read_text().splitlines())
    assert first["test/Order_batches"] == 8  # 3 + 3 + 2, the last smaller than the others
    records = [json.loads((one / "run.json").read_text()) for one in (expected, found)]
    assert records[0]["best"] == records[1]["best"]
    best = [(one / "best.npz") for one in (expected, found)]
    weights = [np.load(one)["model/inner.1.weight"] for one in best]
    assert (weights[0] == weights[1]).all()


def test_functions_of_users_are_those_of_all_batches(folder):
    (folder / "metrics.py").write_text(
        "def order(outputs, targets):\n"
        "    sums = [0.0]\n"
        "    for value in outputs.max(1).values.tolist():\n"
        "        sums.append((sums[-1] * 3 + value) % 1)\n"
        "    return {'sum': sums[-1], 'examples': len(targets)}\n"
        "order.higher_is_better = False\n"
    )
    own = 'evaluation = {metrics = ["./metrics.py:order"], monitor = "order_sum"}\n'
    (folder / "digits.toml").write_text((folder / "digits.toml").read_text() + own)
    found, _ = train(folder, 3, "together", "run.compile=true")
    assert different(alone(folder, "alone"), found) == []


def test_outputs_that_cannot_be_sent_are_refused(folder):
    with_metrics(folder, "(n for n in ())")
    alone(folder, "alone", "run.epochs=1")
    ended = start(2, "-m", "tinynet", "train", "digits.toml", "run.epochs=1", cwd=folder)
    assert ended.returncode != 0 and "Traceback" not in ended.stderr
    assert ended.stderr.count("a metric of yours gets the outputs of all") == 1


# ---- what goes wrong -------------------------------------------------------------------------


def test_a_mistake_in_the_config_is_told_once(folder):
    ended = start(2, "-m", "tinynet", "train", "digits.toml", "optimizer.lr=-1", cwd=folder)
    assert ended.returncode == 2
    assert ended.stderr.count("optimizer.lr") == 1
    assert not (folder / "runs").exists()


FAILING = (
    NET
    + """
class Failing(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = net()
        self.steps = 0
    def forward(self, x):
        self.steps += self.training
        rank = int(os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or 0)
        if self.training and self.steps == 30 and rank == 1:
            {}
        return self.inner(x)
def failing():
    return Failing()
"""
)


def fails(folder, statement, *options, n=3):
    (folder / "net.py").write_text(FAILING.replace("{}", statement))
    text = (folder / "digits.toml").read_text().replace(":net", ":failing")
    (folder / "digits.toml").write_text(text)
    command = ["-m", "tinynet", "train", "digits.toml", "run.epochs=6", *options]
    ended = start(n, *command, cwd=folder)
    assert ended.returncode != 0
    return ended.stdout + ended.stderr


def test_a_rank_that_raises_ends_all_with_one_message(folder):
    printed = fails(folder, "raise RuntimeError('the disk is on fire')")
    assert printed.count("the disk is on fire") == printed.count("raise RuntimeError") + 1
    assert "rank 1 of 3:" in printed
    assert "net.py" in printed
    assert resumes(folder, printed)


def resumes(folder, printed):
    """Whether a message names the command that resumes the run."""
    (found,) = (folder / "runs").glob("*/*")
    return f"tinynet resume {found.relative_to(folder)}\n" in printed


def test_a_rank_that_finds_nan_ends_all_with_one_message(folder):
    printed = fails(folder, "return self.inner(x) * float('nan')")
    assert printed.count("the loss is nan") == 1
    assert "rank 1 of 3: the loss is nan in epoch" in printed
    assert resumes(folder, printed)


def test_a_rank_that_finds_nan_skips_the_step_on_all(folder):
    (folder / "net.py").write_text(FAILING.replace("{}", "return self.inner(x) * float('nan')"))
    text = (folder / "digits.toml").read_text().replace(":net", ":failing")
    (folder / "digits.toml").write_text(text)
    found, _ = train(folder, 3, "together", "run.non_finite='skip'")
    assert json.loads((found / "run.json").read_text())["skipped"] == 1


@pytest.mark.sampled(2)  # test_faults.py tells killed ranks from stopped ones
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=lambda n: n.name)
def test_a_rank_that_is_killed_or_stopped_ends_all_and_the_run_resumes(folder, number):
    statement = f"time.sleep(1); os.kill(os.getpid(), {number:d}); time.sleep(9)"
    printed = fails(folder, statement, "run.save_every_steps=5")
    event = "killed" if number == signal.SIGKILL else "stopped"
    assert re.search(f"rank 1 of 3: process .* {event}", printed)
    assert "it was at net.py:" in printed
    assert resumes(folder, printed)
    (found,) = (folder / "runs").glob("*/*")
    again, printed = train(folder, 1, "runs", words=("resume", str(found)))
    assert "resuming after epoch" in printed
    expected = alone(folder, "alone", "run.epochs=6", "run.save_every_steps=5")
    assert different(expected, again) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_signal_to_mpirun_stops_all_after_a_step(folder, number):
    words = ["-m", "tinynet", "train", "digits.toml", "run.epochs=99999", "run.eval_every=1000"]
    with begin(3, *words, cwd=folder) as running:
        assert any("2/99999" in line for line in running.stdout)
        running.send_signal(number)
        printed, errors = running.communicate(timeout=PATIENCE)
    assert "Traceback" not in errors
    (found,) = (folder / "runs").glob("*/*")
    assert printed.count("stopped after the step in progress") == 1
    assert json.loads((found / "run.json").read_text())["status"] == "interrupted"


# ---- while it starts -------------------------------------------------------------------------


def rank_that_starts(rank, launcher):
    """The process of a rank of mpirun, as soon as another process watches it."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_text().rstrip("\0").split("\0")
            if words[-4:-1] == ["early", "3", str(rank)] and launcher in ancestors(int(words[-1])):
                return int(words[-1])
    return None


def ancestors(pid):
    while pid > 1:
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
@pytest.mark.parametrize("seconds", [0.0, 0.05])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=lambda n: n.name)
def test_a_rank_that_is_killed_while_it_starts_is_named(folder, number, seconds):
    with begin(3, "-m", "tinynet", "train", "digits.toml", cwd=folder) as running:
        pid = wait_for(running, lambda: rank_that_starts(1, running.pid))
        time.sleep(seconds)
        os.kill(pid, number)
        _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode != 0
    name, code = number.name, 128 + number
    killed = f"rank 1 of 3: process {pid} was killed by {name} (exit code {code}) before all"
    assert errors.count(killed) == errors.count("all processes end; start the same command") == 1
    assert ("memory has run out" in errors) == (number == signal.SIGKILL)
    assert not (folder / "runs").exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_a_rank_that_ends_while_others_wait_for_it_ends_all(folder):
    with begin(3, "-m", "tinynet", "train", "digits.toml", cwd=folder) as running:
        pid = wait_for(running, lambda: rank_that_starts(1, running.pid))
        os.kill(pid, signal.SIGINT)
        _, errors = running.communicate(timeout=PATIENCE)
    assert errors.count("stopped by Ctrl-C") == 1
    named = f"rank 1 of 3: process {pid} has ended \\(exit code 130\\)"  # if it was seen in time
    assert re.search(f"({named}|a rank of 3 has ended) before all ranks had joined", errors)


def test_a_rank_that_explains_itself_is_not_called_killed(folder):
    ended = start(2, "-m", "tinynet", "train", "nothing.toml", cwd=folder)
    assert ended.returncode != 0 and "killed" not in ended.stderr
    ended = start(2, "-m", "tinynet", "check", "digits.toml", cwd=folder)
    assert ended.returncode == 0 and ended.stderr == ""
