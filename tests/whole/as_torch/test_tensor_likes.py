"""Functions ask classes that have a ``__torch_function__``, as PyTorch's do."""

import subprocess
import sys

import pytest

LIBRARY = """
import torch

HANDLED = {
    torch.sum: "sum", torch.add: "add", torch.Tensor.add: "Tensor.add", torch.cat: "cat",
    torch.where: "where", torch.linalg.det: "det", torch.nn.functional.linear: "linear",
    torch.Tensor.matmul: "matmul", torch.logdet: "logdet",
}

class Diagonal:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        assert types == (Diagonal,)
        return HANDLED.get(func, NotImplemented)
"""
PROGRAM = """
import torch
F, t = torch.nn.functional, torch.ones(2)
d = Diagonal()
print(torch.sum(d), torch.sum(input=d), torch.add(d, t), torch.add(t, d), t + d, torch.cat([t, d]))
print(torch.where(t > 0, t, d), torch.linalg.det(d), F.linear(d, t), t @ d, t.matmul(d))
print(torch.logdet(d), torch.is_tensor(d), (t * 2).sum().item())
try:
    torch.exp(d)
except TypeError as error:
    print("exp" in str(error))
class Named(torch.Tensor):
    pass
print(torch.sum(d), t.as_subclass(Named).exp().__class__.__name__)
print(torch.compile(lambda x: torch.relu(x) + 1)(t).tolist(), torch.cat([d]))
"""
EXPECTED = """sum sum add add Tensor.add cat
where det linear matmul matmul
logdet False 4.0
True
sum Named
[2.0, 2.0] cat
"""


@pytest.mark.parametrize("imported", [True, False])
def test_functions_ask_classes_of_libraries_and_of_scripts(imported, tmp_path):
    if imported:
        (tmp_path / "library.py").write_text(LIBRARY, "utf-8")
        text = "from library import Diagonal" + PROGRAM
    else:
        text = LIBRARY + PROGRAM
    (tmp_path / "program.py").write_text(text, "utf-8")
    command = [sys.executable, "-W", "error", "-m", "tinynet.as_torch", "program.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == (EXPECTED, "")


SUBCLASS = """
import torch
from torch.nn import functional as F

seen = []

class Seen(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(func)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))
"""
SEEING = """
x = torch.ones(2, 2).as_subclass(Seen)
calls = [
    (torch.sum, lambda: torch.sum(x, 0)), (torch.Tensor.max, lambda: x.max(1)),
    (torch.where, lambda: torch.where(torch.ones(2) > 0, x, x)),
    (F.mse_loss, lambda: F.mse_loss(x, x)[None]),
    (F.linear, lambda: F.linear(x, x)), (torch.Tensor.add, lambda: 1 + x),
    (torch.Tensor.__rsub__, lambda: 1 - x), (torch.Tensor.__getitem__, lambda: x[0]),
    (torch.stack, lambda: torch.stack([x, x])), (torch.Tensor.view, lambda: x.view(4)),
]
for function, call in calls:
    seen.clear()
    result = call()
    print(seen == [function], type(result[0]).__name__, end=" ")
seen.clear()
x.mT
print(seen[0].__name__)
"""


@pytest.mark.parametrize("how", ["library", "script", "first line"])
def test_subclasses_see_the_functions_that_a_program_calls(how, tmp_path):
    first = "import tinynet.as_torch\n" if how == "first line" else ""
    if how == "library":
        (tmp_path / "library.py").write_text(SUBCLASS, "utf-8")
        text = "from library import *" + SEEING
    else:
        text = first + SUBCLASS + SEEING
    (tmp_path / "program.py").write_text(text, "utf-8")
    runner = [] if first else ["-m", "tinynet.as_torch"]
    command = [sys.executable, "-W", "error", *runner, "program.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True Tensor " * 10 + "__get__\n", "")


def test_functions_of_other_programs_ask_no_arguments(tmp_path):
    """Not even those of programs that trace: proxies let functions ask while they live."""
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, torch.fx, torch.overrides\n"
        "torch.fx.symbolic_trace(torch.nn.Linear(2, 2))\n"
        "from tinynet.compat.fx import interception\n"
        "print(interception._wanted())\n",
        "utf-8",
    )
    command = [sys.executable, "-W", "error", "-m", "tinynet.as_torch", "program.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("False\n", "")
