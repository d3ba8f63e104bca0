"""The bundled digits."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet import data
from tinynet.data import DataLoader, Digits

FOLDER = Path(data.__file__).parent


@pytest.fixture(scope="module")
def stored():
    with np.load(FOLDER / "readers" / "digits.npz", allow_pickle=False) as file:
        return dict(file)


def test_the_stored_arrays_are_those_that_the_notice_describes(stored):
    notice = (FOLDER / "readers" / "DIGITS.md").read_text(encoding="utf-8")
    assert {name: (array.dtype.name, array.shape) for name, array in stored.items()} == {
        "images": ("uint8", (1797, 8, 8)),
        "labels": ("uint8", (1797,)),
    }
    for name, array in stored.items():
        assert f"{name}  {hashlib.sha256(array.tobytes()).hexdigest()}" in notice
    assert "CC BY" in Digits.__doc__
    assert "Attribution 4.0 International" in notice


def test_the_first_digit_is_a_zero(stored):
    rows = ["".join(" .:oO@"[pixel // 3] for pixel in row) for row in stored["images"][0]]
    assert stored["labels"][0] == 0
    assert rows == [
        "  .Oo   ",
        "  O@o@. ",
        " .@  o: ",
        " .O  :: ",
        " .:  o: ",
        " .o  O: ",
        "  O.oO  ",
        "  :Oo   ",
    ]


def test_every_image_is_in_one_part(stored):
    parts = [Digits(train, flatten=True, normalize=False) for train in (True, False)]
    assert [len(part) for part in parts] == [1433, 364]
    together = [
        [*image, label]
        for part in parts
        for image, label in zip(part.images.tolist(), part.labels.tolist(), strict=True)
    ]
    original = np.column_stack([stored["images"].reshape(-1, 64), stored["labels"]])
    assert sorted(together) == sorted(original.tolist())


def test_the_test_part_is_every_fifth_image_of_each_digit(stored):
    test = Digits(train=False, normalize=False)
    for digit in range(10):
        originals = stored["images"][stored["labels"] == digit][::5]
        chosen = test.images.numpy()[test.labels.numpy() == digit]
        assert np.array_equal(chosen[:, 0], originals)


def test_digits_are_equally_frequent():
    for train, least, most in ((True, 139, 146), (False, 35, 37)):
        counts = np.bincount(Digits(train).labels.numpy())
        assert counts.min() == least
        assert counts.max() == most


def test_forms():
    plain = Digits()
    assert plain.images.shape == (1433, 1, 8, 8)
    assert plain.images.dtype is tn.float32
    assert plain.labels.dtype is tn.int64
    assert plain.images.numpy().min() == 0.0
    assert plain.images.numpy().max() == 1.0
    raw = Digits(normalize=False)
    assert raw.images.numpy().max() == 16.0
    assert bool((raw.images == plain.images * 16).all())
    flat = Digits(flatten=True)
    assert bool((flat.images == plain.images.reshape(-1, 64)).all())


def test_samples():
    digits = Digits()
    image, label = digits[3]
    assert image.shape == (1, 8, 8)
    assert label.shape == ()
    assert bool((image == digits.images[3]).all())
    assert label.item() == digits.labels[3].item()


def test_two_data_sets_do_not_share_memory():
    Digits().images.fill_(0)
    assert Digits().images.numpy().max() == 1.0


def test_batches():
    digits = Digits(flatten=True)
    batches = list(DataLoader(digits, batch_size=100, shuffle=True))
    assert [tuple(x.shape) for x, _ in batches] == [(100, 64)] * 14 + [(33, 64)]
    seen = np.concatenate([y.numpy() for _, y in batches])
    assert np.array_equal(np.sort(seen), np.sort(digits.labels.numpy()))


def test_training_images_can_be_shifted():
    shifted = Digits(augment=data.transforms.RandomCrop(8, padding=1))
    images, labels = next(iter(DataLoader(shifted, batch_size=200)))
    assert images.shape == (200, 1, 8, 8) and bool((labels == shifted.labels[:200]).all())
    kept = [bool((a == b).all()) for a, b in zip(images, shifted.images[:200], strict=True)]
    assert 5 < sum(kept) < 50  # one of the nine shifts is none
    test = Digits(train=False, augment=data.transforms.RandomCrop(8, padding=1))
    assert bool((test[0][0] == test.images[0]).all())
    with pytest.raises(ValueError, match=r"Flatten in the model \(nn.Flatten\)"):
        Digits(flatten=True, augment=data.transforms.RandomCrop(8, padding=1))
