"""Declared operations: what a declaration may say, and what their functions refuse."""

import itertools
import operator
import pickle

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet.core.declaration import compiler
from tinynet.core.declaration.operation import REGISTRY, operation
from tinynet.core.trace import observing
from tinynet.nn import functional as F


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


# ---- declarations --------------------------------------------------------------------------------


NUMBERS = itertools.count()


@pytest.fixture
def declared():
    def kernel(self, /, factor):
        """Return ``self`` times a number."""
        return self * factor

    kernel.__name__ = name = f"tested_{next(NUMBERS)}"
    yield operation()(kernel)
    del REGISTRY[name]


def test_a_formula_may_only_name_what_is_known(declared):
    sentence = (
        f"a formula of {declared.name} uses 'other', which is not an input, output, shape "
        "or attribute of it; known names: factor, needs, result, self, self_shape, self_shapes"
    )
    with pytest.raises(TypeError) as raised:
        declared.grad(self=lambda g, other: g)
    assert str(raised.value) == sentence
    with pytest.raises(TypeError, match="uses 'other'"):
        declared.grads(lambda g, other: (g,))
    with pytest.raises(TypeError, match="has no tensor input 'factor' to differenti"):
        declared.grad(factor=lambda g: g)
    assert declared.formulas is None


@pytest.mark.parametrize(
    "name, title",
    [
        ("exp", "exp"),
        ("affine_map", "addmm"),
        ("max_pool2d", "max_pool2d_with_indices"),
        ("max_pool_backward2d", "max_pool2d_with_indices_backward"),
        ("reflect_pad1d", "reflection_pad1d"),
        ("im2col", "im2col"),
        ("i0e", "special_i0e"),
        ("upsample_bicubic_smooth2d", "upsample_bicubic2d_aa"),
        ("kept", "copy"),
        ("diagonal_copy", "diagonal_copy"),
    ],
)
def test_an_internal_form_is_called_by_its_node(name, title):
    assert REGISTRY[name].title == title


def test_a_declaration_is_all_that_an_operation_needs(declared):
    assert repr(declared) == f"<operation {declared.name}>" and declared.title == declared.name
    assert not declared.saves_first
    declared.grad(self=lambda g, factor: g * factor)
    assert not declared.saves_first
    x = leaf()
    y = declared.function(x, 5)
    assert y.grad_fn.name() == f"{declared.name.title().replace('_', '')}Backward0"
    assert y.grad_fn._saved_factor == 5
    y.sum().backward()
    assert x.grad.tolist() == [5.0] * 3
    assert not hasattr(tn.Tensor, declared.name)


def test_a_formula_can_name_shapes_and_the_result(declared):
    declared.grad(self=lambda g, self, self_shape, result: g * result / self + len(self_shape))
    assert declared.saves_first
    x = leaf()
    declared.function(x, 4).sum().backward()
    assert x.grad.tolist() == [5.0] * 3


def test_a_name_is_declared_once(declared):
    def another(self, /, factor):
        return self * factor

    another.__name__ = declared.name
    with pytest.raises(ValueError, match=f"operation '{declared.name}' is declared twice"):
        operation(public=True)(another)


def test_an_operation_runs_its_kernel_on_arrays(declared):
    array = np.ones(3)
    assert type(declared(array, 2)) is np.ndarray
    assert declared(np.float64(3.0), 2).item() == 6.0
    assert type(declared(tn.ones(3), 2)) is tn.Tensor


# ---- what functions refuse -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (lambda: tn.exp(3.0), TypeError, r"exp\(\): argument 'input' \(position 1\) must be Ten"),
        (lambda: tn.matmul(tn.ones(2), 3), TypeError, r"argument 'other' \(position 2\) must be"),
        (
            lambda: tn.add(tn.ones(2), "1"),
            TypeError,
            r"'other' \(position 2\) must be Tensor, not str",
        ),
        (
            lambda: tn.maximum(tn.ones(2), 2),
            TypeError,
            r"'other' \(position 2\) must be Tensor, not",
        ),
        (
            lambda: tn.tensor([True]) - True,
            RuntimeError,
            "Subtraction, .* with two bool tensors is",
        ),
        (
            lambda: True - tn.tensor([True]),
            RuntimeError,
            "Subtraction, .* with two bool tensors is",
        ),
        (lambda: 1 - tn.tensor([True]), RuntimeError, "Subtraction, .* with a bool tensor is not"),
        (lambda: True - tn.ones(1), RuntimeError, "Subtraction, .* with a bool tensor is not"),
        (lambda: tn.ones(1) - True, RuntimeError, "Subtraction, .* with a bool tensor is not"),
        (
            lambda: tn.ones(3, 2) + tn.ones(3),
            RuntimeError,
            r"tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dimension 1",
        ),
        (
            lambda: tn.ones(3) + tn.ones(3, 2),
            RuntimeError,
            r"tensor a \(3\) must match the size of tensor b \(2\) at non-singleton dimension 1",
        ),
        (lambda: tn.ones(2) + tn.ones(3), RuntimeError, r"The size of tensor a \(2\) must match"),
        (
            lambda: tn.ones(4, 2, 3) * tn.ones(5, 1, 3),
            RuntimeError,
            r"tensor a \(4\) must match the size of tensor b \(5\) at non-singleton dimension 0",
        ),
        (
            lambda: tn.tensor([2]) ** -1,
            RuntimeError,
            "Integers to negative integer powers are not allowed",
        ),
        (
            lambda: tn.bitwise_and(tn.ones(2), tn.ones(2)),
            NotImplementedError,
            "\"bitwise_and_cpu\" not implemented for 'Float'",
        ),
    ],
)
def test_what_operations_refuse(run, error, message):
    with pytest.raises(error, match=message):
        run()


def test_operators_leave_strangers_to_the_other_side():
    class Stranger:
        def __radd__(self, other):
            return "radd"

        def __rmul__(self, other):
            return "rmul"

    x = tn.ones(2)
    assert (x + Stranger(), x * Stranger()) == ("radd", "rmul")
    with pytest.raises(TypeError, match="unsupported operand"):
        x - "text"
    with pytest.raises(TypeError, match="unsupported operand"):
        x -= "text"
    assert (2 - x).tolist() == [1.0, 1.0] and (2**x).tolist() == [2.0, 2.0]
    assert (np.float64(3.0) - x).tolist() == [2.0, 2.0]


def test_numbers_take_the_dtype_of_tensors():
    assert (tn.ones(2) + 1).dtype is (1 + tn.ones(2)).dtype is tn.float32
    assert (tn.tensor([1]) + 1).dtype is tn.int64
    assert (tn.tensor([1]) + 0.5).dtype is (tn.tensor([1]) / 2).dtype is tn.float32
    assert (tn.tensor([True]) + 1).dtype is tn.int64
    assert tn.where(tn.tensor([True]), tn.tensor([1.0]), 2).dtype is tn.float32
    assert tn.where(tn.tensor([True]), 1, tn.tensor([2], dtype=tn.int32)).dtype is tn.int32


# ---- in place ------------------------------------------------------------------------------------


def test_an_in_place_operation_without_derivative_ends_the_old_history():
    x = leaf()
    y = x * 1
    y.eq_(tn.tensor([1.0, 0.0, 3.0]))
    assert y.tolist() == [1.0, 0.0, 1.0] and y.requires_grad and y._version == 1
    assert y.grad_fn.name() == "EqBackward1" or y.grad_fn.name().startswith("Eq")
    (y * 5).sum().backward()
    assert x.grad.tolist() == [0.0] * 3


def test_in_place_results_that_the_derivative_needs():
    a = leaf()
    y = a * 1
    y.exp_()
    y.sum().backward()
    assert a.grad.tolist() == near(np.exp(a.tolist()))
    z = a * 1
    z.sigmoid_()
    z.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1 instead"):
        z.sum().backward()


# ---- derivatives on tensors ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: F.cross_entropy(a, tn.tensor([0, 2])) * b,
        lambda a, b: F.mse_loss(a, b),
        lambda a, b: F.mse_loss(a, tn.ones(2, 3), reduction="sum") * b,
        lambda a, b: tn.cat([a * b, b]) ** 2,
        lambda a, b: a.unbind()[0] * b.unbind(1)[1][0] ** 2,
        lambda a, b: (a * b).split(2, 1)[0] ** 2,
        lambda a, b: (a * b).max(1)[0] ** 2,
        lambda a, b: tn.where(a > 1, a * b, b * b),
        lambda a, b: (a.t() @ b).expand(2, 3, 3).exp(),
        lambda a, b: F.gelu(a * b),
    ],
)
def test_second_derivatives_of_operations_of_each_kind(function):
    a = (tn.arange(6.0, dtype=tn.float64).reshape(2, 3) / 3 + 0.5).requires_grad_()
    b = (1.7 - a.detach() ** 2 / 5).requires_grad_()
    assert tn.autograd.gradcheck(function, (a, b))
    assert tn.autograd.gradgradcheck(function, (a, b))


def test_saved_values_are_freed_by_a_recorded_pass_too():
    a = leaf()
    y = (a * a).sum()
    (g,) = tn.autograd.grad(y, a, create_graph=True, retain_graph=False)
    assert g.requires_grad
    with pytest.raises(RuntimeError, match="already been freed") as raised:
        tn.autograd.grad(y, a, create_graph=True)
    assert raised.value.topic == "freed-graph"


# ---- observers -----------------------------------------------------------------------------------


def test_observers_are_told_numbers_lists_and_options():
    told = []
    with observing(lambda op, ins, outs, rest: told.append((op.name, ins, outs, rest))):
        x = tn.ones(2, 3)
        told.clear()
        y = x * 3
        z = tn.cat([x, y], dim=1)
        s = z.sum(dim=0, keepdim=True)
    (mul, cat, total) = told[0], told[1], told[-1]
    assert mul[1][0] is x._array and len(mul[1]) == 1 and mul[3] == {"other": 3}
    assert [i is j._array for i, j in zip(cat[1], (x, y), strict=True)] == [True, True]
    assert cat[2][0] is z._array and cat[3] == {"dim": 1}
    assert total[3]["keepdim"] is True and total[2][0].shape == s.shape


def test_observers_nest_and_end_on_their_own():
    outer, inner = [], []
    with observing(lambda op, *_: outer.append(op.name)):
        with observing(lambda op, *_: inner.append(op.name)):
            tn.ones(2).exp()
        tn.ones(2).log()
    tn.ones(2).sin()
    assert (outer, inner) == (["exp", "log"], ["exp"])


# ---- several outputs -----------------------------------------------------------------------------


@pytest.fixture
def two_outputs():
    """sin and cos of the same input, and where it is positive: two gradients arrive, or one."""

    @operation(outputs=("s", "c", "positive"), differentiable=2)
    def tested_pair(self, /):
        """Return the sine, the cosine, and the sign."""
        return np.sin(self), np.cos(self), self > 0

    tested_pair.grad(self=lambda g, s, c: g[0] * c - g[1] * s)
    yield tested_pair.function
    del REGISTRY["tested_pair"]


def test_several_outputs_are_differentiable(two_outputs):
    x = tn.tensor([0.3, -1.2], dtype=tn.float64, requires_grad=True)
    s, c, positive = two_outputs(x)
    assert (s.output_nr, c.output_nr) == (0, 1) and s.grad_fn is c.grad_fn
    assert positive.grad_fn is None and not positive.requires_grad
    (s * c).sum().backward()
    assert x.grad.tolist() == pytest.approx(np.cos(2 * x.detach().numpy()).tolist())


def test_an_output_without_gradient_counts_as_zero(two_outputs):
    x = tn.tensor([0.3, -1.2], dtype=tn.float64, requires_grad=True)
    two_outputs(x)[1].sum().backward()
    assert x.grad.tolist() == pytest.approx((-np.sin(x.detach().numpy())).tolist())


def test_derivatives_of_several_outputs_have_derivatives(two_outputs):
    x = tn.tensor([0.3, -1.2], dtype=tn.float64, requires_grad=True)
    for number in (0, 1):
        assert tn.autograd.gradgradcheck(lambda x, n=number: two_outputs(x)[n], (x,))
    assert tn.autograd.gradgradcheck(lambda x: two_outputs(x)[:2], (x,))


def test_a_changed_output_is_noticed(two_outputs):
    x = tn.tensor([0.3], requires_grad=True)
    s, c, _ = two_outputs(x)
    c.detach().zero_()
    with pytest.raises(RuntimeError, match="output 1 of TestedPairBackward0, is at version 1"):
        s.sum().backward()


@pytest.mark.parametrize("name", ["n", "g", "result"])
def test_a_formula_may_not_use_names_that_the_compiler_needs(name):
    source = f"def tested_{name}(self, /, n, g): return self * n, g"
    scope = {}
    exec(source, scope)
    declared = operation(outputs=("result", "other"))(scope[f"tested_{name}"])
    try:
        with pytest.raises(TypeError, match=f"uses the name {name!r}, which is reserved"):
            declared.grad(self=eval(f"lambda grad, {name}: grad"))
    finally:
        del REGISTRY[declared.name]


def test_functions_can_be_pickled():
    for function in (tn.tanh, tn.mul, tn.softmax, tn.nn.functional.relu, tn.cat):
        assert pickle.loads(pickle.dumps(function)) is function
    layer = tn.nn.TransformerEncoderLayer(4, 2, activation=tn.tanh)
    assert pickle.loads(pickle.dumps(layer)).activation is tn.tanh


@pytest.mark.parametrize("name", "c edges f m o out r t v freed results wanted".split())
def test_each_of_these_names_is_refused(name):
    scope = {}
    exec(f"def tested_{name}(self, /, {name}): return self", scope)
    declared = operation()(scope[f"tested_{name}"])
    try:
        with pytest.raises(TypeError, match=f"uses the name {name!r}, which is reserved"):
            declared.grad(self=eval(f"lambda grad, {name}: grad"))
    finally:
        del REGISTRY[declared.name]


# ---- operators ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split(),
)
def test_operators_have_their_reflected_and_their_in_place_forms(name):
    forward = getattr(operator, f"{name}_" if name in ("and", "or") else name)
    augmented = getattr(operator, f"i{name}")
    a, b = tn.tensor([[6, 3], [2, 5]]), tn.tensor([[1, 2], [2, 1]])
    expected = forward(a.numpy(), b.numpy())
    assert forward(a, b).tolist() == expected.tolist()
    if name == "matmul":  # of tensors only, as in PyTorch
        return
    assert forward(a.numpy(), b).tolist() == expected.tolist()  # an array: the reflected form
    if name != "truediv":
        target = a.clone()
        assert augmented(target, b) is target and target.tolist() == expected.tolist()
    for stranger in ("a", None, [1]):
        with pytest.raises(TypeError):
            forward(a, stranger)
        if name != "mod":  # of a text: formatting
            with pytest.raises(TypeError):
                forward(stranger, a)
        with pytest.raises(TypeError):
            augmented(a.clone(), stranger)


def test_what_is_no_tensor_is_called_by_the_name_of_its_parameter():
    for call, shown in (
        (lambda: tn.exp("a"), "input"),
        (lambda: tn.mul("a", tn.ones(1)), "input"),
        (lambda: tn.mm([1.0], tn.ones(1, 1)), "input"),
        (lambda: tn.mm(tn.ones(1, 1), 2.0), "mat2"),
    ):
        place = 1 if shown == "input" else 2
        with pytest.raises(TypeError, match=rf"'{shown}' \(position {place}\) must be Tensor"):
            call()


def test_threads_may_meet_at_the_first_call_of_an_operation(declared, monkeypatch):
    """Whoever finds the node class in the namespace must find it whole."""
    declared.grad(self=lambda g, factor: g * factor)
    found, execute = [], compiler._execute

    def watched(title, source):
        if title == f"{declared.name} backward":
            found.append(f"{declared.name}_node" in compiler.NAMESPACE)
        return execute(title, source)

    monkeypatch.setattr(compiler, "_execute", watched)
    declared.function(leaf(), 2).sum().backward()
    assert found == [False] and f"{declared.name}_node" in compiler.NAMESPACE


def test_a_number_on_the_left_of_a_sum_or_product_is_the_other_operand():
    x = tn.ones(2, requires_grad=True)
    for y in (2 * x, 2 + x):
        (first, _), (second, _) = y.grad_fn.next_functions
        assert first.variable is x and second is None
