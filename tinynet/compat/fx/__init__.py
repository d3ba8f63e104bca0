"""``torch.fx``: programs as graphs, which are read, changed and written as Python code again."""

from tinynet.compat.fx._symbolic_trace import PH as PH
from tinynet.compat.fx._symbolic_trace import PHBase as PHBase
from tinynet.compat.fx._symbolic_trace import Tracer, symbolic_trace, wrap
from tinynet.compat.fx.graph import CodeGen as CodeGen
from tinynet.compat.fx.graph import Graph
from tinynet.compat.fx.graph_module import GraphModule
from tinynet.compat.fx.interpreter import Interpreter, Transformer
from tinynet.compat.fx.node import Node, has_side_effect, map_arg
from tinynet.compat.fx.passes import replace_pattern
from tinynet.compat.fx.proxy import Proxy

__all__ = [
    "symbolic_trace",
    "Tracer",
    "wrap",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Transformer",
    "Node",
    "Proxy",
    "replace_pattern",
    "has_side_effect",
    "map_arg",
]
