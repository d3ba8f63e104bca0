"""PyTorch's import paths under tinynet's name, for programs whose ``torch`` became ``tinynet``."""

import json
import subprocess
import sys

import pytest

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


def test_what_pytorch_lacks_too_is_not_found():
    for statement in ("import tinynet.nothing", "import tinynet.fx.nothing"):
        with pytest.raises(AssertionError, match="No module named 'tinynet.+nothing'"):
            run(statement)
    with pytest.raises(AssertionError, match="module 'tinynet' has no attribute 'nothing'"):
        run("import tinynet; tinynet.nothing")
