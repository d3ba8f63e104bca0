"""Programs for a machine with six registers, as Python source that any library can run.

A step is a form and a few small numbers. Which line it stands for depends on what the registers
hold when its turn comes, so any list of steps is a program: steps can be dropped, and what a step
reads does not depend on how many tensors were made before. That is what shrinking needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from .departures import Situation, avoided
from .forms import (
    CHOICES,
    Facts,
    Form,
    Known,
    anything,
    continues,
    into,
    into_row,
    joins,
    multiplies,
    same,
)

REGISTERS = "abcdef"
STEPS = 30
NUMBERS = ("2.0", "-0.5", "1.5", "0.25", "-1.0", "3.0")
SHAPES: tuple[tuple[int, ...], ...] = (
    (3,), (), (2, 2), (2, 3), (3, 3), (1,), (1, 3), (2, 1), (2, 0), (0,), (2, 1, 3),
)  # fmt: skip
CARELESS = (joins, into, into_row, same, multiplies, continues)  # may be ignored, for an error
VALUES = (0.5, -1.25, 2.0, -0.75, 1.5, 0.25, -2.0, 1.0, -0.5, 1.75)


class Step(NamedTuple):
    """One step: a form, the registers, and numbers to fill its blanks with."""

    form: Form
    c: int
    x: int
    y: int
    n: int
    m: int
    quiet: bool  # under no_grad


def programs(choices: Iterable[Form] = CHOICES) -> st.SearchStrategy[list[Step]]:
    """Return the strategy of programs: always all steps, but some find nothing to work on.

    Hypothesis draws only a seed. To draw each number of each step takes it longer than the programs
    run, and serves its shrinking only, which knows nothing of programs (see ``shrinking``).
    """
    forms = list(choices)

    def program(seed: int) -> list[Step]:
        random = Random(seed)
        return [_step(forms, random) for _ in range(STEPS)]

    return st.integers(0, 2**64 - 1).map(program)


def _step(forms: list[Form], random: Random) -> Step:
    registers = [random.randrange(len(REGISTERS)) for _ in "cxy"]
    numbers = [random.randrange(12) for _ in "nm"]
    return Step(random.choice(forms), *registers, *numbers, quiet=random.random() < 1 / 8)


class Blanks(dict[str, str]):
    """Fills the blanks of a form."""

    def __init__(self, step: Step, x: Facts | None):
        super().__init__(c=REGISTERS[step.c], v=NUMBERS[step.n % len(NUMBERS)])
        self.step = step
        self.shape = () if x is None else x.shape

    def __missing__(self, blank: str) -> str:
        return str(getattr(self, f"_{blank}")())

    def _d(self) -> int:  # a dimension
        return self.step.n % max(len(self.shape), 1)

    def _e(self) -> int:  # another one
        return self.step.m % max(len(self.shape), 1)

    def _k(self) -> int:  # a position in dimension d
        return self.step.m % self.shape[self._d()]

    def _f(self) -> int:  # a position in the first dimension
        return self.step.m % max(self.shape[0], 1)

    def _l(self) -> int:  # a position in the last one
        return self.step.m % max(self.shape[-1], 1)

    def _fs(self) -> list[int]:  # several positions in the first dimension
        return [self.step.m % self.shape[0], self.step.n % self.shape[0]]

    def _shape(self) -> str:
        return ", ".join(map(str, self.shape))

    def _backwards(self) -> tuple[int, ...]:
        order = tuple(reversed(range(len(self.shape))))
        permuting = "permute" in self.step.form.text
        return order if permuting else tuple(self.shape[i] for i in order)

    def _stretched(self) -> tuple[int, ...]:
        return tuple(2 if n == 1 else n for n in self.shape)

    def _leaf(self) -> str:
        return self._made(", requires_grad=True")

    def _constant(self) -> str:
        return self._made("")

    def _made(self, flags: str) -> str:
        shape = SHAPES[self.step.m % len(SHAPES)]
        if 0 in shape:
            return f"tn.zeros({shape}, dtype=tn.float64{flags})"
        numbers = [VALUES[(self.step.n + i) % len(VALUES)] for i in range(math.prod(shape))]
        return f"tn.tensor({nested(numbers, shape)}, dtype=tn.float64{flags})"

    def _index(self) -> str:
        n, m, rows = self.step.n, self.step.m, self.shape[0]
        found: Any = [(n + i) % rows for i in range(m % 4)]
        return f"tn.tensor({[found] if m > 8 else found}, dtype=tn.int64)"

    def _mask(self) -> str:
        n, m = self.step.n, self.step.m
        shape = self.shape[: 1 if n % 2 else None]
        chosen = [bool((1 << (i + m) % 7) & (n * 5 + 9)) for i in range(math.prod(shape))]
        return f"tn.tensor({chosen}, dtype=tn.bool).view({shape})"


def nested(numbers: list[Any], shape: tuple[int, ...]) -> Any:
    """Return numbers as nested lists of a shape."""
    if not shape:
        return numbers[0]
    step = math.prod(shape[1:])
    rows = [numbers[i * step : (i + 1) * step] for i in range(shape[0])]
    return [nested(row, shape[1:]) for row in rows]


def line_of(step: Step, known: Known) -> str | None:
    """Return the line that a step stands for; None if the registers hold nothing that it needs."""
    form = step.form
    found = _operands(step, known)
    if found is None:
        return None
    x, y = found
    blanks = Blanks(step, known.get(x))
    blanks.update(x=x, y=y)
    line = form.text.format_map(blanks)
    return f"with tn.no_grad(): {line}" if step.quiet else line


def _operands(step: Step, known: Known) -> tuple[str, str] | None:
    """Return the first registers, from the step's on and around the corner, that are good."""
    form, careless = step.form, step.n == 11 and step.form.fit in CARELESS
    if form.need is anything and "{x}" not in form.text:
        return None if avoided(Situation(form, None, None, step.quiet)) else ("", "")
    reads_y = "{y}" in form.text
    for x in _around(known, step.x):
        a = known[x]
        if not form.need(a) or a.biggest > form.limit:
            continue
        if not reads_y:
            fits = form.fit(known, a, a) and not avoided(Situation(form, a, None, step.quiet))
            if fits:
                return x, ""
            continue
        for y in _around(known, step.y):
            b = known[y]
            fits = b.biggest <= form.limit and (careless or form.fit(known, a, b))
            if fits and not avoided(Situation(form, a, b, step.quiet)):
                return x, y
    return None


def _around(known: Known, start: int) -> list[str]:
    return [name for name in REGISTERS[start:] + REGISTERS[:start] if name in known]
