"""Runs that are killed with SIGKILL at random moments, resumed, and compared with undisturbed ones.

The killed processes are forks, so that the moments are those of training, not of starting Python.
"""

import functools
import itertools
import os
import random
import shutil
import signal
import time
import warnings

import pytest

from tinynet.train import resume, run

from .conftest import DIGITS
from .shipped import CONFIGS, SHORT
from .test_resume import ALL, same

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")

EVERYTHING = DIGITS + ALL
SETTINGS = {
    "model.dropout": 0.3,
    "optimizer.accumulate": 2,
    "optimizer.clip_norm": 1.0,
    "data.workers": 2,
}
SHRUNKEN = {
    "digits_cnn.toml": {"data.batch_size": 250},
    "digits_gan.toml": {"data.batch_size": 250},
    "digits_vae.toml": {"data.batch_size": 250},
    "fashion_cnn.toml": {"data.batch_size": 100},
    "fashion_mlp.toml": {"data.batch_size": 100},
}
"""Fewer steps, so that several runs take seconds."""

KILLED = 86  # a status of processes that no error has

SAVING = {"run.save_every_steps": 3, "run.keep_checkpoints": 2}


def folder_of(result):
    """The folder of a run; asserts that no signal from outside, as of `timeout`, stopped it."""
    assert result.is_complete, f"stopped by {result.stopped_by}"
    return result.folder


def in_another_process(work):
    """Start a function in a fork; the result is its process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads
        process = os.fork()
    if process == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return process


def killed_after(seconds, work):
    """Let a function work for a while in a fork and kill it; whether it came to its end before."""
    process = in_another_process(work)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            assert status == 0, f"it failed by itself: {status}"
            return True
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False


def disturbed(path, overrides, out, seconds, kills, chance):
    """The folder of a run that was killed so many times."""
    for _ in range(kills):
        folders = [*out.glob("*/*/config.toml")]
        if not folders:  # it was killed before there was anything
            shutil.rmtree(out, ignore_errors=True)
        moment = chance.uniform(0, seconds)
        if not folders:
            killed_after(moment, lambda: run(path, overrides, out=out, quiet=True))
        else:
            folder = folders[0].parent
            killed_after(moment, lambda folder=folder: resume(folder, quiet=True))
    (config,) = [*out.glob("*/*/config.toml")] or [None]
    if config is None:
        return folder_of(run(path, overrides, out=out, quiet=True))
    return folder_of(resume(config.parent, quiet=True))


def check(path, overrides, tmp_path, rounds, kills, seed):
    began = time.monotonic()
    whole = folder_of(run(path, overrides, out=tmp_path / "whole", quiet=True))
    seconds = time.monotonic() - began
    chance = random.Random(seed)
    for number in range(rounds):
        folder = disturbed(path, overrides, tmp_path / str(number), seconds, kills, chance)
        same(folder, whole)
        assert not [*folder.glob(".*.tmp")]
        shutil.rmtree(tmp_path / str(number))


def overrides_of(path, folder, epochs):
    short = SHORT.get(path.name)
    files = short.files(folder) if short else {}
    own = {**(short.overrides if short else {}), **SHRUNKEN.get(path.name, {})}
    return {**own, **files, **SAVING, "run.epochs": epochs}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_shipped_config_that_is_killed(path, tmp_path):
    check(path, overrides_of(path, tmp_path, 1), tmp_path, rounds=1, kills=1, seed=path.name)


@pytest.mark.slow
@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_shipped_config_that_is_killed_many_times(path, tmp_path):
    overrides = overrides_of(path, tmp_path, 2)
    check(path, overrides, tmp_path, rounds=9, kills=3, seed=f"{path.name} again")


def killed_before_write(number, work):
    """Let a function work in a fork, killed before it replaces that many files; whether it was."""

    def counted():
        replace, left = os.replace, iter(range(number))

        def replaced(*names):
            if next(left, None) is None:
                os._exit(KILLED)
            replace(*names)

        os.replace = replaced
        work()

    _, status = os.waitpid(in_another_process(counted), 0)
    assert os.waitstatus_to_exitcode(status) in (0, KILLED)
    return status != 0


@pytest.mark.parametrize("changes", [{}, {"run.epochs": 2}], ids=["restarted", "extended"])
def test_a_resumed_run_that_is_killed_before_each_of_its_writes(changes, write, tmp_path):
    """It rewrites its config, whose checksum is in another file; neither is taken for damaged."""
    path = tmp_path / write(DIGITS)
    short = {"run.epochs": 1}
    whole = folder_of(run(path, short | changes, out=tmp_path / "whole", quiet=True))
    for number in itertools.count():
        out = tmp_path / str(number)
        if changes:
            run(path, short, out=out, quiet=True)
        else:  # only config.toml and run.json have been written
            assert killed_before_write(2, lambda out=out: run(path, short, out=out, quiet=True))
        (config,) = out.glob("*/*/config.toml")
        resumed = functools.partial(resume, config.parent, changes, quiet=True)
        was_killed = killed_before_write(number, resumed)
        same(folder_of(resumed()), whole)
        if not was_killed:
            break
    assert number > 3


def test_everything_at_once_that_is_killed_three_times(write, tmp_path):
    path = write(EVERYTHING)
    overrides = {**SETTINGS, **SAVING}
    check(tmp_path / path, overrides, tmp_path, rounds=1, kills=3, seed=0)


@pytest.mark.slow
def test_everything_at_once_that_is_killed_200_times(write, tmp_path):
    """With a checkpoint after each step, most of the time goes into writing them."""
    path = write(EVERYTHING)
    overrides = {**SETTINGS, **SAVING, "run.save_every_steps": 1}
    check(tmp_path / path, overrides, tmp_path, rounds=50, kills=4, seed=1)
