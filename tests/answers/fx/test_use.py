"""Traced modules in captures, files and ONNX; functions are themselves afterwards."""

import gc
import io

import pytest

import tinynet as tn
from tests.answers.fx.packages import printed
from tests.tools.rounding import assert_near
from tinynet import nn
from tinynet.compat import fx
from tinynet.compat.fx.proxy import TraceError
from tinynet.nn import functional as F


def traced():
    tn.manual_seed(0)
    return fx.symbolic_trace(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))


def codes():
    functions = (tn.relu, tn.cat, tn.add, F.relu, F.max_pool2d, F.cross_entropy, tn.Tensor.view)
    return [function.__code__ for function in functions]


def test_functions_are_themselves_after_a_trace():
    tn.add(tn.cat([tn.relu(tn.ones(1)), F.relu(tn.ones(1))]), 1).view(-1)  # compiles them
    before, addition = codes(), tn.Tensor.__add__
    fx.symbolic_trace(lambda x: F.max_pool2d(tn.relu(x), 2) + tn.cat([x, x]))
    with pytest.raises(TraceError):
        fx.symbolic_trace(lambda x: x if tn.relu(x) else F.relu(x))
    gc.collect()  # the error holds the proxies of its frames
    assert codes() == before
    assert tn.Tensor.__add__ is addition


def test_functions_compute_while_a_proxy_lives():
    proxy = fx.Proxy(fx.Graph().placeholder("x"))
    before = tn.ones(3, requires_grad=True)
    result = F.relu(tn.stack([before, before * 2])).sum() + before.view(3, 1).max()
    result.backward()
    assert tn.relu(proxy).node.target is tn.relu
    assert result.tolist() == 10
    assert before.grad is not None


def test_functions_that_a_program_holds_are_recorded():
    relu, linear = tn.relu, F.linear
    graph = fx.symbolic_trace(lambda x: linear(relu(x), weight=x, bias=None)).graph
    assert [(n.target, n.kwargs) for n in graph.nodes][1:3] == [
        (relu, {}),
        (linear, {"weight": next(iter(graph.nodes)), "bias": None}),
    ]


def test_captured_steps_run_traced_modules():
    model, x = traced(), tn.randn(5, 3)
    compiled = tn.compile(model, fullgraph=True)
    for _ in range(4):
        result = compiled(x)
    assert result.tolist() == model(x).tolist()


def test_captured_steps_run_while_a_proxy_lives():
    model, x = traced(), tn.randn(5, 3)
    compiled = tn.compile(model)
    proxy = fx.Proxy(fx.Graph().placeholder("x"))
    for _ in range(4):
        result = compiled(x)
    assert result.tolist() == model(x).tolist()
    assert "2 were replayed" in str(compiled.explain())
    with pytest.raises(RuntimeError, match="symbolically trace a dynamo-optimized function"):
        compiled(proxy)


def test_files_and_onnx(tmp_path):
    model, x = traced(), tn.randn(5, 3)
    file = io.BytesIO()
    tn.save(model, file)
    file.seek(0)
    loaded = tn.load(file, weights_only=False)
    assert (loaded.code, type(loaded).__name__) == (model.code, "Sequential")
    assert loaded(x).tolist() == model(x).tolist()
    onnxruntime = pytest.importorskip("onnxruntime")
    tn.onnx.export(model, (x,), str(tmp_path / "m.onnx"))
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    (got,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert_near(got, model(x).detach().numpy(), roundings=20)


def test_nodes_keep_the_lines_of_the_program():
    class Lines(fx.Tracer):
        record_stack_traces = True

    def f(x):
        y = x + 1
        return tn.relu(y)

    graph = Lines().trace(f)
    traces = [node.stack_trace for node in graph.nodes]
    assert [t and t.splitlines()[-1].strip() for t in traces] == [
        *(None, "y = x + 1", "return tn.relu(y)", None)
    ]
    code = fx.GraphModule({}, graph).print_readable(print_output=False)
    assert "in f, code: y = x + 1\n        add = x + 1;  x = None\n" in code


def test_tables_need_no_other_package():
    graph = fx.symbolic_trace(lambda x: (x + 1).sum(dim=0)).graph
    assert printed(graph.print_tabular).splitlines() == [
        "opcode         name    target                   args      kwargs",
        "-------------  ------  -----------------------  --------  ----------",
        "placeholder    x       x                        ()        {}",
        "call_function  add     <built-in function add>  (x, 1)    {}",
        "call_method    sum_1   sum                      (add,)    {'dim': 0}",
        "output         output  output                   (sum_1,)  {}",
    ]


def test_a_long_graph_is_pickled_without_recursion():
    def long(x):
        for _ in range(3000):
            x = x + 1
        return x

    model = fx.symbolic_trace(long)
    file = io.BytesIO()
    tn.save(model, file)
    file.seek(0)
    assert tn.load(file, weights_only=False)(tn.zeros(1)).tolist() == [3000]
