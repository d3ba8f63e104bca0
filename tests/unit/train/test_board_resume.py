"""TensorBoard shows a run that was killed and resumed as one that never stopped, once each."""

import json
import time

import pytest

pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")

from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.util import tensor_util

from tests.unit.board.test_tensorboard import fetch, server
from tinynet.board import SummaryWriter
from tinynet.train import resume, run

from .conftest import Killed
from .test_resume import killed

SAVING = ["run.epochs=3", "run.save_every_steps=5"]


def by_the_plain_loader(folder):
    """Tag -> (step, value) as one loader of TensorBoard sees them, and how many graphs it met."""
    loader = event_accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    loader.Reload()
    return {tag: [(e.step, e.value) for e in loader.Scalars(tag)] for tag in loader.scalars.Keys()}


def by_the_plugins_loader(folder):
    """The same, as ``tensorboard --load_fast=false`` sees them."""
    loader = plugin_event_accumulator.EventAccumulator(
        str(folder), size_guidance={"tensors": 0}, tensor_size_guidance={"scalars": 0}
    )
    loader.Reload()
    tags = loader.PluginTagToContent("scalars")
    return {
        tag: [
            (e.step, tensor_util.make_ndarray(e.tensor_proto).item()) for e in loader.Tensors(tag)
        ]
        for tag in tags
    }


LOADERS = [by_the_plain_loader, by_the_plugins_loader]


def look_the_same(one, other):
    for loader in LOADERS:
        assert loader(one) == loader(other), loader.__name__


def died(write, digits, tmp_path, dies, *counts):
    """The folders of a run, and of the same run killed after a given number of steps each time."""
    path = write(digits)
    whole = run(path, SAVING, out=tmp_path / "whole", quiet=True).folder
    folder = killed(path, SAVING, dies, counts[0], tmp_path / "killed")
    for count in counts[1:]:
        revive = dies(count)
        with pytest.raises(Killed):
            resume(folder, quiet=True)
        revive()
    resume(folder, quiet=True)
    return whole, folder


@pytest.mark.parametrize("counts", [(23,), (28, 22), (27, 3, 3)])
def test_everything_is_shown_once(write, digits, tmp_path, dies, counts):
    look_the_same(*died(write, digits, tmp_path, dies, *counts))


def test_a_run_that_began_anew_has_one_graph(write, digits, tmp_path, dies):
    whole, folder = died(write, digits, tmp_path, dies, 3)
    look_the_same(whole, folder)
    counts = [
        sum(
            any(value.tag == " step" for value in event.summary.value)
            for event in event_accumulator._GeneratorFromPath(str(place)).Load()
        )
        for place in (whole, folder)
    ]
    assert counts == [1, 1]


def test_a_clock_that_was_set_back(write, digits, tmp_path, dies, monkeypatch):
    path = write(digits)
    whole = run(path, SAVING, out=tmp_path / "whole", quiet=True).folder
    folder = killed(path, SAVING, dies, 28, tmp_path / "killed")
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 86400)
    resume(folder, quiet=True)
    names = sorted(path.name for path in folder.glob("events.*"))
    assert len(names) == 2 and names == sorted(names, key=lambda n: (folder / n).stat().st_mtime_ns)
    look_the_same(folder, whole)


def test_an_old_run_is_purged_by_both_loaders(tmp_path):
    """As a run of an older version, which stored no place in the files, and no start."""
    with SummaryWriter(tmp_path) as writer:
        for step in range(10):
            writer.add_scalar("loss", step, step)
    with SummaryWriter(tmp_path, purge_step=6) as writer:
        for step in range(6, 12):
            writer.add_scalar("loss", 100 + step, step)
    values = [*range(6), *range(106, 112)]
    for loader in LOADERS:
        assert loader(tmp_path) == {"loss": list(enumerate(values))}


def test_the_server_shows_everything_once(write, digits, tmp_path, dies):
    whole, folder = died(write, digits, tmp_path, dies, 28, 22)
    for fast in (True, False):
        with server(tmp_path, fast) as address:
            for tag, steps in (("train/loss", range(69)), ("epoch/train_loss", range(1, 4))):
                one, other = (shown(address, p.relative_to(tmp_path), tag) for p in (whole, folder))
                assert one == other
                assert [step for step, _ in one] == [*steps]


def shown(address, place, tag):
    """What a TensorBoard says of a tag: (step, value)."""
    answer = json.loads(fetch(address, "scalars/scalars", run=place.as_posix(), tag=tag))
    return [(step, value) for _, step, value in answer]
