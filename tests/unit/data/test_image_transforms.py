"""Resizing, rotation and colors, against Pillow, colorsys, formulas and (as oracle) PyTorch."""

import colorsys
import math

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import transforms as T
from tinynet.data.transforms.color import with_hue
from tinynet.data.transforms.geometry import random_crop_box, resized
from tinynet.data.transforms.warps import inverse_map, linear_map, old_places, sampled

RANDOM = np.random.default_rng(0)
SIZES = [((17, 23), (8, 9)), ((8, 8), (20, 31)), ((100, 60), (7, 60)), ((5, 5), (5, 3))]


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


def close(found, expected, scale=1.0):
    """Few float32 operations apart."""
    assert np.abs(np.asarray(found) - np.asarray(expected)).max() <= 32 * 2.0**-24 * scale


FILTERS = ("bilinear", "bicubic")

# ---- sizes ----


@pytest.mark.parametrize("old, new", SIZES)
@pytest.mark.parametrize("name", FILTERS)
def test_resized_as_by_pillow(old, new, name):
    """Pillow's filters for images of floats are the same, with antialiasing."""
    Image = pytest.importorskip("PIL.Image")
    pixels = RANDOM.random(old).astype(np.float32)
    method = getattr(Image.Resampling, name.upper())
    expected = np.asarray(Image.fromarray(pixels).resize(new[::-1], method))
    close(T.Resize(new, name)(tn.tensor(pixels)).numpy(), expected)


def test_resized_without_antialiasing():
    ramp = tn.arange(8.0).reshape(1, 8)
    picked = T.Resize((1, 2), antialias=False)(ramp)
    assert picked.tolist() == [[1.5, 5.5]]  # two neighbors each
    assert T.Resize((1, 4), "bicubic", antialias=False)(ramp)[0, 1:3].tolist() == [2.5, 4.5]
    assert T.Resize((1, 16), antialias=False)(ramp)[0, :3].tolist() == [0, 0.25, 0.75]


@pytest.mark.parametrize(
    "transform",
    [
        *(T.Resize((3, 9), name, None, smooth) for name in FILTERS for smooth in (True, False)),
        T.RandomRotation((30, 30), "bilinear"),
        T.GaussianBlur(3),
    ],
    ids=lambda transform: type(transform).__name__,
)
def test_one_nan_stays_where_it_has_weight(transform):
    def transformed(pixels):
        tn.manual_seed(0)
        return transform(tn.tensor(pixels, dtype=tn.float32)).numpy()

    for place in range(42):
        pulse = np.zeros((1, 6, 7))
        pulse.flat[place] = 1
        reached = transformed(pulse) != 0
        pulse.flat[place] = np.nan
        np.testing.assert_array_equal(np.isnan(transformed(pulse + 1)), reached)


@pytest.mark.parametrize("name, expected", [("nearest", [0, 1, 3]), ("nearest-exact", [0, 2, 4])])
def test_nearest(name, expected):
    assert T.Resize((1, 3), name)(tn.arange(5).reshape(1, 5)).tolist() == [expected]


@pytest.mark.parametrize(
    "options, size",
    [
        ({"size": 10}, (10, 20)),
        ({"size": [10]}, (10, 20)),
        ({"size": (10, 15)}, (10, 15)),
        ({"size": 10, "max_size": 15}, (7, 15)),
        ({"size": 50, "max_size": 200}, (50, 100)),
    ],
)
def test_the_size(options, size):
    assert T.Resize(**options)(tn.ones(3, 20, 40)).shape == (3, *size)
    assert T.Resize(**options)(tn.ones(3, 40, 20)).shape[1:] == (
        size if len([*np.atleast_1d(options["size"])]) == 2 else size[::-1]
    )


def test_bytes_are_rounded_and_clipped():
    image = tn.tensor([[[0, 255, 0]]], dtype=tn.uint8)
    assert T.Resize((1, 6), "bicubic")(image).dtype is tn.uint8
    assert T.Resize((1, 1))(image).item() == 109  # 255 * 3 / 7, from weights 2, 3, 2
    assert T.Resize((1, 6), "bicubic")(image).min().item() == 0  # it undershoots


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0},
        {"size": (1, 2, 3)},
        {"size": 4, "interpolation": "cubic"},
        {"size": (4, 4), "max_size": 9},
        {"size": 4, "max_size": 4},
    ],
)
def test_sizes_that_are_none(options):
    with pytest.raises(ValueError, match="size|interpolation"):
        T.Resize(**options)


def test_random_resized_crops():
    """Each is a part of the image: of a ramp, it is a ramp with another step."""
    ramp = tn.arange(40.0).expand(1, 30, 40)
    crop = T.RandomResizedCrop((6, 8), (0.2, 0.5), (0.5, 2), "nearest", generator=seeded())
    widths = []
    for _ in range(200):
        row = crop(ramp)[0, 0].numpy()
        assert (np.diff(row) > 0).all()
        widths.append((row[-1] - row[0]) / 7 * 8)
    assert 8 < min(widths) < 14
    assert 25 < max(widths) <= 40
    wide = T.RandomResizedCrop(5, (1, 1), (4, 4), generator=seeded())  # fits nowhere: the center
    assert random_crop_box(seeded().numpy, (30, 40), wide.scale, wide.ratio) == (10, 0, 10, 40)
    for options in ({"scale": (0.5, 0.1)}, {"ratio": (0, 1)}, {"scale": (0, 2)}, {"size": -1}):
        with pytest.raises(ValueError):
            T.RandomResizedCrop(**{"size": 4, **options})


# ---- affine maps ----


@pytest.mark.parametrize("angle", [33, 90, -120])
@pytest.mark.parametrize("expand", [False, True])
def test_rotated_as_by_pillow(angle, expand):
    Image = pytest.importorskip("PIL.Image")
    pixels = RANDOM.integers(1, 256, (10, 16), dtype=np.uint8)
    expected = np.asarray(Image.fromarray(pixels).rotate(angle, expand=expand))
    found = T.RandomRotation((angle, angle), expand=expand)(tn.tensor(pixels)).numpy()
    assert found.shape == expected.shape
    assert (found != expected).mean() < 0.02  # ties are rounded in other ways


def test_rotated_about_a_corner():
    image = tn.arange(1.0, 10).reshape(1, 3, 3)
    about = T.RandomRotation((90, 90), center=(0, 0), fill=-1)
    assert bool((about(image) == -1).all())  # it is turned out of the frame
    assert T.RandomRotation((-90, -90), center=(0, 3), fill=0)(image).max() == 0
    assert T.RandomRotation((0, 0), "bilinear")(image).tolist() == image.tolist()


def test_fill_per_channel():
    turned = T.RandomRotation((45, 45), fill=(5, 6, 7))(tn.zeros(3, 9, 9))
    assert turned[:, 0, 0].tolist() == [5, 6, 7]
    assert turned[:, 4, 4].tolist() == [0, 0, 0]
    smooth = T.RandomRotation((45, 45), "bilinear", fill=9)(tn.full((1, 9, 9), 9.0))
    close(smooth.numpy(), 9.0, scale=9)


def test_affine_maps():
    image = tn.arange(1.0, 26).reshape(1, 5, 5)
    moved = T.RandomAffine(0, translate=(0.4, 0), generator=seeded())
    found = {tuple(moved(image)[0, 0].tolist()) for _ in range(100)}
    row = [1.0, 2, 3, 4, 5]
    shifts = [[*row[n:], *[0.0] * n] for n in range(3)] + [[*[0.0] * n, *row[:-n]] for n in (1, 2)]
    assert found == {tuple(shift) for shift in shifts}
    twice = T.RandomAffine(0, scale=(2, 2))(image)[0]
    assert twice[2].tolist() == [12, 12, 13, 14, 14] or twice[2, 2] == 13
    sheared = T.RandomAffine(0, shear=(45, 45))(image)[0]
    assert sheared[2].tolist() == image[0, 2].tolist()
    assert sheared[0].tolist() in ([3, 4, 5, 0, 0], [0, 0, 1, 2, 3])


@pytest.mark.parametrize(
    "make",
    [
        lambda: T.RandomRotation(-1),
        lambda: T.RandomRotation((3, 1)),
        lambda: T.RandomRotation(5, "bicubic"),
        lambda: T.RandomRotation(5, center=(1, 2, 3)),
        lambda: T.RandomAffine(5, translate=(0.1, 2)),
        lambda: T.RandomAffine(5, scale=(0, 1)),
        lambda: T.RandomAffine(5, shear=(1, 2, 3)),
        lambda: T.GaussianBlur(4),
        lambda: T.GaussianBlur(3, sigma=0),
        lambda: T.GaussianNoise(sigma=-1),
        lambda: T.ColorJitter(brightness=-1),
        lambda: T.ColorJitter(hue=0.6),
        lambda: T.ColorJitter(contrast=(-1, 1)),
        lambda: T.Grayscale(2),
        lambda: T.RandomPosterize(9),
        lambda: T.RandomAdjustSharpness(-1),
        lambda: T.RandomChoice([T.Pad(1)], p=[1, 2]),
        lambda: T.RandomChoice([]),
    ],
)
def test_arguments_that_do_not_fit(make):
    with pytest.raises(ValueError):
        make()


# ---- colors ----


def test_gray():
    image = tn.tensor([[[1.0, 0, 0]], [[0, 1.0, 0]], [[0, 0, 1.0]]])
    close(T.Grayscale()(image), [[[0.2989, 0.587, 0.114]]])
    assert T.Grayscale(3)(image).shape == (3, 1, 3)
    assert T.Grayscale(3)(image[:1]).tolist() == image[:1].expand(3, 1, 3).tolist()
    assert T.RGB()(image) is image
    assert T.RGB()(image[:1]).shape == (3, 1, 3)
    for wrong in (tn.ones(2, 3, 3), tn.ones(3, 3)):
        with pytest.raises(TypeError, match="permitted channel values are 1 or 3"):
            T.Grayscale()(wrong)


def test_hue_as_in_colorsys():
    pixels = RANDOM.random((3, 4, 5))
    for shift in (-0.3, 0.1, 0.5):
        found = with_hue(pixels, shift)
        for row, column in np.ndindex(4, 5):
            h, s, v = colorsys.rgb_to_hsv(*pixels[:, row, column])
            expected = colorsys.hsv_to_rgb((h + shift) % 1, s, v)
            assert np.abs(found[:, row, column] - expected).max() < 1e-12
    gray = np.full((3, 1, 2), 0.5)
    assert np.array_equal(with_hue(gray, 0.3), gray)


def test_brightness_contrast_and_saturation():
    image = tn.rand(3, 4, 5, generator=seeded()).double()
    gray = T.Grayscale()(image)
    brightness, contrast, saturation = (
        T.ColorJitter(**{key: (0.5, 0.5)})(image)
        for key in ("brightness", "contrast", "saturation")
    )
    assert (brightness - image / 2).abs().max() < 1e-15
    assert (contrast - (image + gray.mean()) / 2).abs().max() < 1e-15
    assert (saturation - (image + gray) / 2).abs().max() < 1e-15
    assert T.ColorJitter(brightness=(9, 9))(image).max() == 1
    assert T.ColorJitter()(image) is image


def test_colors_of_bytes():
    image = tn.tensor([[[0, 100, 255]]], dtype=tn.uint8)
    assert T.ColorJitter(brightness=(1.5, 1.5))(image).tolist() == [[[0, 150, 255]]]
    assert T.RandomInvert(1)(image).tolist() == [[[255, 155, 0]]]
    assert T.RandomSolarize(100, 1)(image).tolist() == [[[0, 155, 0]]]
    assert T.RandomPosterize(2, 1)(image).tolist() == [[[0, 64, 192]]]
    assert T.RandomAutocontrast(1)(image[..., :2]).tolist() == [[[0, 255]]]
    assert T.RandomAutocontrast(1)(image[..., :1]).tolist() == [[[0]]]  # nothing to stretch
    with pytest.raises(TypeError, match="floats or bytes"):
        T.RandomPosterize(2, 1)(image.long())


def test_blur():
    """The kernel is the product of two normal densities; borders are mirrored."""
    dot = tn.zeros(1, 7, 7)
    dot[0, 3, 3] = 1
    found = T.GaussianBlur((5, 3), 0.8)(dot)[0].numpy()
    density = [math.exp(-((n / 0.8) ** 2) / 2) for n in (-2, -1, 0, 1, 2)]
    across, down = np.array(density) / sum(density), np.array(density[1:4]) / sum(density[1:4])
    close(found[2:5, 1:6], np.outer(down, across))
    close(T.GaussianBlur(3)(tn.ones(2, 4, 4)).numpy(), 1.0)


def test_sharpness():
    dot = tn.zeros(1, 5, 5)
    dot[0, 2, 2] = 0.65
    blurred = T.RandomAdjustSharpness(0, 1)(dot)[0]
    close(blurred[1], [0, 0.05, 0.05, 0.05, 0])
    assert blurred[0].tolist() == [0] * 5  # the border stays
    assert T.RandomAdjustSharpness(2, 1)(dot).max() == 1
    small = tn.ones(1, 2, 9)
    assert T.RandomAdjustSharpness(0, 1)(small).tolist() == small.tolist()


def test_noise():
    noisy = T.GaussianNoise(0.5, 0.1, generator=seeded())(tn.zeros(1, 100, 100)).numpy()
    assert abs(noisy.mean() - 0.5) < 0.01
    assert abs(noisy.std() - 0.1) < 0.01
    with pytest.raises(ValueError, match="expected to be float dtype, got uint8"):
        T.GaussianNoise()(tn.ones(1, 2, 2, dtype=tn.uint8))


def test_to_image():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    image = T.ToImage()(pixels)
    assert image.dtype is tn.uint8
    assert image.shape == (4, 2, 3)
    assert T.ToImage()(image) is image
    both = T.Compose([T.ToImage(), T.ToDtype(tn.float32, scale=True)])
    assert both(pixels).tolist() == T.ToTensor()(pixels).tolist()


# ---- PyTorch's ----


@pytest.mark.oracle
@pytest.mark.parametrize("old, new", SIZES)
@pytest.mark.parametrize("name", ["nearest", "nearest-exact", "bilinear", "bicubic"])
@pytest.mark.parametrize("antialias", [False, True])
def test_pytorch_interpolates_so(old, new, name, antialias):
    import torch

    pixels = RANDOM.random((2, 3, *old)).astype(np.float32)
    smooth = {"antialias": antialias} if name.startswith("bi") else {}
    expected = torch.nn.functional.interpolate(torch.tensor(pixels), new, mode=name, **smooth)
    close(resized(pixels, new, name, antialias), expected.numpy(), scale=4)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["nearest", "bilinear"])
def test_pytorch_samples_so(name):
    import torch

    pixels = RANDOM.random((1, 3, 9, 12)).astype(np.float32)
    inverse = inverse_map(linear_map(33, 1.2, [10, 5]), (9, 12), (3, 4), (1, 2))
    x, y = torch.arange(12) - 5.5, torch.arange(9) - 4.0
    down, across = torch.meshgrid(y.double(), x.double(), indexing="ij")
    places = torch.stack([across, down, torch.ones_like(down)], -1) @ torch.tensor(inverse).T
    grid = (places / torch.tensor([6, 4.5]))[None].float()
    sample = torch.nn.functional.grid_sample
    expected = sample(torch.tensor(pixels), grid, mode=name, align_corners=False).numpy()
    places = old_places(inverse, (9, 12), (9, 12))
    close(sampled(pixels, places, name, 0), expected, scale=4)
