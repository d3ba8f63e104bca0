import functools
import textwrap

import pytest

from tinynet.train import run, show
from tinynet.train.assemble import trial
from tinynet.train.run import training as trainings

from . import shipped

DIGITS = """\
[run]
seed = 3
epochs = 2
report = false
[data]
type = "Digits"
batch_size = 57

[model]
type = "mlp"
sizes = [64, 16, 10]

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "SGD"
lr = 0.1
momentum = 0.9
"""


@pytest.fixture(autouse=True)
def _started_as_tinynet(monkeypatch):
    monkeypatch.setenv("TINYNET_COMMAND", "tinynet")


@pytest.fixture
def reports():
    """Runs in this test write their report, as those of users do."""


@pytest.fixture(autouse=True)
def _without_reports(request, monkeypatch):
    """Draw no report that no test reads: drawing takes longer than the training of most tests."""
    if "reports" not in request.fixturenames:
        monkeypatch.setattr(show, "write_report", lambda folder, parts: "")


@pytest.fixture
def repeats():
    """Runs in this test repeat the step whose graph they record, as those of users do."""


@pytest.fixture(autouse=True)
def _with_one_repeat(request, monkeypatch):
    """Time a recorded step once, not nine times, where no test reads it."""
    if "repeats" not in request.fixturenames:
        monkeypatch.setattr(trial, "_SPARE", 0)


@pytest.fixture
def digits(request):
    """A config that trains, on lines that the tests know."""
    without = "reports" not in request.fixturenames  # in processes of their own, too
    return DIGITS if without else DIGITS.replace("report = false", "")


@pytest.fixture(scope="session")
def whole_run(tmp_path_factory):
    """Runs a config to its end, once for all tests that compare with that; they change nothing."""

    @functools.cache
    def run_whole(config, *overrides):
        folder = tmp_path_factory.mktemp("whole")
        path = folder / "digits.toml"
        path.write_text(config)
        return run(path, overrides, out=folder / "runs", quiet=True)

    return run_whole


@pytest.fixture(scope="session")
def short_run(tmp_path_factory):
    """Trains a shipped config for a short time, once for all tests; they change nothing."""

    @functools.cache
    def train(name):
        (path,) = (path for path in shipped.CONFIGS if path.stem == name)
        return shipped.train_shortly(path, tmp_path_factory.mktemp(name))

    return train


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a config (and modules beside it) into an empty folder and goes there."""
    monkeypatch.chdir(tmp_path)

    def write_files(config, **modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        path = tmp_path / "digits.toml"
        path.write_text(config)
        return path.name

    return write_files


class Killed(BaseException):
    """The end of a process, as far as Python can play it."""


@pytest.fixture
def dies(monkeypatch):
    """Makes the training loop die after a given number of steps."""

    def at(count):
        fit = trainings.fit

        def until(*arguments, **keywords):
            for number, step in enumerate(fit(*arguments, **keywords), 1):
                yield step
                if number == count:
                    raise Killed

        monkeypatch.setattr(trainings, "fit", until)
        return lambda: monkeypatch.setattr(trainings, "fit", fit)

    return at
