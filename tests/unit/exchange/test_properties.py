"""Random data and random views through all three writers: what comes back is what went in."""

import io
import math
from collections import OrderedDict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tinynet as tn
from tinynet.core.tensors.tensor import wrap
from tinynet.exchange import load_pytorch, safetensors, save_pytorch

KINDS = [d.numpy for d in tn.dtypes.ALL if d is not tn.bfloat16]
texts = st.text(max_size=5)
keys = texts | st.integers() | st.booleans() | st.none()
numbers = st.integers() | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False)
plain = st.recursive(
    st.none() | st.booleans() | numbers | texts | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4).map(OrderedDict)
    ),
    max_leaves=20,
)


def through(save, load, obj):
    file = io.BytesIO()
    save(obj, file)
    return load(file)


@given(plain)
def test_plain_data(obj):
    for save, load in ((tn.save, tn.load), (save_pytorch, load_pytorch)):
        assert repr(through(save, load, obj)) == repr(obj)


@st.composite
def views(draw):
    """Return some views of a few arrays."""
    made = []
    for _ in range(draw(st.integers(1, 3))):
        shape = draw(st.lists(st.integers(1, 5), max_size=3))
        kind = draw(st.sampled_from(KINDS))
        base = np.arange(math.prod(shape)).reshape(shape).astype(kind)
        for _ in range(draw(st.integers(1, 4))):
            view = base
            for dim in range(base.ndim):
                start, step = draw(st.integers(0, 4)), draw(st.integers(1, 3))
                stop = draw(st.integers(start, 5))
                view = view[(..., slice(start, stop, step), *[slice(None)] * dim)]
            made.append(view.transpose(draw(st.permutations(range(base.ndim)))))
    return draw(st.permutations(made))


def check_memory(before, after):
    """Two views share memory afterwards if and only if they did before."""
    for i, a in enumerate(before):
        assert np.array_equal(a, after[i])
        assert a.dtype == after[i].dtype
        for j, b in enumerate(before[:i]):
            assert np.shares_memory(a, b) == np.shares_memory(after[i], after[j])
            if a.size and b.size and np.may_share_memory(a, b):
                assert address(a) - address(b) == address(after[i]) - address(after[j])


def address(array):
    return array.__array_interface__["data"][0]


@given(views())
def test_views(arrays):
    tensors = [wrap(a) for a in arrays]
    for save, load in ((tn.save, tn.load), (save_pytorch, load_pytorch)):
        back = through(save, load, tensors)
        check_memory(arrays, [t.numpy() for t in back])
    check_memory(arrays, through(tn.save, tn.load, arrays))


@given(views())
def test_safetensors_of_copies(arrays):
    stored = [a for a in arrays if a.dtype != np.complex128]  # which safetensors does not have
    tensors = {str(i): wrap(a.copy()) for i, a in enumerate(stored)}
    back = safetensors.load(safetensors.save(tensors))
    for name, t in tensors.items():
        assert np.array_equal(back[name].numpy(), t.numpy())
        assert back[name].numpy().dtype == t.numpy().dtype
        assert back[name].numpy().flags.aligned


def test_fields_of_records():
    """Their elements are not a whole number of elements apart, and not aligned."""
    records = np.zeros(4, [("a", "i1"), ("x", "f4"), ("b", "i1")])
    records["x"] = [1, 2, 3, 4]
    arrays = [records["x"][:3], records["x"][1:], records["a"]]
    check_memory(arrays, through(tn.save, tn.load, arrays))
    back = through(save_pytorch, load_pytorch, [wrap(a) for a in arrays])
    assert [t.tolist() for t in back] == [[1, 2, 3], [2, 3, 4], [0, 0, 0, 0]]
