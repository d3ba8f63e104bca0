"""PyTorch's import paths under tinynet's name, for programs whose ``torch`` became ``tinynet``."""

import importlib
import json
import subprocess
import sys

import pytest

from tinynet.compat import paths

EVERY_PATH = """
import importlib
import json
import sys
from tinynet.compat.paths import PATHS

lost = []
for path in PATHS:
    if path.startswith("torch."):
        own = path.replace("torch", "tinynet", 1)
        importlib.import_module(own)
        parent, _, name = own.rpartition(".")
        if not hasattr(sys.modules[parent], name):
            lost.append(own)
files = {}
for name, module in sys.modules.items():
    if name.startswith("tinynet") and getattr(module, "__file__", None):
        files.setdefault(module.__file__, set()).add(id(module))
twice = [file for file, modules in files.items() if len(modules) > 1]
print(json.dumps([lost, twice, "torch" in sys.modules]))
"""
STATEMENTS = [
    "from tinynet.nn.modules.batchnorm import _BatchNorm, LazyBatchNorm2d",
    "from tinynet.nn.modules.loss import _Loss, MSELoss",
    "from tinynet.nn.modules import MultiheadAttention",
    "from tinynet.utils.data.dataloader import DataLoader, default_collate",
    "from tinynet.utils.data.sampler import BatchSampler",
    "from tinynet.cuda.amp import autocast, GradScaler",
    "import tinynet.backends.cudnn as cudnn; cudnn.benchmark = True",
    "import tinynet as torch; torch.backends.cudnn.deterministic = True",
    "import tinynet.multiprocessing as mp; mp.Process",
    "import tinynet as torch; torch.jit.is_scripting()",
    "import tinynet as torch; torch.testing.assert_close(torch.ones(2), torch.ones(2))",
    "import tinynet as torch; torch._foreach_add([torch.ones(2)], 1.0)",
    "import tinynet as torch; torch.utils.checkpoint.checkpoint",
    "import tinynet as torch; torch.utils.data.dataset.Dataset",
    "import tinynet as torch; torch.profiler.profile",
    "from tinynet.linalg import norm; import tinynet as tn; assert norm is tn.linalg.norm",
    "from tinynet import fx; from tinynet.fx.node import Node; assert fx.Node is Node",
    "from tinynet.distributions.categorical import Categorical",
    "import tinynet.serialization; tinynet.serialization.load",
]

IMPORTED = """
import tinynet.as_torch
import torch
from torch.distributions.bernoulli import lazy_property, logits_to_probs, probs_to_logits
from torch.distributions.normal import Tensor, broadcast_all
from torch.distributions.transforms import F
from torch.fft import Tensor
from torch.functional import F, Tensor
from torch.nn.modules.conv import Module
from torch.nn.modules.module import Parameter, Tensor
from torch.nn.modules.pooling import F, Module
from torch.optim.sgd import Optimizer, Tensor
from torch.optim.swa_utils import Module, Tensor
from torch.special import Tensor
from torch.utils.data.dataset import Tensor, default_generator, randperm

assert Tensor is torch.Tensor and Module is torch.nn.Module and F is torch.nn.functional
assert not hasattr(torch, "F") and not hasattr(torch.nn, "F")
"""


def run(program):
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_path_is_found_and_no_file_is_loaded_twice():
    assert json.loads(run(EVERY_PATH)) == [[], [], False]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_with_the_name_changed(statement):
    run(statement)


def test_modules_have_what_pytorch_s_import_from_each_other():
    """Editors complete names with whichever module has them."""
    run(IMPORTED)


def test_what_pytorch_lacks_too_is_not_found():
    for statement in ("import tinynet.nothing", "import tinynet.fx.nothing"):
        with pytest.raises(AssertionError, match="No module named 'tinynet.+nothing'"):
            run(statement)
    with pytest.raises(AssertionError, match="module 'tinynet' has no attribute 'nothing'"):
        run("import tinynet; tinynet.nothing")


@pytest.mark.parametrize("path", paths.ONLY)
def test_a_path_has_only_its_own_names(path):
    home = importlib.import_module(f"tinynet{path.removeprefix('torch')}")
    assert vars(home).keys() - paths.OWN == {*paths.ONLY[path].split()}
