"""Runs the same with numpy's kernels and with those that LLVM compiled."""

import numpy as np

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near


def both(run):
    """What `run()` returns by numpy and by LLVM; LLVM stays on."""
    tn.backends.llvm.enabled = False
    plain = run()
    tn.backends.llvm.enabled = True
    return plain, run()


def assert_same(run):
    """Both give the same numbers, arrays by name."""
    plain, compiled = both(run)
    assert plain.keys() == compiled.keys()
    for name, expected in plain.items():
        assert compiled[name].dtype == expected.dtype, name
        np.testing.assert_array_equal(compiled[name], expected, err_msg=name)


def assert_alike(run, *arrays, terms=0, steps=STEPS):
    """Both give what `run(*arrays)` gives in float64, up to rounding; NaN and infinity where numpy.

    `terms` are those of the longest sum, `steps` the roundings beside it.
    What was added is not seen from outside. Its size is that of the result, and as many times more
    as the result in float64 moves when its inputs are rounded once more.
    """
    plain, compiled = both(lambda: run(*arrays))
    tn.backends.llvm.enabled = False
    signs = np.random.default_rng(0)
    exact = run(*(moved(a, 0.0, signs) for a in arrays))
    shaken = run(*(moved(a, np.finfo(a.dtype).eps / 2, signs) for a in arrays))
    tn.backends.llvm.enabled = True
    assert plain.keys() == compiled.keys() == exact.keys()
    for name, expected in exact.items():
        one, other = plain[name], compiled[name]
        assert (one.shape, one.dtype) == (other.shape, other.dtype), name
        finite = np.isfinite(one)
        wanted = np.where(finite, expected, one.astype(float))
        unit = float(np.finfo(one.dtype).eps) / 2
        shift = np.abs(shaken[name][finite] - expected[finite]).max(initial=0)
        scale = np.abs(expected[finite]).max(initial=0) + shift / unit
        assert_near(one, wanted, terms + steps, scale, f"{name} by numpy")
        assert_near(other, wanted, terms + steps, scale, f"{name} by LLVM")


def moved(array, part, signs):
    """An array in float64, each number moved by a part of itself, up or down."""
    if array.dtype.kind != "f":
        return array
    return np.asarray(array * (1.0 + part * signs.choice([-1, 1], array.shape)), float)


def assert_gradients_alike(function, *arrays, terms=0, steps=STEPS):
    """Both give the outputs of a function of tensors, and its gradients, up to rounding."""
    tn.backends.llvm.enabled = False
    with tn.no_grad():
        weights, count = weights_of(outputs_of(function, *map(tn.from_numpy, arrays))), len(arrays)

    def run(*arrays):
        return gradients(function, *arrays[:count], weights=arrays[count:])

    assert_alike(run, *arrays, *weights, terms=terms, steps=steps)


def outputs_of(function, *tensors):
    outputs = function(*tensors)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def weights_of(outputs):
    """Weights, so that each output counts differently in their sum."""
    rng = np.random.default_rng(3)
    return [np.asarray(rng.standard_normal(o.shape), "f4") for o in outputs]


def gradients(function, *inputs, weights=None):
    """The outputs of a function of arrays, and the gradients of their weighted sum."""
    tensors = [tn.from_numpy(x.copy()) for x in inputs]
    for t in tensors:
        t.requires_grad_(t.is_floating_point())
    outputs = outputs_of(function, *tensors)
    weights = [tn.from_numpy(w.copy()) for w in weights or weights_of(outputs)]
    sum((o * w).sum() for o, w in zip(outputs, weights, strict=True)).backward()
    found = {f"output {i}": o.detach().numpy().copy() for i, o in enumerate(outputs)}
    leaves = {f"gradient {i}": t.grad for i, t in enumerate(tensors) if t.requires_grad}
    return found | {name: g.numpy() for name, g in leaves.items()}
