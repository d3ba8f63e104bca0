"""`tn.summary`: the table of a model."""

import random
import re

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.train.cli import main
from tinynet.train.config.resolve import load_config
from tinynet.train.run.runner import prepare


class Everything(nn.Module):
    """Shared and recurrent layers, two inputs, buffers, randomness, and state of its own."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 4)
        self.memory = nn.LSTM(4, 8, batch_first=True)
        self.mix = nn.Linear(8, 8)
        self.tail = nn.Sequential(nn.Dropout(), self.mix, nn.BatchNorm1d(8))
        self.scale = nn.Parameter(tn.ones(8, 8))
        self.register_buffer("seen", tn.zeros(1))
        self.words.requires_grad_(False)
        self.tail[0].eval()
        self.calls = 0

    def forward(self, words, bias):
        self.calls += 1
        self.last = words
        self.seen += 1
        hidden, _ = self.memory(self.words(words))
        noise = tn.rand(1) + float(np.random.rand()) + random.random()
        return self.tail(self.mix(hidden[:, -1])) @ self.scale + bias + noise


SIZES = [(2, 5), (2, 8)]


def row(found, name):
    return next(row for row in found.modules if row.name == name)


def test_numbers():
    found = tn.summary(Everything(), SIZES)
    assert [row.name for row in found.modules] == [
        *("", "words", "memory", "mix", "tail", "tail.0", "tail.2")
    ]
    assert found.inputs == "[2, 5] tinynet.int64, [2, 8] tinynet.float32"
    assert row(found, "words").output == "[2, 5, 4] tinynet.float32"
    assert "[1, 2, 8]" in row(found, "memory").output  # the last state
    assert row(found, "memory").multiply_adds == 5 * 2 * 4 * 8 * (4 + 8)
    assert row(found, "mix").multiply_adds == 2 * (2 * 8 * 8)  # called under both of its names
    assert row(found, "").multiply_adds == 2 * 8 * 8
    assert row(found, "words").memory == 2 * 5 * 4 * 4
    own = {"": 64, "words": 40, "memory": 4 * 8 * (4 + 8 + 2), "mix": 72, "tail.2": 16}
    assert {row.name: row.parameters for row in found.modules if row.owns} == own
    assert found.parameters == sum(own.values())
    assert found.trainable == sum(own.values()) - 40
    assert (row(found, "words").trainable, row(found, "mix").trainable) == (0, 72)
    assert found.weight_bytes == 4 * (sum(own.values()) + 16 + 1) + 8  # of an int64 count


def test_text():
    found = tn.summary(Everything(), SIZES)
    text = str(found)
    assert repr(found) == text
    header, model, words, *_ = text.splitlines()
    assert header.split() == [
        *("module", "type", "output", "parameters", "trainable", "multiply-adds", "memory")
    ]
    assert model.split()[:2] == ["(the", "model)"]
    assert words.split()[-4:] == ["40", "0", "160", "B"]
    assert "parameters: 640 (600 trainable)" in text
    assert f"forward pass of a batch: {found.multiply_adds:,} multiply-adds" in text


def state_of(model):
    return (
        [module.training for module in model.modules()],
        {name: (t.tolist(), t._version) for name, t in model.state_dict().items()},
        [(id(p), id(p.grad), p.grad is not None and p.grad.tolist()) for p in model.parameters()],
        [len(module._forward_hooks) for module in model.modules()],
        [sorted(vars(module)) for module in model.modules()],
        model.calls,
        (tn.get_rng_state().tolist(), repr(np.random.get_state()), random.getstate()),
        tn.is_grad_enabled(),
    )


@pytest.mark.parametrize("sizes, fits", [(SIZES, True), ([(2, 5), (2, 7)], False)])
def test_the_model_stays_as_it_was(sizes, fits):
    model = Everything().train()
    model(tn.zeros(2, 5, dtype=tn.long), tn.zeros(2, 8)).sum().backward()
    before = state_of(model)
    if fits:
        tn.summary(model, sizes)
    else:
        with pytest.raises(RuntimeError):
            tn.summary(model, sizes)
    assert state_of(model) == before


WORDS, BIAS = tn.zeros(2, 5, dtype=tn.long), tn.zeros(2, 8)


@pytest.mark.parametrize(
    "given, named",
    [
        ((SIZES,), {}),
        (((WORDS, BIAS),), {}),
        (([WORDS, BIAS],), {}),
        (({"words": WORDS, "bias": BIAS},), {}),
        ((), {"input_size": SIZES}),
        ((), {"input_size": SIZES, "dtypes": [tn.int32, tn.float32]}),
        ((), {"input_data": {"bias": BIAS, "words": WORDS}}),
    ],
)
def test_ways_to_give_the_inputs(given, named):
    expected = tn.summary(Everything(), SIZES)
    assert tn.summary(Everything(), *given, **named).modules == expected.modules


def test_the_input_stays_as_it_was():
    class Writes(nn.Module):
        def forward(self, x):
            return x.add_(1)

    x = tn.zeros(2)
    assert tn.summary(Writes(), x).inputs == "[2] tinynet.float32"
    assert x.tolist() == [0, 0]


def test_without_an_input_only_the_parameters_are_shown():
    found = tn.summary(Everything())
    assert found.parameters == 640
    assert {row.output for row in found.modules} == {""}
    assert "multiply-adds, " not in str(found)


def test_lazy_layers_stay_lazy():
    model = nn.Sequential(nn.LazyLinear(4), nn.ReLU())
    assert tn.summary(model, (2, 3)).parameters == 16
    assert model(tn.ones(2, 5)).shape == (2, 4)


def test_of_one_number_per_example():
    assert tn.summary(nn.Embedding(5, 3), (7,)).modules[0].output == "[7, 3] tinynet.float32"


@pytest.mark.parametrize(
    "layer, size, products",
    [
        (nn.Conv2d(3, 8, 3, padding=1), (2, 3, 6, 5), 2 * 8 * 6 * 5 * 3 * 9),
        (nn.GRU(4, 8), (5, 2, 4), 5 * 2 * 3 * 8 * (4 + 8)),
        (nn.MultiheadAttention(8, 2), [(3, 1, 8)] * 3, 3 * 8 * 32 + 2 * 3 * 3 * 8),
    ],
    ids=["conv", "gru", "attention"],
)
def test_multiply_adds(layer, size, products):
    assert tn.summary(layer, size).multiply_adds == products


def test_a_misfit_raises_the_error_of_the_model_and_names_the_inputs():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied") as caught:
        tn.summary(nn.Linear(3, 2), (4, 7))
    assert "summary() ran Linear with [4, 7] tinynet.float32" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="takes a module. Got function instead"):
        tn.summary(lambda x: x, (1,))
    with pytest.raises(TypeError, match="input_size or input_data, not both"):
        tn.summary(nn.Linear(3, 2), (4, 3), input_data=tn.zeros(4, 3))


def without_memory(lines):
    return [re.sub(r"[\d.]+ k?B$| memory$", "", line).rstrip() for line in lines]


def test_it_is_the_table_of_check(capsys):
    """Besides the memory: a training step has more results than an evaluation."""
    main(["check", "configs/digits_cnn.toml"])
    shown = without_memory(capsys.readouterr().out.splitlines())
    model = prepare(load_config("configs/digits_cnn.toml")).model
    *table, _, parameters, _, forward, _ = str(tn.summary(model, (32, 1, 8, 8))).splitlines()
    assert len(table) == 1 + 15
    assert {*without_memory(table), parameters} <= {*shown}
    assert forward.partition(",")[0] in "".join(shown)
