"""The benchmarks without their opponents: that they run, and what they write. No times."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from benchmarks import large, messages, models, results, scaling
from benchmarks.floor import FLOORS, Floor
from benchmarks.race import Race, Side
from benchmarks.tables import Table
from benchmarks.workloads import BY_NAME, ROWS, Training
from tests.tools.rounding import near

LARGE = {"batch=512", "width=1024", "depth=64", "sequence=512"}


@pytest.mark.parametrize("name", sorted({*BY_NAME} - LARGE - {"gpt2", "resnet18"}))
def test_a_workload_trains(name):
    training = Training(tn, BY_NAME[name])
    before = training.weights()
    losses = [training.step().item() for _ in range(2)]
    assert np.isfinite(losses).all()
    assert any((training.weights()[k] != before[k]).any() for k in before)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_compiled_steps_have_the_losses_of_eager_ones(name):
    eager, compiled = Training(tn, BY_NAME[name]), Training(tn, BY_NAME[name], "numpy")
    compiled.start(eager.initial)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tn.compiler.CompileWarning)
        assert [compiled.step().item() for _ in range(4)] == [eager.step().item() for _ in range(4)]


@pytest.mark.parametrize("name", FLOORS)
def test_steps_by_hand_compute_the_same(name):
    by_hand, ours = Floor(tn, BY_NAME[name]), Training(tn, BY_NAME[name])
    by_hand.start(ours.initial)
    roundings = 2 * 4 * 2 * (784 + 128 + 64)  # the layers' and the batch's sums in four steps
    for _ in range(4):
        assert float(by_hand.step()) == near(ours.step().item(), roundings)


@pytest.mark.parametrize("name", messages.CASES)
def test_operations_run_without_the_lines_for_messages(name):
    for run in messages.CASES[name]():
        run()


def test_large_models_train_in_small():
    model = models.gpt(tn, 7, 4, 1, 6, 2, tied=True)
    assert [name for name, p in model.named_parameters() if p.shape == (7, 6)] == ["token.weight"]
    assert model(tn.zeros(2, 4, dtype=tn.int64)).shape == (2, 4, 7)
    resnet = models.resnet18(tn)  # PyTorch's, but for its classes: 11,689,512 - 990 * 513
    assert sum(p.numel() for p in resnet.parameters()) == 11_181_642
    assert [row.name for row in large.LARGE] == ["gpt2", "resnet18"]


def test_every_aim_of_the_project_has_a_workload():
    assert [row.name for row in ROWS if not row.name.count("=")] == [
        "chain200", "mlp_small", "mlp_small_adamw", "mlp_mnist", "mlp_wide_adamw", "embed_maxnorm",
        "lstm_small", "lstm_medium", "gpt_micro", "gpt_small", "lenet", "resnet_tiny",
    ]  # fmt: skip
    assert all(max(axis.values) == 64 * min(axis.values) for axis in scaling.AXES)


def test_the_exponent_of_a_power():
    assert scaling.slope([1, 4, 16], [5.0, 40.0, 320.0]) == pytest.approx(1.5)


def test_a_table(capsys):
    table = Table("Speeds", ["what", "µs", "ratio"])
    table.add("small", 0.123456, 2)
    table.add("large", 12345.6, None)
    assert table.markdown() == (
        "**Speeds**\n\n| what | µs | ratio |\n|---|---:|---:|\n"
        "| small | 0.123 | 2 |\n| large | 12346 | - |\n"
    )
    assert capsys.readouterr().out.strip() == table.markdown().strip()


def test_notes_stand_below_a_table():
    table = Table("Speeds", ["what"], notes=["small: left out"])
    table.add("large")
    assert table.markdown().endswith("| large |\n\n- small: left out\n")


def test_sides_take_turns():
    with Race(("tinynet", "compiled"), 1) as race:
        found = race.run(BY_NAME["mlp_small"], 2)
    assert found.us("compiled") and found.us("jax") is None
    assert found.faster("compiled", "tinynet") and found.faster("torch") is None


def test_a_side_that_does_not_run_is_left_out():
    race = Race((), 1)
    race.leave_out("jax", RuntimeError("ModuleNotFoundError: No module named 'jax'\nmore"))
    assert race.notes == ["JAX jit is left out: ModuleNotFoundError: No module named 'jax'"]
    with pytest.raises(RuntimeError, match="broken"):
        race.leave_out("tinynet", RuntimeError("broken"))


def test_a_process_that_has_ended_is_an_error_of_its_side():
    side = Side("tinynet", 1)
    side.process.kill()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="its process has ended"):
            side("make", "mlp_small")
    side.close()


def test_an_unknown_workload_is_named():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--workloads", "mlp_smal"],
        cwd=Path(__file__).parents[2], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2 and "no workload is called 'mlp_smal'" in done.stderr


def test_a_new_measurement_replaces_its_own_tables(tmp_path):
    first, other = Table("Speeds", ["what", "µs"], about="a machine"), Table("Sizes", ["what"])
    first.add("small", 1.5)
    other.about = "a machine"
    results.save([first, other], tmp_path)
    again = Table("Speeds", ["what", "µs"], about="another machine")
    again.add("small", 0.5)
    results.save([again], tmp_path)
    assert [(t.title, t.about) for t in results.saved(tmp_path)] == [
        ("Speeds", "another machine"),
        ("Sizes", "a machine"),
    ]
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert text.startswith("# Measured\n\nanother machine\n\n**Speeds**") and "1.5" not in text
    assert "a machine\n\n**Sizes**" in text
