"""Files made to harm: tensors outside their bytes, keys and archives without end; mutated headers.

What once crashed or hung runs in a process of its own.
"""

import io
import itertools
import json
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tests.tools.patience import PATIENCE
from tinynet.data import CIFAR10, NPY, NPZ, FormatError, read_idx
from tinynet.exchange import ExchangeError, load_file, load_pytorch, save_file, save_pytorch

P = b"\x80\x02"
FILES = Path(__file__).with_name("files")


def zipped(members, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz_of_view(view, array=None):
    content = {"$array": "x", "view": view}
    structure = json.dumps({"format": "tinynet.save", "version": 1, "content": content})
    array = np.arange(8, dtype=np.uint8) if array is None else array
    return zipped({"structure.json": structure, "x.npy": npy(array)})


def pt_of_tensor(size, stride, offset=0, count=4):
    """Return a file with one tensor over a storage of four float32, of any layout."""

    def ints(values):
        longs = (n.to_bytes(20, "little", signed=True) for n in values)
        return b"(" + b"".join(b"\x8a\x14" + n for n in longs) + b"t"

    words = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpu"
    storage = words + ints([count])[1:-1] + b"tQ"
    rest = ints([offset])[1:-1] + ints(size) + ints(stride) + b"\x89ccollections\nOrderedDict\n)R"
    call = P + b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + rest + b"tR."
    return zipped({"a/data.pkl": call, "a/data/0": bytes(range(16))})


# ---- foreign memory -----------------------------------------------------------------------------

VIEWS = {
    "count and stride": ["|u1", 0, [2**61 + 1], [8]],
    "stride": ["|u1", 0, [3], [2**63]],
    "two strides": ["|u1", 0, [2, 2], [2**63, -(2**63)]],
    "negative offset": ["|u1", -(2**64), [1], [1]],
    "offset": ["|u1", 2**64, [1], [1]],
    "offset and stride": ["|u1", 2**63, [2], [-(2**63)]],
    "dimensions": ["|u1", 0, [1] * 65, [0] * 65],
    "item": ["<U1000000000", 0, [1], [1]],
    "itemless": ["|S0", 0, [2**40], [2**20]],
    "too large": ["<f8", 0, [2**62], [0]],
    "other lengths": ["|u1", 0, [2, 2], [1]],
    "not whole": ["|u1", 0.5, [1], [1]],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_outside_of_their_member_are_refused(name):
    with pytest.raises(ExchangeError, match="damage"):
        tn.load(npz_of_view(VIEWS[name]))


@pytest.mark.parametrize(
    "options",
    [
        {"size": [2**60 + 1], "stride": [4]},
        {"size": [2**61 + 1], "stride": [2]},
        {"size": [2, 2], "stride": [2**61, -(2**61)]},
        {"size": [2], "stride": [2**62 + 1]},
        {"size": [1], "stride": [1], "offset": 2**62},
        {"size": [2], "stride": [-(2**62)], "offset": 2**62},
        {"size": [1] * 65, "stride": [1] * 65},
        {"size": [1], "stride": [1], "count": 2**62 + 4},
    ],
    ids=str,
)
def test_tensors_outside_of_their_storage_are_refused(options):
    with pytest.raises(ExchangeError):
        load_pytorch(pt_of_tensor(**options))


def test_views_in_a_foreign_order_of_bytes_do_not_fill_the_memory():
    """Each is a copy; an expanded one would be as large as it says."""
    order = "<" if sys.byteorder == "big" else ">"
    array = np.arange(4, dtype=f"{order}f4")
    content = {"$tensor": "x", "view": [f"{order}f4", 0, [2, 2], [8, 4]]}
    structure = {"format": "tinynet.save", "version": 1, "content": content}
    assert (
        tn.load(zipped({"structure.json": json.dumps(structure), "x.npy": npy(array)}))[1, 1] == 3
    )
    content["view"] = [f"{order}f4", 0, [2**20], [0]]
    with pytest.raises(ExchangeError, match="larger than the file"):
        tn.load(zipped({"structure.json": json.dumps(structure), "x.npy": npy(array)}))


# ---- small files without end --------------------------------------------------------------------


def shared(depth):
    """Return instructions for a tuple of two equal ones, of two equal ones, ..."""
    return P + b")" + b"q\0h\0\x86" * depth


def nested(depth):
    return P + b")" + b"\x85" * depth


ENDLESS = {
    "shared key": shared(60) + b"q\1}h\1Ns.",
    "nested key": nested(200_000) + b"q\1}h\1Ns.",
    "shared in a set": shared(60) + b"q\1\x8f(h\1\x90.",
    "nested in a set": nested(1000) + b"q\1\x8f(h\1\x90.",
    "shared key of a call": shared(60) + b"q\1ccollections\nOrderedDict\n]]h\1aNa\x61\x85R.",
    "nested key of a call": nested(1000) + b"q\1ccollections\nOrderedDict\n]]h\1aNaa\x85R.",
    "shared set of a call": shared(60) + b"q\1cbuiltins\nset\n]h\1a\x85R.",
    "shared count of a call": shared(60) + b"q\1ccollections\nCounter\n]h\1a\x85R.",
    "shared name": b"\x80\x04" + shared(60)[2:] + b"h\0\x93.",
    "shared persistent id": shared(60) + b"Q.",
    "shared device": shared(60) + b"q\1ctorch\ndevice\nh\1\x85R.",
    "shared dtype": shared(60) + b"q\1cnumpy\ndtype\nh\1\x85R.",
    "shared encoding": shared(60) + b"q\1c_codecs\nencode\nX\0\0\0\0h\1\x86R.",
    "shared size": shared(60) + b"q\1ctorch\nSize\nh\1\x85R.",
    "sizes of sizes": P + b")q\0" + b"ctorch\nSize\nh\0h\0\x86\x85Rq\0" * 60 + b"}h\0Ns.",
    "sets of sets": P + b")q\0" + b"cbuiltins\nfrozenset\n]h\0h\0\x86a\x85Rq\0" * 60 + b".",
    "slices of tuples": shared(10) + b"cbuiltins\nslice\nh\0\x85R.",
    "long numbers": b"".join(
        [
            P,
            b"\x8b",
            struct.pack("<i", 500_000),
            bytes(499_999),
            b"\1q\0}(",
            b"h\0N" * 100_000,
            b"u.",
        ]
    ),
    "long texts": b"".join(
        [P, b"X", struct.pack("<I", 500_000), b"x" * 500_000, b"X\6\0\0\0latin1\x86q\0"]
        + [b"c_codecs\nencode\nq\1](", b"h\1h\0R" * 5_000, b"e."]
    ),
}
PROGRAM = """
import io, pickle, sys, zipfile
from tinynet.exchange import ExchangeError, load_pytorch
for name, data in pickle.load(open(sys.argv[1], "rb")).items():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", data)
    try:
        load_pytorch(file)
    except ExchangeError as error:
        assert len(str(error)) < 500
    else:
        print(name)
"""


def test_keys_and_calls_without_end(tmp_path):
    path = tmp_path / "files"
    path.write_bytes(pickle.dumps(ENDLESS))
    command = [sys.executable, "-c", PROGRAM, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_keys_that_programs_use_are_read():
    """Tables of positions, sets of pairs: large, but not larger than their pickles."""
    board = tuple(range(361))
    data = {(board[:n], n): n for n in range(361)}
    data["pairs"] = {(i, i + 1) for i in range(10_000)}
    data["deep"] = {((((((1,),),),),),)}
    assert load_pytorch(zipped({"a/data.pkl": pickle.dumps(data, 2)})) == data


# ---- archives -----------------------------------------------------------------------------------


def test_archives_that_inflate_are_refused():
    structure = '{"format": "tinynet.save", "version": 1, "content": {"$tensor": "x"}}'
    members = {"structure.json": structure, "x.npy": npy(np.zeros(10**6, np.float32))}
    assert tn.load(zipped(members)).shape == (10**6,)
    with pytest.raises(
        ExchangeError, match="a zip archive of .* bytes with at most .*, found 4000"
    ):
        tn.load(zipped(members, zipfile.ZIP_DEFLATED))


def test_a_compressed_file_of_torch_save_has_a_bound():
    save_pytorch(tn.zeros(10**5), file := io.BytesIO())
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    packed = zipped(members, zipfile.ZIP_DEFLATED)
    assert load_pytorch(packed).shape == (10**5,)
    with pytest.raises(ExchangeError, match="at most 100000 in it, found 4.*inflated="):
        load_pytorch(packed, inflated=100_000)
    with pytest.raises(ExchangeError, match="data.pkl: expected stored or deflated data"):
        load_pytorch(zipped(members, zipfile.ZIP_BZIP2))


# ---- mutations ----------------------------------------------------------------------------------

NUMBERS = (0, 1, 2, 3, 5, 8, 2**31, 2**32 - 1, 2**60 + 1, 2**61 + 1, 2**62, 2**63 - 1, 2**63, 2**64)


def inside(t):
    """Return whether all elements of a tensor lie in the memory that it is a view of."""
    array = t.numpy() if isinstance(t, tn.Tensor) else t
    if array.size == 0:
        return True
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    start, length = address(root), root.nbytes
    if root.base is not None:
        memory = np.frombuffer(root.base, np.uint8)
        start, length = address(memory), memory.nbytes
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    low = address(array) + sum(r for r in reach if r < 0)
    high = address(array) + sum(r for r in reach if r > 0) + array.itemsize
    return start <= low and high <= start + length


def address(array):
    return array.__array_interface__["data"][0]


def any_number(random):
    n = NUMBERS[random.integers(len(NUMBERS))]
    return int(n if random.random() < 0.6 else -n)


def views(random):
    kinds = ["|u1", "<f4", ">f4", "<U3", "|S0", "<f8", "O", "<M8[s]", "(2,)f4"]
    rank = int(random.integers(0, 4))
    sizes, strides = ([any_number(random) for _ in range(rank)] for _ in range(2))
    view = [kinds[random.integers(len(kinds))], any_number(random), sizes, strides]
    if random.random() < 0.5:  # more likely to be right
        view = [view[0], 0, [abs(n) for n in sizes[:1]], [1]]
    yield tn.load(npz_of_view(view))


def storages(random):
    rank = int(random.integers(0, 4))
    sizes, strides = ([any_number(random) for _ in range(rank)] for _ in range(2))
    count = 4 if random.random() < 0.9 else any_number(random)
    yield load_pytorch(pt_of_tensor(sizes, strides, any_number(random), count))


def texts(random):
    """Change the numbers in the header of a .safetensors file; it keeps its length."""
    save_file({"x": tn.arange(6.0).reshape(2, 3), "y": tn.ones(4)}, file := io.BytesIO())
    data = file.getvalue()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    entry = header["xy"[random.integers(2)]]
    field = entry[("shape", "data_offsets")[random.integers(2)]]
    if random.random() < 0.9:
        field[random.integers(len(field))] = any_number(random)
    text = json.dumps(header).encode()
    yield from load_file(
        io.BytesIO(struct.pack("<Q", len(text)) + text + data[8 + length :])
    ).values()


def idx(random):
    folder, rank = Path(random.folder), int(random.integers(0, 4))
    sizes = b"".join(struct.pack(">I", abs(any_number(random)) % 2**32) for _ in range(rank))
    kind = (0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E, 0x0A)[random.integers(7)]
    if random.random() < 0.1:  # as the data has it
        rank, sizes, kind = 2, struct.pack(">II", 2, 8), 0x08
    (folder / "x.idx").write_bytes(bytes([0, 0, kind, rank]) + sizes + bytes(range(16)))
    yield read_idx(folder / "x.idx")


def cifar(random):
    folder = Path(random.folder)
    for name in [*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"]:
        size = 3073 + int(random.random() < 0.1)
        (folder / name).write_bytes(random.integers(0, 10, size, np.uint8).tobytes())
    yield CIFAR10(folder)[0][0]


def header_of(random):
    shape = tuple(any_number(random) for _ in range(random.integers(0, 4)))
    if random.random() < 0.3:
        shape = ((4,), (2, 2), (2, 1, 2))[random.integers(3)]
    kind = ("<f4", ">f8", "|u1", "|S0", "<U4", "|V0", "|O")[random.integers(7)]
    text = repr({"descr": kind, "fortran_order": bool(random.integers(2)), "shape": shape}).encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text) + 1) + text + b"\n" + bytes(range(16))


def arrays(random):
    path = Path(random.folder) / "x.npy"
    path.write_bytes(header_of(random))
    yield from NPY(path, mmap=bool(random.integers(2)))[0]


def archives(random):
    path = Path(random.folder) / "x.npz"
    method = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[random.integers(2)]
    path.write_bytes(zipped({"x.npy": header_of(random)}, method).getvalue())
    yield from NPZ(path, targets=None, mmap=bool(random.integers(2)))[0]


def members(random):
    content = '{"format": "tinynet.save", "version": 1, "content": {"$array": "x"}}'
    yield tn.load(zipped({"structure.json": content, "x.npy": header_of(random)}))


class Random:
    """A generator, and a folder for files."""

    def __init__(self, seed, folder):
        self._generator, self.folder = np.random.default_rng(seed), folder
        self.integers, self.random = self._generator.integers, self._generator.random


@pytest.mark.parametrize(
    "mutated",
    [views, storages, texts, idx, cifar, arrays, archives, members],
    ids=lambda f: f.__name__,
)
def test_no_header_makes_a_tensor_outside_of_its_bytes(mutated, tmp_path):
    good = 0
    for seed in range(20 if mutated is cifar else 150):
        try:
            for t in mutated(Random(seed, tmp_path)):
                assert inside(t)
                good += 1
        except (FormatError, IndexError) as error:  # IndexError: no rows
            assert isinstance(error, FormatError) or mutated in (arrays, archives)
    assert good  # else nothing was looked at


# ---- lengths of any size ------------------------------------------------------------------------

LENGTHS = [b"\xff\xff\xff\x7f", b"\x7f\xff\xff\xff", b"\xff" * 4, *(
    (2**bits).to_bytes(8, "little") for bits in (36, 62)
)]  # fmt: skip
MOST = 32 << 20  # bytes: readers take up to 16 MB at a time; a large length is 2 GB or more


def written(save):
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def npy_of_version_2(file):
    np.lib.format.write_array(file, np.arange(12.0), version=(2, 0))


SMALL = {"a": tn.arange(12.0).view(3, 4), "text": ["b" * 300]}
RECORDS = np.zeros(3, [("\u03b1", "f4"), ("b", "i8")])
WHOLE = {
    "legacy.pt": ((FILES / "shared_legacy.pt").read_bytes(), load_pytorch),
    "torch.pt": (written(lambda file: save_pytorch(SMALL, file)), load_pytorch),
    "saved.pt": (written(lambda file: tn.save(SMALL, file)), tn.load),
    "records.pt": (written(lambda file: tn.save({"r": RECORDS}, file)), tn.load),
    "a.safetensors": (written(lambda file: save_file({"a": SMALL["a"]}, file)), load_file),
    "a.npy": (written(npy_of_version_2), lambda path: NPY(path)[0]),
    "a.npz": (
        zipped({"a.npy": npy(np.arange(12))}).getvalue(),
        lambda path: NPZ(path, "a", "a")[0],
    ),
    "a.idx": (b"\0\0\x08\x01\0\0\0\x0c" + bytes(12), read_idx),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.filterwarnings("ignore")
def test_no_length_allocates_more_than_the_file_has(name, tmp_path, request):
    """Two lengths in turn at each place, all of them with ``--full``."""
    whole, load = WHOLE[name]
    together = len(LENGTHS) if request.config.getoption("--full") else 2
    lengths = itertools.cycle(LENGTHS)
    path = tmp_path / name
    path.write_bytes(whole)
    load(path)
    for place in range(0, len(whole), 1 + len(whole) // 150):
        for length in itertools.islice(lengths, together):
            path.write_bytes(whole[:place] + length + whole[place + len(length) :])
            tracemalloc.start()
            try:
                load(path)
            except (ExchangeError, FormatError):
                pass
            finally:
                most = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
            assert most < MOST, (place, length)
