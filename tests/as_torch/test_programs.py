"""The list of public programs, and how the losses are compared (`python -m tests.programs`)."""

import json

from tests.programs.__main__ import ANSWERS, lines, listed
from tests.programs.comparison import differs, verdict

FALLING = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]


def test_each_program_of_the_list_has_an_answer_of_pytorch():
    programs = listed()
    answers = json.loads(ANSWERS.read_text("utf-8"))
    assert {p.name for p in programs} == set(answers)
    assert len(programs) >= 150 and len({p.repository for p in programs}) >= 30
    assert all(answer["status"] != "error" for answer in answers.values())
    assert json.loads(lines(answers)) == answers


def test_losses_that_fall_as_pytorch_s_do_are_fine_and_others_are_not():
    assert not differs("a.py:1", [1.1, 1.0, 0.9, 0.7, 0.6, 0.6], FALLING)
    assert not differs("a.py:1", [3.0, 2.0], FALLING)  # too few for a direction
    assert "a.py:1 fell from 0.95 to 0.55" in differs("a.py:1", [1.0] * 6, FALLING)
    assert differs("a.py:1", [], FALLING) == "a.py:1 was not reached"


def test_verdicts():
    expected = {"series": {"a.py:1": FALLING}, "seconds": 1.0}
    found = {"status": "steps", "error": "", "series": {"a.py:1": FALLING}, "seconds": 1.2}
    assert verdict(found, expected) == "ok 1.20"
    assert verdict({**found, "seconds": 2.0}, expected) == "ok 2.00 SLOW"
    assert verdict({**found, "status": "error", "error": "why"}, expected) == "FAILED why"
    assert verdict({**found, "series": {}}, expected) == "DIFFERS a.py:1 was not reached"
