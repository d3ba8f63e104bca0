"""autograd.functional: values, structures and refusals, as PyTorch 2.13 gives them."""

import pytest

import tinynet as tn
from tinynet.autograd import functional


def T(values, requires_grad=False):
    return tn.tensor(values, dtype=tn.float64, requires_grad=requires_grad)


def listed(result):
    """The numbers of a result, in its own structure of tuples."""
    if isinstance(result, tuple):
        return tuple(listed(x) for x in result)
    return [round(x, 6) for x in result.reshape(-1).tolist()]


def shapes(result):
    return (
        tuple(map(shapes, result))
        if isinstance(result, tuple)
        else tuple(int(n) for n in result.shape)
    )


def cubes(x):
    return (x**3).sum()


def mixed(x, y):
    return (x * x * y).sum()


def both(x, y):
    return x * y.sum(), (y**2).sum()


X, Y = [0.5, -1.0, 2.0], [1.5, 0.25, -2.0]


def test_vjp():
    out, product = functional.vjp(lambda x: x * x, T(X), T([1, 2, 3]))
    assert listed((out, product)) == ([0.25, 1.0, 4.0], [1.0, -4.0, 12.0])
    out, product = functional.vjp(cubes, T(X))
    assert listed((out, product)) == ([7.125], [0.75, 3.0, 12.0])
    out, product = functional.vjp(both, (T(X), T(Y)), (T([1, 0, 1]), T(2.0)))
    assert listed(out) == ([-0.125, 0.25, -0.5], [6.3125])
    assert listed(product) == ([-0.25, 0.0, -0.25], [8.5, 3.5, -5.5])


def test_jvp():
    out, product = functional.jvp(lambda x: x * x, T(X), T([1, 2, 3]))
    assert listed((out, product)) == ([0.25, 1.0, 4.0], [1.0, -4.0, 12.0])
    out, product = functional.jvp(both, (T(X), T(Y)), (T([1, 0, 1]), T([1, 1, 1])))
    assert listed(product) == ([1.25, -3.0, 5.75], [-0.5])
    assert listed(functional.jvp(lambda x: (x, x * 2), T(3.0))) == (([3.0], [6.0]), ([1.0], [2.0]))


def test_the_two_products_with_a_hessian():
    for product in (functional.vhp, functional.hvp):
        out, found = product(cubes, T(X), T([1, 2, 3]))
        assert listed((out, found)) == ([7.125], [3.0, -12.0, 36.0])
        out, found = product(mixed, (T(X), T(Y)), (T([1, 0, 1]), T([0, 1, 1])))
        assert listed(out) == [-7.375]
        assert listed(found) == ([3.0, -2.0, 0.0], [1.0, 0.0, 4.0])


def test_jacobian_has_the_structure_of_outputs_and_inputs():
    assert listed(functional.jacobian(lambda x: x * x, T(X))) == [1, 0, 0, 0, -2, 0, 0, 0, 4]
    assert shapes(functional.jacobian(cubes, T(X))) == (3,)
    assert shapes(functional.jacobian(lambda x: x * x, (T(X),))) == ((3, 3),)
    found = functional.jacobian(both, (T(X), T(Y)))
    assert shapes(found) == (((3, 3), (3, 3)), ((3,), (3,)))
    assert listed(found[1]) == ([0, 0, 0], [3.0, 0.5, -4.0])
    assert shapes(functional.jacobian(lambda x: x @ x.t(), T([X, Y]))) == (2, 2, 2, 3)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_strategies_agree(strategy):
    inputs = (T(X), T(Y))
    plain = functional.jacobian(both, inputs)
    other = functional.jacobian(both, inputs, vectorize=True, strategy=strategy)
    assert listed(other) == listed(plain) and shapes(other) == shapes(plain)
    plain = functional.hessian(mixed, inputs)
    other = functional.hessian(mixed, inputs, vectorize=True, outer_jacobian_strategy=strategy)
    assert listed(other) == listed(plain) and shapes(other) == shapes(plain)


def test_hessian():
    assert listed(functional.hessian(cubes, T(X))) == [3, 0, 0, 0, -6, 0, 0, 0, 12]
    assert shapes(functional.hessian(cubes, T([X, Y]))) == (2, 3, 2, 3)
    found = functional.hessian(mixed, (T(X), T(Y)))
    assert shapes(found) == (((3, 3), (3, 3)), ((3, 3), (3, 3)))
    assert listed(found[0][0]) == [3.0, 0, 0, 0, 0.5, 0, 0, 0, -4.0]
    assert listed(found[0][1]) == [1, 0, 0, 0, -2, 0, 0, 0, 4]


def test_results_have_a_history_only_with_create_graph():
    x = T(X, requires_grad=True)
    assert not functional.vjp(cubes, x)[1].requires_grad
    out, product = functional.vjp(cubes, x, create_graph=True)
    (again,) = tn.autograd.grad(product.sum(), x)
    assert out.requires_grad and listed(again) == [3.0, -6.0, 12.0]
    jacobian = functional.jacobian(lambda x: x * x, x, create_graph=True)
    assert listed(tn.autograd.grad(jacobian.sum(), x)[0]) == [2.0, 2.0, 2.0]
    hessian = functional.hessian(cubes, x, create_graph=True)
    assert listed(tn.autograd.grad(hessian.sum(), x)[0]) == [6.0, 6.0, 6.0]
    with tn.no_grad():
        assert listed(functional.jacobian(cubes, x)) == [0.75, 3.0, 12.0]
    assert x.grad is None


def test_what_a_function_captured_is_not_an_input():
    x = T(X, requires_grad=True)
    assert listed(functional.jacobian(lambda y: y * x, x)) == [0.5, 0, 0, 0, -1, 0, 0, 0, 2]


NOT_STRICT = "This is not allowed in strict mode."


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            lambda: functional.vjp(lambda x, y: x * x, (T(X), T(Y)), T(X), strict=True),
            f"The output of the user-provided function is independent of input 1. {NOT_STRICT}",
        ),
        (
            lambda: functional.vjp(lambda x: T(X), T(X), T(X), strict=True),
            "Output 0 of the user-provided function does not require gradients. The outputs must "
            "be computed in a differentiable manner from the input when running in strict mode.",
        ),
        (
            lambda: functional.vjp(lambda x: 2 * x, T(X), T(X), create_graph=True, strict=True),
            "The jacobian of the user-provided function is independent of input 0. This is not "
            "allowed in strict mode when create_graph=True.",
        ),
        (
            lambda: functional.jvp(lambda x, y: x * x, (T(X), T(Y)), (T(X), T(Y)), strict=True),
            f"The output of the user-provided function is independent of input 1. {NOT_STRICT}",
        ),
        (
            lambda: functional.jacobian(lambda x, y: x * x, (T(X), T(Y)), strict=True),
            "Output 0 of the user-provided function is independent of input 1. " + NOT_STRICT,
        ),
        (
            lambda: functional.hessian(lambda x: (2 * x).sum(), T(X), strict=True),
            "While computing the hessian, found that the jacobian of the user-provided function "
            "with respect to input 0 is independent of the input. This is not allowed in strict "
            "mode. You should ensure that your function is twice differentiable and that the "
            "jacobian depends on the inputs (this would be violated by a linear function for "
            "example).",
        ),
        (
            lambda: functional.vhp(lambda x: (x * x).sum(), T(X), T(X), True, strict=True),
            "The hessian of the user-provided function is independent of input 0. This is not "
            "allowed in strict mode when create_graph=True.",
        ),
    ],
)
def test_strict_mode_refuses_what_is_independent(run, message):
    with pytest.raises(RuntimeError) as caught:
        run()
    assert str(caught.value) == message


def test_without_strict_mode_these_are_zeros():
    assert listed(functional.vjp(lambda x, y: x * x, (T([1.0]), T([2.0])))[1]) == ([2.0], [0.0])
    assert listed(functional.jvp(lambda x: T([1.0, 2.0]), T(3.0))[1]) == [0.0, 0.0]
    assert listed(functional.hessian(lambda x: (2 * x).sum(), T(X))) == [0.0] * 9
    assert listed(functional.hvp(lambda x: x.sum(), T(X), T(X))[1]) == [0.0] * 3


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (
            lambda: functional.vjp(cubes, [T(X)]),
            TypeError,
            "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the given "
            "inputs has type <class 'list'>.",
        ),
        (
            lambda: functional.jacobian(cubes, (T(X), 3)),
            TypeError,
            "The inputs given to jacobian must be either a Tensor or a tuple of Tensors but the "
            "value at index 1 has type <class 'int'>.",
        ),
        (
            lambda: functional.jvp(lambda x: None, T(X), T(X)),
            TypeError,
            "The outputs of the user-provided function given to jvp must be either a Tensor or a "
            "tuple of Tensors but the given outputs of the user-provided function has type "
            "<class 'NoneType'>.",
        ),
        (
            lambda: functional.vjp(lambda x: x, T(X)),
            RuntimeError,
            "The vector v can only be None if the user-provided function returns a single Tensor "
            "with a single element.",
        ),
        (
            lambda: functional.hvp(cubes, T(X)),
            RuntimeError,
            "The vector v can only be None if the input to the user-provided function is a single "
            "Tensor with a single element.",
        ),
        (
            lambda: functional.vjp(lambda x: x, T(X), T([1.0])),
            RuntimeError,
            "v has invalid size: should be tinynet.Size([3]) but got tinynet.Size([1]).",
        ),
        (
            lambda: functional.jvp(mixed, (T(X), T(Y)), (T(X), T(1.0))),
            RuntimeError,
            "Entry 1 in v has invalid size: should be tinynet.Size([3]) but got tinynet.Size([]).",
        ),
        (
            lambda: functional.jvp(mixed, (T(X), T(Y)), T(X)),
            RuntimeError,
            "v is a tuple of invalid length: should be 2 but got 1.",
        ),
        (
            lambda: functional.vjp(lambda x: x, T(X), (T(X), T(X))),
            RuntimeError,
            "The given v should contain a single Tensor.",
        ),
        (
            lambda: functional.hessian(lambda x: (x.sum(),), T(X)),
            RuntimeError,
            "The function given to hessian should return a single Tensor",
        ),
        (
            lambda: functional.vhp(lambda x: x, T(X), T(X)),
            RuntimeError,
            "The Tensor returned by the function given to vhp should contain a single element",
        ),
        (
            lambda: functional.hessian(cubes, T(X), outer_jacobian_strategy="sideways"),
            AssertionError,
            'Expected strategy to be either "forward-mode" or "reverse-mode".',
        ),
        (
            lambda: functional.jacobian(cubes, T(X), strategy="sideways"),
            AssertionError,
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".',
        ),
        (
            lambda: functional.jacobian(cubes, T(X), True, strategy="forward-mode"),
            NotImplementedError,
            "tinynet.autograd.functional.jacobian: `create_graph=True` and "
            '`strategy="forward-mode"` are not supported together (yet). Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.',
        ),
        (
            lambda: functional.jacobian(cubes, T(X), strategy="forward-mode"),
            NotImplementedError,
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`.",
        ),
        (
            lambda: functional.jacobian(cubes, T(X), strict=True, vectorize=True),
            RuntimeError,
            "tinynet.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`.",
        ),
    ],
)
def test_refusals(run, error, message):
    with pytest.raises(error) as caught:
        run()
    assert str(caught.value) == message


def test_a_linearized_function():
    x, y = tn.tensor([1.0, 2.0]), tn.tensor([3.0, 4.0])
    value, product = tn.func.linearize(lambda a, b: {"p": a * b}, x, y)
    assert value["p"].tolist() == [3.0, 8.0]
    for _ in range(2):
        assert product(tn.ones(2), tn.zeros(2))["p"].tolist() == [3.0, 4.0]
    for wrong in ((tn.ones(3), y), (x.double(), y), (x,)):
        with pytest.raises(RuntimeError, match="doesn't match|same argspec"):
            product(*wrong)


def test_parts_of_jacobians_that_libraries_import():
    x, y = tn.ones(2, 1), tn.ones(1, dtype=tn.float64)
    parts = functional._construct_standard_basis_for((x, y), (2, 1))
    assert [p.tolist() for p in parts] == [[[1, 0], [0, 1], [0, 0]], [[0], [0], [1]]]
    assert [p.dtype for p in parts] == [tn.float32, tn.float64]
    assert functional._as_tuple(x, "inputs", "jacobian") == (False, (x,))
    assert functional._as_tuple([x]) == (x,)
    (again,) = functional._grad_preprocess((x,), create_graph=False, need_graph=True)
    assert again.requires_grad and again is not x
    nested = functional._grad_postprocess(((again * 2,), (again,)), create_graph=False)
    assert not nested[0][0].requires_grad and nested[0][0].tolist() == [[2], [2]]
    unpack = functional._tuple_postprocess
    assert unpack(((1,), (2,)), (True, False)) == (1, 2)
    assert unpack(((1,),), (False, False)) == 1 and unpack((1,), False) == 1
