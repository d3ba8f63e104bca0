"""Graphs from plain lists of what ran: names, edges, and the check before writing."""

from collections import namedtuple

import numpy as np
import pytest

from tests.unit.board import reader
from tinynet.board import BoardWarning, SummaryWriter
from tinynet.board.graphs.build import GraphBuilder, Operation, Result, Source
from tinynet.board.graphs.graph import (
    ATTRIBUTE_LIMIT,
    Graph,
    Names,
    Node,
    Slot,
    clean,
    problems,
    show,
)


def build(*entries, names=None):
    builder = GraphBuilder(names)
    for entry in entries:
        kind = {Source: builder.source, Operation: builder.operation, Result: builder.result}
        kind[type(entry)](entry)
    assert problems(builder.graph) == []
    return {node.name: node for node in builder.graph.nodes}


def edges(nodes):
    return {name: node.inputs for name, node in nodes.items() if node.inputs}


def array(*shape):
    return np.zeros(shape, np.float32)


# ---- edges ----


def test_inputs_are_linked_by_identity():
    x, w, h, y = array(2, 3), array(3, 4), array(2, 4), array(2, 4)
    nodes = build(
        Source("input", "Input", x),
        Source("Net/w", "Parameter", w),
        Operation("matmul", (x, w), (h,), "Net"),
        Operation("relu", (h,), (y,), "Net/act"),
        Result("output", y),
    )
    assert edges(nodes) == {
        "Net/matmul": ["input", "Net/w"],
        "Net/act/relu": ["Net/matmul"],
        "output": ["Net/act/relu"],
    }
    assert nodes["Net/matmul"].outputs == [Slot((2, 4), "float32")]


def test_equal_arrays_are_not_the_same_array():
    x, same = array(2), array(2)
    nodes = build(Source("input", "Input", x), Operation("neg", (same,), (array(2),), "Net"))
    assert edges(nodes) == {"Net/neg": ["Net/Const"]}


def test_further_outputs_have_slots():
    x, low, high, y = array(4), array(2), array(2), array(2)
    nodes = build(
        Source("input", "Input", x),
        Operation("chunk", (x,), (low, high), "Net"),
        Operation("add", (high, low), (y,), "Net"),
    )
    assert edges(nodes)["Net/add"] == ["Net/chunk:1", "Net/chunk"]
    assert len(nodes["Net/chunk"].outputs) == 2


def test_a_view_is_an_operation_and_another_wrapper_of_its_memory_is_the_same():
    x = array(2, 3)
    view = x.T
    nodes = build(
        Source("input", "Input", x),
        Operation("t", (x,), (view,), "Net"),
        Operation("neg", (x.T,), (array(3, 2),), "Net"),  # detach() may wrap the memory anew
        Operation("exp", (x,), (array(2, 3),), "Net"),
    )
    assert edges(nodes) == {"Net/t": ["input"], "Net/neg": ["Net/t"], "Net/exp": ["input"]}


def test_empty_arrays_have_no_place_in_memory():
    x, y = array(0), array(0)
    nodes = build(Source("input", "Input", x), Operation("neg", (y,), (array(0),), "Net"))
    assert edges(nodes) == {"Net/neg": ["Net/Const"]}


def test_an_in_place_operation_becomes_the_producer():
    x, y = array(2), array(2)
    nodes = build(
        Source("input", "Input", x),
        Operation("add_", (x,), (x,), "Net", {"other": 1}, writes=True),
        Operation("neg", (x,), (y,), "Net"),
    )
    assert edges(nodes) == {"Net/add_": ["input"], "Net/neg": ["Net/add_"]}


def test_a_write_through_a_view_is_an_order_of_side_effects():
    x = array(2, 3)
    row, before, after = x[0], array(2, 3), array(2, 3)
    nodes = build(
        Source("input", "Input", x),
        Operation("select", (x,), (row,), "Net"),
        Operation("neg", (x,), (before,), "Net"),
        Operation("zero_", (row,), (row,), "Net", writes=True),
        Operation("exp", (x,), (after,), "Net"),
        Operation("abs", (row,), (array(3),), "Net"),
        Result("output", x),
    )
    assert nodes["Net/neg"].inputs == ["input"]
    assert nodes["Net/exp"].inputs == ["input", "^Net/zero_"]
    assert nodes["Net/abs"].inputs == ["Net/zero_"]
    assert nodes["output"].inputs == ["input", "^Net/zero_"]


def test_constants_stand_in_the_scope_of_their_first_use_and_show_small_values():
    small, large = np.array([1, 2]), array(100)
    nodes = build(
        Operation("neg", (small,), (array(2),), "Net/a"),
        Operation("exp", (small,), (array(2),), "Net/b"),
        Operation("exp", (large,), (array(100),), "Net/b"),
    )
    assert nodes["Net/a/Const"].attributes == {"value": "[1, 2]"}
    assert nodes["Net/b/exp"].inputs == ["Net/a/Const"]
    assert nodes["Net/b/Const"].attributes == {}


def test_an_output_that_is_an_input_or_no_array():
    x = array(2)
    nodes = build(Source("input", "Input", x), Result("output/0", x), Result("output/1", None))
    assert nodes["output/0"].inputs == ["input"]
    assert nodes["output/1"].attributes == {"value": "None"}


# ---- names ----


def test_names_are_unique_and_never_a_scope():
    x = array(1)
    nodes = build(
        Operation("relu", (x,), (array(1),), "Net"),  # Net/relu is a module of the model
        Operation("relu", (x,), (array(1),), "Net/relu"),
        Operation("relu", (x,), (array(1),), "Net/relu"),
        Operation("Net", (x,), (array(1),), ""),
        names=Names(["Net/relu"]),
    )
    assert [name for name, node in nodes.items() if node.op != "Const"] == [
        *("Net/relu_1", "Net/relu/relu", "Net/relu/relu_1", "Net_1")
    ]


def test_calls_of_a_module_get_suffixes_that_no_other_module_has():
    names = Names(["Net/fc", "Net/fc_1"])
    assert names.scope("Net/fc", again=False) == "Net/fc"
    assert names.scope("Net/fc", again=True) == "Net/fc_2"
    assert names.scope("Net/fc", again=True) == "Net/fc_3"
    assert names.node("Net/fc_4") == "Net/fc_4"
    assert names.scope("Net/fc_4", again=False) == "Net/fc_4_1"


@pytest.mark.parametrize("name", ["length", "constructor", "_hidden", "-x", "__add__"])
def test_names_that_tensorboard_cannot_take_are_changed(name):
    nodes = build(Source(name, "Input", array(1)), Operation(name, (), (array(1),), "Net"))
    assert name not in nodes
    assert f"Net/{name}" in nodes


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a b", "a_b"), ("a/b", "a_b"), ('"', "_"), ("", "_"), ("größe", "gr_e"), ("x.1-b", "x.1-b")],
)
def test_clean(name, expected):
    assert clean(name) == expected


def test_show_is_short():
    assert show(np.zeros((2, 3), np.int64)) == "int64[2, 3]"
    assert show([1, np.zeros(2, bool), "a\nb"]) == "[1, bool[2], a b]"
    assert show(slice(1, None)) == "slice(1, None, None)"
    pair = namedtuple("Pair", "kernel shared")
    assert show(pair((1, 2), True)) == "kernel (1, 2), shared True"
    long = show("ü" * 5000)
    assert len(long.encode()) < ATTRIBUTE_LIMIT
    assert long.endswith("...")


# ---- the check ----


def node(name, *inputs, op="add", outputs=1):
    return Node(name, op, list(inputs), [Slot((1,), "float32")] * outputs)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([], "the graph has no nodes"),
        ([node("a b")], "'a b' is not a valid node name"),
        ([node("a//b")], "'a//b' is not a valid node name"),
        ([node("a/")], "'a/' is not a valid node name"),
        ([node("length")], "'length' is a name that TensorBoard uses itself"),
        ([node("a"), node("a")], "two nodes are called 'a'"),
        ([node("a"), node("a/b/c")], "'a' is a node and a scope"),
        ([node("a", op="")], "'a' has no operation type"),
        ([node("a", "b")], "input 'b' of 'a' is not an earlier node"),
        ([node("a", "a")], "input 'a' of 'a' is not an earlier node"),
        ([node("a", "^b")], "input '^b' of 'a' is not an earlier node"),
        ([node("a"), node("b", "a:1")], "input 'a:1' of 'b': there is no such output"),
    ],
)
def test_problems(nodes, expected):
    assert expected in problems(Graph(nodes))


def test_no_problems():
    graph = Graph([node("a", outputs=2), node("b/c", "a:1", "^a"), node("b/d", "b/c")])
    assert problems(graph) == []


def test_a_graph_with_problems_is_a_warning_and_is_not_written(tmp_path):
    writer = SummaryWriter(tmp_path)
    with pytest.warns(BoardWarning, match="graph of Net was not written: the graph has no nodes"):
        writer._add_graph(Graph(), "Net")
    writer.close()
    assert reader.events(tmp_path) == []


# ---- written ----


def test_graph_def(tmp_path):
    shown = Node(
        "Net/relu", "relu", ["input"], [Slot((2, 0), "bool")], {"inplace": "False"}, "/d:0"
    )
    source = Node("input", "Input", outputs=[Slot((), "float16"), Slot((3,), "int8")])
    with SummaryWriter(tmp_path) as writer:
        writer._add_graph(Graph([source, shown]), "Net")
    (graph,) = reader.graph_defs(tmp_path)
    first, second = graph.node
    assert (first.name, first.op, list(first.input)) == ("input", "Input", [])
    assert (second.name, second.op, list(second.input)) == ("Net/relu", "relu", ["input"])
    assert second.device == "/d:0"
    assert second.attr["inplace"].s == b"False"
    shapes = [[d.size for d in s.dim] for s in first.attr["_output_shapes"].list.shape]
    assert shapes == [[], [3]]
    (shape,) = second.attr["_output_shapes"].list.shape
    assert [d.size for d in shape.dim] == [2, 0]
    assert (first.attr["dtype"].type, second.attr["dtype"].type) == (19, 10)  # DT_HALF, DT_BOOL
    assert graph.versions.producer > 0


def test_text():
    assert Graph([node("a", outputs=2), node("b", "a:1", "^a")]).text() == (
        "a = add() float32[1], float32[1]\nb = add(a:1, ^a) float32[1]"
    )
