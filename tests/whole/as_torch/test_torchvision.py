"""Programs that import torchvision, torchtext or torchaudio."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.whole.vision.files import write_mnist
from tinynet.as_torch import hook
from tinynet.as_torch.hook import reason

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("scripts") / "mnist.py"


def run(*arguments, cwd, **environment):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "tinynet.as_torch", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    """The folder to run a program in; its data are beside it."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def test_the_mnist_example_learns(folder):
    write_mnist(folder.parent / "data/MNIST/raw")
    done = run(SCRIPT, "--epochs", 2, "--save-model", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and "Train Epoch: 1 [0/640 (0%)]" in done.stdout
    accuracies = [int(found) for found in re.findall(r"Accuracy: (\d+)/200", done.stdout)]
    assert len(accuracies) == 2 and accuracies[-1] > 190, done.stdout
    assert (folder / "mnist_cnn.pt").exists()


def test_missing_files_are_named_with_their_place(folder):
    done = run(SCRIPT, cwd=folder)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: Dataset not found. download=True has no effect: ")
    for part in ("train", "t10k"):
        assert f"{part}-images-idx3-ubyte, {part}-labels-idx1-ubyte" in last
    assert os.path.join("../data", "MNIST", "raw") in last


def test_it_runs_without_pillow_and_with_files_in_the_folder_itself(folder):
    (folder / "PIL.py").write_text("raise ModuleNotFoundError('no Pillow', name='PIL')")
    write_mnist(folder.parent / "data", 64, 64)
    done = run(SCRIPT, "--epochs", 1, "--dry-run", cwd=folder, PYTHONPATH=f"{folder}:{ROOT}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("import torchtext", "1: tinynet has no torchtext: read texts with tinynet.data: "),
        ("from torchaudio.transforms import MFCC", "1: tinynet has no torchaudio: read sounds "),
        (
            "import torchvision\ntorchvision.ops.RoIAlign",
            "2: tinynet has no torchvision.ops.RoIAlign",
        ),
        ("from torchvision.ops import roi_pool", "1: tinynet has no torchvision.ops.roi_pool: it"),
        (
            "from torchvision.models import densenet121",
            "1: tinynet has no torchvision.models.densenet121: it has AlexNet, MobileNet, ",
        ),
        (
            "from torchvision import datasets\ndatasets.SVHN('.')",
            "2: tinynet has no torchvision.datasets.SVHN: read the files with tinynet.data: ",
        ),
        (
            "import torchvision.transforms as T\nT.FunnyCrop()",
            "2: tinynet has no torchvision.transforms.FunnyCrop: compose its",
        ),
        (
            "from torchvision.transforms import v2\nv2.ClampBoundingBoxes()",
            "2: tinynet has no torchvision.transforms.v2.ClampBoundingBoxes: images are plain",
        ),
        ("import torchvision.tv_tensors", "1: tinynet has no torchvision.tv_tensors: compose"),
    ],
)
def test_what_is_missing_is_refused_by_name_with_the_remedy(folder, program, line):
    (folder / "p.py").write_text(program)
    done = run("p.py", cwd=folder)
    assert done.returncode == 1
    (found,) = done.stderr.splitlines()
    assert found.startswith(f"p.py:{line}")


def test_the_report_lists_names_of_other_packages(folder):
    (folder / "p.py").write_text(
        "import torchvision\n"
        "if False:\n"
        "    from torchvision.ops import roi_pool\n"
        "    import torchtext.data\n"
        "    torchvision.datasets.SVHN\n"
        "    torchvision.datasets.MNIST\n"
    )
    done = run("--report", "p.py", cwd=folder)
    assert [line.split(": ")[1] for line in done.stderr.splitlines()[:-1]] == [
        "tinynet has no torchvision.ops.roi_pool",
        "tinynet has no torchtext",
        "tinynet has no torchvision.datasets.SVHN",
    ]
    assert done.stderr.splitlines()[-1] == "3 names that tinynet lacks"


OPS = """
import torch
from torch import nn
from torch.distributions.multivariate_normal import _precision_to_scale_tril
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from torch.serialization import MAP_LOCATION
from torchvision.ops.boxes import batched_nms, box_area, box_convert, box_iou, nms
from torchvision.ops.misc import FrozenBatchNorm2d

boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 0.0, 4.0, 4.0], [5.0, 5.0, 7.0, 6.0]])
scores = torch.tensor([0.5, 0.75, 0.25])
print(box_area(boxes).tolist(), box_iou(boxes, boxes[:1]).flatten().tolist())
print(nms(boxes, scores, 0.7).tolist(), nms(boxes, scores, 0.8).tolist())
print(batched_nms(boxes, scores, torch.tensor([0, 1, 0]), 0.5).tolist())
for fmt in ("xywh", "cxcywh"):
    there = box_convert(boxes, "xyxy", fmt)
    print(there[2].tolist(), torch.equal(box_convert(there, fmt, "xyxy"), boxes))
norm = nn.BatchNorm2d(3)
norm(torch.randn(4, 3, 5, 5))
frozen = FrozenBatchNorm2d(3)
frozen.load_state_dict(norm.eval().state_dict())
x = torch.randn(2, 3, 5, 5)
print(torch.allclose(frozen(x), norm(x), atol=1e-6), len([*frozen.parameters()]))
for conv, transpose in (nn.Conv2d(3, 3, 3), False), (nn.ConvTranspose2d(3, 3, 3), True):
    fused = fuse_conv_bn_eval(conv.eval(), norm, transpose)
    print(torch.allclose(fused(x), norm(conv(x)), atol=1e-5))
print("Adam" in torch.optim.__dict__)
"""


def test_boxes_and_layers_with_their_norms(folder):
    (folder / "p.py").write_text(OPS)
    done = run("p.py", cwd=folder)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == [
        "[16.0, 12.0, 2.0] [1.0, 0.75, 0.0]",
        "[1, 2] [1, 0, 2]",
        "[1, 0, 2]",
        "[5.0, 5.0, 2.0, 1.0] True",
        "[6.0, 5.5, 2.0, 1.0] True",
        "True 0",
        "True",
        "True",
        "True",
    ]


def package(folder, *, compiled):
    (folder / "torchvision").mkdir()
    (folder / "torchvision" / "__init__.py").write_text("import torch\nlocal = True\n")
    if compiled:
        (folder / "torchvision" / "_C.so").write_bytes(b"")


def test_an_installed_package_is_used_unless_it_is_linked_with_torch(folder):
    program = "import torchvision\nprint(hasattr(torchvision, 'local'), torchvision.__name__)"
    (folder / "p.py").write_text(program)
    assert run("p.py", cwd=folder).stdout == "False tinynet.compat.vision\n"
    package(folder, compiled=False)
    assert run("p.py", cwd=folder).stdout == "True torchvision\n"
    (folder / "torchvision" / "_C.so").write_bytes(b"")
    assert run("p.py", cwd=folder).stdout == "False tinynet.compat.vision\n"


def test_a_folder_of_data_with_the_name_of_a_package_is_none(folder):
    (folder / "torchvision" / "data").mkdir(parents=True)
    (folder / "p.py").write_text("import torchvision\nprint(torchvision.__version__)")
    assert run("p.py", cwd=folder).stdout == "0.28.0+tinynet\n"


def test_each_path_can_be_imported_in_any_order(folder):
    paths = sorted(hook.COMPANIONS, key=len, reverse=True)
    lines = [f"import {path}" for path in paths]
    lines += ["from torchvision.transforms import functional, v2", "import torchvision as tv"]
    lines += ["assert tv.transforms.v2 is v2 and tv.transforms.functional is functional"]
    (folder / "p.py").write_text("\n".join(lines))
    done = run("p.py", cwd=folder)
    assert done.returncode == 0, done.stderr


def test_each_package_has_a_reason():
    for name in hook.PACKAGES:
        assert name in hook.COMPANIONS or reason(f"{name}.anything")
