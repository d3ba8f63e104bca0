"""The packages of `torch.utils` that measure, report and convert, and those of quantization."""

import gc
import itertools

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.compat import quantization, refusal
from tinynet.compat.utilities import benchmark, collect_env, dlpack, weak


def ticking():
    """A clock that advances by a second with each look."""
    seconds = itertools.count()
    return lambda: float(next(seconds))


def test_timer_counts_what_its_clock_shows():
    ran = []
    timer = benchmark.Timer("f()", timer=ticking(), globals={"f": lambda: ran.append(1)})
    found = timer.timeit(200)
    assert (found.number_per_run, found.times) == (200, [1 / 200])
    assert len(ran) == 202  # a warm-up of a hundredth
    blocks = []
    found = timer.blocked_autorange(lambda *block: blocks.append(block), min_run_time=3)
    assert found.raw_times == [1.0, 1.0, 1.0] and blocks == [(1, 1.0)] * 3
    assert len(timer.adaptive_autorange().raw_times) == 4 and timer.timeit(1).iqr == 0


def test_timer_sets_threads_and_refuses_other_languages():
    before = tn.get_num_threads()
    seen = []
    known = {"f": lambda: seen.append(tn.get_num_threads())}
    benchmark.Timer("f()", globals=known, num_threads=2).timeit(1)
    assert set(seen) == {2} and tn.get_num_threads() == before
    with pytest.raises(NotImplementedError, match="compiles no C"):
        benchmark.Timer("x", language="c++")


def test_measurements_print_their_quartiles_and_tables_merge_them():
    task = benchmark.TaskSpec("x + 1", "x = 1", label="add", sub_label="one", description="f32")
    some = benchmark.Measurement(10, [1e-5, 2e-5, 3e-5], task)
    assert str(some).splitlines() == [
        "add: one",
        "setup: x = 1",
        "  Median: 2.00 us",
        "  IQR:    1.00 us",
        "  3 measurements, 10 runs per measurement, 1 thread",
    ]
    other = benchmark.TaskSpec("x", "pass", label="add", sub_label="two", description="f64")
    table = benchmark.Compare([some, benchmark.Measurement(1, [5e-6], task)])
    table.extend_results([benchmark.Measurement(1, [4e-3], other)])
    lines = str(table).splitlines()
    assert lines[1].split() == ["|", "f32", "|", "f64"]
    assert lines[3].split() == ["one", "|", "2.50", "|"]
    assert lines[4].split() == ["two", "|", "|4000.00"]
    assert some.label == "add" and some.has_warnings and some.env == "Unspecified env"


def test_tensors_speak_dlpack():
    x = tn.arange(6.0).reshape(2, 3).t()
    array = np.from_dlpack(x)
    array[0, 1] = 9
    assert x[0, 1] == 9 and dlpack.from_dlpack(x)[0, 1] == 9
    assert not np.shares_memory(np.from_dlpack(x, copy=True), array)
    assert np.shares_memory(np.from_dlpack(x), array) and x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        np.from_dlpack(tn.ones(2, requires_grad=True))
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        np.from_dlpack(tn.ones(2, dtype=tn.bfloat16))


def test_dlpack_shares_memory():
    x = tn.arange(3)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y[0] = 7
    assert x[0] == 7 and y.dtype is x.dtype
    array = np.zeros(2)
    copy = dlpack.from_dlpack(array, copy=True)
    dlpack.from_dlpack(array).fill_(1)
    assert array.tolist() == [1, 1] and copy.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="requires grad"):
        dlpack.to_dlpack(tn.ones(1, requires_grad=True))


def test_weak_keys_are_compared_by_identity():
    x, y = tn.ones(2), tn.ones(2)
    known = weak.WeakTensorKeyDictionary({x: 1})
    known[y] = 2
    assert (known[x], known[y], len(known)) == (1, 2, 2) and tn.ones(2) not in known
    assert 3 not in known and known.copy()[y] == 2
    del y
    gc.collect()
    assert [key is x for key in known] == [True] and len(known) == 1
    reference = weak.WeakIdRef(x)
    assert reference == weak.WeakIdRef(x) and not reference == weak.WeakIdRef(tn.ones(2))
    other = weak.WeakIdRef(nn.Linear(1, 1))
    gc.collect()
    assert other() is None and other == other and not other == reference
    with pytest.raises(AssertionError, match="expected a Tensor"):
        weak.TensorWeakRef(3)


def test_environment_names_the_versions():
    text = collect_env.get_pretty_env_info()
    assert f"numpy=={np.__version__}" in text and "Is CUDA available: False" in text


def test_quantization_and_extensions_can_be_imported_and_refuse_when_called():
    net = quantization.QuantWrapper(nn.Linear(2, 1))
    assert net(tn.ones(1, 2)).shape == (1, 1) and [*dict(net.named_children())][0] == "quant"
    config = quantization.QConfig(quantization.MinMaxObserver.with_args(dtype=tn.int8), None)
    for call in (
        lambda: quantization.prepare(net),
        lambda: quantization.quantize_dynamic(net, {nn.Linear}),
        config.activation,
    ):
        with pytest.raises(NotImplementedError, match="there are no quantized numbers"):
            call()
    with pytest.raises(NotImplementedError, match="extensions are linked with PyTorch's library"):
        refusal.load_inline("mine", "")


def test_layers_of_quantized_models_work_in_float_or_refuse_when_made():
    x = tn.tensor([[1.0, -2.0]])
    exact = quantization.FloatFunctional()
    for found, right in (
        (exact.add(x, x), [[2, -4]]),
        (exact.add_relu(x, x), [[2, 0]]),
        (exact.mul(x, x), [[1, 4]]),
        (exact.add_scalar(x, 1), [[2, -1]]),
        (exact.mul_scalar(x, 2), [[2, -4]]),
        (exact.matmul(x, x.T), [[5]]),
        (exact.cat([x, x], dim=1), [[1, -2, 1, -2]]),
    ):
        assert found.tolist() == right
    with pytest.raises(RuntimeError, match="not intended to use the 'forward'"):
        exact(x)
    fused = quantization.LinearReLU(nn.Linear(2, 3), nn.ReLU())
    assert tn.equal(fused(x), fused[0](x).relu()) and isinstance(fused, nn.Sequential)
    for layer in (quantization.Linear, quantization.BatchNorm2d):
        with pytest.raises(NotImplementedError, match="there are no quantized numbers"):
            layer(2, 3)
