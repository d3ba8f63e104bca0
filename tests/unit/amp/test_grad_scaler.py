"""GradScaler: the scale, the steps that it leaves out, and the order of its calls."""

import pickle

import pytest

import tinynet as tn
from tinynet import nn, optim


def setting(**options):
    p = tn.ones(2, requires_grad=True)
    scaler = tn.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2, **options)
    return p, optim.SGD([p], lr=0.25), scaler


def backward(p, scaler):
    p.grad = None
    scaler.scale((p * p).sum()).backward()


def test_gradients_are_scaled_and_scaled_back():
    p, optimizer, scaler = setting()
    backward(p, scaler)
    assert p.grad.tolist() == [8.0, 8.0]
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [2.0, 2.0]
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [0.5, 0.5]


def test_the_scale_grows_after_some_steps_and_shrinks_after_inf():
    p, optimizer, scaler = setting()
    scales = []
    for factor in (1.0, 1.0, float("inf"), float("nan"), 1.0, 1.0):
        backward(p, scaler)
        p.grad.mul_(factor)
        before = p.tolist()
        scaler.step(optimizer)
        scaler.update()
        assert (p.tolist() == before) is (factor != 1.0)
        scales.append((scaler.get_scale(), scaler.state_dict()["_growth_tracker"]))
    assert scales == [(4.0, 1), (8.0, 0), (4.0, 0), (2.0, 0), (2.0, 1), (4.0, 0)]


def test_the_scale_does_not_grow_beyond_float32():
    p, optimizer, scaler = setting(growth_factor=1e30)
    for _ in range(6):
        backward(p, scaler)
        p.grad.zero_()
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == pytest.approx(4e30)


def test_step_returns_what_the_optimizer_returns_or_none():
    p, _, scaler = setting()

    class Optimizer:
        param_groups = [{"params": [p]}]

        def step(self, *args, **kwargs):
            return args, kwargs

    optimizer = Optimizer()
    backward(p, scaler)
    assert scaler.step(optimizer, 1, a=2) == ((1,), {"a": 2})
    scaler.update()
    backward(p, scaler)
    p.grad.fill_(float("nan"))
    assert scaler.step(optimizer) is None


def test_lists_of_losses():
    p, _, scaler = setting()
    a, (b,) = scaler.scale([p, (p,)])
    assert a.tolist() == b.tolist() == [4.0, 4.0]
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale([p, 3])


def test_calls_in_a_wrong_order():
    p, optimizer, scaler = setting()
    for what, call in (
        ("unscale_", lambda: scaler.unscale_(optimizer)),
        ("step", lambda: scaler.step(optimizer)),
        ("update", lambda: scaler.update()),
    ):
        with pytest.raises(AssertionError, match=f"^Attempted {what} but _scale is None.  This"):
            call()
    backward(p, scaler)
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update."):
        scaler.update()
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: 0)
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer since the last"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)."):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning"):
        pickle.dumps(scaler)
    p.grad = None
    scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer."):
        scaler.step(optimizer)


def test_arguments_that_cannot_be():
    with pytest.raises(AssertionError, match="The growth factor must be > 1.0."):
        setting(growth_factor=1.0)
    with pytest.raises(AssertionError, match="The backoff factor must be < 1.0."):
        setting(backoff_factor=1.0)
    p, _, scaler = setting()
    backward(p, scaler)
    with pytest.raises(AssertionError, match="new_scale should be a float or a 1-element"):
        scaler.update(tn.ones(2))
    scaler.update(tn.tensor(16.0))
    assert scaler.get_scale() == 16.0
    half = tn.ones(1, dtype=tn.float16, requires_grad=True)
    half.grad = tn.ones(1, dtype=tn.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients."):
        scaler.unscale_(optim.SGD([half], lr=1.0))


def test_the_state_is_kept():
    p, optimizer, scaler = setting()
    backward(p, scaler)
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state_dict()
    assert state == {
        "scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2,
        "_growth_tracker": 1,
    }  # fmt: skip
    other = tn.amp.GradScaler("cpu")
    other.load_state_dict(state)
    copy = pickle.loads(pickle.dumps(scaler))
    for one in (other, copy, scaler):
        p.grad = None
        backward(p, one)
        one.step(optimizer)
        one.update()
        assert one.get_scale() == 8.0
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        other.load_state_dict({})


def test_switched_off():
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
        scaler = tn.amp.GradScaler()
    net = nn.Linear(1, 1)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    loss = net(tn.ones(1, 1)).sum()
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1.0 and not scaler.is_enabled()
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.state_dict() == {}
    scaler.load_state_dict({})
    with pytest.warns(FutureWarning, match="torch.cuda.amp.GradScaler"):
        tn.amp.cuda.GradScaler(enabled=False)
