"""Callbacks: when they are called, what they get, and that they resume with the run."""

from pathlib import Path

import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.board.storage import read_events
from tinynet.train import Callback, Callbacks, UsageError, fit, resume, run
from tinynet.train.cli import main
from tinynet.train.exhibits import DecisionBoundary
from tinynet.train.loop.callback import Entry

from .conftest import Killed
from .test_resume import rows

OWN = """
    import json, pathlib
    import tinynet as tn

    class Diary:
        '''Writes down what happens, and counts steps.'''

        def __init__(self, file: str = "diary.txt"):
            self.file, self.steps = pathlib.Path(file).absolute(), 0

        def write(self, *words):
            with open(self.file, "a") as file:
                print(*words, file=file)

        def on_run_begin(self, at):
            self.write("run", at.step, at.epoch, at.last)

        def on_epoch_begin(self, at):
            self.write("epoch", at.epoch)

        def on_step_end(self, at):
            assert at.model.training and at.last.number == at.step
            self.steps += 1

        def on_evaluation_end(self, at):
            assert not at.model.training and not tn.is_grad_enabled()
            self.write("evaluation", sorted(at.figures), len(at.test_set), tn.rand(1).item())
            at.writer.add_scalar("steps", self.steps, at.step)

        def on_epoch_end(self, at):
            assert "train/loss" in at.figures
            self.write("end", at.epoch, self.steps, at.updaters[""].lr, "val/loss" in at.figures)

        def on_run_end(self, at):
            self.write("over", at.step)

        def state_dict(self):
            return {"steps": self.steps}

        def load_state_dict(self, state):
            self.steps = state["steps"]

    class Typo:
        def on_epoch_ends(self, at): pass
        def on_step_end(self, at): pass

    class Nothing:
        pass

    class Stop:
        def on_evaluation_end(self, at):
            if at.epoch == 2:
                at.stop("enough seen")

    class Breaks:
        def on_step_end(self, at):
            raise ArithmeticError("no more")
"""


def with_callbacks(config, *tables, epochs=2):
    listed = f"callbacks = [{', '.join(tables)}]"
    return config.replace("epochs = 2", f"epochs = {epochs}\n{listed}")


DIARY = '{type = "./own.py:Diary"}'


def test_all_events_of_a_run(digits, write, tmp_path):
    run(write(with_callbacks(digits, DIARY), own=OWN), quiet=True)
    first, *lines = (tmp_path / "diary.txt").read_text().splitlines()
    assert first == "run 0 1 None"
    drawn = lines[1].split()[-1]
    assert lines == [
        "epoch 1",
        f"evaluation ['accuracy', 'loss'] 364 {drawn}",  # the same random number again
        "end 1 23 0.1 True",
        "epoch 2",
        f"evaluation ['accuracy', 'loss'] 364 {drawn}",
        "end 2 46 0.1 True",
        "over 45",
    ]


def test_callbacks_do_not_change_the_weights(digits, write):
    plain = run(write(digits), quiet=True)
    with_diary = run(write(with_callbacks(digits, DIARY), own=OWN), quiet=True)
    assert plain.metrics == with_diary.metrics


def test_state_is_resumed(digits, write, dies, tmp_path):
    path = write(with_callbacks(digits, DIARY), own=OWN)
    undo = dies(30)
    with pytest.raises(Killed):
        run(path, ["run.save_every_steps=10"], quiet=True)
    undo()
    (tmp_path / "diary.txt").unlink()
    (folder,) = (tmp_path / "runs" / "digits").iterdir()
    resume(folder, quiet=True)
    lines = (tmp_path / "diary.txt").read_text().splitlines()
    assert lines[0] == "run 30 2 None"
    assert "end 2 46 0.1 True" in lines
    with pytest.raises(UsageError, match="run.callbacks cannot be changed|their state is that"):
        resume(folder, ["run.epochs=3", "run.callbacks=[]"], quiet=True)


def test_a_callback_ends_the_run(digits, write, capsys, tmp_path):
    path = write(with_callbacks(digits, '{type = "./own.py:Stop"}', epochs=5), own=OWN)
    result = run(path)
    assert (result.stopped_by, result.is_complete) == ("enough seen", True)
    assert "stopped by a callback: enough seen" in capsys.readouterr().out
    assert main(["explain", str(result.folder)]) == 0
    assert "finished, stopped by a callback: enough seen" in capsys.readouterr().out
    assert len(rows(result.folder)) == 2
    resume(result.folder)
    assert "the run is complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    "table, messages",
    [
        (
            '{type = "./own.py:Typo"}',
            ["a method on_epoch_ends", "did you mean 'on_epoch_end'?"],
        ),
        ('{type = "./own.py:Nothing"}', ["must give a callback (with one of the methods on_run_b"]),
        ('{type = "./own.py:Dairy"}', ["./own.py has no 'Dairy'; did you mean 'Diary'?"]),
        ('{type = "./own.py:Diary", fil = "a"}', ["fil: unknown key; did you mean 'file'?"]),
        ("3", ["run.callbacks: must be a list of types or tables, got [3]"]),
        ('{type = "Diary"}', ["there is no 'Diary'", "./file.py:Name"]),
    ],
)
def test_mistakes(digits, write, tmp_path, table, messages):
    with pytest.raises(UsageError) as failure:
        run(write(with_callbacks(digits, table), own=OWN), quiet=True)
    for message in ["digits.toml:4", *messages]:
        assert message in str(failure.value)
    assert not (tmp_path / "runs").exists()


def test_a_callback_that_fails_stops_the_run(digits, write, capsys, tmp_path):
    path = write(with_callbacks(digits, '{type = "./own.py:Breaks"}', DIARY), own=OWN)
    assert main(["train", path]) == 1
    shown = capsys.readouterr().err
    assert "the run failed" in shown and "ArithmeticError: no more" in shown
    assert "own.py" in shown and "tinynet/train" not in shown
    assert "over 0" in (tmp_path / "diary.txt").read_text()


# ---- in fit ----


def test_events_of_fit():
    calls = []

    class Log(Callback):
        def on_run_begin(self, at):
            assert at.writer is None and at.last is None
            calls.append("run")

        def on_epoch_end(self, at):
            calls.append(f"epoch {at.epoch} {dict(at.figures)}")

        def on_step_end(self, at):
            calls.append(f"step {at.step}")

        def on_evaluation_end(self, at):
            assert not at.model.training
            calls.append(f"loss {at.figures['loss']}")

        def on_run_end(self, at):
            calls.append("end")

    model, xs = nn.Linear(1, 1), tn.ones(4, 1)
    batches = [(xs, xs), (xs, 2 * xs)]
    sgd = optim.SGD(model.parameters(), lr=0.1)
    for _ in fit(model, nn.MSELoss(), sgd, batches, 1, callbacks=[Log()]):
        pass
    assert calls == ["run", "step 0", "step 1", "epoch 1 {}", "end"]
    calls.clear()
    callbacks = Callbacks([Log()])
    for step in fit(model, nn.MSELoss(), sgd, batches, 3, callbacks=callbacks):
        if step.ends_epoch:
            callbacks.evaluated({"loss": 0.5})
            callbacks.end_epoch({"test/loss": 0.5})
            break
    assert calls == ["run", "step 0", "step 1", "loss 0.5", "epoch 1 {'test/loss': 0.5}", "end"]
    with pytest.raises(RuntimeError, match="inside a loop over fit"):
        Callbacks([Log()]).evaluated({})


def test_an_error_ends_the_run_unless_the_entry_only_warns():
    class Broken:
        def on_step_end(self, at):
            raise ValueError("broken")

    def steps(entry):
        callbacks = Callbacks()
        callbacks.insert(0, entry)
        model, xs = nn.Linear(1, 1), tn.ones(4, 1)
        sgd = optim.SGD(model.parameters(), lr=0.1)
        return len([*fit(model, nn.MSELoss(), sgd, [(xs, xs)], 3, callbacks=callbacks)])

    seen = []
    assert steps(Entry(Broken(), on_error=seen.append)) == 3
    assert [str(error) for error in seen] == ["broken"] * 3
    with pytest.raises(ValueError, match="broken"):
        steps(Entry(Broken()))


def test_the_own_callbacks_of_a_run_come_before_those_of_the_caller(write, digits, capsys):
    class Last:
        def on_epoch_end(self, at):
            print("the caller's", f"epoch/train_loss {at.epoch}")
            folder = at.writer.get_logdir()
            assert len(read_events(Path(folder)).scalars["epoch/train_loss"]) == at.epoch

    run(write(digits), callbacks=[Last()])
    lines = [line for line in capsys.readouterr().out.splitlines() if "epoch" in line]
    assert [line.partition(" ")[0] for line in lines[:4]] == ["epoch", "the"] * 2


def test_a_callback_of_fit_stops_it():
    class Stop:
        def on_step_end(self, at):
            at.stop("enough")

    model, xs = nn.Linear(1, 1), tn.ones(4, 1)
    sgd = optim.SGD(model.parameters(), lr=0.1)
    steps = [*fit(model, nn.MSELoss(), sgd, [(xs, xs)] * 2, 5, callbacks=[Stop()])]
    assert len(steps) == 2  # the epoch is completed


def test_an_exhibit_is_a_callback():
    assert isinstance(DecisionBoundary(), Callback)


class Counter:
    def __init__(self):
        self.evaluations = 0

    def on_evaluation_end(self, at):
        self.evaluations += 1

    def state_dict(self):
        return {"evaluations": self.evaluations}

    def load_state_dict(self, state):
        self.evaluations = state["evaluations"]


def test_callbacks_of_the_caller(digits, write):
    """They are called and resumed, and are not in the config of the run."""
    counter = Counter()
    folder = run(write(digits), quiet=True, callbacks=[counter]).folder
    assert counter.evaluations == 2 and "Counter" not in (folder / "config.toml").read_text()
    counter = Counter()
    resume(folder, {"run.epochs": 3}, quiet=True, callbacks=[counter])
    assert counter.evaluations == 3
    with pytest.raises(UsageError, match="the checkpoint does not fit"):
        resume(folder, {"run.epochs": 4}, quiet=True)
