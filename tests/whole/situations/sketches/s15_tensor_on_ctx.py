import tinynet as tn


class Square(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.x * g


Square.apply(tn.ones(2, requires_grad=True)).sum().backward()

# ---- says ----
# LostGradientWarning: Square.forward stores a tensor on ctx outside save_for_backward (attribute 'x'): it is not checked for changes in place, and keeps its graph alive. Use ctx.save_for_backward for inputs and outputs. More: python -m tinynet explain lost-gradient
