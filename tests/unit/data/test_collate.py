"""default_collate and default_convert."""

import importlib
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from types import MappingProxyType

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import default_collate, default_convert

Pair = namedtuple("Pair", "a b")


class Table(dict):
    """A dict with something beside its items."""


def tensors(lib, *rows, **how):
    return [lib.tensor(row, **how) for row in rows]


def described(value):
    """Types, dtypes and values, alike for tinynet and PyTorch."""
    if hasattr(value, "tolist") and hasattr(value, "requires_grad"):
        return [str(value.dtype).partition(".")[2], list(value.shape), value.tolist()]
    kind = type(value).__name__
    if isinstance(value, (list, tuple)):
        return [kind, [described(part) for part in value]]
    if hasattr(value, "keys"):
        return [kind, {key: described(value[key]) for key in value}]
    return [kind, repr(value)]


# name: batch, given the library
BATCHES = {
    "tensors": lambda lib: tensors(lib, [1.0, 2.0], [3.0, 4.0]),
    "0-d tensors": lambda lib: tensors(lib, 1, 2),
    "bool tensors": lambda lib: tensors(lib, [True], [False]),
    "empty tensors": lambda lib: [lib.zeros(0, 3), lib.zeros(0, 3)],
    "tensors of two dtypes": lambda lib: [lib.zeros(2), lib.ones(2, dtype=lib.int64)],
    "one sample": lambda lib: tensors(lib, [1.0, 2.0]),
    "ints": lambda lib: [1, 2],
    "floats": lambda lib: [1.5, 2.0],
    "float and int": lambda lib: [1.5, 2],
    "int and float": lambda lib: [1, 2.5],
    "bools": lambda lib: [True, False],
    "strings": lambda lib: ["a", "b"],
    "bytes": lambda lib: [b"a", b"b"],
    "numpy strings": lambda lib: [np.str_("a")],
    "arrays": lambda lib: [np.zeros(2), np.ones(2)],
    "float32 arrays": lambda lib: [np.zeros((1, 2), np.float32), np.ones((1, 2), np.float32)],
    "uint8 arrays": lambda lib: [np.arange(3, dtype=np.uint8)],
    "strided arrays": lambda lib: [np.arange(6)[::2], np.arange(6)[1::2]],
    "0-d arrays": lambda lib: [np.array(1.0), np.array(2.0)],
    "numpy float32": lambda lib: [np.float32(1), np.float32(2)],
    "numpy float64": lambda lib: [np.float64(1), np.float64(2)],
    "numpy int32": lambda lib: [np.int32(1), np.int32(2)],
    "numpy bool": lambda lib: [np.True_, np.False_],
    "tuples": lambda lib: [(1, 2.0), (3, 4.0)],
    "tuples with strings": lambda lib: [("a", 1), ("b", 2)],
    "tuples of tensors": lambda lib: [(lib.ones(2), 1), (lib.zeros(2), 0)],
    "named tuples": lambda lib: [Pair(1, 2.0), Pair(3, 4.0)],
    "lists": lambda lib: [[1, 2], [3, 4]],
    "empty lists": lambda lib: [[], []],
    "ranges": lambda lib: [range(2), range(2)],
    "dicts": lambda lib: [{"a": 1, "b": [1, 2]}, {"a": 2, "b": [3, 4]}],
    "dicts, more keys later": lambda lib: [{"a": 1}, {"a": 1, "b": 3}],
    "dict subclass": lambda lib: [Table(a=1), Table(a=2)],
    "ordered dicts": lambda lib: [OrderedDict(b=1, a=2)],
    "default dicts": lambda lib: [defaultdict(list, a=1)],
    "user dicts": lambda lib: [UserDict(a=1)],
    "mapping proxies": lambda lib: [MappingProxyType({"a": 1})],
    "nested": lambda lib: [{"x": (lib.ones(2), [1, "a"])}, {"x": (lib.zeros(2), [2, "b"])}],
}
# what PyTorch 2.13.0 makes of them
RECORDED = {
    "tensors": ["float32", [2, 2], [[1.0, 2.0], [3.0, 4.0]]],
    "0-d tensors": ["int64", [2], [1, 2]],
    "bool tensors": ["bool", [2, 1], [[True], [False]]],
    "empty tensors": ["float32", [2, 0, 3], [[], []]],
    "tensors of two dtypes": ["float32", [2, 2], [[0.0, 0.0], [1.0, 1.0]]],
    "one sample": ["float32", [1, 2], [[1.0, 2.0]]],
    "ints": ["int64", [2], [1, 2]],
    "floats": ["float64", [2], [1.5, 2.0]],
    "float and int": ["float64", [2], [1.5, 2.0]],
    "int and float": ["float32", [2], [1.0, 2.5]],
    "bools": ["bool", [2], [True, False]],
    "strings": ["list", [["str", "'a'"], ["str", "'b'"]]],
    "bytes": ["list", [["bytes", "b'a'"], ["bytes", "b'b'"]]],
    "numpy strings": ["list", [["str_", "np.str_('a')"]]],
    "arrays": ["float64", [2, 2], [[0.0, 0.0], [1.0, 1.0]]],
    "float32 arrays": ["float32", [2, 1, 2], [[[0.0, 0.0]], [[1.0, 1.0]]]],
    "uint8 arrays": ["uint8", [1, 3], [[0, 1, 2]]],
    "strided arrays": ["int64", [2, 3], [[0, 2, 4], [1, 3, 5]]],
    "0-d arrays": ["float64", [2], [1.0, 2.0]],
    "numpy float32": ["float32", [2], [1.0, 2.0]],
    "numpy float64": ["float64", [2], [1.0, 2.0]],
    "numpy int32": ["int32", [2], [1, 2]],
    "numpy bool": ["bool", [2], [True, False]],
    "tuples": ["list", [["int64", [2], [1, 3]], ["float64", [2], [2.0, 4.0]]]],
    "tuples with strings": [
        "list",
        [["tuple", [["str", "'a'"], ["str", "'b'"]]], ["int64", [2], [1, 2]]],
    ],
    "tuples of tensors": [
        "list",
        [["float32", [2, 2], [[1.0, 1.0], [0.0, 0.0]]], ["int64", [2], [1, 0]]],
    ],
    "named tuples": ["Pair", [["int64", [2], [1, 3]], ["float64", [2], [2.0, 4.0]]]],
    "lists": ["list", [["int64", [2], [1, 3]], ["int64", [2], [2, 4]]]],
    "empty lists": ["list", []],
    "ranges": ["list", [["int64", [2], [0, 0]], ["int64", [2], [1, 1]]]],
    "dicts": [
        "dict",
        {
            "a": ["int64", [2], [1, 2]],
            "b": ["list", [["int64", [2], [1, 3]], ["int64", [2], [2, 4]]]],
        },
    ],
    "dicts, more keys later": ["dict", {"a": ["int64", [2], [1, 1]]}],
    "dict subclass": ["Table", {"a": ["int64", [2], [1, 2]]}],
    "ordered dicts": ["OrderedDict", {"b": ["int64", [1], [1]], "a": ["int64", [1], [2]]}],
    "default dicts": ["defaultdict", {"a": ["int64", [1], [1]]}],
    "user dicts": ["UserDict", {"a": ["int64", [1], [1]]}],
    "mapping proxies": ["mappingproxy", {"a": ["int64", [1], [1]]}],
    "nested": [
        "dict",
        {
            "x": [
                "list",
                [
                    ["float32", [2, 2], [[1.0, 1.0], [0.0, 0.0]]],
                    ["list", [["int64", [2], [1, 2]], ["tuple", [["str", "'a'"], ["str", "'b'"]]]]],
                ],
            ]
        },
    ],
}

# name: sample, given the library
SAMPLES = {
    "tensor": lambda lib: lib.ones(2),
    "int": lambda lib: 1,
    "none": lambda lib: None,
    "string": lambda lib: "a",
    "array": lambda lib: np.arange(2),
    "string array": lambda lib: np.array(["a"]),
    "numpy float32": lambda lib: np.float32(2),
    "list": lambda lib: [np.zeros(2), 1],
    "tuple": lambda lib: (1, np.zeros(1)),
    "named tuple": lambda lib: Pair(1, np.zeros(1)),
    "dict": lambda lib: {"a": np.zeros(1), "b": ["c"]},
    "range": lambda lib: range(3),
}
CONVERTED = {
    "tensor": ["float32", [2], [1.0, 1.0]],
    "int": ["int", "1"],
    "none": ["NoneType", "None"],
    "string": ["str", "'a'"],
    "array": ["int64", [2], [0, 1]],
    "string array": ["ndarray", "array(['a'], dtype='<U1')"],
    "numpy float32": ["float32", [], 2.0],
    "list": ["list", [["float64", [2], [0.0, 0.0]], ["int", "1"]]],
    "tuple": ["list", [["int", "1"], ["float64", [1], [0.0]]]],
    "named tuple": ["Pair", [["int", "1"], ["float64", [1], [0.0]]]],
    "dict": ["dict", {"a": ["float64", [1], [0.0]], "b": ["list", [["str", "'c'"]]]}],
    "range": ["list", [["int", "0"], ["int", "1"], ["int", "2"]]],
}


@pytest.mark.parametrize("name", BATCHES)
def test_collate(name):
    assert described(default_collate(BATCHES[name](tn))) == RECORDED[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_convert(name):
    assert described(default_convert(SAMPLES[name](tn))) == CONVERTED[name]


@pytest.mark.oracle
@pytest.mark.parametrize("name", BATCHES)
def test_collate_as_recorded(name):
    torch = importlib.import_module("torch")
    batch = torch.utils.data.default_collate(BATCHES[name](torch))
    assert described(batch) == RECORDED[name]


@pytest.mark.oracle
@pytest.mark.parametrize("name", SAMPLES)
def test_convert_as_recorded(name):
    torch = importlib.import_module("torch")
    sample = torch.utils.data.default_convert(SAMPLES[name](torch))
    assert described(sample) == CONVERTED[name]


def test_default_dtype_decides_about_ints_and_floats():
    tn.set_default_dtype(tn.float64)
    try:
        assert default_collate([1, 2.5]).dtype is tn.float64
    finally:
        tn.set_default_dtype(tn.float32)


def test_a_batch_does_not_share_memory_with_its_samples():
    arrays = [np.zeros(2), np.ones(2)]
    default_collate(arrays)[0, 0] = 5
    assert arrays[0][0] == 0


def test_a_mapping_keeps_its_attributes():
    sample = Table(a=1)
    sample.source = "here"
    assert default_collate([sample]).source == "here"
    assert sample == {"a": 1}


def test_history_is_kept():
    x = tn.ones(2, requires_grad=True)
    default_collate([x * 2, x * 3]).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_convert_shares_memory():
    array = np.zeros(2)
    default_convert(array)[0] = 5
    assert array[0] == 5
