import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near, assert_product
from tests.unit.native_kernels.both import assert_alike, assert_gradients_alike, gradients
from tinynet.kernels import onednn
from tinynet.kernels.native import blas, gates
from tinynet.kernels.native.compiler import plain as python
from tinynet.nn.functional import rnn_ops
from tinynet.nn.functional.gated_rnn_ops import gru_sequence, lstm_sequence

SEQUENCES = {  # gates, states, biases
    "lstm": (lstm_sequence.function, 4, 2, 1),
    "gru": (gru_sequence.function, 3, 1, 2),
}
# steps, batch, inputs, size
SHAPES = [
    (4, 1, 1, 1),
    (9, 1, 5, 20),
    (3, 5, 3, 4),
    (5, 3, 7, 9),
    (9, 11, 32, 40),
    (6, 0, 2, 3),
    (40, 19, 33, 64),
]


def inputs(name, steps, batch, features, size):
    _, gates, states, biases = SEQUENCES[name]
    rng = np.random.default_rng(6)
    shapes = [(steps, batch, features), *[(1, batch, size)] * states, (gates * size, features)]
    shapes += [(gates * size, size), *[(gates * size,)] * biases]
    return [(rng.standard_normal(s) / np.sqrt(size)).astype("f4") for s in shapes]


def roundings(steps, batch, features, size):
    """Sums of one step, and of all places for a weight; what is beside them in each step."""
    return {"terms": max(4 * size + features, steps * batch), "steps": steps * STEPS}


def sequence(name, reverse):
    return lambda *tensors: SEQUENCES[name][0](*tensors, reverse)


def run(name, reverse, *arrays):
    return gradients(sequence(name, reverse), *arrays)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences(compiled, name, shape, reverse):
    arrays = inputs(name, *shape)
    assert_gradients_alike(sequence(name, reverse), *arrays, **roundings(*shape))


@pytest.mark.parametrize("name", SEQUENCES)
def test_arrays_with_gaps(compiled, name):
    arrays = inputs(name, 5, 6, 4, 8)
    arrays = [np.asfortranarray(a) for a in arrays]
    assert_gradients_alike(sequence(name, False), *arrays, **roundings(5, 6, 4, 8))


@pytest.mark.parametrize("name", SEQUENCES)
def test_nan_stays_in_its_row(compiled, name):
    arrays = inputs(name, 4, 3, 5, 8)
    arrays[0][1, 2] = np.nan
    output = run(name, False, *arrays)["output 0"]
    assert np.isnan(output[1:, 2]).all()
    assert np.isfinite(output[:, :2]).all()


@pytest.mark.parametrize("name", SEQUENCES)
def test_threads_change_nothing(compiled, name):
    assert_same_on_threads(name, inputs(name, 40, 24, 16, 64))


def assert_same_on_threads(name, arrays):
    found, before = [], tn.get_num_threads()
    for count in (1, 2):
        tn.set_num_threads(count)
        found.append(run(name, True, *arrays))
    tn.set_num_threads(before)
    of_weights = {f"gradient {i}" for i in range(SEQUENCES[name][2] + 1, len(arrays))}  # BLAS's own
    for key in found[0].keys() - of_weights:
        np.testing.assert_array_equal(found[1][key], found[0][key], err_msg=key)


@pytest.mark.parametrize("name", SEQUENCES)
def test_parts_of_the_batch(compiled, name, monkeypatch):
    monkeypatch.setattr(rnn_ops, "LARGE", 1)
    shape = 5, 2 * rnn_ops.LEAST_ROWS + 3, 4, 8
    arrays = inputs(name, *shape)
    assert_gradients_alike(sequence(name, False), *arrays, **roundings(*shape))
    assert_same_on_threads(name, arrays)


@pytest.mark.parametrize("name", SEQUENCES)
def test_second_derivatives(compiled, name):
    arrays = inputs(name, 4, 2, 3, 4)

    def second(*arrays):
        tensors = [tn.from_numpy(a.copy()).requires_grad_() for a in arrays]
        output = SEQUENCES[name][0](*tensors, False)[0]
        (g,) = tn.autograd.grad((output * output).sum(), tensors[0], create_graph=True)
        (g * g).sum().backward()
        return {str(i): t.grad.numpy() for i, t in enumerate(tensors)}

    assert_alike(second, *arrays, **roundings(2 * 4, 2, 3, 4))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", SEQUENCES)
def test_switched_before_the_backward(compiled, name, first):
    arrays = inputs(name, 5, 2, 3, 8)
    tensors = [tn.from_numpy(a).requires_grad_() for a in arrays]
    tn.backends.llvm.enabled = first
    output = SEQUENCES[name][0](*tensors, False)[0].sum()
    output.backward(retain_graph=True)
    once = tensors[0].grad.numpy().copy()
    tn.backends.llvm.enabled = not first
    output.backward()
    exact = 2 * once.astype(float)
    assert_near(tensors[0].grad.numpy(), exact, 2 * sum(roundings(5, 2, 3, 8).values()))


@pytest.mark.parametrize("name", SEQUENCES)
def test_an_input_that_wants_no_gradient(compiled, name):
    arrays = inputs(name, 5, 2, 3, 8)

    def of_weights(*arrays):
        tensors = [tn.from_numpy(a) for a in arrays]
        for t in tensors[1:]:
            t.requires_grad_()
        SEQUENCES[name][0](*tensors, False)[0].sum().backward()
        return {str(i): t.grad.numpy() for i, t in enumerate(tensors) if i}

    assert_alike(of_weights, *arrays, **roundings(5, 2, 3, 8))


def test_gates_are_exact(compiled):
    steps, size = 400, 40
    x = np.linspace(-90, 90, steps * size, dtype="f4").reshape(steps, 1, size)
    x[0, 0, :5] = [1e-4, -1e-4, 1e-7, 0, -0.5]
    zeros = np.zeros((1, 1, size), "f4")
    weights = [np.tile(np.eye(size, dtype="f4"), (4, 1)), np.zeros((4 * size, size), "f4")]
    arrays = [x, zeros, zeros, *weights, np.zeros(4 * size, "f4")]
    tensors = [tn.from_numpy(a) for a in arrays]
    output = lstm_sequence.function(*tensors, False)[0].numpy()
    c, expected = 0.0, []
    for row in x[:, 0].astype("f8"):
        gate, below = 1 / (1 + np.exp(-row)), np.tanh(row)
        c = gate * c + gate * below
        expected.append(gate * np.tanh(c))
    expected = np.array(expected)
    assert_near(output[:, 0], expected, 2 * STEPS, np.abs(expected) + 0.01)
    assert_near(output[0, 0, :3], expected[0][:3], STEPS, np.abs(expected[0][:3]))


@pytest.mark.parametrize("name", SEQUENCES)
def test_infinity_and_nan_in_sums(compiled, name):
    arrays = inputs(name, 4, 2, 3, 20)
    for place, value in (3, np.inf), (-1, -np.inf), (7, np.nan):
        arrays[-1][place] = value
    assert_gradients_alike(sequence(name, False), *arrays, **roundings(4, 2, 3, 20))


@pytest.mark.parametrize("name", SEQUENCES)
def test_plain_python_computes_the_same(compiled, name, monkeypatch):
    arrays = inputs(name, 5, 3, 4, 18)
    found = run(name, True, *arrays)
    for kernel, function in [*vars(gates).items()]:
        monkeypatch.setattr(gates, kernel, python(function))
    monkeypatch.setattr(gates, "product", python(blas.product_by_loops))
    plain = run(name, True, *arrays)
    for key in found:
        exact = found[key].astype(float)
        assert_near(plain[key], exact, sum(roundings(5, 3, 4, 18).values()), name=key)


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("inner", [7, 2 * blas.LONGEST + 1])
@pytest.mark.parametrize("product", ["product", "product_by_loops", "product_by_onednn"])
def test_products(compiled, product, inner, turned, kept):
    if product == "product_by_onednn" and not onednn.is_available():
        pytest.skip("needs onednn-cpu-gomp")
    rng = np.random.default_rng(0)
    shapes = (5, inner), (inner, 9), (5, 12)
    a, b, out = (rng.standard_normal(shape).astype("f4") for shape in shapes)
    before, part = out.copy(), out[:, 2:11]
    given = [np.ascontiguousarray(x.T) if t else x for x, t in zip((a, b), turned, strict=True)]
    getattr(blas, product)(given[0], turned[0], given[1], turned[1], part, kept)
    assert_product(part, a, b, kept * before[:, 2:11])
    np.testing.assert_array_equal(out[:, [0, 1, 11]], before[:, [0, 1, 11]])


def test_a_product_of_one_row_that_is_repeated(compiled):
    row, b = np.broadcast_to(np.float32(2), (1, 3)).copy(), np.ones((3, 4), "f4")
    row = np.lib.stride_tricks.as_strided(row, strides=(0, 4))
    out = np.empty((1, 4), "f4")
    blas.product(row, False, b, False, out, 0)
    np.testing.assert_array_equal(out, np.full((1, 4), 6))
