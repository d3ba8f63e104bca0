"""``torch.library``: operations of users' own, and names that old programs reach."""

import pytest

import tinynet as tn
from tinynet.compat import jit, library, testing
from tinynet.compat.parallel import distributed


@library.custom_op("tests::scale", mutates_args=())
def scale(x, by, *, shift=0.0):
    return tn.tensor(x.numpy() * by + shift)


def test_an_operation_without_a_derivative_refuses_backward():
    out = library.custom_op("tests::twice", lambda x: x * 2, mutates_args=())(leaf())
    assert out.requires_grad
    match = r"through tests\.twice\.default but no autograd formula was registered\. Please use"
    with pytest.raises(RuntimeError, match=match):
        out.sum().backward()


def leaf():
    return tn.tensor([1.0, 2.0], requires_grad=True)


def test_a_derivative_gets_what_was_saved():
    seen = []

    def save(ctx, inputs, keyword_only_inputs, output):
        ctx.by = inputs[1]
        seen.append((len(inputs), keyword_only_inputs, output.tolist(), ctx.needs_input_grad))

    library.register_autograd(
        "tests::scale", lambda ctx, grad: (grad * ctx.by, None), setup_context=save
    )
    x = leaf()
    out = library.ops.tests.scale(x, 3.0, shift=1.0)
    out.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert seen == [(2, {"shift": 1.0}, [4.0, 7.0], (True, False, False))]
    assert type(out.grad_fn).__name__ == "GeneratedBackwardFor_tests_scale_defaultBackward"


def test_several_results_pass_gradcheck():
    waves = library.custom_op("tests::waves", lambda x: (x.sin(), x.cos()), mutates_args=())
    waves.register_autograd(
        lambda ctx, a, b: a * ctx.saved_tensors[0].cos() - b * ctx.saved_tensors[0].sin(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    assert tn.autograd.gradcheck(waves, (tn.rand(3, dtype=tn.float64, requires_grad=True),))
    assert tn.vmap(lambda x: waves(x)[1])(tn.zeros(2, 3)).tolist() == [[1.0] * 3] * 2


def test_kernels_of_the_cpu_replace_the_function():
    half = library.custom_op("tests::half", lambda x: x, mutates_args=())
    library.register_kernel("tests::half", "cuda")(lambda x: x / 0)
    library.register_kernel(half, "cpu", lambda x: x / 2)
    assert half(leaf().detach()).tolist() == [0.5, 1.0]
    assert repr(half) == "<CustomOpDef(tests::half)>"


def test_an_operation_may_write_to_its_argument():
    fill = library.custom_op("tests::fill", lambda x, v: x.fill_(v) and None, mutates_args={"x"})
    x = tn.zeros(1)
    before = x._version
    assert fill(x, 2.0) is None
    assert (x.tolist(), x._version > before) == ([2.0], True)


def test_a_name_needs_a_namespace():
    with pytest.raises(ValueError, match="Expected a name like 'namespace::name', got 'scale'"):
        library.custom_op("scale", mutates_args=())(lambda x: x)


def test_operations_of_pytorch_by_name():
    aten, x = library.ops.aten, tn.tensor([[3.0, 1.0], [2.0, 4.0]])
    assert aten.cat.default is aten.cat.default and aten.add.Tensor.name() == "aten::add.Tensor"
    assert aten.mm.default(x, x).equal(x @ x) and aten.slice.Tensor(x, 1, 0, 1).equal(x[:, :1])
    assert aten.index.Tensor(x, [None, tn.tensor([1])]).equal(x[:, [1]])
    with pytest.raises(NotImplementedError, match="no operation aten::_pin_memory"):
        aten._pin_memory.default(x)


def test_names_that_torchopt_and_e3nn_ask_for():
    assert not distributed.is_available()  # torch.distributed.rpc
    assert distributed.record(len) is len
    assert issubclass(jit.Error, Exception)
    given = tn.ones(1), tn.float16
    assert testing.get_tolerances(*given, rtol=None, atol=None) == (1e-3, 1e-5)
    assert testing.get_tolerances(*given, rtol=0.5, atol=0.25) == (0.5, 0.25)
    assert testing.default_tolerances(tn.int64) == (0.0, 0.0)
    with pytest.raises(ValueError, match="must be either specified or omitted, but got no atol"):
        testing.get_tolerances(*given, rtol=0.5, atol=None)
