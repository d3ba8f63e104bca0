"""The generated type stubs: fresh, of use to whoever type-checks a program, part of the wheel."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUBS = ["core/tensors/methods.pyi", "ops/__init__.pyi"]

PROGRAM = """
import tinynet as tn
from tinynet import Tensor

x: tn.Tensor = tn.zeros(2, requires_grad=True)
(x @ x).sum().backward()
gradient: Tensor | None = x.grad
y: Tensor = 2 * x**2 + 1 - x / 3
y += x.exp().mul_(2.0)[0, None, :1]
mask: Tensor = (y == 0) & ~(y > 1)
values, indices = y.sort(dim=0)
best: Tensor = y.topk(1).values
parts: tuple[Tensor, ...] = tn.cat([x, y]).split(2)
count: int = tn.where(mask, values, 0.0).requires_grad_().numel()
for row in y:
    row.data.fill_(float(row.detach().item()))
"""
# A file whose options are those of --strict: mypy reads the program in its place, with the options
# of the project, so that it finds what it noted when it checked the project.
PLACE = "tests/whole/types/revealed.py"
# what a checker must refuse, and how it says so
MISTAKES = {
    "x.exq()": '"exq"',
    "tn.exq(x)": '"exq"',
    "x.sum(keepdim='yes')": '"keepdim"',
    "tn.mul(x)": '"other"',
    "n: int = x + 1": '"int"',
}


def run(*command, cwd=ROOT):
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_fresh():
    result = run("-m", "docs.stubs", "--check")
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says about the program with the mistakes below it, by line number."""
    pytest.importorskip("mypy")
    path = tmp_path_factory.mktemp("user") / "program.py"
    text = PROGRAM + "\n".join(MISTAKES) + "\n"
    path.write_text(text, encoding="utf-8")
    options = ["--no-error-summary", "--no-warn-unused-configs", "--shadow-file", PLACE, str(path)]
    result = run("-m", "mypy", *options, PLACE)
    assert not result.stderr, result.stderr
    messages = {}
    for line in result.stdout.splitlines():
        _, number, message = line.split(":", 2)
        messages[text.splitlines()[int(number) - 1]] = message
    return messages


def test_a_user_program_type_checks(checked):
    assert {line: message for line, message in checked.items() if line not in MISTAKES} == {}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_are_found(checked, line):
    assert MISTAKES[line] in checked.get(line, "nothing")


def test_stubs_are_in_the_wheel():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["tinynet"]}  # all of it, so what stands there is in the wheel
    for name in [*STUBS, "py.typed"]:
        assert (ROOT / "tinynet" / name).exists()
