"""Transforms: their results, and that random numbers come from the generator alone."""

import pickle
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import tinynet as tn
from tinynet import data
from tinynet.data import transforms as T
from tinynet.data.transforms.base import RandomTransform, apply_to_batch
from tinynet.data.transforms.mixtures import Mixture
from tinynet.train.config.components import INSIDE


@pytest.fixture
def image(request):
    """Two channels; with a number as parameter, that many channels, with values from 0 to 1."""
    channels = getattr(request, "param", None)
    if channels is not None:
        return (tn.arange(channels * 12).reshape(channels, 3, 4) / (channels * 12 - 1)) ** 2
    return tn.arange(2 * 3 * 4).reshape(2, 3, 4).float()


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


# ---- numbers ----


def test_to_tensor_puts_channels_first():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    tensor = T.ToTensor()(pixels)
    assert tensor.dtype is tn.float32
    assert tensor.shape == (4, 2, 3)
    assert tensor[1, 0, 2].item() == np.float32(9) / np.float32(255)
    grey = T.ToTensor()(pixels[:, :, 0])
    assert grey.shape == (1, 2, 3)


@pytest.mark.parametrize(
    "dtype, becomes", [("int16", "int16"), ("uint16", "int32"), ("float64", "float64")]
)
def test_to_tensor_keeps_other_numbers(dtype, becomes):
    tensor = T.ToTensor()(np.array([[1, 300]], dtype=dtype))
    assert tensor.dtype is getattr(tn, becomes)
    assert tensor.tolist() == [[[1, 300]]]


def test_to_tensor_of_bools_and_of_tensors(image):
    assert T.ToTensor()(np.array([[True, False]])).tolist() == [[[1.0, 0.0]]]
    assert T.ToTensor()(image).tolist() == image.tolist()
    assert T.ToTensor()(tn.tensor([[[255]]], dtype=tn.uint8)).tolist() == [[[1.0]]]


def test_to_tensor_copies():
    pixels = np.zeros((2, 2), dtype=np.float32)
    T.ToTensor()(pixels).fill_(1)
    assert not pixels.any()


@pytest.mark.parametrize("wrong", [1, 1.5, "x", None, [1], (1,)])
def test_to_tensor_refuses(wrong):
    with pytest.raises(TypeError, match="pic should be PIL Image or ndarray. Got <class"):
        T.ToTensor()(wrong)
    with pytest.raises(ValueError, match=r"pic should be 2/3 dimensional. Got the shape \[3\]"):
        T.ToTensor()(np.zeros(3))


@pytest.mark.parametrize(
    "source, values, target, expected",
    [
        ("uint8", [0, 51, 255], "float32", [0, np.float32(0.2), 1]),
        ("int16", [0, 2**15 - 1], "float64", [0, 1]),
        ("int32", [0, 2**31 - 1], "float32", [0, 1]),
        ("bool", [False, True], "float32", [0, 1]),
        ("float32", [0, 0.5, 1], "uint8", [0, 127, 255]),
        ("float16", [0, 1], "uint8", [0, 255]),
        ("float64", [0, 1], "int32", [0, 2**31 - 1]),
        ("float32", [0, 0.5], "bool", [False, True]),
        ("float32", [0.5], "float64", [0.5]),
        ("uint8", [0, 255], "int16", [0, 255 * 128]),
        ("int16", [0, 255 * 128, 2**15 - 1], "uint8", [0, 255, 255]),
        ("uint8", [7], "uint8", [7]),
    ],
)
def test_convert_image_dtype(source, values, target, expected):
    image = tn.tensor(values, dtype=getattr(tn, source))
    converted = T.ConvertImageDtype(getattr(tn, target))(image)
    assert converted.dtype is getattr(tn, target)
    assert converted.tolist() == expected


@pytest.mark.parametrize("source, target", [("float32", "int32"), ("float64", "int64")])
def test_convert_image_dtype_refuses(source, target):
    message = f"The cast from tinynet.{source} to tinynet.{target} cannot be performed safely."
    with pytest.raises(RuntimeError, match=message):
        T.ConvertImageDtype(getattr(tn, target))(tn.ones(2, dtype=getattr(tn, source)))
    with pytest.raises(TypeError, match="dtype must be a tinynet.dtype, not str"):
        T.ConvertImageDtype("float32")


def test_to_dtype():
    image = tn.tensor([[0, 255]], dtype=tn.uint8)
    assert T.ToDtype(tn.float32)(image).tolist() == [[0, 255]]
    assert T.ToDtype(tn.float32, scale=True)(image).tolist() == [[0, 1]]
    assert T.ToDtype(tn.float64)(image).dtype is tn.float64


def test_normalize(image):
    before = image.clone()
    result = T.Normalize([1, 2], [0.5, 4])(image)
    assert bool((result[0] == (image[0] - 1) / 0.5).all())
    assert bool((result[1] == (image[1] - 2) / 4).all())
    assert bool((image == before).all())
    assert T.Normalize(1, 2, inplace=True)(image) is image
    assert bool((image == (before - 1) / 2).all())
    assert T.Normalize(0.1, 0.2)(image.double()).dtype is tn.float64
    assert T.Normalize(0.1, 0.2)(image).dtype is tn.float32


def test_normalize_in_place_is_seen_by_autograd(image):
    leaf = image.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        T.Normalize(1, 2, inplace=True)(leaf)
    grown = leaf.exp()  # which backward would take from the memory that is written to
    T.Normalize(1, 2, inplace=True)(grown)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        grown.sum().backward()


def test_normalize_refuses():
    with pytest.raises(TypeError, match="should be a float tensor. Got tinynet.uint8."):
        T.Normalize(1, 2)(tn.ones(1, 2, 2, dtype=tn.uint8))
    with pytest.raises(ValueError, match="'std' parameter of Normalize must not be 0"):
        T.Normalize([1, 2], [1, 0])
    for shape in ((2, 3, 3), (3, 3)):
        with pytest.raises(ValueError, match=r"size \(..., C, H, W\). Got tensor.size\(\) = \["):
            T.Normalize([1, 2, 3], 1)(tn.ones(shape))
    assert T.Normalize(1, [2])(tn.tensor([1.0, 2.0])).tolist() == [0, 0.5]
    with pytest.raises(TypeError, match="Normalize: img should be Tensor Image"):
        T.Normalize(1, 2)(np.ones((1, 2, 2)))


def test_one_hot():
    assert T.OneHot(3)(tn.tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert T.OneHot(2, dtype=tn.int64)(1).tolist() == [0, 1]
    assert T.OneHot(2)(tn.tensor(1)).dtype is tn.float32
    for wrong in (-1, 3):
        with pytest.raises(ValueError, match=f"classes below 3. Got {wrong} instead"):
            T.OneHot(3)(tn.tensor([0, wrong]))
    with pytest.raises(TypeError, match="needs integers. Got float32"):
        T.OneHot(3)(tn.tensor([0.0]))
    with pytest.raises(ValueError, match="'num_classes' parameter of OneHot must be >= 1"):
        T.OneHot(0)


# ---- the frame ----


@pytest.mark.parametrize(
    "padding, pairs",
    [(1, ((1, 1), (1, 1))), ([2], ((2, 2), (2, 2))), ((1, 2), ((2, 2), (1, 1))),
     ((0, 1, 2, 0), ((1, 0), (0, 2)))],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_pad(image, padding, pairs, mode):
    options = {"constant_values": 7} if mode == "constant" else {}
    result = T.Pad(padding, fill=7, padding_mode=mode)(image)
    expected = np.pad(image.numpy(), ((0, 0), *pairs), mode=mode, **options)
    assert np.array_equal(result.numpy(), expected)


def test_a_negative_padding_crops(image):
    assert T.Pad((-1, 0, 1, -2))(image).tolist() == [
        [[1, 2, 3, 0]],
        [[13, 14, 15, 0]],
    ]


@pytest.mark.parametrize("padding", [(1, 2, 3), (), 1.5, ("a", "b")])
def test_a_padding_that_is_none(padding):
    with pytest.raises((ValueError, TypeError)):
        T.Pad(padding)


def test_pad_refuses(image):
    with pytest.raises(ValueError, match="Padding mode should be either constant, edge, reflect"):
        T.Pad(1, padding_mode="zeros")
    with pytest.raises(ValueError, match="cannot be wider than the image"):
        T.Pad(3, padding_mode="reflect")(image)
    T.Pad(3, padding_mode="symmetric")(image)
    with pytest.raises(TypeError, match="has no height and width"):
        T.Pad(1)(tn.ones(3))


@pytest.mark.parametrize("size, rows, columns", [
    (1, [1], [2]), (2, [0, 1], [1, 2]), (3, [0, 1, 2], [0, 1, 2]),
    ((3, 4), [0, 1, 2], [0, 1, 2, 3]),
])  # fmt: skip
def test_center_crop(image, size, rows, columns):
    """An odd rest is rounded as Python rounds a half: to even."""
    expected = image.numpy()[:, rows][:, :, columns]
    assert np.array_equal(T.CenterCrop(size)(image).numpy(), expected)


def test_center_crop_of_a_small_image():
    assert T.CenterCrop((2, 5))(tn.ones(1, 1, 2)).tolist() == [[[0, 1, 1, 0, 0], [0, 0, 0, 0, 0]]]


@pytest.mark.parametrize("size", [0, (1, 2, 3), (1, -1), 1.5])
def test_a_size_that_is_none(size):
    for transform in (T.CenterCrop, T.RandomCrop):
        with pytest.raises((ValueError, TypeError)):
            transform(size)


# ---- random transforms ----


class Row(NamedTuple):
    """A random transform.

    Attributes:
        make: from a generator to the transform.
        outcomes: from an image to the possible results with their probabilities, if they are few.
        channels: the number of channels of an image of colors; None for any image.
    """

    make: Callable
    outcomes: Callable | None = None
    channels: int | None = None


ROWS = {
    "RandomCrop": Row(lambda g: T.RandomCrop(2, generator=g)),
    "RandomCrop-padding": Row(
        lambda g: T.RandomCrop((2, 3), padding=(1, 2), fill=5, generator=g),
    ),
    "RandomCrop-reflect": Row(
        lambda g: T.RandomCrop(3, padding=1, padding_mode="reflect", generator=g),
    ),
    "RandomHorizontalFlip": Row(
        lambda g: T.RandomHorizontalFlip(generator=g),
        lambda image: [(0.5, image), (0.5, image.flip(-1))],
    ),
    "RandomVerticalFlip": Row(
        lambda g: T.RandomVerticalFlip(0.3, generator=g),
        lambda image: [(0.7, image), (0.3, image.flip(-2))],
    ),
    "RandomRotation90": Row(
        lambda g: T.RandomRotation90(generator=g),
        lambda image: [(0.25, image.rot90(k, (-2, -1))) for k in range(4)],
    ),
    "RandomErasing": Row(lambda g: T.RandomErasing(0.9, generator=g)),
    "RandomErasing-noise": Row(lambda g: T.RandomErasing(0.9, value="random", generator=g)),
    "RandomApply": Row(
        lambda g: T.RandomApply([T.Pad(1), T.Pad(1)], 0.4, generator=g),
        lambda image: [(0.6, image), (0.4, T.Pad(2)(image))],
    ),
    "RandomChoice": Row(
        lambda g: T.RandomChoice([T.Pad(1), T.Pad(2)], p=[1, 3], generator=g),
        lambda image: [(0.25, T.Pad(1)(image)), (0.75, T.Pad(2)(image))],
    ),
    "RandomOrder": Row(
        lambda g: T.RandomOrder([T.Pad(1), T.CenterCrop(2)], generator=g),
        lambda image: [
            (0.5, T.CenterCrop(2)(T.Pad(1)(image))),
            (0.5, T.Pad(1)(T.CenterCrop(2)(image))),
        ],
    ),
    "RandomResizedCrop": Row(lambda g: T.RandomResizedCrop((4, 5), generator=g)),
    "RandomRotation": Row(lambda g: T.RandomRotation(90, generator=g)),
    "RandomRotation-smooth": Row(
        lambda g: T.RandomRotation((0, 90), "bilinear", fill=-3, generator=g)
    ),
    "RandomAffine": Row(
        lambda g: T.RandomAffine(30, (0.2, 0.3), (0.8, 1.2), 10, "bilinear", generator=g)
    ),
    "GaussianBlur": Row(lambda g: T.GaussianBlur(3, generator=g)),
    "GaussianNoise": Row(lambda g: T.GaussianNoise(clip=False, generator=g)),
    "ColorJitter": Row(lambda g: T.ColorJitter(0.5, 0.5, 0.5, 0.5, generator=g), None, 3),
    "ColorJitter-gray": Row(lambda g: T.ColorJitter(0.5, 0.5, 0.5, 0.5, generator=g), None, 1),
    "RandomGrayscale": Row(
        lambda g: T.RandomGrayscale(0.3, generator=g),
        lambda image: [(0.7, image), (0.3, T.Grayscale(3)(image))],
        3,
    ),
    "RandomInvert": Row(
        lambda g: T.RandomInvert(0.3, generator=g),
        lambda image: [(0.7, image), (0.3, 1 - image)],
        1,
    ),
    "RandomSolarize": Row(
        lambda g: T.RandomSolarize(0.5, 0.3, generator=g),
        lambda image: [(0.7, image), (0.3, tn.where(image < 0.5, image, 1 - image))],
        3,
    ),
    "RandomPosterize": Row(
        lambda g: T.RandomPosterize(1, 0.3, generator=g),
        lambda image: [(0.7, image), (0.3, tn.where(image < 0.5, 0.0, 0.5))],
        3,
    ),
    "RandomAutocontrast": Row(lambda g: T.RandomAutocontrast(generator=g), None, 3),
    "RandomAdjustSharpness": Row(lambda g: T.RandomAdjustSharpness(2, generator=g), None, 1),
    "RandomPerspective": Row(lambda g: T.RandomPerspective(0.6, 1.0, generator=g), None, 3),
    "ElasticTransform": Row(lambda g: T.ElasticTransform(9.0, 0.5, generator=g), None, 3),
    "RandAugment": Row(lambda g: T.RandAugment(generator=g), None, 3),
    "TrivialAugmentWide": Row(lambda g: T.TrivialAugmentWide(generator=g), None, 3),
    "AutoAugment": Row(lambda g: T.AutoAugment(generator=g), None, 3),
    "AugMix": Row(lambda g: T.AugMix(generator=g), None, 1),
}

for_each_row = pytest.mark.parametrize(
    "make, outcomes, image",
    [pytest.param(*row, id=name) for name, row in ROWS.items()],
    indirect=["image"],
)


def test_every_random_transform_has_a_row():
    named = {name.partition("-")[0] for name in ROWS}
    classes = {name: value for name, value in vars(T).items() if isinstance(value, type)}
    classes = {name: cls for name, cls in classes.items() if not issubclass(cls, Mixture)}
    assert named == {name for name, cls in classes.items() if issubclass(cls, RandomTransform)}


@for_each_row
def test_the_generator_decides(make, outcomes, image):
    def run(transform):
        return [transform(image).tolist() for _ in range(30)]

    tn.manual_seed(1)
    state = tn.get_rng_state()
    first = run(make(seeded()))
    assert tn.equal(tn.get_rng_state(), state)  # the default one was left alone
    assert run(make(seeded())) == first
    assert run(make(seeded(1))) != first
    by_default = run(make(None))
    tn.manual_seed(1)
    assert run(make(None)) == by_default
    assert len({str(result) for result in first}) > 1


@for_each_row
def test_the_image_is_left_alone(make, outcomes, image):
    before = image.tolist()
    transform = make(seeded())
    for _ in range(20):
        transform(image)
    assert image.tolist() == before


@for_each_row
def test_pickled_and_shown(make, outcomes, image):
    transform = make(seeded())
    again = pickle.loads(pickle.dumps(transform))
    assert [again(image).tolist() for _ in range(9)] == [
        transform(image).tolist() for _ in range(9)
    ]
    assert type(transform).__name__ in repr(transform)
    assert "generator" not in repr(transform)


def test_crops_are_everywhere_and_equally_frequent():
    image = tn.arange(16).reshape(1, 4, 4)
    crop = T.RandomCrop((2, 3), generator=seeded())
    counts = np.zeros((3, 2))
    for _ in range(3000):
        part = crop(image)
        corner = part[0, 0, 0].item()
        counts[corner // 4, corner % 4] += 1
        expected = [[corner, corner + 1, corner + 2], [corner + 4, corner + 5, corner + 6]]
        assert part[0].tolist() == expected
    assert counts.min() > 430  # of 500; the standard deviation is 20
    assert counts.max() < 570


def test_crops_of_small_images(image):
    with pytest.raises(ValueError, match=r"Required crop size \(4, 4\) is larger than input image"):
        T.RandomCrop(4)(image)
    grown = T.RandomCrop(6, pad_if_needed=True, fill=-1, generator=seeded())
    results = [grown(image) for _ in range(50)]
    assert {tuple(result.shape) for result in results} == {(2, 6, 6)}
    assert all(sorted(r[r >= 0].tolist()) == list(range(24)) for r in results)
    assert len({str(result.tolist()) for result in results}) > 5


@for_each_row
def test_outcomes_have_their_probabilities(make, outcomes, image):
    if outcomes is None:
        return
    transform = make(seeded())
    results = [str(transform(image).tolist()) for _ in range(2000)]
    expected = [(probability, str(result.tolist())) for probability, result in outcomes(image)]
    assert {*results} == {result for _, result in expected}
    for probability, result in expected:
        deviation = (2000 * probability * (1 - probability)) ** 0.5
        assert abs(results.count(result) - 2000 * probability) < 4 * deviation


@for_each_row
def test_a_batch_equals_its_images(make, outcomes, image):
    more = 100 if image.max() > 1 else -0.25
    batch = tn.stack([image, image + more, image + 2 * more])
    at_once, alone = make(seeded()), make(seeded())
    rows = apply_to_batch(at_once, batch)
    assert [row.tolist() for row in rows] == [alone(row).tolist() for row in batch]


@for_each_row
def test_random_transforms_refuse_other_values(make, outcomes, image):
    transform = make(seeded())
    with pytest.raises(TypeError, match="img should be Tensor Image"):
        for _ in range(20):
            transform(image.numpy())


@pytest.mark.parametrize("p", [0, 1])
def test_a_certain_flip(image, p):
    expected = image.flip(-1) if p else image
    assert T.RandomHorizontalFlip(p)(image).tolist() == expected.tolist()


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_a_probability_that_is_none(p):
    with pytest.raises(ValueError, match="'p' parameter of RandomHorizontalFlip must be from"):
        T.RandomHorizontalFlip(p)


def test_erasing():
    image = tn.ones(2, 20, 30)
    erase = T.RandomErasing(1, scale=(0.1, 0.2), ratio=(0.5, 2), value=(5, 6), generator=seeded())
    for _ in range(100):
        result = erase(image).numpy()
        gone = result[0] == 5
        assert np.array_equal(gone, result[1] == 6)
        rows, columns = np.flatnonzero(gone.any(1)), np.flatnonzero(gone.any(0))
        height, width = len(rows), len(columns)
        assert gone.sum() == height * width  # a rectangle
        assert 0.07 < height * width / 600 < 0.23  # sides are rounded
        assert 0.4 < height / width < 2.5
    assert T.RandomErasing(0)(image) is image
    assert T.RandomErasing(1, scale=(1, 1), ratio=(1, 1))(tn.ones(1, 2, 20)).min().item() == 1
    for options in (
        dict(scale=(0.5, 0.1)),
        dict(scale=(0, 2)),
        dict(ratio=(0, 1)),
        dict(value="x"),
    ):
        with pytest.raises(ValueError):
            T.RandomErasing(**options)


def test_no_generator():
    with pytest.raises(
        TypeError, match="'generator' parameter of RandomCrop must be a tinynet.Gen"
    ):
        T.RandomCrop(2, generator=5)


# ---- together ----


def test_compose(image):
    both = T.Compose([T.Pad(1), T.Lambda(lambda x: x * 2)])
    assert bool((both(image) == T.Pad(1)(image) * 2).all())
    assert repr(T.Compose([T.CenterCrop(3), T.Pad(1)])) == (
        "Compose(\n    CenterCrop(size=(3, 3))\n"
        "    Pad(padding=1, fill=0, padding_mode=constant)\n)"
    )
    with pytest.raises(TypeError, match="must hold functions. Got 5 at index 1 instead"):
        T.Compose([len, 5])
    with pytest.raises(TypeError, match="Argument lambd should be callable, got 'int'"):
        T.Lambda(5)


STEPS = [
    T.Normalize(0.5, 2),
    T.RandomCrop(2, padding=1),
    T.Pad(1),
    T.RandomHorizontalFlip(),
    T.CenterCrop(3),
]


@pytest.mark.parametrize("steps", [STEPS, STEPS[:1], STEPS[1:2], STEPS[1:4], STEPS[::2], []])
def test_a_batch_gets_what_its_images_get(steps):
    batch = tn.rand(7, 1, 4, 4)
    transform = T.Compose(steps)
    tn.manual_seed(5)
    at_once = apply_to_batch(transform, batch)
    tn.manual_seed(5)
    assert at_once.tolist() == [transform(image).tolist() for image in batch]


def test_a_batch_whose_images_become_different():
    sizes = iter([1, 2, 3])
    transform = T.Compose([T.Pad(1), lambda image: image[:, : next(sizes)], T.Pad(1)])
    results = apply_to_batch(transform, tn.ones(3, 1, 4, 4))
    assert [tuple(result.shape) for result in results] == [(1, 3, 8), (1, 4, 8), (1, 5, 8)]


PUBLIC = sorted(name for name, value in vars(T).items() if isinstance(value, type))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_config_can_name_it(name):
    """In a config one list of names serves all parts of a model and its data."""
    families = {**INSIDE["transform"].names(), **INSIDE["mixture"].names()}
    assert name == "Transform" or families[name] is getattr(T, name)
    assert not hasattr(tn.nn, name) and not hasattr(data, name)
