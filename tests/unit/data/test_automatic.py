"""Automatic augmentation, mixtures and multiple crops: draws, dtypes, and what they compute."""

from collections import Counter

import numpy as np
import pytest

import tinynet as tn
from tinynet.compat.vision import transforms as vision
from tinynet.data.transforms import policies

T = tn.data.transforms
KINDS = [
    T.RandAugment,
    T.TrivialAugmentWide,
    T.AutoAugment,
    lambda **options: T.AutoAugment("cifar10", **options),
    lambda **options: T.AutoAugment("svhn", **options),
    T.AugMix,
    lambda **options: T.AugMix(10, 2, 3, all_ops=False, **options),
]
IMAGE = (tn.rand(3, 12, 10, generator=tn.Generator().manual_seed(1)) * 255).to(tn.uint8)


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("image", [IMAGE, IMAGE.float() / 255, IMAGE[:1], IMAGE.double() / 255])
def test_shape_dtype_range_and_seed(kind, image):
    first, second = (kind(generator=seeded()) for _ in range(2))
    for _ in range(30):
        result = first(image)
        assert result.shape == image.shape and result.dtype == image.dtype
        assert tn.equal(result, second(image))
        assert 0 <= result.min() and result.max() <= (255 if image.dtype is tn.uint8 else 1)


def test_operations_are_drawn_alike():
    rng = np.random.default_rng(0)
    drawn = Counter(name for _ in range(7000) for name, _ in policies.draw_trivial(rng, 31))
    assert drawn.keys() == policies.wide_space(31).keys() and len(drawn) == 14
    assert all(abs(count - 500) < 6 * 500**0.5 for count in drawn.values())  # six deviations
    signs = [
        x for _ in range(4000) for name, x in policies.draw_trivial(rng, 2) if name == "Rotate"
    ]
    assert {*signs} == {-135.0, 0.0, 135.0, -0.0}
    two = policies.draw_rand(rng, (8, 8), 2, 9, 31)
    assert len(two) == 2 and all(x in (0, *near_bins(name, 9)) for name, x in two)


def near_bins(name, index):
    values, signed = policies.rand_space(31, (8, 8))[name]
    value = float(values[index]) if len(values) else 0.0
    return (value, -value) if signed else (value,)


def test_sub_policies_are_applied_with_their_probabilities():
    rng = np.random.default_rng(0)
    counts = Counter(len(policies.draw_auto(rng, (8, 8), "imagenet")) for _ in range(4000))
    pairs = [[p for _, p, _ in pair] for pair in policies.POLICIES["imagenet"]]
    both = sum(p * q for p, q in pairs) / 25
    assert abs(counts[2] - 4000 * both) < 6 * (4000 * both * (1 - both)) ** 0.5


def test_the_mean_of_chains_is_that_of_the_drawn_weights():
    mixed = T.AugMix(generator=seeded(3))
    drawn = policies.draw_mix(seeded(3).numpy, (12, 10), 3, 3, -1, 1.0, True)
    assert drawn.own + sum(drawn.weights) == pytest.approx(1)
    parts = [T.AugMix()._applied(IMAGE.numpy(), chain) for chain in drawn.chains]
    total = drawn.own * IMAGE.numpy() + sum(
        w * p for w, p in zip(drawn.weights, parts, strict=True)
    )
    assert np.abs(mixed(IMAGE).numpy() - np.floor(total)).max() <= 1


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: T.RandAugment(magnitude=31),
            "'magnitude' parameter of RandAugment must be from 0",
        ),
        (lambda: T.TrivialAugmentWide(1), "'num_magnitude_bins' parameter .* at least 2. Got 1"),
        (lambda: T.AutoAugment("mnist"), "The provided policy mnist is not recognized"),
        (lambda: T.AugMix(11), r"The severity must be between \[1, 10\]. Got 11"),
        (lambda: T.RandAugment(interpolation="cubic"), "must be nearest or bilinear"),
        (lambda: T.MixUp(0), "'alpha' parameter of MixUp must be > 0"),
        (lambda: T.MixUp()(tn.ones(2, 3), tn.tensor([0, 1])), "num_classes must be passed"),
        (lambda: T.MixUp(1.0, 2)(tn.ones(2, 3), tn.tensor([0, 2])), "must be from 0 to 1"),
        (
            lambda: T.MixUp(1.0, 2)(tn.ones(2, 3), tn.tensor([0])),
            r"Got the shapes \[2, 3\] and \[1",
        ),
        (lambda: T.CutMix(1.0, 2)(tn.ones(2, 3), tn.tensor([0, 1])), "a batch of images"),
        (lambda: T.FiveCrop(9)(IMAGE[..., :8]), r"Requested crop size \(9, 9\) is bigger than"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
    with pytest.raises(TypeError, match="permitted channel values are 1 or 3, but found 2"):
        T.TrivialAugmentWide()(IMAGE[:2])


# ---- mixtures ----


def test_mix_up_is_the_weighted_mean():
    images, labels = tn.rand(5, 2, 4, 4), tn.tensor([0, 1, 2, 0, 1])
    mixed, shares = T.MixUp(0.4, 3, generator=seeded())(images, labels)
    share = seeded().numpy.beta(0.4, 0.4)
    one_hot = np.eye(3)[labels.numpy()]
    bound = 4 * 2.0**-24
    expected = share * images.numpy() + (1 - share) * np.roll(images.numpy(), 1, 0)
    assert np.abs(mixed.numpy() - expected).max() <= bound
    expected = share * one_hot + (1 - share) * np.roll(one_hot, 1, 0)
    assert np.abs(shares.numpy() - expected).max() <= bound and shares.dtype is tn.float32


def test_cut_mix_shares_areas():
    images = tn.arange(4).reshape(4, 1, 1, 1).expand(4, 1, 10, 12).float()
    for seed in range(50):
        mixed, shares = T.CutMix(1.0, 4, generator=seeded(seed))((images, tn.arange(4)))
        own = (mixed == images).float().mean((1, 2, 3))
        assert np.abs(shares.numpy().diagonal() - own.numpy()).max() <= 4 * 2.0**-24
        before = images.roll(1, 0)
        assert ((mixed == images) | (mixed == before)).all()
    again, shares_ = T.CutMix(1.0, generator=seeded(seed))(images, tn.eye(4))
    assert tn.equal(again, mixed) and tn.equal(shares_, shares)


# ---- crops ----


@pytest.mark.parametrize("size", [3, (5, 4), (12, 10)])
def test_crops_are_those_of_torchvision(size):
    five = T.FiveCrop(size)(IMAGE)
    assert all(map(tn.equal, five, vision.functional.five_crop(IMAGE, size)))
    for vertical in (False, True):
        ten = T.TenCrop(size, vertical)(IMAGE)
        assert all(map(tn.equal, ten, vision.functional.ten_crop(IMAGE, size, vertical)))
    batch = T.Compose([T.FiveCrop(3), T.ConvertImageDtype(tn.float32)])(IMAGE)
    assert batch.shape == (5, 3, 3, 3)
