"""What the README shows is what happens."""

import linecache
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.S)
PROGRAMS = [text for language, text in BLOCKS if language == "python"]


def run(source, names):
    """Run a program so that messages can quote its lines."""
    linecache.cache["train.py"] = (len(source), None, source.splitlines(True), "train.py")
    exec(compile(source, "train.py", "exec"), names)
    return names


def test_the_training_loop_learns():
    names = run(PROGRAMS[0], {})
    torch, net = names["torch"], names["net"]
    test = torch.data.Digits(train=False, flatten=True)
    with torch.no_grad():
        right = (net(test.images).argmax(1) == test.labels).sum().item()
    assert right > 0.8 * len(test)


def test_the_error_reads_as_shown():
    names = {}
    exec("import tinynet as torch", names)
    with pytest.raises(RuntimeError) as error:
        run(PROGRAMS[1], names)
    (shown,) = (text for _, text in BLOCKS if text.startswith("RuntimeError: one of"))
    shown = shown.removeprefix("RuntimeError: ").replace("inplace\noperation", "inplace operation")
    assert str(error.value).split("\n") == shown.rstrip().split("\n")
