"""Files of numpy: .npy and .npz, whole and damaged."""

import io
import struct
import zipfile

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import NPY, NPZ, DataLoader, FormatError
from tinynet.data.transforms import Normalize

ROWS = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
LABELS = np.array([3, 1, 2, 0])


def refused(make, path, *arguments, **keywords):
    with pytest.raises(FormatError) as caught:
        make(path, *arguments, **keywords)
    assert caught.value.__cause__ is None
    message = str(caught.value)
    assert message.startswith(str(path))
    return message[len(str(path)) :]


@pytest.fixture
def npy(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, ROWS)
    return path


@pytest.fixture(params=[np.savez, np.savez_compressed])
def npz(request, tmp_path):
    path = tmp_path / "x.npz"
    request.param(path, x=ROWS, y=LABELS, other=np.array(5))
    return path


# ---- .npy ----


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("dtype", [d.name for d in tn.dtypes.ALL[1:]])
def test_every_dtype(tmp_path, dtype, mmap):
    rows = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    for order in "CF":
        for byte_order in "<>":
            np.save(
                tmp_path / "x.npy", np.array(rows, rows.dtype.newbyteorder(byte_order), order=order)
            )
            data = NPY(tmp_path / "x.npy", mmap=mmap)
            assert len(data) == 3
            (row,) = data[1]
            assert row.dtype is getattr(tn, dtype)
            assert row.tolist() == rows[1].tolist()
            (batch,) = DataLoader(data, batch_size=3)
            assert batch[0].dtype is getattr(tn, dtype)
            assert batch[0].tolist() == rows.tolist()


@pytest.mark.parametrize("shape", [(4,), (0,), (0, 3), (3, 0), (2, 1, 1, 2)])
def test_every_shape(tmp_path, shape):
    np.save(tmp_path / "x.npy", np.ones(shape))
    data = NPY(tmp_path / "x.npy")
    assert len(data) == shape[0]
    if len(data):
        assert tuple(data[-1][0].shape) == shape[1:]


def test_rows_and_targets(npy, tmp_path):
    np.save(tmp_path / "y.npy", LABELS)
    data = NPY(npy, tmp_path / "y.npy", tn.float64, transform=Normalize(1, 2))
    row, label = data[2]
    assert row.dtype is tn.float64
    assert row.tolist() == ((ROWS[2] - 1) / 2).tolist()
    assert label.item() == 2
    np.save(tmp_path / "y.npy", LABELS[:3])
    with pytest.raises(FormatError, match=r"y.npy: expected 4 rows, as in the inputs, found 3"):
        NPY(npy, tmp_path / "y.npy")


def test_a_mapped_file_is_read_when_it_is_asked_for(npy):
    data, read = NPY(npy), NPY(npy, mmap=False)
    with open(npy, "r+b") as file:
        file.seek(-4, io.SEEK_END)
        file.write(struct.pack("<f", 99))
    assert data[3][0][1, 2].item() == 99
    assert read[3][0][1, 2].item() == 23


def test_a_sample_is_a_copy(npy):
    before = npy.read_bytes()
    data = NPY(npy)
    data[0][0].fill_(7)
    for batch in DataLoader(data, batch_size=2):
        batch[0].fill_(7)
    assert data[0][0].tolist() == ROWS[0].tolist()
    assert npy.read_bytes() == before


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_versions(tmp_path, version):
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, ROWS, version=version)
    assert NPY(tmp_path / "x.npy")[1][0].tolist() == ROWS[1].tolist()


def test_version_3(tmp_path):
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, ROWS, version=(3, 0))
    assert refused(NPY, tmp_path / "x.npy") == ": expected version 1.0 or 2.0, found 3.0"


# ---- .npz ----


@pytest.mark.parametrize("mmap", [True, False])
def test_an_archive(npz, mmap):
    data = NPZ(npz, mmap=mmap)
    assert len(data) == 4
    row, label = data[1]
    assert row.tolist() == ROWS[1].tolist()
    assert label.item() == 1
    (alone,) = NPZ(npz, inputs="y", targets=None, mmap=mmap)[0]
    assert alone.item() == 3
    (batch,) = DataLoader(NPZ(npz, dtype=tn.float64, mmap=mmap), batch_size=4)
    assert batch[0].dtype is tn.float64
    assert batch[0].tolist() == ROWS.tolist()


def test_what_is_not_compressed_is_mapped(tmp_path):
    np.savez(tmp_path / "x.npz", x=ROWS)
    np.savez_compressed(tmp_path / "y.npz", x=ROWS)

    def is_mapped(path, **options):
        array = NPZ(path, targets=None, **options)._arrays[0]
        while array is not None and not isinstance(array, np.memmap):
            array = getattr(array, "base", None)
        return array is not None

    assert is_mapped(tmp_path / "x.npz")
    assert not is_mapped(tmp_path / "x.npz", mmap=False)
    assert not is_mapped(tmp_path / "y.npz")


@pytest.mark.parametrize("order", "CF")
def test_archives_of_other_programs(tmp_path, order):
    """Without the extra fields that numpy writes, and with others."""
    content = io.BytesIO()
    np.save(content, np.array(ROWS, order=order))
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
            info = zipfile.ZipInfo("inner/x.npy")
            info.extra = struct.pack("<HH3s", 0x7855, 3, b"abc")  # of Unix
            archive.writestr(info, content.getvalue(), method)
        data = NPZ(tmp_path / "x.npz", inputs="inner/x", targets=None)
        assert data[3][0].tolist() == ROWS[3].tolist()


def test_names(npz):
    assert refused(NPZ, npz, inputs="z") == (
        ": expected an array 'z', found the arrays 'x', 'y', 'other'"
    )
    assert refused(NPZ, npz, targets="labels").startswith(": expected an array 'labels'")
    assert refused(NPZ, npz, targets="other") == (
        ", array 'other': expected an array with rows, found a single number"
    )


# ---- what is wrong with a file ----


def numpy_file(header, content=b"", version=b"\1\0"):
    text = header.encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + content


def header(descr="'<f4'", shape="(2,)", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}"


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "expected an .npy array (93 4e 55 4d 50 59), found nothing: the file is empty"),
        (b"\x93NUM", "expected an .npy array"),
        (b"PK\x03\x04....", "found 50 4b 03 04: a zip file, such as .npz"),
        (b"\x80\x04\x95", "found 80 04: a Python pickle, which is never read"),
        (b"\x93NUMPY", "expected version 1.0 or 2.0, found none"),
        (b"\x93NUMPY\x01\x00", "expected the header of an array, found a damaged one"),
        (
            numpy_file(header(), b"1234567"),
            "expected 8 bytes of numbers, for float32 and the shape",
        ),
        (numpy_file(header(), b"123456789"), "[2], found 9"),
        (numpy_file(header(shape="(-2, -1)"), b"12345678"), "[-2, -1], found 8"),
        (numpy_file(header(shape=f"({2**40}, {2**40})"), b""), "found 0"),
        (numpy_file(header(shape=f"(0, {2**62}, {2**62})"), b""), ""),
        (numpy_file(header(shape="(1,) * 9"), b"1234"), "found a damaged one"),
        (
            numpy_file(header(shape="(" + "1," * 70 + ")"), b"1234"),
            "a valid array shape",
        ),
        (numpy_file(header(descr="'O'"), b"12345678"), "expected numbers, found Python objects"),
        (
            numpy_file(header(descr="[('a', 'O')]"), b"12345678"),
            "expected numbers, found Python obj",
        ),
        (
            numpy_file(header(descr="[('a', '<f4')]"), b"12345678"),
            "numbers of one of the types bfloat16, float16",
        ),
        (numpy_file(header(descr="'<U1'"), b"12345678"), "found <U1"),
        (numpy_file(header(descr="'<c32'"), b"1" * 64), "found complex256"),
        (numpy_file(header(descr="'<u2'"), b"1234"), "found uint16"),
        (numpy_file(header(descr="'zz'"), b"1234"), "found a damaged one"),
        (numpy_file("{" * 5000), "found a damaged one"),
        (numpy_file("{'descr': '<f4'}"), "found a damaged one"),
        (numpy_file("__import__('os').abort()"), "found a damaged one"),
        (numpy_file("{'''"), "found a damaged one"),
        (numpy_file(" " * 20_000 + header(), b"12345678"), "found a damaged one"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "found a damaged one"),
    ],
)
def test_a_damaged_array(tmp_path, content, message):
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    for mmap in (True, False):
        if message:
            assert message in refused(NPY, path, mmap=mmap)
        else:
            refused(NPY, path, mmap=mmap)


def test_python_objects_are_not_unpickled(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.array([print, None], dtype=object))
    expected = ": expected numbers, found Python objects, which would have to be unpickled"
    assert refused(NPY, path) == expected
    np.savez(tmp_path / "x.npz", x=np.array([{}]))
    for mmap in (True, False):
        assert refused(NPZ, tmp_path / "x.npz", targets=None, mmap=mmap) == f", array 'x'{expected}"


def test_every_truncation_is_found(npy):
    content = npy.read_bytes()
    for length in [*range(0, 10), *range(10, len(content), 3), len(content) - 1]:
        npy.write_bytes(content[:length])
        refused(NPY, npy)


def test_every_truncation_of_an_archive_is_found(npz):
    content = npz.read_bytes()
    for length in range(0, len(content), 7):
        npz.write_bytes(content[:length])
        refused(NPZ, npz)


def test_bit_flips_in_an_archive_are_found_or_harmless(npz):
    """Those that are not found are in dates and the like, or (mapped) in the numbers."""
    content = npz.read_bytes()
    whole = [[part.tolist() for part in sample] for sample in NPZ(npz)]
    found = 0
    for position in range(0, len(content) * 8, 37):
        damaged = bytearray(content)
        damaged[position // 8] ^= 1 << position % 8
        npz.write_bytes(damaged)
        try:
            assert [[part.tolist() for part in sample] for sample in NPZ(npz, mmap=False)] == whole
        except FormatError as error:
            assert str(npz) in str(error)
            found += 1
        try:
            len(NPZ(npz))
        except FormatError as error:
            assert str(npz) in str(error)
    assert found > len(content) * 8 / 37 / 4


@pytest.mark.parametrize(
    "content, found",
    [(b"", "nothing: the file is empty"), (b"\x93NUMPY12", "93 4e 55 4d 50 59: an .npy file")],
)
def test_no_archive(tmp_path, content, found):
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    expected = f": expected a zip file, as .npz files are, found {found}"
    assert refused(NPZ, path) == expected


def test_an_empty_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w"):
        pass
    assert refused(NPZ, tmp_path / "x.npz") == ": expected an array 'x', found the arrays none"


def test_another_file_in_an_archive(tmp_path):
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
            archive.writestr("x", "just text")
        message = refused(NPZ, tmp_path / "x.npz", targets=None)
        assert message.startswith(", array 'x': expected an .npy array (93 4e 55 4d 50 59), found ")


def test_a_missing_file(tmp_path):
    for make in (NPY, NPZ):
        with pytest.raises(FileNotFoundError):
            make(tmp_path / "nowhere")
