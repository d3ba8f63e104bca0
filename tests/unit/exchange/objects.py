"""Classes of a user's own, as scripts keep them in checkpoints."""

import dataclasses
import enum
import typing

from tinynet import nn


@dataclasses.dataclass
class Config:
    rate: float = 0.1
    layers: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Frozen:
    name: str


class Point(typing.NamedTuple):
    x: int
    y: int


class Colour(enum.Enum):
    RED = 1


class Table(dict):
    pass


class Numbers(list):
    pass


class Slotted:
    __slots__ = ("again", "value")

    def __init__(self, value):
        self.value, self.again = value, [self]


class Reduced:
    def __init__(self, value):
        self.value, self.more = value, 0

    def __reduce__(self):
        return Reduced, (self.value,), {"more": self.more}


class Named:
    def __new__(cls, *, value):
        made = object.__new__(cls)
        made.value = value
        return made

    def __getnewargs_ex__(self):
        return (), {"value": self.value}


class Stateful:
    """What cannot be pickled, it leaves out."""

    def __init__(self):
        self.value, self.function = 1, lambda: 2

    def __getstate__(self):
        return {"value": self.value}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.function = None


class Outer:
    class Inner:
        pass


def net_of(nn):
    """Return a class of modules of a library; its import path is the same for both."""

    class Net(nn.Module):
        __qualname__ = "Net"

        def __init__(self, hidden=5):
            super().__init__()
            self.config = Config(layers=[hidden])
            self.embedding = nn.Embedding(7, 4)
            self.norm = nn.BatchNorm1d(4)
            self.body = nn.Sequential(nn.Linear(4, hidden), nn.Dropout(0.5), nn.Linear(hidden, 7))
            self.body[2].bias = None
            self.act = nn.functional.gelu
            self.register_buffer("mask", self.norm.running_mean + 1)
            self.register_buffer("cache", None, persistent=False)

        def forward(self, x):
            return self.act(self.body(self.norm(self.embedding(x) * self.mask)))

    return Net


Net = net_of(nn)


class Assigning(nn.Linear):
    """Sets its state by itself, as some programs do."""

    def __setstate__(self, state):
        self.__dict__.update(state)
