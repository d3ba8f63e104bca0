"""Checkpoints: what goes in comes out, damage is found, a failed write leaves the old one."""

import errno
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.exchange import files
from tinynet.train.base import checkpoint_file as checkpoint
from tinynet.train.base.checkpoint_file import CheckpointError, read_checkpoint, write_checkpoint


@pytest.fixture
def path(tmp_path):
    return tmp_path / "checkpoint.npz"


def round_trip(path, content):
    write_checkpoint(path, content)
    return read_checkpoint(path)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1,
        2**200,
        0.1,
        5e-324,
        "text é \ud7ff\U0001f600",
        [1, [2.5, "x"], []],
        (1, (2,), ()),
        {"a": {"b": (None,)}},
        {0: "int key", (1, 2): "tuple key", "$tuple": "dollar key"},
    ],
    ids=repr,
)
def test_plain_data(path, value):
    back = round_trip(path, {"x": value})["x"]
    assert back == value
    assert type(back) is type(value)


def test_not_finite(path):
    back = round_trip(path, {"x": [float("inf"), float("-inf"), float("nan")]})["x"]
    assert repr(back) == "[inf, -inf, nan]"


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(6).reshape(2, 3).T,
        np.arange(10)[::-3],
        np.array(1.5),
        np.zeros((0, 3), dtype=bool),
        np.array([1 + 2j]),
        np.broadcast_to(np.float64(1), (2, 2)),
    ],
    ids=["plain", "transposed", "strided", "0-d", "empty", "complex", "expanded"],
)
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_arrays(path, array, kind):
    if kind == "tensor" and (array.dtype == complex or min(array.strides, default=0) < 0):
        pytest.skip("not an array that a Tensor has")
    given = wrap(array) if kind == "tensor" else array
    back = round_trip(path, {"x": given})["x"]
    assert type(back) is (Tensor if kind == "tensor" else np.ndarray)
    back = back.numpy() if kind == "tensor" else back
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert np.array_equal(back, array)
    assert back.flags.writeable


def test_numpy_scalars_stay_what_they_are(path):
    back = round_trip(path, {"x": np.float32(0.1), "y": np.int64(3)})
    assert isinstance(back["x"], np.float32)
    assert isinstance(back["y"], np.int64)


def test_generator_states(path):
    bits = np.random.PCG64(5)
    back = round_trip(path, {"state": bits.state, "old": np.random.get_state(legacy=False)})
    assert back["state"] == bits.state
    np.random.RandomState().set_state(back["old"])


def test_shared_arrays_are_stored_once_and_shared_again(path):
    tied = wrap(np.ones(1000))
    back = round_trip(path, {"a": tied, "b": tied, "c": wrap(np.ones(1000))})
    assert back["a"] is back["b"]
    assert back["a"] is not back["c"]
    assert len(zipfile.ZipFile(path).namelist()) == 3


def test_names_that_collide(path):
    content = {"a/b": np.zeros(1), "a": {"b": np.ones(1)}, "a:b": np.full(1, 2.0)}
    back = round_trip(path, content)
    assert [back["a/b"][0], back["a"]["b"][0], back["a:b"][0]] == [0, 1, 2]


def test_numpy_can_look_into_it(path):
    write_checkpoint(path, {"model": {"0.weight": np.ones(2)}})
    with np.load(path, allow_pickle=False) as archive:
        assert np.array_equal(archive["model/0.weight"], np.ones(2))


def test_equal_contents_make_equal_files(path, tmp_path):
    write_checkpoint(path, {"a": np.ones(3), "b": 1})
    write_checkpoint(tmp_path / "other", {"a": np.ones(3), "b": 1})
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize(
    "value, message",
    [
        (object(), "a/x is a builtins.object, which a checkpoint cannot hold"),
        (np.array([object()]), "a/x is an array of objects, which a checkpoint cannot hold"),
        ({1, 2}, "a/x is a builtins.set"),
    ],
    ids=["object", "object array", "set"],
)
def test_what_would_need_pickle_is_refused(path, value, message):
    with pytest.raises(CheckpointError, match=message):
        write_checkpoint(path, {"a": {"x": value}})
    assert not path.exists()


# ---- reading what is not a good checkpoint ----


def test_missing(path):
    with pytest.raises(CheckpointError, match="cannot be read: No such file"):
        read_checkpoint(path)


def test_an_array_of_objects_in_the_file_is_refused(path):
    write_checkpoint(path, {"x": np.ones(1)})
    structure = zipfile.ZipFile(path).read("checkpoint.json")
    evil = io.BytesIO()
    np.lib.format.write_array(evil, np.array([print], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("checkpoint.json", structure)
        archive.writestr("x.npy", evil.getvalue())
    with pytest.raises(CheckpointError, match="found an array of objects"):
        read_checkpoint(path)


def test_a_newer_format(path):
    with zipfile.ZipFile(path, "w") as archive:
        structure = {"format": "tinynet checkpoint", "version": 99, "content": {}}
        archive.writestr("checkpoint.json", json.dumps(structure))
    with pytest.raises(
        CheckpointError, match="version up to 2, found 99: it was written by a newer"
    ):
        read_checkpoint(path)


def test_something_else(path):
    np.savez(path, x=np.ones(1))
    with pytest.raises(CheckpointError, match="is not a checkpoint, or damaged"):
        read_checkpoint(path)


def test_truncations_are_found(path):
    write_checkpoint(path, {"x": np.arange(100.0), "y": "text"})
    whole = path.read_bytes()
    for length in range(0, len(whole), 37):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            read_checkpoint(path)


def test_a_flipped_bit_is_found_or_changes_nothing(path):
    content = {"x": np.arange(100.0), "y": "text"}
    write_checkpoint(path, content)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    found = 0
    for bit in random.choice(8 * len(whole), 300, replace=False):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            back = read_checkpoint(path)
        except CheckpointError:
            found += 1
        else:  # a date or another field of the archive that says nothing about the contents
            assert back["y"] == "text"
            assert np.array_equal(back["x"], content["x"])
    assert found > 200


# ---- writing that fails ----


def test_a_full_disk_leaves_the_old_one(path, monkeypatch):
    write_checkpoint(path, {"x": 1})

    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(CheckpointError, match=r"cannot be written \(No space left on device\)"):
        write_checkpoint(path, {"x": 2})
    assert read_checkpoint(path) == {"x": 1}
    assert os.listdir(path.parent) == [path.name]


def test_the_file_and_its_folder_are_synced(path, monkeypatch):
    events = []
    fsync, replace = os.fsync, os.replace

    def note_sync(handle):
        events.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def note_replace(old, new):
        events.append("rename")
        assert os.path.dirname(old) == os.path.dirname(new)
        replace(old, new)

    monkeypatch.setattr(files.os, "fsync", note_sync)
    monkeypatch.setattr(files.os, "replace", note_replace)
    write_checkpoint(path, {"x": 1})
    assert events == ["file", "rename", "folder"]


WRITER = """
import itertools, sys
import numpy as np
from tinynet.train.base.checkpoint_file import write_checkpoint
for number in itertools.count(1):
    write_checkpoint(sys.argv[1], {"number": number, "x": np.full(20_000, number)})
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_a_complete_checkpoint(path):
    random = np.random.default_rng(0)
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout.readline() == "1\n"
        time.sleep(random.uniform(0, 0.05))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        back = read_checkpoint(path)
        assert back["number"] >= 1
        assert (back["x"] == back["number"]).all()


def test_format_is_stated():
    assert checkpoint.FORMAT == 2
