"""The fifteen situations in which people meet autograd's rules, each from a real file.

A sketch is a program that a user would write; those that begin with "w" raise nothing, and train
nothing either. Everything below its line `# ---- says ----` is what
it must say, to the letter: the message of the error, or the warning. `mended/` has each program
done right, with the explanation that the documentation prints (`docs/site/situations.py`).
"""

import linecache
import sys
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "sketches"
SKETCHES = sorted(FOLDER.glob("*.py"))
MARK = "# ---- says ----\n"


def run(path, source):
    """Run a sketch; return what it raised, or warned of."""
    linecache.checkcache()
    code = compile(source, str(path), "exec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(code, {"__name__": "__main__"})
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "\n".join(f"{w.category.__name__}: {w.message}" for w in caught)


@pytest.mark.parametrize("path", SKETCHES, ids=lambda path: path.stem)
def test_says_exactly_this(path):
    source, _, expected = path.read_text(encoding="utf-8").partition(MARK)
    wanted = "\n".join(line.removeprefix("#").removeprefix(" ") for line in expected.splitlines())
    assert marked(run(path, source)) == marked(wanted)


def marked(text):
    """The text as it must be: from Python 3.13 on a ``for`` line has carets, before it has none."""
    if sys.version_info < (3, 13):
        return text
    return "\n".join(line for line in text.splitlines() if set(line) - {" ", "^"})


@pytest.mark.parametrize("path", SKETCHES, ids=lambda path: path.stem)
def test_the_mended_one_says_nothing(path):
    mended = FOLDER.parent / "mended" / path.name
    assert run(mended, mended.read_text(encoding="utf-8")) == ""


def test_there_is_one_for_each_situation():
    found = {path.stem[:3] for path in SKETCHES if path.stem.startswith("s")}
    assert found == {f"s{n:02}" for n in range(1, 16)}
