"""Folders with a folder for each class."""

import os

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import DataLoader, DatasetFolder


def load(path):
    return tn.from_numpy(np.load(path))


@pytest.fixture
def root(tmp_path):
    files = {"dog/b.npy": 1, "dog/a.npy": 2, "cat/z/y.npy": 3, "cat/m.NPY": 4, "cat/n.txt": 0,
             "ant/x.npy": 5, "readme.txt": 0}  # fmt: skip
    for name, number in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            np.save(file, np.full(3, number, np.float32))
    return tmp_path / "root"


def test_samples(root):
    data = DatasetFolder(root, load, (".npy",))
    assert data.classes == ["ant", "cat", "dog"]
    assert data.class_to_idx == {"ant": 0, "cat": 1, "dog": 2}
    names = ["ant/x.npy", "cat/m.NPY", "cat/z/y.npy", "dog/a.npy", "dog/b.npy"]
    assert data.samples == [
        (os.path.join(root, *name.split("/")), number)
        for name, number in zip(names, [0, 1, 1, 2, 2], strict=True)
    ]
    assert data.targets == [0, 1, 1, 2, 2]
    assert len(data) == 5
    row, label = data[2]
    assert row.tolist() == [3, 3, 3]
    assert label.dtype is tn.int64
    assert label.shape == ()
    assert data.classes[label] == "cat"
    with pytest.raises(IndexError):
        data[5]


def test_batches_and_transforms(root):
    data = DatasetFolder(str(root), load, ".npy", lambda x: x[:2] * 2, lambda y: y + 10)
    (batch,) = DataLoader(data, batch_size=5)
    assert batch[0].tolist() == [[10, 10], [8, 8], [6, 6], [4, 4], [2, 2]]
    assert batch[1].tolist() == [10, 11, 11, 12, 12]


def test_which_files(root):
    data = DatasetFolder(root, load, is_valid_file=lambda path: "a" in os.path.basename(path),
                         allow_empty=True)  # fmt: skip
    assert [os.path.basename(path) for path, _ in data.samples] == ["a.npy"]
    assert data.classes == ["ant", "cat", "dog"]
    assert len(DatasetFolder(root, load, (".npy", ".txt"))) == 6


def test_links_are_followed(root):
    os.symlink(root / "dog", root / "wolf", target_is_directory=True)
    assert DatasetFolder(root, load, (".npy",)).targets == [0, 1, 1, 2, 2, 3, 3]


def test_what_is_missing(root, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        DatasetFolder(root, load, (".png", ".jpg"), allow_empty=False)
    assert str(caught.value) == (
        "Found no valid file for the classes ant, cat, dog. Supported extensions are: .png, .jpg"
    )
    with pytest.raises(FileNotFoundError, match="for the classes ant, dog. Supported extensions"):
        DatasetFolder(root, load, (".txt",))
    with pytest.raises(FileNotFoundError, match="'is_valid_file' took none"):
        DatasetFolder(root, load, is_valid_file=lambda path: False)
    with pytest.raises(FileNotFoundError) as caught:
        DatasetFolder(root / "dog", load, (".npy",))
    assert str(caught.value) == (
        f"Couldn't find any class folder in {root / 'dog'}. It has: a.npy, b.npy."
    )
    with pytest.raises(FileNotFoundError):
        DatasetFolder(tmp_path / "nowhere", load, (".npy",))
    for options in ({}, dict(extensions=(".npy",), is_valid_file=bool)):
        with pytest.raises(ValueError, match="extensions and is_valid_file cannot be None or not"):
            DatasetFolder(root, load, **options)
