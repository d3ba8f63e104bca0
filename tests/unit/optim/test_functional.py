"""Steps as functions of lists do what the classes do."""

import pytest

import tinynet as tn
from tinynet import optim
from tinynet.nn import functional as F
from tinynet.optim.adafactor import adafactor
from tinynet.optim.muon import muon
from tinynet.optim.sparse_adam import sparse_adam

MATRIX = [[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]
GRADIENTS = [tn.tensor([[0.5, -1.0, 2.0], [3.0, 0.25, 1.0]]), tn.tensor([[1.0] * 3, [-2.0] * 3])]


def stepped(make, gradients, shape=MATRIX):
    """Return a parameter after steps of an optimizer, and its state."""
    p = tn.tensor(shape, requires_grad=True)
    made = make([p])
    for grad in gradients:
        p.grad = grad
        made.step()
    return p, made.state[p]


def test_adafactor_of_matrices_and_vectors():
    for shape, gradients in ((MATRIX, GRADIENTS), (MATRIX[0], [g[0] for g in GRADIENTS])):
        expected, state = stepped(lambda ps: optim.Adafactor(ps, lr=0.1), gradients, shape)
        p = tn.tensor(shape)
        rows, columns, variances = ([state.get(k)] for k in ("row_var", "col_var", "variance"))
        held = [
            [None if x is None else tn.zeros_like(x) for x in entry]
            for entry in (rows, columns, variances)
        ]
        options = {"d": 1.0, "lr": 0.1, "beta2_decay": -0.8, "weight_decay": 0.0}
        steps = [tn.tensor(0.0)]
        for grad in gradients:
            adafactor([p], [grad], *held, steps, **options, eps1=None, eps2=1e-3, maximize=False)
        assert p.equal(expected) and steps[0] == 2
        assert all(
            a is b is None or a.equal(b)
            for one, other in zip(held, (rows, columns, variances), strict=True)
            for a, b in zip(one, other, strict=True)
        )


def test_muon():
    expected, state = stepped(lambda ps: optim.Muon(ps, lr=0.1), GRADIENTS)
    p, buffers = tn.tensor(MATRIX), [tn.zeros(2, 3)]
    options = optim.Muon([tn.ones(1, 1, requires_grad=True)], lr=0.1).defaults
    for grad in GRADIENTS:
        muon([p], [grad], buffers, **options, has_complex=False)
    assert p.equal(expected) and buffers[0].equal(state["momentum_buffer"])
    with pytest.raises(RuntimeError, match="Foreach is not supported for Muon yet"):
        muon([p], GRADIENTS[:1], buffers, **options, has_complex=False, foreach=True)


def test_sparse_adam_is_given_the_number_of_its_step():
    table, rows = [*MATRIX, [0.0] * 3], []
    for i, grad in enumerate(GRADIENTS):
        weight = tn.tensor(table, requires_grad=True)
        F.embedding(tn.tensor([i, 1]), weight, sparse=True).backward(grad)
        rows.append(weight.grad)
    expected, state = stepped(lambda ps: optim.SparseAdam(ps, lr=0.1), rows, table)
    p, held = tn.tensor(table), [[tn.zeros(3, 3)], [tn.zeros(3, 3)]]
    options = {"eps": 1e-8, "beta1": 0.9, "beta2": 0.999, "lr": 0.1, "maximize": False}
    for step, grad in enumerate(rows, 1):
        sparse_adam([p], [grad], *held, [step], **options)
    assert p.equal(expected) and held[0][0].equal(state["exp_avg"])
