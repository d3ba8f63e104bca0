"""Keepers of saved values: packing hooks, fingerprints; generators and numpy's own reports."""

import json
import pickle
import warnings

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, near
from tinynet import nn
from tinynet.autograd import graph
from tinynet.random import Generator


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


# ---- packing -------------------------------------------------------------------------------------


def test_what_is_packed_knows_its_history():
    packed = []
    a = leaf()
    b = a * 2
    with graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        c = b * b.detach()
        d = c.exp()
    assert [t.tolist() for t in packed] == [[2.0, 4.0, 6.0], c.exp().tolist()]
    assert not packed[0].requires_grad  # the constant operand of b * b.detach()
    d.sum().backward()
    assert a.grad.tolist() == near((d * b * 2).tolist(), 2 * STEPS)


def test_nothing_is_recorded_while_packing_and_unpacking():
    found = []

    def note(t):
        found.append(tn.is_grad_enabled())
        return t

    a = leaf()
    with graph.saved_tensors_hooks(note, note):
        y = (a * a).sum()
    tn.autograd.grad(y, a, create_graph=True)
    assert found and not any(found)


def test_an_unpacked_value_is_a_tensor():
    a = leaf()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t.tolist()):
        y = (a * a).sum()
    sentence = "^Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
    with pytest.raises(TypeError, match=sentence + r"list(\n|$)"):
        y.backward()


def test_packing_ends_with_its_block_and_keeps_the_grad_mode():
    packed = []
    a = leaf()
    with graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        with tn.no_grad():
            assert not (a * a).requires_grad
        with tn.no_grad(), tn.enable_grad():
            a * a
    assert len(packed) == 2
    a * a
    assert len(packed) == 2 and tn.is_grad_enabled() is True
    with tn.no_grad():
        with graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
            a * a
        assert not tn.is_grad_enabled()
    assert len(packed) == 2


def test_packed_values_are_freed_like_others():
    a = leaf()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (a * a).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


# ---- fingerprints --------------------------------------------------------------------------------


def test_an_unseen_write_is_told_with_its_lines():
    a = leaf()
    with tn.autograd.checked():
        b = a.exp()
        b.data[0] = 7
        with pytest.raises(RuntimeError, match="without autograd's knowledge: the con") as raised:
            b.sum().backward()
    error = raised.value
    rows = [line.split()[:2] for line in str(error).splitlines()[1:]]
    assert ["saved", "test_keeping.py:" + str(error.saved_at.line)] in rows
    assert ["changed", "between"] in rows
    assert ["needed", "test_keeping.py:" + str(error.needed_at.line)] in rows
    assert error.saved_at.text == "b = a.exp()" and error.needed_at.text == "b.sum().backward()"
    assert "[tinynet.FloatTensor [3]] differ" in str(error) and error.topic == "unseen-change"
    assert error.hint.startswith("writes through `.data`, or to a numpy array that shares")


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_seen_write_is_told_as_ever(create_graph):
    a = leaf()
    with tn.autograd.checked():
        b = a * 1
        c = b * b
        b.add_(1)
        sentence = "which is output 0 of AddBackward0, is at version 1; expected version 0"
        with pytest.raises(RuntimeError, match=sentence):
            tn.autograd.grad(c.sum(), a, create_graph=create_graph)


def test_checked_values_of_no_elements_and_of_other_layouts():
    a = tn.ones(2, 3, requires_grad=True)
    empty = tn.ones(0, requires_grad=True)
    with tn.autograd.checked():
        y = (a.t() * a.t()).sum() + (empty * empty).sum()
        y.backward()
    assert a.grad.tolist() == [[2.0] * 3] * 2 and empty.grad.shape == (0,)


# ---- generators ----------------------------------------------------------------------------------


def test_a_state_goes_through_json():
    g = Generator().manual_seed(3)
    tn.rand(5, generator=g)
    state = json.loads(json.dumps(g.state_dict()))
    first = tn.rand(4, generator=g)
    other = Generator()
    assert other.initial_seed() == 67280421310721
    other.load_state_dict(state)
    assert (tn.rand(4, generator=other) == first).all() and other.initial_seed() == 3
    tn.manual_seed(3)
    kept = tn.get_rng_state()
    first = tn.rand(2)
    tn.set_rng_state(kept)
    assert (tn.rand(2) == first).all() and tn.initial_seed() == 3


@pytest.mark.parametrize("seed", [0, -1, -(2**63), 2**64 - 1, np.int64(5)])
def test_seeds(seed):
    g = Generator("cpu").manual_seed(seed)
    again = Generator(None).manual_seed(seed)
    assert (tn.rand(3, generator=g) == tn.rand(3, generator=again)).all()
    assert g.initial_seed() == int(seed) % 2**64 and type(g.initial_seed()) is int


def test_negative_seeds_count_from_the_end():
    g, same = Generator().manual_seed(-3), Generator().manual_seed(2**64 - 3)
    assert (tn.rand(3, generator=g) == tn.rand(3, generator=same)).all()


def test_different_seeds_give_different_streams():
    seeds = [*range(3), *(2**n + 1 for n in range(2, 64)), *(-(2**n) for n in range(64))]
    assert len({tn.rand((), generator=Generator().manual_seed(s)).item() for s in seeds}) > 120


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_of_more_than_64_bits(seed):
    with pytest.raises(ValueError, match="^Overflow when unpacking long long"):
        Generator().manual_seed(seed)


@pytest.mark.parametrize("seed", [0.5, "1", None])
def test_what_is_no_seed(seed):
    with pytest.raises(RuntimeError) as raised:
        Generator().manual_seed(seed)
    name = type(seed).__name__
    assert str(raised.value) == f"manual_seed expected a long, but got {name}"


def test_negative_seeds_wrap():
    assert tn.manual_seed(-1).initial_seed() == 2**64 - 1
    assert tn.manual_seed(7.5).initial_seed() == 7  # as PyTorch's function, which calls int()


def test_states_are_tensors_of_bytes_or_plain_data():
    g = Generator(device="cpu").manual_seed(7)
    tn.rand(3, generator=g)
    tn.randint(5, (3,), generator=g)
    tensor, plain = g.get_state(), g.state_dict()
    others = pickle.loads(pickle.dumps(g)), g.clone_state(), Generator().set_state(plain)
    expected = tn.rand(9, generator=g)
    for other in (*others, Generator().set_state(tensor.clone())):
        assert other.device == tn.device("cpu") and other.initial_seed() == 7
        assert tn.equal(tn.rand(9, generator=other), expected)
    assert tensor.dtype == tn.uint8 and not tn.equal(tensor, g.get_state())


def test_states_of_other_generators_are_refused():
    with pytest.raises(TypeError, match="^RNG state must be a tensor of bytes"):
        tn.set_rng_state(tn.zeros(48))
    with pytest.raises(RuntimeError, match="but found 5056. PyTorch's generators are others"):
        tn.set_rng_state(tn.zeros(5056, dtype=tn.uint8))


def test_seeds_from_the_system_and_other_devices():
    g = Generator()
    assert 0 <= g.seed() < 2**63 and g.initial_seed() != g.seed()
    assert tn.seed() == tn.initial_seed()
    with pytest.raises(
        RuntimeError, match="^tinynet runs on the cpu only. Got device 'cuda' instead"
    ):
        Generator("cuda")
    cpu = tn.device("cpu:0")
    assert (cpu.type, cpu.index, str(cpu)) == ("cpu", 0, "cpu:0")
    assert repr(cpu) == "device(type='cpu', index=0)"


def test_other_devices_have_a_name_and_hold_nothing():
    cuda = tn.device("cuda", 1)
    assert (cuda.type, cuda.index, str(cuda)) == ("cuda", 1, "cuda:1")
    assert repr(tn.device("cuda")) == "device(type='cuda')" and cuda == tn.device("cuda:1")
    assert cuda != tn.device("cuda") and len({cuda, tn.device("cuda:1")}) == 1
    refused = "^tinynet runs on the cpu only. Got device 'cuda:1' instead"
    for use in (tn.ones(1).to, nn.Linear(1, 1).to, lambda d: tn.zeros(1, device=d)):
        with pytest.raises(RuntimeError, match=refused):
            use(cuda)
    with pytest.raises(RuntimeError, match=refused), cuda:
        pass
    for wrong in ("bogus", "cuda:x", 0):
        with pytest.raises(RuntimeError, match="Expected one of|Invalid device|Cannot access"):
            tn.device(wrong)
    with tn.device("cpu"):
        assert tn.ones(1).device == tn.device("cpu")


# ---- numpy's floating-point reports --------------------------------------------------------------


def test_division_by_zero_is_silent_here_and_warned_of_in_the_users_own_numpy():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (tn.ones(1) / 0).item() == float("inf")
        assert tn.log(tn.zeros(1)).item() == -float("inf")
        (tn.zeros(1, requires_grad=True) / tn.zeros(1)).sum().backward()
    with pytest.warns(RuntimeWarning, match="^divide by zero encountered$") as caught:
        np.ones(1) / np.zeros(1)
    assert caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="^invalid value encountered$") as caught:
        np.linalg.norm(np.array([np.inf]) - np.array([np.inf]))
    assert caught[0].filename == __file__
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        np.ones(1) / np.zeros(1)
