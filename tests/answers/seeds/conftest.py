"""What the tests of the seed documents share: printed output, the two warnings, the in-place story.

Each file test_00N_*.py follows one document, cell by cell, in the order of the document. `In [7]`
in a test's docstring is the cell's number there; "Text:" marks a statement of the prose.
"""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

STORY = re.compile(r"^  (saved|changed|needed|fix) +(\S.*)$", re.MULTILINE)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was printed since the last call, each memory address as `0x...`."""

    def read() -> str:
        return re.sub(r"\b0x[0-9A-Fa-f]+\b", "0x...", capsys.readouterr().out)

    return read


@pytest.fixture
def nonleaf_grad_warning() -> Callable[[], pytest.WarningsRecorder]:
    """A context in which `.grad` of a non-leaf is read: the seeds show the warning on stderr."""
    sentence = r"The \.grad attribute of a Tensor that is not a leaf Tensor is being accessed"
    return lambda: pytest.warns(UserWarning, match=sentence)


@pytest.fixture
def create_graph_warning() -> Callable[[], pytest.WarningsRecorder]:
    """A context for `backward(create_graph=True)`: the seeds show the warning on stderr."""
    return lambda: pytest.warns(UserWarning, match="create_graph=True")


@pytest.fixture
def line_of(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Where the running test has this code, as `file.py:line in function`."""

    def find(code: str) -> str:
        lines, first = inspect.getsourcelines(request.function)
        hits = [n for n, line in enumerate(lines, first) if line.split("  #")[0].strip() == code]
        assert len(hits) == 1, f"{code!r} must stand on one line of the test, not on {hits}"
        return f"{Path(request.path).name}:{hits[0]} in {request.function.__name__}"

    return find


@pytest.fixture
def inplace_story(line_of: Callable[[str], str]) -> Callable[..., None]:
    """Checks the error about a value that was saved for backward and changed since.

    PyTorch's sentence comes first and whole; the lines after it name the code that saved the value,
    every write since, and the backward that needed it, and say what to do. Tools find the same on
    the exception.
    """

    def check(
        error: BaseException, sentence: str, *, saved: str, changed: list[str], needed: str
    ) -> None:
        message = str(error)
        assert message.startswith(sentence)
        assert "anomaly detection" not in message
        story: dict[str, list[str]] = {"saved": [], "changed": [], "needed": [], "fix": []}
        for label, rest in STORY.findall(message):
            story[label].append(rest)
        expected = {"saved": [saved], "changed": changed, "needed": [needed]}
        for label, codes in expected.items():
            assert len(story[label]) == len(codes), f"{label} lines in {message}"
            for rest, code in zip(story[label], codes, strict=True):
                assert line_of(code) in rest
                assert code in rest
        assert len(story["fix"]) == 1
        assert error.saved_at.place == line_of(saved)
        assert isinstance(error.changed_by, list)
        assert [where.place for where in error.changed_by] == [line_of(code) for code in changed]
        assert error.hint == story["fix"][0]

    return check
