"""``python -m tinynet.as_torch`` and ``import tinynet.as_torch``: torch is tinynet."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tinynet.as_torch.hook import LEFT_OUT, PATHS, reason

ROOT = Path(__file__).parents[3]
MODULES = json.loads((ROOT / "docs/coverage/modules.json").read_text(encoding="utf-8"))

PROGRAM = """
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.backends.cudnn as cudnn
from torch.autograd import Variable
from torch.nn.modules.utils import _pair
from torch.nn.utils.spectral_norm import spectral_norm
from torch.optim.optimizer import Optimizer
from torch.utils.data.dataloader import DataLoader
import helper

cudnn.benchmark = True
torch.manual_seed(0)
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
assert isinstance(optimizer, Optimizer) and isinstance(net.weight, Variable)
F.mse_loss(net(torch.ones(3, 2)), torch.zeros(3, 1)).backward()
optimizer.step()
assert torch.__version__ > "2.2" and torch.__version__.startswith("2.")
assert _pair(3) == (3, 3) and callable(nn.utils.spectral_norm) and callable(spectral_norm)
assert not hasattr(torch, "no_such_name") and nn.functional is F is torch.nn.functional
print(sys.argv[1:], __name__, sys.modules["__main__"].net is net, helper.torch is torch)
"""
ABSENT = """import torch
from torch import nn
try:
    torch.first
except AttributeError:
    pass
nn.Second
import torch.distributed.pipelining
class Net(nn.Third):
    pass
"""


def run(*command, cwd):
    command = [sys.executable, *command]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "inside" / "helper.py").write_text("import torch\n", encoding="utf-8")
    (tmp_path / "absent.py").write_text(ABSENT, encoding="utf-8")
    return tmp_path


def test_a_program_runs_with_its_arguments_and_the_modules_beside_it(folder):
    done = run("-m", "tinynet.as_torch", "inside/program.py", "--report", "-m", cwd=folder)
    assert done.stderr == "" and done.returncode == 0
    assert done.stdout == "['--report', '-m'] __main__ True True\n"


def test_a_program_runs_as_a_module_and_with_the_import_as_its_first_line(folder):
    inside = folder / "inside"
    done = run("-m", "tinynet.as_torch", "-m", "program", "1", cwd=inside)
    assert (done.stderr, done.stdout) == ("", "['1'] __main__ True True\n")
    (inside / "first.py").write_text(f"import tinynet.as_torch{PROGRAM}", encoding="utf-8")
    done = run("first.py", cwd=inside)
    assert (done.stderr, done.stdout) == ("", "[] __main__ True True\n")


LAZY = """
import sys
import torch
there = dir(torch)
torch.ones(2).sum()
print({"nn", "optim", "storage"} <= {*there}, "tinynet.compat.internals" in sys.modules)
print(torch.optim is sys.modules["torch.optim"], "SGD" in vars(torch.optim))
print("tinynet.compat.internals" in sys.modules)
"""


def test_packages_load_when_a_program_first_uses_them(folder):
    """All of the optimizers and PyTorch's internals would double the time of ``import torch``."""
    (folder / "p.py").write_text(LAZY, encoding="utf-8")
    done = run("-m", "tinynet.as_torch", "p.py", cwd=folder)
    assert (done.stderr, done.stdout) == ("", "True False\nTrue True\nFalse\n")


def test_what_is_absent_is_named_in_one_line_with_its_place(folder):
    done = run("-m", "tinynet.as_torch", "absent.py", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["absent.py:7: tinynet has no torch.nn.Second"]


def test_the_report_lists_also_what_was_not_reached(folder):
    done = run("-m", "tinynet.as_torch", "--report", "absent.py", cwd=folder)
    assert done.returncode == 1
    first, *lines = done.stderr.splitlines()
    assert first == "absent.py:7: tinynet has no torch.nn.Second"
    assert lines == [
        "absent.py:4: tinynet has no torch.first (met once)",
        "absent.py:7: tinynet has no torch.nn.Second (met once)",
        "absent.py:8: tinynet has no torch.distributed.pipelining: processes share batches, not "
        "models, and run on MPI: see docs/distributed.md (in the text)",
        "absent.py:9: tinynet has no torch.nn.Third (in the text)",
        "4 names that tinynet lacks",
    ]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import torch\ntorch.ones(2).no_such()", "p.py:2: tinynet has no torch.Tensor.no_such"),
        ("from torch import nothing", "p.py:1: tinynet has no torch.nothing"),
        ("from torch.nn import Nothing", "p.py:1: tinynet has no torch.nn.Nothing"),
    ],
)
def test_methods_and_names_that_are_imported(folder, program, said):
    (folder / "p.py").write_text(program, encoding="utf-8")
    done = run("-m", "tinynet.as_torch", "p.py", cwd=folder)
    assert (done.returncode, done.stderr) == (1, said + "\n")


def test_other_errors_keep_their_traceback_from_the_program_on(folder):
    (folder / "p.py").write_text("import torch\ntorch.ones(2).view(3)", encoding="utf-8")
    done = run("-m", "tinynet.as_torch", "p.py", cwd=folder)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith('p.py", line 2, in <module>')
    assert any(line.startswith("RuntimeError: shape '[3]' is invalid") for line in lines)


def test_it_refuses_when_torch_is_there_already(folder):
    (folder / "torch.py").write_text("", encoding="utf-8")
    done = run("-c", "import torch, tinynet.as_torch", cwd=folder)
    assert "ImportError: torch has been imported already, from " in done.stderr


def test_each_module_of_pytorch_is_mapped_or_left_out_for_a_reason():
    lost = [path for path in MODULES if path not in PATHS and not reason(path)]
    assert not lost
    unused = [pattern for pattern, why in LEFT_OUT if why not in map(reason, MODULES)]
    assert not unused


def test_each_path_of_the_map_can_be_imported(folder):
    code = (
        "import tinynet.as_torch, importlib\n"
        "for path in tinynet.as_torch.hook.PATHS: importlib.import_module(path)\n"
        "import torch; print(torch.utils.data.dataloader.DataLoader, torch.nn.utils)\n"
        "from torch.distributions.normal import Normal\n"
        "from torch.utils.data.dataloader import _collate_fn_t, IterableDataset, Sampler\n"
        "from torch.distributed.tensor.experimental import implicit_replication, local_map\n"
        "from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module\n"
        "from torch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli\n"
        "from torch.distributions.kl import kl_divergence, register_kl\n"
    )
    done = run("-c", code, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "tinynet.data.loading.loader.DataLoader" in done.stdout
    assert "nn/utils/__init__" in done.stdout


SHOWN = """
import importlib, json, sys
modules = {path: importlib.import_module(path) for path in sys.argv[1:]}
names = {path: [*getattr(module, "__all__", [])] for path, module in modules.items()}
print(json.dumps({path: [names[path], dir(module)] for path, module in modules.items()}))
"""


def test_paths_show_their_own_layers_only(folder):
    layers = {
        "adaptive": ["AdaptiveLogSoftmaxWithLoss"],
        "channelshuffle": ["ChannelShuffle"],
        "linear": ["Bilinear", "Identity", "LazyLinear", "Linear"],
        "linear_cross_entropy": [],
        "pixelshuffle": ["PixelShuffle", "PixelUnshuffle"],
    }
    paths = [f"torch.nn.modules.{path}" for path in layers]
    done = run("-c", f"import tinynet.as_torch\n{SHOWN}", *paths, cwd=folder)
    shown = json.loads(done.stdout)
    every = {name for names in layers.values() for name in names} | {"CTCLoss"}
    for path, names in zip(paths, layers.values(), strict=True):
        assert sorted(set(shown[path][0]) & every) == names
        assert sorted({*shown[path][1]} & every - {"Linear"}) == [n for n in names if n != "Linear"]


@pytest.mark.oracle
def test_paths_offer_no_names_that_pytorch_has_elsewhere(folder):
    families = "torch.nn.modules.", "torch.optim."
    paths = [path for path in PATHS if path in MODULES and path.startswith(families)]
    ours = json.loads(run("-c", f"import tinynet.as_torch\n{SHOWN}", *paths, cwd=folder).stdout)
    theirs = json.loads(run("-c", SHOWN, *paths, cwd=folder).stdout)
    extra = {path: {*ours[path][0]} - {*theirs[path][1]} for path in paths}
    assert not {path: found for path, found in extra.items() if found}


TENSORBOARDX = """
import sys
import torch
from tensorboardX import SummaryWriter
from torch import nn

weight, x = nn.Parameter(torch.rand(3, 4)), torch.rand(3, 4, requires_grad=True)
with SummaryWriter(sys.argv[1]) as writer:
    writer.add_scalar("loss", x.sum(), 0)
    writer.add_scalars("both", {"a": x.sum(), "b": torch.tensor(2)}, 0)
    writer.add_histogram("weight", weight, 0)
    writer.add_histogram("mask", x > 0.5, 0)
    writer.add_image("image", torch.rand(3, 4, 4), 0)
    writer.add_embedding(weight, metadata=list("abc"), label_img=torch.rand(3, 3, 4, 4))
    writer.add_pr_curve("curve", torch.tensor([1, 0, 1]), torch.rand(3), 0)
    writer.add_hparams({"lr": torch.tensor(0.1)}, {"accuracy": torch.tensor(0.5)})
    writer.add_graph(nn.Sequential(nn.Linear(4, 2), nn.ReLU()), x)
    try:
        writer.add_scalar("half", torch.ones((), dtype=torch.bfloat16), 0)
    except TypeError as error:
        print(error)
print(type(x), type(weight), x.dtype, x.type(), torch.strided)
"""


def test_tensorboardx_itself_takes_tensors_and_models(folder):
    (folder / "p.py").write_text(TENSORBOARDX, encoding="utf-8")
    done = run("-m", "tinynet.as_torch", "p.py", "runs", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Got unsupported ScalarType BFloat16",
        "<class 'torch.Tensor'> <class 'torch.nn.parameter.Parameter'> torch.float32 "
        "torch.FloatTensor torch.strided",
    ]
    (file,) = (folder / "runs").glob("events.*")
    assert b"Linear" in file.read_bytes()


def test_names_that_libraries_import(folder):
    program = """
import torch
from torch._C import _get_tracing_state, _log_api_usage_once
from torch._jit_internal import List, Optional, Tuple, _copy_to_script_wrapper
from torch._ops import ops
from torch._vmap_internals import _vmap
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from torch.cuda import nvtx
from torch.distributed import ReduceOp
from torch.distributed.algorithms.join import Join
from torch.distributions.transforms import _InverseTransform
from torch.futures import Future, collect_all
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.fx import GraphModule, Node
from torch.nn import _reduction
from torch.cuda import comm
from torch.nn.modules.transformer import _get_clones
from torch.nn.parallel import comm
from torch.nn.parallel._functions import Broadcast, Gather, ReduceAddCoalesced, Scatter
from torch.nn.parallel.replicate import _broadcast_coalesced_reshape
from torch.nn.parallel.scatter_gather import gather
from torch.serialization import DEFAULT_PROTOCOL

print(torch.sparse.torch.eye(1).tolist(), torch.nn.functional.torch is torch, DEFAULT_PROTOCOL)
print(_vmap(torch.sum)(torch.ones(2, 3)).tolist(), torch._foreach_neg([torch.ones(1)]))
print(ops is torch.ops, callable(torch.library.custom_op))
import importlib.util
print(*map(importlib.util.find_spec, ("torchaudio", "torch.nothing")), [Shard(0), Replicate()])
print(isinstance(torch.ones(1), DTensor), torch.finfo(torch.float8_e4m3fn).max)
print(issubclass(GraphModule, torch.nn.Module))
tensors = [torch.ones(2, 2), torch.zeros(3)]
flat = _flatten_dense_tensors(tensors)
print(flat.tolist(), [[*t.shape] for t in _unflatten_dense_tensors(flat, tensors)])
future = Future()
both = collect_all([future, future.then(lambda done: done.value() + 1)])
future.set_result(1)
print([f.wait() for f in both.wait()], _reduction.get_enum("sum"), torch.__config__.show()[:7])
"""
    (folder / "p.py").write_text(program, encoding="utf-8")
    done = run("-m", "tinynet.as_torch", "p.py", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "[[1.0]] True 2",
        "[3.0, 3.0] (tensor([-1.]),)",
        "True True",
        "None None [Shard(dim=0), Replicate()]",
        "False 448.0",
        "True",
        "[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0] [[2, 2], [3]]",
        "[1, 2] 2 tinynet",
    ]


TEXTS = """
import torch
from torch.autograd import Variable, _is_checkpoint_valid

assert f"{torch.ones(2, 3).shape} {torch.Size([])}" == "torch.Size([2, 3]) torch.Size([])"
assert eval(repr(torch.Size([4]))) == (4,)
assert _is_checkpoint_valid() and Variable._execution_engine.is_checkpoint_valid()
for module in (torch.distributions, torch.optim.lr_scheduler, torch.nn.utils, torch.amp):
    assert module.__all__ and all(hasattr(module, name) for name in module.__all__)
assert "Normal" in torch.distributions.__all__ and "StepLR" in torch.optim.lr_scheduler.__all__
names = {}
exec("from torch.distributions import *", names)
assert names["Normal"] is torch.distributions.Normal
"""


def test_shapes_name_torch_and_modules_list_their_names(folder):
    (folder / "program.py").write_text(TEXTS)
    done = run("-m", "tinynet.as_torch", "program.py", cwd=folder)
    assert done.returncode == 0, done.stderr
