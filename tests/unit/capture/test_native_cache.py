"""Native functions on disk: read again, and never believed if anything changed them."""

import os
import re

import numpy as np
import pytest

from tinynet.capture.native import cache

pytest.importorskip("numba")
LINES = ["for i in range(x.size):", "    x[i] = x[i] * 2"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    return tmp_path


def run():
    """Run a new object for the same source; return how often numba read it from disk."""
    native = cache.Native("twice", {"x": ("float32", 1)}, LINES)
    x = np.ones(3, np.float32)
    native(x), native(x)
    assert x.tolist() == [4, 4, 4]
    return sum(native.function.stats.cache_hits.values())


def test_a_function_is_read_from_disk(own):
    assert [run(), run()] == [0, 1]


def test_files_that_are_read_are_not_written(own):
    run()
    before = {file: file.stat().st_mtime_ns for file in own.rglob("*.*")}
    assert run() == 1
    assert before == {file: file.stat().st_mtime_ns for file in own.rglob("*.*")}


def test_code_that_was_changed_is_thrown_away(own):
    run()
    for file in (own / "__pycache__").glob("*.nbc"):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert [run(), run()] == [0, 1]


@pytest.mark.parametrize("ending", [".json", ".py"])
def test_files_that_were_changed_are_written_again(own, ending):
    run()
    (file,) = own.glob(f"native_*{ending}")
    good = file.read_text()
    file.write_text("broken(")
    run()
    assert file.read_text().startswith(good[:20]) and run() == 1


def test_without_a_folder_it_is_compiled_in_memory(monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert [run(), run()] == [0, 0]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYNET_CACHE", str(tmp_path / "own"))
    assert cache.find_folder() == tmp_path / "own"
    (tmp_path / "own").chmod(0o777)
    assert cache.find_folder() is None


def test_a_long_compilation_is_announced(own, monkeypatch, capsys):
    monkeypatch.setattr(cache, "SLOW", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    announced = cache.Announced("step")
    with announced:
        announced._timer.join()
    text = capsys.readouterr().err
    assert re.fullmatch(r"tn\.compile: numba compiles step \.\.\. \d+\.\d s\n", text)


def test_a_broken_index_or_truncated_code_is_thrown_away(own):
    for ending in ("nbi", "nbc"):
        run()
        (file,) = (own / "__pycache__").glob(f"*.{ending}")
        file.write_bytes(file.read_bytes()[:20])
        assert [run(), run()] == [0, 1]
