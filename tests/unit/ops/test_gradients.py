"""The contract of every operation: derivatives of both orders, in-place forms, memory, docs."""

import copy
import dataclasses
import doctest
import importlib
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tests.tools.grouped import for_each, in_parts
from tinynet.autograd import gradcheck, gradgradcheck
from tinynet.core.declaration.operation import COMPOSITES, REGISTRY

from .samples import SAMPLES, F, f

for _path in sorted(Path(__file__).parent.glob("samples_*.py")):  # they add their rows
    importlib.import_module(f".{_path.stem}", __package__)


def those(condition=lambda row: True):
    """Rows on which a condition holds, some to a test."""
    rows = {f"{name}-{n}": row for name, rows in SAMPLES.items() for n, row in enumerate(rows)}
    return in_parts({name: row for name, row in rows.items() if condition(row)}, 20)


ROWS = those()
OF_OPERATIONS = those(lambda row: row.name in REGISTRY)
INPLACE = those(lambda row: hasattr(tn.Tensor, f"{row.name}_") and isinstance(row.args[0], F))
TOLERANCES = {"atol": 1e-6, "rtol": 1e-5}

# What a user differentiates: each of these must be in the table, as an operation or composite.
DIFFERENTIABLE = """
    add sub mul div pow remainder neg exp log log1p expm1 sqrt rsqrt abs sign sin cos tan tanh
    sigmoid relu clamp erf floor round maximum minimum where sum mean prod max min amax amin var
    std norm logsumexp softmax log_softmax cumsum matmul mm bmm mv dot outer t transpose permute
    reshape view view_as flatten squeeze unsqueeze expand expand_as repeat cat stack split chunk
    unbind select narrow flip roll tril triu diagonal gather scatter scatter_add index_select
    index_add masked_fill masked_select take_along_dim clone contiguous
""".split()


def floats(made):
    """The floating-point tensors of a result."""
    found = list(made) if isinstance(made, (tuple, list)) else [made]
    return [t for t in found if t.is_floating_point()]


# As in PyTorch, the backward of these raises, or (ctc) is one for log-probabilities that sum to 1:
# tests/unit/nn/test_ctc.py differentiates it through log_softmax.
REFUSED = {"floor_divide", "heaviside", "ctc_nll", "ctc_nll_backward"} | {
    "_standard_gamma_grad", "_dirichlet_grad", "ldl_and_info", "ldl_solution",
    "_unique2_values", "unique_dim_values", "unique_consecutive_values",
}  # fmt: skip
# What no finite difference of the kernel can show, and where it is compared instead.
ELSEWHERE = {
    "gamma_values": "tests/unit/distributions",  # the derivative of a sample
    "dirichlet_values": "tests/unit/distributions",
    "gelu_backward": "the rows of gelu",  # takes what gelu has kept, which is not a free variable
    "glu_backward": "the rows of glu",  # the same
    "solved_with_factor": "the rows of cholesky_solve",
    "inverse_with_factor": "the rows of cholesky_inverse",
    # These take the pattern of a sparse tensor.
    **dict.fromkeys(
        ["sparse_product", "spread_entries", "entries_at"], "tests/unit/nn/test_sparse.py"
    ),
    **dict.fromkeys(
        [
            *("angle", "complex", "conj_physical", "conjugate", "imaginary_part", "parts", "polar"),
            *("real_part", "view_as_complex", "view_as_real", "eigen_values_and_vectors"),
            *("complex_transform", "real_transform", "transform_to_real"),
        ],
        "tests/unit/ops/test_complex.py",
    ),
    "enter": "tests/unit/nn/machinery/programs_vmap.py",  # into a batch
    "leave": "tests/unit/nn/machinery/programs_vmap.py",
}


def test_every_operation_with_a_derivative_has_samples():
    wanted = {name for name, op in REGISTRY.items() if op.formulas is not None} - REFUSED
    wanted -= ELSEWHERE.keys()
    assert wanted <= set(SAMPLES), f"no samples: {sorted(wanted - set(SAMPLES))}"


def test_everything_that_users_differentiate_has_samples():
    assert set(DIFFERENTIABLE) <= set(SAMPLES)


def test_floor_divide_has_no_derivative():
    x = f(2).leaf(np.random.RandomState(0))
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (x // 2).sum().backward()


# ---- derivatives --------------------------------------------------------------------------------


@for_each(ROWS)
def test_gradients_agree_with_finite_differences(row):
    assert gradcheck(row, row.leaves(), **TOLERANCES)


def gradients(row, write=lambda made, inputs: None):
    """Return the gradients of weighted results, after a write to these or to the inputs."""
    row = dataclasses.replace(row, args=copy.deepcopy(row.args))
    leaves = row.leaves()
    inputs = [t * 1 for t in leaves]
    constants = [t for t in row.args if isinstance(t, tn.Tensor)]
    tn.manual_seed(0)
    made = [t for t in floats(row(*inputs)) if t.requires_grad]
    write(made, [*inputs, *constants])
    rng = np.random.RandomState(1)
    weights = [tn.tensor(rng.rand(*t.shape), dtype=t.dtype) for t in made]
    tn.autograd.backward(made, weights)
    return [t.grad for t in leaves if t.requires_grad]


@pytest.mark.sampled(3)
@for_each(those(lambda row: row.name not in REFUSED))
def test_a_write_is_refused_or_changes_no_gradient(row):
    """That is, to what a backward pass needs: a result, or memory that it shares with one."""
    if not any(t.requires_grad for t in floats(row(*row.leaves()))):
        return
    expected = gradients(row)

    def to_results(made, inputs):
        for t in made:
            t.add_(1.0)

    def to_inputs(made, inputs):
        with tn.no_grad():
            for t in inputs:
                t.zero_() if t.dtype == tn.int64 else t.copy_(1 - t.to(tn.float64))

    for write in (to_results, to_inputs):
        try:
            found = gradients(row, write)
        except RuntimeError:  # of versions, or of views that are not written to
            continue
        for g, h in zip(found, expected, strict=True):
            assert (g is None and h is None) or tn.allclose(g, h, equal_nan=True)


def check_second_derivatives(row, **mode):
    leaves = row.leaves()
    if any(t.requires_grad for t in floats(row(*leaves))):
        assert gradgradcheck(row, leaves, **TOLERANCES, **mode)


@pytest.mark.sampled(3)
@for_each(ROWS)
def test_a_projection_of_second_derivatives_agrees_with_finite_differences(row):
    check_second_derivatives(row, fast_mode=True)


@pytest.mark.slow
@for_each(ROWS)
def test_second_derivatives_agree_with_finite_differences(row):
    check_second_derivatives(row)


def directions(outputs):
    random = np.random.RandomState(3)
    return [tn.tensor(np.asarray(random.standard_normal(o.shape))) for o in outputs]


@for_each(ROWS)
def test_the_plain_backward_equals_the_recorded_one(row):
    leaves = row.leaves()
    outputs = [o for o in floats(row(*leaves)) if o.requires_grad]
    grads = directions(outputs)
    plain, recorded = (
        tn.autograd.grad(
            outputs, leaves, grads, retain_graph=True, create_graph=create, allow_unused=True
        )
        for create in (False, True)
    )
    for leaf, one, other in zip(leaves, plain, recorded, strict=True):
        if one is None or other is None:
            assert one is other
            continue
        assert one.shape == other.shape == leaf.shape
        assert one.dtype == other.dtype == leaf.dtype
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-12, atol=1e-12)


@for_each(OF_OPERATIONS)
def test_no_gradient_shares_memory_with_a_saved_value(row):
    """A leaf keeps a gradient's array as its .grad and adds to it in place."""
    output = next(o for o in floats(row(*row.leaves())) if o.requires_grad)
    node = output.grad_fn
    assert node.op is REGISTRY[row.name]
    given = [np.ones(s) for s in node.shape] if node.multiple else np.ones(node.shape)
    slots = [s for s in type(node).__slots__ if hasattr(node, s)]
    saved = [getattr(node, s) for s in slots if isinstance(getattr(node, s), np.ndarray)]
    for gradient in node.backward(given, None, None):
        for array in saved if isinstance(gradient, np.ndarray) else ():
            assert not np.shares_memory(gradient, array)


# ---- in place -----------------------------------------------------------------------------------


@for_each(INPLACE)
def test_in_place_equals_out_of_place(row):
    leaves = row.leaves()
    expected = row(*leaves)
    inputs = row.arguments(leaves)
    written = inputs[0].clone()
    before = written._version
    write = getattr(written, f"{row.name}_")
    broadcast = expected.shape != written.shape and not expected._is_view()
    if broadcast and row.name != "addbmm":  # which resizes
        with pytest.raises(RuntimeError, match="doesn't match the broadcast|should match"):
            write(*inputs[1:], **row.kwargs)
        assert written._version == before and written.tolist() == inputs[0].tolist()
        return
    result = write(*inputs[1:], **row.kwargs)
    assert result is written
    assert written._version == before + 1
    np.testing.assert_array_equal(written.detach().numpy(), expected.detach().numpy())
    assert written.requires_grad == expected.requires_grad
    grads = directions([expected])
    one, other = (
        tn.autograd.grad([made], leaves, grads, allow_unused=True) for made in (expected, written)
    )
    for a, b in zip(one, other, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-15)


# ---- memory -------------------------------------------------------------------------------------

SHARING = {"unsafe_view"}  # for results that nobody else has seen


@for_each(OF_OPERATIONS)
def test_views_share_memory_and_nothing_else_does(row):
    op = REGISTRY[row.name]
    inputs = row.arguments(row.leaves())
    made = op.function(*inputs, **row.kwargs)
    outputs = list(made) if isinstance(made, tuple) else [made]
    sources = [x for x in inputs if isinstance(x, tn.Tensor)]
    for output in outputs:
        if output.numel() == 0:
            continue
        shared = any(np.shares_memory(output._array, x._array) for x in sources)
        assert shared == (op.kind == "view" or row.name in SHARING)
        assert output._is_view() == (op.kind == "view")


# ---- documentation ------------------------------------------------------------------------------

FUNCTIONS = {**COMPOSITES, **{name: op.function for name, op in REGISTRY.items()}}


@for_each(in_parts(FUNCTIONS, 100))
def test_every_operation_says_what_it_returns(function):
    text = function.__doc__
    assert text, "it has no docstring"
    assert text.split("\n")[0].rstrip().endswith((".", "?")), "it has no whole first sentence"


@for_each(in_parts(REGISTRY.keys(), 20))
def test_examples_of_operations_run(name):
    """doctest does not find them by itself: an operation is not a function."""
    function = REGISTRY[name].function
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    examples = parser.get_doctest(function.__doc__, {"tn": tn}, name, None, 0)
    shown = []
    runner.run(examples, out=shown.append)
    assert not runner.failures, "".join(shown)


def test_a_wrong_derivative_would_be_found():
    """The checks above can fail: sin with the derivative of -cos."""

    class Wrong(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return -g * ctx.saved_tensors[0].cos()

    leaf = f(3).leaf(np.random.RandomState(0))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(Wrong.apply, [leaf])


def test_second_derivatives_of_a_norm_that_is_zero():
    for p in (1.5, 2.0, 3.0):
        x = tn.zeros(1, 3, requires_grad=True)
        w = tn.ones(1, requires_grad=True)
        (g,) = tn.autograd.grad((x.norm(p, 1) * w).sum(), x, create_graph=True)
        assert tn.autograd.grad(g.sum(), w)[0].tolist() == [0.0]
