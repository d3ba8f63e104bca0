"""Operations load when they are first used, wherever that is: each file of them in a new process.

All other tests load everything first. Here each file loads inside of a capture, a transform, a hook, a
thread, a mode; after that, the examples of its functions and methods must hold.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.laws.test_architecture import FILES, PACKAGE, name_of, nodes_of
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
    "default dtype": """
tn.set_default_dtype(tn.float64)
load()
tn.set_default_dtype(tn.float32)
""",
}
PROGRAM = """
import doctest, inspect, os, sys, traceback
import tinynet as tn
from tinynet import nn, optim
from tinynet.base import lazy
from tinynet.core.tensors.tensor import Tensor
{before}
def examples(module, name, found):
    known = dict(vars(sys.modules[module]), tn=tn, nn=nn, F=nn.functional, optim=optim)
    text = inspect.getdoc(found) or ""
    test = doctest.DocTestParser().get_doctest(text, known, name, None, 0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    assert not runner.run(test).failed, name
def check(module, used):
    homes = dict(Tensor=Tensor, ops=tn.ops, special=tn.special)
    kind, name = used[0]
    assert module in sys.modules or {eager}
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


def used():
    """The names of each file: (what has them, name)."""
    found = {}
    for key, module in FILE_OF.items():
        found.setdefault(module, []).append(key)
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each file needs a process of its own")
@pytest.mark.parametrize("context", CONTEXTS)
def test_operations_load_in(context):
    program = PROGRAM.format(before="", context=CONTEXTS[context], used=used(), eager=True)
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
