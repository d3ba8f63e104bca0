"""The programs of docs/graphs.md run, and print what stands there; its pictures are there."""

import io
import linecache
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import tinynet as tn
from tinynet import board

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "graphs.md").read_text(encoding="utf-8")
BLOCKS = [text for _, text in re.findall(r"```(\w*)\n(.*?)```", PAGE, re.S)]
PAIRS = list(zip(BLOCKS[::2], BLOCKS[1::2], strict=True))


def normal(text):
    """Without times, and with single spaces: times differ, and so do widths."""
    return [
        " ".join(re.sub(r"\d+\.\d (µs|ms)", "TIME", line).split()) for line in text.splitlines()
    ]


def run(source, names):
    linecache.cache["train.py"] = (len(source), None, source.splitlines(True), "train.py")
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(source, "train.py", "exec"), names)
    return said.getvalue()


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_programs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source, shown = PAIRS[number]
    said = [line for line in normal(run(source, {})) if line]
    assert said[: len(normal(shown))] == normal(shown)


def test_the_picture_of_the_tensor_is_what_is_drawn():
    names = {}
    run(PAIRS[-1][0], names)
    a, b = names["a"], names["b"]
    loss = b.sum()
    drawn = board.draw(loss, names={"a": a}).svg()
    kept = (DOCS / "images" / "autograd.svg").read_text(encoding="utf-8")

    def texts(svg):
        return [t for t in re.findall(r">([^<>]+)</text>", svg) if ".py:" not in t]

    assert texts(drawn) == texts(kept)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    assert tn.is_grad_enabled()


def test_pictures_are_there_and_small():
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE)
    assert len(pictures) == 5
    for picture in pictures:
        assert 1_000 < (DOCS / picture).stat().st_size < 200_000
