"""The points of the sweeps other than convolutions."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

Timed = Callable[[], object]
Point = tuple[str, Callable[[Any], dict[str, Timed]]]


def _case(name: str, make: Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]) -> Point:
    """Return a point whose function and arguments ``make`` builds; its directions are timed.

    The arguments that require grad take part in one backward pass.
    """

    def build(tn: Any) -> dict[str, Timed]:
        tn.manual_seed(0)
        function, arguments = make(tn)
        found = {"forward": tn.no_grad()(lambda: function(*arguments))}
        leaves = [x for x in arguments if isinstance(x, tn.Tensor) and x.requires_grad]
        if leaves:
            y = function(*arguments)
            y = y[0] if isinstance(y, tuple) else y
            g = tn.ones_like(y)
            found["gradients"] = lambda: tn.autograd.grad(y, leaves, g, retain_graph=True)
        return found

    return name, build


def _noise(tn: Any, *shape: int) -> Any:
    return tn.empty(*shape).normal_().requires_grad_()


def pooling() -> Iterator[Point]:
    """Yield windows of several sizes, strides and kinds."""
    sizes = (1, 512, 8), (8, 64, 16), (8, 3, 64), (32, 16, 32), (128, 64, 8)
    windows = (2, 2), (3, 2), (3, 1), (5, 1), (7, 7), (2, 1)
    for (n, c, size), kind in itertools.product(sizes, ("max", "avg")):
        shape = n, c, size, size
        for window in windows:
            yield _module(f"{kind}_pool2d", shape, *window)
        for target in (1, 4, 7):
            yield _module(f"adaptive_{kind}_pool2d", shape, target)


def _module(name: str, shape: tuple[int, ...], *arguments: Any) -> Point:
    """Return a point of a function in ``nn.functional`` of one array."""

    def make(tn: Any) -> Any:
        function = getattr(tn.nn.functional, name)
        return lambda x: function(x, *arguments), (_noise(tn, *shape),)

    return _case(f"{name}{arguments} of {list(shape)}", make)


FAMILIES: dict[str, Callable[[], Iterator[Point]]] = {"pooling": pooling}
