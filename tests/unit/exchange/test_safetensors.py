"""Files of .safetensors: the bytes of the package, its rules, its refusals; hostile headers."""

import io
import json
import os
import struct

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.exchange import ExchangeError, load_file, load_model, safe_open, save_file, save_model
from tinynet.exchange.safetensors import load, save


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def parts(data):
    """Return header and data of the contents of a file."""
    (length,) = struct.unpack("<Q", data[:8])
    return data[8 : 8 + length], data[8 + length :]


# ---- writing: what safetensors 0.8.0 wrote for the same -----------------------------------------


def test_bytes_of_the_package():
    tensors = {
        "a": tn.zeros(0, 3),
        "B": tn.tensor(1.0),
        "b": tn.ones(2),
        "\u00e9\n\u00a0": tn.ones(1),
    }
    assert save(tensors) == (
        b'\xe0\x00\x00\x00\x00\x00\x00\x00{"B":{"dtype":"F32","shape":[],"data_offsets":[0,4]},'
        b'"a":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},"b":{"dtype":"F32","shape":[2],'
        b'"data_offsets":[4,12]},"\xc3\xa9\\n\xc2\xa0":{"dtype":"F32","shape":[1],'
        b'"data_offsets":[12,16]}}  ' + 4 * b"\x00\x00\x80?"
    )
    assert save({}) == b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "
    assert parts(save({}, {}))[0] == b'{"__metadata__":{}}     '
    assert parts(save({}, {"a": '\u00e9\u2028\x01\x7f"/\\'}))[0].rstrip() == (
        b'{"__metadata__":{"a":"\xc3\xa9\xe2\x80\xa8\\u0001\x7f\\"/\\\\"}}'
    )


def test_order_is_by_dtype_then_name():
    kinds = "bool uint8 int8 int16 float16 int32 float32 float64 int64".split()
    tensors = {f"{c}{k}": tn.zeros(1, dtype=getattr(tn, k)) for k in kinds for c in "ba"}
    header = json.loads(parts(save(tensors))[0])
    assert list(header) == [f"{c}{k}" for k in reversed(kinds) for c in "ab"]
    assert [h["dtype"] for h in header.values()][::2] == (
        "I64 F64 F32 I32 F16 I16 I8 U8 BOOL".split()
    )


def test_tensors_in_other_layouts_are_written_in_rows():
    x = tn.arange(6.0).reshape(2, 3)
    for other in (x.t(), x[:, 1], x[:1].expand(4, 3)):
        assert save({"x": other}) == save({"x": other.clone().contiguous()})


@pytest.mark.parametrize(
    "tensors, error, message",
    [
        ([tn.ones(1)], ValueError, "Expected a dict of .* but received <class 'list'>"),
        ({"a": 1}, ValueError, "Key `a` is invalid, expected tinynet.Tensor but received .*int"),
        ({1: tn.ones(1)}, TypeError, "received a key 1"),
        ({"__metadata__": tn.ones(1)}, ValueError, "Key `__metadata__` is invalid"),
        ({"a": nn.UninitializedParameter()}, ValueError, "Key `a` is a lazy parameter"),
        ({"\ud800": tn.ones(1)}, ValueError, "surrogates not allowed"),
    ],
    ids=repr,
)
def test_what_cannot_be_written(path, tensors, error, message):
    with pytest.raises(error, match=message):
        save_file(tensors, path)
    assert not path.exists()


def test_shared_memory_is_refused_and_save_model_named():
    x = tn.zeros(3)
    message = r"Some tensors share memory, .*: \[{'a', 'b'}\]. .* is to use `save_model`"
    for a, b in ((x, x), (x, x[1:]), (x.reshape(1, 3), x.reshape(1, 3).t())):
        with pytest.raises(RuntimeError, match=message):
            save({"a": a, "b": b, "c": tn.zeros(2)})
    assert list(load(save({"a": x[:1], "b": x[1:]}))) == ["a", "b"]  # side by side


def test_metadata_must_be_text():
    with pytest.raises(TypeError, match="must map texts to texts. Got 1 instead"):
        save({}, {"a": 1})


def test_sparse_tensors_are_refused():
    table = nn.Embedding(3, 1, sparse=True)
    table(tn.tensor([2])).sum().backward()
    with pytest.raises(ValueError, match=r"save a sparse tensors: `\['a'\]`"):
        save({"a": table.weight.grad})


# ---- reading ------------------------------------------------------------------------------------


def example():
    return {
        "x": tn.arange(6.0).reshape(2, 3),
        "empty": tn.zeros(0, 4, dtype=tn.float64),
        "flag": tn.tensor([True, False]),
        "number": tn.tensor(7, dtype=tn.int16),
        "half": tn.tensor([1.5, -0.0], dtype=tn.float16),
    }


def test_round_trip(path):
    tensors = example()
    save_file(tensors, path, {"made": "here"})
    for back in (load_file(path), load_file(str(path)), load_file(open_and_close(path))):
        assert set(back) == set(tensors)
        for name, t in tensors.items():
            assert back[name].dtype is t.dtype
            assert back[name].shape == t.shape
            assert np.array_equal(back[name].numpy(), t.numpy())
            assert not back[name].requires_grad
    assert path.read_bytes() == save(back, {"made": "here"})


def open_and_close(path):
    return io.BytesIO(path.read_bytes())


def test_a_file_and_its_tensors_do_not_change_each_other(path):
    save_file({"x": tn.zeros(1000), "y": tn.ones(3)}, path)
    before = path.read_bytes()
    x = load_file(path)["x"]
    x += 5
    assert path.read_bytes() == before
    os.truncate(path, 0)  # of a mapped file, this ends the process
    assert (x == 5).all()


def test_a_file_that_becomes_shorter_while_it_is_open(path):
    save_file({"x": tn.zeros(1000), "y": tn.ones(3)}, path)
    with safe_open(path) as file:
        os.truncate(path, 3000)
        with pytest.raises(
            ExchangeError, match="tensor 'x': expected 4000 bytes, found .* shorter"
        ):
            file.get_tensor("x")


def test_unaligned_data_is_copied(path):
    header = b'{"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}'
    header += b" " * ((3 - len(header)) % 8)  # written without padding
    data = struct.pack("<Q", len(header)) + header + np.array([1.5, 2.5]).tobytes()
    path.write_bytes(data)
    for back in (load(data), load_file(path)):
        assert back["a"].numpy().flags.aligned
        assert back["a"].tolist() == [1.5, 2.5]


def test_reading_lazily(path):
    tensors = example()
    save_file(tensors, path, {"made": "here"})
    with safe_open(path, framework="pt", device="cpu") as file:
        assert file.keys() == sorted(tensors)
        assert list(file) == sorted(tensors)
        assert file.offset_keys() == ["empty", "x", "half", "number", "flag"]
        assert file.metadata() == {"made": "here"}
        part = file.get_slice("x")
        assert part.get_shape() == [2, 3]
        assert part.get_dtype() == "F32"
        assert part[1].tolist() == [3, 4, 5]
        assert part[:, ::2].tolist() == [[0, 2], [3, 5]]
        assert part[..., -1].tolist() == [2, 5]
        assert part[1, 2].shape == ()
        x = file.get_tensor("x")
        with pytest.raises(KeyError, match="contains no tensor 'y'. It has 'empty', 'x'"):
            file.get_tensor("y")
        with pytest.raises(TypeError, match="only integers, slices and ... can be read"):
            part[[0]]
        file.get_tensor("x").zero_()
        assert x.sum() == 15  # each has memory of its own
        assert part[-1, :2].tolist() == [3, 4]
        assert part[::-1].tolist() == [[3, 4, 5], [0, 1, 2]]
        assert part[5:].shape == (0, 3)
        with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
            part[2]
    assert x.shape == (2, 3)
    with pytest.raises(ValueError, match="the file is closed"):
        file.keys()
    with safe_open(path, "np") as file:
        assert type(file.get_tensor("x")) is np.ndarray
        assert set(file.get_tensors()) == set(tensors)
    with pytest.raises(ValueError, match="'framework' parameter must be 'pt' or 'np'. Got 'tf'"):
        safe_open(path, "tf")
    with pytest.raises(RuntimeError, match="runs on the cpu only"):
        load_file(path, device="cuda")


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no.safetensors"):
        load_file(tmp_path / "no.safetensors")
    with pytest.raises(IsADirectoryError):
        load_file(tmp_path)


def made(entries, data=b"", length=None):
    """Return the contents of a file with any header."""
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(begin, end, shape=(1,), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def test_bfloat16_is_read_as_float32_with_a_note(path, without_ml_dtypes):
    values = np.array([1.0, -2.5, 3.140625, 1e30, np.inf, -0.0, 1e-40], np.float32)
    bits = (values.view(np.uint32) >> 16).astype("<u2")
    exact = (bits.astype(np.uint32) << 16).view(np.float32)
    path.write_bytes(made({"w": entry(0, 14, [7], "BF16")}, bits.tobytes()))
    with pytest.warns(UserWarning, match="bfloat16 read as float32.* for 1 tensor.*'w'") as found:
        w = load_file(path)["w"]
    assert found[0].filename == __file__
    assert w.dtype is tn.float32
    assert np.array_equal(w.numpy().view(np.uint32), exact.view(np.uint32))
    with pytest.warns(UserWarning, match="bfloat16"), safe_open(path) as file:
        assert file.get_slice("w")[1:3].tolist() == [-2.5, 3.140625]


@pytest.mark.parametrize("dtype", ["U16", "U32", "U64", "F8_E4M3", "F8_E5M2", "F8_E8M0"])
def test_dtypes_that_tinynet_has_not_are_named(path, dtype):
    size = {"U16": 2, "U32": 4, "U64": 8}.get(dtype, 1)
    entries = {"odd": entry(0, size, dtype=dtype), "even": entry(size, size + 4)}
    path.write_bytes(made(entries, bytes(size + 4)))
    with pytest.raises(ExchangeError, match=f"tensor 'odd': expected .*F64.*, found {dtype}"):
        load_file(path)
    with safe_open(path) as file:
        assert file.get_tensor("even").tolist() == [0]
        assert file.get_slice("odd").get_dtype() == dtype


DUPLICATE = b'"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
A = entry(0, 4)
HOSTILE = {
    "empty": (b"", "expected at least 8 bytes, the length of a header, found 0"),
    "short": (b"1234567", "found 7"),
    "huge": (made({}, length=2**63), "expected a header of up to 100000000 bytes, found 92233720"),
    "too long": (made({}, length=100), "expected a header of 100 bytes, found 2 before the end"),
    "pickle": (b"\x80\x02}q\x00.    ", "expected a header of up to"),
    "no text": (made(b'{"\xff":1}'), "header: expected UTF-8, found UnicodeDecodeError"),
    "a surrogate": (made(b'{"\\ud800":{}}'), "header: expected JSON, found UnicodeEncodeError"),
    "no JSON": (made(b"{nope"), "header: expected JSON, found JSONDecodeError"),
    "no object": (made([1]), "expected a header that begins with '{'"),
    "no header": (made(b""), "expected a header that begins with '{'"),
    "nothing after": (made(b"{}\0\0"), "Extra data"),
    "deep": (made(b'{"a":' + b"[" * 10**5), "RecursionError|JSONDecodeError"),
    "NaN": (made(b'{"a":NaN}'), "NaN, which is not valid JSON"),
    "long number": (made(b'{"a":' + b"1" * 5000 + b"}"), "expected JSON, found ValueError"),
    "twice": (
        made(b"{" + DUPLICATE + b"," + DUPLICATE + b"}", bytes(4)),
        "the key 'a' more than once",
    ),
    "twice inside": (
        made(DUPLICATE.join([b"{", b"}"]).replace(b"shape", b"dtype")),
        "'dtype' more",
    ),
    "no entry": (made({"a": 1}), "tensor 'a': expected an object with dtype, shape, data_offsets"),
    "no offsets": (made({"a": {"dtype": "F32", "shape": [1]}}), "an object with dtype, shape"),
    "dtype": (made({"a": entry(0, 4, dtype="Q4")}, bytes(4)), "expected a dtype, .* found 'Q4'"),
    "dtype list": (made({"a": entry(0, 4, dtype=["F32"])}, bytes(4)), "expected a dtype"),
    "float shape": (made({"a": entry(0, 4, [1.0])}, bytes(4)), "expected a shape of integers"),
    "bool shape": (made({"a": entry(0, 4, [True])}, bytes(4)), "expected a shape of integers"),
    "negative shape": (made({"a": entry(0, 4, [-1, -1])}, bytes(4)), "a shape of integers >= 0"),
    "negative": (made({"a": entry(-4, 0)}, bytes(4)), r"data_offsets \[begin, end\], found \[-4"),
    "reversed": (made({"a": entry(4, 0)}, bytes(4)), r"data_offsets \[begin, end\], found \[4"),
    "overflow": (made({"a": entry(0, 4, [2**40, 2**40])}, bytes(4)), "a shape that fits"),
    "overflow of nothing": (made({"a": entry(0, 0, [0, 2**62, 8])}), "a shape that fits"),
    "other size": (made({"a": entry(0, 4, [2])}, bytes(4)), r"8 bytes for F32 of shape \[2\]"),
    "half bytes": (made({"a": entry(0, 1, [1], "F4")}, bytes(1)), "0.5 bytes for F4"),
    "hole": (
        made({"a": A, "b": entry(8, 12)}, bytes(12)),
        r"'b': expected data from byte 4 on, after 'a', found a hole: data_offsets \[8, 12\]",
    ),
    "hole first": (made({"a": entry(4, 8)}, bytes(8)), "from byte 0 on, after the data, found a"),
    "overlap": (made({"a": A, "b": entry(2, 6)}, bytes(6)), "found overlaps: data_offsets .2, 6"),
    "alias": (made({"a": A, "b": A}, bytes(4)), "found overlaps"),
    "beyond": (
        made({"a": A}, bytes(2)),
        "expected 4 bytes of data, as stated in its header, found 2",
    ),
    "far beyond": (made({"a": entry(0, 2**50, [2**48])}, bytes(4)), "expected 1125899906842624 by"),
    "more": (
        made({"a": A}, bytes(9)),
        "expected 4 bytes of data, as stated in its header, found 9",
    ),
    "metadata number": (
        made({"__metadata__": {"a": 1}}),
        "__metadata__: expected a mapping of names",
    ),
    "metadata text": (made({"__metadata__": "a"}), "__metadata__: expected a mapping of names"),
    "rank 100": (made({"a": entry(0, 4, [1] * 100)}, bytes(4)), "expected up to 64 dimensions"),
    "bool of 2": (made({"a": entry(0, 1, [1], "BOOL")}, b"\2"), "expected 0 or 1 in each byte"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(path, name):
    data, message = HOSTILE[name]
    path.write_bytes(data)
    with pytest.raises(ExchangeError, match=message) as error:
        load_file(path)
    assert str(error.value).startswith(str(path))
    assert len(str(error.value)) < 1000
    with pytest.raises(ExchangeError, match=message):
        load(data)


def test_headers_that_others_write_are_read():
    assert load(made(b"{}   ")) == {}
    assert load(made({"a": {**A, "more": 1}}, bytes(4)))["a"].tolist() == [0]
    assert load(made({"b": A, "a": entry(0, 0, [0])}, bytes(4)))["b"].tolist() == [0]
    assert load(made({"__metadata__": None})) == {}


def test_truncations_are_found():
    whole = save(example(), {"made": "here"})
    for length in range(len(whole)):
        with pytest.raises(ExchangeError):
            load(whole[:length])


# ---- models -------------------------------------------------------------------------------------


class Tied(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=bias)
        self.head.weight = self.embedding.weight


def test_a_tied_model(path):
    model = Tied()
    save_model(model, path)
    with safe_open(path) as file:
        assert file.keys() == ["embedding.weight", "head.bias"]
        assert file.metadata() == {"head.weight": "embedding.weight"}
    other = Tied()
    assert load_model(other, path) == (set(), [])
    assert (other.head.weight == model.embedding.weight).all()
    assert other.head.weight is other.embedding.weight


def test_metadata_of_the_user_stays():
    model, file = Tied(), io.BytesIO()
    given = {"head.weight": "mine", "epoch": "3"}
    save_model(model, file, given)
    assert json.loads(parts(file.getvalue())[0])["__metadata__"] == given
    assert given == {"head.weight": "mine", "epoch": "3"}
    file = io.BytesIO()
    save_model(nn.Linear(1, 1), file)
    assert b"__metadata__" not in file.getvalue()


def test_the_other_name_of_a_tied_tensor_is_read_too():
    """Whoever wrote the file may have kept another of the names."""
    file = io.BytesIO()
    save_file({"head.weight": tn.ones(5, 3), "head.bias": tn.zeros(5)}, file)
    model = Tied()
    assert load_model(model, file) == (set(), [])
    assert (model.embedding.weight == 1).all()


def test_load_model_says_what_does_not_match():
    file = io.BytesIO()
    save_file({"head.weight": tn.ones(5, 3), "b": tn.zeros(5)}, file)
    message = (
        r"loading state_dict for Tied:\n    Missing key\(s\) in state_dict: \"head.bias\"\n"
        r"    Unexpected key\(s\) in state_dict: \"b\""
    )
    with pytest.raises(RuntimeError, match=message):
        load_model(Tied(), file)
    assert load_model(Tied(), file, strict=False) == ({"head.bias"}, ["b"])
    save_file({"0.weight": tn.ones(2, 2)}, untied := io.BytesIO())
    with pytest.raises(RuntimeError, match="size mismatch for 0.weight"):
        load_model(nn.Sequential(nn.Linear(3, 2, bias=False)), untied)


def test_views_of_one_tensor_without_a_whole_are_refused():
    x = tn.zeros(6)
    model = nn.Module()
    model.a, model.b = nn.Buffer(x[:4]), nn.Buffer(x[2:])
    with pytest.raises(RuntimeError, match=r"amongst: \['a', 'b'\]. None is covering the entire"):
        save_model(model, io.BytesIO())
    model.c = nn.Buffer(x)
    save_model(model, file := io.BytesIO())
    assert list(load_file(file)) == ["c"]


def test_transposed_parameters():
    model = nn.Linear(2, 3)
    model.weight = nn.Parameter(tn.arange(6.0).reshape(2, 3).t())
    with pytest.raises(ValueError, match="non contiguous tensor: `weight`"):
        save_model(model, io.BytesIO(), force_contiguous=False)
    save_model(model, file := io.BytesIO())
    other = nn.Linear(2, 3)
    load_model(other, file)
    assert (other.weight == model.weight).all()


def test_writing_leaves_no_half_files(path, monkeypatch):
    save_file({"x": tn.ones(2)}, path)
    before = path.read_bytes()

    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        save_file({"x": tn.zeros(2)}, path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
