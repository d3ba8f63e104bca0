"""Programs that the random ones found, made small, with PyTorch's answers."""

from __future__ import annotations

from typing import Any, NamedTuple

from .machine import Machine, Silent, builtin_class


class Found(NamedTuple):
    """A program whose answer was wrong once.

    Attributes:
        name: what must hold.
        program: lines over ``tn``.
        asked: an expression whose value is the answer.
        answer: PyTorch's; the name of the built-in class if the program raises.
    """

    name: str
    program: str
    asked: str
    answer: Any

    def answer_of(self, library: Any) -> Any:
        """Return the answer of a library."""
        names = dict(Machine(library).names)
        with Silent():
            try:
                exec(self.program, names)
                return eval(self.asked, names)
            except Exception as error:
                return builtin_class(error)


LEAF = "x = tn.tensor([1.0, 2.0], dtype=tn.float64, requires_grad=True)\n"
MATRIX = "x = tn.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=tn.float64, requires_grad=True)\n"
GRADIENT = "x.grad if x.grad is None else x.grad.tolist()"

FOUND = [
    Found(
        "views keep their place when the base is transposed in place",
        MATRIX + "b = x * 1; v = b[0]; b.t_()\n"
        "b.mul_(tn.tensor([[1.0, 10.0], [100.0, 1000.0]], dtype=tn.float64)); v.sum().backward()",
        "sum(x.grad.tolist(), [])",
        [1.0, 100.0, 0.0, 0.0],
    ),
    Found(
        "squeeze_ under no_grad keeps the history of a view",
        MATRIX + "b = (x[:1] * 1)[:]\nwith tn.no_grad(): b.squeeze_(0)\nb.sum().backward()",
        "sum(x.grad.tolist(), [])",
        [1.0, 1.0, 0.0, 0.0],
    ),
    Found(
        "a view of a view that requires grad is not written",
        "x = tn.tensor([1.0, 2.0])[:]; x.requires_grad_(); x[0].mul_(2)",
        "x.tolist()",
        "RuntimeError",
    ),
    Found(
        "a view made under no_grad takes no gradient",
        LEAF + "with tn.no_grad(): v = x[1:]\n(v * 2 + x[1:]).sum().backward()",
        "v.requires_grad, v.grad",
        (True, None),
    ),
    Found(
        "the gradient of a stale view can be asked for",
        LEAF + "v = x.split(1)[0]\nwith tn.no_grad(): x.mul_(2)",
        "v.grad",
        None,
    ),
    Found(
        "the clone of an expanded tensor is contiguous",
        LEAF + "y = x.expand(2, 2).clone()",
        "y.view(-1).tolist()",
        [1.0, 2.0, 1.0, 2.0],
    ),
    Found(
        "a leaf that no longer requires grad gets none",
        LEAF + "y = x * 2; x.requires_grad_(False); y.sum().backward()",
        GRADIENT,
        None,
    ),
    Found(
        "a number is saved, and freed",
        LEAF + "y = (x * 2.0).sum(); y.backward(); y.backward()",
        GRADIENT,
        "RuntimeError",
    ),
    Found(
        "relu's gradient has a graph",
        LEAF + "g = tn.autograd.grad(x.relu().sum(), x, create_graph=True)[0]; g.sum().backward()",
        GRADIENT,
        [0.0, 0.0],
    ),
    Found(
        "what autograd.grad returns can be written",
        LEAF + "g = tn.autograd.grad((x * 1).sum(), x)[0].clone(); g[0] = 2",
        "g.tolist()",
        [2.0, 1.0],
    ),
    Found(
        "backward(inputs=) retains the gradient of a result",
        LEAF + "y = x + 1; y.sum().backward(inputs=[y]); y.sum().backward()",
        "y.grad.tolist()",
        [2.0, 2.0],
    ),
    Found(
        "requires_grad = True is refused for a result",
        LEAF + "y = x.abs(); y.requires_grad = True",
        "y",
        "RuntimeError",
    ),
    Found(
        "partly overlapping operands are refused",
        LEAF + "y = x * 1; y.mul_(y[:1])",
        "y",
        "RuntimeError",
    ),
    Found(
        "fill_ reads its value first",
        LEAF + "y = x * 1; y.fill_(y[0])",
        "y.tolist()",
        [1.0, 1.0],
    ),
    Found(
        "values for a mask may have leading ones",
        "x = tn.zeros(2, 2); m = tn.tensor([[True, False], [True, False]])\n"
        "x[m] = tn.tensor([[1.0, 2.0]])",
        "sum(x.tolist(), [])",
        [1.0, 0.0, 2.0, 0.0],
    ),
    Found(
        "a view follows a base that wants no gradient any more",
        LEAF + "v = x[:]; x.requires_grad_(False); x.mul_(2.0); v.sum().backward()",
        GRADIENT,
        None,
    ),
    Found(
        "retain_grad follows writes",
        LEAF + "y = x * 1; y.retain_grad(); y.sigmoid_(); y.sum().backward()",
        "y.grad.tolist()",
        [1.0, 1.0],
    ),
    Found(
        "the chain of a write fits the order of the base in memory",
        MATRIX + "a = x.t() * 2; f = a.t().view(-1)\n"
        "f.mul_(tn.tensor([1.0, 2.0, 3.0, 4.0], dtype=tn.float64)); a.sum().backward()",
        "sum(x.grad.tolist(), [])",
        [2.0, 4.0, 6.0, 8.0],
    ),
    Found(
        "the number of sub_ is not saved",
        LEAF + "y = x + x; y.sub_(x, alpha=2); z = y.sum(); z.backward(); z.backward()",
        GRADIENT,
        [0.0, 0.0],
    ),
]
