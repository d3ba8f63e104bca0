"""The cost of recording the source line of every operation and write, for messages.

Each case is timed as it is, and without that: the same compiled function without the lines that
look up the user's frame and the running modules; the same write with a bare version count.
"""

from collections.abc import Callable
from typing import Any

import tinynet as tn
from benchmarks.tables import Table
from benchmarks.turns import compare
from tinynet.core.declaration import compiler
from tinynet.core.declaration.codegen import Forward, InPlace
from tinynet.core.declaration.operation import REGISTRY

_SITE = ("f = getframe(1)", "c = f.f_code", "try: o = OUTSIDE", "except KeyError: o = is_outside")


def without_lines(name: str) -> Callable[..., Any]:
    """Return the compiled function of an operation, without the lines that serve messages."""
    source = Forward(REGISTRY[name], operator=False).source()
    kept = []
    for line in source.splitlines():
        bare = line.strip()
        if bare.startswith("n.site ="):
            kept.append(line[: line.index("n.site")] + "n.site = n.scope = None")
        elif not bare.startswith((*_SITE, "n.scope =")):
            kept.append(line)
    assert len(kept) == len(source.splitlines()) - 5, f"{name}: the compiled function has changed"
    function = compiler._execute(f"{name} without lines", "\n".join(kept))
    public = REGISTRY[name].function
    function.__defaults__, function.__kwdefaults__ = public.__defaults__, public.__kwdefaults__
    return function


def operation_cost(name: str, *shapes: tuple[int, ...]) -> tuple[Any, Any]:
    """Return ten recorded calls in a function, as it is and without lines."""
    inputs = [tn.ones(*shape, requires_grad=True) for shape in shapes]
    full = REGISTRY[name].function
    full(*inputs)
    return ten_of(full, inputs), ten_of(without_lines(name), inputs)


def ten_of(function: Callable[..., Any], inputs: Any) -> Callable[[], None]:
    """Return a function that calls another ten times, as a forward does."""

    def run() -> None:
        for _ in range(10):
            function(*inputs)

    return run


def write_cost() -> tuple[Any, Any]:
    """Return ten in-place sums, as they are and without looking up the line."""
    a, b, add = tn.ones(8), tn.ones(8), REGISTRY["add"]
    a.add_(b)
    source = InPlace(add, "add_", False, {}).source()
    bare = source.replace("(c, f.f_lasti) if o else outward(f)", "None")
    bare = "\n".join(x for x in bare.splitlines() if not x.strip().startswith(_SITE))
    assert len(bare.splitlines()) == len(source.splitlines()) - 4
    run = [compiler._execute(f"add_ {n}", text) for n, text in (("full", source), ("bare", bare))]
    return ten_of(run[0], [a, b]), ten_of(run[1], [a, b])


CASES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "mul_remembered": lambda: operation_cost("mul", (8,), (8,)),
    "exp_remembered": lambda: operation_cost("exp", (8,)),
    "mm_remembered": lambda: operation_cost("mm", (32, 64), (64, 64)),
    "inplace_add_remembered": write_cost,
}


def report(rounds: int, only: str) -> Table:
    """Measure the cost of recording the lines that errors name."""
    table = Table("What messages cost", ["case", "with, µs", "without, µs", "cost"])
    for name, make in CASES.items():
        if only in name:
            full, bare, ratio = compare(*make(), rounds)
            table.add(name, full / 10 * 1e6, bare / 10 * 1e6, f"{ratio - 1:+.0%}")
    return table
