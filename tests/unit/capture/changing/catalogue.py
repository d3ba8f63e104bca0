"""The catalogue of what programs consist of: worlds, how code reads them, how they change."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import NamedTuple

FOLDER = Path(__file__).parent / "worlds"
VALUES = ("0.5", "2.0", "-1.0", "3.0", "1.5", "-0.25")
TENSORS = (
    "tn.ones(2, 3)",
    "tn.arange(6.0).view(2, 3)",
    "tn.arange(12.0).view(4, 3)[1:3]",
    "tn.arange(12.0)[3:9].view(2, 3)",
    "tn.arange(6.0).view(3, 2).t()",
    "tn.ones(2, 3, requires_grad=True)",
    "nn.Parameter(tn.ones(2, 3))",
    "tn.ones(2, 3, requires_grad=True) * 2",
)
OPTIMIZERS = (
    "optim.SGD(net_N.parameters(), lr=0.1)",
    "optim.SGD(net_N.parameters(), lr=0.1, momentum=0.9)",
    "optim.SGD([{'params': [*net_N[0].parameters()]}, {'params': [*net_N[2].parameters()],"
    " 'lr': 0.01}], lr=0.1)",
    "optim.Adam(net_N.parameters(), lr=0.01)",
    "optim.AdamW(net_N.parameters(), lr=0.01)",
    "optim.RMSprop(net_N.parameters(), lr=0.01)",
    "optim.Adagrad(net_N.parameters(), lr=0.01)",
    "optim.SGD(net_N.parameters(), lr=0.1, nesterov=True, momentum=0.9, weight_decay=0.1)",
)
SCHEDULERS = (
    "optim.lr_scheduler.StepLR(opt_N, 2)",
    "optim.lr_scheduler.ExponentialLR(opt_N, 0.9)",
    "optim.lr_scheduler.LambdaLR(opt_N, lambda epoch: 1 / (epoch + 1))",
    "optim.lr_scheduler.CosineAnnealingLR(opt_N, 10)",
    "optim.lr_scheduler.OneCycleLR(opt_N, 0.5, total_steps=100)",
    "optim.lr_scheduler.CyclicLR(opt_N, 0.1, 0.5, step_size_up=2)",
)


class World(NamedTuple):
    """Objects, the ways in which code reads them, how they change, and what can be seen of them.

    In each text, ``_N`` ends a name, ``VALUE`` and ``INT`` stand for numbers, ``T`` for a tensor.
    """

    name: str
    setup: str
    reads: tuple[str, ...]
    changes: tuple[str, ...]
    looks: tuple[str, ...]


def _world(text: str) -> World:
    name, _, rest = text.partition("\n")
    setup, *parts = re.split(r"^-- ", rest, flags=re.MULTILINE)
    found: dict[str, list[str]] = {"read": [], "change": [], "look": []}
    for part in parts:
        kind, _, body = part.partition("\n")
        found[kind].append(body.rstrip())
    reads, changes, looks = map(tuple, found.values())
    return World(name, setup.strip(), reads, changes, looks)


def _worlds(path: Path) -> list[World]:
    _, *parts = re.split(r"^= ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_world(part) for part in parts]


WORLDS = {path.stem: _worlds(path) for path in sorted(FOLDER.glob("*.txt"))}
EVERY = [world for worlds in WORLDS.values() for world in worlds]


class Place:
    """A world in a program: its texts with names, numbers and tensors filled in."""

    def __init__(self, world: World, number: int, random: Random):
        self._world, self._number, self._random = world, number, random
        tensor = random.choice(["x", "a", "t", "t"])
        self._inside = "t_N" if tensor == "t" else tensor
        self._outside = "t_N" if tensor == "t" else f"{tensor}1"
        made = f"t_N = {random.choice(TENSORS)}" if tensor == "t" else ""
        setup = re.sub(r"\bTENSOR\b", made, world.setup)
        setup = re.sub(r"\bOPTIMIZER\b", f"opt_N = {random.choice(OPTIMIZERS)}", setup)
        setup = re.sub(r"\bSCHEDULER\b", f"sch_N = {random.choice(SCHEDULERS)}", setup)
        self.setup = self._filled(setup, self._outside)
        self.looks = [self._filled(look, self._outside) for look in world.looks]

    def reads(self) -> list[str]:
        """Return all ways to read the world."""
        return [self._filled(text, self._inside) for text in self._world.reads]

    def changes(self) -> list[str]:
        """Return all changes of the world."""
        return [self._filled(text, self._outside) for text in self._world.changes]

    def read(self) -> str:
        """Return a random way to read the world."""
        return self._filled(self._random.choice(self._world.reads), self._inside)

    def change(self) -> str:
        """Return a random change of the world."""
        return self._filled(self._random.choice(self._world.changes), self._outside)

    def _filled(self, text: str, tensor: str) -> str:
        choice = self._random.choice
        text = re.sub(r"\bT\b", tensor, text)
        text = re.sub(r"_N\b", f"_{self._number}", text)
        text = re.sub(r"\bVALUE\b", lambda _: choice(VALUES), text)
        return re.sub(r"\bINT\b", lambda _: str(self._random.randrange(1, 4)), text)
