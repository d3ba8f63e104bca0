"""gradcheck and gradgradcheck: what they find, and what they say, as PyTorch 2.13 does."""

import warnings

import pytest

import tinynet as tn
from tinynet.autograd import Function, GradcheckError, gradcheck, gradgradcheck

MODES = pytest.mark.parametrize("fast_mode", [False, True])


def leaf(*values, dtype=tn.float64):
    return tn.tensor(values or (0.5, 1.5), dtype=dtype, requires_grad=True)


class WrongSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * g


class WrongOnlyTheSecondTime(Function):
    """The cube, whose first derivative is right, and whose second is not."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x.detach() * x * g


class Drifting(Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Drifting.calls += 1
        return g * 2 + 1e-8 * Drifting.calls


class Shifted(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 + 1e-6


class Inventing(Function):
    """Two outputs; a missing gradient of the first counts as something else than zeros."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.shape_of_input = x.shape
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        if a is None:
            return tn.ones(ctx.shape_of_input, dtype=tn.float64)
        return a * 2 + (0 if b is None else b * 3)


@MODES
def test_right_derivatives_pass(fast_mode):
    x, y = leaf(), leaf(-1.0, 2.0)
    for check in (gradcheck, gradgradcheck):
        assert check(lambda x, y: (x.sin() * y, (x * y).sum()), (x, y), fast_mode=fast_mode)
        assert check(lambda x: [x**3, x.exp()], [x], fast_mode=fast_mode)
        assert check(lambda x, y: x * x, (x, y), fast_mode=fast_mode)  # y is unused
        assert check(lambda x, n: x**n, (x, 3), fast_mode=fast_mode)
        assert check(lambda x: x.sum() * 2, leaf(2.0), fast_mode=fast_mode)
        assert check(lambda x: x * 2, tn.ones(0, 3, dtype=tn.float64, requires_grad=True))
    assert x.tolist() == [0.5, 1.5] and x.grad is None and x._version == 0


def test_outputs_that_are_not_floating_are_passed_over():
    assert gradcheck(lambda x: (x > 1, x * 2, x.detach(), (x > 0).sum()), leaf())


def test_mismatch():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda y, x: (x * 2, WrongSquare.apply(x)), (leaf(), leaf()))
    assert str(caught.value) == (
        "Jacobian mismatch for output 1 with respect to input 1,\n"
        "numerical:tensor([[1.0000, 0.0000],\n        [0.0000, 3.0000]], dtype=tinynet.float64)\n"
        "analytical:tensor([[1.5000, 0.0000],\n        [0.0000, 4.5000]], dtype=tinynet.float64)\n"
    )
    assert gradcheck(WrongSquare.apply, leaf(), raise_exception=False) is False
    assert gradcheck(WrongSquare.apply, leaf(), atol=2.0)
    assert gradcheck(WrongSquare.apply, leaf(), rtol=0.6)


def test_mismatch_in_fast_mode_shows_the_whole_jacobians():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(WrongSquare.apply, leaf(), fast_mode=True)
    first, _, rest = str(caught.value).partition("\nanalytical:")
    assert first.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:")
    assert rest.partition("\n")[2] == (
        "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
        "in fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
        "Numerical:\n tensor([[1.0000, 0.0000],\n        [0.0000, 3.0000]], "
        "dtype=tinynet.float64)\n"
        "Analytical:\ntensor([[1.5000, 0.0000],\n        [0.0000, 4.5000]], "
        "dtype=tinynet.float64)\n\n"
        "The max per-element difference (slow mode) is: 1.5000000002468.\n"
    )


def test_nan_is_a_mismatch():
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0"):
        gradcheck(lambda x: x * float("nan"), leaf())


@MODES
def test_second_derivatives(fast_mode):
    assert gradcheck(WrongOnlyTheSecondTime.apply, leaf(), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="output 0 with respect to input 0"):
        gradgradcheck(WrongOnlyTheSecondTime.apply, leaf(), fast_mode=fast_mode)


def test_gradients_of_the_outputs_are_inputs_of_the_second_derivative():
    x, g = leaf(), leaf(2.0, -1.0)
    assert gradgradcheck(lambda x: x**3, x, g)
    assert gradgradcheck(lambda x: x**3, x, g.detach())
    assert gradgradcheck(lambda x: (x.detach(), x**3), x, [g])
    assert gradgradcheck(lambda x: x**3, x, gen_non_contig_grad_outputs=True)
    state = tn.get_rng_state()
    gradgradcheck(lambda x: x**3, x)
    assert tn.equal(tn.get_rng_state(), state)


@MODES
def test_backward_must_do_the_same_twice(fast_mode):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Drifting.apply, leaf(), fast_mode=fast_mode)
    assert str(caught.value).startswith(
        "Backward is not reentrant, i.e., running backward with same input and grad_output "
        "multiple times gives different values, although analytical gradient matches numerical "
        "gradient.The tolerance for nondeterminism was 0.0."
    )
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(Drifting.apply, leaf(), nondet_tol=1e-6, fast_mode=fast_mode)


def test_backward_must_be_linear():
    with pytest.raises(GradcheckError, match="^backward not multiplied by grad_output$"):
        gradcheck(Shifted.apply, leaf())


@MODES
def test_a_function_without_derivative_must_be_constant(fast_mode):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x: x.detach() * 2, leaf(), fast_mode=fast_mode)
    assert str(caught.value) == "Numerical gradient for function expected to be zero"
    assert gradcheck(lambda x: tn.ones(2, dtype=tn.float64), leaf(), fast_mode=fast_mode)


def test_missing_gradients_of_outputs():
    text = (
        "^Expected all input grads to be undefined or zero when all output grads are undefined "
        "or zero.$"
    )
    with pytest.warns(UserWarning, match="New undefined gradient support checking feature"):
        with pytest.raises(GradcheckError, match=text):
            gradcheck(Inventing.apply, leaf(), atol=10.0)
    assert gradcheck(Inventing.apply, leaf(), atol=10.0, check_undefined_grad=False)


def test_a_backward_that_needs_its_gradient():
    def refusing(x):
        def hook(g):
            if g is None:
                raise RuntimeError("there is no gradient")

        y = x.clone()
        y.register_hook(hook)
        return y

    with pytest.warns(UserWarning, match="^Backwards compatibility: New undefined gradient"):
        with pytest.raises(GradcheckError, match="^Expected backward function to handle undefined"):
            gradcheck(refusing, leaf())


class RightFourTimes(Function):
    """The identity, whose backward is right the first four times: before a batch comes."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        RightFourTimes.calls += 1
        return g if RightFourTimes.calls <= 4 else 2 * g


def test_gradients_of_a_batch():
    for check in (gradcheck, gradgradcheck):
        for fast_mode in (False, True):
            assert check(tn.sin, leaf(), check_batched_grad=True, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="failed while testing batched gradient computation"):
        gradcheck(RightFourTimes.apply, leaf(1.0), check_batched_grad=True)


def with_hook(hook, function=tn.clone):
    def hooked(x):
        y = function(x)
        y.register_hook(hook)
        return y

    return hooked


@pytest.mark.parametrize("fast_mode", [False, True])
def test_the_part_of_a_complex_output_that_differs(fast_mode):
    z = tn.ones(2, dtype=tn.complex128, requires_grad=True)
    shifted, halved = (lambda g: g + 0.01), (lambda g: tn.complex(g.real * 2, g.imag))
    for function, given, part in (
        (with_hook(shifted), z, "imaginary"),
        (with_hook(shifted, lambda x: tn.complex(x, x)), leaf(), "imaginary"),
        (with_hook(halved), z, "real"),
    ):
        text = f"^While considering the {part} part of complex outputs only, Jacobian mismatch for"
        with pytest.raises(GradcheckError, match=text):
            gradcheck(function, given, fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0 with respect to"):
        gradcheck(with_hook(shifted, tn.real), z, fast_mode=fast_mode)


def test_inputs_must_be_fit_for_differences():
    with pytest.raises(ValueError) as caught:
        gradcheck(lambda x: x * 2, leaf().detach())
    assert str(caught.value) == (
        "gradcheck expects at least one input tensor to require gradient, but none of them have "
        "requires_grad=True."
    )
    with pytest.raises(RuntimeError) as caught:
        gradcheck(lambda x, y: x * y, (leaf(), leaf(1.0).expand(2)))
    assert str(caught.value) == (
        "The 1th input has a dimension with stride 0. gradcheck only supports inputs that are "
        "non-overlapping to be able to compute the numerical gradients correctly. You should call "
        ".contiguous on the input before passing it to gradcheck."
    )


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_single_precision_is_warned_of_at_the_line_that_asks(check):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(lambda y, x: x * x, (leaf(), leaf(dtype=tn.float32)), atol=1.0)
    assert [w.filename for w in caught] == [__file__] * len(caught)
    assert str(caught[0].message) == (
        "Input #1 requires gradient and is not a double precision floating point or complex. "
        "This check will likely fail if all the inputs are not of double precision floating "
        "point or complex. "
    )


def test_outputs_must_keep_their_shape():
    with pytest.raises(AssertionError) as caught:
        gradcheck(lambda x: x[: 1 + int(x[0] > 0.5)], leaf())
    assert str(caught.value) == (
        "Expected `func` to return outputs with the same shape when inputs are perturbed on index "
        "(0,) by 1e-06, but got: shapes tinynet.Size([1]) and tinynet.Size([2])."
    )


@pytest.mark.parametrize(
    ("check", "option", "error", "message"),
    [
        (gradcheck, {"check_batched_forward_grad": True}, ValueError, "needs forward mode"),
        (gradcheck, {"check_forward_ad": True}, ValueError, "check_forward_ad=True needs forward"),
        (
            gradcheck,
            {"check_backward_ad": False},
            AssertionError,
            "Expected at least one of check_forward_ad or check_backward_ad to be True",
        ),
        (gradgradcheck, {"check_fwd_over_rev": True}, ValueError, "needs forward mode"),
        (
            gradgradcheck,
            {"check_rev_over_rev": False},
            AssertionError,
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True",
        ),
    ],
)
def test_modes_that_do_not_exist(check, option, error, message):
    with pytest.raises(error, match=message):
        check(lambda x: x * 2, leaf(), **option)
