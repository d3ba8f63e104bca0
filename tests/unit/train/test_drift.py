"""What has changed since a run is noticed, and a run is repeated from its folder alone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet.data import TensorDataset
from tinynet.train import ChangedWarning, UsageError, evaluate_run, resume, run
from tinynet.train.cli import main
from tinynet.train.config.user_code import traced
from tinynet.train.diagnose.changes import differences, fingerprint

from .test_resume import same
from .test_runner import own_model

NET = """
    from layers import hidden
    from tinynet import nn

    class Net(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Flatten(), nn.Linear(64, 16), hidden(), nn.Linear(16, 10))
"""
LAYERS = """
    from tinynet import nn

    def hidden():
        return nn.ReLU()
"""
SETS = """
    import tinynet as tn
    from tinynet.data import TensorDataset

    SHIFT = 0

    def sets(train: bool = True):
        x = tn.arange(64 * 128).reshape(128, 64).float().sin() + SHIFT
        return TensorDataset(x, tn.arange(128) % 10)
"""
FILES = {"net": NET, "layers": LAYERS, "sets": SETS}


@pytest.fixture
def config(digits):
    return own_model(digits).replace('"Digits"', '"./sets.py:sets"')


@pytest.fixture
def folder(write, config):
    return run(write(config, **FILES), quiet=True).folder.resolve()


def edit(tmp_path, name, before, after):
    text = (tmp_path / name).read_text()
    assert before in text
    (tmp_path / name).write_text(text.replace(before, after))


# ---- copies ----


def test_own_files_and_what_they_import_are_in_the_run_folder(folder, tmp_path):
    copies = sorted((folder / "sources").iterdir())
    assert [copy.name for copy in copies] == ["layers.py", "net.py", "sets.py"]
    for copy in copies:
        assert copy.read_bytes() == (tmp_path / copy.name).read_bytes()
    record = json.loads((folder / "run.json").read_text())
    assert record["sources"]["sources/layers.py"] == str(tmp_path / "layers.py")
    assert {"config.toml", "sources/net.py"} <= {*record["files"]}
    assert record["data"]["training"]["inputs"]["dtype"] == "float32"


def test_no_sources_without_own_files(write, digits):
    assert not (run(write(digits), quiet=True).folder / "sources").exists()


def test_imports_are_traced(tmp_path):
    for name, text in {
        "net.py": "import helper, numpy, os, space.deep\nfrom pkg import mod\nimport tinynet.nn",
        "helper.py": "def f():\n    from other import late",
        "pkg/__init__.py": "from . import inside",
        "pkg/inside.py": "from .mod import x",
        "pkg/mod.py": "x = 1",
        "pkg/unused.py": "",
        "space/deep.py": "",
        "elsewhere/other.py": "late = 1",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = traced([tmp_path / "net.py"], [], [tmp_path / "elsewhere"])
    names = [path.relative_to(tmp_path).as_posix() for path in found]
    assert names == [
        *("elsewhere/other.py", "helper.py", "net.py", "pkg/__init__.py", "pkg/inside.py"),
        *("pkg/mod.py", "space/deep.py"),
    ]
    assert traced([], ["pkg.mod"], [tmp_path]) == [tmp_path / "pkg/__init__.py", *found[4:6]]


def test_a_run_is_repeated_from_its_folder_alone_on_another_path(write, config, tmp_path):
    write(config, **FILES)
    home = tmp_path / "home"
    home.mkdir()
    for path in [*tmp_path.glob("*.py"), tmp_path / "digits.toml"]:
        path.rename(home / path.name)
    first = run(home / "digits.toml", out=tmp_path / "runs", quiet=True)
    moved = tmp_path / "another place"
    shutil.move(first.folder, moved)
    shutil.rmtree(home)
    script = (
        "import sys; from tinynet.train import run; "
        "print(run(sys.argv[1], out=sys.argv[2], quiet=True).folder)"
    )
    away = tmp_path / "away"
    away.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script, moved / "config.toml", tmp_path / "again"],
        cwd=away,
        env={**os.environ, "PYTHONPATH": str(Path(tn.__file__).parents[1]), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    again = Path(done.stdout.strip())
    same(again, moved)
    assert (again / "sources" / "net.py").read_bytes() == (moved / "sources/net.py").read_bytes()
    with pytest.warns(ChangedWarning, match=r"net\.py is gone; its copy .* is used"):
        assert evaluate_run(moved, quiet=True).metrics == first.metrics
    with pytest.warns(ChangedWarning, match="is gone"):
        resume(moved, {"run.epochs": 3}, quiet=True)


def test_the_stored_config_repeats_the_run_though_files_have_changed(folder, tmp_path):
    edit(tmp_path, "layers.py", "nn.ReLU()", "nn.Tanh()")
    again = run(folder / "config.toml", quiet=True)
    same(again.folder, folder)


# ---- noticed ----


def test_a_changed_source_file_is_named(folder, tmp_path, capsys):
    before = evaluate_run(folder, quiet=True).metrics
    capsys.readouterr()
    edit(tmp_path, "net.py", "hidden()", "nn.Tanh()")
    with pytest.warns(ChangedWarning) as caught:
        after = evaluate_run(folder)
    (warning,) = caught
    assert f"{tmp_path}/net.py has changed since the run" in str(warning.message)
    assert "the recorded metrics: test accuracy" in str(warning.message)
    assert after.metrics != before
    new, recorded = capsys.readouterr().out.splitlines()
    assert new.startswith("test accuracy") and recorded.endswith("(recorded when it was trained)")
    with pytest.warns(ChangedWarning, match=r"net\.py has changed"):
        evaluate_run(folder, json=True)
    assert json.loads(capsys.readouterr().out)["recorded"] == before
    for command in (["predict", str(folder)], ["export", str(folder), "w.npz"]):
        with pytest.warns(ChangedWarning, match=r"net\.py has changed"):
            assert main(command) == 0


def test_changed_data_is_named(folder, tmp_path):
    edit(tmp_path, "sets.py", "SHIFT = 0", "SHIFT = 0.5")
    changed = "the training set of .*sets.py:sets has changed since the run: its inputs are others"
    for command in (["eval"], ["predict"], ["export", "w.npz"]):
        with pytest.warns(ChangedWarning, match=changed):
            assert main([command[0], str(folder), *command[1:]]) == 0


def test_resume_refuses_what_has_changed_unless_it_is_forced(folder, tmp_path, capsys):
    edit(tmp_path, "sets.py", "SHIFT = 0", "SHIFT = 0.5")
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert main(["resume", str(folder), "epochs=3"]) == 2
    err = capsys.readouterr().err
    assert f"{tmp_path}/sets.py has changed since the run" in err
    assert "the test set of" in err and "--force resumes it" in err
    assert kept == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.warns(ChangedWarning, match="has changed"):
        assert main(["resume", str(folder), "epochs=3", "--force"]) == 0
    assert "SHIFT = 0.5" in (folder / "sources-1" / "sets.py").read_text()
    assert "SHIFT = 0\n" in (folder / "sources" / "sets.py").read_text()
    resume(folder, {"run.epochs": 4}, quiet=True)  # it goes with what there is now


def test_a_data_file_that_has_changed(write, digits, tmp_path):
    table = "\n".join(f"{row % 7},{row % 5},{row % 2}" for row in range(60))
    (tmp_path / "data.csv").write_text(f"a,b,label\n{table}\n")
    config = digits.replace(
        '"Digits"', '"CSV"\npath = "data.csv"\ntarget = "label"\nclassify = true'
    )
    config = config.replace("sizes = [64, 16, 10]", "sizes = [2, 4, 2]")
    folder = run(write(config), quiet=True).folder
    evaluate_run(folder, quiet=True)
    edit(tmp_path, "data.csv", "\n3,3,1\n", "\n3,9,1\n")
    with pytest.warns(ChangedWarning, match="its inputs are others"):
        evaluate_run(folder, quiet=True)
    with pytest.raises(UsageError, match="has changed since the run"):
        resume(folder, {"run.epochs": 3}, quiet=True)


# ---- fingerprints ----


def pairs(x, y):
    return TensorDataset(tn.tensor(x), tn.tensor(y))


def test_fingerprints_say_what_differs():
    x, y = np.ones((8, 3), np.float32), np.arange(8)
    first = fingerprint(pairs(x, y))
    assert first == json.loads(json.dumps(first))
    assert not [*differences(first, fingerprint(pairs(x, y)))]
    other = x.copy()
    other[2, 1] = 1.01
    cases = {
        "its inputs are others": pairs(other, y),
        "its targets are others": pairs(x, y[::-1].copy()),
        "its inputs are float64 [3], and were float32 [3]": pairs(x.astype(np.float64), y),
        "its inputs are float32 [2], and were float32 [3]": pairs(x[:, :2], y),
        "it has 7 examples, and had 8": pairs(x[:7], y[:7]),
    }
    for told, examples in cases.items():
        now = fingerprint(examples, first["looked_at"])
        assert any(text.startswith(told) for text in differences(first, now)), told


def test_other_roundings_are_no_change():
    x = np.linspace(0.1, 1, 24, dtype=np.float32).reshape(8, 3)
    first = fingerprint(pairs(x, np.arange(8)))
    rounded = fingerprint(pairs(np.nextafter(x, np.float32(2)), np.arange(8)))
    assert rounded["inputs"]["sha256"] != first["inputs"]["sha256"]
    assert not [*differences(first, rounded)]


def test_random_examples_are_not_compared():
    class Noisy:
        def __len__(self):
            return 8

        def __getitem__(self, row):
            return tn.tensor(np.random.default_rng().normal(size=3)), row

    first = fingerprint(Noisy())
    assert first["inputs"]["sha256"] is None and first["targets"]["sha256"]
    assert not [*differences(first, fingerprint(Noisy()))]


def test_a_data_set_may_say_what_it_is():
    class Said:
        fingerprint = "version 1"

        def __len__(self):
            return 10

    first = fingerprint(Said())
    assert first == {"examples": 10, "says": "version 1"}
    Said.fingerprint = "version 2"
    (told,) = differences(first, fingerprint(Said()))
    assert told == "its fingerprint is 'version 2', and was 'version 1'"
