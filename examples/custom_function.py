"""An operation with your own backward: a Function, its check, and its use in a Module.

Run: python examples/custom_function.py
"""

import tinynet as torch
from tinynet import nn


class ClippedExp(torch.autograd.Function):
    """exp(x), clipped at `limit`; the gradient is 0 where it was clipped."""

    @staticmethod
    def forward(ctx, x, limit):
        result = x.exp().clamp(max=limit)
        ctx.save_for_backward(result)  # detects later writes to the tensors
        ctx.limit = limit  # everything else is an attribute
        return result

    @staticmethod
    def backward(ctx, gradient):
        (result,) = ctx.saved_tensors
        # One gradient per argument of forward, or None.
        return gradient * result * (result < ctx.limit), None


x = torch.tensor([0.0, 1.0, 9.0], requires_grad=True)
y = ClippedExp.apply(x, 100.0)
print(y)  # tensor([  1.0000,   2.7183, 100.0000], grad_fn=<ClippedExpBackward>)
y.sum().backward()
print(x.grad)  # tensor([1.0000, 2.7183, 0.0000])

# Compare the backward with finite differences, in double precision.
inputs = torch.tensor([0.5, -1.0, 7.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(lambda x: ClippedExp.apply(x, 100.0), inputs))  # True

# The backward consists of operations, so it can itself be differentiated.
x = torch.tensor(1.0, requires_grad=True)
(first,) = torch.autograd.grad(ClippedExp.apply(x, 100.0), x, create_graph=True)
(second,) = torch.autograd.grad(first, x)
print(second)  # tensor(2.7183)


class Positive(nn.Module):
    """A layer whose outputs are positive, and at most `limit`."""

    def __init__(self, inputs, outputs, limit=100.0):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.limit = limit

    def forward(self, x):
        return ClippedExp.apply(self.linear(x), self.limit)


layer = Positive(3, 2)
layer(torch.randn(4, 3)).sum().backward()
print(layer.linear.weight.grad.shape)  # tinynet.Size([2, 3])
