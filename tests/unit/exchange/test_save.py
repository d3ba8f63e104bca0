"""tinynet.save and load: what goes in comes out, the same objects and memory, or a clear error."""

import io
import math
import os
import pickle
import stat
import threading
import zipfile
from collections import Counter, OrderedDict

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.base import lazy
from tinynet.exchange import ExchangeError, npz


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"


def round_trip(obj):
    file = io.BytesIO()
    tn.save(obj, file)
    return tn.load(file)


PLAIN = [
    None,
    True,
    -1,
    2**200,
    0.1,
    -0.0,
    5e-324,
    3 - 4j,
    "text \u00e9 \ud7ff\U0001f600",
    "a lone surrogate \ud800",
    b"\x00\xff",
    [1, [2.5, "x"], []],
    (1, (2,), ()),
    {"a": {"b": (None,)}},
    {0: "int key", (1, 2): "tuple key", "$tuple": "dollar key", None: 1, 1.5: 2, b"k": 3},
    {"$": 1, "": 2},
    OrderedDict(b=1, a=OrderedDict()),
    Counter({10: 2, 30: 1}),
    tn.Size([2, 3]),
    tn.Size([]),
    tn.float16,
    {tn.int64: tn.bool},
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda v: ascii(v)[:60])
def test_plain_data(value):
    for obj in (value, {"x": [value]}):
        back = round_trip(obj)
        assert back == obj
        assert repr(back) == repr(obj)
    assert type(round_trip(value)) is type(value)


def test_numbers_longer_than_python_writes_as_decimals():
    assert round_trip([-(7**9000)]) == [-(7**9000)]


def test_not_finite():
    back = round_trip([math.inf, -math.inf, math.nan, complex(math.nan, -math.inf)])
    assert repr(back) == "[inf, -inf, nan, (nan-infj)]"


@pytest.mark.parametrize("kind", [d.name for d in tn.dtypes.ALL if d is not tn.bfloat16])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 4), (2, 1, 3, 2)], ids=str)
def test_every_dtype_and_shape(kind, shape):
    values = np.random.default_rng(0).integers(0, 100, shape)
    x = tn.tensor(values).to(getattr(tn, kind))
    back = round_trip(x)
    assert type(back) is tn.Tensor
    assert back.dtype is x.dtype
    assert back.shape == x.shape
    assert np.array_equal(back.numpy(), x.numpy())
    assert not back.requires_grad


def test_bits_of_floats_are_kept():
    for kind, bits in ((np.float16, np.uint16), (np.float32, np.uint32), (np.float64, np.uint64)):
        size = np.dtype(bits).itemsize * 8
        raw = np.random.default_rng(1).integers(0, 2**size, 1000, dtype=bits)
        back = round_trip(tn.tensor(raw.view(kind)))
        assert np.array_equal(back.numpy().view(bits), raw)


LAYOUTS = {
    "transposed": lambda x: x.t(),
    "permuted": lambda x: x.reshape(2, 3, 4).permute(2, 0, 1),
    "column": lambda x: x[:, 1],
    "steps": lambda x: x[::2, 1::3],
    "row": lambda x: x[1],
    "element": lambda x: x[1, 2],
    "expanded": lambda x: x[:1].expand(5, 4),
    "nothing": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    x = LAYOUTS[layout](tn.arange(24.0).reshape(6, 4))
    back = round_trip({"x": x})["x"]
    assert np.array_equal(back.numpy(), x.numpy())
    assert back.shape == x.shape


def test_an_expanded_tensor_takes_little_space():
    x = tn.ones(1).expand(10**9)
    file = io.BytesIO()
    tn.save(x, file)
    assert len(file.getvalue()) < 2000
    assert tn.load(file).stride() == (0,)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(10)[::-3],
        np.array(1.5),
        np.array([1 + 2j]),
        np.array(["a", "bcd"]),
        np.array([b"a", b"bcd"]),
        np.array(["2020-01-02"], "M8[D]"),
        np.arange(3, dtype=">i4"),
        np.array([(1, 2.5)], dtype=[("n", "i4"), ("x", "f8")]),
        np.array([(1,)], dtype=[("\u4e2d", "i4")]),
        np.zeros((0, 3), np.uint16),
    ],
    ids=lambda a: f"{a.dtype}-{a.shape}",
)
def test_arrays(array):
    back = round_trip({"x": array})["x"]
    assert type(back) is np.ndarray
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert np.array_equal(back, array)
    assert back.flags.writeable


def test_numpy_numbers():
    back = round_trip([np.float32(0.1), np.int64(3), np.bool_(True), np.float64(2)])
    assert back == [np.float32(0.1), 3, True, 2.0]
    assert [type(x) for x in back] == [np.float32, np.int64, np.bool_, np.float64]


# ---- tensors that share memory ------------------------------------------------------------------


def stored(obj):
    file = io.BytesIO()
    tn.save(obj, file)
    return [n for n in zipfile.ZipFile(file).namelist() if n.endswith(".npy")]


def test_one_object_stays_one():
    x = tn.ones(1000)
    array = np.zeros(3)
    back = round_trip({"a": x, "b": [x, x], "c": tn.ones(1000), "d": array, "e": (array,)})
    assert back["a"] is back["b"][0] is back["b"][1]
    assert back["a"] is not back["c"]
    assert back["d"] is back["e"][0]
    assert stored([x, x]) == ["0.npy"]


def test_aliases_stay_aliases_and_apart():
    x = tn.zeros(3)
    a, b = round_trip([x, x.detach()])
    assert a is not b
    a[1] = 5
    assert b.tolist() == [0, 5, 0]
    assert b._version == a._version == 1
    array = round_trip([x, x.numpy()])
    array[1][0] = 7
    assert array[0][0] == 7


def test_views_stay_views():
    x = tn.arange(12.0).reshape(3, 4)
    views = [x[1], x.t(), x[:, ::2], x, x.flatten()]
    back = round_trip(views)
    for before, after in zip(views, back, strict=True):
        assert np.array_equal(before.numpy(), after.numpy())
        assert before.stride() == after.stride()
    back[3].zero_()
    assert all(not t.any() for t in back)
    assert len(stored(views)) == 1


def test_overlapping_slices_keep_only_what_they_cover():
    x = tn.arange(1000.0)
    a, b = round_trip([x[10:20], x[15:25]])
    a[5] = -1
    assert b[0] == -1
    file = io.BytesIO()
    tn.save([x[10:20], x[15:25]], file)
    with zipfile.ZipFile(file) as archive:
        assert np.load(archive.open("0.npy")).shape == (15,)


def test_slices_side_by_side_share_nothing():
    x = tn.arange(4.0)
    assert len(stored([x[:2], x[2:]])) == 2


def test_memory_seen_as_two_dtypes():
    x = np.arange(5, dtype=np.float32)
    views = [x[1:4], x.view(np.int32)[2:], x.view(np.uint8)[9:12], x[::-1]]
    back = round_trip(views)
    assert all(np.array_equal(a, b) for a, b in zip(views, back, strict=True))
    assert all(b.flags.aligned for b in back)
    back[0][1] = 0.5
    assert back[1][0] == np.float32(0.5).view(np.int32)


def test_a_tied_model_and_its_optimizer():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(5, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.embedding.weight

    model = Tied()
    back = round_trip(model.state_dict())
    back["head.weight"][0, 0] = 9
    assert back["embedding.weight"][0, 0] == 9
    assert stored(model.state_dict()) == ["embedding.weight.npy"]


# ---- what a tensor is besides its values --------------------------------------------------------


def test_requires_grad_and_classes():
    things = {
        "leaf": tn.ones(2, requires_grad=True),
        "result": tn.ones(2, requires_grad=True) * 2,
        "parameter": nn.Parameter(tn.ones(2)),
        "frozen": nn.Parameter(tn.ones(2), requires_grad=False),
        "integer": nn.Parameter(tn.arange(2), requires_grad=False),
        "buffer": nn.Buffer(tn.ones(2), persistent=False),
    }
    back = round_trip(things)
    for name, value in things.items():
        assert type(back[name]) is type(value), name
        assert back[name].requires_grad == value.requires_grad, name
        assert back[name].is_leaf
        assert back[name].grad is None
    assert back["buffer"].persistent is False


def test_attributes_of_tensors_and_dictionaries():
    p = nn.Parameter(tn.ones(2))
    p.group = {"lr": 0.5, "like": tn.zeros(1)}
    state = nn.BatchNorm1d(2).state_dict()
    back_p, back_state = round_trip([p, state])
    assert back_p.group == {"lr": 0.5, "like": tn.zeros(1)}
    assert type(back_state) is OrderedDict
    assert back_state._metadata == state._metadata == {"": {"version": 2}}


def test_lazy_parameters():
    state = nn.LazyLinear(3).state_dict()
    back = round_trip(state)
    assert [type(v) for v in back.values()] == [nn.UninitializedParameter] * 2
    assert back["weight"] is not back["bias"]
    assert round_trip(nn.UninitializedBuffer(persistent=False)).persistent is False


# ---- states -------------------------------------------------------------------------------------


def test_a_training_goes_on_where_it_was():
    def build():
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        optimizer = optim.Adam(model.parameters(), lr=0.1)
        schedule = optim.lr_scheduler.MultiStepLR(optimizer, [1, 1, 4])
        return model, optimizer, schedule

    def train(parts, steps):
        model, optimizer, schedule = parts
        for _ in range(steps):
            optimizer.zero_grad()
            model(tn.randn(8, 3)).pow(2).sum().backward()
            optimizer.step()
            schedule.step()

    tn.manual_seed(3)
    first = build()
    train(first, 3)
    state = {str(i): part.state_dict() for i, part in enumerate(first)}
    saved = round_trip({**state, "random": tn.get_rng_state()})
    train(first, 3)
    second = build()
    for i, part in enumerate(second):
        part.load_state_dict(saved[str(i)])
    tn.set_rng_state(saved["random"])
    train(second, 3)
    for a, b in zip(first[0].parameters(), second[0].parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())
    assert first[2].get_last_lr() == second[2].get_last_lr()


def optimizers():
    kinds = [k for k in lazy.members(optim).values() if isinstance(k, type)]
    return [k for k in kinds if issubclass(k, optim.Optimizer) and k is not optim.Optimizer]


@pytest.mark.parametrize("kind", optimizers(), ids=lambda k: k.__name__)
def test_the_state_of_every_optimizer(kind):
    def build():
        table = nn.Embedding(4, 3, sparse=kind is optim.SparseAdam)
        return table, kind([table.weight], lr=0.1)

    def train(table, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = table(tn.tensor([1, 3])).pow(2).sum()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)

    first = build()
    train(*first)
    saved = round_trip([part.state_dict() for part in first])
    second = build()
    for part, state in zip(second, saved, strict=True):
        part.load_state_dict(state)
    for parts in (first, second):
        train(*parts)
    weights = [table.weight.detach().numpy() for table, _ in (first, second)]
    assert np.array_equal(*weights)


# ---- what cannot be stored ----------------------------------------------------------------------


def local():
    class Local(nn.Module):
        pass

    return Local()


def deep():
    obj = 1
    for _ in range(250):
        obj = [obj]
    return obj


def tensor_with(value):
    p = nn.Parameter(tn.ones(1))
    p.x = value
    return p


@pytest.mark.parametrize(
    "obj, message",
    [
        ({"model": tensor_with(lambda: 1)}, r"obj\['model'\]\.x is a builtins.function .*lambda"),
        (
            {"a": [1, {threading.Lock()}]},
            r"obj\['a'\]\[1\]\[0\]\[0\] is a _thread.lock .cannot pickle",
        ),
        (
            [nn.Sequential(nn.ReLU(), local())],
            r"obj\[0\]\._modules\['1'\] is a builtins.type .*local",
        ),
        (
            lambda: 1,
            "obj is a builtins.function .no import finds .*<lambda>.*, which cannot be pickled",
        ),
        ((i for i in ()), "obj is a builtins.generator .cannot pickle 'generator' object"),
        (math, "obj is a builtins.module .cannot pickle 'module' object"),
        (deep(), "is nested in more than 200 levels"),
    ],
    ids=lambda v: None if callable(v) else repr(v)[:30],
)
def test_what_would_need_pickle_is_named(path, obj, message):
    with pytest.raises(TypeError, match=message):
        tn.save(obj, path)
    assert not path.exists()


def test_attributes_that_hide_methods_are_refused():
    p = nn.Parameter(tn.ones(1))
    p.__dict__["backward"] = 1
    tn.save({"p": p}, file := io.BytesIO())
    with pytest.raises(ExchangeError, match="the attribute 'backward' of a Parameter"):
        tn.load(file)


def test_a_sparse_gradient_is_refused():
    table = nn.Embedding(3, 1, sparse=True)
    table(tn.tensor([2])).sum().backward()
    with pytest.raises(
        TypeError, match=r"obj\['g'\] is a sparse tensor \(store its .to_dense\(\)\)"
    ):
        tn.save({"g": table.weight.grad}, io.BytesIO())


# ---- files --------------------------------------------------------------------------------------


def test_file_objects(path):
    with open(path, "wb") as file:
        tn.save([1], file)
    with open(path, "rb") as file:
        assert tn.load(file) == [1]
    assert tn.load(str(path)) == [1]

    class Pipe(io.RawIOBase):
        def __init__(self, data=b""):
            self.data = data

        def writable(self):
            return True

        def readable(self):
            return True

        def seekable(self):
            return False

        def write(self, data):
            self.data += bytes(data)
            return len(data)

        def read(self, n=-1):
            return self.data

    pipe = Pipe()
    tn.save({"x": tn.ones(3)}, pipe)
    assert tn.load(pipe)["x"].tolist() == [1, 1, 1]


def test_what_is_no_binary_file(path):
    with pytest.raises(TypeError, match="expected a path or a binary file .*Got int instead"):
        tn.save(1, 3)
    with pytest.raises(TypeError, match="Got NoneType instead"):
        tn.load(None)
    with open(path, "w+") as file:
        with pytest.raises(TypeError, match=r"state.npz is open as text: .* 'wb'"):
            tn.save(1, file)
        with pytest.raises(TypeError, match=r"state.npz is open as text: .* 'rb'"):
            tn.load(file)


def test_paths_that_lead_nowhere(path, tmp_path):
    with pytest.raises(FileNotFoundError, match="state.npz"):
        tn.load(path)
    with pytest.raises(IsADirectoryError):
        tn.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="missing/state.npz"):
        tn.save(1, tmp_path / "missing" / "state.npz")
    with pytest.raises(IsADirectoryError):
        tn.save(1, tmp_path)
    assert os.listdir(tmp_path) == []


def test_an_error_while_writing_leaves_the_old_file(path, monkeypatch):
    tn.save({"x": 1}, path)

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="No space left"):
        tn.save({"x": tn.ones(3)}, path)
    assert tn.load(path) == {"x": 1}
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name == "nt", reason="no links and modes as these on Windows")
def test_links_permissions_and_devices(path, tmp_path):
    tn.save(1, path)
    path.chmod(0o600)
    link = tmp_path / "latest"
    link.symlink_to(path.name)
    tn.save(2, link)
    assert link.is_symlink()
    assert tn.load(path) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    tn.save(3, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_names_in_the_archive_stay_inside():
    x = {"..": {"/etc": [tn.ones(1)]}, "a" * 1000: tn.ones(1), "": {".": tn.ones(1)}}
    for name in stored(x):
        assert ".." not in name.split("/")
        assert not name.startswith("/etc")
        assert len(name) < 600


def test_equal_data_makes_equal_bytes():
    files = io.BytesIO(), io.BytesIO()
    for file in files:
        tn.save({"a": tn.ones(3), "b": [1]}, file)
    assert files[0].getvalue() == files[1].getvalue()


# ---- reading what is not a good file ------------------------------------------------------------


def archive_of(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file


def npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


HEAD = b'{"format": "tinynet.save", "version": 1, "content": %s}'
REF = HEAD % b'{"$tensor": "x"}'
WRONG = {
    "empty": (b"", "found an empty file"),
    "text": (b"hello, world, this is text", "found something that begins with b'hello, w'"),
    "pickle": (pickle.dumps([1]), "found a pickle of .1., not written by torch.save"),
    "npy": (npy(np.ones(2)), "found an .npy file: numpy.load reads it"),
    "safetensors": (b"\x08" + bytes(7) + b"{}      ", "found a .safetensors file"),
    "web page": (b"<html><body>404", "found a web page"),
    "pytorch": (
        {"m/data.pkl": b""},
        "expected a file written by torch.save with tensors .*, found damage",
    ),
    "npz": ({"a.npy": b""}, "found an .npz file of numpy: numpy.load reads it"),
    "zip": ({"a": b"", "b": b""}, "found a zip archive with 'a', 'b' in it"),
    "other kind": (
        {"structure.json": b'{"format": "x", "version": 1}'},
        "structure.json: expected the format 'tinynet.save', found 'x'",
    ),
    "newer": (
        {"structure.json": b'{"format": "tinynet.save", "version": 2}'},
        "expected a format version up to 1, found 2: it was written by a newer tinynet",
    ),
    "version text": (
        {"structure.json": b'{"format": "tinynet.save", "version": "1"}'},
        "expected a format version up to 1, found '1'",
    ),
    "no content": ({"structure.json": HEAD[:-1] % b"1"}, "found damage"),
    "no json": ({"structure.json": b"\xff"}, "found damage"),
    "deep": ({"structure.json": HEAD % (b"[" * 10**5 + b"]" * 10**5)}, "damage .RecursionError"),
    "unknown kind": ({"structure.json": HEAD % b'{"$new": 1}'}, "unknown kind '\\$new'"),
    "no array": ({"structure.json": REF}, "expected the array x.npy, found no such member"),
    "objects": (
        {"structure.json": REF, "x.npy": npy(np.array([print]), allow_pickle=True)},
        r"x.npy: expected numbers, found an array of objects \(a pickle\)",
    ),
    "too short": (
        {"structure.json": REF, "x.npy": npy(np.ones(3))[:-1]},
        r"x.npy: expected 24 bytes for \[3\], found 23",
    ),
    "huge": (
        {"structure.json": REF, "x.npy": npy(np.ones(3)).replace(b"(3,)", b"(9999999999999,)")},
        "damage|expected 79999999999992 bytes",
    ),
    "long complex": ({"structure.json": REF, "x.npy": npy(np.ones(3, "c32"))}, "clongdouble"),
    "hidden method": (
        {
            "structure.json": HEAD % b'{"$tensor": "x", "attributes": {"__class__": 1}}',
            "x.npy": npy(np.ones(1)),
        },
        "an attribute '__class__'",
    ),
    "outside": (
        {
            "structure.json": HEAD % b'{"$tensor": "x", "view": ["<f8", 8, [4], [8]]}',
            "x.npy": npy(np.ones(4)),
        },
        "would take bytes",
    ),
    "pointers": (
        {
            "structure.json": HEAD % b'{"$array": "x", "view": ["O", 0, [4], [8]]}',
            "x.npy": npy(np.ones(4)),
        },
        "the dtype 'O'",
    ),
    "int grad": (
        {
            "structure.json": HEAD % b'{"$tensor": "x", "requires_grad": true}',
            "x.npy": npy(np.arange(4)),
        },
        "a tensor of dtype int64 that requires grad",
    ),
    "unhashable key": ({"structure.json": HEAD % b'{"$dict": [[[], 1]]}'}, "unhashable"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_named_with_what_was_expected_and_found(path, name):
    content, message = WRONG[name]
    data = content if isinstance(content, bytes) else archive_of(content).getvalue()
    path.write_bytes(data)
    with pytest.raises(ExchangeError, match=message) as error:
        tn.load(path)
    assert str(error.value).startswith(str(path))
    assert "expected" in str(error.value)


def test_truncations_are_found(path):
    tn.save({"x": tn.arange(100.0), "y": "text"}, path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 29):
        with pytest.raises(ExchangeError):
            tn.load(io.BytesIO(whole[:length]))


def test_flipped_bits_are_found_or_change_nothing():
    file = io.BytesIO()
    x = tn.arange(100.0)
    tn.save({"x": x, "y": "text", "z": [x[3:], 0.5]}, file)
    whole = file.getvalue()
    found = 0
    for bit in np.random.default_rng(0).choice(8 * len(whole), 400, replace=False):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            back = tn.load(io.BytesIO(damaged))
        except ExchangeError:
            found += 1
        else:  # a date or another field of the archive that says nothing about the contents
            assert list(back) == ["x", "y", "z"]
            assert back["y"] == "text"
            assert back["z"][1] == 0.5
            assert np.array_equal(back["x"].numpy(), x.numpy())
    assert found > 250


def test_pytorch_parameters_of_load(path):
    tn.save(1, path)
    assert tn.load(path, map_location="cpu", weights_only=True) == 1
    assert tn.load(path, tn.device("cpu"), weights_only=False, mmap=False) == 1
    with pytest.raises(RuntimeError, match="runs on the cpu only"):
        tn.load(path, "cuda")
    assert tn.load(path, lambda storage, location: storage, mmap=True) == 1
    assert tn.load(path, {"cuda:0": "cpu"}, pickle_module=pickle, encoding="latin1") == 1
    tn.save(1, path, pickle, 4, _use_new_zipfile_serialization=False)


def test_format_is_stated():
    assert npz.VERSIONS[npz.KIND] == 1
