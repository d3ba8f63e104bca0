"""The changes that docs/howto shows are whole: a copy of the tree lives without and with them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r'^```text title="(.*?)"\n(.*?)^```$', re.M | re.S)
MADE = {  # by commands; and prose
    "answers", "pytorch.json", "coverage.md", "names.json", "modules.json", "accuracy", "howto",
    "manifest.txt", "test_howto.py", "__init__.pyi", "methods.pyi", "table.py",
}  # fmt: skip
MORE = frozenset({
    "oracle", "amp", "onnx_export", "pytorch_tables", "programs", "test_margin_losses.py",
    "extremes.py",
})  # fmt: skip


class Change(NamedTuple):
    """What a page adds.

    Attributes:
        public: the name by which users know it.
        names: all names by which the tree knows it; tests have the last one.
        tests: where its tests are.
        files: the number of files in which it is written, at most.
        more: tests that know it beyond what is asked.
    """

    public: str
    names: tuple
    tests: tuple
    files: int = 3
    more: frozenset = MORE


NN = ("tests/unit/nn/classes", "tests/unit/nn/test_refusals.py")
CHANGES = {
    "activation": Change("nn.functional.softsign", ("softsign", "Softsign"), NN),
    "op": Change(
        "deg2rad",
        ("Deg2RadBackward0", "deg2rad"),
        ("tests/unit/ops", "tests/answers/oracle", "tests/unit/batching"),
        files=2,
        more=frozenset({"words.json"}),  # PyTorch's keywords of each function
    ),
    "loss": Change("nn.functional.soft_margin_loss", ("soft_margin_loss", "SoftMarginLoss"), NN),
    "optimizer": Change("optim.Adamax", ("adamax", "Adamax"), ("tests/unit/optim",)),
    "transform": Change(
        "data.transforms.RandomVerticalFlip",
        ("RandomVerticalFlip",),
        ("tests/unit/data",),
        more=MORE | {"vision"},  # torchvision's class of that name
    ),
    "schedule": Change(
        "optim.lr_scheduler.PolynomialLR",
        ("PolynomialLR",),
        ("tests/unit/optim",),
        more=MORE | {"test_schedules.py"},  # lengths in percent, of all schedules that have one
    ),
}


@pytest.fixture
def tree(tmp_path):
    for name in ("tinynet", "tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)  # with the bytecode, which fits the copies
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(tree, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page", CHANGES)
def test_the_change_of_a_page_is_all_that_it_takes(page, tree):
    public, names, tests, most, more = CHANGES[page]
    named = re.compile(rf"\b(?:{'|'.join(names)})\b")
    blocks = BLOCK.findall((ROOT / f"docs/howto/{page}.md").read_text(encoding="utf-8"))
    files = {file: (tree / file).read_text(encoding="utf-8") for file, _ in blocks}
    assert len(files) <= most
    for file, block in blocks:
        text = (tree / file).read_text(encoding="utf-8")
        assert text.count(block) == 1, f"{page}.md shows what {file} does not have"
        text = re.sub(rf'\s*"{named.pattern}",?', "", text.replace(block, ""))  # in __all__
        (tree / file).write_text(text, encoding="utf-8")
        if not text:  # the page shows the whole file
            (tree / file).unlink()
    rest = [
        path.relative_to(tree)
        for path in tree.rglob("*")
        if path.suffix in (".py", ".pyi", ".md", ".txt", ".json") and named.search(read(path))
    ]
    assert [path for path in rest if not {*path.parts} & (MADE | more)] == []
    assert run(tree, "-m", "tinynet.base.lazy").returncode == 0
    gone = run(tree, "-c", f"import tinynet; tinynet.{public}")
    assert "AttributeError" in gone.stderr
    for file, text in files.items():
        (tree / file).write_text(text, encoding="utf-8")
    assert run(tree, "-m", "tinynet.base.lazy").returncode == 0
    checked = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", names[-1], *tests)
    assert checked.returncode == 0, checked.stdout
    assert int(re.search(r"(\d+) passed", checked.stdout)[1]) >= 3


def read(path):
    return path.read_text(encoding="utf-8")
