"""What scripts ask of the runtime and of other devices."""

import pytest

import tinynet as tn
from tinynet import nn, optim


def test_threads_of_matrix_products():
    before = tn.get_num_threads()
    try:
        tn.set_num_threads(1)
        assert tn.get_num_threads() == 1
        assert (tn.ones(64, 64) @ tn.ones(64, 64))[0, 0].item() == 64.0
    finally:
        tn.set_num_threads(before)
    assert tn.get_num_threads() == before >= 1
    with pytest.raises(RuntimeError, match="expects a positive integer"):
        tn.set_num_threads(0)
    with pytest.raises(TypeError, match="expects an int, but got float"):
        tn.set_num_threads(1.0)


def test_a_script_that_would_use_a_gpu_runs_on_the_cpu():
    device = tn.device("cuda" if tn.cuda.is_available() else "cpu")
    assert str(device) == "cpu" and tn.cuda.device_count() == 0 and not tn.cuda.is_initialized()
    assert not tn.backends.mps.is_available() and not tn.backends.cudnn.is_available()
    tn.backends.cudnn.benchmark = True
    tn.backends.cuda.matmul.allow_tf32 = True
    tn.cuda.manual_seed_all(0)
    tn.cuda.empty_cache()
    tn.cuda.synchronize()
    with pytest.raises(RuntimeError, match="no current GPU"):
        tn.cuda.current_device()
    tn.use_deterministic_algorithms(True)
    assert tn.are_deterministic_algorithms_enabled()
    tn.backends.cudnn.benchmark = False


def test_compile_returns_what_it_is_given():
    layer = nn.Linear(2, 2)
    assert tn.compile(layer, mode="max-autotune") is layer

    @tn.compile(dynamic=True)
    def double(x):
        return x * 2

    assert double(tn.ones(1)).item() == 2.0


def test_mixed_precision_is_float32():
    with tn.autocast("cuda", enabled=False):
        assert (tn.ones(2) * 2).dtype is tn.float32
    with pytest.warns(UserWarning, match="autocast does nothing in tinynet"):
        with tn.amp.autocast("cpu", dtype=tn.float16):
            assert (tn.ones(2) @ tn.ones(2)).dtype is tn.float32
    w = tn.ones(1, requires_grad=True)
    optimizer, scaler = optim.SGD([w], lr=0.5), tn.amp.GradScaler("cpu")
    scaler.scale((w * w).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.item() == 0.0 and scaler.get_scale() == 1.0 and not scaler.is_enabled()
    scaler.load_state_dict(scaler.state_dict())
