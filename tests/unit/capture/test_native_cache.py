"""Native functions on disk: read again, and never believed if anything changed them."""

import os
import re

import numpy as np
import pytest

from tinynet.capture.native import cache
from tinynet.kernels.llvm import machine, store

pytest.importorskip("llvmlite")
LINES = ["for i in range(x.size):", "    x[i] = x[i] * 2"]


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch):
    """Run a new object for the same source; return whether it was compiled."""
    compile, compiled = machine.machine_code, []
    monkeypatch.setattr(machine, "machine_code", lambda text: compiled.append(1) or compile(text))

    def run():
        native = cache.Native("twice", {"x": ("float32", 1)}, LINES)
        x = np.ones(3, np.float32)
        before = len(compiled)
        native(x), native(x)
        assert x.tolist() == [4, 4, 4]
        return len(compiled) > before

    return run


def test_a_function_is_read_from_disk(own, run):
    assert [run(), run()] == [True, False]


def test_files_that_are_read_are_not_written(own, run):
    run()
    before = {file: file.stat().st_mtime_ns for file in own.rglob("*.*")}
    assert not run()
    assert before == {file: file.stat().st_mtime_ns for file in own.rglob("*.*")}


@pytest.mark.parametrize("content", [b"", b"?", lambda code: code[:40], lambda code: code + b"?",
                                     lambda code: code[:-1] + b"?"])  # fmt: skip
def test_code_that_was_changed_is_thrown_away(own, run, content):
    run()
    (file,) = own.glob("native_*.o")
    good = file.read_bytes()
    file.write_bytes(content if isinstance(content, bytes) else content(good))
    assert [run(), run()] == [True, False] and file.read_bytes() == good


def test_without_a_folder_it_is_compiled_in_memory(run, monkeypatch):
    monkeypatch.setattr(store, "folder", lambda: None)
    assert [run(), run()] == [True, True]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYNET_CACHE", str(tmp_path / "own"))
    assert store.find_folder() == tmp_path / "own"
    (tmp_path / "own").chmod(0o777)
    assert store.find_folder() is None


def test_a_long_compilation_is_announced(own, monkeypatch, capsys):
    monkeypatch.setattr(cache, "SLOW", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    announced = cache.Announced("step")
    with announced:
        announced._timer.join()
    text = capsys.readouterr().err
    assert re.fullmatch(r"tn\.compile: LLVM compiles step \.\.\. \d+\.\d s\n", text)
