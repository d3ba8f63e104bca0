"""Pictures of autograd graphs: what `backward()` would walk over."""

import xml.etree.ElementTree as ElementTree

import pytest

import tinynet as tn
from tests.unit.board.test_recorder import fingerprint
from tinynet import board, nn


def lines_of(drawing):
    return drawing.text().splitlines()


def svg_texts(svg):
    root = ElementTree.fromstring(svg)
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_leaves_nodes_versions_and_saved_values():
    a = tn.tensor([1.0, 2.0], requires_grad=True)
    b = a.sigmoid()
    b[0] = 5
    found = lines_of(board.draw(b.sum(), names={"a": a}))
    assert [line.partition(";")[0].partition(" ->")[0] for line in found] == [
        *("tensor", "SumBackward0", "CopySlices", "SigmoidBackward0", "a")
    ]
    assert "saved result float32[2] v0, now v1: changed" in found[3]
    assert "test_draw.py:" in found[3] and "b = a.sigmoid()" in found[3]
    assert found[3].endswith("-> a")
    assert found[4] == "a; float32[2]; leaf, version 0"


def test_modules_and_parameters_have_their_names():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    drawing = board.draw(model(tn.ones(1, 2)), names=dict(model.named_parameters()))
    titles = {box.lines[0] for box in drawing.boxes}
    assert titles == {"tensor", "TanhBackward0", "AddmmBackward0", "0.weight", "0.bias"}
    (node,) = [box for box in drawing.boxes if box.lines[0] == "AddmmBackward0"]
    assert "Sequential.0" in node.lines
    labels = sorted(arrow.label for arrow in drawing.arrows if arrow.start == node.key)
    assert labels == ["bias", "weight"]


def test_a_value_that_is_used_twice_is_one_box():
    x = tn.ones(2, requires_grad=True)
    y = x * 2
    drawing = board.draw(y * y)
    assert [box.lines[0] for box in drawing.boxes].count("MulBackward0") == 2
    assert [arrow.label for arrow in drawing.arrows if arrow.label] == ["self, other"]


def test_what_is_used_by_several_stands_below_them_all():
    x = tn.ones(2, requires_grad=True)
    drawing = board.draw((x + 1) * (x + 2))
    place = {box.key: number for number, box in enumerate(drawing.boxes)}
    assert all(place[arrow.start] < place[arrow.end] for arrow in drawing.arrows)
    root = ElementTree.fromstring(drawing.svg())
    height = {e.text: float(e.get("y")) for e in root.iter("{http://www.w3.org/2000/svg}text")}
    assert max(height, key=height.get) == "leaf, version 0"


def test_leaves_say_what_they_are():
    x = tn.ones(2, requires_grad=True)
    x.sum().backward()
    assert lines_of(board.draw(x)) == ["leaf; float32[2]; leaf, version 0; has .grad"]
    plain = tn.ones(2)
    plain.add_(1)
    assert lines_of(board.draw(plain)) == [
        "constant; float32[2]; leaf, requires no grad, version 1"
    ]
    with tn.inference_mode():
        made = tn.ones(1)
    assert lines_of(board.draw(made)) == ["constant; float32[1]; leaf, requires no grad"]


def test_a_graph_that_was_freed_can_be_drawn():
    x = tn.ones(2, requires_grad=True)
    y = x.exp()
    z = (y * y).sum()
    z.backward()
    assert "saved" not in board.draw(z).text()


def test_several_tensors_share_their_graph():
    x = tn.ones(2, requires_grad=True)
    y = x.exp()
    drawing = board.draw(y.sin(), y.cos())
    titles = [box.lines[0] for box in drawing.boxes]
    assert titles.count("tensor") == 2 and titles.count("ExpBackward") == 1


def test_nothing_changes():
    model = nn.Linear(2, 3)
    x = tn.ones(1, 2)
    y = model(x).tanh()
    before = fingerprint(model, x), y._version
    board.draw(y).svg()
    assert (fingerprint(model, x), y._version) == before
    y.sum().backward()


def test_what_is_no_tensor_is_refused():
    with pytest.raises(TypeError, match="draw\\(\\) takes tensors. Got int instead."):
        board.draw(1)


def test_a_picture_for_notebooks_and_for_graphviz():
    x = tn.tensor(2.0, requires_grad=True)
    drawing = board.draw(x * 3 < 4, x * 3, names={'"x" & <y>': x})
    texts = svg_texts(drawing._repr_svg_())
    assert drawing._repr_svg_() == drawing.svg()
    assert '"x" & <y>' in texts and "MulBackward0" in texts
    dot = drawing.dot()
    assert dot.startswith('digraph "autograd graph" {') and dot.endswith("}\n")
    assert dot.count(" -> ") == len(drawing.arrows)
    assert '\\"x\\" & <y>' in dot


def test_a_deep_graph_is_cut_and_it_is_said():
    x = tn.ones(1, requires_grad=True)
    y = x
    for _ in range(5000):
        y = y * 1.0
    drawing = board.draw(y)
    assert drawing.left_out > 0
    assert len(drawing.boxes) <= 402
    assert f"{drawing.left_out} more nodes" in drawing.text()
    assert svg_texts(drawing.svg())


def test_functions_of_the_users_own():
    class Double(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = tn.ones(2, requires_grad=True)
    text = board.draw(Double.apply(x)).text()
    assert "DoubleBackward" in text and "saved 0 float32[2]" in text
