"""The notebooks are what their sources make of them, and give out again what is stored in them."""

import re
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="needs nbclient: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="needs ipykernel: pip install nbclient ipykernel")

from notebooks import build

ROOT = Path(__file__).parents[3]
CHINESE = re.compile("[\u4e00-\u9fff]")

# Warnings of Jupyter, its event loop and its sockets are not ours; those of the code are outputs.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(params=build.SOURCES, ids=lambda source: source.stem)
def source(request):
    return request.param


def texts_of(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def test_runs_and_gives_out_what_is_stored(source):
    stored = build.stored(source, "en")
    assert build.outputs_of(build.run(build.notebook_of(source, "en"))) == build.outputs_of(stored)


@pytest.mark.parametrize("language", build.LANGUAGES)
def test_is_made_of_its_source(source, language):
    """Written anew, with the outputs of the English one, it is the same to the byte."""
    made = build.with_outputs(source, language, build.stored(source, "en"))
    assert build.text_of(made) == build.path_of(source, language).read_text(encoding="utf-8")


def test_texts_are_there_in_both_languages(source):
    kinds = [kind for kind, _ in build.cells_of(source) if kind in build.LANGUAGES]
    assert kinds == ["en", "zh"] * (len(kinds) // 2)
    english, chinese = (texts_of(build.notebook_of(source, name)) for name in build.LANGUAGES)
    assert all(CHINESE.search(text) for text in chinese)
    assert not any(CHINESE.search(text.replace("[中文]", "")) for text in english)
    for ours, theirs in zip(english, chinese, strict=True):  # the same formulas, code and headings
        for part in (r"\$\$.*?\$\$", r"^#+ ", r"`[^`]+`"):
            found = [set(re.findall(part, text, re.M | re.S)) for text in (ours, theirs)]
            assert found[0] == found[1], f"{part} in {ours!r}"


def test_has_pictures_and_nothing_of_the_machine(source):
    for language in build.LANGUAGES:
        path = build.path_of(source, language)
        text = path.read_text(encoding="utf-8")
        assert "image/svg+xml" in text and "raises-exception" in text
        assert not re.search(r"ipykernel_|\.ipynb_checkpoints|/tmp/|/home/|/root/", text)
        assert str(ROOT) not in text and str(Path.home()) not in text.replace("/root", "")
        assert path.stat().st_size < 100_000


def test_only_cells_that_say_so_fail(source):
    for cell in build.stored(source, "en").cells:
        if cell.cell_type == "code":
            failed = any(output.output_type == "error" for output in cell.outputs)
            assert failed == ("raises-exception" in cell.metadata.get("tags", []))


def test_all_are_listed():
    page = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    for source in build.SOURCES:
        for language in build.LANGUAGES:
            path = build.path_of(source, language)
            title = texts_of(build.stored(source, language))[0].splitlines()[0].removeprefix("# ")
            shown = title if language == "en" else title.split(". ", 1)[1]
            assert f"[{shown}]({path.relative_to(path.parents[1]).as_posix()})" in page
    assert {p.stem for p in ROOT.glob("notebooks/??/*.ipynb")} == {s.stem for s in build.SOURCES}


def test_comparing_sees_a_difference():
    """Times and places in pictures do not count, everything else does."""
    notebook = build.stored(build.SOURCES[0], "en")
    before = build.outputs_of(notebook)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/svg+xml" in output.get("data", {}):
                picture = output.data["image/svg+xml"]
                output.data["image/svg+xml"] = re.sub(r'x="[\d.]+"', 'x="1.0"', picture)
    assert build.outputs_of(notebook) == before
    printed = next(c for c in notebook.cells if c.get("outputs")).outputs[0]
    printed.text = printed.text.replace("7.3891", "7.3892")
    assert build.outputs_of(notebook) != before
