"""tensorboardX's own SummaryWriter given tinynet's tensors, in a script without ``as_torch``.

Each call is made twice: with tensors of some kind, and with numpy's arrays of the same values. What
is in the event files and beside them must be equal.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE
from tests.unit.board import reader

ROOT = Path(__file__).parents[3]

PROGRAM = """
import sys
import numpy as np
{imports}
import matplotlib.pyplot as plt
from tinynet import nn

random = np.random.default_rng(0)

def arrays(*shape):
    return random.random(shape, dtype=np.float32)

def figure(heights):
    fig, axes = plt.subplots(figsize=(1, 1))
    axes.plot(heights)
    return fig

def plain(kind, array):
    return array

def tensor(kind, array):
    made = tn.tensor(array)
    if array.dtype.kind != "f":
        return made
    if kind == "parameter":
        return nn.Parameter(made)
    if kind == "transposed":  # not contiguous in memory
        return tn.tensor(array.T.copy()).T if array.ndim == 2 else made
    return made.requires_grad_(kind == "requires_grad")

def write(folder, of, kind):
    x, y, images = arrays(4, 6), arrays(4), arrays(4, 3, 8, 8)
    marks, faces = np.array([1, 0, 1, 1]), np.array([[[0, 1, 2]]])
    x, y, marks, faces, one, whole, points = (
        of(kind, v) for v in (x, y, marks, faces, x[0, 0:1], np.array(3), arrays(1, 3, 3))
    )
    with SummaryWriter(folder) as writer:
        writer.add_scalar("loss", one, 1)
        writer.add_scalar("count", whole, 1)
        writer.add_scalars("both", {{"one": one, "whole": whole}}, 2)
        writer.add_histogram("x", x, 3)
        writer.add_histogram("listed", [of("", v) for v in arrays(3)], 3)
        writer.add_image("image", of(kind, images[0]), 4)
        writer.add_image("grey", x, 4, dataformats="HW")
        writer.add_images("images", of(kind, images), 4)
        if of is tensor:  # a list of arrays needs torch
            writer.add_images("listed", [tensor(kind, i) for i in images], 4, dataformats="CHW")
        else:
            writer.add_images("listed", images, 4)
        writer.add_image_with_boxes("boxes", of(kind, images[0]), of(kind, 4 * arrays(1, 4)), 4)
        writer.add_figure("figure", figure(of("", arrays(5))), 5)
        writer.add_embedding(x, list("abcd"), of(kind, images), 6)
        writer.add_pr_curve("curve", marks, y, 7)
        writer.add_pr_curve_raw("raw", *[of("", v) for v in arrays(6, 3)], 7, num_thresholds=3)
        writer.add_mesh("mesh", points, of(kind, 255 * arrays(1, 3, 3)), faces, global_step=8)
        writer.add_video("video", of(kind, arrays(1, 2, 3, 8, 8)), 9)
        writer.add_hparams({{"lr": 0.1, "rate": one}}, {{"accuracy": one}}, "h", 10)
        writer.add_text("text", "a", 11)
        for refused in (object(), (1, 2), None):
            try:
                writer.add_scalar("no", refused)
            except NotImplementedError as error:
                print(str(error).partition(" at ")[0])

write(f"{{sys.argv[1]}}/arrays", plain, "")
for kind in sys.argv[2:]:
    random = np.random.default_rng(0)
    write(f"{{sys.argv[1]}}/{{kind}}", tensor, kind)
"""
ORDERS = {
    "tinynet first": "import tinynet as tn\nfrom tensorboardX import SummaryWriter",
    "tensorboardX first": "from tensorboardX import SummaryWriter\nimport tinynet as tn",
    "tinynet's writer between": (
        "import tinynet as tn\nfrom tinynet.utils import tensorboard\n"
        "tensorboard.SummaryWriter(sys.argv[1] + '/own').close()\n"
        "from tensorboardX import SummaryWriter"
    ),
}


def run(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder):
    """The events of a folder and of those below, without times, and the other files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if "events.out" in name:
            events = reader.events(path.parent)
            for event in events:
                event.ClearField("wall_time")
            found[name.rpartition("/")[0]] = events
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


KINDS = ["tensor", "requires_grad", "parameter", "transposed"]


@pytest.mark.parametrize(
    ("order", "kinds"),
    [
        ("tinynet first", KINDS),
        ("tensorboardX first", ["parameter"]),
        ("tinynet's writer between", ["parameter"]),
    ],
)
def test_tensors_are_written_as_arrays_are(tmp_path, order, kinds):
    said = run(PROGRAM.format(imports=ORDERS[order]), tmp_path, *kinds)
    for name in ("object", "tuple", "NoneType"):
        refusal = f"Got <class '{name}'>, but expected numpy array or torch tensor."
        assert said.count(refusal) == 1 + len(kinds)
    expected = contents(tmp_path / "arrays")
    values = {v.tag: v.simple_value for e in expected[""] for v in e.summary.value}
    assert values["count"] == 3 and 0 < values["loss"] < 1
    assert {"x", "image", "images", "listed", "figure", "curve", "mesh_1", "video"} <= {*values}
    assert len(expected) == 8  # with the files of the embedding and three other folders of events
    for kind in kinds:
        assert contents(tmp_path / kind) == expected


GRAPH = """
import sys
from tensorboardX import SummaryWriter
import tinynet as tn
from tinynet import nn
from tinynet.utils import tensorboard

net = nn.Sequential(nn.Linear(4, 2), nn.ReLU())
for writer in SummaryWriter(sys.argv[1]), tensorboard.SummaryWriter(sys.argv[2]):
    with writer:
        writer.add_graph(net, tn.ones(3, 4))
"""


def test_a_graph_is_that_of_our_writer(tmp_path):
    run(GRAPH, tmp_path / "theirs", tmp_path / "ours")
    (theirs,), (ours,) = map(reader.graph_defs, (tmp_path / "theirs", tmp_path / "ours"))
    assert [node.name for node in theirs.node] == [node.name for node in ours.node]
    assert [[*node.input] for node in theirs.node] == [[*node.input] for node in ours.node]
    assert any("Linear" in node.name for node in theirs.node)


HALF = """
import sys
import tinynet as tn
from tensorboardX import SummaryWriter

with SummaryWriter(sys.argv[1]) as writer:
    writer.add_scalar("half", tn.ones((), dtype=tn.float16))
    try:
        writer.add_scalar("brain", tn.ones((), dtype=tn.bfloat16))
    except TypeError as error:
        print(error)
"""


def test_what_numpy_has_no_type_for_is_refused_as_in_pytorch(tmp_path):
    assert run(HALF, tmp_path) == "Got unsupported ScalarType BFloat16\n"
    assert reader.scalars(tmp_path) == [("half", 0, 1.0)]
