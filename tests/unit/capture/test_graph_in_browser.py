"""A program in the Graphs tab of a real TensorBoard, in a real browser."""

import pytest

import tinynet as tn
from tests.unit.board import browser
from tinynet.board import SummaryWriter
from tinynet.capture.graph import record_program

from .test_graph import X, Y, make

pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
pytestmark = pytest.mark.skipif(bool(browser.missing()), reason=f"needs: {browser.missing()}")

SCOPES = {"Net", "backward", "SGD", "input", "output", "clip_grad_norm"}
LAYERS = {"Linear[first]", "ReLU[act]", "BatchNorm1d[norm]", "Dropout[dropout]", "Linear[head]"}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    from tests.unit.board.test_tensorboard import server

    _, step = make()
    compiled = tn.compile(step)
    for _ in range(3):
        compiled(X, Y)
    folder = tmp_path_factory.mktemp("runs")
    with SummaryWriter(folder / "step") as writer:
        record_program(compiled, X, Y).write(writer)
    with server(folder) as address:
        yield address


def test_scopes_times_and_memory_are_shown(address):
    with browser.browser() as driver:
        graphs = browser.graphs(driver, address)
        graphs.wait(lambda: SCOPES <= set(graphs.nodes()), f"{SCOPES}")
        graphs.choose_tag("program")
        graphs.choose("profile")
        graphs.choose("compute_time")
        graphs.expand("Net")
        inside = {f"Net/{name}" for name in LAYERS}
        graphs.wait(lambda: inside <= set(graphs.nodes()), f"{inside}")
        graphs.expand("Net/Linear[first]")
        graphs.fit()
        attributes, _, stats = graphs.card("Net/Linear[first]/addmm").partition("Node Stats")
        assert "test_graph.py:" in attributes and "compute" in attributes
        assert "Compute Time" in stats and "128 B" in stats  # 4 * 8 numbers
