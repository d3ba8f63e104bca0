"""Each error names a page, and each page is there."""

import re
from pathlib import Path

import pytest

import tinynet as tn
from tinynet.core.explanations import explain, topics
from tinynet.train.cli import main

PACKAGE = Path(tn.__file__).parent


def test_every_topic_that_an_error_names_has_a_page_and_every_page_a_topic():
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    calls = re.compile(r"""(?:topic=|explained\(|more\()["']([a-z-]+)["']""")
    named = {topic for text in sources for topic in calls.findall(text)}
    assert named == set(topics())


def test_the_documentation_has_all_pages(capsys):
    assert main(["explain", "--all"]) == 0
    page = PACKAGE.parent / "docs" / "errors.md"
    assert page.read_text(encoding="utf-8") == capsys.readouterr().out, (
        "write it anew: python -m tinynet explain --all > docs/errors.md"
    )


@pytest.mark.parametrize("topic", topics())
def test_pages_read_well(topic):
    lines = explain(topic).splitlines()
    assert re.fullmatch(r"# [^.]+", lines[0]) and lines[1] == ""
    assert max(map(len, lines)) <= 105


def test_the_command(capsys):
    with pytest.raises(RuntimeError) as error:
        tn.ones(2, requires_grad=True).mul(2).backward()
    command = str(error.value).splitlines()[-1].split("explain  python -m tinynet ")[1]
    assert main(command.split()) == 0
    assert capsys.readouterr().out.startswith("# backward on a tensor with several elements")
    assert main(["explain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(topics())
    assert main(["explain", "inplace-save"]) == 2
    assert "Did you mean inplace-saved?" in capsys.readouterr().err
