"""IDX files: written here byte by byte, Debian's real ones, and damaged ones."""

import gzip
import pickle
import random
import struct
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import (
    IDX,
    MNIST,
    DataLoader,
    FashionMNIST,
    FormatError,
    default_collate,
    read_idx,
)
from tinynet.data.transforms import ConvertImageDtype, Normalize, OneHot, RandomCrop

FASHION = Path("/usr/share/datasets/fashion-mnist")
TYPES = {"B": 0x08, "b": 0x09, "h": 0x0B, "i": 0x0C, "f": 0x0D, "d": 0x0E}
NAMES = {
    "B": tn.uint8, "b": tn.int8, "h": tn.int16, "i": tn.int32, "f": tn.float32, "d": tn.float64,
}  # fmt: skip


def idx_bytes(code, sizes, values):
    header = struct.pack(f">HBB{len(sizes)}I", 0, TYPES[code], len(sizes), *sizes)
    return header + struct.pack(f">{len(values)}{code}", *values)


def write(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def mnist_files(folder, count=5, end="", size=4):
    folder.mkdir(parents=True, exist_ok=True)
    for stem, n in (("train", count), ("t10k", count - 2)):
        pixels = [(7 * i) % 256 for i in range(n * size * size)]
        write(folder / f"{stem}-images-idx3-ubyte{end}", idx_bytes("B", (n, size, size), pixels))
        write(folder / f"{stem}-labels-idx1-ubyte{end}", idx_bytes("B", (n,), range(n)))
    return folder


def refused(read, *arguments, **keywords):
    with pytest.raises(FormatError) as caught:
        read(*arguments, **keywords)
    assert caught.value.__cause__ is None
    return str(caught.value)


# ---- arrays ----


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize("code", TYPES)
@pytest.mark.parametrize("sizes", [(6,), (2, 3), (1, 2, 3), (3, 1, 2, 1), ()])
def test_any_type_and_rank(tmp_path, code, sizes, end):
    values = [1, 2, 3, 4, 5, 6][: int(np.prod(sizes))]
    if code != "B":
        values = [-value for value in values]
    read = read_idx(write(tmp_path / f"x{end}", idx_bytes(code, sizes, values)))
    assert read.dtype is NAMES[code]
    assert tuple(read.shape) == sizes
    assert read.flatten().tolist() == values
    read.add_(1)  # it may be written


def test_large_numbers_have_their_high_byte_first(tmp_path):
    path = write(tmp_path / "x", idx_bytes("i", (2,), [2**31 - 1, 258]))
    assert path.read_bytes()[-4:] == bytes([0, 0, 1, 2])
    assert read_idx(path).tolist() == [2**31 - 1, 258]


@pytest.mark.parametrize("sizes", [(0,), (0, 3), (2, 0)])
def test_empty(tmp_path, sizes):
    assert tuple(read_idx(write(tmp_path / "x", idx_bytes("B", sizes, []))).shape) == sizes


def test_rows_and_labels(tmp_path):
    rows = write(tmp_path / "rows", idx_bytes("h", (3, 2), [1, -2, 3, -4, 5, -6]))
    labels = write(tmp_path / "labels.gz", idx_bytes("i", (3,), [7, 8, 9]))
    data = IDX(rows, labels, transform=lambda row: row * 2, target_transform=lambda y: y - 7)
    assert len(data) == 3
    row, label = data[1]
    assert row.dtype is tn.int16
    assert row.tolist() == [6, -8]
    assert label.dtype is tn.int64
    assert label.item() == 1
    assert data[-1][1].item() == 2
    (batch,) = DataLoader(data, batch_size=3)
    assert batch[0].tolist() == [[2, -4], [6, -8], [10, -12]]
    assert batch[1].tolist() == [0, 1, 2]
    with pytest.raises(IndexError):
        data[3]
    (alone,) = IDX(rows)[0]
    assert alone.tolist() == [1, -2]


def test_a_sample_is_a_copy(tmp_path):
    data = IDX(write(tmp_path / "x", idx_bytes("B", (2, 2), [1, 2, 3, 4])))
    data[0][0].fill_(9)
    assert data[0][0].tolist() == [1, 2]


# ---- folders in MNIST's manner ----


@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_folder(tmp_path, end):
    folder = mnist_files(tmp_path, end=end)
    train, test = MNIST(folder), MNIST(str(folder), train=False)
    assert (len(train), len(test)) == (5, 3)
    image, label = train[1]
    assert image.shape == (1, 4, 4)
    assert image.dtype is tn.float32
    assert (image.flatten() * 255).round().tolist() == [(7 * i) % 256 for i in range(16, 32)]
    assert label.item() == 1
    assert label.shape == ()
    assert train.data.shape == (5, 4, 4)
    assert train.data.dtype is tn.uint8
    assert train.targets.tolist() == [0, 1, 2, 3, 4]
    assert train.class_to_idx["3 - three"] == 3


def test_forms(tmp_path):
    folder = mnist_files(tmp_path)
    flat = MNIST(folder, flatten=True)
    assert flat[0][0].shape == (16,)
    raw = MNIST(folder, normalize=False)
    assert raw[0][0].dtype is tn.float32
    assert bool((raw[0][0] == raw.data[0].float()).all())
    assert bool((flat[0][0] == raw[0][0].flatten() / 255).all())


@pytest.mark.parametrize("names", [("MNIST", "raw"), ("raw",)])
def test_other_layouts(tmp_path, names):
    mnist_files(tmp_path.joinpath(*names))
    assert len(MNIST(tmp_path)) == 5


def test_the_names_with_a_dot(tmp_path):
    for file in mnist_files(tmp_path).iterdir():
        file.rename(tmp_path / file.name.replace("-idx", ".idx"))
    assert len(MNIST(tmp_path)) == 5


def test_a_batch_is_its_samples(tmp_path):
    tn.manual_seed(0)
    options = dict(
        transform=Normalize(0.5, 0.25),
        target_transform=OneHot(10),
        augment=RandomCrop(4, padding=1),
    )
    data = MNIST(mnist_files(tmp_path), **options)
    tn.manual_seed(1)
    batch = default_collate(data.__getitems__([0, 1, 2, 3, 4]))
    tn.manual_seed(1)
    alone = [data[i] for i in range(5)]
    assert bool((batch[0] == tn.stack([image for image, _ in alone])).all())
    assert bool((batch[1] == tn.stack([label for _, label in alone])).all())


def test_augmentation_is_for_training_only(tmp_path):
    folder = mnist_files(tmp_path)
    assert MNIST(folder, augment=RandomCrop(2))[0][0].shape == (1, 2, 2)
    assert MNIST(folder, train=False, augment=RandomCrop(2))[0][0].shape == (1, 4, 4)


def test_images_of_different_sizes_after_a_transform(tmp_path):
    sizes = iter([1, 2, 3])
    data = MNIST(mnist_files(tmp_path), transform=lambda image: image[:, : next(sizes)])
    shapes = DataLoader(
        data, batch_size=3, collate_fn=lambda samples: [x.shape for x, _ in samples]
    )
    assert next(iter(shapes)) == [(1, 1, 4), (1, 2, 4), (1, 3, 4)]


# ---- what is wrong with a file ----

WHOLE = idx_bytes("B", (2, 3), [1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    "length, expected, found",
    [
        (0, "the magic number 00 00 TT DD", "nothing: the file is empty"),
        (3, "the magic number 00 00 TT DD", "00 00 08"),
        (4, "2 sizes of 4 bytes", "0 bytes"),
        (11, "2 sizes of 4 bytes", "7 bytes"),
        (12, "6 bytes after the header, for the shape [2, 3] that it states", "0"),
        (17, "6 bytes after the header, for the shape [2, 3] that it states", "5"),
    ],
)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_a_truncated_file(tmp_path, length, expected, found, end):
    path = write(tmp_path / f"x{end}", WHOLE[:length])
    message = refused(read_idx, path)
    assert message.startswith(f"{path}")
    assert f": expected {expected}" in message
    assert message.endswith(f"found {found}")


def test_a_file_that_is_too_long(tmp_path):
    message = refused(read_idx, write(tmp_path / "x", WHOLE + b"x"))
    assert message.endswith("for the shape [2, 3] that it states, found more")


@pytest.mark.parametrize("length", range(0, len(gzip.compress(WHOLE, mtime=0))))
def test_a_truncated_gzip_file(tmp_path, length):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(WHOLE, mtime=0)[:length])
    message = refused(read_idx, path)
    assert message.startswith(f"{path}: expected a")
    assert "gzip file" in message


def test_bit_flips_in_a_gzip_file_are_found(tmp_path):
    path = tmp_path / "x.gz"
    content = bytearray(gzip.compress(idx_bytes("B", (500,), random.Random(0).randbytes(500))))
    for byte in (0, 1, 2, 12, 100, 300, len(content) - 8, len(content) - 5, len(content) - 1):
        for bit in range(8):
            damaged = content.copy()
            damaged[byte] ^= 1 << bit
            path.write_bytes(damaged)
            assert str(path) in refused(read_idx, path)


def test_any_damage_to_the_header_is_found_or_harmless(tmp_path):
    """A flipped bit can only turn the type into the other one of one byte (08 and 09)."""
    path = tmp_path / "x"
    for position in range(12 * 8):
        damaged = bytearray(WHOLE)
        damaged[position // 8] ^= 1 << position % 8
        path.write_bytes(damaged)
        if damaged[2] == 9:
            assert read_idx(path).dtype is tn.int8
        else:
            assert str(path) in refused(read_idx, path)


@pytest.mark.parametrize("sizes", [(2**32 - 1,) * 5, (0, *[2**32 - 1] * 5), (2**32 - 1,)])
def test_sizes_that_no_memory_can_hold(tmp_path, sizes):
    for name in ("x", "x.gz"):
        assert str(tmp_path) in refused(read_idx, write(tmp_path / name, idx_bytes("d", sizes, [])))


def test_more_dimensions_than_an_array_has(tmp_path):
    path = write(tmp_path / "x", idx_bytes("B", (1,) * 255, [1]))
    assert "at most 64 dimensions, found 255" in refused(read_idx, path)


@pytest.mark.parametrize(
    "name, content, found",
    [
        ("x", gzip.compress(WHOLE, mtime=0), "1f 8b: a gzip file"),
        ("x", b"\x89PNG\r\n\x1a\n", "89 50 4e 47: a PNG image"),
        ("x", b"<!DOCTYPE html>", "3c 21 44 4f"),
        ("x", b"\0\0\x0a\x01", "00 00 0a 01"),
        ("x.gz", WHOLE, "00 00 08 02"),
        ("x.gz", b"", "nothing: the file is empty"),
    ],
)
def test_another_format(tmp_path, name, content, found):
    (tmp_path / name).write_bytes(content)
    assert f"found {found}" in refused(read_idx, tmp_path / name)


def test_labels_and_images_are_swapped(tmp_path):
    folder = mnist_files(tmp_path)
    images, labels = (folder / f"train-{x}-ubyte" for x in ("images-idx3", "labels-idx1"))
    images.rename(tmp_path / "x")
    labels.rename(images)
    (tmp_path / "x").rename(labels)
    message = refused(MNIST, folder)
    assert message == f"{images}, magic number: expected 3 dimensions (images), found 1"


def test_labels_of_the_other_part(tmp_path):
    folder = mnist_files(tmp_path)
    labels = folder / "train-labels-idx1-ubyte"
    (folder / "t10k-labels-idx1-ubyte").rename(labels)
    images = folder / "train-images-idx3-ubyte"
    assert (
        refused(MNIST, folder) == f"{labels}: expected 5 labels, one per image in {images}, found 3"
    )


def test_a_label_that_is_none(tmp_path):
    folder = mnist_files(tmp_path)
    labels = write(folder / "train-labels-idx1-ubyte", idx_bytes("B", (5,), [0, 1, 10, 3, 200]))
    assert refused(MNIST, folder) == f"{labels}, row 2: expected labels from 0 to 9, found 10"


def test_labels_and_images_of_another_type(tmp_path):
    folder = mnist_files(tmp_path)
    write(folder / "train-labels-idx1-ubyte", idx_bytes("f", (5,), [0, 1, 2, 3, 4]))
    assert refused(MNIST, folder).endswith("expected integers as labels, found float32")
    write(folder / "train-images-idx3-ubyte", idx_bytes("b", (5, 1, 1), [0, 1, 2, 3, 4]))
    assert refused(MNIST, folder).endswith("expected the type 08 (bytes), found int8")


def test_a_number_has_no_rows(tmp_path):
    path = write(tmp_path / "x", idx_bytes("B", (), [1]))
    assert refused(IDX, path).endswith("expected at least one dimension, found none")


def test_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        MNIST(tmp_path / "nowhere")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'nowhere'} does not exist: it must be a folder with")
    assert "train-images-idx3-ubyte.gz" in message


def test_a_missing_file(tmp_path):
    folder = mnist_files(tmp_path)
    (folder / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        MNIST(folder, train=False)
    message = str(caught.value)
    assert message.startswith(f"{folder} has no file with the test labels of MNIST (nor in raw, ")
    assert "Looked for: t10k-labels-idx1-ubyte, t10k-labels-idx1-ubyte.gz" in message
    assert "It has: t10k-images-idx3-ubyte, train-images-idx3-ubyte, " in message
    with pytest.raises(FileNotFoundError, match="is a file: it must be a folder"):
        MNIST(folder / "t10k-images-idx3-ubyte")
    with pytest.raises(FileNotFoundError):
        read_idx(tmp_path / "nowhere")


def test_the_error_survives_a_pickle():
    """So a worker process can send it."""
    error = FormatError(Path("a.csv"), "a number", "'x'", "line 7")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "a.csv, line 7: expected a number, found 'x'"
    assert (again.path, again.where) == ("a.csv", "line 7")
    assert isinstance(error, ValueError)


# ---- real files ----


@pytest.mark.skipif(not FASHION.is_dir(), reason="no Debian package dataset-fashion-mnist here")
def test_fashion_mnist():
    train, test = FashionMNIST(FASHION), FashionMNIST(FASHION, train=False)
    assert (len(train), len(test)) == (60_000, 10_000)
    for part, count in ((train, 6000), (test, 1000)):
        assert np.bincount(part.targets.numpy()).tolist() == [count] * 10
    assert train.classes[train[0][1].item()] == "Ankle boot"
    # The published mean and standard deviation of the training images.
    counts = np.bincount(train.data.numpy().reshape(-1), minlength=256)
    values = np.arange(256) / 255
    mean = (counts * values).sum() / counts.sum()
    assert round(mean, 4) == 0.2860
    assert round(np.sqrt((counts * (values - mean) ** 2).sum() / counts.sum()), 4) == 0.3530
    with gzip.open(FASHION / "train-images-idx3-ubyte.gz") as file:
        assert file.read()[16:] == train.data.numpy().tobytes()
    images, labels = next(iter(DataLoader(train, batch_size=100)))
    assert images.shape == (100, 1, 28, 28)
    assert labels.tolist() == train.targets[:100].tolist()
    whole = IDX(
        FASHION / "t10k-images-idx3-ubyte.gz",
        FASHION / "t10k-labels-idx1-ubyte.gz",
        transform=ConvertImageDtype(tn.float32),
    )
    assert bool((whole[7][0] == test[7][0][0]).all())


@pytest.mark.skipif(not FASHION.is_dir(), reason="no Debian package dataset-fashion-mnist here")
@pytest.mark.parametrize("part", [0.0001, 0.5, 0.999999])
def test_a_download_that_broke_off(tmp_path, part):
    content = (FASHION / "t10k-images-idx3-ubyte.gz").read_bytes()
    path = tmp_path / "t10k-images-idx3-ubyte.gz"
    path.write_bytes(content[: int(len(content) * part)])
    assert refused(read_idx, path).endswith("a complete gzip file, found one that ends early")
