"""Lazy loading: what `import tinynet` leaves out, and that every name is found all the same."""

import ast
import importlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import tinynet
from tinynet.base import lazy
from tinynet.base.lazy import HOMES
from tinynet.base.lazy.__main__ import lazy_imports

ROOT = Path(__file__).parents[2]
PACKAGES = [name for name in HOMES if not name.startswith("tinynet.ops")]  # see operations.py
LATER = """
    amp autograd backends ops.batching.rules data distributions exchange func masked nn optim
    signal train dtypes.type_info utils compat.accelerator base.invocation.commands
    kernels.llvm.kernel kernels.native.tables sparse compat.storage random ops.linalg ops.special
    ops.fourier ops.everything ops.pointwise.gamma ops.reduction.sorting ops.creation.random
""".split()
HEAVY = """
    argparse csv dataclasses glob hashlib json numpy.polynomial pathlib random shutil signal zipfile
""".split()


def run(program):
    """Run a program in a new process and return what it prints, as JSON."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loaded_by(program):
    code = "import json, sys, numpy; before = {*sys.modules}\n"
    return run(f"{code}{program}\nprint(json.dumps([*{{*sys.modules}} - before]))")


def test_import_loads_tensors_and_their_sums_only():
    loaded = loaded_by("import tinynet")
    assert "tinynet.ops.reduction.sums" in loaded
    later = {f"tinynet.{part}" for part in LATER}
    assert not later & {*loaded}
    assert not {*HEAVY} & {*loaded}
    assert all(importlib.util.find_spec(name) for name in later)


def test_a_layer_loads_what_it_needs():
    loaded = loaded_by("import tinynet as tn; tn.nn.Linear(2, 3); tn.optim.SGD")
    assert {"tinynet.nn.layers.linear", "tinynet.optim.sgd"} <= {*loaded}
    unrelated = "nn.layers.recurrent nn.functional.convolution optim.adam optim.lr_scheduler data"
    assert not {f"tinynet.{part}" for part in unrelated.split()} & {*loaded}


def test_the_table_is_fresh():
    command = [sys.executable, "-m", "tinynet.base.lazy", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_what_its_import_says(package):
    module = importlib.import_module(package)
    for name, home in HOMES[package].items():
        source, _, attribute = home.partition(":")
        found = importlib.import_module(source)
        assert getattr(module, name) is (getattr(found, attribute) if attribute else found), name


@pytest.mark.parametrize("package", [*PACKAGES, "tinynet.ops"])
def test_no_submodule_hides_a_name(package):
    """Importing `tinynet.nn.x` sets the attribute `x` of `tinynet.nn`."""
    folder = ROOT.joinpath(*package.split("."))
    submodules = {path.stem for path in folder.iterdir()}
    for name in submodules & HOMES[package].keys():
        assert HOMES[package][name] == f"{package}.{name}"


WAYS = """
import json, {package} as module
listed = dir(module)
assert not {{*{names}}} - {{*listed}}
star = {{}}
exec("from {package} import *", star)
assert {{*module.__all__}} <= star.keys()
for name in module.__all__:
    assert star[name] is getattr(module, name), name
    exec(f"from {package} import {{name}}")
try:
    module.Linera
except AttributeError as error:
    print(json.dumps([str(error), error.name]))
"""
# The import of a package imports tinynet first: each program starts there, in a process of its own.
FORKS = """
import json, os, sys
import tinynet
for number, program in enumerate({programs}):
    if not os.fork():
        os.dup2(os.open(f"{{number}}.txt", os.O_CREAT | os.O_WRONLY), 1)
        os.dup2(1, 2)
        exec(program, {{"__name__": "__main__"}})
        sys.stdout.flush()
        os._exit(0)
    os.wait()
print(json.dumps(None))
"""


@pytest.fixture(scope="module")
def ways(tmp_path_factory):
    """What the program of each package prints, or how it fails."""
    programs = {name: WAYS.format(package=name, names=[*HOMES[name]]) for name in HOMES}
    if not hasattr(os, "fork"):
        return {name: json.dumps(run(program)) for name, program in programs.items()}
    folder = tmp_path_factory.mktemp("ways")
    run(
        f"import os, sys; sys.path.insert(0, os.getcwd()); os.chdir({str(folder)!r})\n"
        + FORKS.format(programs=[*programs.values()])
    )
    return {name: (folder / f"{n}.txt").read_text("utf-8") for n, name in enumerate(programs)}


@pytest.mark.parametrize("package", HOMES)
def test_the_ways_to_a_name(package, ways):
    """In a new process: `dir`, `import *`, `from … import`; and a typo is an AttributeError."""
    message = f"module '{package}' has no attribute 'Linera'"
    assert ways[package].strip() == json.dumps([message, "Linera"])


def test_a_lazy_package_names_each_import_once():
    for package in PACKAGES:
        path = ROOT.joinpath(*package.split("."), "__init__.py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        eager = {
            alias.asname or alias.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert lazy_imports(path) and not eager & HOMES[package].keys()


METHODS = """
import json, sys, pickle
{first}
from tinynet.core.tensors.tensor import Tensor
assert {{*{methods}}} <= {{*vars(Tensor)}}
print(json.dumps(0))
"""


@pytest.mark.parametrize("first", ["import tinynet", "import tinynet.core.tensors.tensor"])
def test_tensors_have_all_methods_from_the_start(first):
    for name in HOMES:
        lazy.members(importlib.import_module(name))
    run(METHODS.format(first=first, methods=[*vars(tinynet.Tensor)]))


def test_pickles_of_lazy_classes_load_in_a_new_process(tmp_path):
    file = tmp_path / "layer.pickle"
    layer = tinynet.nn.Sequential(tinynet.nn.Conv2d(1, 2, 3), tinynet.nn.LazyLinear(2))
    file.write_bytes(pickle.dumps([layer, tinynet.optim.Adam, tinynet.nn.functional.relu]))
    program = f"""
import json, pickle
layer, kind, relu = pickle.load(open({str(file)!r}, "rb"))
import tinynet as tn
assert kind is tn.optim.Adam and relu is tn.nn.functional.relu
print(json.dumps(repr(layer)))
"""
    assert run(program) == repr(layer)


def test_threads_load_the_same_names():
    names = [f"{package[8:]}.{name}".strip(".") for package in HOMES for name in HOMES[package]]
    program = f"""
import json, operator, threading
from concurrent.futures import ThreadPoolExecutor
import tinynet
names, start = {names}, threading.Barrier(4)
def load(first):
    start.wait()
    order = names[first:] + names[:first]
    return {{name: id(operator.attrgetter(name)(tinynet)) for name in order}}
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(load, range(0, len(names), len(names) // 4 + 1)))
print(json.dumps(all(one == found[0] for one in found)))
"""
    assert run(program) is True


def test_operations_that_load_under_an_observer_are_observed():
    program = """
import json
import tinynet as tn
from tinynet.core.trace import observing
seen = []
with observing(lambda op, *rest: seen.append(op.name)):
    tn.nn.functional.gelu(tn.ones(2))
print(json.dumps(seen))
"""
    assert "gelu" in run(program)


def test_operations_that_load_under_vmap_are_batched():
    program = """
import json
import tinynet as tn
f = tn.vmap(lambda x: tn.nn.functional.avg_pool1d(x[None], 2).sum())
print(json.dumps(f(tn.ones(3, 4)).tolist()))
"""
    assert run(program) == [2.0, 2.0, 2.0]


def test_names_load_under_any_mode():
    """Loading computes nothing that depends on the modes of the program that is running."""
    names = [f"{package[8:]}.{name}".strip(".") for package in HOMES for name in HOMES[package]]
    program = f"""
import json, operator
import tinynet as tn
x = tn.ones(2, requires_grad=True)
tn.set_default_dtype(tn.float64)
state = tn.get_rng_state().tolist()
with tn.inference_mode(), tn.autocast("cpu"), tn.autograd.detect_anomaly(check_nan=False):
    for name in {names}:
        operator.attrgetter(name)(tn)
assert tn.get_rng_state().tolist() == state
tn.nn.functional.softplus(x.double()).sum().backward()
layer = tn.nn.Linear(2, 2)
layer(tn.ones(1, 2)).sum().backward()
print(json.dumps([str(x.grad.dtype), str(layer.weight.grad.dtype)]))
"""
    assert run(program) == ["tinynet.float32", "tinynet.float64"]


def test_names_load_during_a_capture():
    """A capture stands in for ``hasattr``, which Python's import asks of a package."""
    names = {home: f"nn.functional.{name}" for name, home in HOMES["tinynet.nn.functional"].items()}
    first = {home.partition(":")[0]: name for home, name in names.items()}
    program = f"""
import json, operator, os
import tinynet as tn
tn.compile(lambda x: x * 2)(tn.ones(2))
failed = []
for name in {[*first.values()]}:
    step = tn.compile(lambda x: (x * 2, operator.attrgetter(name)(tn))[0])
    if not (process := os.fork()):
        step(tn.ones(2))
        os._exit(0)
    if os.waitpid(process, 0)[1]:
        failed.append(name)
print(json.dumps(failed))
"""
    assert run(program) == []
