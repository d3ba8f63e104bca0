"""Private helpers of ``torch.optim.optimizer``: a copy of PyTorch's optimizers runs with them."""

import pytest

import tinynet as tn
from tinynet import optim
from tinynet.compat import paths

HELPERS = paths.unite(
    "torch.optim.optimizer",
    paths.homes_of("torch.optim.optimizer"),
    type(tn)("torch.optim.optimizer"),
)


class Copied(HELPERS.Optimizer):
    """SGD in the form of PyTorch's files, with sums of steps in a tensor."""

    def __init__(self, params, lr=0.5, differentiable=False):
        super().__init__(params, {"lr": lr, "differentiable": differentiable})

    @HELPERS._use_grad_for_differentiable
    def step(self, closure=None):
        self.recorded = tn.is_grad_enabled()
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            grads = [p.grad for p in params]
            steps = [self.state[p].setdefault("step", tn.tensor(0.0)) for p in params]
            found = self._group_tensors_by_device_and_dtype([params, grads, steps])
            for (own, gradients, counts), _ in found.values():
                descend(own, gradients, counts, lr=group["lr"])


@HELPERS._disable_dynamo_if_unsupported(single_tensor_fn=None)
def descend(params, grads, state_steps, *, lr):
    """Update parameters, complex ones by their real parts and imaginary parts."""
    HELPERS._view_as_real(params, grads)
    for p, g, step in zip(params, grads, HELPERS._stack_if_compiling(state_steps), strict=True):
        step += 1
        p.add_(g, alpha=-lr / HELPERS._get_value(step))


def test_a_copied_optimizer_steps_as_sgd():
    start = [tn.tensor([1.0, 2.0]), tn.tensor([1 + 2j, 3 - 1j]), tn.tensor(3.0)]
    copied, plain = ([p.clone().requires_grad_() for p in start] for _ in range(2))
    one, other = Copied(copied), optim.SGD(plain, 0.5)
    for p, q in zip(copied[:2], plain[:2], strict=True):  # the last one has no gradient
        p.grad, q.grad = p.detach() * 3, q.detach() * 3
    one.step()
    other.step()
    assert not one.recorded and one.state[copied[0]]["step"] == 1
    assert all(p.equal(q) for p, q in zip(copied, plain, strict=True))


def test_differentiable_steps_are_recorded():
    made = Copied([tn.ones(1, requires_grad=True)], differentiable=True)
    made.step()
    assert made.recorded


def test_choices_are_those_of_eager_mode_on_a_cpu():
    p, whole = tn.ones(2), tn.ones(2, dtype=tn.int64)
    assert HELPERS._default_to_fused_or_foreach([p, None], False) == (False, False)
    assert HELPERS._default_to_fused_or_foreach([p], False, use_fused=True) == (True, False)
    assert HELPERS._default_to_fused_or_foreach([p], True, use_fused=True) == (False, False)
    assert HELPERS._default_to_fused_or_foreach([whole], False, use_fused=True) == (False, False)
    HELPERS._device_dtype_check_for_fused(p)
    with pytest.raises(RuntimeError, match="requires all the params to be floating point"):
        HELPERS._device_dtype_check_for_fused(whole)
    assert HELPERS._get_scalar_dtype() is HELPERS._get_scalar_dtype(is_fused=True) is tn.float32
    assert HELPERS._to_scalar(tn.ones(1)).ndim == 0 and HELPERS._to_scalar(2.0) == 2.0
    assert "cpu" not in HELPERS._get_capturable_supported_devices()
