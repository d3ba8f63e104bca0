"""Programs: a world, a function that reads it, and calls with changes in between."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from .catalogue import WORLDS, Place, World

X = (
    "tn.ones(2, 3)",
    "tn.arange(6.0).view(2, 3) - 2",
    "tn.tensor([[-1.0, 2.0, 0.5], [1.0, 1.0, 3.0]])",
    "tn.arange(12.0).view(4, 3)[1:3]",
    "tn.arange(6.0).view(3, 2).t()",
    "tn.ones(4, 3)",
    "tn.ones(1, 3).expand(2, 3)",
    "tn.ones(2, 3, requires_grad=True)",
    "tn.ones(2, 3, requires_grad=True) * 3",
    "tn.ones(2, 3, dtype=tn.float64)",
)
A = (
    "tn.ones(2, 3)",
    "tn.arange(12.0)[3:9].view(2, 3)",
    "tn.arange(12.0)[2:8].view(2, 3)",
    "tn.ones(3, 2).t()",
    "tn.ones(2, 3, requires_grad=True)",
    "nn.Parameter(tn.ones(2, 3) * 2)",
    "tn.ones(2, 3, requires_grad=True) * 2",
    "x1",
    "x1.detach()",
    "x1[:]",
    "x1.flip(0)",
    "x1.detach()[:1].expand(2, 3)",
    "tn.ones(2, 3, dtype=tn.float64)",
    "tn.ones(6)",
    "tn.ones(2, 3).unbind(0)[0].expand(2, 3)",
)
INDICES = (
    "tn.tensor([0, 1])",
    "tn.tensor([1, 0])",
    "tn.tensor([0, 99])",
    "tn.tensor([-1, 1])",
    "tn.tensor([2])",
    "tn.tensor([0, -50])",
)
CALL = "call(g, x1, a1, i1)"
# How a call is made: most are made plainly.
AROUND = (
    "with tn.no_grad(): {}",
    "with tn.inference_mode(): {}",
    "with tn.enable_grad(): {}",
    "with tn.autocast('cpu', dtype=tn.bfloat16): {}",
    "in_thread(lambda: {})",
    "try: raise ValueError\nexcept ValueError: {}",
    "def around(depth=2.0): return {}\naround()",
    "with tn.autograd.detect_anomaly(): {}",
    "with tn.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): {}",
    "in_loop(lambda: {})",
)
RETURNS = ("y", "y", "y", "y.detach()", "y, a", "[y, y * 2]", '{"y": y, "x": x}', "y[0]", "y.t()")
FORMS = {
    "function": "def f(x, a, i):\n{body}\ng = compile(f)",
    "module": (
        "class Net(nn.Module):\n    def forward(self, x, a, i):\n{body}\nnet = Net()\ng ="
        " compile(net)"
    ),
    "method": (
        "class Model:\n    def f(self, x, a, i):\n{body}\nmodel = Model()\ng = compile(model.f)"
    ),
    "defaults": "def f(x, a, i, depth=1.0):\n{body}\ng = compile(f)",
    "inner": "def f(x, a, i):\n{body}\ng = compile(lambda *args: f(*args))",
}
CALLS = 4  # before the first change


class Program(NamedTuple):
    """A program, as lists of lines that can be left out one by one."""

    form: str
    setup: tuple[str, ...]
    reads: tuple[str, ...]
    result: str
    events: tuple[str, ...]
    looks: tuple[str, ...]

    def text(self) -> str:
        """Return the source of the program."""
        return "\n".join(self.blocks()) + "\n"

    def blocks(self) -> list[str]:
        """Return the statements, which run one by one."""
        deep = " " * (8 if "forward" in FORMS[self.form] or "self" in FORMS[self.form] else 4)
        lines = ["y = x * 1", *self.reads, f"return {self.result}"]
        body = textwrap.indent("\n".join(lines), deep)
        function = FORMS[self.form].replace("{body}", body)
        looks = [f"watch({look!r})" for look in self.looks]
        return [*self.setup, function, *looks, *self.events]

    def parts(self) -> Iterable[tuple[str, int]]:
        """Yield what can be left out: the field and the number of the line."""
        for field in ("events", "reads", "setup", "looks"):
            for i in reversed(range(len(getattr(self, field)))):
                yield field, i

    def without(self, field: str, number: int) -> Program:
        """Return the program without a line."""
        lines = getattr(self, field)
        return self._replace(**{field: lines[:number] + lines[number + 1 :]})


def random_program(seed: int) -> Program:
    """Return the program of a seed."""
    random = Random(seed)
    worlds = [_world(random) for _ in range(random.choice([1, 1, 2, 2, 3]))]
    places = [Place(world, i + 1, random) for i, world in enumerate(worlds)]
    reads = [place.read() for place in places for _ in range(random.choice([1, 1, 2, 3]))]
    random.shuffle(reads)
    events = [_arguments(random, plain=True)] + [CALL, CALL, CALL]
    if random.random() < 0.4:
        events.insert(2, "back()")
    for _ in range(random.randrange(3, 8)):
        events += _round(random, places)
    return Program(
        form=random.choice([*FORMS, "function", "function"]),
        setup=tuple(place.setup for place in places),
        reads=tuple(reads),
        result=random.choice(RETURNS),
        events=tuple(events),
        looks=tuple(look for place in places for look in place.looks),
    )


def _world(random: Random) -> World:
    """Return a random world: of each file as many, for files differ in size."""
    return random.choice(WORLDS[random.choice([*WORLDS])])


def _arguments(random: Random, plain: bool = False) -> str:
    """Return a line that makes all arguments, or one of them."""
    if plain:
        x, a, i = (random.choice(row[:2]) if random.random() < 0.6 else random.choice(row)
                   for row in (X, A, INDICES))  # fmt: skip
        return f"x1 = {x}\na1 = {a}\ni1 = {i}"
    name, row = random.choice([("x1", X), ("a1", A), ("i1", INDICES)])
    return f"{name} = {random.choice(row)}"


def _round(random: Random, places: list[Place]) -> list[str]:
    """Return some changes and calls."""
    changes = [random.choice(places).change() for _ in range(random.choice([0, 1, 1, 1, 2]))]
    if not changes or random.random() < 0.25:
        changes.append(_arguments(random))
    calls = []
    for _ in range(random.choice([1, 2, 3])):
        around = random.choice(AROUND) if random.random() < 0.1 else "{}"
        calls.append(around.format(CALL))
        if random.random() < 0.25:
            calls.append("back()")
    if random.random() < 0.1:  # between the call and its backward pass
        return [calls[0], *changes, "back()", *calls]
    return [*changes, *calls]


def directed_programs(random: Random) -> Iterable[tuple[str, Program]]:
    """Yield a program for each way to read a world and each of its changes."""
    every = [(stem, world) for stem, worlds in WORLDS.items() for world in worlds]
    for stem, world in every:
        for number in range(len(world.reads)):
            place = Place(world, 1, random)
            read = place.reads()[number]
            for change in place.changes():
                events = [_arguments(random, plain=True), *[CALL] * CALLS, "back()"]
                events += [change, CALL, "back()", CALL]
                yield (
                    f"{stem}: {world.name}: {read!r} / {change!r}",
                    Program("function", (place.setup,), (read,), "y", tuple(events),
                            tuple(place.looks)),
                )  # fmt: skip
