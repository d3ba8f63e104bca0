"""Functions, representations, models and weights, as torchvision has them (`answers.json`)."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import tinynet as tn
from tests.whole.vision import calls
from tinynet.compat.vision import datasets, models, transforms, utils
from tinynet.compat.vision.transforms import automatic, functional, v2
from tinynet.data.transforms import policies

ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
IMAGES = calls.images(tn, Image)
NUMBERED = [
    pytest.param(call, kind, answers[kind], id=f"{call}-{kind}")
    for call, answers in zip(calls.FUNCTIONS, ANSWERS["functions"], strict=True)
    for kind in answers
]


def flat(value):
    """The numbers in nested lists, and its texts."""
    if isinstance(value, list):
        parts = [flat(part) for part in value]
        return [n for numbers, _ in parts for n in numbers], [
            t for _, texts in parts for t in texts
        ]
    return ([], [value]) if isinstance(value, str) else ([value], [])


@pytest.mark.parametrize(("call", "kind", "answer"), NUMBERED)
def test_functions(call, kind, answer):
    found = calls.called(tn, functional, call, IMAGES[kind])
    assert np.shape(found) == np.shape(answer) if kind in ("bytes", "floats") else True
    (numbers, texts), (expected, modes) = flat(found), flat(answer)
    assert texts == modes and len(numbers) == len(expected)
    # Floats differ by the order of about 30 roundings; bytes computed from them, where one is n/2.
    largest = max(1, *map(abs, expected))
    bound = 32 * 2.0**-24 * largest if kind == "floats" else call[0] == "resize" and kind == "bytes"
    assert np.abs(np.subtract(numbers, expected)).max() <= bound


OPERATED = [
    pytest.param(operation, kind, answers[kind], id=f"{operation}-{kind}")
    for operation, answers in zip(calls.OPERATIONS, ANSWERS["operations"], strict=True)
    for kind in answers
]


@pytest.mark.parametrize(("operation", "kind", "answer"), OPERATED)
def test_operations_of_automatic_augmentation(operation, kind, answer):
    found = calls.operated(automatic.apply_operation, operation, IMAGES[kind], transforms)
    (numbers, texts), (expected, modes) = flat(found), flat(answer)
    assert texts == modes and len(numbers) == len(expected)
    bound = operation[2] == "bilinear" and kind == "bytes"  # computed from floats, where one is n/2
    assert np.abs(np.subtract(numbers, expected)).max() <= bound


@pytest.mark.parametrize("operation", calls.OPERATIONS, ids=str)
def test_operations_on_arrays_are_those_on_tensors(operation):
    name, magnitude, mode, fill = operation
    own = tn.data.transforms.RandAugment(interpolation=mode, fill=fill or 0)
    image = IMAGES["bytes"]
    found = own._apply(image.numpy(), name, magnitude)
    expected = automatic.apply_operation(
        image, name, magnitude, transforms.InterpolationMode(mode), fill
    ).numpy()
    edge = fill is not None and mode == "bilinear"  # where torchvision's edges fade twice
    assert found.dtype == expected.dtype and np.mean(found != expected) <= 0.4 * edge


SPACES_OF = {
    "T.RandAugment()": policies.rand_space,
    "T.TrivialAugmentWide()": policies.wide_space,
    "T.AutoAugment()": lambda bins, size: policies.auto_space(size),
    "T.AugMix()": lambda bins, size: policies.mix_space(size, True),
    "T.AugMix(all_ops=False)": lambda bins, size: policies.mix_space(size, False),
}


@pytest.mark.parametrize("index", range(len(calls.SPACES)))
def test_magnitudes(index):
    text, *arguments = calls.SPACES[index]
    found, answer = SPACES_OF[text](*arguments), ANSWERS["spaces"][index]
    assert found.keys() == answer.keys()
    for name, (values, signed) in answer.items():
        assert found[name].signed == signed and len(found[name].values) == len(values)
        assert np.abs(found[name].values - values).max(initial=0) <= 2.0**-23 * max(
            values, default=0
        )


def test_policies():
    for name, answer in ANSWERS["policies"].items():
        for own, pair in zip(policies.POLICIES[name], answer, strict=True):
            for (operation, probability, index), (its, p, magnitude) in zip(own, pair, strict=True):
                assert (operation, probability) == (its, p)
                assert magnitude in (index, None)
                has_none = operation in ("Equalize", "AutoContrast", "Invert")
                assert (magnitude is None) == has_none


@pytest.mark.parametrize("text", calls.SHOWN)
def test_representations(text):
    names = {"T": transforms, "v2": v2, "D": datasets, "M": models, "torch": tn}
    assert repr(eval(text, names)) == ANSWERS["shown"][text]


def test_grids():
    for options, answer in zip(calls.GRIDS, ANSWERS["grids"], strict=True):
        found = utils.make_grid(calls.batch(tn), **options)
        assert np.abs(found.numpy() - answer).max() <= 4 * 2.0**-24


@pytest.mark.parametrize(
    "name",
    [*calls.MODELS, *(pytest.param(name, marks=pytest.mark.slow) for name in calls.LARGE)],
)
def test_names_and_shapes_of_parameters(name):
    found = {key: list(value.shape) for key, value in getattr(models, name)().state_dict().items()}
    assert list(found.items()) == list(ANSWERS["models"][name].items())


@pytest.mark.parametrize("name", calls.WEIGHTS)
def test_files_of_weights(name):
    found = {key: member.url for key, member in getattr(models, name).__members__.items()}
    assert found == ANSWERS["weights"][name]
