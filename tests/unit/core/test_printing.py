"""Printed tensors, byte for byte as PyTorch 2.13.0 prints them.

``printed_by_torch.txt`` holds PyTorch's own output for ``CASES``. ``--oracle`` checks it, and
random tensors, against a live PyTorch; running this file with PyTorch writes it anew. It says
``torch.float64``, and line breaks depend on the length of a text, so these tests pass PyTorch's
names to ``format_tensor``.
"""

import importlib
from pathlib import Path

import numpy as np
import pytest

from tinynet.core.printing import format_tensor, set_printoptions, shows_dtype

NAN, INF = float("nan"), float("inf")
GRAD = ["requires_grad=True"]
MUL = ["grad_fn=<MulBackward0>"]


def f32(values, *shape):
    return np.array(values, dtype=np.float32).reshape(shape or np.shape(values))


def f64(values):
    return np.array(values, dtype=np.float64)


def zeros(*shape, at=None, dtype=np.float32):
    array = np.zeros(shape, dtype=dtype)
    for index, value in (at or {}).items():
        array[index] = value
    return array


def count(n, *shape, dtype=np.float32, by=1):
    return (np.arange(n) * by).astype(dtype).reshape(shape or (n,))


# name: array, tail, options
CASES = {
    "0d": (f32(7.0), [], {}),
    "0d fraction": (f32(7.3890562), MUL, {}),
    "0d negative zero": (f32(-0.0), [], {}),
    "0d nan": (f32(NAN), [], {}),
    "0d large": (f32(1e8 + 8), [], {}),
    "0d int32": (np.array(3, dtype=np.int32), [], {}),
    "0d bool": (np.array(True), [], {}),
    "whole": (f32([2.0, -3.0]), GRAD, {}),
    "whole and widths": (f32([10.0, 5.0, 2.0, 3.0]), GRAD, {}),
    "fractions": (f32([1.0, -2.5, 0.125]), [], {}),
    "rounding": (f32([0.00005, 99999.99, 1 / 3]), [], {}),
    "matrix": (zeros(2, 2) + 2, MUL, {}),
    "column": (f32([[1.3707], [0.5]]), [], {}),
    "three dimensions": (count(12, 2, 3, 2), [], {}),
    "four dimensions": (count(16, 2, 2, 2, 2, by=0.5), [], {}),
    "ratio of 1000": (f32([1.0, 1000.0]), [], {}),
    "ratio above 1000": (f32([1.0, 1001.0]), [], {}),
    "fractions, ratio of 1000": (f64([0.5, 500.0]), [], {}),
    "fractions, ratio above 1000": (f64([0.5, 500.5]), [], {}),
    "whole up to 1e8": (f32([1e8]), [], {}),
    "whole above 1e8": (f32([1.1e8]), [], {}),
    "float32 1e-4 is below it": (f32([1e-4]), [], {}),
    "float64 1e-4 is not": (f64([1e-4]), [], {}),
    "small and zero": (f32([1e-5, 0.0]), [], {}),
    "denormal": (f32([1e-45]), [], {}),
    "wide exponents": (f64([1e300, 1e-300, -1.0]), [], {}),
    "nan and whole": (f32([1.0, NAN]), [], {}),
    "nan, inf and fractions": (f32([1.5, NAN, -INF]), [], {}),
    "nan, inf and large": (f32([NAN, 1e10, -INF, 0.0]), [], {}),
    "only nan and inf": (f32([NAN, -INF, INF]), [], {}),
    "negative zeros": (f32([0.0, -0.0]), [], {}),
    "negative zero and fraction": (f32([-0.0, 1.5]), [], {}),
    "many zeros": (zeros(30), [], {}),
    "float16": (np.array([1.5, 2.0, 65504.0], dtype=np.float16), [], {}),
    "bools": (np.array([[True, False], [False, False]]), [], {}),
    "all true": (np.array([True, True]), [], {}),
    "ints": (np.array([1, -20, 300]), [], {}),
    "int64 extremes": (np.array([-(2**63), 2**63 - 1, 0]), [], {}),
    "uint8": (count(40, 2, 20, dtype=np.uint8), [], {}),
    "int8 transposed": (count(6, 2, 3, dtype=np.int8).T, [], {}),
    "empty": (zeros(0), [], {}),
    "empty, requires grad": (zeros(0), GRAD, {}),
    "empty rows": (zeros(0, 3), [], {}),
    "empty int64": (zeros(0, dtype=np.int64), [], {}),
    "empty bool, two dimensions": (zeros(2, 0, dtype=np.bool_), [], {}),
    "empty float64": (zeros(1001, 0, dtype=np.float64), GRAD, {}),
    "line break": (count(13, by=1.5), [], {}),
    "line break in rows": (count(40, 2, 20, by=0.25), [], {}),
    "tail fits": (count(11, by=0.5), [], {}),
    "tail on a new line": (count(6, dtype=np.float64, by=0.5), MUL, {}),
    "both tails on a new line": (count(8, dtype=np.float64, by=0.5), GRAD, {}),
    "tails on two lines": (f64([1.5]), MUL, {"linewidth": 40}),
    "1000 elements": (count(1000, 100, 10, dtype=np.int64) % 3, [], {"linewidth": 50}),
    "1001 elements": (count(1001), [], {}),
    "1001 ints": (count(1001, dtype=np.int64), [], {}),
    "summary, line break": (count(2000, by=1e-3), [], {}),
    "summary of rows": (count(1600, 40, 40), GRAD, {}),
    "summary of columns": (zeros(2, 2, 400), [], {}),
    "summary of bools": (np.arange(2000) > 5, [], {}),
    "summary ignores what it hides": (zeros(7, 200, at={(3, 100): 1e9}), [], {}),
    "summary of one column": (zeros(1001, 1, dtype=np.int8), [], {}),
    "precision 2": (f32([1.12345, 2.0]), [], {"precision": 2}),
    "precision 0": (f32([1.5, 2.0]), [], {"precision": 0}),
    "threshold and edgeitems": (count(24, 2, 3, 4), [], {"threshold": 2, "edgeitems": 1}),
    "no edgeitems": (count(24, 2, 3, 4), [], {"threshold": 5, "edgeitems": 0}),
    "no edgeitems, no summary": (count(3), [], {"edgeitems": 0}),
    "linewidth 20": (count(8, 2, 4), MUL, {"linewidth": 20}),
    "linewidth 1": (f32([1.5, 2.0]), [], {"linewidth": 1}),
    "sci_mode": (f32([[1.0, NAN], [0.0, 1.25]]), [], {"sci_mode": True}),
    "sci_mode of zeros": (zeros(2), [], {"sci_mode": True}),
    "sci_mode of ints": (count(2, dtype=np.int64), [], {"sci_mode": True}),
    "no sci_mode": (f32([1.0, 1e9]), [], {"sci_mode": False}),
    "profile short": (count(2000), [], {"profile": "short"}),
    "profile full": (count(1010, 505, 2)[:3], [], {"profile": "full"}),
}

RECORDING = Path(__file__).with_name("printed_by_torch.txt")
MARK = "\n\n# "


def recorded():
    sections = ("\n\n" + RECORDING.read_text(encoding="utf-8")).removesuffix("\n").split(MARK)[1:]
    return dict(section.split("\n", 1) for section in sections)


RECORDED = recorded()


@pytest.fixture(autouse=True)
def _defaults_afterwards():
    yield
    set_printoptions(profile="default")


def printed(array, tail=(), options=None):
    set_printoptions(**(options or {}))
    suffix = f"dtype=torch.{array.dtype.name}" if shows_dtype(array, np.dtype("float32")) else ""
    return format_tensor(array, suffix, list(tail))


@pytest.mark.parametrize("name", CASES)
def test_prints_as_torch_did(name):
    assert printed(*CASES[name]) == RECORDED[name]


def test_all_rows_above_the_threshold_of_profile_full():
    text = printed(np.zeros((2000, 1)), options={"profile": "full"})
    assert text.count("[0.]") == 2000
    assert "..." not in text


def test_default_dtype_decides_what_goes_unsaid():
    float64 = np.dtype("float64")
    assert not shows_dtype(np.zeros(1), float64)
    assert shows_dtype(np.zeros(1, np.float32), float64)
    assert not shows_dtype(np.zeros(1, np.int64), float64)
    assert shows_dtype(np.zeros(0, np.int64), float64)


def test_printing_does_not_change_the_array():
    array = np.array([-0.0, NAN, 1.5], dtype=np.float32)
    before = array.tobytes()
    printed(array)
    assert array.tobytes() == before


# ---- options ----


def test_options_stay_until_changed():
    array = np.array([1.23456, 2.0], dtype=np.float32)
    assert printed(array, options={"precision": 2}) == "tensor([1.23, 2.00])"
    assert printed(array, options={"linewidth": 100}) == "tensor([1.23, 2.00])"
    assert printed(array, options={"profile": "default"}) == "tensor([1.2346, 2.0000])"


def test_profile_can_be_overridden():
    array = np.arange(2000)
    assert printed(array, options={"profile": "short", "edgeitems": 1}) == (
        "tensor([   0,  ..., 1999])"
    )


def test_sci_mode_is_reset_by_a_call_without_it():
    array = np.array([1.5], dtype=np.float32)
    assert printed(array, options={"sci_mode": True}) == "tensor([1.5000e+00])"
    assert printed(array, options={"precision": 3}) == "tensor([1.500])"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"precision": -1},
            "The 'precision' parameter of set_printoptions must be an integer >= 0. "
            "Got -1 instead.",
        ),
        (
            {"edgeitems": 1.5},
            "The 'edgeitems' parameter of set_printoptions must be an integer >= 0. "
            "Got 1.5 instead.",
        ),
        (
            {"threshold": NAN},
            "The 'threshold' parameter of set_printoptions must be a number >= 0. Got nan instead.",
        ),
        (
            {"linewidth": "80"},
            "The 'linewidth' parameter of set_printoptions must be an integer >= 0. "
            "Got '80' instead.",
        ),
        (
            {"profile": "long"},
            "The 'profile' parameter of set_printoptions must be one of 'default', 'short', "
            "'full'. Got 'long' instead.",
        ),
    ],
)
def test_bad_options(options, message):
    before = printed(np.array([1.23456]))
    with pytest.raises(ValueError) as caught:
        set_printoptions(**options)
    assert str(caught.value) == message
    assert printed(np.array([1.23456])) == before


# ---- against a live PyTorch ----


def printed_by_torch(array, tail=(), options=None):
    torch = importlib.import_module("torch")
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**(options or {}))
    tensor = torch.from_numpy(np.array(array)).requires_grad_(bool(tail))
    text = repr(tensor * 1 if tail == MUL else tensor)
    torch.set_printoptions(profile="default")
    return text


def record():
    texts = {name: printed_by_torch(*case) for name, case in CASES.items()}
    whole = "".join(f"{MARK}{name}\n{text}" for name, text in texts.items())
    RECORDING.write_text(whole.lstrip("\n") + "\n", encoding="utf-8")


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_recorded_is_what_torch_prints(name):
    assert RECORDED[name] == printed_by_torch(*CASES[name])


def random_case(rng):
    dtype = rng.choice(["float32", "float64", "float16", "int64", "int16", "uint8", "bool"])
    shape = tuple(rng.choice([0, 1, 2, 3, 7, 13], rng.integers(0, 4), p=[0.04] + [0.192] * 5))
    if rng.random() < 0.2:
        shape = tuple(rng.choice([1, 7, 40, 1001], rng.integers(1, 3)))
    values = np.asarray(rng.standard_normal(shape))
    style = rng.integers(4)
    if style < 3:
        values = values * 10.0 ** rng.integers(-6, 9, shape if style else ())
        values = np.round(values) if style == 2 else values
    odd = np.where(rng.random(shape) < 0.2, rng.choice([NAN, INF, -INF, 0.0, -0.0], shape), values)
    with np.errstate(all="ignore"):
        array = np.asarray(odd if "float" in dtype else values).astype(dtype)
    options = {}
    if rng.random() < 0.5:
        options = {
            "precision": int(rng.integers(0, 9)),
            "threshold": int(rng.choice([0, 5, 100, 1000])),
            "edgeitems": int(rng.integers(0, 5)),
            "linewidth": int(rng.integers(1, 160)),
            "sci_mode": [None, True, False][rng.integers(3)],
        }
    return array, (GRAD if "float" in dtype and rng.random() < 0.5 else []), options


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(10))
def test_random_tensors_print_as_in_torch(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        array, tail, options = random_case(rng)
        set_printoptions(profile="default")
        assert printed(array, tail, options) == printed_by_torch(array, tail, options)


if __name__ == "__main__":
    record()
