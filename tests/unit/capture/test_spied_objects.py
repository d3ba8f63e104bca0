"""Objects of the user whose methods report that they run: a capture runs none of its own accord."""

import collections
import dataclasses
import functools
import sys
import types
import warnings

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.compiler import CompileWarning

from .test_guards import WARM

METHODS = (
    "__bool__ __contains__ __dir__ __eq__ __float__ __format__ __getitem__ __hash__ __index__ "
    "__int__ __iter__ __len__ __lt__ __ne__ __repr__ __reversed__ __str__"
).split()
X = tn.ones(2)


class Report(list):
    """What ran, as (class, method); each method raises an error if ``fails``."""

    fails = False

    def add(self, kind, method):
        self.append((kind, method))
        if self.fails:
            raise KeyError(method)


REPORT = Report()


def reporting(name, method, base):
    plain = getattr(base, method, None)

    def report(self, *args):
        REPORT.add(name, method)
        if method == "__hash__":
            return object.__hash__(self)
        if method in ("__eq__", "__ne__"):
            return (self is args[0]) == (method == "__eq__")
        return True if method == "__bool__" else plain(self, *args)

    return report


def spied(name, base=object):
    """A class all of whose methods report that they run."""

    def look_up(self, attribute):
        REPORT.add(name, attribute)
        return base.__getattribute__(self, attribute)

    def miss(self, attribute):
        REPORT.add(name, attribute)
        raise AttributeError(attribute)

    known = [m for m in METHODS if base is object or hasattr(base, m)]
    members = {m: reporting(name, m, base) for m in known}
    members |= {"__getattribute__": look_up, "__getattr__": miss}
    for attribute in ("computed", "__class__"):
        members[attribute] = property(lambda self: REPORT.add(name, "property") or type(self))
    if base is object:
        members["__slots__"] = ("__dict__", "__weakref__", "slot")
    return type(name, (base,), members)


Plain = spied("Plain")
CONTAINERS = {kind: spied(kind.__name__, kind) for kind in (dict, frozenset, list, set, tuple)}
NUMBERS = {kind: spied(kind.__name__, kind) for kind in (float, int, str)}


def filled(kind):
    thing = object.__new__(kind)
    object.__getattribute__(thing, "__dict__").update(scale=2.0, others=[1, 2])
    return thing


class Called(Plain):
    def __call__(self, x):
        return x * 2


class Meta(type):
    def __getattribute__(cls, name):
        REPORT.add("Meta", name)
        return type.__getattribute__(cls, name)

    def __eq__(cls, other):
        REPORT.add("Meta", "__eq__")
        return cls is other

    def __hash__(cls):
        REPORT.add("Meta", "__hash__")
        return type.__hash__(cls)


class OfMeta(metaclass=Meta):
    scale = 2.0


class OfNoModule:
    scale = 2.0
    __module__ = None


class OfStrangeModule:
    scale = 2.0
    __module__ = "tests.unit.capture.strange"


STRANGE = types.ModuleType("tests.unit.capture.strange")
STRANGE.__dict__.update(scale=2.0, __getattr__=lambda name: REPORT.add("module", name))
del STRANGE.__spec__, STRANGE.__loader__, STRANGE.__package__


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(tn.ones(2))
        self.thing = filled(Plain)

    def __getattr__(self, name):
        REPORT.add("Net", name)
        raise AttributeError(name)

    def __len__(self):
        REPORT.add("Net", "__len__")
        return 0

    def forward(self, x):
        return x * self.weight


@dataclasses.dataclass(frozen=True)
class Options:
    scale: object

    def __getattribute__(self, name):
        REPORT.add("Options", name)
        return object.__getattribute__(self, name)


thing, of_meta, of_none, of_strange = filled(Plain), OfMeta(), OfNoModule(), OfStrangeModule()
held = CONTAINERS[list]([2.0, thing])
mapped = CONTAINERS[dict](a=2.0, b=thing)
several = CONTAINERS[tuple]((2.0, thing))
unordered = CONTAINERS[set]([2.0]), CONTAINERS[frozenset]([2.0])
number, text = NUMBERS[float](2.0), NUMBERS[str]("a")


def with_default(x, scale=thing):
    return x * 2


def with_outer():
    outer = filled(Plain)
    return lambda x: (x * 2, outer)[0]


CALLS = {
    "attribute": lambda x: x * thing.scale,
    "slot": lambda x: (x * 2, lambda: thing.slot)[0],
    "property": lambda x: (x * 2, thing.computed)[0],
    "getattr": lambda x: x * getattr(thing, "scale", 1.0),
    "hasattr": lambda x: x * 2 if hasattr(thing, "nothing") else x,
    "isinstance": lambda x: x * 2 if isinstance(thing, Plain) else x,
    "list": lambda x: x * list.__getitem__(held, 0),
    "method of a list": lambda x: x * list.count(held, 2.0),
    "dict": lambda x: x * dict.__getitem__(mapped, "a"),
    "tuple": lambda x: x * tuple.__getitem__(several, 0),
    "set": lambda x: (x * 2, unordered)[0],
    "numbers": lambda x: (x * 2, number, text)[0],
    "default": with_default,
    "outer variable": with_outer(),
    "callable object": filled(Called),
    "bound method": types.MethodType(lambda self, x: x * 2, thing),
    "partial": functools.partial(lambda o, x: x * 2, thing),
    "module": Net(),
    "metaclass": lambda x: x * of_meta.scale,
    "class": lambda x: x * OfMeta.scale,
    "no module": lambda x: x * of_none.scale,
    "strange module": lambda x: x * of_strange.scale * STRANGE.scale,
    "result": lambda x: (x * 2, thing),
    "tuple as a result": lambda x: CONTAINERS[tuple]((x * 2, 1)),
}
ARGUMENTS = {
    "object": thing,
    "list": [thing],
    "dict": {"a": thing},
    "strange dict": mapped,
    "strange tuple": several,
    "strange float": number,
    "strange str": text,
    "strange frozenset": unordered[1],
    "class": OfMeta,
    "metaclass": of_meta,
    "options": Options(2.0),
    "options of objects": Options(thing),
}


def outcome(function, args):
    """Return what a call runs of what is spied, and the class of the error that it raises."""
    REPORT.clear()
    try:
        function(*args)
    except KeyError as error:
        return collections.Counter(REPORT), type(error)
    return collections.Counter(REPORT), None


@pytest.fixture(params=[False, True], ids=["report", "fail"])
def fails(request, monkeypatch):
    monkeypatch.setattr(REPORT, "fails", request.param)
    monkeypatch.setitem(sys.modules, STRANGE.__name__, STRANGE)
    return request.param


def check(function, *args):
    eager, error = outcome(function, args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        compiled = tn.compile(function)
        assert not collections.Counter(REPORT) - eager
        for _ in range(WARM + 2):
            ran, raised = outcome(compiled, args)
            assert raised is error
            assert not ran - eager
    return compiled


@pytest.mark.parametrize("function", CALLS.values(), ids=[*CALLS])
def test_what_a_function_reads(function, fails):
    check(function, X)


@pytest.mark.parametrize("argument", ARGUMENTS.values(), ids=[*ARGUMENTS])
def test_arguments(argument, fails):
    compiled = check(lambda x, o: x * 2, X, argument)
    assert compiled.calls().captured == (0 if argument is mapped else 2)  # it may change
    assert compiled.explain()


def test_explain_shows_an_object_whose_text_fails(monkeypatch):
    compiled = tn.compile(lambda x, o: x * 2)
    monkeypatch.setattr(REPORT, "fails", True)
    for _ in range(WARM):
        compiled(X, thing)
    assert "a Plain" in str(compiled.explain())
