"""LLVM is asked for, never needed, and switched off again."""

import subprocess
import sys

import pytest

import tinynet as tn
from tinynet.kernels import native as native_kernels
from tinynet.kernels.llvm import machine
from tinynet.kernels.native import compiler


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), **environment},
    )


def test_off_unless_asked():
    done = python("import sys, tinynet; print('llvmlite' in sys.modules)")
    assert (done.stdout.strip(), done.stderr) == ("False", "")
    assert not tn.backends.llvm.enabled


def test_the_environment_asks(compiled):
    code = "import tinynet as tn; print(tn.backends.llvm.enabled)"
    assert python(code, TINYNET_LLVM="1").stdout.strip() == "True"
    assert python(code, TINYNET_LLVM="0").stdout.strip() == "False"


def test_on_and_off(compiled):
    assert tn.backends.llvm.enabled
    assert int(tn.backends.llvm.version().split(".")[1]) >= 45
    tn.backends.llvm.enabled = False
    assert not native_kernels.on


def test_its_former_name():
    assert tn.backends.numba is tn.backends.llvm


def test_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    machine.binding.cache_clear()
    compiler.prepare.cache_clear()
    with pytest.raises(RuntimeError, match="llvmlite is not installed: .* install llvmlite, or"):
        tn.backends.llvm.enabled = True
    assert not tn.backends.llvm.enabled
