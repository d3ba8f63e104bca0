"""CIFAR-10 and CIFAR-100, binary version, in small files written here, and damaged ones."""

import gzip
import pickle

import pytest

import tinynet as tn
from tinynet.data import CIFAR10, CIFAR100, DataLoader, FormatError
from tinynet.data.transforms import RandomCrop

PIXELS = 3 * 32 * 32
NAMES = [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]


def record(labels, seed):
    return bytes(labels) + bytes((seed + 31 * i) % 256 for i in range(PIXELS))


@pytest.fixture
def ten(tmp_path):
    for number, name in enumerate(NAMES):
        (tmp_path / name).write_bytes(record([number], number) + record([9 - number], number + 100))
    return tmp_path


@pytest.fixture
def hundred(tmp_path):
    (tmp_path / "train.bin").write_bytes(record([3, 42], 0) + record([19, 99], 1))
    (tmp_path / "test.bin").write_bytes(record([0, 0], 2))
    return tmp_path


def refused(make, *arguments, **keywords):
    with pytest.raises(FormatError) as caught:
        make(*arguments, **keywords)
    return str(caught.value)


def test_cifar10(ten):
    train, test = CIFAR10(ten), CIFAR10(ten, train=False)
    assert (len(train), len(test)) == (10, 2)
    assert train.targets.tolist() == [0, 9, 1, 8, 2, 7, 3, 6, 4, 5]
    image, label = train[3]
    assert image.shape == (3, 32, 32)
    assert image.dtype is tn.float32
    assert (image * 255).round().flatten().tolist() == list(record([], 101))
    assert label.item() == 8
    assert train.classes[8] == "ship"
    assert test.data.shape == (2, 3, 32, 32)


def test_red_comes_first_then_green_then_blue_row_by_row(ten):
    image = CIFAR10(ten).data[0]
    assert image[2, 5, 7].item() == (31 * (2 * 1024 + 5 * 32 + 7)) % 256


def test_the_folder_above_and_packed_files(ten, tmp_path):
    folder = tmp_path / "above" / "cifar-10-batches-bin"
    folder.mkdir(parents=True)
    for name in NAMES:
        (folder / f"{name}.gz").write_bytes(gzip.compress((ten / name).read_bytes()))
    assert CIFAR10(tmp_path / "above").data.tolist() == CIFAR10(ten).data.tolist()


def test_cifar100(hundred):
    fine, coarse = CIFAR100(hundred), CIFAR100(hundred, coarse=True)
    assert fine.targets.tolist() == [42, 99]
    assert coarse.targets.tolist() == [3, 19]
    assert fine.data.tolist() == coarse.data.tolist()
    assert fine.classes[42] == "42"
    (hundred / "fine_label_names.txt").write_text("".join(f"kind {i}\n" for i in range(100)) + "\n")
    assert CIFAR100(hundred).classes[42] == "kind 42"
    assert CIFAR100(hundred).class_to_idx["kind 7"] == 7
    assert CIFAR100(hundred, train=False)[0][1].item() == 0


def test_names_that_do_not_fit(hundred):
    path = hundred / "coarse_label_names.txt"
    path.write_text("one\ntwo\n")
    assert refused(CIFAR100, hundred, coarse=True) == (
        f"{path}: expected 20 names, one per line, found 2"
    )


def test_augmentation(ten):
    (batch,) = DataLoader(CIFAR10(ten, augment=RandomCrop(30), flatten=True), batch_size=10)
    assert batch[0].shape == (10, 3 * 30 * 30)
    assert CIFAR10(ten, train=False, augment=RandomCrop(30))[0][0].shape == (3, 32, 32)


@pytest.mark.parametrize("length", [0, 1, 3072, 3074, 6145])
def test_a_truncated_file(ten, length):
    path = ten / "data_batch_3.bin"
    path.write_bytes(path.read_bytes()[:length])
    assert refused(CIFAR10, ten).startswith(
        f"{path}: expected records of 3073 bytes (1 for labels, 3072 for pixels), "
        f"found {length} bytes ("
    )


def test_files_of_the_other_data_set(hundred, ten):
    path = ten / "data_batch_1.bin"
    path.write_bytes((hundred / "train.bin").read_bytes())
    assert "expected records of 3073 bytes" in refused(CIFAR10, ten)


def test_a_label_that_is_none(ten, hundred):
    path = ten / "data_batch_2.bin"
    path.write_bytes(record([1], 0) + record([10], 0))
    assert refused(CIFAR10, ten) == (
        f"{path}, record 1 (byte 3073): expected a label from 0 to 9, found 10"
    )
    path = hundred / "train.bin"
    path.write_bytes(record([1, 100], 0))
    assert refused(CIFAR100, hundred, coarse=True) == (
        f"{path}, record 0 (byte 1): expected a label from 0 to 99, found 100"
    )


def test_the_version_of_pickles_is_not_read(ten):
    path = ten / "data_batch_1.bin"
    path.write_bytes(pickle.dumps({b"data": b"x" * 4000}, protocol=2))
    assert refused(CIFAR10, ten).endswith("80 02: a Python pickle, which is never read")


def test_a_missing_file(ten):
    (ten / "data_batch_4.bin").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        CIFAR10(ten)
    assert str(caught.value).startswith(
        f"{ten} has no file with CIFAR10 (binary version) (nor in cifar-10-batches-bin inside it). "
        "Looked for: data_batch_4.bin, data_batch_4.bin.gz. It has: data_batch_1.bin, "
    )
