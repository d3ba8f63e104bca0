"""numba is asked for, never needed, and switched off again."""

import subprocess
import sys

import pytest

import tinynet as tn
from tinynet.kernels import numba as numba_kernels
from tinynet.kernels.numba import compiler


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), **environment},
    )


def test_off_unless_asked():
    done = python("import sys, tinynet; print('numba' in sys.modules)")
    assert (done.stdout.strip(), done.stderr) == ("False", "")
    assert not tn.backends.numba.enabled


def test_the_environment_asks(compiled):
    code = "import tinynet as tn; print(tn.backends.numba.enabled)"
    assert python(code, TINYNET_NUMBA="1").stdout.strip() == "True"
    assert python(code, TINYNET_NUMBA="0").stdout.strip() == "False"


def test_on_and_off(compiled):
    assert tn.backends.numba.enabled
    assert tn.backends.numba.version() >= "0.6"
    tn.backends.numba.enabled = False
    assert not numba_kernels.on


def test_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    compiler.numba.cache_clear()
    compiler.prepare.cache_clear()
    with pytest.raises(RuntimeError, match="numba is not installed: .* -m pip install numba, or"):
        tn.backends.numba.enabled = True
    assert not tn.backends.numba.enabled
    compiler.numba.cache_clear()
