"""The Graphs tab in a real browser: what a person sees of a recorded step.

Screenshots go to the folder that TINYNET_SCREENSHOTS names, or else to a temporary one.
"""

import os
from pathlib import Path

import pytest

import tinynet as tn
from tests.unit.board import browser, steps
from tinynet import board
from tinynet.board import SummaryWriter

pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
pytestmark = pytest.mark.skipif(bool(browser.missing()), reason=f"needs: {browser.missing()}")

LAYERS = ("Conv2d[stem]", "BatchNorm2d[norm]", "MaxPool2d[pool]", "Linear[head]")
TITLE = {"CNN", "backward", "Adam", "CrossEntropyLoss", "input", "output", "target"}


@pytest.fixture(scope="module")
def screenshots(tmp_path_factory):
    named = os.environ.get("TINYNET_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def recording():
    tn.manual_seed(0)
    model, step = steps.cnn(width=8, size=28)
    step()  # the first step compiles operations, which is not what it takes
    with board.record(model) as rec:
        step(rec)
    return rec


@pytest.fixture(scope="module")
def address(recording, tmp_path_factory):
    from tests.unit.board.test_tensorboard import server

    folder = tmp_path_factory.mktemp("runs")
    with SummaryWriter(folder / "cnn") as writer:
        recording.write(writer)
    with server(folder) as address:
        yield address


@pytest.fixture(scope="module")
def driver():
    with browser.browser() as driver:
        yield driver


@pytest.fixture
def graphs(driver, address):
    found = browser.graphs(driver, address)
    found.wait(lambda: found.nodes(), "the graph")
    return found


def test_the_graph_is_drawn_and_scopes_open(graphs, screenshots):
    assert graphs.tag() == "step"
    assert graphs.is_enabled("profile")
    graphs.wait(lambda: TITLE <= set(graphs.nodes()), f"{TITLE}")
    graphs.fit()
    graphs.screenshot(screenshots / "graph.png")
    graphs.expand("CNN")
    inside = {f"CNN/{name}" for name in (*LAYERS, "relu", "view")}
    graphs.wait(lambda: inside <= set(graphs.nodes()), f"{inside}")
    graphs.expand("CNN/BatchNorm2d[norm]")
    assert "CNN/BatchNorm2d[norm]/native_batch_norm" in graphs.nodes()
    graphs.fit()
    graphs.screenshot(screenshots / "module.png")


def test_an_operation_tells_about_itself(graphs, recording, screenshots):
    graphs.choose_tag("step")
    graphs.choose("profile")
    graphs.choose("compute_time")
    graphs.expand("CNN")
    graphs.expand("CNN/Conv2d[stem]")
    graphs.fit()
    card = graphs.card("CNN/Conv2d[stem]/convolution")
    (node,) = [
        n for n in recording.graphs["step"].nodes if n.name == "CNN/Conv2d[stem]/convolution"
    ]
    for shown in (
        "steps.py:",
        "saved",
        "flops",
        node.attributes["flops"],
        "backward/CNN/Conv2d[stem]",
    ):
        assert shown in card
    assert "2×8×26×26" in card
    took = max(1, round(node.cost.time / 1000))
    told = f"{took} μs" if took < 1000 else f"{took / 1000:.3g} ms"  # TensorBoard shows 3 digits
    assert told in card.partition("Node Stats")[2].replace("µ", "μ")
    graphs.screenshot(screenshots / "operation.png")


def test_the_profile_is_coloured_by_time_and_by_memory(graphs, recording, screenshots):
    graphs.choose_tag("step")
    graphs.choose("profile")
    graphs.choose("compute_time")

    def redness():
        """How far from white each box is: the legend goes from white to red."""
        shades = {}
        for name, fill in graphs.fills().items():
            if fill and fill.startswith("rgb("):
                shades[name] = 255 - int(fill[4:-1].split(",")[1])
        return shades

    def coloured():
        found = redness()
        return (
            found if len({found.get(n) for n in ("CNN", "CrossEntropyLoss", "Adam")}) == 3 else None
        )

    by_time = graphs.wait(coloured, "colours by time")
    assert by_time["input"] < by_time["CNN"]
    assert not graphs.fills()["output"].startswith("url")  # hatched, without its name
    spent = {
        name: sum(
            n.cost.time
            for n in recording.graphs["step"].nodes
            if n.cost and n.name.startswith(f"{name}/")
        )
        for name in ("CNN", "CrossEntropyLoss", "backward", "Adam")
    }
    ranked = sorted(spent, key=spent.get)
    assert by_time[ranked[0]] < by_time[ranked[-1]]
    legend = " ".join(element.text for element in graphs.find("tf-graph-controls"))
    assert all(device in legend for device in ("fwd:0", "bwd:0", "opt:0"))
    graphs.fit()
    graphs.screenshot(screenshots / "profile.png")
    graphs.choose("memory")
    graphs.wait(lambda: redness() != by_time, "colours by memory")
    graphs.switch_device("/device:bwd:0")
    graphs.wait(lambda: graphs.fills()["backward"].startswith("url"), "backward to be hatched")


def test_backward_is_a_graph_of_its_own(graphs, screenshots):
    graphs.choose_tag("backward")
    graphs.wait(lambda: set(graphs.nodes()) == {"CNN", "CrossEntropyLoss"}, "its content")
    graphs.expand("CNN")
    inside = {f"CNN/{name}" for name in (*LAYERS, "ReluBackward0")}
    graphs.wait(lambda: inside <= set(graphs.nodes()), f"{inside}")
    graphs.fit()
    graphs.screenshot(screenshots / "backward.png")
    graphs.choose("profile")
    graphs.choose("compute_time")
    white = {"rgb(255, 255, 255)", None}
    graphs.wait(lambda: not white.issuperset(graphs.fills().values()), "its times")


def test_the_modules_are_boxes_with_whole_names(graphs, screenshots):
    graphs.choose_tag("modules")
    graphs.choose("conceptual_graph")
    boxes = {"Conv2d[stem]", "norm", "MaxPool2d[pool]", "Linear[head]", "CrossEntropyLoss"}
    ovals = {"relu", "view", "target"}
    shown = boxes | ovals | {"input", "output"}
    graphs.wait(lambda: {n.rstrip() for n in graphs.nodes()} == shown, "the modules")
    graphs.fit()
    graphs.screenshot(screenshots / "modules.png")
    assert set(graphs.labels()) == shown  # nothing is cut
    assert ovals == {name for name, shape in graphs.labels().items() if shape == "ellipse"}


def test_a_pbtxt_file_can_be_uploaded(graphs, recording, tmp_path):
    path = tmp_path / "backward.pbtxt"
    path.write_text(recording.pbtxt("backward"))
    graphs.upload(path)
    graphs.wait(lambda: set(graphs.nodes()) == {"backward"}, "the uploaded graph")
