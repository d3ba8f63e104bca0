"""The programs in examples/ run as they stand there, and do what they say."""

import linecache
import os
import re
import runpy
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from tests.tools.rounding import near
from tests.unit.board import reader

FOLDER = Path(__file__).parents[3] / "examples"
PROGRAMS = sorted(FOLDER.glob("*.py"))
WITH_MAIN = [p.stem for p in PROGRAMS if '__name__ == "__main__"' in p.read_text("utf-8")]
FLAT = [p.stem for p in PROGRAMS if p.stem not in WITH_MAIN]
RECORDED = Path(__file__).parents[2] / "unit" / "exchange" / "files"


def load(name):
    """The names of a program, without its last two lines having run."""
    linecache.checkcache()
    return runpy.run_path(str(FOLDER / f"{name}.py"), run_name=name)


def comments_of(path):
    """All comments of a file, without their signs."""
    with tokenize.open(path) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    return [t.string.removeprefix("#").strip() for t in tokens if t.type == tokenize.COMMENT]


@pytest.mark.parametrize("name", FLAT)
def test_prints_what_its_comments_say(name, capsys):
    """Each line that it prints is a comment, in that order; and as many as it has prints."""
    load(name)
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    comments = iter(comments_of(FOLDER / f"{name}.py"))
    for line in printed:
        assert line in comments, f"{line!r} is printed, and does not stand there"
    source = (FOLDER / f"{name}.py").read_text("utf-8")
    assert len(printed) >= len(re.findall(r"^ *print\(", source, re.M))


def test_all_are_tested():
    tested = {
        m.group(1) for m in re.finditer(r'load\("(\w+)"\)', Path(__file__).read_text("utf-8"))
    }
    assert {*WITH_MAIN} == tested


def test_the_list_is_complete():
    listed = re.findall(r"^\| \[.*?\]\(([\w.]+)", (FOLDER / "README.md").read_text("utf-8"), re.M)
    there = {p.name for p in FOLDER.iterdir()} - {"README.md", "weights", "__pycache__"}
    assert sorted(listed) == sorted(there)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_is_short_and_says_what_it_shows_and_how_it_is_run(path):
    source = path.read_text("utf-8")
    assert len(source.splitlines()) < 80
    assert f"Run: python examples/{path.name}" in source.split('"""')[1]


def test_one_as_a_command(tmp_path):
    command = [sys.executable, "-W", "error", str(FOLDER / "inplace.py"), "3"]
    answer = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(FOLDER.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stderr == "" and answer.stdout.endswith("says: nothing\n")


def test_the_tale_of_one_network_is_told_twice():
    by_hand, with_fit = load("train_by_hand"), load("train_with_fit")
    assert by_hand["main"](epochs=3) == near(with_fit["main"](epochs=3))
    assert with_fit["main"](epochs=3) > 0.9


def test_the_arms_of_the_spiral_are_told_apart():
    assert load("own_dataset")["main"](count=600, epochs=10) > 0.8


def test_the_port_learns():
    assert load("ported_from_pytorch")["main"](count=128, epochs=3) < 1


def test_only_the_imports_of_the_port_have_changed():
    """Its docstring has PyTorch's: written back, it is a script that tinynet has no part in."""
    source = (FOLDER / "ported_from_pytorch.py").read_text("utf-8")
    _, doc, program = source.split('"""', 2)
    theirs = re.findall(r"^    ((?:import|from) .*)$", doc, re.M)
    ours = re.findall(r"^(?:import|from) .*$", program, re.M)
    ported = [re.sub(r"import torch$", "import torch as torch", line) for line in theirs]
    assert [line.replace("torch", "tinynet", 1) for line in ported] == ours
    assert "tinynet" not in program[program.index("class Net") :]


@pytest.mark.oracle
def test_the_port_is_a_script_for_pytorch():
    source = (FOLDER / "ported_from_pytorch.py").read_text("utf-8")
    names = {"__name__": "with_pytorch"}
    exec(
        re.sub(r"import tinynet as torch", "import torch", source).replace("tinynet", "torch"),
        names,
    )
    assert names["main"](count=128, epochs=3) < 1


def test_what_tensorboard_is_shown(tmp_path):
    losses = load("watch_in_tensorboard")["main"](str(tmp_path), epochs=2)
    tags = {value.tag for event in reader.events(tmp_path) for value in event.summary.value}
    assert {"loss", "digits", "weights/1.weight", "gradients/3.bias", "backward"} <= tags
    assert losses[-1] < losses[0]


@pytest.mark.oracle
def test_the_weights_are_pytorchs():
    """What stands in the comments of load_pytorch_weights.py is PyTorch's answer."""
    import torch
    from safetensors.torch import load_file

    from tests.whole.examples import record

    net = record.network()
    net.load_state_dict(load_file(record.WEIGHTS / "model.safetensors"))
    both = torch.load(record.WEIGHTS / "training.pt", weights_only=True)
    assert all((both["model"][name] == value).all() for name, value in net.state_dict().items())
    with torch.no_grad():
        said = str(net(torch.linspace(-1, 1, 4)))
    assert said in comments_of(FOLDER / "load_pytorch_weights.py")


def test_the_situations(capsys):
    main = load("inplace")["main"]
    main()
    titles = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert {str(n) for n in range(1, 16)} < {*titles}
    main("3")
    shown = capsys.readouterr().out
    assert shown.startswith(titles["3"])
    assert "RuntimeError: one of the variables needed" in shown
    assert shown.endswith("says: nothing\n")
