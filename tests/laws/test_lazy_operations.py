"""Operations load when they are first used, wherever that is: each file of them in a new process.

All other tests load everything first. Here each file loads inside of a capture, a transform, a
hook, a thread, a mode; after that, the examples of its functions and methods must hold.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinynet.base.lazy import HOMES, METHODS

ROOT = Path(__file__).parents[2]
NAMES = {
    "Tensor": METHODS,
    "ops": {name: home for name, home in HOMES["tinynet.ops"].items() if ".core." not in home},
    "special": HOMES["tinynet.ops.special"],
}
FILE_OF = {(kind, n): home.partition(":")[0] for kind in NAMES for n, home in NAMES[kind].items()}
# What surrounds the first use; ``load()`` is that.
CONTEXTS = {
    "nothing": "load()",
    "capture": "tn.compile(lambda x: (x * 2, load())[0])(tn.ones(2))",
    "vmap": "tn.vmap(lambda x: (x * 2, load())[0])(tn.ones(2))",
    "jvp": "tn.func.jvp(lambda x: (x * 2, load())[0], (tn.ones(2),), (tn.ones(2),))",
    "grad": "tn.func.grad(lambda x: (x.sum(), load())[0])(tn.ones(2))",
    "hook": """
x = tn.ones(2, requires_grad=True)
x.register_hook(lambda g: load())
(x * 2).sum().backward(create_graph=True)
""",
    "thread": """
import threading
threads = [threading.Thread(target=load) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""",
    "inference mode": """
with tn.inference_mode():
    load()
""",
    "no_grad": """
with tn.no_grad():
    load()
""",
    "function mode": """
class Mode(tn.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
with Mode():
    load()
""",
    "autocast": """
with tn.autocast("cpu"):
    load()
""",
    "16 bits": """
tn.ones(1, dtype=tn.bfloat16) + tn.ones(1, dtype=tn.float16)
load()
""",
    "complex numbers": """
tn.ones(1, dtype=tn.complex64) * 2
load()
""",
    "a subclass": """
class Mine(tn.Tensor):
    pass
Mine([1.0]) + 1
load()
""",
    "observer": """
from tinynet.core.trace import observing
with observing(lambda *found: None):
    load()
""",
    "an interrupt": """
from tinynet.core.declaration.operation import Operation
install, begun = Operation._install, []
def interrupted(op, *args, **options):
    begun.append(op)
    install(op, *args, **options)
    if len(begun) == 2:
        raise KeyboardInterrupt
Operation._install = interrupted
try:
    load()
except KeyboardInterrupt:
    pass
Operation._install = install
load()
""",
    "default dtype": """
tn.set_default_dtype(tn.float64)
load()
tn.set_default_dtype(tn.float32)
""",
}
WHOLE = {"capture", "function mode"}  # they load all operations when they are loaded themselves
PROGRAM = """
import doctest, inspect, os, sys, traceback
import tinynet as tn
from tinynet import nn, optim
from tinynet.core.tensors.tensor import Tensor

homes = dict(Tensor=Tensor, ops=tn.ops, special=tn.special)

def examples(module, name, found):
    known = dict(vars(sys.modules[module]), tn=tn, nn=nn, F=nn.functional, optim=optim)
    text = inspect.getdoc(found) or ""
    test = doctest.DocTestParser().get_doctest(text, known, name, None, 0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    assert not runner.run(test).failed, name

def check(module, used):
    kind, name = used[0]
    load = lambda: getattr(homes[kind], name) and None
    exec({context!r}, dict(tn=tn, load=load))
    assert module in sys.modules
    for kind, name in used:
        examples(module, name, getattr(homes[kind], name))

failed = []
for module, used in {used}.items():
    if not (process := os.fork()):
        try:
            check(module, used)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(process, 0)[1]:
        failed.append(module)
print(failed)
sys.exit(bool(failed))
"""


def run(program):
    """Run a program in a new process, which must not fail."""
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each file needs a process of its own")
@pytest.mark.parametrize("context", CONTEXTS)
def test_operations_load_in(context, request):
    """Each file in one of four contexts, with ``--full`` in each."""
    used = {}
    for key, module in FILE_OF.items():
        used.setdefault(module, []).append(key)
    full, place = request.config.getoption("--full"), [*CONTEXTS].index(context)
    if context in WHOLE:
        used = dict([*used.items()][::20])
    elif not full and context != "nothing":
        used = dict([*used.items()][place % 4 :: 4])
    run(PROGRAM.format(context=CONTEXTS[context], used=used))


def test_a_method_that_is_not_loaded_is_found_like_others():
    run("""
import copy, inspect, pickle, pydoc, sys
import tinynet as tn
from tinynet.base.lazy import METHODS
home = METHODS["erfinv"].partition(":")[0]
assert home not in sys.modules
assert {*METHODS} <= {*dir(tn.Tensor)} and {*METHODS} <= {*dir(tn.ones(1))}
assert home not in sys.modules
assert hasattr(tn.Tensor, "erfinv") and not hasattr(tn.Tensor, "erfinv2")
assert tn.Tensor.erfinv is tn.Tensor.erfinv is vars(tn.Tensor)["erfinv"]
assert "dim" in inspect.signature(tn.Tensor.logcumsumexp).parameters
assert pickle.loads(pickle.dumps(tn.lgamma)) is tn.lgamma is tn.ops.lgamma
assert copy.deepcopy(tn.digamma) is tn.digamma
assert "cov" in pydoc.render_doc(tn.Tensor)
""")


def test_a_class_overrides_a_method_that_is_not_loaded():
    run("""
import tinynet as tn
class Mine(tn.Tensor):
    def erfinv(self):
        return super().erfinv(), "mine"
    def diff(self, *args):
        return tn.Tensor.diff(self, *args) * 2
x = tn.zeros(2).as_subclass(Mine)
value, mark = x.erfinv()
assert mark == "mine" and type(value) is Mine and value.tolist() == [0, 0]
assert type(tn.special.ndtri(x + 0.5)) is Mine
assert tn.tensor([1.0, 3.0]).as_subclass(Mine).diff().tolist() == [4.0]
""")


def test_methods_that_are_not_loaded_ask_torch_function():
    run("""
import tinynet as tn
seen = []
class Seen(tn.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(func)
        with tn._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))
x = tn.eye(2).as_subclass(Seen)
for function, call in [
    (tn.Tensor.max, lambda: x.max(1)), (tn.Tensor.det, lambda: x.det()),
]:
    seen.clear()
    call()
    assert seen == [function], (seen, function)
""")


def test_a_property_that_is_not_loaded_refuses_and_takes_what_it_would():
    run("""
import tinynet as tn
x = tn.tensor([1 + 2j])
for name in ("mT", "is_mps"):
    try:
        setattr(tn.ones(2, 2), name, 1)
    except AttributeError:
        assert not vars(tn.ones(2, 2))
    else:
        raise AssertionError(name)
x.imag = tn.tensor([5.0])
assert x.tolist() == [1 + 5j] and not vars(x)
assert isinstance(tn.Tensor.H, property)
y = tn.ones(2)
y.std = "an attribute"  # not a property: of the tensor
assert y.std == "an attribute" and tn.ones(2).std().item() == 0
""")


def test_what_a_program_puts_in_the_place_of_a_method_stays():
    run("""
from unittest import mock
import tinynet as tn
with mock.patch.object(tn.Tensor, "erfinv", lambda self: "another"):
    assert tn.ones(1).erfinv() == "another"
    assert tn.ones(1).erf().item() > 0.8  # loads the file
    assert tn.ones(1).erfinv() == "another"
assert tn.zeros(1).erfinv().item() == 0 and tn.zeros(1).erfinv().item() == 0
tn.Tensor.lgamma = lambda self: "ours"
assert tn.ones(1).digamma().item() < 0 and tn.ones(1).lgamma() == "ours"
""")


def test_threads_load_the_same_methods():
    run(f"""
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import tinynet as tn
sys.setswitchinterval(1e-6)
names, start = {[*METHODS]}, threading.Barrier(4)
def load(first):
    start.wait()
    return {{name: id(getattr(tn.Tensor, name)) for name in names[first:] + names[:first]}}
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(load, range(0, len(names), len(names) // 4 + 1)))
assert all(one == found[0] for one in found)
""")


def test_files_load_alone_and_in_any_order():
    """None needs another that it does not import, and none loads another in a circle."""
    files = sorted({*FILE_OF.values()})
    program = "import importlib, tinynet\nfor name in {}: importlib.import_module(name)"
    run(program.format(files))
    run(program.format(files[::-1]))


def test_a_function_is_the_same_by_every_way():
    run("""
import tinynet as tn
from tinynet.base import lazy
assert lazy.find(tn.ops, "tanh") is tn.ops.tanh is tn.tanh is lazy.load("tinynet", "tanh")
assert lazy.find(tn.special, "ndtri") is tn.special.ndtri
assert lazy.members(tn.ops)["sum"] is tn.sum
""")
