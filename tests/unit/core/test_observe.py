"""Observers see what runs: kernels' own arrays, writes in place, this thread only."""

import threading

import tinynet as tn
from tinynet.core.trace import Observable, observing
from tinynet.nn import functional as F


def seen(run):
    found = []
    with observing(lambda op, inputs, outputs, attributes: found.append((op, inputs, outputs))):
        result = run()
    return result, found


def test_outputs_are_the_arrays_of_the_tensors():
    x = tn.ones(2, 3)
    (y, z), found = seen(lambda: ((y := x * 2), y.exp()))
    assert [op.title for op, _, _ in found] == ["mul", "exp"]
    assert found[0][1][0] is x._array and found[0][2][0] is y._array
    assert found[1][1][0] is y._array and found[1][2][0] is z._array


def test_values_that_only_the_derivative_needs_are_not_outputs():
    loss, found = seen(lambda: F.cross_entropy(tn.ones(2, 3), tn.tensor([0, 1])))
    assert found[-1][2][0] is loss._array and len(found[-1][2]) == 1
    result, found = seen(lambda: F.gelu(tn.ones(2, 3)))
    assert found[-1][2][0] is result._array


def test_several_outputs():
    (values, indices), found = seen(lambda: tn.ones(2, 3).max(1))
    assert [a is b._array for a, b in zip(found[-1][2], (values, indices), strict=True)] == [
        True
    ] * 2


def test_writes_in_place():
    x, y = tn.zeros(3), tn.ones(3)

    def write():
        with tn.no_grad():
            x.add_(y)
            x.mul_(tn.tensor([1, 2, 3]))
            x[0] = 2
            x.zero_()

    _, found = seen(write)
    writes = [(op.name, inputs, outputs) for op, inputs, outputs in found if op.writes]
    assert [name for name, _, _ in writes] == ["add_", "mul_", "__setitem__", "zero_"]
    assert all(inputs[0] is outputs[0] is x._array for _, inputs, outputs in writes)
    assert writes[0][1][1] is y._array


def test_other_threads_are_not_seen():
    def run():
        thread = threading.Thread(target=lambda: tn.ones(3).exp())
        thread.start()
        thread.join()

    assert seen(run)[1] == []


def test_nothing_is_left_behind():
    _, found = seen(lambda: None)
    tn.ones(2).exp()
    assert found == []


def test_other_threads_are_not_observed_and_compute_as_ever():
    seen, results = [], []

    def run():
        results.append((tn.ones(2) * 3).tolist())

    with observing(lambda op, inputs, outputs, attributes: seen.append(op.name)):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert (tn.ones(2) + 1).tolist() == [2.0, 2.0]
    assert results == [[3.0, 3.0]] and seen == ["add"]


def test_a_function_that_is_replaced_is_not_kept():
    """Formulas are compiled anew for other dtypes, under the same names."""
    observed = Observable()
    for found in (1, 2):
        observed.add_functions({"formula": lambda found=found: found})
        for make in (lambda op, kernel: kernel, None):
            observed.wrap_kernels(make)
            assert observed.namespace["formula"]() == found
