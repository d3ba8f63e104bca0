"""Each command that installs something names packages that tinynet needs, or tinynet itself."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from tinynet.base.invocation.commands import PACKAGES, installation

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
TEXTS = [
    path
    for pattern in (
        *("*.md", "*.py", "docs/**/*.md", "docs/**/*.py", "**/README.md", "tinynet/**/*.py"),
        *("tests/**/*.py", "examples/**/*", "configs/**/*", "benchmarks/**/*.py"),
        *("notebooks/**/*.ipynb", "notebooks/**/*.py"),
    )
    for path in sorted(ROOT.glob(pattern))
    if path.is_file()
    and path.suffix in (".md", ".py", ".toml", ".ipynb", ".txt")
    and not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
]
_NAME = r"(?:\w(?:[\w.,\[\]=<>-]*[\w\]])?|\.(?:\[[\w,]+\])?)"
COMMAND = re.compile(rf"pip install((?: +(?:\\\n +)?(?:-\S+|(['\"])(?:{_NAME})\2|{_NAME}))+)")
OTHERS = {"mlflow"}  # with its server, which docs/trackers.md starts


def name_of(requirement):
    return re.split(r"[\[<>=; ~!]", requirement)[0].lower().strip(".")


KNOWN = {name_of(needed) for needed in [*PROJECT["dependencies"], *sum(EXTRAS.values(), [])]}


def test_messages_name_the_packages_of_the_extras():
    for extra, packages in PACKAGES.items():
        assert [*map(name_of, EXTRAS[extra])] == [*packages], extra


def mentioned(text):
    """The names after each `pip install` in a text, without quotes and options."""
    for found, _ in COMMAND.findall(text):
        words = [word.strip("'\"") for word in found.replace("\\", " ").split()]
        yield [word for word in words if word[0] != "-"]


def test_what_texts_install():
    count = 0
    for path in sorted({*TEXTS}):
        if path == Path(__file__) or path.parent == ROOT / "tests" / "whole" / "programs":
            continue
        for words in mentioned(path.read_text(encoding="utf-8")):
            count += 1
            for word in words:
                name, _, extras = word.partition("[")
                assert name_of(name) in KNOWN | OTHERS | {"", PROJECT["name"]}, (path, words)
                assert {*filter(None, extras.rstrip("]").split(","))} <= {*EXTRAS}, (path, words)
    assert count > 40


def test_the_name_in_the_registry_is_not_that_of_another_project():
    assert PROJECT["name"] == "tinynet-numpy"
    text = "pip install tinynet, pip install 'tinynet[onnx]'"
    assert [*mentioned(text)] == [["tinynet"], ["tinynet[onnx]"]] and "tinynet" not in KNOWN


def test_the_printed_command_runs():
    """With what is installed here, there is nothing to do: no network is asked."""
    installed = {name_of(found.metadata["Name"] or "") for found in metadata.distributions()}
    extras = [extra for extra, packages in PACKAGES.items() if {*packages} <= installed]
    assert "onnx" in extras
    packages = [package for extra in extras[1:] for package in PACKAGES[extra]]
    command = shlex.split(installation(extras[0], *packages))
    done = subprocess.run(
        [*command, "--no-index", "--dry-run"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout
    assert Path(shutil.which(command[0])).absolute() == Path(sys.executable).absolute()
