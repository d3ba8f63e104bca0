"""The Tensor itself: what it is, conversions to Python, copies, legacy constructors."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import tinynet as tn
from tinynet import dtypes, nn
from tinynet.core.printing import format_tensor


def test_dtypes_may_be_types_of_python():
    for kind, expected in ((float, tn.float64), (int, tn.int64), (bool, tn.bool)):
        made = [
            tn.zeros(2, dtype=kind), tn.tensor([1], dtype=kind), tn.ones(2).to(kind),
            tn.arange(2, dtype=kind) if kind is not bool else tn.eye(2, dtype=kind),
            tn.ones(2).new_zeros(2, dtype=kind), tn.empty_like(tn.ones(1), dtype=kind),
        ]  # fmt: skip
        assert {t.dtype for t in made} == {expected}
        assert tn.promote_types(kind, kind) is expected and tn.can_cast(kind, expected)
    assert tn.nn.Linear(1, 1, dtype=float).weight.dtype is tn.float64
    assert tn.nn.Linear(1, 1).to(float).weight.dtype is tn.float64
    assert tn.ones(2).sum(dtype=float).dtype is tn.float64
    assert tn.finfo(float).dtype == "float64" and tn.iinfo(int).dtype == "int64"
    for wrong in (str, "float32", 3, [1]):
        with pytest.raises(TypeError, match="dtype must be a tinynet.dtype"):
            tn.zeros(2, dtype=wrong)


def test_what_it_is():
    x = tn.zeros(2, 3, dtype=tn.float64)
    assert x.shape == x.size() == (2, 3) and (x.size(0), x.size(-1), x.size(-2)) == (2, 3, 2)
    for dim in (2, -3):
        with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got"):
            x.size(dim)
    assert (x.ndim, x.dim(), x.numel(), x.nelement()) == (2, 2, 6, 6)
    assert (x.itemsize, x.element_size(), x.nbytes) == (8, 8, 48)
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.t().stride() == (1, 3)
    assert x.is_contiguous() and not x.t().is_contiguous()
    assert x.is_floating_point() and not x.is_complex() and not tn.arange(2).is_floating_point()
    assert not x.is_cuda and x.layout is tn.strided and x.data_ptr() == x[0].data_ptr()
    assert x[1].data_ptr() - x.data_ptr() == 24
    assert +x is x and hash(x) == id(x) and len(x) == 2


def test_one_element_becomes_a_number():
    assert float(tn.tensor([[2.5]])) == 2.5 and int(tn.tensor([2.5])) == 2
    assert type(int(tn.tensor(2.5))) is int and tn.tensor(3).item() == 3
    assert bool(tn.tensor([0.5])) is True and bool(tn.tensor([[0]])) is False
    assert [10, 20, 30][tn.tensor(1)] == 20 and [10, 20][tn.tensor([True])] == 20
    assert f"{tn.tensor(2.0):.3f}" == "2.000" and f"{tn.tensor([2.0])}" == "tensor([2.])"
    x = tn.tensor(1.0, requires_grad=True)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert float(x) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(x.detach()) == x.item() == 1.0


@pytest.mark.parametrize(
    ("convert", "error", "message"),
    [
        (float, ValueError, "only one element tensors can be converted to Python scalars"),
        (int, ValueError, "only one element tensors can be converted to Python scalars"),
        (bool, RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
        (tn.Tensor.item, RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
        ([1, 2].__getitem__, TypeError, "only integer tensors of a single element can be conver"),
    ],
)
def test_several_elements_do_not(convert, error, message):
    with pytest.raises(error, match=f"^{message}"):
        convert(tn.ones(2))


def test_other_things_that_it_is_not():
    with pytest.raises(RuntimeError, match="^Boolean value of Tensor with no values is ambiguous$"):
        bool(tn.ones(0))
    for wrong in (tn.tensor(1.0), tn.tensor([1, 2])):
        with pytest.raises(TypeError, match="^only integer tensors of a single element can be"):
            [1, 2].__getitem__(wrong)
    with pytest.raises(TypeError, match=r"^len\(\) of a 0-d tensor$"):
        len(tn.tensor(1))
    with pytest.raises(TypeError, match="^iteration over a 0-d tensor$"):
        iter(tn.tensor(1))


def test_contains():
    x = tn.tensor([1.0, 2.0])
    assert 2.0 in x and 3.0 not in x and tn.tensor([5.0, 2.0]) in x and tn.tensor(7.0) not in x


def test_to_numpy():
    x = tn.ones(2)
    assert np.shares_memory(x.numpy(), np.asarray(x))
    assert not np.shares_memory(x.numpy(), np.array(x))
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.shares_memory(np.array(x, copy=False), x.numpy())
    with pytest.raises(ValueError, match="a copy is needed for the change of dtype"):
        np.array(x, dtype=np.int64, copy=False)
    x.requires_grad_()
    sentence = r"^Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy"
    for convert in (tn.Tensor.numpy, np.asarray):
        with pytest.raises(RuntimeError, match=sentence):
            convert(x)
    assert np.shares_memory(x.numpy(force=True), x.detach().numpy())
    assert (np.ones(2) * x.detach()).tolist() == [1.0, 1.0]


def test_deep_copies():
    x = tn.tensor([1.0, 2.0], requires_grad=True)
    x.note = ["mine"]
    (x * x).sum().backward()
    twin, same = copy.deepcopy([x, x])
    assert twin is same and twin.requires_grad and twin.is_leaf and twin.tolist() == x.tolist()
    assert not np.shares_memory(twin.detach().numpy(), x.detach().numpy())
    assert twin.grad.tolist() == [2.0, 4.0] and twin.grad is not x.grad
    assert twin.note == ["mine"] and twin.note is not x.note
    before = twin._version
    twin.grad = None
    with tn.no_grad():
        twin.add_(1)
    assert twin._version == before + 1 and x._version == 0
    with pytest.raises(RuntimeError, match="^Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)
    assert copy.deepcopy(tn.ones(1, 2).expand(3, 2)).is_contiguous()
    memo = {}
    assert x.__deepcopy__(memo) is x.__deepcopy__(memo) is copy.deepcopy(x, memo)


def test_pickles():
    x = tn.tensor([1.0, 2.0], dtype=tn.float64, requires_grad=True)
    x.note = "mine"
    back = pickle.loads(pickle.dumps(x))
    assert type(back) is tn.Tensor and back.dtype is tn.float64 and back.requires_grad
    assert back.tolist() == [1.0, 2.0] and back.note == "mine"
    assert not pickle.loads(pickle.dumps(tn.tensor(1))).requires_grad


@pytest.mark.parametrize("create", [tn.tensor, tn.Tensor, tn.FloatTensor])
def test_tensors_of_one_element_are_numbers_in_a_list(create):
    one = tn.ones(1, requires_grad=True)
    assert create([one]).shape == (1,) and create([[one, 2.0]]).tolist() == [[1.0, 2.0]]
    assert create((tn.tensor(1.0), one)).shape == (2,) and not create([one]).requires_grad
    with pytest.raises(ValueError, match="only one element tensors can be converted"):
        create([tn.ones(2)])


@pytest.mark.parametrize("n", [np.int64(3), np.uint8(3), np.array(3), tn.tensor(3)])
def test_old_constructors_take_numpy_s_integers_as_sizes(n):
    """Such as `env.action_space.n`."""
    assert tn.FloatTensor(2, n).shape == (2, 3) and tn.LongTensor(n, 2).shape == (3, 2)
    if not isinstance(n, tn.Tensor):  # a single tensor is data
        assert tn.Tensor(n).shape == tn.ones(1).new(n).shape == (3,)
    for bad in (2.0, np.float32(2), True, np.bool_(True), tn.tensor(2.0)):
        with pytest.raises(TypeError, match=rf"data must be .* \(got {type(bad).__name__}\)"):
            tn.FloatTensor(n, bad)


def test_legacy_constructors():
    assert tn.Tensor([1, 2]).dtype is tn.float32 and tn.Tensor((1, 2)).tolist() == [1.0, 2.0]
    assert tn.Tensor(2, 3).shape == tn.Tensor(tn.zeros(2, 3).shape).shape == (2, 3)
    numbers = np.array(2.0), np.array(3)  # one is data, the other a size
    assert tn.Tensor(numbers[0]).item() == 2.0 and tn.Tensor(numbers[1]).shape == (3,)
    assert tn.Tensor().shape == (0,) and tn.Tensor(tn.tensor([1, 2])).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match=r"^new\(\): invalid data type 'str'$"):
        tn.Tensor("x")
    with pytest.raises(TypeError, match=r"^new\(\): data must be a sequence \(got float\)"):
        tn.Tensor(0.5)
    with pytest.raises(RuntimeError, match=r"tensor with negative dimension -1: \[2, -1\]$"):
        tn.Tensor(2, -1)


def test_printed_history():
    x = tn.tensor([1.0], requires_grad=True)
    assert repr(x) == "tensor([1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2.], grad_fn=<MulBackward0>)"
    y = x * 1
    y[0] = 3
    assert repr(y) == "tensor([3.], grad_fn=<CopySlices>)"
    assert repr(tn.tensor([1.0], dtype=tn.float64)) == "tensor([1.], dtype=tinynet.float64)"
    assert repr(y.detach()) == "tensor([3.])"


@pytest.mark.parametrize(
    ("array", "suffix", "tail", "width"),  # the width from which on PyTorch prints one line
    [
        (np.array([1.0, 2.0], dtype=np.float32), "", ["requires_grad=True"], 37),
        (np.array([1, 2], dtype=np.int16), "dtype=torch.int16", [], 34),
        (np.array([1.0, 2.0], dtype=np.float16), "dtype=torch.float16", [], 38),
    ],
)
def test_what_follows_the_values_moves_to_a_new_line_in_time(array, suffix, tail, width):
    try:
        for linewidth in range(20, 60):
            tn.set_printoptions(linewidth=linewidth)
            assert ("\n" in format_tensor(array, suffix, tail)) == (linewidth < width)
    finally:
        tn.set_printoptions(profile="default")


@pytest.mark.parametrize("option", ["precision", "threshold", "edgeitems", "linewidth"])
def test_a_truth_value_is_no_number_of_digits(option):
    with pytest.raises(ValueError, match=f"^The '{option}' parameter .* Got True instead.$"):
        tn.set_printoptions(**{option: True})
    tn.set_printoptions(**{option: np.int64(2)})
    tn.set_printoptions(profile="default")


@pytest.mark.parametrize("dtype", dtypes.ALL[1:], ids=repr)
def test_types_by_name(dtype):
    x = tn.ones(2)
    name = tn.ones(2, dtype=dtype).type()
    assert x.type(name).dtype is x.type(name.replace("tinynet", "torch")).dtype is dtype
    assert x.type(dtype).type() == name and x.type("torch.FloatTensor") is x


@pytest.mark.parametrize("kind", [tn.Tensor, "tinynet.Tensor", "torch.Tensor"])
def test_the_type_of_all_tensors_is_the_default_dtype(kind):
    mask = tn.tensor([True, False])
    assert mask.type(kind).dtype is tn.float32 and mask.type(kind).tolist() == [1, 0]
    assert nn.Linear(1, 1, dtype=tn.float64).type(kind).weight.dtype is tn.float32
    with pytest.raises(TypeError, match="only floating-point types are supported as the default"):
        tn.set_default_tensor_type(kind)


@pytest.mark.parametrize("name", ["DoubleTensor", "cuda.DoubleTensor", "float64", ""])
def test_what_is_no_name_of_a_type(name):
    with pytest.raises(ValueError) as raised:
        tn.ones(2).type(name)
    assert str(raised.value) == f"invalid type: {name!r}"


def test_to_the_dtype_of_another_tensor():
    x, other = tn.tensor([1, 2]), tn.ones(1, dtype=tn.float64)
    assert x.to(other=other).dtype is x.to(other).dtype is tn.float64


@pytest.mark.parametrize("kind", dtypes.UNSIGNED, ids=repr)
def test_unsigned_integers_are_data(kind):
    """They convert, and do not mix with other integers. The values are PyTorch's."""
    largest = 2 ** (8 * kind.itemsize) - 1
    x = tn.tensor([1, largest], dtype=kind)
    assert x.dtype is kind and x.tolist() == [1, largest] and tn.iinfo(kind).max == largest
    assert tn.from_numpy(x.numpy()).dtype is kind and (x * 2).tolist() == [2, largest - 1]
    assert x.to(tn.uint8).tolist() == [1, 255] and (x[:1] + tn.ones(1)).dtype is tn.float32
    names = f"{kind.scalar_name} and Long"
    with pytest.raises(RuntimeError, match=f"not supported, attempted to promote {names}"):
        x + tn.tensor([1, 2])
