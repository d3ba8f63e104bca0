"""Recorded steps, read back through the HTTP API of a real TensorBoard: they say what ran."""

import json
import warnings

import numpy as np
import pytest

pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")

import tinynet as tn
from tests.unit.board import steps
from tests.unit.board.test_tensorboard import fetch, same, server
from tinynet import board
from tinynet.board import BoardWarning, SummaryWriter, tensorboardx
from tinynet.board.graphs.graph import Graph, Node, Slot

with warnings.catch_warnings():  # what TensorBoard and its dependencies warn about is not ours
    warnings.simplefilter("ignore")
    from google.protobuf import text_format
    from tensorboard.compat.proto import config_pb2, graph_pb2
    from tensorboard.compat.tensorflow_stub import dtypes

PARTS = {"gan": ["discriminator", "generator"]}


@pytest.fixture(scope="module")
def recordings():
    found = {}
    for name, make in steps.STEPS.items():
        tn.manual_seed(0)
        model, step = make()
        with board.record(model) as found[name]:
            step(found[name])
    return found


@pytest.fixture(scope="module")
def tensorboard(recordings, tmp_path_factory):
    """The address of a TensorBoard that shows a run for each recording."""
    folder = tmp_path_factory.mktemp("runs")
    for name, rec in recordings.items():
        with SummaryWriter(folder / name) as writer:
            rec.write(writer)
    with server(folder) as address:
        yield address


@pytest.fixture(params=steps.STEPS)
def run(request):
    return request.param


STEP = " step"


def shown(rec):
    """The graphs of a recording by their tags."""
    found = {name: graph.opened() for name, graph in rec.graphs.items()}
    return {STEP: rec.graphs["step"], **{k: v for k, v in found.items() if k != "step"}}


def graph_of(address, run, **query):
    text = fetch(address, "graphs/graph", run=run, **query)
    return text_format.Parse(text, graph_pb2.GraphDef())


def profile_of(address, run, tag):
    """Device -> name of a node -> what it took."""
    text = fetch(address, "graphs/run_metadata", run=run, tag=tag)
    stats = text_format.Parse(text, config_pb2.RunMetadata()).step_stats
    return {d.device: {node.node_name: node for node in d.node_stats} for d in stats.dev_stats}


def test_every_graph_can_be_selected(tensorboard, run):
    info = json.loads(fetch(tensorboard, "graphs/info"))[run]
    tags = {
        tag: {key for key, value in entry.items() if value is True}
        for tag, entry in info["tags"].items()
    }
    with_profile = {"op_graph", "profile"}
    expected = {name: with_profile for name in ("forward", "backward", "optimizer")}
    expected |= {name: with_profile for name in PARTS.get(run, [])}
    assert not info["run_graph"]  # the tab would open with it, and it has no profile
    assert tags == {**expected, STEP: with_profile, "modules": {"conceptual_graph"}}
    assert min(tags) == STEP  # the tab opens with the first


def test_every_graph_says_what_ran(tensorboard, recordings, run):
    rec = recordings[run]
    for tag, graph in shown(rec).items():
        found = graph_of(tensorboard, run, tag=tag)
        assert same(found, graph)
        devices = [node.device for node in found.node]
        assert devices == [node.device for node in graph.nodes]


def test_a_graph_in_one_scope_opens_with_its_content():
    slot = [Slot((2,), "float32")]
    inside = [Node("backward/a/b", "B", outputs=slot), Node("backward/c", "C", ["backward/a/b"])]
    nodes = Graph(inside).opened().nodes
    assert [(node.name, node.inputs) for node in nodes] == [("a/b", []), ("c", ["a/b"])]
    for other in ("d", "d/e", "backward"):
        graph = Graph([*inside, Node(other, "D")])
        assert graph.opened() is graph
    reserved = Graph([Node("backward/length", "D")])  # not a name that TensorBoard can show
    assert reserved.opened() is reserved
    control = Graph([Node("s/a", "A", outputs=slot * 2), Node("s/b", "B", ["s/a:1", "^s/a"])])
    assert control.opened().nodes[1].inputs == ["a:1", "^a"]


def test_every_profile_says_what_it_took(tensorboard, recordings, run):
    rec = recordings[run]
    for tag, graph in shown(rec).items():
        profile = profile_of(tensorboard, run, tag)
        found = {node: stats for nodes in profile.values() for node, stats in nodes.items()}
        for node in graph.nodes:
            if not node.outputs:  # such as an input that is None
                assert node.name not in found
                continue
            stats = found.pop(node.name)
            assert stats.node_name in profile[node.device]
            shapes = [o.tensor_description.shape.dim for o in stats.output]
            assert [tuple(d.size for d in dims) for dims in shapes] == [
                s.shape for s in node.outputs
            ]
            kinds = [dtypes.as_dtype(o.tensor_description.dtype).name for o in stats.output]
            assert kinds == [s.dtype for s in node.outputs]
            if node.cost:
                assert stats.all_end_rel_micros == max(1, round(node.cost.time / 1000))
                assert stats.all_start_micros > 0  # otherwise no time is shown
                assert stats.memory[0].total_bytes == node.cost.memory
            elif node.op == "Parameter":
                size = np.prod(node.outputs[0].shape) * np.dtype(node.outputs[0].dtype).itemsize
                assert (stats.all_end_rel_micros, stats.memory[0].total_bytes) == (0, size)
        assert not found
    assert set(profile_of(tensorboard, run, STEP)) == {
        *("/device:fwd:0", "/device:bwd:0", "/device:opt:0")
    }


def test_times_are_in_their_order(tensorboard, run):
    profile = profile_of(tensorboard, run, STEP)
    forward, backward, update = (
        [s.all_start_micros for s in profile[f"/device:{d}:0"].values() if s.all_end_rel_micros]
        for d in ("fwd", "bwd", "opt")
    )
    assert backward == sorted(backward)
    ran = [s for nodes in profile.values() for s in nodes.values() if s.all_end_rel_micros]
    ran.sort(key=lambda s: s.all_start_micros)
    for one, other in zip(ran, ran[1:], strict=False):  # so that scopes take what is in them
        assert one.all_start_micros + one.all_end_rel_micros == other.all_start_micros
    if run != "gan":  # which trains twice
        assert max(forward) <= min(backward) <= max(backward) <= min(update)


CLASSES = {
    "mlp": {
        "Linear[fc1]/Linear": "Linear",
        "ReLU[act]/ReLU": "ReLU",
        "Linear[fc2]/Linear": "Linear",
        "input/x": "InputLayer",
    },
    "cnn": {"Conv2d[stem]  /Conv2d": "Conv2d", "norm/BatchNorm2d": "BatchNorm2d", "relu": "relu"},
    "lstm": {
        "LSTMCell[cell]/LSTMCell": "LSTMCell",
        "LSTMCell[cell]_5/LSTMCell": "LSTMCell",
        "Linear[head]/Linear": "Linear",
    },
    "transformer": {
        "embed/Embedding": "Embedding",
        "ModuleList[layers]/EncoderLayer[1] /norm2/LayerNorm": "LayerNorm",
    },
    "branching": {"Sequential[large]/ReLU[1]/ReLU": "ReLU", "add": "add"},
    "renormed": {"embed/Embedding": "Embedding"},
    "gan": {
        "ModuleDict/Sequential[D]/Linear[0]/Linear": "Linear",
        "ModuleDict/Sequential[D]_1/Linear[0]/Linear": "Linear",
        "ModuleDict/Linear[G]/Linear": "Linear",
    },
}


def test_the_modules_are_a_conceptual_graph(tensorboard, run):
    graph = graph_of(tensorboard, run, tag="modules", conceptual="true")
    layers = {node.name: node.attr["keras_class"].s.decode() for node in graph.node}
    assert layers.items() >= CLASSES[run].items()
    for node in graph.node:
        assert set(node.input) <= set(layers)


def test_the_modules_of_an_mlp_are_a_chain(tensorboard):
    graph = graph_of(tensorboard, "mlp", tag="modules", conceptual="true")
    edges = {node.name: list(node.input) for node in graph.node}
    assert edges["Linear[fc1]/Linear"] == ["input/x"]
    assert edges["ReLU[act]/ReLU"] == ["Linear[fc1]/Linear"]
    assert edges["Linear[fc2]/Linear"] == ["ReLU[act]/ReLU"]
    assert edges["output/output.1"] == ["Linear[fc2]/Linear"]
    assert "sub" in edges  # an operation outside of modules: the loss, by hand


def test_several_recordings_of_a_run(recordings, tmp_path):
    with SummaryWriter(tmp_path / "run") as writer:
        recordings["mlp"].write(writer, global_step=1)
        recordings["mlp"].write(writer, global_step=100)
        recordings["lstm"].write(writer, global_step=100)
    with server(tmp_path) as address:
        tags = json.loads(fetch(address, "graphs/info"))["run"]["tags"]
        again = graph_of(address, "run", tag=f"{STEP}, step 100")
    assert same(again, recordings["mlp"].graphs["step"])
    names = [STEP, "forward", "backward", "optimizer", "modules"]
    assert set(tags) == {f"{n}, step {s}" for n in names for s in (1, 100)} | {
        f"{n}, step 100_1" for n in names
    }


def test_what_was_folded_is_a_text(tmp_path):
    tn.manual_seed(0)
    model = steps.Loop()
    with board.record(model, max_nodes=20) as rec:
        model(tn.rand(30, 1, 3)).sum().backward()
    with SummaryWriter(tmp_path / "run") as writer:
        rec.write(writer)
    with server(tmp_path) as address:
        text = json.loads(fetch(address, "text/text", run="run", tag="graph/folded/text_summary"))
        graph = graph_of(address, "run", tag=STEP)
        modules = graph_of(address, "run", tag="modules", conceptual="true")
    assert same(graph, rec.graphs["step"])
    assert "28 repeats like Loop/LSTMCell[cell] " in text[0]["text"]
    assert "LSTMCell[cell]_x28/Repeated" in {node.name for node in modules.node}


def test_a_pbtxt_is_the_same_graph(recordings, run):
    for graph in recordings[run].graphs.values():
        parsed = text_format.Parse(tensorboardx.pbtxt(graph), graph_pb2.GraphDef())
        assert same(parsed, graph)
        assert parsed.versions.producer == 22


def test_a_pbtxt_keeps_every_character():
    node = Node("a", "Const", attributes={"text": 'é "quoted" \\ back\nslash'})
    parsed = text_format.Parse(tensorboardx.pbtxt(Graph([node])), graph_pb2.GraphDef())
    assert parsed.node[0].attr["text"].s.decode() == 'é "quoted" \\ back\nslash'


def test_a_graph_with_problems_is_a_warning(recordings, tmp_path):
    rec = recordings["mlp"]
    broken = Graph([Node("a", "Const", ["b"])])
    whole = rec.graphs["forward"]
    rec.graphs["forward"] = broken
    try:
        with SummaryWriter(tmp_path / "run") as writer:
            with pytest.warns(BoardWarning, match="graph of forward was not written: input 'b'"):
                rec.write(writer)
    finally:
        rec.graphs["forward"] = whole
    with server(tmp_path) as address:
        tags = json.loads(fetch(address, "graphs/info"))["run"]["tags"]
    assert set(tags) == {STEP, "backward", "optimizer", "modules"}
