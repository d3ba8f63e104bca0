"""Every operation on a whole batch against itself on each example: values and gradients."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tests.tools.grouped import for_each, in_parts
from tests.unit.ops.samples import F, seeded
from tests.unit.ops.test_gradients import ROWS
from tinynet.core.declaration.operation import REGISTRY
from tinynet.ops.batching import Level, UnbatchableError, dispatch
from tinynet.ops.batching.dispatch import BORDER, FAMILIES, LOOPED, OF_ALL, rule_of

COUNT = 2  # examples
# Of the tensors of a call, the first, second, ...: where each has its batch; None: all share it.
PATTERNS = [(0,), (-1, 0), (0, None), (None, 0), (1, -1), (0, None, -1)]
OF_NAME: dict[str, list] = {}
for _number, _row in enumerate(row for rows in ROWS.values() for row in rows.values()):
    OF_NAME.setdefault(_row.name, []).append((_number, _row))


def is_constant(a):
    return isinstance(a, tn.Tensor)


def tensors_of(args, kind):
    """The arguments of a kind, those in lists included, in their order."""
    parts = [x for a in args for x in (a if isinstance(a, list) else [a])]
    return [x for x in parts if kind(x)]


def called(row, floats, constants):
    """Call a sample with other tensors; the floating-point tensors of the result."""
    left, fixed = iter(floats), iter(constants)

    def fill(a):
        if isinstance(a, list):
            return [fill(x) for x in a]
        if isinstance(a, F):
            return a.laid_out(next(left))
        return next(fixed) if is_constant(a) else a

    return found_in(row.function(*[fill(a) for a in row.args], **row.kwargs))


def found_in(value):
    if isinstance(value, tn.Tensor):
        return [value]
    return [t for part in value for t in found_in(part)] if isinstance(value, (tuple, list)) else []


def with_gradients(row, floats, constants):
    """The results of a sample, and the gradients of a function of them."""
    leaves = [t.detach().requires_grad_() for t in floats]
    results = called(row, leaves, constants)
    roots = [r for r in results if r.requires_grad]
    weighed = [(r * r.detach().cos()).sum() for r in roots]
    grads = tn.autograd.grad(weighed, leaves, allow_unused=True) if roots else ()
    return results + [g for g in grads if g is not None]


def examples_of(row):
    """The floats of each example; the constants are the same in all."""
    made = []
    for number in range(COUNT):
        random = seeded(7 + number)
        made.append([spec.leaf(random).detach() for spec in row.specs()])
    return made


def pattern_of(row, number):
    pattern = PATTERNS[number % len(PATTERNS)]
    count = len(row.specs())
    dims = [pattern[i % len(pattern)] for i in range(count)]
    if all(d is None for d in dims):
        dims[:1] = [0] * bool(dims)
    if "view" in row.name:  # which wants examples that lie together in memory
        dims = [None if d is None else 0 for d in dims]
    shapes = [t.shape for t in examples_of(row)[0]]
    return [d if d is None or d <= len(s) else 0 for d, s in zip(dims, shapes, strict=True)]


def at_once(row, dims, examples, constants, batched_constants=False):
    with Level(COUNT) as level:
        floats = [
            examples[0][i] if d is None else level.enter(tn.stack([e[i] for e in examples], d), d)
            for i, d in enumerate(dims)
        ]
        if batched_constants:
            constants = [level.enter(tn.stack([c] * COUNT), 0) for c in constants]
        return [level.leave(t, 0) for t in with_gradients(row, floats, constants)]


def one_by_one(row, dims, examples, constants):
    rows = []
    for example in examples:
        floats = [examples[0][i] if d is None else example[i] for i, d in enumerate(dims)]
        rows.append(with_gradients(row, floats, constants))
    return [np.stack([t.detach().numpy() for t in column]) for column in zip(*rows, strict=True)]


def assert_same(found, wanted):
    assert len(found) == len(wanted)
    for t, array in zip(found, wanted, strict=True):
        assert t.shape == array.shape
        assert t.detach().numpy().dtype == array.dtype
        # float64; other orders of summation in singular systems and long products
        np.testing.assert_allclose(t.detach().numpy(), array, rtol=1e-9, atol=1e-9)


# These leave tensors for numpy, so that `vmap` runs the whole function for each example.
LEAVE = {
    "quantile", "nanquantile", "as_strided", "cholesky_inverse", "lu_solve", "lu_unpack",
    "cholesky_inverse of an upper one", "eigvalsh", "svdvals", "eigvalsh of a multiple",
    "matrix_norm", "cond", "cov with weights",
}  # fmt: skip
WRITES = "] = y"  # of an example's value to what all share: PyTorch refuses


@pytest.mark.filterwarnings("ignore::UserWarning")
@for_each(in_parts(OF_NAME, 10))
def test_a_batch_is_what_its_examples_are(rows):
    for number, row in rows:
        check(number, row)


def check(number, row):
    dims, examples = pattern_of(row, number), examples_of(row)
    constants = tensors_of(row.args, is_constant)
    both = bool(constants) and (not dims or number % 2 == 0)
    if WRITES in row.name and dims[0] is None and dims[1] is not None:
        with pytest.raises(RuntimeError, match="vmap: inplace arithmetic"):
            at_once(row, dims, examples, constants)
        return
    try:
        found = at_once(row, dims, examples, constants, both)
    except UnbatchableError:
        assert row.name in LEAVE or (both and row.name == "repeat_interleave")
        return
    assert_same(found, one_by_one(row, dims, examples, constants))


# ---- which operations have a rule ---------------------------------------------------------------


OURS = {name: op for name, op in REGISTRY.items() if op.declared.__module__.startswith("tinynet.")}


def test_an_operation_without_a_rule_is_listed():
    without = {name for name, op in OURS.items() if rule_of(op) is None}
    assert without == LOOPED | BORDER
    assert len(LOOPED) <= len(OURS) // 10


def test_families_list_operations_once():
    listed = [name for names in FAMILIES.values() for name in names.split()]
    listed += [*OF_ALL, *LOOPED, *BORDER]
    assert len(listed) == len(set(listed))
    known = OURS.keys() | {re.sub(r"[123]d$", "", name) for name in OURS}
    assert set(listed) <= known


def test_only_the_table_of_families_knows_operations_by_name():
    """Strings elsewhere in batching/ name parameters."""
    parameters = {name for op in OURS.values() for name in (*op.tensors, *op.attributes)}
    names = OURS.keys() - parameters
    for path in {*Path(dispatch.__file__).parent.glob("*.py")} - {Path(dispatch.__file__)}:
        for text in strings_of(ast.parse(path.read_text(encoding="utf-8"))):
            assert not text.split() or not names >= set(text.split()), f"{path.name}: {text}"


def strings_of(tree):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    parts = [node.body[0] for node in ast.walk(tree) if isinstance(node, kinds)]
    docs = [part.value for part in parts if isinstance(part, ast.Expr)]
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [node.value for node in texts if isinstance(node.value, str) and node not in docs]


def test_operations_with_a_rule_do_not_loop(monkeypatch):
    loops = []
    monkeypatch.setattr(dispatch, "_loop", lambda call: loops.append(call.op.name))
    x = tn.randn(3, 4, 5, dtype=tn.float64)
    w = tn.randn(5, 2, dtype=tn.float64)
    tn.vmap(lambda a: (a * 2 + a.sum(0)).softmax(-1).max(1).values)(x)
    tn.vmap(lambda a: (a @ w).transpose(0, 1).reshape(-1)[1:].cumsum(0))(x)
    tn.vmap(lambda a: tn.cat([a, a.flip(0)], 1).sort(1).values[:, tn.tensor([0, 2])])(x)
    image = tn.randn(3, 2, 6, 6)
    net = tn.nn.Sequential(tn.nn.Conv2d(2, 4, 3), tn.nn.ReLU(), tn.nn.MaxPool2d(2), tn.nn.Flatten())
    tn.vmap(lambda a: net(a.unsqueeze(0)))(image)
    losses = tn.func.grad(lambda a, target: tn.nn.functional.cross_entropy(a, target))
    tn.vmap(losses)(tn.randn(3, 4), tn.tensor([0, 3, 1]))
    assert loops == []


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("sizes", "places"), [((4,), ()), ((2, 4), (2,)), ((2, 4, 3), (2, 3))])
def test_losses_of_classes(sizes, places, reduction, monkeypatch):
    """The first target of the second example does not count."""
    random = np.random.RandomState(0)
    wanted = random.randint(0, 4, (3, *places))
    wanted.reshape(3, -1)[1, 0] = -100
    scores, target = tn.tensor(random.uniform(1.0, 2.0, (3, *sizes))), tn.tensor(wanted)

    def gradient(x, t):
        def loss(x):
            return tn.nn.functional.nll_loss(x.log(), t, reduction=reduction).square().sum()

        return tn.func.grad_and_value(loss)(x)

    pairs = [gradient(x, t) for x, t in zip(scores, target, strict=True)]
    monkeypatch.setattr(dispatch, "_loop", None)
    for found, rows in zip(
        tn.vmap(gradient)(scores, target), zip(*pairs, strict=True), strict=True
    ):
        np.testing.assert_allclose(found.numpy(), tn.stack(rows).numpy(), rtol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    "name",
    [
        "mse_loss",
        "smooth_l1_loss",
        "huber_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
    ],
)
def test_losses_of_elements(name, reduction, monkeypatch):
    """Each example has the loss, and the gradients of its gradient, that it has alone."""
    x, y = tn.rand(3, 2, 4, dtype=tn.float64), tn.rand(3, 2, 4, dtype=tn.float64)

    def gradient(x, y):
        def loss(x):
            return getattr(tn.nn.functional, name)(x, y, reduction=reduction).square().sum()

        return tn.func.grad(lambda x: tn.func.grad(loss)(x).sin().sum())(x)

    wanted = tn.stack([gradient(*pair) for pair in zip(x, y, strict=True)])
    monkeypatch.setattr(dispatch, "_loop", None)
    np.testing.assert_allclose(tn.vmap(gradient)(x, y).numpy(), wanted.numpy(), rtol=1e-12)
