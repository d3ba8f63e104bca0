"""autograd.Function: user-defined forward and backward."""

import pytest

import tinynet as tn


class Scaled(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        ctx.save_for_backward(x)
        return x * x * factor

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * ctx.factor * g, None


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0, 3.0), dtype=tn.float64, requires_grad=True)


def test_forward_backward_and_names():
    x = leaf()
    y = Scaled.apply(x, 3.0)
    assert y.grad_fn.name() == "ScaledBackward"
    assert repr(y.grad_fn).startswith("<tinynet.autograd.function.ScaledBackward object at 0x")
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0, 18.0]


def test_twice_differentiable():
    assert tn.autograd.gradcheck(lambda x: Scaled.apply(x, 3.0), leaf())
    assert tn.autograd.gradgradcheck(lambda x: Scaled.apply(x, 3.0), leaf())


def test_setup_context():
    class Product(tn.autograd.Function):
        @staticmethod
        def forward(a, b):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False)
            return g * b, None

    a, b = leaf(), tn.ones(3, dtype=tn.float64) * 5
    Product.apply(a, b).sum().backward()
    assert a.grad.tolist() == [5.0, 5.0, 5.0]


def test_several_outputs_and_missing_gradients():
    class Both(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    x = leaf()
    double, _ = Both.apply(x)
    double.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_grads_that_are_not_materialised():
    class Both(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            assert h is None
            return g * 2

    x = leaf()
    Both.apply(x)[0].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_saved_values_are_checked_and_freed():
    x = leaf() * 1
    y = Scaled.apply(x, 1.0)
    x.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead") as error:
        y.sum().backward()
    assert "x.add_(1)" in str(error.value)
    y = Scaled.apply(leaf(), 1.0).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_dirty_inputs():
    class AddOne(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g * 7

    a = leaf()
    x = a * 1
    y = AddOne.apply(x)
    assert y is x and x._version == 2  # add_ and mark_dirty, as in PyTorch
    x.sum().backward()
    assert a.grad.tolist() == [7.0, 7.0, 7.0]


def test_non_differentiable_outputs():
    class Order(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            index = x * 0
            ctx.mark_non_differentiable(index)
            return x * 2, index

        @staticmethod
        def backward(ctx, g, _):
            return g * 2

    values, index = Order.apply(leaf())
    assert values.requires_grad and not index.requires_grad


def test_an_input_returned_as_output():
    class Same(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf()
    y = Same.apply(x)
    assert y is not x and x.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda g: (g, None, None), r"incorrect number of gradients \(expected 2, got 1\)|"),
        (lambda g: (), r"incorrect number of gradients \(expected 2, got 0\)"),
        (lambda g: (g, g), "returned a gradient different than None at position 2"),
    ],
)
def test_what_backward_may_return(returned, message):
    class Wrong(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return returned(g)

    y = Wrong.apply(leaf(), 2).sum()
    if returned(1)[2:] == (None,):
        y.backward()  # surplus None are fine, as in PyTorch
    else:
        with pytest.raises(RuntimeError, match=message):
            y.backward()


def test_functions_are_not_instantiated():
    with pytest.warns(DeprecationWarning, match="Scaled'> should not be instantiated"):
        made = Scaled()
    with pytest.raises(RuntimeError, match=r"Scaled.apply"):
        made(leaf())


def test_nothing_is_recorded_under_no_grad():
    with tn.no_grad():
        assert not Scaled.apply(leaf(), 2.0).requires_grad


# ---- keyword arguments, vjp ----------------------------------------------------------------------


class Product(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, factor=2):
        ctx.factor = factor
        ctx.save_for_backward(x, w)
        return x * w * factor

    @staticmethod
    def vjp(ctx, g):
        x, w = ctx.saved_tensors
        return g * w * ctx.factor, g * x * ctx.factor, None


def test_keyword_arguments_take_their_places():
    x, w = tn.tensor(3.0, requires_grad=True), tn.tensor(5.0, requires_grad=True)
    for y in (Product.apply(x, w, factor=4), Product.apply(factor=4, w=w, x=x)):
        assert y.item() == 60.0
        assert [g.item() for g in tn.autograd.grad(y, (x, w))] == [20.0, 12.0]
    with pytest.raises(RuntimeError, match=r"incorrect number of gradients \(expected 2, got 3\)"):
        Scaled3.apply(x, w=w).backward()


class Scaled3(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        return x * w

    @staticmethod
    def backward(ctx, g):
        return g, g, g


def test_keyword_arguments_that_do_not_fit():
    x = leaf()
    with pytest.raises(TypeError, match=r"forward\(\) got an unexpected keyword argument 'y'"):
        Product.apply(x, y=x)
    with pytest.raises(TypeError, match=r"forward\(\) got an unexpected keyword argument 'x'"):
        Product.apply(x, x=x)
    with pytest.raises(TypeError, match=r"forward\(\) missing a required argument: 'x'"):
        Product.apply(w=x)


def test_backward_and_vjp_at_once_are_refused():
    class Both(Scaled3):
        @staticmethod
        def vjp(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(leaf(), leaf()).sum().backward()


def test_an_input_that_comes_back_is_another_tensor():
    class Same(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    x, c = leaf(), tn.ones(2)
    made = Same.apply(c)
    assert made is not c and made._base is c
    with tn.no_grad():
        made = Same.apply(x)
    assert made is not x and made._base is None and not made.requires_grad


NAMES = ["shape", "dtype", "edges", "hooks", "site", "scope", "sequence", "function", "multiple"]


@pytest.mark.parametrize("name", [*NAMES, "seal", "backward", "x"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_every_name_of_an_attribute_is_the_user_s(name, create_graph):
    class Sum(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            setattr(ctx, name, x.shape)
            assert getattr(ctx, name) == (2, 3)
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return g.expand(getattr(ctx, name))

    x = tn.ones(2, 3, requires_grad=True)
    made = Sum.apply(x)
    assert type(made.grad_fn) is Sum._backward_cls and made.grad_fn.name() == "SumBackward"
    (grad,) = tn.autograd.grad(made * 2, x, create_graph=create_graph)
    assert grad.tolist() == [[2.0] * 3] * 2
