"""Programs that trace others import ``torch.fx`` and its modules."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

PROGRAM = """
import torch
import torch.fx
from torch import fx, relu
from torch.fx import Graph, GraphModule, Interpreter, Node, Proxy, Tracer, Transformer
from torch.fx import replace_pattern, symbolic_trace, wrap
from torch.fx._symbolic_trace import PH, _assert_is_none
from torch.fx.experimental.optimization import fuse
from torch.fx.graph import CodeGen, PythonCode, _PyTreeCodeGen
from torch.fx.graph_module import GraphModule, _copy_attr
from torch.fx.node import Argument, Target, map_aggregate, map_arg
from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata
from torch.fx.proxy import GraphAppendingTracer, TraceError
from torch.fx.subgraph_rewriter import Match
import torch.nn.functional as F

wrap("len")

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 3)
        self.bn = torch.nn.BatchNorm2d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.profiler.record_function("mine"):
            return F.max_pool2d(relu(self.bn(self.conv(x))), 2).to(torch.float64) * len(x)

net = Net().eval()
traced = symbolic_trace(net)
print(traced.code.strip())
x = torch.ones(2, 1, 6, 6)
print(torch.equal(traced(x), net(x)), fuse(net).code.count("bn"), isinstance(traced, GraphModule))
handle = fx.Graph()
entered = torch.ops.profiler._record_function_enter
handle.output(handle.call_function(entered, ("mine",)))
print(handle.python_code("self").src.splitlines()[4].strip())
"""


def test_paths_of_fx(tmp_path):
    (tmp_path / "p.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "tinynet.as_torch", str(tmp_path / "p.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        'torch.fx._symbolic_trace.wrap("len")',
        "",
        "def forward(self, x : torch.Tensor) -> torch.Tensor:",
        "    conv = self.conv(x)",
        "    bn = self.bn(conv);  conv = None",
        "    relu = torch.relu(bn);  bn = None",
        "    max_pool2d = torch.nn.functional.max_pool2d(relu, 2, stride = None, padding = 0, "
        "dilation = 1, ceil_mode = False, return_indices = False);  relu = None",
        "    to = max_pool2d.to(torch.float64);  max_pool2d = None",
        "    len_1 = len(x);  x = None",
        "    mul = to * len_1;  to = len_1 = None",
        "    return mul",
        "True 0 True",
        "_record_function_enter = torch.ops.profiler._record_function_enter('mine')",
    ]
