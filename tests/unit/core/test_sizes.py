"""Sizes, and calls that PyTorch refuses: of containment, overlapping writes, misplaced views."""

import numpy as np
import pytest

import tinynet as tn


def test_sums_and_multiples_are_sizes():
    size = tn.Size([1, 2])
    for found, expected in (
        (size + (3,), (1, 2, 3)),
        ((3,) + size, (3, 1, 2)),
        (size * 2, (1, 2, 1, 2)),
        (2 * size, (1, 2, 1, 2)),
        (size[1:], (2,)),
    ):
        assert found == expected and type(found) is tn.Size


def test_lengths_become_integers():
    size = tn.Size([tn.tensor(1), np.int64(2), True])
    assert size == (1, 2, 1) and {type(n) for n in size} == {int} and tn.Size() == ()


@pytest.mark.parametrize("lengths", [[1, 2.0], "ab", [[1]], [tn.tensor(1.5)], [1, None]])
def test_what_is_no_length(lengths):
    with pytest.raises(TypeError, match=r"^torch.Size\(\) takes an iterable of 'int' \(item"):
        tn.Size(lengths)


@pytest.mark.parametrize("other", [[1], 3])
def test_what_is_no_tuple(other):
    says = rf"^can only concatenate tuple \(not {type(other).__name__}\) to torch.Size"
    with pytest.raises(TypeError, match=says):
        tn.Size([1]) + other


def test_membership():
    x = tn.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert 3 in x and tn.tensor(2.0) in x and np.float32(4) in x and 5 not in x
    for value in ("a", [1], None):
        with pytest.raises(RuntimeError, match="only supports Tensor or scalar, but you passed in"):
            value in x  # noqa: B015


def test_reversed():
    assert reversed(tn.tensor([[1, 2], [3, 4]])).tolist() == [[3, 4], [1, 2]]
    assert reversed(tn.tensor(1)).item() == 1


INDEX = tn.tensor([2, 1, 0])
WRITES = {
    "index_add_": lambda x: x.index_add_(0, INDEX, x),
    "index_copy_": lambda x: x.index_copy_(0, INDEX, x),
    "scatter_": lambda x: x.scatter_(0, INDEX, x),
    "scatter_add_": lambda x: x.scatter_add_(0, INDEX, x),
    "scatter_reduce_": lambda x: x.scatter_reduce_(0, INDEX, x, "amax"),
    "index_reduce_": lambda x: x.index_reduce_(0, INDEX, x, "amax"),
    "put_": lambda x: x.put_(INDEX[:2], x[:2]),
}


@pytest.mark.parametrize("name", WRITES)
def test_writing_what_is_read_is_refused(name):
    x = tn.tensor([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        WRITES[name](x)
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_filling_by_an_index_that_is_filled_is_refused():
    index = INDEX.clone()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        index.index_fill_(0, index, 0)


@pytest.mark.parametrize("name", ["add_", "sub_", "mul_", "div_"])
def test_sparse_tensors_are_not_written_in_place(name):
    s = tn.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,))
    with pytest.raises(RuntimeError, match="^sparse tensors are not written in place"):
        getattr(s, name)(s)


def test_bytes_in_the_middle_of_a_number_are_no_number():
    x = tn.zeros(8, dtype=tn.uint8)
    assert x[2:6].view(tn.int16).shape == (2,)
    with pytest.raises(RuntimeError, match=r"storage_offset\(\) must be divisible by 2 to view"):
        x[1:7].view(tn.int16)


def test_flip_wants_dimensions():
    with pytest.raises(TypeError, match="missing 1 required positional arguments"):
        tn.ones(2).flip()


def test_diff_with_more_before_it():
    x = tn.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert tn.diff(x, prepend=tn.zeros(2, 1)).tolist() == [[1.0, 1.0], [3.0, 2.0]]
    with pytest.raises(RuntimeError, match=r"input.size\(0\) = 2, but got tensor.size\(0\) = 3"):
        tn.diff(x, prepend=tn.ones(3, 1))


def test_sizes_by_name_and_in_a_format():
    x = tn.ones(2)
    assert x.new(size=(3, 4)).shape == (3, 4)
    made = tn.empty(0).resize_(1, 2, 2, 2, memory_format=tn.channels_last)
    assert made.stride() == (8, 1, 4, 2)
    again = tn.empty(0).resize_as_(made, memory_format=tn.preserve_format)
    assert again.stride() == made.stride() and tn.empty(0).resize_as_(made).is_contiguous()
    with pytest.raises(RuntimeError, match="required rank 4 tensor"):
        x.resize_(3, memory_format=tn.channels_last)


def test_a_list_takes_the_numbers_of_a_size():
    numbers = [3]
    numbers += tn.Size([1, 2])
    assert numbers == [3, 1, 2] and (3, *numbers[1:]) == (3,) + tn.Size([1, 2])
