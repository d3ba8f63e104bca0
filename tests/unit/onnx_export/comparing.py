"""Exported models beside tinynet's: the same answers in onnxruntime, at several batch sizes."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tinynet import nn
from tinynet.capture.program import leaves

pytest.importorskip("onnx", reason="needs onnx: pip install onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")

ROUNDINGS = 512  # of a few layers with a hundred inputs each, in two orders


def running(program):
    """Return a function of arrays that runs an exported model and returns its outputs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        program.model_proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_inputs()]

    def run(*arrays):
        return session.run(None, dict(zip(names, arrays, strict=True)))

    return run


def of_size(example, batch, generator):
    """An input of another batch size: other numbers, or the example's integers again."""
    if not example.ndim:
        return example
    shape = (batch, *example.shape[1:])
    if example.is_floating_point():
        return tn.randn(*shape, generator=generator, dtype=example.dtype)
    return tn.tensor(np.take(example.numpy(), np.arange(batch) % len(example), 0))


def assert_same(model, *examples, batches=(1, 3, 4), roundings=ROUNDINGS, **options):
    """Export a model; check its answers in onnxruntime. Returns the exported program."""
    program = tn.onnx.export(model, examples, **options)
    run, generator = running(program), tn.Generator().manual_seed(1)
    modules = [*model.modules()] if isinstance(model, nn.Module) else []
    before = [m.training for m in modules]
    for m in modules:
        m.training = False
    for batch in batches:
        inputs = [of_size(x, batch, generator) for x in examples]
        with tn.no_grad():
            wanted = [t.numpy() for t in leaves(model(*inputs)) if isinstance(t, tn.Tensor)]
        found = run(*(x.numpy() for x in inputs))
        for mine, its in zip(wanted, found, strict=True):
            assert mine.dtype == its.dtype
            if mine.dtype.kind == "f":
                assert_near(its, mine.astype(np.float64), roundings, name=f"batch {batch}")
            else:
                np.testing.assert_array_equal(its, mine)
    for m, training in zip(modules, before, strict=True):
        m.training = training
    return program
