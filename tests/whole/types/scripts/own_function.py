"""A custom autograd Function, its check, hooks on modules and tensors, gradients by hand."""

from __future__ import annotations

from typing import Any

import tinynet as tn
from tinynet import Tensor, nn
from tinynet.autograd import Function, gradcheck
from tinynet.autograd.function import FunctionCtx, once_differentiable


class Swish(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, beta: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * tn.sigmoid(beta * x)

    @staticmethod
    def backward(ctx: FunctionCtx, grad_output: Tensor) -> tuple[Tensor | None, None]:
        (x,) = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return None, None
        s = tn.sigmoid(ctx.beta * x)
        return grad_output * (s + ctx.beta * x * s * (1 - s)), None


class StraightThrough(Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, levels: int = 4) -> Tensor:
        ctx.mark_non_differentiable()
        return (input * levels).round() / levels

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return grads[0], None


def swish(x: Tensor, beta: float = 1.0) -> Tensor:
    out: Tensor = Swish.apply(x, beta)
    return out


class SwishNet(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, x: Tensor, *, quantize: bool = False) -> Tensor:
        h = swish(self.fc(x), 1.5)
        if quantize:
            h = StraightThrough.apply(h)
        return self.out(h)


class FeatureExtractor:
    def __init__(self, model: nn.Module, layers: list[str]) -> None:
        self.features: dict[str, Tensor] = {}
        self.handles = [
            dict(model.named_modules())[name].register_forward_hook(self.save(name))
            for name in layers
        ]

    def save(self, name: str) -> Any:
        def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
            self.features[name] = output.detach()

        return hook

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def main() -> None:
    tn.manual_seed(3)
    x64 = tn.randn(3, dtype=tn.double, requires_grad=True)
    print(gradcheck(swish, (x64,)), gradcheck(lambda t: Swish.apply(t, 2.0), x64))

    net = SwishNet(4)
    extractor = FeatureExtractor(net, ["fc"])
    norms: list[float] = []
    handle = net.out.weight.register_hook(lambda grad: norms.append(grad.norm().item()))
    x = tn.randn(5, 4, requires_grad=True)
    y = net(x, quantize=True)
    y.register_hook(lambda grad: grad * 2)
    h = y.mean()
    h.retain_grad()
    h.backward(retain_graph=True)
    print(extractor.features["fc"].shape, len(norms), h.grad)
    handle.remove()
    extractor.remove()

    def on_backward(
        module: nn.Module, grad_input: tuple[Tensor, ...] | Tensor, grad_output: Any
    ) -> None:
        print(type(module).__name__, len(grad_input))

    net.out.register_full_backward_hook(on_backward)
    (gx,) = tn.autograd.grad(net(x).sum(), x, create_graph=True)
    penalty = ((gx.norm(2, dim=1) - 1) ** 2).mean()
    penalty.backward()
    if x.grad is not None and net.fc.weight.grad is not None:
        print(x.grad.shape, net.fc.weight.grad.abs().sum() > 0)
    with tn.set_grad_enabled(False):
        print(net(x).requires_grad)
    node = y.grad_fn
    if node is not None:
        print(node.name(), [type(edge[0]).__name__ for edge in node.next_functions])
    jacobian = tn.autograd.functional.jacobian(lambda t: swish(t) * 2, x64.detach())
    print(jacobian.shape)


if __name__ == "__main__":
    main()
