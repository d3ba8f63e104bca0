"""The list of public programs, and how losses are compared (`python -m tests.whole.programs`)."""

import itertools
import json
import subprocess

from tests.whole.programs import __main__ as command
from tests.whole.programs.__main__ import (
    ANSWERS,
    HERE,
    Answers,
    Program,
    Repositories,
    captured,
    compare,
    listed,
    record,
    repeated,
    run,
    step_by_step,
)
from tests.whole.programs.comparison import differs, step_verdict, verdict
from tests.whole.programs.made import training

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
    assert "not finite" in differs("a.py:1", [1.0] * 5 + [float("inf")], FALLING)
    assert not differs("a.py:1", FALLING, [1.0] * 5 + [float("inf")])


def test_verdicts():
    expected = {"series": {"a.py:1": FALLING}, "seconds": 1.0}
    found = {"status": "steps", "error": "", "series": {"a.py:1": FALLING}, "seconds": 1.2}
    assert verdict(found, expected) == "ok 1.20"
    assert verdict({**found, "seconds": 2.0}, expected) == "ok 2.00 SLOW"
    assert verdict({**found, "status": "error", "error": "why"}, expected) == "FAILED why"
    assert verdict({**found, "series": {}}, expected) == "DIFFERS a.py:1 was not reached"


def test_a_program_that_agrees_in_float64_is_the_same(monkeypatch, capsys):
    """It differs in float32 by rounding; 1e-4 in float64 is none."""
    here = {"rounds": {"": 1.1, "IN_DOUBLE": 1 + 1e-7}, "errs": {"": 1.1, "IN_DOUBLE": 1 + 1e-4}}

    def run(program, engine, repositories, limit, settings):
        loss = here[program.command]["IN_DOUBLE" if "IN_DOUBLE" in settings else ""]
        losses = {"a.py:1": [loss if engine == "tinynet" else 1.0]}
        return {"status": "steps", "error": "", "series": losses, "gradients": [], "outputs": []}

    monkeypatch.setattr(command, "run", run)
    rounds, errs = (Program("a/b", "HEAD", name, 1, 8.0, ()) for name in here)
    assert step_by_step([rounds], None, 60) == 0
    assert "rounds: ok in float64: DIFFERS a.py:1 of step 0 is 1.1" in capsys.readouterr().out
    assert step_by_step([rounds], None, 60, double=True) == 0
    assert step_by_step([rounds, errs], None, 60) == 1
    assert "1 of 2 give PyTorch's numbers, 1 of them in float64 only" in capsys.readouterr().out


def test_the_bound_grows_as_nudged_weights_do_on_pytorch():
    """Rounding that grows explains later steps, and nothing before it has grown."""

    def seen(*losses):
        series = {"a.py:1": list(losses)}
        return {"status": "steps", "error": "", "series": series, "gradients": [], "outputs": []}

    expected, nudged = seen(1.0, 1.0, 1.0), [seen(1.0, 1.01, 1.001)]
    assert step_verdict(seen(1.0, 1.0, 1.2), expected, 1e-5).startswith("DIFFERS")
    assert step_verdict(seen(1.0, 1.0, 1.2), expected, 1e-5, nudged) == "ok"
    early = step_verdict(seen(1.001, 1.0, 1.0), expected, 1e-5, nudged)
    assert early == "DIFFERS a.py:1 of step 0 is 1.001, and 1 on PyTorch"
    assert step_verdict(seen(1.0, 1.6, 1.0), expected, 1e-5, nudged).startswith("DIFFERS")


def test_a_program_that_pytorch_does_not_repeat_has_no_other_bounds(monkeypatch, capsys):
    """Nudged weights would explain any difference of one that draws numbers of its own."""
    losses = itertools.count(1)

    def run(program, engine, repositories, limit, settings):
        series = {"a.py:1": [float(next(losses))]}
        return {"status": "steps", "error": "", "series": series, "gradients": [], "outputs": []}

    monkeypatch.setattr(command, "run", run)
    assert step_by_step([Program("a/b", "HEAD", "draws", 1, 8.0, ())], None, 60) == 1
    assert "PyTorch gives other numbers each time" in capsys.readouterr().out


def test_a_program_that_pytorch_repeats_can_be_compared(monkeypatch, capsys):
    """One that ends in an error runs once."""
    ran = []

    def run(program, engine, repositories, limit, settings):
        ran.append(program.command)
        assert engine == "torch" and settings["SAME_NUMBERS"] == "1"
        status, loss = ("error", 0.0) if program.command == "errs" else ("steps", 1.0)
        losses = {"a.py:1": [loss + len(ran) * (program.command == "draws")]}
        return {"status": status, "error": "", "series": losses, "gradients": [], "outputs": []}

    monkeypatch.setattr(command, "run", run)
    same, draws, errs = (Program("a/b", "HEAD", n, 1, 8.0, ()) for n in ("same", "draws", "errs"))
    assert repeated([same], None) == 0
    assert repeated([same, draws, errs], None) == 1
    assert "1 of 3 repeat their numbers on PyTorch" in capsys.readouterr().out
    assert ran.count("draws") == 2 and ran.count("errs") == 1


def test_captured_modules_give_the_same_numbers_to_the_bit(monkeypatch, capsys):
    draws = itertools.count(1)

    def run(program, engine, repositories, limit, settings):
        assert engine == "tinynet"
        off = {"same": 0, "wrong": 1e-16 * int(settings["CAPTURED"]), "draws": next(draws)}
        found = {"status": "steps", "error": "", "gradients": [off[program.command]]}
        return found | {"series": {"a.py:1": [1.0]}, "outputs": [], "calls": [3, 2, 0]}

    monkeypatch.setattr(command, "run", run)
    same, wrong, draw = (Program("a/b", "HEAD", n, 1, 8.0, ()) for n in ("same", "wrong", "draws"))
    assert captured([same, draw], None, 60) == 0
    assert "same: ok; 3 calls replayed, 2 captured, 0 eager" in capsys.readouterr().out
    assert captured([same, wrong], None, 60) == 1
    assert "1 give the same numbers captured" in capsys.readouterr().out


def test_programs_that_end_without_a_word_are_captured_neither(tmp_path, monkeypatch, capsys):
    """Such a result has no numbers: the eager run's, the compiled one's or both."""
    (tmp_path / "work").mkdir()
    ends = {"eager": "0", "compiled": "1", "": ""}
    bare = run(
        Program("a/gone", "HEAD", "m.py", 1, 8.0, ()), "", Repositories(tmp_path, tmp_path), 9
    )
    full = {**bare, "status": "steps", "error": "", "series": {"a.py:1": [1.0]}}

    def ended(program, engine, repositories, limit, settings):
        return bare if ends[program.command] in ("", settings["CAPTURED"]) else full

    monkeypatch.setattr(command, "run", ended)
    programs = [Program("a/b", "HEAD", name, 1, 8.0, ()) for name in ends]
    assert captured(programs, None, 60) == 0
    said = capsys.readouterr().out
    assert "eager: UNKNOWN fatal: " in said and "compiled: MISSING fatal: " in said
    assert "0 give the same numbers captured" in said


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


def test_a_run_goes_on_without_a_repository_or_a_linked_folder(tmp_path, capsys):
    made, work = tmp_path / "a+there" / "repo", tmp_path / "work"
    work.mkdir()
    made.mkdir(parents=True)
    (made / "data").symlink_to("/another/machine")
    (made / "main.py").write_text("import torch\n", "utf-8")
    for line in ("init", "add .", "-c user.name=a -c user.email=a commit -m all"):
        subprocess.run(["git", *line.split()], cwd=made, check=True, capture_output=True)
    gone = [Program("a/gone", "HEAD", f"{n}.py", 1, 8.0, ()) for n in (1, 2)]
    there = Program("a/there", "HEAD", "main.py", 1, 8.0, ())
    answer = {"status": "finished", "series": {}, "seconds": None}
    answers = {p.name: answer for p in (*gone, there)}
    repositories = Repositories(tmp_path, work)
    assert compare([*gone, there], answers, Answers(None), repositories, 60) == 0
    said = capsys.readouterr().out
    assert "a/gone 1.py: MISSING fatal: " in said and "a/gone 2.py: MISSING fatal: " in said
    assert "1 of 1 run as on PyTorch; 0 failed" in said and "; 2 were not there" in said
    assert compare(gone, answers, Answers(None), repositories, 60) == 1  # nothing is shown
    assert record(gone, recorded := Answers(None), repositories) == 0 and not recorded


def repository_of(tmp_path, **modules):
    """Commit modules to a repository `a/b`; return the folder of repositories."""
    repository, work = tmp_path / "a+b" / "repo", tmp_path / "work"
    work.mkdir()
    repository.mkdir(parents=True)
    for name, text in modules.items():
        (repository / f"{name}.py").write_text(text, "utf-8")
    for line in ("init", "add .", "-c user.name=a -c user.email=a commit -m all"):
        subprocess.run(["git", *line.split()], cwd=repository, check=True, capture_output=True)
    return Repositories(tmp_path, work)


DRAWING = """
import torch
from torch import distributions as D, nn
from torch.utils import data

rates, one = torch.tensor([0.3, 0.7]), torch.ones(1)
draws = [
    D.NegativeBinomial(torch.tensor([3.0, 5.0]), rates).sample((4,)),
    D.Multinomial(5, torch.tensor([0.2, 0.3, 0.5])).sample((4,)),
    D.VonMises(rates, one).sample((4,)),
    D.LKJCholesky(3, 0.5).sample((4,)),
    D.Wishart(torch.tensor([4.0]), torch.eye(3)).sample(),
    D.OneHotCategorical(rates).sample((9,)),
    D.MultivariateNormal(torch.zeros(2), torch.eye(2)).rsample((4,)),
    nn.RReLU()(-torch.ones(9)),
    nn.FeatureAlphaDropout(0.5)(torch.ones(4, 9, 2)),
    torch.alpha_dropout(torch.ones(99), 0.5, True),
    nn.init.sparse_(torch.empty(9, 4), 0.5),
    torch.quasirandom.SobolEngine(3, scramble=True).draw(4),
    torch.tensor(list(data.WeightedRandomSampler([0.1, 0.9, 0.3], 9))),
    torch.tensor([n for n, _ in zip(data.RandomSampler(range(9), True, 10**12), "abc")]),
]
for drawn in draws:
    weight = torch.ones(drawn.numel(), requires_grad=True)
    (weight * drawn.flatten() * torch.arange(1.0, drawn.numel() + 1)).sum().backward()
"""


def test_no_number_of_a_comparison_is_the_engine_s_own(tmp_path):
    """With another seed of the engine's generator a program draws the same numbers."""
    repositories = repository_of(tmp_path, main=DRAWING)
    program = Program("a/b", "HEAD", "main.py", 99, 8.0, ())
    first, second = (
        run(program, "tinynet", repositories, 60, {"SAME_NUMBERS": "1", **seed})
        for seed in ({}, {"OTHER_SEED": "1"})
    )
    assert first["status"] == second["status"] == "finished", first["error"]
    assert first["series"] == second["series"]
    assert sum(map(len, first["series"].values())) == 14


def test_a_program_sees_its_own_modules_first(tmp_path):
    """Modules of a repository may have the names of ours."""
    names = dict.fromkeys(("made", "sync", "sampling", "launch"), "LEARNING_RATE = 0.5\n")
    repositories = repository_of(tmp_path, **names)
    setup = "import made, sync, sampling, launch\nrates = made.LEARNING_RATE, sync.LEARNING_RATE"
    setup += ", sampling.LEARNING_RATE\n"
    setup += "open('left', 'x').close()\n"  # and not the files of the run before
    code = training(f"{setup}net = nn.Linear(1, 1)", "net(torch.ones(1, 1)).sum()")
    program = Program("a/b", "HEAD", "step.py", 2, 8.0, (), code)
    for _ in range(2):
        found = run(program, "tinynet", repositories, 60)
        assert found["status"] == "steps", found["error"]
