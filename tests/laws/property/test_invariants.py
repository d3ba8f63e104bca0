"""Random programs under tinynet alone: what must be true of any program."""

import gc

import hypothesis
import numpy as np
import pytest

import tinynet as tn
from tinynet.core.graph.node import Node

from . import gradients, invariants
from .forms import CHOICES, NEW, OP, VIEW, WRITE
from .found import FOUND
from .language import programs
from .shrinking import smallest

KINKED = ("relu", "abs", "clamp", "maximum")
CUT = ("deepcopy",)  # follows its source in a second run, but has no history
SMOOTH = [
    form
    for form in CHOICES
    if form.family in (NEW, VIEW, OP, WRITE) and not any(part in form.text for part in KINKED + CUT)
]
PURE = [form for form in SMOOTH if form.family != WRITE]
# `create_graph` makes the gradient keep its leaf, as PyTorch warns.
UNTANGLED = [form for form in CHOICES if "backward(create_graph=True)" not in form.text]


def quick(examples, choices=CHOICES):
    """Run a test with programs of a few kinds of lines."""

    def decorate(test):
        given = hypothesis.given(programs(choices))(test)
        return hypothesis.settings(
            max_examples=examples,
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )(given)

    return decorate


def recorded(program):
    return [step._replace(quiet=False) for step in program]


@quick(200)
def test_views_versions_and_writes(program):
    try:
        invariants.run(program, tn)
    except invariants.BrokenError as broken:
        kind = str(broken).partition("\n")[0]

        def fails(shorter):
            try:
                invariants.run(shorter, tn)
            except invariants.BrokenError as other:
                return str(other).partition("\n")[0] == kind
            return False

        invariants.run(smallest(program, fails), tn)
        raise


def compare_with_differences(program):
    lines = gradients.lines_of(recorded(program), tn)
    try:
        found = gradients.backward(lines, tn, create_graph=False)
    except gradients.IllegalError:
        return
    for mine, slopes in zip(found, gradients.differences(lines, tn), strict=True):
        mine = np.zeros(slopes.shape) if mine is None else mine.reshape(-1)
        scale = max(1.0, *np.abs(mine)) if mine.size else 1.0
        np.testing.assert_allclose(mine, slopes, rtol=1e-4, atol=1e-5 * scale, err_msg=str(lines))


@quick(60, PURE)
def test_gradients_are_the_slopes(program):
    compare_with_differences(program)


@quick(100, SMOOTH)
def test_gradients_through_writes_are_the_slopes_or_refused(program):
    compare_with_differences(program)


@quick(150, SMOOTH)
def test_backward_on_tensors_agrees_with_backward_on_arrays(program):
    lines = gradients.lines_of(recorded(program), tn)
    try:
        plain = gradients.backward(lines, tn, create_graph=False)
    except gradients.IllegalError:
        with pytest.raises(gradients.IllegalError):
            gradients.backward(lines, tn, create_graph=True)
        return
    for a, b in zip(plain, gradients.backward(lines, tn, create_graph=True), strict=True):
        assert (a is None) == (b is None), lines
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=str(lines))


@pytest.fixture
def without_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def new_nodes():
    """The names of the nodes made since ``gc.freeze()``."""
    return [type(o).__name__ for o in gc.get_objects() if issubclass(type(o), Node)]


@pytest.fixture
def strict():
    """Refuse writes to leaves: recorded, `a[0] = f(a)` makes a cycle, as any history of itself."""
    tn.autograd.set_strict_leaf_writes(True)
    yield
    tn.autograd.set_strict_leaf_writes(False)


@pytest.mark.usefixtures("without_collector", "strict")
@quick(150, UNTANGLED)
def test_no_node_survives_its_tensors(program):
    gc.freeze()  # what was there before is not looked at
    gradients.lines_of(program, tn)
    assert new_nodes() == [], "nodes are left when all tensors are gone"


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.name)
def test_found_programs(found, strict):
    assert found.answer_of(tn) == found.answer
