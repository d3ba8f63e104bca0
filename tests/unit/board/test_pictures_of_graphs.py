"""Layouts, SVG, DOT and outlines of recorded graphs."""

import random
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

import tinynet as tn
from tests.unit.board import steps
from tinynet import board, nn
from tinynet.board.graphs.assemble import folded
from tinynet.board.graphs.graph import Cost, Graph, Node, Slot, duration, outline, problems, size
from tinynet.board.graphs.layout import GAP_X, layout
from tinynet.board.graphs.pictures import dot_of_graph, picture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def recordings():
    found = {}
    for name, make in steps.STEPS.items():
        tn.manual_seed(0)
        model, step = make()
        with board.record(model) as found[name]:
            step(found[name])
    return found


# ---- layout ----------------------------------------------------------------------------------


def graph_of(seed, count):
    """A random graph without cycles."""
    rng = random.Random(seed)
    sizes = {f"n{i}": (rng.uniform(10, 120), rng.uniform(10, 60)) for i in range(count)}
    edges = [
        (f"n{rng.randrange(i)}", f"n{i}") for i in range(1, count) for _ in range(rng.randrange(4))
    ]
    return sizes, list(dict.fromkeys(edges))


@pytest.mark.parametrize("seed", range(12))
def test_boxes_do_not_overlap_and_edges_run_down(seed):
    sizes, edges = graph_of(seed, 2 + 5 * seed)
    placed = layout(sizes, edges)
    boxes = [(placed.centres[key], sizes[key]) for key in sizes]
    for i, ((x, y), (w, h)) in enumerate(boxes):
        assert w / 2 - 0.01 <= x <= placed.width - w / 2 + 0.01
        assert h / 2 - 0.01 <= y <= placed.height - h / 2 + 0.01
        for (x2, y2), (w2, h2) in boxes[i + 1 :]:
            apart = abs(x - x2) >= (w + w2) / 2 + GAP_X - 0.01 or abs(y - y2) >= (h + h2) / 2
            assert apart
    for a, b in edges:
        path = placed.paths[a, b]
        assert path[0] == placed.centres[a] and path[-1] == placed.centres[b]
        assert all(p[1] < q[1] for p, q in zip(path, path[1:], strict=False))


def test_long_edges_run_around_boxes():
    sizes = dict.fromkeys("abc", (50, 20))
    placed = layout(sizes, [("a", "b"), ("b", "c"), ("a", "c")])
    (_, (x, top), (same, bottom), _) = placed.paths["a", "c"]
    assert (top + bottom) / 2 == placed.centres["b"][1] and bottom - top == 20
    assert x == same and abs(x - placed.centres["b"][0]) > 25


def test_a_chain_is_straight():
    sizes = {"a": (50, 20), "b": (90, 20), "c": (20, 20)}
    placed = layout(sizes, [("a", "b"), ("b", "c")])
    assert len({round(x, 3) for x, _ in placed.centres.values()}) == 1


def test_a_cycle_has_one_edge_that_runs_up():
    placed = layout(
        dict.fromkeys("abc", (10, 10)), [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")]
    )
    assert [placed.centres[key][1] for key in "abc"] == sorted(
        placed.centres[key][1] for key in "abc"
    )
    assert placed.paths["c", "a"][0] == placed.centres["c"]
    assert ("b", "b") not in placed.paths


def test_nothing_has_a_place():
    assert layout({}, []).width == 0


# ---- pictures --------------------------------------------------------------------------------


def test_svg_is_xml_and_shows_the_modules(recordings):
    for name, rec in recordings.items():
        for part in rec.graphs:
            root = ElementTree.fromstring(rec.svg(part))
            assert root.tag == f"{SVG}svg"
            assert len(list(root.iter(f"{SVG}rect"))) > 2, (name, part)
        assert rec._repr_svg_() == rec.svg()


def test_the_forward_of_a_picture():
    tn.manual_seed(0)
    model, step = steps.cnn()
    with board.record(model) as rec:
        step(rec)
    root = ElementTree.fromstring(rec.svg("forward"))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"Conv2d[stem]/convolution", "CNN/relu", "Linear[head]/addmm", "target"} <= set(texts)
    assert not any("running_mean" in text or "weight" in text for text in texts)
    shallow = ElementTree.fromstring(rec.svg("forward", depth=0))
    assert "CNN" in [element.text for element in shallow.iter(f"{SVG}text")]
    arrows = [p for p in root.iter(f"{SVG}path") if p.get("marker-end")]
    assert len(arrows) == 9


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", tn.zeros(3))

    def forward(self, x):
        self.state.copy_(x)
        return self.state * 2


def test_a_write_to_a_buffer_that_is_read_is_shown():
    model = Memory()
    with board.record(model) as rec:
        model(tn.ones(3))
    root = ElementTree.fromstring(rec.svg("forward"))
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {"Memory/copy_", "Memory/mul"} <= texts
    norm = nn.BatchNorm1d(3)
    with board.record(norm) as rec:
        norm(norm(tn.rand(4, 3)))
    assert "running_mean" in rec.text() and "running_mean" not in rec.svg("forward")


def test_a_large_graph_shows_its_outer_scopes():
    nodes = [Node("x", "Input", outputs=[Slot((1,), "float32")])]
    for i in range(300):
        nodes.append(Node(f"net/{i % 7}/op{i}", "exp", [nodes[-1].name], [Slot((1,), "float32")]))
    root = ElementTree.fromstring(picture(Graph(nodes)))
    boxes = [e.text for e in root.iter(f"{SVG}text") if e.get("font-weight")]
    assert sorted(boxes) == sorted(["x", *(f"net/{i}" for i in range(7))])


# ---- text ------------------------------------------------------------------------------------


def test_outline():
    out = [Slot((2, 3), "float32")]
    nodes = [
        Node("input", "Input", outputs=out),
        Node("Net/w", "Parameter", outputs=out, attributes={"elements": "6"}),
        Node(
            *("Net/fc/mm", "mm", ["input", "Net/w"], out),
            attributes={"source": "model.py:41 in forward: h = fc(x)", "flops": "4800"},
            cost=Cost(0, 12_300, 2_048),
        ),
        Node("Net/add", "add", ["Net/fc/mm", "^input"], out, cost=Cost(0, 700, 0)),
    ]
    found = outline(Graph(nodes), ["Net/x: 3 repeats"])
    assert [" ".join(line.split()) for line in found.splitlines()] == [
        "2 operations, 13.0 µs, 2.0 kB, 4,800 flops, 6 parameters",
        "folded: Net/x: 3 repeats",
        "input: Input float32[2, 3]",
        "Net/",
        "w: Parameter float32[2, 3]",
        "fc/",
        "mm float32[2, 3] 12.3 µs 2.0 kB 4,800 flops model.py:41 <- input, Net/w",
        "add float32[2, 3] 0.7 µs <- fc/mm, ^input",
    ]
    assert outline(Graph()) == "0 operations, 0.0 µs, 0 B\n"


def test_every_node_has_a_line(recordings):
    for rec in recordings.values():
        for name, graph in rec.graphs.items():
            lines = rec.text(name).splitlines()[1:]
            assert len([line for line in lines if not line.endswith("/")]) == len(graph.nodes)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0.0 µs"), (999_949, "999.9 µs"), (1e6, "1.0 ms"), (2.5e9, "2.5 s")]
)
def test_duration(value, text):
    assert duration(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (999, "999 B"), (1e3, "1.0 kB"), (2e9, "2.0 GB")]
)
def test_size(value, text):
    assert size(value) == text


# ---- DOT -------------------------------------------------------------------------------------


def test_dot_has_a_cluster_for_each_scope():
    nodes = [
        Node("x", "Input"),
        Node("a/b/c", "exp", ["x"], [Slot((2,), "float32")] * 2),
        Node("a/d", "neg", ["a/b/c:1", "^x"]),
        Node("e", "abs", ["a/d"]),
    ]
    text = dot_of_graph(Graph(nodes))
    assert text.count("{") == text.count("}")
    assert 'subgraph "cluster_a" { label="a";' in text
    assert 'subgraph "cluster_a/b" { label="b";' in text
    assert '"a/b/c" -> "a/d" [label="1"];' in text
    assert '"x" -> "a/d" [style=dotted];' in text
    assert text.index('"x" [') < text.index('subgraph "cluster_a"') < text.index('"e" [')


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz: apt install graphviz")
def test_graphviz_draws_it(recordings):
    for rec in recordings.values():
        done = subprocess.run(
            ["dot", "-Tsvg"], input=rec.dot("forward"), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


# ---- folds -----------------------------------------------------------------------------------


def chain(ops, start="x"):
    """Nodes in a row: each takes the one before it."""
    nodes = [Node(start, "Input", outputs=[Slot((1,), "float32")])]
    for name, op in ops:
        out = [Slot((1,), "float32")]
        nodes.append(Node(name, op, [nodes[-1].name], out, cost=Cost(0, 10, 4)))
    return Graph(nodes)


def test_a_run_of_equal_operations():
    graph, notes = folded(chain([(f"n/exp_{i}", "exp") for i in range(10)]))
    assert [(n.name, n.op, n.inputs) for n in graph.nodes[1:]] == [
        ("n/exp_0", "exp", ["x"]),
        ("n/exp_0_x8", "Repeated", ["n/exp_0"]),
        ("n/exp_9", "exp", ["n/exp_0_x8"]),
    ]
    assert notes == ["n/exp_0_x8: 8 repeats like n/exp_0 (exp)"]
    assert graph.nodes[2].cost == Cost(0, 80, 32)
    assert problems(graph) == []


def test_a_loop_of_several_operations_and_calls():
    ops = []
    for i in range(6):
        ops += [(f"net/mul_{i}", "mul"), (f"net/cell_{i}/mm", "mm"), (f"net/cell_{i}/tanh", "tanh")]
    graph, notes = folded(chain([("net/pre", "neg"), *ops, ("net/post", "neg")]))
    assert [n.name for n in graph.nodes] == [
        *("x", "net/pre", "net/mul_0", "net/cell_0/mm", "net/cell_0/tanh", "net/mul_0_x4"),
        *("net/mul_5", "net/cell_5/mm", "net/cell_5/tanh", "net/post"),
    ]
    assert notes == ["net/mul_0_x4: 4 repeats like net/mul_0 (3 operations: mul, mm, tanh)"]
    assert problems(graph) == []


def test_few_repeats_and_other_shapes_are_kept():
    few = chain([(f"exp_{i}", "exp") for i in range(4)])
    assert folded(few) == (few, [])
    other = chain([(f"exp_{i}", "exp") for i in range(8)])
    for i, node in enumerate(other.nodes):
        node.outputs = [Slot((i,), "float32")]
    assert folded(other) == (other, [])


def test_inner_loops_of_different_blocks():
    ops = [(f"{b}/exp_{i}", "exp") for b in ("first", "second") for i in range(7 + (b == "first"))]
    graph, notes = folded(chain(ops))
    assert len(notes) == 2 and problems(graph) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_fold_never_breaks_a_graph(seed):
    rng = random.Random(seed)
    nodes = [Node("x", "Input", outputs=[Slot((1,), "float32")])]
    names = set()
    for i in range(rng.randrange(20, 120)):
        scope = "/".join(rng.choice("ab") for _ in range(rng.randrange(1, 4)))
        name = f"{scope}/n{i}"
        inputs = [rng.choice(nodes[-6:]).name for _ in range(rng.randrange(1, 3))]
        if rng.random() < 0.2:
            inputs.append(f"^{rng.choice(nodes).name}")
        nodes.append(
            Node(name, rng.choice(["exp", "exp", "exp", "neg"]), inputs, [Slot((1,), "float32")])
        )
        names.add(name)
    graph, notes = folded(Graph(nodes))
    assert problems(graph) == []
    stands_for = sum(int(n.attributes.get("nodes", 1)) for n in graph.nodes)
    assert stands_for == len(nodes)
    assert len(notes) == sum(n.op == "Repeated" for n in graph.nodes)
