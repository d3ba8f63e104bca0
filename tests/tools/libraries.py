"""Libraries that tests need, imported when a test first uses them.

Each process of pytest collects all tests, and to import these takes seconds.
"""

import importlib
import importlib.util
from typing import Any

import pytest


class Library:
    """A module of a library; ``needs`` says that a test needs it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest looks for names of its own in all that a file has
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def needs(module: str, install: str = "") -> pytest.MarkDecorator:
    """Skip a test where a module is not installed."""
    is_absent = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(is_absent, reason=f"needs {module}: pip install {install or module}")
