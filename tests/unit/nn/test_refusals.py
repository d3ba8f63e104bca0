"""The `Raises:` of layers and of nn.utils name the errors that they raise, and no others.

The errors are those of `refusals.txt` and of the rows of `classes/` that fail.
"""

import inspect
import re
from pathlib import Path

import pytest

import tinynet as tn
from docs.site.docstrings import sections
from docs.site.inventory import module_of
from tests.tools.recorded.layers import Failure
from tinynet import nn
from tinynet.base import lazy

from .classes.suite import SUITE

TABLE = Path(__file__).with_name("refusals.txt")
LAYERS = {name for name, value in lazy.members(nn).items() if inspect.isclass(value)}
REFUSES_NOTHING = {"DataParallel", "Identity"}


def entries():
    """Name -> [(error, call)], from the table."""
    found, calls = {}, []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            error, _, call = line.strip().partition(": ")
            calls.append((error, call))
        elif line and not line.startswith("#"):
            calls = found[line] = []
    return found


def recorded():
    """Name -> errors, from the rows of `classes/` that fail."""
    found = {}
    for row in SUITE.entries:
        if isinstance(row, Failure):
            layer = re.match(r"\w+", row.name)[0]
            if layer in LAYERS:
                found.setdefault(f"nn.{layer}", set()).add(SUITE.recorded(row)["ends"]["raises"])
    return found


TRIED = entries()
RECORDED = recorded()


def told(name):
    """The errors that a docstring names."""
    module, _, last = name.rpartition(".")
    doc = inspect.getdoc(getattr(module_of(module), last))
    heads = re.findall(r"^([\w, ]+Error): ", sections(doc).get("Raises", ""), re.M)
    return {error for head in heads for error in head.split(", ")}


def loaded_lazily(lazy, other):
    lazy.load_state_dict(other.state_dict())
    return lazy


def half_lazy():
    """A lazy module that forgets its parameter."""

    class Half(nn.modules.lazy.LazyModuleMixin):
        def __init__(self):
            super().__init__()
            self.weight = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            pass

        def forward(self, x):
            return x

    return Half()


NAMES = {
    **{"tn": tn, "nn": nn, "t": tn.tensor, "z": tn.zeros},
    **{"i": lambda *shape: tn.zeros(*shape, dtype=tn.int64), "d": lambda *s: tn.zeros(*s).double()},
    **{"loaded_lazily": loaded_lazily, "half_lazy": half_lazy},
}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")  # before they refuse
@pytest.mark.parametrize("name", {**TRIED, **RECORDED})
def test_what_is_refused_is_told(name):
    for error, call in TRIED.get(name, ()):
        with pytest.raises(Exception) as raised:
            eval(call, dict(NAMES))
        assert raised.typename == error, call
    raised = {error for error, _ in TRIED.get(name, ())} | RECORDED.get(name, set())
    assert raised == told(name)


def test_every_layer_is_tried():
    assert {f"nn.{name}" for name in LAYERS - REFUSES_NOTHING} <= TRIED.keys() | RECORDED.keys()
