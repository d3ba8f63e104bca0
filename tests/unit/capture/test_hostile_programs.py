"""Programs that read and change Python objects in unusual ways: as eagerly, or one warning."""

import abc
import collections
import contextlib
import copy
import ctypes
import dataclasses
import decimal
import functools
import hashlib
import io
import json
import logging
import operator
import os
import pickle
import queue
import sys
import threading
import types
import warnings
import weakref

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.compiler import CompileWarning

from .test_guards import exact

Plain = types.SimpleNamespace


class Thing:
    """An object with attributes."""

    kind = 1.0

    def __init__(self, **given):
        self.__dict__.update(given)


SHARED = Thing(first=1.0, second=2.0)
NAME = "first"
ACTIVATION = F.relu


def run(build, calls):
    """Return the results of a function eager and compiled, and the compiled one's warnings."""
    sides, heard = [], []
    for compiling in (False, True):
        tn.manual_seed(0)
        function, *rest = build()
        used = tn.compile(function) if compiling else function
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            warnings.simplefilter("error", SyntaxWarning)  # of generated code
            sides.append([calls(used, *rest), used])
        heard = [str(w.message) for w in found if issubclass(w.category, CompileWarning)]
    (eager, _), (compiled, used) = sides
    assert eager == compiled
    return used, heard


# ---- what is read -------------------------------------------------------------------------------
# Each returns a function, and one that changes what it reads.

READS = {}


def reads(build):
    """Add a program to the table."""
    READS[build.__name__] = build
    return build


@reads
def an_attribute_by_a_name_that_changes():
    def put(value):
        globals()["NAME"] = "second" if value == 2 else "first"

    return lambda x: x * getattr(SHARED, NAME), put


@reads
def an_attribute_by_a_computed_name():
    thing = Thing(scale_1=1.0)
    return lambda x: x * getattr(thing, f"scale_{x.ndim}"), lambda v: setattr(thing, "scale_1", v)


@reads
def an_attribute_by_another_getattr():
    thing, look = Thing(scale_1=1.0), getattr
    return lambda x: x * look(thing, f"scale_{x.ndim}"), lambda v: setattr(thing, "scale_1", v)


@reads
def a_path_of_attributes():
    thing = Thing(inner=Thing(scale=1.0))
    path = "inner scale".split()
    return lambda x: x * functools.reduce(getattr, path, thing), lambda v: setattr(
        thing.inner, "scale", v
    )


@reads
def an_attribute_that_appears():
    thing, part = Thing(), "fla"

    def put(value):
        thing.__dict__.pop("flag", None)
        if value == 2:
            thing.flag = True

    return lambda x: x * 2 if hasattr(thing, part + "g") else x, put


@reads
def an_attribute_that_hides_getattr():
    class Answering:
        def __getattr__(self, name):
            return 1.0

    thing = Answering()
    return lambda x: x * thing.scale, lambda v: thing.__dict__.update(scale=v)


@reads
def attributes_by_attrgetter():
    thing, get = Thing(scale=1.0, s1=1.0), operator.attrgetter("scale")
    return lambda x: x * get(thing) * operator.attrgetter(f"s{x.ndim}")(thing), lambda v: (
        setattr(thing, "scale", v),
        setattr(thing, "s1", v),
    )


@reads
def attributes_by_their_dictionary():
    thing = Thing(s1=1.0)
    return (
        lambda x: x * thing.__dict__[f"s{x.ndim}"] * sum(vars(thing).values()),
        lambda v: setattr(thing, "s1", v),
    )


@reads
def attributes_in_a_copy():
    thing = Thing(first=1.0)
    return lambda x: x * copy.deepcopy(thing).first, lambda v: setattr(thing, "first", v)


@reads
def attributes_in_a_pickle():
    return lambda x: x * len(pickle.dumps(SHARED)), lambda v: setattr(SHARED, "third", "3" * int(v))


@reads
def a_global_variable_by_a_computed_name():
    globals()["SCALE_1"] = 1.0
    return lambda x: x * globals()[f"SCALE_{x.ndim}"], lambda v: globals().update(SCALE_1=v)


@reads
def a_library_function_in_a_variable():
    def put(value):
        globals()["ACTIVATION"] = F.tanh if value == 2 else F.relu

    return lambda x: ACTIVATION(x), put


@reads
def a_library_function_in_an_attribute():
    thing = Thing(act=F.relu)
    return lambda x: thing.act(x), lambda v: setattr(thing, "act", F.tanh if v == 2 else F.relu)


@reads
def a_global_variable_that_appears():
    globals().pop("MAYBE", None)

    def function(x):
        try:
            return x * MAYBE
        except NameError:
            return x

    return function, lambda v: globals().update(MAYBE=v) if v > 1 else None


@reads
def a_builtin_function_that_is_shadowed():
    globals().pop("len", None)

    def put(value):
        if value == 2:
            globals()["len"] = lambda x: 7
        else:
            globals().pop("len", None)

    return lambda x: x * len([1, 2]), put


@reads
def a_cached_object():
    @functools.lru_cache
    def settings(name):
        return Thing(scale=1.0)

    return lambda x: x * settings("a").scale, lambda v: setattr(settings("a"), "scale", v)


@reads
def a_cached_dictionary():
    @functools.cache
    def settings():
        return {"scale": 1.0}

    return lambda x: x * settings()["scale"], lambda v: settings().update(scale=v)


@reads
def a_cache_that_is_cleared():
    thing = Thing(scale=1.0)

    @functools.cache
    def scale():
        return thing.scale

    def put(value):
        thing.scale = value
        scale.cache_clear()

    return lambda x: x * scale(), put


@reads
def the_attribute_of_a_result():
    thing = Thing(scale=1.0)

    def settings():
        return thing

    return lambda x: x * settings().scale, lambda v: setattr(thing, "scale", v)


@reads
def the_attribute_of_an_item():
    thing = Thing(scale=1.0)

    class Registry:
        def __getitem__(self, name):
            return thing

    registry = Registry()
    return lambda x: x * registry["a"].scale, lambda v: setattr(thing, "scale", v)


@reads
def the_last_of_many_objects():
    things = [Thing(scale=1.0) for _ in range(1500)]
    return lambda x: x * things[-1].scale, lambda v: setattr(things[-1], "scale", v)


@reads
def containers_of_python_code():
    found = collections.UserDict(a=1.0)
    row = collections.UserList([1.0])
    chain = collections.ChainMap({}, {"a": 1.0})
    return lambda x: x * found["a"] * row[0] * chain["a"], lambda v: (
        found.update(a=v),
        row.__setitem__(0, v),
        chain.maps[1].update(a=v),
    )


@reads
def views_of_a_dictionary():
    table = {"a": 1.0}
    values, proxy = table.values(), types.MappingProxyType(table)
    return lambda x: x * sum(values) * proxy["a"], lambda v: table.update(a=v)


@reads
def objects_in_sets_keys_and_arrays():
    a, b, c = (Thing(scale=1.0) for _ in range(3))
    group, table, row = frozenset([a]), {b: 1}, np.array([c], dtype=object)

    def function(x):
        return x * next(iter(group)).scale * [*table][0].scale * row[0].scale

    return function, lambda v: [setattr(thing, "scale", v) for thing in (a, b, c)]


@reads
def attributes_of_numbers_and_lists():
    class Number(int):
        pass

    class Row(list):
        pass

    class Table(dict):
        __getattr__ = dict.__getitem__

    number, row, table = Number(2), Row([1.0]), Table(scale=1.0)
    number.scale = row.scale = 1.0
    return lambda x: x * number.scale * row.scale * table.scale, lambda v: (
        setattr(number, "scale", v),
        setattr(row, "scale", v),
        table.update(scale=v),
    )


@reads
def the_arguments_of_an_error():
    error = ValueError(1.0)
    return lambda x: x * error.args[0], lambda v: setattr(error, "args", (v,))


@reads
def a_view_of_bytes():
    held = bytearray(1)
    seen = memoryview(held)
    return lambda x: x * seen[0], lambda v: held.__setitem__(0, int(v))


@reads
def a_weak_dictionary():
    thing = Thing(scale=1.0)
    table = weakref.WeakValueDictionary(a=thing)
    return lambda x: x * table["a"].scale, lambda v: setattr(thing, "scale", v)


@reads
def the_class_of_an_object():
    class Single:
        def method(self, x):
            return x

    class Double:
        def method(self, x):
            return x * 2

    thing = Single()

    def function(x):
        return thing.method(x) + isinstance(thing, Single) + (type(thing).__name__ == "Single")

    return function, lambda v: setattr(thing, "__class__", Double if v == 2 else Single)


@reads
def the_base_of_a_class():
    class Single:
        scale = 1.0

    class Double:
        scale = 2.0

    class Child(Single):
        pass

    thing = Child()
    return lambda x: x * thing.scale, lambda v: setattr(
        Child, "__bases__", (Double if v == 2 else Single,)
    )


@reads
def an_attribute_of_a_metaclass():
    class Meta(type):
        scale = 1.0

    class Made(metaclass=Meta):
        pass

    return lambda x: x * Made.scale, lambda v: setattr(Meta, "scale", v)


@reads
def a_registration_of_an_abstract_class():
    class Base(abc.ABC):  # noqa: B024
        pass

    thing = Thing()
    return (
        lambda x: x * 2 if isinstance(thing, Base) else x,
        lambda v: Base.register(Thing) if v == 2 else None,
    )


@reads
def a_pattern_of_a_class():
    class Point:
        __match_args__ = ("place",)

        def __init__(self, place):
            self.place = place

    point = Point(1.0)

    def function(x):
        match point:
            case Point(1.0):
                return x
            case Point(place):
                return x * place

    return function, lambda v: setattr(point, "place", v)


@reads
def a_function_that_is_replaced():
    module = types.ModuleType("module_of_a_test")
    module.scaled = lambda x: x
    return lambda x: module.scaled(x), lambda v: setattr(module, "scaled", lambda x: x * v)


@reads
def a_function_of_the_library_that_is_replaced():
    original = F.relu

    def put(value):
        F.relu = (lambda x: x * value) if value == 2 else original

    return lambda x: F.relu(x), put


@reads
def a_partial_function():
    scaled = functools.partial(lambda x, scale: x * scale, scale=1.0)
    scaled.factor = 1.0
    return lambda x: scaled(x) * scaled.factor, lambda v: (
        scaled.keywords.update(scale=v),
        setattr(scaled, "factor", v),
    )


@reads
def an_attribute_of_a_function():
    def scaled(x):
        return x * scaled.factor

    scaled.factor = 1.0
    return lambda x: scaled(x), lambda v: setattr(scaled, "factor", v)


@reads
def a_default_of_a_method():
    class Scaling:
        def __call__(self, x, scales=[1.0]):  # noqa: B006
            return x * scales[0]

    scaling = Scaling()
    return lambda x: scaling(x), lambda v: Scaling.__call__.__defaults__[0].__setitem__(0, v)


@reads
def a_dispatched_function():
    @functools.singledispatch
    def scale(thing):
        return 1.0

    thing = Thing()

    def put(value):
        if value > 1:
            scale.register(Thing, lambda thing: value)

    return lambda x: x * scale(thing), put


@reads
def a_function_that_dataclasses_call():
    @dataclasses.dataclass
    class Settings:
        scale: float = 1.0

    settings = Settings()
    return lambda x: x * dataclasses.asdict(settings)["scale"], lambda v: setattr(
        settings, "scale", v
    )


@reads
def a_module_that_the_function_imports():
    def put(value):
        module = types.ModuleType("module_of_a_test")
        module.SCALE = value
        sys.modules["module_of_a_test"] = module

    def function(x):
        import module_of_a_test

        return x * module_of_a_test.SCALE

    put(1.0)
    return function, put


@reads
def an_event():
    event = threading.Event()
    return (
        lambda x: x * 2 if event.is_set() else x,
        lambda v: event.set() if v == 2 else event.clear(),
    )


@reads
def attributes_of_tensors():
    net = nn.Linear(3, 3)
    net.weight.decay = 1.0
    return lambda x: net(x) * net.weight.decay, lambda v: setattr(net.weight, "decay", v)


@reads
def the_form_of_a_tensor():
    t = tn.ones(1)

    def function(x):
        return x * t.shape[0] * (1 + t.requires_grad) * (2 if t.dtype == tn.float64 else 1)

    return function, lambda v: setattr(
        t, "data", tn.ones(int(v), dtype=tn.float64 if v == 2 else tn.float32)
    )


@reads
def modules_in_a_list():
    layers = nn.ModuleList([nn.Linear(3, 3)])

    def function(x):
        for layer in layers:
            x = layer(x)
        return x

    return function, lambda v: layers.append(nn.Tanh()) if v > 1 else None


@reads
def a_module_in_a_list_that_is_replaced():
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    return lambda x: layers[1](layers[0](x)), lambda v: layers.__setitem__(
        1, nn.Sigmoid() if v == 2 else nn.Tanh()
    )


@reads
def the_number_of_parameters():
    net = nn.Sequential(nn.Linear(3, 3))

    def put(value):
        if len(net) < value:
            net.append(nn.Linear(3, 3))

    return lambda x: x * len([*net.parameters()]), put


@reads
def the_forward_of_a_class():
    class Net(nn.Module):
        def forward(self, x):
            return x

    net = Net()
    return lambda x: net(x), lambda v: setattr(Net, "forward", lambda self, x: x * v)


@reads
def a_dictionary_as_json():
    found = {"scale": 1.0}
    return lambda x: x * json.loads(json.dumps(found))["scale"], lambda v: found.update(scale=v)


@pytest.fixture
def restored(monkeypatch):
    """Names that the programs set are put back."""
    for name in ("NAME", "ACTIVATION"):
        monkeypatch.setitem(globals(), name, globals()[name])
    for name in ("MAYBE", "len", "SCALE_1"):
        monkeypatch.setitem(globals(), name, None)
        globals().pop(name)
    monkeypatch.setattr(F, "relu", F.relu)
    monkeypatch.setitem(sys.modules, "module_of_a_test", None)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", READS)
def test_what_is_read_is_a_guard(name):
    def calls(function, put):
        found = []
        for value in (1.0, 2.0, 3.0):
            put(value)
            found += [exact(function(tn.arange(3.0))) for _ in range(4)]
        return found

    used, heard = run(READS[name], calls)
    assert heard == []
    assert used.calls().replayed >= 3


def test_a_weak_reference_to_what_dies():
    def build():
        kept = [Thing(scale=2.0)]
        reference = weakref.ref(kept[0])
        return lambda x: x * 2 if reference() is not None else x, kept

    def calls(function, kept):
        found = [exact(function(tn.ones(1))) for _ in range(4)]
        kept.clear()
        return found + [exact(function(tn.ones(1))) for _ in range(4)]

    used, heard = run(build, calls)
    assert heard == [] and used.calls().replayed >= 3


def test_attributes_of_a_thread():
    def build():
        held = threading.local()
        return lambda x: x * held.scale, held

    def calls(function, held):
        found = []

        def work(value):
            held.scale = value
            found.extend(exact(function(tn.ones(1))) for _ in range(4))

        for value in (1.0, 2.0):
            thread = threading.Thread(target=work, args=(value,))
            thread.start()
            thread.join()
        return found

    _, heard = run(build, calls)
    assert heard == []


def test_what_the_function_makes_is_no_guard():
    """Objects, iterators and arrays of its own may change, and are let go."""

    class Row:
        def __init__(self):
            self.items, self.count = [], np.zeros(1)

        def add(self, x):
            self.items.append(x)
            self.count[0] += 1
            return self

        def __iter__(self):
            yield from self.items

    def make_row(x):
        return Row().add(x).add(x * 2)

    def build():
        def function(x):
            row = make_row(x)
            table = {"total": 0}
            for i, item in enumerate(iter(row)):
                table["total"] = table["total"] + item * i
            return table["total"] + [*map(lambda t: t * 3, row)][-1]

        return (function,)

    used, heard = run(build, lambda f: [exact(f(tn.arange(3.0))) for _ in range(5)])
    assert heard == [] and used.calls() == (3, 2, 0)


def test_a_large_array_that_can_never_be_written_to_is_read():
    numbers = np.frombuffer(np.arange(20_000.0).tobytes())
    used, heard = run(
        lambda: (lambda x: x * float(numbers[7]),),
        lambda f: [exact(f(tn.ones(2))) for _ in range(5)],
    )
    assert heard == [] and used.calls().replayed == 3


# ---- what is changed, or cannot be compared -----------------------------------------------------
# Each returns a function, one that shows what it changes, and words of the warning.

EAGER = {}


def eager(build):
    """Add a program to the table."""
    EAGER[build.__name__] = build
    return build


@eager
def puts_into_a_queue():
    line = queue.Queue()
    return lambda x: (line.put(1), x * 1)[1], line.qsize, "changes a deque"


@eager
def puts_into_a_simple_queue():
    line = queue.SimpleQueue()
    return lambda x: (line.put(1), x * 1)[1], line.qsize, "changes a"


@eager
def gets_from_a_queue():
    line = queue.SimpleQueue()
    for value in range(9):
        line.put(value)
    return lambda x: x * line.get(), line.qsize, "changes a"


@eager
def appends_by_a_bound_method():
    row = []
    add = row.append
    return lambda x: (add(1), x * 1)[1], row.copy, "changes a list"


@eager
def appends_to_the_list_of_an_object():
    thing = Thing(seen=[])

    def note(x, thing):
        thing.seen.append(1)
        return x * 1

    return lambda x: note(x, thing), thing.seen.copy, "changes a list"


@eager
def registers_a_buffer():
    net = nn.Linear(3, 3)

    def function(x):
        net.register_buffer("last", x * 1)
        return net(x)

    return function, lambda: exact(net.last), "changes"


@eager
def registers_a_parameter():
    net = nn.Linear(3, 3)

    def function(x):
        y = net(x)
        net.register_parameter("extra", nn.Parameter(tn.ones(3)))
        return y

    return function, lambda: len([*net.parameters()]), "changes"


@eager
def adds_a_module():
    net = nn.Sequential(nn.Linear(3, 3))

    def function(x):
        net.add_module("extra", nn.ReLU())
        return net(x)

    return function, lambda: net._modules.pop("extra") and len(net), "changes the attributes"


@eager
def adds_a_group_of_parameters():
    sgd = optim.SGD(nn.Linear(3, 3).parameters(), lr=0.1)

    def function(x):
        sgd.add_param_group({"params": [nn.Parameter(tn.ones(1))]})
        return x * 1

    return function, lambda: len(sgd.param_groups), "changes a"


@eager
def sets_an_attribute_of_a_module():
    net = nn.Linear(3, 3)
    net.scale = 3.0

    def count(x):
        setattr(net, "scale", net.scale + 1)  # noqa: B010 - this way to set it is what is tested
        return net(x)

    return count, lambda: net.scale, "sets the attribute 'scale'"


@eager
def sets_a_slot():
    class Slot:
        __slots__ = ("count",)

    thing = Slot()
    thing.count = 0

    def function(x):
        Slot.count.__set__(thing, 5)
        return x * 1

    def look():
        count, thing.count = thing.count, 0
        return count

    return function, look, "changes 'count'"


@eager
def updates_attributes_by_computed_names():
    thing = Thing(s1=0)

    def look():
        value, thing.s1 = thing.s1, 0
        return value

    return lambda x: (vars(thing).update({f"s{x.ndim}": 5}), x * 1)[1], look, "changes 's1'"


@eager
def reads_a_large_array():
    numbers = np.ones(20_000)
    return lambda x: x * float(numbers[-1]), lambda: numbers.__setitem__(-1, 5), "20,000 items"


@eager
def reads_a_number_of_c():
    number = ctypes.c_int(1)
    return lambda x: x * number.value, lambda: setattr(number, "value", 2), "cannot be compared"


@eager
def updates_a_hash():
    made = hashlib.sha1()
    return lambda x: (made.update(b"a"), x * 1)[1], made.digest, "cannot be compared"


@eager
def takes_a_lock():
    lock = threading.Lock()

    def function(x):
        with lock:
            return x * 1

    return function, lock.locked, "cannot be compared"


@eager
def warns():
    def function(x):
        warnings.warn("a warning of the user", stacklevel=1)
        return x * 1

    return function, lambda: 0, "the function warns"


@eager
def logs():
    stream = io.StringIO()
    logger = logging.Logger("of a test")
    logger.addHandler(logging.StreamHandler(stream))
    return lambda x: (logger.info("a"), x * 1)[1], stream.getvalue, "asks for the time"


@eager
def prints():
    stream = io.StringIO()

    def function(x):
        with contextlib.redirect_stdout(stream):
            print("a")
        return x * 1

    return function, stream.getvalue, "prints"


@eager
def looks_for_a_file():
    return lambda x: x * os.path.exists("."), lambda: 0, "asks the operating system"


@eager
def reads_the_state_of_python():
    return lambda x: x * sys.getrecursionlimit(), lambda: 0, "asks for the state of Python"


@eager
def divides_decimal_numbers():
    return (
        lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3)),
        lambda: 0,
        "decimal numbers",
    )


@eager
def asks_for_a_setting():
    return lambda x: x * tn.get_num_threads(), lambda: 0, "a setting of tinynet"


@eager
def goes_on_after_an_operation_that_fails():
    found = Thing(count=0)

    def function(x):
        with contextlib.suppress(RuntimeError):
            x @ tn.ones(4)
        found.count += 1
        return x * 1

    return function, lambda: found.count, "dot fails"


@eager
def starts_a_thread():
    found = []

    def function(x):
        thread = threading.Thread(target=found.append, args=(1,))
        thread.start()
        thread.join()
        return x * 1

    return function, found.copy, "starts a thread"


@eager
def is_finalized():
    found = []

    class Ending:
        def __del__(self):
            found.append(1)

    return lambda x: (Ending(), x * 1)[1], found.copy, "changes a list"


@pytest.mark.parametrize("name", EAGER)
def test_what_is_changed_or_cannot_be_compared_runs_eagerly(name):
    def calls(function, look, words):
        return [(exact(function(tn.arange(3.0))), look()) for _ in range(6)]

    used, heard = run(EAGER[name], calls)
    assert used.calls().replayed == 0
    words = EAGER[name]()[-1]
    assert len(heard) == 1 and words in heard[0] and "to fix it:" in heard[0], heard


def test_a_warning_names_the_line_of_the_user():
    compiled = tn.compile(lambda x: x * os.path.exists("."))
    with pytest.warns(CompileWarning, match=r"where: test_hostile_programs.py:\d+ in <lambda>"):
        for _ in range(4):
            compiled(tn.ones(1))


def test_a_tensor_that_is_passed_with_attributes_runs_eagerly():
    def calls(function):
        found = []
        for value in (1.0, 2.0):
            for _ in range(4):
                x = tn.ones(2)
                x.scale = value
                found.append(exact(function(x)))
        return found

    _, heard = run(lambda: (lambda x: x * x.scale,), calls)
    assert len(heard) == 1 and "has attributes of its own" in heard[0]


def test_a_constant_tuple_beside_an_attribute_that_is_set():
    """Found by random programs."""
    weight = tn.tensor(0.5, requires_grad=True)

    def function(x):
        w = weight
        w.requires_grad = True
        return x * w.view(())

    _, heard = run(lambda: (function,), lambda f: [exact(f(tn.ones(1))) for _ in range(5)])
    assert len(heard) == 1 and "sets the attribute 'requires_grad'" in heard[0]


def test_a_backward_pass_that_ends_at_a_result_leaves_its_graph():
    """Found by random programs."""

    def calls(function):
        found = []
        for _ in range(5):
            x = tn.tensor([0.5, -1.0], requires_grad=True)
            y, g = function(x)
            y.backward()
            found.append((exact(y), exact(g), exact(x.grad)))
        return found

    def function(x):
        y = x @ x
        return y, tn.autograd.grad(y.sum(), [y])[0]

    used, heard = run(lambda: (function,), calls)
    assert heard == [] and used.calls().replayed == 3
