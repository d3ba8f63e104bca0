"""Programs as graphs: what they show, and that drawing one takes a step like any other."""

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import board, nn, optim
from tinynet.board.graphs.graph import problems
from tinynet.capture import graph as graph_module
from tinynet.capture.graph import program_graph, record_program
from tinynet.nn.utils import clip_grad_norm_


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.head = nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)
        self.norm, self.dropout = nn.BatchNorm1d(8), nn.Dropout(0.1)

    def forward(self, x):
        return self.head(self.dropout(self.norm(self.act(self.first(x)))))


def make():
    tn.manual_seed(0)
    net = Net()
    sgd = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x, y):
        sgd.zero_grad()
        loss = F.cross_entropy(net(x), y) * 2
        loss.backward()
        clip_grad_norm_(net.parameters(), 1.0)
        sgd.step()
        return loss

    return net, step


X, Y = tn.arange(24.0).reshape(4, 6).sin(), tn.tensor([0, 1, 2, 0])


@pytest.fixture(scope="module")
def graph():
    _, step = make()
    compiled = tn.compile(step)
    for _ in range(3):
        compiled(X, Y)
    return record_program(compiled, X, Y).graphs["program"]


def test_modules_are_scopes_and_so_are_the_backward_pass_and_the_optimizer(graph):
    names = {node.name for node in graph.nodes}
    assert {
        "input/x",
        "input/y",
        "Net/Linear[first]/weight",
        "Net/Linear[first]/addmm",
        "Net/BatchNorm1d[norm]/running_mean",
        "Net/Linear[head]/addmm",
        "nll_loss",
        "backward/ones",
        "backward/MulBackward0",
        "backward/Net/ReLU[act]/ReluBackward0",
        "backward/Net/Linear[first]/weight.grad",
        "clip_grad_norm",
        "SGD/zero_grad",
        "SGD/step",
        "output/output.1",
    } <= names
    assert problems(graph) == []


def test_edges_follow_the_values(graph):
    nodes = {node.name: node for node in graph.nodes}
    assert nodes["Net/Linear[head]/addmm"].producers == [
        "Net/Dropout[dropout]/mul",
        "Net/Linear[head]/weight",
        "Net/Linear[head]/bias",
    ]
    assert nodes["backward/Net/Linear[first]/weight.grad"].producers == [
        "backward/Net/Linear[first]/of_weight"
    ]
    assert {*nodes["clip_grad_norm"].producers} == {
        name for name in nodes if name.endswith(".grad")
    }
    assert {"Net/Linear[first]/weight", "clip_grad_norm"} <= {*nodes["SGD/step"].producers}


def test_phases_lines_and_costs(graph):
    phases = {node.name: node.phase for node in graph.nodes}
    assert phases["Net/Linear[first]/addmm"] == phases["nll_loss"] == "fwd"
    assert phases["backward/ones"] == phases["backward/Net/Linear[first]/of_weight"] == "bwd"
    assert phases["SGD/step"] == phases["clip_grad_norm"] == "opt"
    nodes = {node.name: node for node in graph.nodes}
    product = nodes["Net/Linear[first]/addmm"]
    assert product.cost.time > 0 and product.cost.memory == 4 * 4 * 8
    assert product.attributes["kind"] == "compute"
    assert product.attributes["source"].startswith("test_graph.py:")
    assert nodes["backward/Net/Linear[first]/of_weight"].attributes["node"] == "AddmmBackward0"


def test_it_is_a_step_like_any_other():
    net, step = make()
    compiled = tn.compile(step)
    for i in range(6):
        if i == 3:
            record_program(compiled, X, Y)
        else:
            compiled(X, Y)
    other, eager = make()
    for _ in range(6):
        eager(X, Y)
    assert compiled.calls() == (3, 2, 0)
    for (name, p), q in zip(net.state_dict().items(), other.state_dict().values(), strict=True):
        assert np.array_equal(p.numpy(), q.numpy()), name
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert p._version == q._version and np.array_equal(p.grad.numpy(), q.grad.numpy())


@pytest.mark.parametrize("hooked", [False, True])
def test_times_are_medians_of_replays_unless_a_hook_would_see_them(monkeypatch, hooked):
    ran = []
    once = graph_module._replayed
    monkeypatch.setattr(graph_module, "_replayed", lambda *a: ran.append(once(*a)) or ran[-1])
    calls = []
    net, step = make()
    if hooked:
        net.head.weight.register_hook(lambda g: calls.append(g))
    compiled = tn.compile(step)
    for _ in range(3):
        compiled(X, Y)
    seen = len(calls)
    recorded = record_program(compiled, X, Y).graphs["program"]
    assert len(ran) == (1 if hooked else graph_module._REPLAYS)
    assert len(calls) - seen == (1 if hooked else 0)
    assert recorded is ran[-1]


def test_a_module_and_its_backward_program(tmp_path):
    net = tn.compile(nn.Sequential(nn.Linear(6, 8), nn.ReLU()))
    for _ in range(3):
        net(X)
    recorded = record_program(net, X)
    names = [node.name for node in recorded.graphs["program"].nodes]
    assert "Sequential/Linear[0]/addmm" in names
    assert "backward/gradient" in names and "backward/Sequential/ReLU[1]/ReluBackward0" in names
    assert "Linear[0]/" in recorded.text()
    recorded.write(tmp_path)
    assert [*tmp_path.iterdir()] != []
    assert isinstance(recorded, board.graphs.recording.Graphs)


def test_what_is_overwritten_takes_no_memory():
    compiled = tn.compile(lambda x: x.exp().tanh())
    for _ in range(3):
        compiled(X)
    exp, tanh = record_program(compiled, X).graphs["program"].nodes[1:3]
    assert exp.cost.memory == 4 * 24 and "overwrites" not in exp.attributes
    assert tanh.cost.memory == 0 and tanh.attributes["overwrites"] == "an input"


def test_a_part_of_a_model_has_its_name_in_it():
    model = Net()
    compiled = tn.compile(lambda x: model.head(x))
    for _ in range(3):
        compiled(tn.ones(2, 8))
    graph = program_graph(compiled, (tn.ones(2, 8),), {}, [model])
    assert "Net/Linear[head]/addmm" in {node.name for node in graph.nodes}


def test_without_a_program():
    compiled = tn.compile(lambda x: x + 1)
    with pytest.raises(RuntimeError, match="has no program for these arguments yet: call it"):
        record_program(compiled, X)
    with pytest.warns(tn.compiler.CompileWarning):
        compiled = tn.compile(lambda x: x * x.sum().item())
        for _ in range(5):
            compiled(X)
    with pytest.raises(RuntimeError, match=r"these arguments: item\(\) reads values of a tensor"):
        record_program(compiled, X)


def test_native_functions_are_scopes():
    pytest.importorskip("llvmlite")
    tn.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    @tn.compile(backend="llvm", fullgraph=True)
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    given = tn.randn(5, 4), tn.tensor([0, 1, 2, 0, 1])
    for _ in range(4):
        step(*given)
    before = [p.detach().clone() for p in net.parameters()]
    graph = record_program(step, *given).graphs["program"]
    native = {node.name: node for node in graph.nodes if node.name.startswith("native/")}
    for name in ("Linear[0]/addmm", "ReLU[1]/relu"):
        assert f"native/Sequential/{name}" in native
    assert "native/backward/Sequential/Linear[2]/of_bias" in native
    assert "SGD/step" in {node.name for node in graph.nodes}
    assert sum(node.cost.time for node in native.values()) > 0
    assert all((p != b).any() for p, b in zip(net.parameters(), before, strict=True))
    assert step.explain().calls.eager == 0
