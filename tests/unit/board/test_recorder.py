"""Graphs of real models: what ran, under the right names, and no trace of having looked."""

import collections
import dataclasses
import random

import numpy as np
import pytest

import tinynet as tn
from tests.unit.board import models, reader
from tinynet import nn
from tinynet.board import Arguments, SummaryWriter
from tinynet.board.graphs.build import flatten
from tinynet.board.graphs.graph import problems
from tinynet.board.graphs.recorder import record_forward
from tinynet.core.modes import mode
from tinynet.core.trace import observing
from tinynet.random import default_generator

SOURCES = ("Input", "Parameter", "Buffer", "Const")


def record(model, *args, **kwargs):
    graph = record_forward(model, Arguments(*args, **kwargs))
    assert problems(graph) == []
    return {node.name: node for node in graph.nodes}


def scope_of(name):
    """The scope that an operation is in; inputs and outputs stand for themselves."""
    return name if name.startswith(("input", "output")) else name.rpartition("/")[0]


def flow(nodes):
    """The edges between the scopes of different module calls, in order."""
    found = {}
    for node in nodes.values():
        for reference in node.inputs:
            source = nodes[reference.removeprefix("^").partition(":")[0]]
            edge = scope_of(source.name), scope_of(node.name)
            if source.op not in SOURCES[1:] and edge[0] != edge[1]:
                found[edge] = None
    return list(found)


def operations(nodes):
    found = [node for node in nodes.values() if node.op not in (*SOURCES, "Output")]
    return [node.attributes.get("operation", node.op) for node in found]


def sources(nodes, op):
    return [node.name for node in nodes.values() if node.op == op]


def what_ran(model, *args, **kwargs):
    """The names and shapes of the operations of a forward, in their order, seen without board."""
    ran = []
    with (
        tn.no_grad(),
        observing(lambda op, ins, outs, attrs: ran.append((op.title, outs[0].shape))),
    ):
        model(*args, **kwargs)
    return ran


EXAMPLES = {
    "mlp": lambda: (models.MLP(), [tn.rand(2, 4)], {}),
    "reuse": lambda: (models.Reuse(), [tn.rand(2, 4)], {}),
    "nested": lambda: (models.Nested(), [tn.rand(2, 4)], {}),
    "structured": lambda: (
        models.Structured(),
        [{"x": tn.rand(2, 4), "more": (None, tn.rand(2, 4))}],
        {"mask": tn.ones(2, 2), "scale": 2.0},
    ),
    "tied": lambda: (models.Tied(), [tn.tensor([[1, 2], [3, 0]])], {}),
    "recurrent": lambda: (models.Recurrent(), [tn.rand(3, 4)], {}),
    "shared": lambda: (models.Shared(), [tn.rand(2, 4)], {}),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_operation_is_a_node(example):
    model, args, kwargs = EXAMPLES[example]()
    ran = what_ran(model, *args, **kwargs)
    nodes = record(model, *args, **kwargs)
    recorded = [
        (node.attributes.get("operation", node.op), node.outputs[0].shape)
        for node in nodes.values()
        if node.op not in (*SOURCES, "Output")
    ]
    assert recorded == ran


def test_mlp():
    nodes = record(models.MLP(), tn.rand(2, 4))
    assert flow(nodes) == [
        ("input/x", "MLP/Linear[fc1]"),
        ("MLP/Linear[fc1]", "MLP/ReLU[act]"),
        ("MLP/ReLU[act]", "MLP/Linear[fc2]"),
        ("MLP/Linear[fc2]", "output/output.1"),
    ]
    assert sources(nodes, "Parameter") == [
        *(
            "MLP/Linear[fc1]/weight",
            "MLP/Linear[fc1]/bias",
            "MLP/Linear[fc2]/weight",
            "MLP/Linear[fc2]/bias",
        )
    ]
    used = {reference for node in nodes.values() for reference in node.inputs}
    assert used >= {*sources(nodes, "Parameter"), "input/x"}
    assert nodes["input/x"].outputs[0].shape == (2, 4)
    assert nodes["MLP/Linear[fc1]/weight"].outputs[0].shape == (8, 4)
    assert nodes["MLP/Linear[fc1]/weight"].attributes == {"trainable": "true", "elements": "32"}
    assert nodes["output/output.1"].outputs[0].shape == (2, 3)
    assert nodes["output/output.1"].outputs[0].dtype == "float32"


def test_a_module_that_is_called_again_gets_a_suffix():
    nodes = record(models.Reuse(), tn.rand(2, 4))
    assert flow(nodes) == [
        ("input/x", "Reuse/Tanh[act]"),
        ("Reuse/Tanh[act]", "Reuse/Tanh[act]_1"),
        ("Reuse/Tanh[act]_1", "Reuse/Linear[fc]"),
        ("Reuse/Linear[fc]", "Reuse/Tanh[act]_2"),
        ("Reuse/Tanh[act]_2", "output/output.1"),
    ]


def test_nested_modules_keep_their_paths():
    nodes = record(models.Nested(), tn.rand(2, 4))
    assert flow(nodes) == [
        ("input/x", "Nested/ModuleList[blocks]/Block[0]/Sequential[body]/Linear[0]"),
        (
            "Nested/ModuleList[blocks]/Block[0]/Sequential[body]/Linear[0]",
            "Nested/ModuleList[blocks]/Block[0]/Sequential[body]/ReLU[1]",
        ),
        ("input/x", "Nested/ModuleList[blocks]/Block[0]"),
        (
            "Nested/ModuleList[blocks]/Block[0]/Sequential[body]/ReLU[1]",
            "Nested/ModuleList[blocks]/Block[0]",
        ),
        (
            "Nested/ModuleList[blocks]/Block[0]",
            "Nested/ModuleList[blocks]/Block[1]/Sequential[body]/Linear[0]",
        ),
        (
            "Nested/ModuleList[blocks]/Block[1]/Sequential[body]/Linear[0]",
            "Nested/ModuleList[blocks]/Block[1]/Sequential[body]/ReLU[1]",
        ),
        ("Nested/ModuleList[blocks]/Block[0]", "Nested/ModuleList[blocks]/Block[1]"),
        (
            "Nested/ModuleList[blocks]/Block[1]/Sequential[body]/ReLU[1]",
            "Nested/ModuleList[blocks]/Block[1]",
        ),
        ("Nested/ModuleList[blocks]/Block[1]", "Nested/ModuleDict[heads]/Linear[a]"),
        ("Nested/ModuleList[blocks]/Block[1]", "Nested/ModuleDict[heads]/Linear[b]"),
        ("Nested/ModuleDict[heads]/Linear[a]", "output/output.1/0"),
        ("Nested/ModuleDict[heads]/Linear[b]", "output/output.1/1"),
    ]


def test_structures_are_labelled_by_path():
    model, args, kwargs = EXAMPLES["structured"]()
    nodes = record(model, *args, **kwargs)
    assert sources(nodes, "Input") == [
        *("input/batch/x", "input/batch/more/0", "input/batch/more/1", "input/mask", "input/scale")
    ]
    assert sources(nodes, "Output") == [
        "output/output.1/out",
        "output/output.1/aux/0",
        "output/output.1/aux/1/0",
    ] + ["output/output.1/aux/1/1"]
    assert nodes["input/batch/more/0"].attributes == {"value": "None"}
    assert nodes["input/scale"].attributes == {"value": "2.0"}
    assert nodes["output/output.1/aux/1/1"].attributes == {"value": "done"}
    assert ("input/batch/x", "Structured/Linear[fc]") in flow(nodes)
    assert ("input/batch/more/1", "Structured/Linear[fc]_1") in flow(nodes)
    assert ("input/mask", "Structured") in flow(nodes)


def test_a_structure_stands_under_the_name_of_its_argument():
    nodes = record(models.Structured(), {"x": tn.rand(2, 4), "more": (None, tn.rand(2, 4))})
    assert sources(nodes, "Input") == ["input/batch/x", "input/batch/more/0", "input/batch/more/1"]


def test_flatten_names_the_fields_of_named_tuples_and_dataclasses():
    pair = collections.namedtuple("pair", "left right")(1, [])
    point = dataclasses.make_dataclass("Point", ["x"])(pair)
    assert list(flatten([point, {"a b": 2, "": None}], "o")) == [
        *(("o/0/x/left", 1), ("o/1/a_b", 2), ("o/1/_", None))
    ]


def test_tied_parameters_are_one_node():
    nodes = record(models.Tied(), tn.tensor([1, 2]))
    assert sources(nodes, "Parameter") == ["Tied/Embedding[embed]/weight"]
    assert (
        nodes["Tied/Embedding[embed]/weight"].attributes["shared_with"]
        == "Tied/Linear[decode]/weight"
    )
    readers = {
        scope_of(n.name) for n in nodes.values() if "Tied/Embedding[embed]/weight" in n.inputs
    }
    assert readers == {"Tied/Embedding[embed]", "Tied/Linear[decode]"}


def test_a_loop_and_a_branch_show_what_ran():
    nodes = record(models.Recurrent(), tn.rand(3, 4))
    names = [f"Recurrent/Sequential[cell]{suffix}" for suffix in ("", "_1", "_2")]
    for earlier, later in zip(names, [*names[1:], None], strict=True):
        assert (f"{earlier}/Linear[0]", f"{earlier}/Tanh[1]") in flow(nodes)
        if later:
            assert (f"{earlier}/Tanh[1]", "Recurrent") in flow(nodes)  # step + h
            assert ("Recurrent", f"{later}/Linear[0]") in flow(nodes)
    assert ("Recurrent/Linear[head]", "output/output.1") in flow(nodes)
    assert sources(nodes, "Parameter")[:2] == [
        "Recurrent/Sequential[cell]/Linear[0]/weight",
        "Recurrent/Sequential[cell]/Linear[0]/bias",
    ]


def test_a_shared_module_is_named_by_who_calls_it():
    nodes = record(models.Shared(), tn.rand(2, 4))
    assert flow(nodes)[:2] == [
        ("input/x", "Shared/Part[left]/Linear[shared]"),
        ("input/x", "Shared/Part[right]/Linear[shared]"),
    ]
    assert sources(nodes, "Parameter") == [
        "Shared/Part[left]/Linear[shared]/weight",
        "Shared/Part[left]/Linear[shared]/bias",
    ]
    assert (
        nodes["Shared/Part[left]/Linear[shared]/bias"].attributes["shared_with"]
        == "Shared/Part[right]/Linear[shared]/bias"
    )


def test_views_are_linked():
    class Views(nn.Module):
        def forward(self, x):
            return x.t()[1:].reshape(-1).unsqueeze(0)[0]

    nodes = record(Views(), tn.rand(3, 4))
    chain = [node for node in nodes.values() if node.op not in SOURCES]
    for earlier, later in zip([nodes["input/x"], *chain], chain, strict=False):
        assert later.inputs[0].partition(":")[0] == earlier.name


def test_tensors_that_are_no_parameters_are_constants():
    class Plus(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = tn.tensor([1.0, 2.0])

        def forward(self, x):
            return (x + self.one) * 3

    nodes = record(Plus(), tn.rand(2))
    assert nodes["Plus/Const"].attributes == {"value": "[1.0, 2.0]"}
    assert nodes["Plus/add"].inputs == ["input/x", "Plus/Const"]
    assert nodes["Plus/mul"].inputs == ["Plus/add"]
    assert nodes["Plus/mul"].attributes["other"] == "3"


def test_a_module_made_in_forward_is_named_by_its_class():
    class Maker(nn.Module):
        def forward(self, x):
            return nn.Sequential(nn.ReLU(), nn.ReLU())(nn.Tanh()(x))

    nodes = record(Maker(), tn.rand(2))
    assert flow(nodes) == [
        ("input/x", "Maker/Tanh"),
        ("Maker/Tanh", "Maker/Sequential/ReLU"),
        ("Maker/Sequential/ReLU", "Maker/Sequential/ReLU_1"),
        ("Maker/Sequential/ReLU_1", "output/output.1"),
    ]


def test_a_forward_that_ends_in_an_exception_which_the_model_catches():
    class Fails(nn.Module):
        def forward(self, x):
            x = x.exp()
            raise KeyError("no")

    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.fails = Fails()

        def forward(self, x):
            for _ in range(2):
                try:
                    x = self.fails(x)
                except KeyError:
                    x = x.neg()
            return x

    nodes = record(Tries(), tn.rand(2))
    expected = ["Tries/Fails[fails]/exp", "Tries/neg", "Tries/Fails[fails]_1/exp", "Tries/neg_1"]
    assert [name for name in nodes if name.startswith("Tries")] == expected


def test_a_module_that_calls_itself():
    class Recursive(nn.Module):
        def forward(self, x, depth=2):
            x = x.exp()
            return self(x, depth - 1).neg() if depth else x

    nodes = record(Recursive(), tn.rand(2))
    assert [name for name in nodes if name.startswith("Recursive")] == [
        *("Recursive/exp", "Recursive_1/exp", "Recursive_2/exp"),
        *("Recursive_1/neg", "Recursive/neg"),
    ]


def test_an_operation_with_the_name_of_a_parameter():
    class Clash(nn.Module):
        def __init__(self):
            super().__init__()
            self.exp = nn.Parameter(tn.ones(2))

        def forward(self, x):
            return self.exp * x.exp()

    assert "Clash/exp_1" in record(Clash(), tn.rand(2))


# ---- nothing is left behind ----


def fingerprint(model, *tensors):
    """Everything about a model that one can see, as bytes and plain values."""

    def seen(value):
        if isinstance(value, tn.Tensor):
            grad = None if value.grad is None else seen(value.grad)
            flags = value.requires_grad, value.is_leaf, value._version, str(value.dtype)
            return id(value), value.numpy(force=True).tobytes(), flags, grad
        if isinstance(value, tn.Generator):
            return value.state_dict()
        if isinstance(value, dict):
            return {key: seen(member) for key, member in value.items()}
        if isinstance(value, list):
            return [seen(member) for member in value]
        return value if isinstance(value, (bool, int, float, str, tuple)) else id(value)

    return {
        "modules": {name: seen(vars(m)) for name, m in model.named_modules()},
        "tensors": [seen(tensor) for tensor in tensors],
        "state": {name: value.numpy().tobytes() for name, value in model.state_dict().items()},
        "rng": default_generator.state_dict(),
        "numpy": [np.asarray(part).tolist() for part in np.random.get_state()],
        "python": random.getstate(),
        "grad_mode": tn.is_grad_enabled(),
        "scope": mode.scope,
    }


@pytest.mark.parametrize("training", [True, False])
def test_nothing_is_changed(training):
    model, x = models.Stateful().train(training), tn.rand(3, 4)
    model.fc(x).sum().backward()
    model.embed.weight.grad = tn.ones(5, 4)
    model.mean.add_(1)
    before = fingerprint(model, x)
    record(model, x)
    assert fingerprint(model, x) == before
    model(x)  # the same forward by hand does change it all
    after = fingerprint(model, x)
    assert after["modules"] != before["modules"]
    assert after["tensors"] != before["tensors"]
    assert after["rng"] != before["rng"]


def test_nothing_is_changed_when_the_forward_fails():
    class Fails(models.Stateful):
        def forward(self, x):
            super().forward(x)
            np.random.rand()
            random.random()
            raise KeyError("later")

    model, x = Fails(), tn.rand(3, 4)
    before = fingerprint(model, x)
    with pytest.raises(KeyError, match="later") as caught:
        record(model, x)
    assert "add_graph ran Fails" in caught.value.__notes__[0]
    assert fingerprint(model, x) == before


def test_the_backward_of_an_earlier_forward_still_works():
    model, x = models.Stateful(), tn.rand(3, 4)
    loss = (model.fc(x) * model.mean).sum()
    record(model, x)
    loss.backward()


def test_training_goes_on_as_if_nobody_had_looked():
    def losses(look):
        tn.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        x = tn.rand(6, 4)
        for _ in range(3):
            if look:
                record(model, x)
            loss = model(x).pow(2).mean()
            loss.backward()
            yield loss.item()

    assert list(losses(True)) == list(losses(False))


def test_the_hooks_of_the_user_run_and_stay():
    calls = []
    model, x = models.MLP(), tn.rand(2, 4)
    model.fc1.register_forward_pre_hook(lambda module, args: calls.append("before"))
    model.fc1.register_forward_hook(lambda module, args, output: output * 2)
    nodes = record(model, x)
    assert calls == ["before"]
    assert nodes["MLP/Linear[fc1]/mul"].attributes["other"] == "2"
    expected = model.fc2(model.act(model.fc1(x)))
    assert calls == ["before", "before"]
    assert bool((model(x) == expected).all())


# ---- written ---------------------------------------------------------------------------------


def test_the_graph_is_in_the_event_file(tmp_path):
    """Read without TensorBoard; what TensorBoard itself reads is in test_tensorboard.py."""
    model, x = models.MLP(), tn.rand(2, 4)
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 1.0)
        writer.add_graph(model, x)
    (graph,) = reader.graph_defs(tmp_path)
    expected = record_forward(model, Arguments(x)).nodes
    assert [(node.name, node.op, list(node.input)) for node in graph.node] == [
        (node.name, node.op, node.inputs) for node in expected
    ]
    assert len(reader.scalars(tmp_path)) == 1


def test_add_graph_as_in_pytorch(tmp_path, capsys):
    class Two(nn.Module):
        def forward(self, x, y):
            return x * y

    x = tn.rand(2)
    with SummaryWriter(tmp_path) as writer:
        for given in ((x, x), [x, x], Arguments(x, y=x)):
            writer.add_graph(Two(), given, verbose=True, use_strict_trace=False)
    assert capsys.readouterr().out.count("Two/mul = mul(") == 3


def test_what_is_no_module_is_refused(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(AttributeError) as caught:
            writer.add_graph(abs, tn.rand(2))
    assert str(caught.value) == (
        "'builtin_function_or_method' object has no attribute 'training'. "
        "The 'model' parameter of add_graph must be a tinynet.nn.Module."
    )
