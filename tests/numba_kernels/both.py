"""Runs the same with numpy's kernels and with those that numba compiled."""

import numpy as np

import tinynet as tn


def both(run):
    """What `run()` returns, arrays by name, by numpy and by numba; numba stays on."""
    tn.backends.numba.enabled = False
    plain = run()
    tn.backends.numba.enabled = True
    return plain, run()


def assert_alike(run, tolerance=2e-6):
    """Both give the same up to a part of the largest number, NaN and infinity where they were."""
    plain, compiled = both(run)
    assert plain.keys() == compiled.keys()
    for name, expected in plain.items():
        found = compiled[name]
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), name
        finite = np.isfinite(expected)
        np.testing.assert_array_equal(found[~finite], expected[~finite], err_msg=name)
        scale = np.abs(expected[finite]).max(initial=1e-30)
        np.testing.assert_allclose(
            found[finite], expected[finite], rtol=0, atol=tolerance * scale, err_msg=name
        )


def gradients(function, *inputs, seed=3):
    """A run: the outputs of a function of arrays, and the gradients of its inputs."""
    tensors = [tn.from_numpy(x.copy()) for x in inputs]
    for t in tensors:
        t.requires_grad_(t.is_floating_point())
    outputs = function(*tensors)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    rng = np.random.default_rng(seed)
    weights = [tn.from_numpy(rng.standard_normal(o.shape).astype("f4")) for o in outputs]
    sum((o * w).sum() for o, w in zip(outputs, weights, strict=True)).backward()
    found = {f"output {i}": o.detach().numpy().copy() for i, o in enumerate(outputs)}
    leaves = {f"gradient {i}": t.grad for i, t in enumerate(tensors) if t.requires_grad}
    return found | {name: g.numpy() for name, g in leaves.items()}
