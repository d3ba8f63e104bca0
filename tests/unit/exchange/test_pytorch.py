"""Files of torch.save: hostile pickles, damage; what save_pytorch refuses."""

import io
import os
import pickle
import pickletools
import re
import subprocess
import zipfile
from collections import Counter, OrderedDict, defaultdict
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.exchange import ExchangeError, load_pytorch, save_pytorch
from tinynet.exchange.opcodes import Reader, RefusedError

FILES = Path(__file__).parent / "files"


def zipped(data, members=(), folder="archive"):
    """Return a file of torch.save with any pickle in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{folder}/data.pkl", data)
        for name, content in dict(members).items():
            archive.writestr(f"{folder}/{name}", content)
    return file


def legacy(data):
    head = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    return io.BytesIO(b"".join(head) + data + pickle.dumps([], 2))


# ---- hostile pickles ----------------------------------------------------------------------------


class Call:
    """Pickles to a call."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


ran = []


def run(*arguments):
    ran.append(arguments)


CALLS = {
    "system": (Call(os.system, "echo ran"), f"the name {os.name}.system"),
    "popen": (Call(subprocess.Popen, ["echo"]), r"the name \w+.Popen"),
    "eval": (Call(eval, "1"), "the name .*builtin.*.eval"),
    "getattr": (Call(getattr, "x", "upper"), "the name .*builtin.*.getattr"),
    "own": (Call(run, 1), "the name .*test_pytorch.run"),
    "numpy": (np.ma.array([1.0]), r"the name numpy\.ma\.\w+\._mareconstruct"),
    "numpy objects": (np.array([1, None]), "numpy's dtype 'O8'"),
    "default": (defaultdict(list.__call__), "the name"),
    "inside": ({"state": [1, {"x": Call(os.system, "echo")}]}, "system"),
    "key": ({Call(os.system, "echo"): 1}, "system"),
    "instance": (nn.Linear(1, 1), "the name tinynet.nn.layers.linear.Linear"),
    "object": (object(), "the name"),
    "method": (re.compile("x"), "the name re._compile"),
}


@pytest.mark.parametrize("form", [zipped, legacy])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", CALLS)
def test_calls_are_refused_by_name(name, protocol, form):
    obj, message = CALLS[name]
    with pytest.raises(ExchangeError, match=message) as error:
        load_pytorch(form(pickle.dumps(obj, protocol)))
    assert "at byte" in str(error.value)
    assert not ran


P = b"\x80\x02"
INSTRUCTIONS = {
    "protocol 0": (b"(lp0\n.", "something that begins|the instruction LIST"),
    "INST": (P + b"(S'echo'\nios\nsystem\n.", "the instruction STRING|the instruction INST"),
    "OBJ": (P + b"(cos\nsystem\no.", "the name os.system"),
    "NEWOBJ": (P + b"cbuiltins\nobject\n)\x81.", "the name builtins.object"),
    "NEWOBJ of a number": (P + b"J\1\0\0\0)\x81.", "a call of a int"),
    "EXT1": (P + b"\x82\x01.", "the instruction EXT1"),
    "attribute by name": (P + b"cos\nsystem\n.", "the name os.system"),
    "nested name": (
        b"\x80\x04\x8c\x0bcollections\x8c\x10OrderedDict.copy\x93.",
        "OrderedDict.copy",
    ),
    "call of a number": (P + b"J\1\0\0\0)R.", "a call of a int"),
    "call with a list": (P + b"ccollections\nOrderedDict\n]R.", "a call of a Function"),
    "state of a list": (P + b"]}b.", "a modification of a list"),
    "items of a tuple": (P + b")N\x61.", "a modification of a tuple"),
    "function as data": (P + b"ctorch._utils\n_rebuild_tensor\n.", "_rebuild_tensor as a value"),
    "function in a list": (P + b"]ctorch\nSize\na.", "torch.Size as a value"),
    "function as a key": (P + b"}ctorch\nSize\nNs.", "torch.Size as a value"),
    "storage type": (P + b"ctorch\nFloatStorage\n.", "float32 as a value"),
    "tensor by its class": (P + b"ctorch\nTensor\n)R.", "created by calling its class"),
    "numpy objects": (P + b"cnumpy\ndtype\nX\1\0\0\0O\x85R.", "numpy's dtype 'O'"),
    "encoding": (P + b"c_codecs\nencode\nX\1\0\0\0OX\5\0\0\0rot13\x86R.", "the encoding 'rot13'"),
    "hiding a method": (
        P + b"ccollections\nOrderedDict\n)R}X\5\0\0\0itemsNsb.",
        "the attribute 'items' of a OrderedDict",
    ),
    "a class attribute": (
        P + b"ccollections\nOrderedDict\n)R}X\x09\0\0\0__class__Nsb.",
        "the attribute '__class__' of a OrderedDict",
    ),
    "persistent id": (P + b"X\1\0\0\0aQ.", "damage|the persistent id"),
    "unknown persistent id": (P + b"(X\1\0\0\0aNNNNtQ.", "the persistent id"),
    "nothing": (b"", "damage"),
    "no end": (P + b"N", "damage"),
    "empty stack": (P + b".", "damage"),
    "no mark": (P + b"t.", "damage"),
    "no such memo": (P + b"h\0.", "damage"),
    "unhashable": (P + b"}]Ns.", "damage .*unhashable"),
    "long text": (P + b"X\xff\xff\xff\x7fabc.", "damage"),
    "longer text": (b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7fabc.", "damage"),
    "long number": (P + b"\x8b\xff\xff\xff\x7f.", "damage"),
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_other_instructions_are_refused(name):
    data, message = INSTRUCTIONS[name]
    with pytest.raises(ExchangeError, match=message):
        load_pytorch(zipped(data))


def test_no_pickle_of_protocol_0_to_2_runs_anything():
    class Marker:
        def __reduce__(self):
            return run, ("ran",)

    for protocol in range(6):
        for form in (zipped, legacy):
            with pytest.raises(ExchangeError):
                load_pytorch(form(pickle.dumps([Marker()], protocol)))
    assert not ran


def test_the_reader_on_data():
    data = {"a": [1, -1, 2**40, 1.5, None, True, False], "b": ("x", b"y", {1}, ()), 3: {}}
    data["again"] = data["a"]
    for protocol in (2, 3, 4, 5):
        functions = {f"{m}.set": set for m in ("builtins", "__builtin__")}
        functions["_codecs.encode"] = lambda text, code: text.encode(code)
        back = Reader(functions).read(io.BytesIO(pickle.dumps(data, protocol)))
        assert back == data
        assert back["again"] is back["a"]
    with pytest.raises(RefusedError, match="a persistent id"):
        Reader().read(io.BytesIO(P + b"NQ."))


# ---- hostile tensors ----------------------------------------------------------------------------


def tensor_pickle(storage=b"torch\nFloatStorage", key=b"0", count=4, offset=0, size=4, step=1):
    number = [b"J" + n.to_bytes(4, "little", signed=True) for n in (count, offset, size, step)]
    word = b"X\7\0\0\0storage"
    key = b"X" + len(key).to_bytes(4, "little") + key
    where = b"X\3\0\0\0cpu"
    reference = b"(" + word + b"c" + storage + b"\n" + key + where + number[0] + b"tQ"
    rest = number[1] + number[2] + b"\x85" + number[3] + b"\x85\x89ccollections\nOrderedDict\n)R"
    return P + b"ctorch._utils\n_rebuild_tensor_v2\n(" + reference + rest + b"tR."


MEMORY = np.arange(4, dtype=np.float32).tobytes()


def test_the_tensor_of_the_next_test():
    pickletools.dis(tensor_pickle(), io.StringIO())
    t = load_pytorch(zipped(tensor_pickle(offset=3, size=2, step=-3), {"data/0": MEMORY}))
    assert t.tolist() == [3, 0]
    big = zipped(tensor_pickle(), {"data/0": MEMORY[::-1], "byteorder": b"big"}, "any name")
    assert load_pytorch(big).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"size": 5}, "would take bytes"),
        ({"offset": 1}, "would take bytes"),
        ({"offset": -1}, "would take bytes"),
        ({"step": 2}, "would take bytes"),
        ({"step": -1}, "would take bytes"),
        ({"size": -1}, "damage"),
        ({"count": -4}, "a storage of -4 elements"),
        ({"count": 5}, r"archive/data/0: expected 20 bytes \(5 of float32\), found 16"),
        ({"count": 2**31 - 1}, "expected 8589934588 bytes"),
        ({"key": b"1"}, "expected the member archive/data/1, found none"),
        ({"key": b"../0"}, "expected the member archive/data/../0, found none"),
        ({"storage": b"torch\nQInt8Storage"}, "the name torch.QInt8Storage"),
        ({"storage": b"torch\nfloat32"}, "the persistent id"),
        ({"storage": b"torch\nDoubleStorage"}, "expected 32 bytes"),
    ],
    ids=str,
)
def test_tensors_outside_of_their_memory_are_refused(options, message):
    with pytest.raises(ExchangeError, match=message):
        load_pytorch(zipped(tensor_pickle(**options), {"data/0": MEMORY}))


def test_legacy_storages_must_be_there():
    data = tensor_pickle(count=2**31 - 1)
    with pytest.raises(ExchangeError, match="storage '0' of 2147483647 float32, found the end of"):
        load_pytorch(legacy(data))
    with pytest.raises(ExchangeError, match=r"expected storages \['0'\], found \[\]"):
        load_pytorch(io.BytesIO(legacy(tensor_pickle()).getvalue() + bytes(100)))


# ---- damaged and other files --------------------------------------------------------------------


def test_other_files(tmp_path):
    path = tmp_path / "model.pt"
    with pytest.raises(FileNotFoundError, match="model.pt"):
        load_pytorch(path)
    tn.save({"x": tn.ones(1)}, path)
    with pytest.raises(ExchangeError, match="with one data.pkl, found one with 'structure.json'"):
        load_pytorch(path)
    path.write_bytes(pickle.dumps({"x": 1}, 2))
    with pytest.raises(
        ExchangeError, match="found a pickle of {'x': 1}, not written by torch.save"
    ):
        load_pytorch(path)
    path.write_bytes(b"")
    with pytest.raises(ExchangeError, match="found an empty file"):
        load_pytorch(path)
    path.write_bytes(zipped(pickle.dumps(1, 2), {"constants.pkl": b""}).getvalue())
    with pytest.raises(ExchangeError, match="found a TorchScript program"):
        load_pytorch(path)
    path.write_bytes(zipped(pickle.dumps(1, 2), {"byteorder": b"middle"}).getvalue())
    with pytest.raises(
        ExchangeError, match="byteorder: expected 'little' or 'big', found 'middle'"
    ):
        load_pytorch(path)
    with pytest.raises(RuntimeError, match="runs on the cpu only"):
        load_pytorch(path, map_location="cuda")
    assert list(tn.load(FILES / "cnn.pt")) == list(load_pytorch(FILES / "cnn.pt"))
    assert list(tn.load(FILES / "shared_legacy.pt")) == list(tn.load(FILES / "shared.pt"))


@pytest.mark.parametrize("name", ["shared.pt", "shared_legacy.pt"])
def test_truncations_are_found(name):
    whole = (FILES / name).read_bytes()
    for length in range(0, len(whole), 23):
        with pytest.raises(ExchangeError):
            load_pytorch(io.BytesIO(whole[:length]))


@pytest.mark.parametrize("name", ["shared.pt", "shared_legacy.pt"])
def test_flipped_bits_never_do_more_than_change_numbers(name):
    """The old format has no checksums: damage of numbers cannot be seen there."""
    whole = (FILES / name).read_bytes()
    for bit in np.random.default_rng(0).choice(8 * len(whole), 300, replace=False):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            load_pytorch(io.BytesIO(damaged))
        except ExchangeError:
            pass


# ---- writing ------------------------------------------------------------------------------------


def test_round_trip():
    x = tn.arange(6.0).reshape(2, 3)
    obj = OrderedDict(x=x, t=x.t(), n=[1, 2**300, -(2**300), 2.5, "\u00e9", b"\xff", None, 1 + 2j])
    obj["p"] = nn.Parameter(tn.ones(2, dtype=tn.float16))
    obj["b"] = nn.Buffer(tn.ones(1))
    obj["long"] = 2**5000
    save_pytorch(obj, file := io.BytesIO())
    back = load_pytorch(file)
    assert back["n"] == obj["n"]
    assert back["long"] == 2**5000
    assert back["t"].stride() == (1, 3)
    back["x"].zero_()
    assert not back["t"].any()
    assert type(back["p"]) is nn.Parameter
    assert back["p"].dtype is tn.float16
    save_pytorch(obj, again := io.BytesIO())
    assert file.getvalue() == again.getvalue()


def cyclic():
    x = Counter()
    x["self"] = x
    return x


@pytest.mark.parametrize(
    "obj, message",
    [
        ({"a": [lambda: 1]}, r"obj\['a'\]\[0\] is a builtins.function .no import finds"),
        (cyclic(), r"obj\['self'\] contains itself"),
    ],
    ids=lambda v: None,
)
def test_what_cannot_be_written_is_named(tmp_path, obj, message):
    with pytest.raises(TypeError, match=message):
        save_pytorch(obj, tmp_path / "x.pt")
    assert os.listdir(tmp_path) == []


def test_one_memory_of_two_dtypes_is_refused():
    x = np.ones(2, np.float32)
    tensors = [tn.from_numpy(x), tn.from_numpy(x.view(np.int32))]
    with pytest.raises(RuntimeError, match="view the same data as different types: float32, int32"):
        save_pytorch(tensors, io.BytesIO())


@pytest.mark.parametrize(
    "instruction",
    [b"X\xff\xff\xff\xff", b"T\xff\xff\xff\x7f", b"\x8b\xff\xff\xff\x7f", *(
        code + (2**62).to_bytes(8, "little") for code in (b"\x8d", b"\x8e", b"\x96")
    )],
    ids=["text", "string", "long", "text of 64 bits", "bytes", "bytearray"],
)  # fmt: skip
def test_lengths_beyond_the_end_of_a_file_allocate_nothing(instruction, tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(legacy(b"\x80\x04" + instruction + b"a").getvalue())
    with pytest.raises(ExchangeError, match=r"model\.pt: expected a file written by torch\.save"):
        load_pytorch(path)


def test_unsigned_integers_are_not_written(tmp_path):
    """PyTorch stores them in a way of their own."""
    with pytest.raises(TypeError, match=r"obj\['x'\] is a tensor of uint16 \(store its .long\(\)"):
        save_pytorch({"x": tn.ones(1).to(tn.uint16)}, tmp_path / "x.pt")
