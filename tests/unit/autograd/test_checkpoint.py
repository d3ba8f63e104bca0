"""utils.checkpoint: the same gradients, less memory, and what it refuses, as PyTorch 2.13 does."""

import contextlib
import gc
import warnings
import weakref

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.core.trace import observing
from tinynet.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)

VARIANTS = pytest.mark.parametrize("use_reentrant", [False, True])


def leaf(*values):
    return tn.tensor(values or (1.0, 2.0), dtype=tn.float64, requires_grad=True)


def model():
    tn.manual_seed(3)
    return nn.Sequential(
        nn.Linear(5, 8), nn.GELU(), nn.Dropout(0.5), nn.Linear(8, 5), nn.Tanh(), nn.Dropout(0.3)
    )


def bits(tensors):
    return [t.numpy(force=True).tobytes() for t in tensors]


def train_step(run, net):
    """Gradients of the input and of the parameters, the output, and what is drawn next."""
    tn.manual_seed(7)
    x = tn.randn(4, 5).requires_grad_()
    y = run(net, x)
    drawn = tn.rand(3)
    (y * tn.arange(5)).sum().backward()
    return bits([y, drawn, tn.rand(3), x.grad, *(p.grad for p in net.parameters())])


# ---- the same numbers ---------------------------------------------------------------------------


@VARIANTS
def test_gradients_are_the_same_to_the_last_bit_with_dropout(use_reentrant):
    plain = train_step(lambda net, x: net(x), model())
    again = train_step(lambda net, x: checkpoint(net, x, use_reentrant=use_reentrant), model())
    assert again == plain
    for segments in (1, 2, 3, 6):
        again = train_step(
            lambda net, x, n=segments: checkpoint_sequential(
                net, n, x, use_reentrant=use_reentrant
            ),
            model(),
        )
        assert again == plain


@VARIANTS
def test_without_preserved_state_the_second_run_draws_new_numbers(use_reentrant):
    state = []

    def noisy(x):
        state.append(tn.get_rng_state())
        return x * tn.rand(2, dtype=tn.float64)

    for preserve in (True, False):
        state.clear()
        x = leaf()
        options = {"use_reentrant": use_reentrant, "preserve_rng_state": preserve}
        checkpoint(noisy, x, **options).sum().backward()
        assert tn.equal(*state) is preserve


def test_second_derivatives():
    def run(function):
        x = leaf()
        (g,) = tn.autograd.grad(function(x).sum(), x, create_graph=True)
        (h,) = tn.autograd.grad(g.sum(), x, create_graph=True)
        (k,) = tn.autograd.grad(h.sum(), x)
        return bits([g, h, k])

    def function(x):
        return x.exp() * x * (x * 3).sin()

    plain = run(function)
    assert run(lambda x: checkpoint(function, x, use_reentrant=False)) == plain
    assert tn.autograd.gradgradcheck(lambda x: checkpoint(function, x, use_reentrant=False), leaf())


def test_arguments_and_results_of_any_structure():
    x, w = leaf(), leaf(3.0, 4.0)

    def function(d, *, scale):
        return {"y": d["x"].exp() * d["w"][0], "z": [d["x"] * scale, "text"]}

    found = checkpoint(function, {"x": x, "w": [w]}, use_reentrant=False, scale=leaf(5.0))
    assert found["z"][1] == "text"
    found["y"].sum().backward()
    found["z"][0].sum().backward()
    assert w.grad.tolist() == x.detach().exp().tolist()
    assert x.grad.tolist() == (x.detach().exp() * w.detach() + 5).tolist()


@VARIANTS
def test_several_outputs_one_after_the_other(use_reentrant):
    x = leaf()
    a, b = checkpoint(lambda x: (x * x, x.exp()), x, use_reentrant=use_reentrant)
    a.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2.0, 4.0]
    b.sum().backward()
    assert x.grad.tolist() == (2 * x.detach() + x.detach().exp()).tolist()


def test_partial_gradients():
    x, w = leaf(), leaf(3.0, 4.0)
    y = checkpoint(lambda x, w: (x * w).exp() * x, x, w, use_reentrant=False).sum()
    (by_w,) = tn.autograd.grad(y, w, retain_graph=True)
    y.backward(inputs=[x])
    plain = ((x * w).exp() * x).sum()
    assert bits([by_w, x.grad]) == bits(tn.autograd.grad(plain, [w, x]))


def test_in_place_operations_views_and_functions_of_the_user():
    class Square(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            (x,) = ctx.saved_tensors  # a second time: recomputed once more
            return 2 * x * g

    def function(x):
        h = x * 2
        h[1:].mul_(x[:2])
        k = Square.apply(h.sin().mul_(x))
        return k.add_(1).log()

    def run(f):
        x = leaf(0.5, 1.0, 1.5)
        f(x).sum().backward()
        return bits([x.grad])

    assert run(lambda x: checkpoint(function, x, use_reentrant=False)) == run(function)


def nested(x, inner, runs):
    def third(x):
        runs.append(3)
        return x.exp() * x

    def second(x):
        runs.append(2)
        return inner(third, x.sin()) * x

    def first(x):
        runs.append(1)
        return inner(second, x * 2).sin() * x

    return inner(first, x)


@VARIANTS
@pytest.mark.filterwarnings("ignore:None of the inputs")  # without grad mode, inside reentrant ones
def test_checkpoints_inside_checkpoints(use_reentrant):
    x, runs = leaf(), []
    nested(x, lambda f, x: checkpoint(f, x, use_reentrant=use_reentrant), runs).sum().backward()
    assert runs == [1, 2, 3, 1, 2, 3, 2, 3, 3]
    y = leaf()
    nested(y, lambda f, x: f(x), []).sum().backward()
    assert bits([x.grad]) == bits([y.grad])


def test_backward_inside_of_the_function():
    def penalty(x):
        y = x.sin()
        (g,) = tn.autograd.grad(y.cos().sum(), x, create_graph=True)
        return x.cos() * g

    def freeing(x):
        (g,) = tn.autograd.grad(x.sin().cos().sum(), x)
        return x.cos() * g

    for function in (penalty, freeing):
        for early_stop in (True, False):
            x, y = leaf(), leaf()
            checkpoint(function, x, use_reentrant=False, early_stop=early_stop).sum().backward()
            function(y).sum().backward()
            assert bits([x.grad]) == bits([y.grad])


# ---- how often, and how far, the function runs --------------------------------------------------


def steps(x, log):
    log.append("a")
    y = x.exp()
    log.append("b")
    y = y * x
    log.append("c")
    return y + 1


def test_the_second_run_ends_when_everything_is_there():
    for options, tail in (({}, "ab"), ({"early_stop": False}, "abc")):
        log = []
        y = checkpoint(steps, leaf(), log, use_reentrant=False, **options)
        assert log == ["a", "b", "c"]
        y.sum().backward()
        assert "".join(log[3:]) == tail
    log = []
    with set_checkpoint_early_stop(False):
        y = checkpoint(steps, leaf(), log, use_reentrant=False)
    y.sum().backward()
    assert len(log) == 6


def test_a_function_that_catches_everything_does_not_keep_the_second_run_going():
    def careful(x):
        try:
            return x.exp() * x
        except Exception:
            return x

    x = leaf()
    checkpoint(careful, x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == (x.detach().exp() * (x.detach() + 1)).tolist()


def test_each_backward_recomputes_once():
    log = []
    y = checkpoint(steps, leaf(), log, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    assert log.count("a") == 3
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert log.count("a") == 4


def test_without_grad_mode_the_function_just_runs():
    with tn.no_grad():
        y = checkpoint(lambda x: x * x, leaf(), use_reentrant=False)
    assert not y.requires_grad


def test_contexts_of_the_first_and_of_the_second_run():
    log = []

    @contextlib.contextmanager
    def noting(name):
        log.append(name)
        yield
        log.append(f"end of {name}")

    y = checkpoint(
        lambda x: x.exp() * x,
        leaf(),
        use_reentrant=False,
        early_stop=False,
        context_fn=lambda: (noting("first"), noting("second")),
    )
    log.append("backward")
    y.sum().backward()
    assert log == ["first", "end of first", "backward", "second", "end of second"]


# ---- memory -------------------------------------------------------------------------------------


def alive_after_forward(run):
    """How many of the arrays that operations made are alive between forward and backward."""
    made = []

    def watch(op, inputs, outputs, attributes):
        made.extend(weakref.ref(array) for array in outputs)

    x = tn.ones(50, dtype=tn.float64, requires_grad=True)
    with observing(watch):
        y = run(x)
    gc.collect()
    alive = sum(ref() is not None for ref in made)
    y.sum().backward()
    gc.collect()
    left = sum(ref() is not None for ref in made)
    return len(made), alive, left, x.grad


def deep(x):
    for _ in range(100):
        x = (x * x).sin()
    return x


def test_the_arrays_inside_are_not_alive_between_forward_and_backward():
    made, alive, left, plain = alive_after_forward(deep)
    assert (made, alive, left) == (200, 200, 1)
    for use_reentrant in (False, True):
        made, alive, left, grad = alive_after_forward(
            lambda x, u=use_reentrant: checkpoint(deep, x, use_reentrant=u)
        )
        assert (made, alive, left) == (200, 1, 1)  # the output
        assert bits([grad]) == bits([plain])


def test_inputs_of_inner_checkpoints_are_forgotten_too():
    def inner(x):
        return checkpoint(deep, x.cos(), use_reentrant=False)

    def outer(x):
        return inner(inner(x))

    made, alive, left, _ = alive_after_forward(lambda x: checkpoint(outer, x, use_reentrant=False))
    assert (made, alive, left) == (402, 1, 1)
    made, alive, left, _ = alive_after_forward(outer)
    assert (made, alive, left) == (402, 4, 1)  # inputs and outputs of the two


def test_segments_keep_their_inputs_only():
    functions = [lambda x: (x * x).sin()] * 12
    _, alive, _, _ = alive_after_forward(
        lambda x: checkpoint_sequential(functions, 4, x, use_reentrant=False)
    )
    assert alive == 3 + 6  # the outputs of three segments; the last is not checkpointed


def test_no_cycles_are_left_behind():
    gc.collect()
    gc.disable()
    try:
        for options in ({"use_reentrant": False}, {"use_reentrant": True}):
            x = leaf()
            y = checkpoint(lambda x: x.exp() * x, x, **options)
            ref = weakref.ref(y.grad_fn)
            y.sum().backward()
            del y
            assert ref() is None
    finally:
        gc.enable()


# ---- what it refuses ----------------------------------------------------------------------------


def test_not_choosing_the_variant_is_warned_of():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = checkpoint(lambda x: x * x, leaf())
        checkpoint_sequential([tn.exp, tn.sin, tn.cos], 3, leaf())
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    assert [w.filename for w in caught] == [__file__, __file__]
    first, second = (str(w.message) for w in caught)
    assert first.startswith(
        "tinynet.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
    )
    assert second.startswith(
        "tinynet.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
        "passed explicitly. "
    )


def test_reentrant_needs_an_input_that_requires_grad():
    with pytest.warns(UserWarning, match="^None of the inputs have requires_grad=True. Gradients"):
        y = checkpoint(nn.Linear(2, 2), tn.ones(2), use_reentrant=True)
    assert not y.requires_grad


def test_reentrant_refuses_grad_and_inputs():
    x = leaf()
    for run in (
        lambda y: tn.autograd.grad(y, x),
        lambda y: y.backward(inputs=[x]),
        lambda y: tn.autograd.grad(y, x, create_graph=True),
    ):
        with pytest.raises(RuntimeError) as caught:
            run(checkpoint(lambda x: x * x, x, use_reentrant=True).sum())
        assert str(caught.value).startswith(
            "When use_reentrant=True, tinynet.utils.checkpoint is incompatible with .grad() or "
            "passing an `inputs` parameter to .backward(). To resolve this error, you can either "
            "set use_reentrant=False, or call .backward() without passing the `inputs` argument."
        )


def test_reentrant_needs_an_output_that_requires_grad():
    y = checkpoint(lambda x: x.detach() * 2, leaf(), use_reentrant=True)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert str(caught.value).startswith(
        "none of output has requires_grad=True, this checkpoint() is not necessary"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"use_reentrant": True, "a": 1, "b": 2}, "Unexpected keyword arguments: a,b"),
        (
            {"use_reentrant": True, "debug": True},
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False.",
        ),
        (
            {"use_reentrant": False, "determinism_check": "hash"},
            "determinism_check should be one of ['default', 'none'], but got hash",
        ),
        (
            {"use_reentrant": False, "debug": True, "context_fn": lambda: None},
            "debug=True is incompatible with non-default context_fn",
        ),
    ],
)
def test_arguments_that_do_not_go_together(options, message):
    with pytest.raises(ValueError) as caught:
        checkpoint(lambda x: x, leaf(), **options)
    assert str(caught.value) == message


def test_a_first_context_may_not_swallow_errors():
    def fail(x):
        raise KeyError(x)

    contexts = (contextlib.suppress(KeyError), contextlib.nullcontext())
    with pytest.raises(RuntimeError, match="^tinynet.utils.checkpoint: the forward context"):
        checkpoint(fail, leaf(), use_reentrant=False, context_fn=lambda: contexts)
    with pytest.raises(KeyError):
        checkpoint(fail, leaf(), use_reentrant=False)


MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [tinynet.DoubleTensor [2]]"
)


@VARIANTS
def test_an_argument_that_was_changed(use_reentrant):
    h = leaf() * 1
    y = checkpoint(lambda x: x.exp() * x, h, use_reentrant=use_reentrant)
    h.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert str(caught.value).startswith(
        f"{MODIFIED}, which is output 0 of AddBackward0, is at version 1; expected version 0"
    )
    assert caught.value.saved_at.text.startswith("y = checkpoint(")
    assert [c.text for c in caught.value.changed_by] == ["h.add_(1)"]


def test_a_parameter_that_was_changed():
    """PyTorch recomputes with the new value and returns other gradients without a word."""
    w = leaf()
    y = checkpoint(lambda x: x * w, leaf(), use_reentrant=False)
    with tn.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert str(caught.value).startswith(f"{MODIFIED} is at version 1; expected version 0 instead.")
    assert [c.text for c in caught.value.changed_by] == ["w.mul_(2)"]


def other_shape(x, runs):
    runs.append(1)
    return x[: len(runs)].exp()


def fewer(x, runs):
    runs.append(1)
    if len(runs) > 1:
        return x.exp()
    return x.sin().exp()


def more(x, runs):
    runs.append(1)
    if len(runs) > 1:
        x = x.sin()
    return x.exp()


def test_a_second_run_with_other_shapes():
    x = leaf()
    y = checkpoint(other_shape, x, [], use_reentrant=False)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    start = (
        "tinynet.utils.checkpoint: Recomputed values for the following tensors have different "
        "metadata than during the forward pass.\ntensor at position 0:\nsaved metadata: "
        "{'shape': tinynet.Size([1]), 'dtype': tinynet.float64, 'device': device(type='cpu')}\n"
        "recomputed metadata: {'shape': tinynet.Size([2]), 'dtype': tinynet.float64, 'device': "
        "device(type='cpu')}\n"
    )
    assert str(caught.value).startswith(start)
    y = checkpoint(lambda x, runs: fewer(x, runs) * 1, x, [1], use_reentrant=False)
    y.sum().backward()
    y = checkpoint(other_shape, x, [1], use_reentrant=False, determinism_check="none")
    y.sum().backward()


def test_a_second_run_that_saves_less_or_more():
    y = checkpoint(fewer, leaf(), [], use_reentrant=False)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    text = str(caught.value)
    assert text.startswith(
        "tinynet.utils.checkpoint: A different number of tensors was saved during the original "
        "forward and recomputation.\nNumber of tensors saved during forward: 2\nNumber of tensors "
        "saved during recomputation: 1.\n"
    )
    assert "in fewer" in text and "return x.sin().exp()" in text and "return x.exp()" in text
    assert text.endswith(
        "  fix      the function must do the same each time: no globals, counters or other "
        "generators\n  explain  python -m tinynet explain checkpoint-mismatch"
    )
    y = checkpoint(more, leaf(), [], use_reentrant=False, early_stop=False)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    assert str(caught.value).startswith(
        "tinynet.utils.checkpoint: trying to save more tensors during recomputation than during "
        "the original forward pass.\n"
    )


def test_arrays_that_only_the_formulas_see_are_forgotten_too():
    x = tn.randn(6).requires_grad_()
    y = checkpoint(nn.functional.gelu, x, use_reentrant=False)
    assert [getattr(y.grad_fn, f"saved_{name}") for name in y.grad_fn.saved] == [None, None]
    found = tn.autograd.grad(y.sum(), x, create_graph=True)
    found += tn.autograd.grad(found[0].sum(), x)
    plain = tn.autograd.grad(nn.functional.gelu(x).sum(), x, create_graph=True)
    plain += tn.autograd.grad(plain[0].sum(), x)
    assert bits(found) == bits(plain)


@VARIANTS
@pytest.mark.parametrize("forward, backward", [(True, False), (False, True)])
def test_the_second_run_has_the_autocast_of_the_first(use_reentrant, forward, backward):
    seen = []

    def product(x):
        seen.append((tn.is_autocast_enabled("cpu"), tn.get_autocast_dtype("cpu")))
        return tn.mm(x, x)

    x = tn.eye(2).requires_grad_()
    with tn.autocast("cpu", dtype=tn.float16, enabled=forward):
        loss = checkpoint(product, x, use_reentrant=use_reentrant).float().sum()
    with tn.autocast("cpu", enabled=backward):
        loss.backward()
        assert tn.is_autocast_enabled("cpu") is backward
    assert [enabled for enabled, _ in seen] == [forward] * 2
    assert not forward or seen[0] == seen[1] == (True, tn.float16)
    assert tn.get_autocast_dtype("cpu") is tn.bfloat16
