"""Storages, and tensors that are given memory: what scripts and checkpoints use of them."""

import copy
import pickle
import sys

import numpy as np
import pytest

import tinynet as tn


def test_storages_of_numbers():
    s = tn.FloatStorage([1, 2, 3])
    assert s.tolist() == [1.0, 2.0, 3.0] and s[0] == 1 and s[1:].tolist() == [2.0, 3.0]
    assert (s.dtype, s.size(), s.element_size(), s.nbytes()) == (tn.float32, 3, 4, 12)
    assert s.double().dtype == tn.float64 and s.long().tolist() == [1, 2, 3]
    assert s.clone().fill_(2).tolist() == [2.0] * 3 and s.tolist() == [1.0, 2.0, 3.0]
    assert tn.LongStorage(2).copy_(tn.FloatStorage([3, 4])).tolist() == [3, 4]
    s.resize_(5)
    assert s.tolist() == [1.0, 2.0, 3.0, 0.0, 0.0]
    assert sys.getsizeof(tn.FloatStorage(100)) - sys.getsizeof(tn.FloatStorage(0)) == 400
    assert tn.Storage(2).dtype == tn.get_default_dtype()
    for again in (pickle.loads(pickle.dumps(s)), copy.deepcopy(s)):
        assert list(again) == list(s) and again.data_ptr() != s.data_ptr()


def test_kinds_of_storages():
    x = tn.arange(6.0)
    assert isinstance(x.storage(), tn.FloatStorage) and isinstance(x.storage(), tn.TypedStorage)
    assert not isinstance(x.storage(), tn.LongStorage)
    assert (
        tn.is_storage(x.storage()) and tn.is_storage(x.untyped_storage()) and not tn.is_storage(x)
    )
    assert x[1:].storage()._cdata == x.storage()._cdata
    assert x.untyped_storage() == x.view(2, 3).untyped_storage() != tn.ones(6).untyped_storage()
    assert not x.storage().is_shared() and x.storage().share_memory_().is_shared()


def test_bytes_as_numbers():
    whole = tn.UntypedStorage(8)
    numbers = tn.TypedStorage(wrap_storage=whole, dtype=tn.int32)
    numbers[1] = 256
    assert whole.tolist() == [0, 0, 0, 0, 0, 1, 0, 0] and numbers.untyped() == whole
    assert (len(whole), whole.nbytes(), whole.element_size()) == (8, 8, 1)


def test_tensors_take_storages():
    x = tn.arange(6.0)
    t = tn.tensor([]).set_(x.storage(), 1, (2, 2), (2, 1))
    assert t.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    t[0, 0] = 9
    assert x[1] == 9
    assert tn.tensor([]).set_(x.untyped_storage(), 4, size=(2,)).tolist() == [4.0, 5.0]
    assert tn.tensor([]).set_(x[2:], 1, (2,)).tolist() == [9.0, 2.0]  # from the storage's start
    assert tn.equal(tn.tensor([]).set_(source=x.storage()), x)
    assert tn.ones(3).set_().shape == (0,)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((tn.ones(6).long().storage(),), "Expected a Storage of type float or an UntypedStorage"),
        ((tn.ones(6).storage(), 5, (4,)), "out of bounds for storage of size 24"),
        ((tn.ones(6).storage(), -1, (4,)), "invalid storage offset -1"),
    ],
)
def test_storages_that_do_not_fit(args, says):
    t = tn.zeros(2)
    with pytest.raises(RuntimeError, match=says):
        t.set_(*args)
    assert t.tolist() == [0.0, 0.0]


def test_tensors_in_files(tmp_path):
    path = tmp_path / "numbers"
    np.arange(4, dtype=np.float32).tofile(path)
    private = tn.from_file(str(path), size=4)
    private[0] = 7
    assert tn.from_file(str(path), size=4).tolist() == [0.0, 1.0, 2.0, 3.0]
    shared = tn.from_file(str(path), shared=True, size=2)
    shared[0] = 9
    assert np.fromfile(path, np.float32).tolist() == [9.0, 1.0, 2.0, 3.0] and shared.is_shared()
    with pytest.raises(RuntimeError, match="is smaller than the required mapping size <1600>"):
        tn.from_file(str(path), size=400)
    with pytest.raises(RuntimeError, match="unable to open file .* No such file"):
        tn.from_file(str(tmp_path / "none"), size=4)


def test_addresses_of_no_elements():
    assert tn.empty(0).data_ptr() == tn.ones(3)[3:].data_ptr() == 0
