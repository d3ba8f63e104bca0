"""The list of public programs, and how the losses are compared (`python -m tests.programs`)."""

import json

from tests.programs import __main__ as command
from tests.programs.__main__ import ANSWERS, HERE, Answers, compare, listed
from tests.programs.comparison import differs, verdict

FALLING = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5]


def test_each_program_of_the_list_has_an_answer_of_pytorch():
    programs = listed(HERE / "programs.toml")
    answers = json.loads(ANSWERS.read_text("utf-8"))
    assert {p.name for p in programs} == set(answers)
    assert len(programs) >= 150 and len({p.repository for p in programs}) >= 30
    assert all(answer["status"] != "error" for answer in answers.values())


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


def test_a_run_that_was_cut_off_is_continued(tmp_path, monkeypatch, capsys):
    programs = listed(HERE / "programs.toml")[:3]
    good, bad = ({"status": s, "error": "", "series": {}, "seconds": None} for s in ("ok", "error"))
    answers, file = {p.name: good for p in programs}, tmp_path / "results.json"
    ran = []

    def run(program, *_):
        ran.append(program)
        return good if len(ran) > 1 else bad

    monkeypatch.setattr(command, "run", run)
    assert compare(programs[:2], answers, Answers(file), None, 1) == 1
    assert "1 of 2 run as on PyTorch; 1 failed" in capsys.readouterr().out
    assert compare(programs, answers, Answers(file), None, 1) == 0
    assert ran == [*programs[:2], programs[0], programs[2]]  # what failed, and what is new
    assert json.loads(file.read_text("utf-8")) == answers
