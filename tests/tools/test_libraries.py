"""A library loads at its first use, and a test that needs one is skipped without it."""

import inspect
import sys

import pytest

from tests.tools.libraries import Library, needs


def test_a_library_loads_at_its_first_use(monkeypatch):
    library = Library("colorsys")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert not hasattr(library, "_mock_name") and inspect.unwrap(library) is library
    assert "colorsys" not in sys.modules
    assert library.rgb_to_yiq(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert "colorsys" in sys.modules


@pytest.mark.parametrize("module, skips", [("json", False), ("no_such_library", True)])
def test_what_is_not_installed_is_skipped(module, skips):
    mark = needs(module, "onnx").mark
    assert mark.args == (skips,)
    assert mark.kwargs["reason"] == f"needs {module}: pip install onnx"
