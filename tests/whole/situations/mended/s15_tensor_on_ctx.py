"""A tensor is stored on the context of a Function

`ctx.x = x` keeps the tensor and its graph alive, and nobody notices when it is written.
`save_for_backward` saves it with its version.
"""

import tinynet as tn


class Square(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


x = tn.ones(2, requires_grad=True)
Square.apply(x).sum().backward()

assert x.grad.tolist() == [2, 2]
