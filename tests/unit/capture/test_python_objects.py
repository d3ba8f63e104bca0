"""Objects that a captured function gets, reads, changes or returns: as eagerly, or one warning."""

import array
import collections
import contextvars
import copy
import dataclasses
import io
import os
import types
import weakref

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.compiler import CompileError, CompileWarning
from tinynet.nn.utils.stateless import functional_call

from .pairs import compare
from .test_guards import WARM, both, exact, replayed

# ---- arguments that look equal ------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Options:
    scale: object
    name: str = "a"


class Equal:
    """An object that says that it is equal to all others of its class."""

    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        return isinstance(other, Equal)

    def __hash__(self):
        return 1


def each(*arguments, times=WARM):
    """Calls with a tensor and one argument, a few times each."""
    return [lambda f, a=a: f(tn.arange(3), a) for a in arguments for _ in range(times)]


def test_numbers_that_are_equal_but_not_the_same():
    zeros = [(complex(0, 0.0), complex(0, -0.0)), (np.float64(0.0), np.float64(-0.0))]
    both(lambda: lambda x, v: x / v.imag, each(*zeros[0]))
    both(lambda: lambda x, v: x / float(v), each(*zeros[1]))
    both(lambda: lambda x, o: x * sum(o), each(*(frozenset([v]) for v in (1, 1.0, True, 2))))
    both(lambda: lambda x, o: x * next(iter(o)), each({1: 0}, {1.0: 0}, {True: 0}))


def test_objects_that_are_equal_but_not_the_same():
    both(lambda: lambda x, o: x * o.scale, each(*map(Equal, (1, 2, 3, 1))))
    options = [Options(v) for v in (1, 1.0, True)]
    compiled = both(lambda: lambda x, o: x * o.scale, each(*options))
    assert replayed(compiled) == 3
    compiled = both(lambda: lambda x, o: x * o.scale, each(*(Options(2.0) for _ in range(4))))
    assert replayed(compiled) == 1  # equal in all fields


@pytest.mark.parametrize("kind", [list, dict])
def test_containers_that_can_be_hashed(kind):
    class Hashed(kind):
        def __hash__(self):
            return 1

    held = Hashed([(0, 1.0)]) if kind is dict else Hashed([1.0])

    def call(scale):
        def run(f):
            held[0] = scale
            return f(tn.arange(3), held)

        return run

    calls = [call(s) for s in (1.0, 2.0) for _ in range(WARM)]
    both(lambda: lambda x, o: x * o[0], calls, "not hashable")


def test_objects_in_a_list_that_is_passed():
    thing = Equal(1.0)

    def call(scale):
        def run(f):
            thing.scale = scale
            return f(tn.arange(3), [thing])

        return run

    both(lambda: lambda x, o: x * o[0].scale, [call(s) for s in (1.0, 2.0) for _ in range(WARM)])


def test_explain_shows_such_arguments():
    compiled = tn.compile(lambda x, y, o: x * 2)
    x = tn.ones(2)
    for _ in range(WARM):
        compiled(x, x, {"a": Options(1.5), 3: frozenset([2j])})
    (program,) = compiled.explain().programs  # one tensor is passed twice
    assert program.arguments[:2] == ["float32 [2]"] * 2
    assert program.arguments[2] == "{'a': Options(1.5, 'a'), 3: ('2j')}"


def test_explain_shows_arguments_that_require_grad():
    compiled = tn.compile(lambda x: x * 2)
    for _ in range(WARM):
        compiled(tn.ones(2, requires_grad=True))
    (program,) = compiled.explain().programs
    assert program.arguments == ["float32 [2] that requires grad"]


# ---- arguments that are mutated -----------------------------------------------------------------


def appends(x, found):
    found["list"].append(x * 2)
    return x


def assigns(x, found):
    found["new"] = x * 3
    return x


def removes(x, found):
    return x * found.pop("scale")


def sorts(x, found):
    found["list"].sort()
    return x * found["list"][0]


def extends(x, found):
    found["list"] += [1]
    return x * len(found["list"])


@pytest.mark.parametrize("function", [appends, assigns, removes, sorts, extends])
def test_containers_that_are_passed_and_changed(function):
    def call(f):
        found = {"list": [3, 1], "scale": 2.0}
        return f(tn.ones(2), found), found

    both(lambda: function, [call] * 6, "that is passed to it")
    with pytest.raises(CompileError, match="changes a (list|dict) that is passed to it"):
        call(tn.compile(function, fullgraph=True))


def test_containers_that_are_passed_and_returned():
    def call(f):
        kept = [tn.ones(2)]
        result = f(tn.ones(2), kept)
        result.append(1)
        return len(kept)

    both(lambda: lambda x, kept: kept, [call] * 6, "returns a list from outside")
    outer = [5]
    both(lambda: lambda x: (x, outer), [lambda f: f(tn.ones(2))[1] is outer] * 6, "returns a list")


def test_containers_that_are_returned_are_new_at_each_call():
    def changed(f):
        result = f(tn.ones(2))
        result[0].append(3)
        return result

    both(lambda: lambda x: ([1], {"a": 2}), [changed] * 6)
    both(lambda: lambda x: ([x * 2], {"a": [x]}), [changed] * 6)


# ---- what is read -------------------------------------------------------------------------------


class Slots:
    __slots__ = ("scale",)


class More(Slots):
    __slots__ = ("other",)


class Looked:
    def __init__(self):
        self.table = {"scale": 1.0}

    def __getattr__(self, name):
        if name not in self.__dict__["table"]:
            raise AttributeError(name)
        return self.__dict__["table"][name]


def chain(length):
    """Objects, each an attribute of the one before; the first and the last one."""
    first = last = types.SimpleNamespace()
    for _ in range(length):
        last.inner = types.SimpleNamespace()
        last = last.inner
    return first, last


SLOTS, MORE, LOOKED, PLAIN = Slots(), More(), Looked(), types.SimpleNamespace()
HELD, DEQUE = [Slots()], collections.deque([1.0])
BYTES, NUMBERS, ARRAY = bytearray(1), array.array("d", [1.0]), np.ones(1)
OWNER = Equal(1.0)
REFERENCE, (FIRST, LAST) = weakref.ref(OWNER), chain(8)
VARIABLE = contextvars.ContextVar("VARIABLE", default=1.0)

READS = {
    "slots": (lambda x: x * SLOTS.scale, lambda v: setattr(SLOTS, "scale", v)),
    "inherited slots": (lambda x: x * MORE.scale, lambda v: setattr(MORE, "scale", v)),
    "slots in a list": (lambda x: x * HELD[0].scale, lambda v: setattr(HELD[0], "scale", v)),
    "getattr": (lambda x: x * getattr(PLAIN, "scale"), lambda v: setattr(PLAIN, "scale", v)),  # noqa: B009
    "vars": (lambda x: x * vars(PLAIN)["scale"], lambda v: setattr(PLAIN, "scale", v)),
    "__getattr__": (lambda x: x * LOOKED.scale, lambda v: LOOKED.table.update(scale=v)),
    "globals": (lambda x: x * globals()["SCALE"], lambda v: globals().update(SCALE=v)),
    "a deque": (lambda x: x * DEQUE[0], lambda v: DEQUE.__setitem__(0, v)),
    "bytes": (lambda x: x * BYTES[0], lambda v: BYTES.__setitem__(0, int(v))),
    "an array": (lambda x: x * NUMBERS[0], lambda v: NUMBERS.__setitem__(0, v)),
    "an array of numpy": (lambda x: x * float(ARRAY[0]), lambda v: ARRAY.__setitem__(0, v)),
    "a weak reference": (lambda x: x * REFERENCE().scale, lambda v: setattr(OWNER, "scale", v)),
    "a long chain": (
        lambda x: x * FIRST.inner.inner.inner.inner.inner.inner.inner.inner.scale,
        lambda v: setattr(LAST, "scale", v),
    ),
    "the environment": (
        lambda x: x * float(os.environ["TINYNET_TEST_SCALE"]),
        lambda v: os.environ.update(TINYNET_TEST_SCALE=str(v)),
    ),
}


def with_values(put, times=WARM):
    def call(value):
        def run(f):
            put(value)
            return f(tn.arange(3))

        return run

    return [call(value) for value in (1.0, 2.0, 3.0) for _ in range(times)]


@pytest.mark.parametrize("name", READS)
def test_what_is_read_is_a_guard(name, monkeypatch):
    monkeypatch.setenv("TINYNET_TEST_SCALE", "1")
    function, put = READS[name]
    assert replayed(both(lambda: function, with_values(put))) == 3


def test_a_context_variable_runs_eagerly():
    both(lambda: lambda x: x * VARIABLE.get(), with_values(VARIABLE.set), "context variable")


# ---- what is changed ----------------------------------------------------------------------------

STREAM = io.StringIO()


def writes_numbers(x):
    ARRAY[0] = 4.0
    return x


def leaves_a_mode(x):
    tn.set_grad_enabled(False)
    return x * 1


CHANGES = {
    "setattr": (lambda x: (setattr(PLAIN, "scale", 7.0), x * 1)[1], "sets an attribute"),
    "object.__setattr__": (
        lambda x: (object.__setattr__(PLAIN, "scale", 7.0), x * 1)[1],
        "changes 'scale' of an object",
    ),
    "__dict__": (
        lambda x: (PLAIN.__dict__.update(scale=7.0), x * 1)[1],
        "changes 'scale' of an object",
    ),
    "a deque": (lambda x: (DEQUE.append(1.0), x * 1)[1], "changes a deque"),
    "an array of numpy": (writes_numbers, "changes an ndarray"),
    "a file": (lambda x: (STREAM.write("a"), x * 1)[1], "uses a file"),
    "the environment": (
        lambda x: (os.environ.__setitem__("TINYNET_TEST_SCALE", "7"), x * 1)[1],
        "changes a dict",
    ),
    "the default dtype": (
        lambda x: (tn.set_default_dtype(tn.float64), x * 1)[1],
        "changes the default dtype",
    ),
    "grad mode": (leaves_a_mode, "grad mode"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_changed_runs_eagerly(name, monkeypatch):
    monkeypatch.setenv("TINYNET_TEST_SCALE", "1")
    function, words = CHANGES[name]

    def call(f):
        PLAIN.scale, ARRAY[0] = 1.0, 1.0
        DEQUE.clear(), STREAM.seek(0), STREAM.truncate()
        os.environ["TINYNET_TEST_SCALE"] = "1"
        try:
            f(tn.ones(2))
            seen = PLAIN.scale, ARRAY.tolist(), len(DEQUE), STREAM.getvalue()
            modes = str(tn.get_default_dtype()), tn.is_grad_enabled()
            return seen, modes, os.environ["TINYNET_TEST_SCALE"]
        finally:
            tn.set_default_dtype(tn.float32)
            tn.set_grad_enabled(True)

    both(lambda: function, [call] * 6, words)


@pytest.mark.parametrize("evaluate", [False, True])
def test_a_step_that_sets_the_mode_of_its_model(evaluate):
    """Without an effect it is replayed; with one it runs eagerly."""
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))

    def step(x):
        net.train()
        return net(x)

    def call(f):
        tn.manual_seed(3)
        if evaluate:
            net.eval()
        return f(tn.ones(4, 2)), [m.training for m in net.modules()]

    compiled = both(lambda: step, [call] * 6, "changes 'training'" if evaluate else None)
    assert replayed(compiled) == (not evaluate)


def test_a_new_object_is_set_up_in_a_program():
    class New:
        def __init__(self, scale):
            setattr(self, "scale", scale)  # noqa: B010
            self.inner = nn.ReLU()

    compiled = both(lambda: lambda x: New(x * 2).inner(x), [lambda f: f(tn.ones(2))] * 5)
    assert replayed(compiled) == 1


def test_replaced_parameters_are_replayed():
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))

    def doubled(x):
        values = {name: p * 2 for name, p in net.named_parameters()}
        return functional_call(net, values, (x,))

    compiled = tn.compile(doubled, fullgraph=True)
    for i in range(5):
        x = tn.full((4, 2), float(i))
        assert exact(compiled(x)) == exact(doubled(x))
    assert compiled.calls() == (3, 2, 0)


# ---- the interface ------------------------------------------------------------------------------


@tn.compile(fullgraph=True, dynamic=True, mode="max-autotune", verify=2)
def decorated(x):
    """Return twice the number."""
    return x * 2


def test_a_decorator_with_arguments():
    assert decorated.__doc__ == "Return twice the number." and decorated.__name__ == "decorated"
    assert [decorated(tn.full((1,), float(i))).item() for i in range(6)] == [0, 2, 4, 6, 8, 10]


def test_disable_and_backends_that_do_not_compile():
    net = nn.Linear(2, 1)
    assert tn.compile(net, disable=True) is net
    assert tn.compile(net, backend="eager") is net
    assert tn.compile(disable=True)(abs) is abs
    compiled = tn.compile(lambda x: x * 2, backend="inductor", options={"trace": True})
    assert [compiled(tn.ones(1)).item() for _ in range(4)] == [2] * 4
    assert compiled.calls() == (2, 2, 0)


def test_the_llvm_backend_without_llvm(monkeypatch):
    monkeypatch.setattr("tinynet.capture.api.compiler.is_available", lambda: False)
    with pytest.raises(
        RuntimeError, match="backend='llvm' needs llvmlite: .* -m pip install llvmlite"
    ):
        tn.compile(abs, backend="llvm")


@pytest.mark.parametrize("verify", [-1, "often", 0.5])
def test_verify_is_a_number_of_calls(verify):
    with pytest.raises(ValueError, match="verify must be a number of calls >= 0"):
        tn.compile(abs, verify=verify)


def test_a_nested_module_is_inlined_and_trains():
    def build():
        inner = tn.compile(nn.Linear(3, 3))
        net = nn.Sequential(inner, nn.Tanh(), nn.Linear(3, 1))
        sgd = optim.SGD(net.parameters(), lr=0.1)

        def step(x):
            sgd.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            sgd.step()
            return loss

        return [net, sgd], step

    assert compare(build, lambda i: (tn.randn(4, 3),)) is None


def test_arguments_that_do_not_fit_the_function():
    calls = [lambda f: f(), lambda f: f(1, 2, 3), lambda f: f(y=2)]
    both(lambda: lambda x: x, [call for call in calls for _ in range(WARM)])


@pytest.mark.parametrize(
    ("make", "read", "words"),
    [
        (lambda: lambda x: Options(x * 2), lambda r: r.scale, "object of type Options"),
        (lambda: lambda x: {1, 2}, lambda r: sorted(r), "object of type set"),
        (lambda: lambda x: (x * i for i in range(2)), lambda r: [*r], "object of type generator"),
    ],
)
def test_results_that_a_program_cannot_hold(make, read, words):
    both(make, [lambda f: read(f(tn.ones(2)))] * 6, words)


def test_a_copy_has_its_own_programs():
    function = tn.compile(lambda x: x * 2)
    for _ in range(WARM):
        function(tn.ones(1))
    other = copy.deepcopy(function)
    assert replayed(other) == 0 and replayed(function) == 1
    with pytest.warns(CompileWarning, match="item"):
        reading = copy.deepcopy(tn.compile(lambda x: x * x.item()))
        assert [reading(tn.ones(1)).item() for _ in range(5)] == [1] * 5


# ---- what models use every day ------------------------------------------------------------------


def summed(x, count):
    return x if count == 0 else summed(x + count, count - 1)


def held_by_name(x):
    return x * vars(Options(2.0))["scale"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sum([x * i for i in range(3)]),
        lambda x: sum(x * i for i in range(3)),
        lambda x: tn.stack(tuple(x * i for i in range(2))),
        lambda x: sum({i: x * i for i in range(2)}.values()),
        lambda x: sum(sum(x * i * j for i in range(2)) for j in range(3)),
        lambda x: x * next(iter(range(5, 9))),
        lambda x: summed(x, sorted((i for i in range(3)), key=lambda i: -i)[0]),
        held_by_name,
    ],
)
def test_ranges_and_attributes_by_name(function):
    compiled = tn.compile(function, verify=0)
    for i in range(6):
        x = tn.full((2,), float(i))
        assert tn.equal(compiled(x), function(x))
    assert compiled.calls() == (4, 2, 0)


def test_an_iterator_over_a_range_from_outside_goes_on():
    box = types.SimpleNamespace(numbers=iter(range(100)))

    def through_a_function(x):
        def take(numbers):
            return next(numbers)

        return x * take(box.numbers)

    for function in (through_a_function, lambda x: x * next(i for i in box.numbers)):
        box.numbers = iter(range(100))
        compiled = tn.compile(function, verify=0)
        with pytest.warns(CompileWarning, match="range_iterator from outside"):
            found = [float(compiled(tn.ones(1))) for _ in range(6)]
        assert found == sorted(set(found)) and compiled.calls().replayed == 0
