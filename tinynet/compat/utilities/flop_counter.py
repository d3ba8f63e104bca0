"""``torch.utils.flop_counter``: the floating-point operations of the products in a block."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Self

from tinynet.board.graphs.costs import flops
from tinynet.compat.library import ops
from tinynet.core.graph.engine import BackwardObserver, observing_backward
from tinynet.core.graph.node import count_nodes
from tinynet.core.trace import following, observing

__all__ = ["FlopCounterMode"]

_MM = ("mm", "mm", (0, 1))
_CONVOLUTION = ("convolution", "convolution_backward", (0, 1))
_ATTENTION = "_scaled_dot_product_flash_attention"
# tinynet's operation: PyTorch's names of it and of its derivative, and the factors of the product
_NAMES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "mm": _MM,
    "linear_map": _MM,
    "affine_map": ("addmm", "mm", (0, 1)),
    "addmm": ("addmm", "mm", (1, 2)),
    "bmm": ("bmm", "bmm", (0, 1)),
    "baddbmm": ("baddbmm", "bmm", (1, 2)),
    **dict.fromkeys(("convolve", "convolve_biased", "spread", "spread_biased"), _CONVOLUTION),
    **dict.fromkeys(
        ("attend", "attend_with_bias"), (_ATTENTION, f"{_ATTENTION}_backward", (0, 1, 2))
    ),
}


class _Modules:
    """The modules that are running, by PyTorch's names: ``Net.layers.0``."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.running: list[str] = []

    def entered(self, module: Any) -> None:
        """See `core.trace.Follower`."""
        name = self.names.setdefault(id(module), type(module).__name__)
        for path, inside in module.named_modules():
            self.names.setdefault(id(inside), f"{name}.{path}")
        self.running.append(name)

    def left(self, module: Any) -> None:
        """See `core.trace.Follower`."""
        self.running.pop()


class _Backward(BackwardObserver):
    """Counts the derivatives of products, one product for each factor with a gradient."""

    def __init__(self, count: Callable[[str, int, list[str]], None]) -> None:
        self.count = count
        self.products: dict[int, tuple[str, list[int], list[str]]] = {}  # by the number of the node

    def visit(self, backward_pass: Any, node: Any, go: Callable[[Any], None]) -> None:
        """See `BackwardObserver`."""
        go(node)
        name, costs, modules = self.products.get(node.sequence, ("", [], []))
        factors = _NAMES[name][2] if name else ()
        cost = sum(c for c, i in zip(costs, factors, strict=True) if node.edges[i])
        if cost:
            self.count(_NAMES[name][1], cost, modules)


class FlopCounterMode:
    """A context that counts the floating-point operations of products, by module and operation.

    A product of an n x k and a k x m matrix counts 2 n k m. Convolutions and attention count too;
    products with vectors, sums and recurrent layers do not. Unlike PyTorch on a CPU, it counts
    attention there, as PyTorch does on a GPU.

    Args:
        mods: no longer needed.
        depth: of the modules in the table that is printed in the end.
        display: print the table.
        custom_mapping: accepted; there are no operations for which PyTorch needs it.

    Example:
        >>> from tinynet.compat.utilities.flop_counter import FlopCounterMode
        >>> with FlopCounterMode(display=False) as counter:
        ...     y = nn.Linear(3, 4)(tn.ones(2, 3))
        >>> counter.get_total_flops(), list(counter.get_flop_counts())
        (48, ['Global', 'Linear'])
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            text = "mods argument is not needed anymore, you can stop passing it"
            warnings.warn(text, UserWarning, stacklevel=2)
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = {}
        self._contexts = ExitStack()

    def __enter__(self) -> Self:
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self._modules, self._backward = _Modules(), _Backward(self._count)
        self._contexts.enter_context(following(self._modules))
        self._contexts.enter_context(observing(self._ran))
        self._contexts.enter_context(observing_backward(self._backward))
        return self

    def __exit__(self, *error: Any) -> None:
        self._contexts.close()
        if self.display:
            print(self.get_table(self.depth))

    def _ran(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any], _: Any) -> None:
        """Count an operation, and remember what its derivative will cost."""
        if op.name not in _NAMES:
            return
        shapes = [a.shape for a in inputs]
        count = flops(op.name, shapes, [a.shape for a in outputs])
        modules = list(dict.fromkeys(("Global", *self._modules.running)))
        self._count(_NAMES[op.name][0], count, modules)
        costs = [count] * len(_NAMES[op.name][2])
        if op.name.startswith("convolve"):  # PyTorch counts its weight's without the groups
            costs[1] *= shapes[0][1] // shapes[1][1]
        elif op.name.startswith("attend"):  # the scores once more, and four products of that size
            costs = [count // 2, count, count]
        self._backward.products[count_nodes() + 1] = op.name, costs, modules

    def _count(self, name: str, count: int, modules: list[str]) -> None:
        for module in modules:
            self.flop_counts[module][getattr(ops.aten, name)] += count

    def get_total_flops(self) -> int:
        """Return the count of the whole block."""
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the counts by module and operation; those of a module are in ``"Global"``, too."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return the counts as a table.

        Args:
            depth: of the modules; by default that of the context.
        """
        depth = self.depth if depth is None else depth
        whole = self.get_total_flops()
        rows = [("Module", "FLOP", "% Total")]
        for name in sorted(self.flop_counts, key=lambda name: "" if name == "Global" else name):
            level = 0 if name == "Global" else name.count(".") + 1
            if depth is None or level <= depth:
                rows += _rows(name, self.flop_counts[name], whole, " " * level)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, ("-" * widths[0], "-" * widths[1], "-" * widths[2]))
        return "\n".join(
            f"{name:<{widths[0]}}  {count:>{widths[1]}}  {share:>{widths[2]}}"
            for name, count, share in rows
        )


def _rows(name: str, counts: dict[Any, int], whole: int, indent: str) -> list[tuple[str, str, str]]:
    """Return the rows of a module: its own, and one for each operation."""
    found = [(indent + name, sum(counts.values()))]
    found += [(f"{indent} - aten.{op.__name__}", count) for op, count in counts.items()]
    return [(text, _shortened(n), f"{n / whole if whole else 0:.2%}") for text, n in found]


def _shortened(count: int) -> str:
    """Return a number with PyTorch's suffix: 43.008K."""
    index = max(0, min(4, (len(str(count)) - 1) // 3))
    return f"{count / 1000**index:.3f}{['', 'K', 'M', 'B', 'T'][index]}"
