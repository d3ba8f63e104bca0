"""Every layer and loss compiled: alone, with its backward pass outside, and in a training step."""

import copy
import zlib
from dataclasses import replace

import numpy as np
import pytest

import tinynet as tn
from tests.tools.grouped import for_each, groups
from tests.tools.recorded.layers import Layer, tensors_in
from tests.tools.recorded.rows import Input
from tests.unit.nn.classes.suite import SUITE
from tinynet import optim

from .pairs import compare, same

ROWS = {row.id: row for row in SUITE.entries if isinstance(row, Layer)}
FIRST = {}  # a row for each class
for _row in ROWS.values():
    FIRST.setdefault(_row.name.partition("-")[0] if _row.name[0].isupper() else _row.name, _row)

CLASSES = [name for name in FIRST if hasattr(tn.nn, name)]  # the others are functions
EAGER = {"AdaptiveLogSoftmaxWithLoss", "MultiLabelMarginLoss"}  # shapes depend on targets


def arguments(row, call):
    """Return float32 arguments whose numbers differ from call to call."""
    made = []
    for place, one in enumerate(row.inputs):
        if isinstance(one, Input):
            seed = zlib.crc32(f"{row.name} {place}".encode())
            spec = replace(one, dtype="float32") if one.dtype == "float64" else one
            one = spec.build(tn, np.random.RandomState((seed + call) % 2**32))
        made.append(one)
    return tuple(made)


def score(outputs):
    return sum((t * t * 0.1 + t).sum() for t in outputs if t.requires_grad)


def differentiate(result, args):
    loss = score(tensors_in(result))
    if isinstance(loss, tn.Tensor):
        loss.backward()


def alone(row):
    """Call the compiled layer in training mode, then in evaluation, and differentiate it."""

    def build():
        module = row.module(tn, "float32")
        return [module], module

    def between(i, state):
        state[0].train(i < 4)

    return compare(
        build,
        lambda i: arguments(row, i),
        calls=7,
        between=between,
        after=differentiate,
        call=lambda module, args: row.call(module, *args),
    )


def in_a_step(row):
    def build():
        module = row.module(tn, "float32")
        parameters = [p for p in module.parameters() if p.requires_grad]
        made = optim.SGD(parameters, lr=0.01, momentum=0.9) if parameters else None

        def step(*args):
            if made is not None:
                made.zero_grad()
            outputs = tensors_in(row.call(module, *args))
            loss = score(outputs)
            if isinstance(loss, tn.Tensor):
                loss.backward()
            if made is not None:
                made.step()
            return [t.detach() for t in outputs]

        return [module], step

    return compare(build, lambda i: arguments(row, i))


def check(name, reason):
    if name in EAGER:
        assert "values of a" in reason
    else:
        assert reason is None


@pytest.mark.sampled(3)  # a training step, of all of them, runs the same forward and backward pass
@pytest.mark.parametrize("name", CLASSES)
def test_alone(name):
    check(name, alone(FIRST[name]))


@pytest.mark.parametrize("name", FIRST)
def test_in_a_training_step(name):
    check(name, in_a_step(FIRST[name]))


@pytest.mark.slow
@for_each(groups(ROWS, lambda row: row.group))
def test_every_sample(row):
    """All samples of the table; some run eagerly."""
    in_a_step(row)
    if hasattr(tn.nn, row.name.partition("-")[0]):
        alone(row)


class Doubled(tn.nn.BatchNorm1d):
    def forward(self, x):
        return 2 * super().forward(x)


def by_method(net):
    return tn.compile(net.forward, verify=0)


def in_place(net):
    net.compile(verify=0)
    return net


def wrapped(net):
    return tn.compile(net, verify=0)


def called_by_a_function(net):
    return tn.compile(lambda x: net.forward(x), verify=0)


@pytest.mark.parametrize("way", [by_method, in_place, wrapped, called_by_a_function])
@pytest.mark.parametrize(
    "make",
    [
        lambda: tn.nn.BatchNorm1d(3),
        lambda: Doubled(3),
        lambda: tn.nn.Dropout(0.5),
        lambda: tn.nn.TransformerEncoderLayer(3, 1, 4, 0.5),
        lambda: tn.nn.Sequential(tn.nn.Dropout(0.5)),
    ],
)
def test_the_mode_of_a_layer_is_a_guard(make, way):
    """Its own code reads it, which belongs to tinynet."""
    tn.manual_seed(0)
    eager = make()
    net = copy.deepcopy(eager)
    compiled = way(net)
    for i in range(9):
        seen = []
        for layer, f in ((eager, eager), (net, compiled)):
            layer.train(i not in (3, 4, 5))
            tn.manual_seed(i)
            seen.append([f(tn.randn(2, 3)), {**layer.state_dict()}])
        same(*seen, f"call {i}")
