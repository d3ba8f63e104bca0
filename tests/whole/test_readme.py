"""What the README shows is what happens."""

import linecache
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.site import terminal
from tinynet.train import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.S)
PROGRAMS = [text for language, text in BLOCKS if language == "python"]


def run(source, names):
    """Run a program so that messages can quote its lines."""
    linecache.cache["train.py"] = (len(source), None, source.splitlines(True), "train.py")
    exec(compile(source, "train.py", "exec"), names)
    return names


def test_the_training_loop_learns():
    names = run(PROGRAMS[0], {})
    torch, net = names["torch"], names["net"]
    test = torch.data.Digits(train=False, flatten=True)
    with torch.no_grad():
        right = (net(test.images).argmax(1) == test.labels).sum().item()
    assert right > 0.8 * len(test)


def test_the_compiled_step_learns_the_same():
    eager, static = run(PROGRAMS[0], {}), run(PROGRAMS[0], {})
    static["net"].load_state_dict(eager["net"].state_dict())
    run(PROGRAMS[2].removeprefix("@torch.compile\n"), eager)
    step = run(PROGRAMS[2], static)["step"]
    images, labels = eager["images"], eager["labels"]
    for names in (eager, static):
        names["optimizer"].state.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            assert step(images, labels).item() == eager["step"](images, labels).item()


def test_the_error_reads_as_shown():
    names = {}
    exec("import tinynet as torch", names)
    with pytest.raises(RuntimeError) as error:
        run(PROGRAMS[1], names)
    (shown,) = (text for _, text in BLOCKS if text.startswith("RuntimeError: one of"))
    shown = shown.removeprefix("RuntimeError: ").replace("inplace\noperation", "inplace operation")
    assert str(error.value).split("\n") == shown.rstrip().split("\n")


# ---- commands ----

COMMANDS = [
    re.split(r" {2,}", line.strip())[0].removeprefix("python3 run.py ").split()
    for line in README.splitlines()
    if line.startswith("    python3 run.py ")
]
OF_RUN_SCRIPT = [["check"]]  # tests/whole/test_run_script.py
SERVING = [["board", "runs"]]  # tests/unit/board/test_launch.py: it does not end by itself
SHORT = ["run.epochs=1"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder in which the README's commands find its config."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "configs", folder / "configs")
    return folder


def test_the_commands_do_what_they_say(project, monkeypatch, capsys):
    """All of them, in their order, with trainings of one epoch."""
    monkeypatch.chdir(project)
    done = []
    for command in COMMANDS:
        if command in OF_RUN_SCRIPT + SERVING:
            done.append(command[0])
            continue
        runs = sorted(Path("runs/digits_mlp").glob("*_*")) or [Path()]
        words = [str(runs[0]) if "<run>" in word else word for word in command]
        if words[0] in ("train", "sweep"):
            words += ["--set", *SHORT] if "--set" not in words else SHORT
        assert cli.main(words) == 0, (words, capsys.readouterr())
        done.append(words[0])
    assert done == ["train", "check", "check", "train", "sweep", "eval", "board"]
    cli.build_parser().parse_args(SERVING[0])
    said = capsys.readouterr().out
    assert "test accuracy" in said and len([*Path("runs/digits_mlp").glob("*_*")]) >= 2


def test_the_table_names_all_commands():
    named = re.findall(
        r"`([\w-]+) (?:[A-Z\[])", README.partition("| command |")[2].partition("\n\n")[0]
    )
    (commands,) = [a.choices for a in cli.build_parser()._actions if a.dest == "command"]
    assert set(named) == set(commands)


def test_the_config_is_one(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    (text,) = (text for language, text in BLOCKS if language == "toml")
    Path("configs/mine.toml").write_text(text, encoding="utf-8")
    assert cli.main(["check", "configs/mine.toml"]) == 0, capsys.readouterr()


# ---- installed, and beside PyTorch ----

STEP = """
import sys, tinynet as tn
net = tn.nn.Linear(3, 1)
optimizer = tn.optim.SGD(net.parameters(), lr=0.1)
before = net.weight.detach().clone()
net(tn.ones(2, 3)).square().sum().backward()
optimizer.step()
assert not tn.equal(before, net.weight)
assert len(tn.data.Digits(train=False)) > 300, "the data set is not in the package"
print(tn.__file__)
"""


def test_it_installs_as_a_package(tmp_path):
    """`pip install .`, but into a folder of its own, and without a network."""
    pytest.importorskip("hatchling", reason="builds the package: pip install hatchling")
    pytest.importorskip("pip", reason="installs the package")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--no-compile", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *offline, "--target", str(tmp_path), "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    alone = {**os.environ, "PYTHONPATH": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    step, command = ["-c", STEP], ["bin/tinynet", "list", "optimizer"]
    for arguments, shown in ((step, str(tmp_path / "tinynet")), (command, "AdamW")):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path, env=alone, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        assert shown in done.stdout


def test_the_benchmarks_say_what_they_miss():
    without = "import sys; sys.modules['torch'] = None; from benchmarks.__main__ import main; "
    done = subprocess.run(
        [sys.executable, "-c", without + "sys.exit(main())"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and not done.stdout
    assert "PyTorch, which is not installed" in done.stderr
    (pinned,) = re.findall(r'^benchmarks = \["torch==([\d.]+)"', PYPROJECT, re.M)
    assert f"pip install torch=={pinned} matplotlib" in done.stderr
    assert "with the `benchmarks` extra" in README


@pytest.mark.oracle
def test_the_benchmarks_measure_the_cases_of_the_table():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--rounds", "1"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    first = done.stdout.partition("**What messages cost**")[0]
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", first, re.M)
    shown = README.partition("| case | tinynet µs | PyTorch µs |")[2].partition("\n\n")[0]
    assert len(rows) == shown.count("\n| ") and all(float(x) > 0 for row in rows for x in row[1:])


# ---- pictures and links ----


def test_the_picture_is_of_such_a_training():
    """Its last lines are what such a training ends with; it is made by docs/site/terminal.py."""
    root = ElementTree.parse(ROOT / "docs/images/training.svg").getroot()
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "$ " + " ".join(["python3 run.py", *COMMANDS[0]])
    bar, chosen, *tested = texts[-5 - len(re.findall("test accuracy", "".join(texts))) : -3]
    assert re.fullmatch(r"epoch +25/25  loss .* val acc \d+\.\d %, lr .*", bar)
    assert re.match(r"validation accuracy \d+\.\d+ %, validation loss 0\.\d+", chosen)
    accuracy = re.match(r"test accuracy (\d+\.\d+) %, test loss 0\.\d+ \(with the last", tested[0])
    assert float(accuracy[1]) > 97
    assert [text.partition(":")[0] for text in texts[-3:]] == ["run folder", "report", "view it"]


def test_what_a_terminal_shows():
    bars = "\r\nepoch 1/2 0%\repoch 1/2 100%|#|\r\nepoch 2/2 100%|#|\r\n"
    bars += "epoch 3/3 0%\repoch 3/3 48%|# |\repoch 3/3 100%|##|\r\nend\r\n"
    expected = ["epoch 1/2 100%|#|", "epoch 2/2 100%|#|", "epoch 3/3 48%|# |", "\u22ee"]
    assert terminal.shown(bars) == [*expected, "epoch 3/3 100%|##|", "end"]
    drawn = ElementTree.fromstring(terminal.picture(["a < b", ""]))
    assert [e.text for e in drawn.iter("{http://www.w3.org/2000/svg}text")] == ["a < b", None]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "examples/README.md"])
def test_links_lead_somewhere(page):
    folder = (ROOT / page).parent
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert link.startswith("https://") or (folder / link).exists(), link
    for name in re.findall(r"`((?:docs|examples|tests|configs|tinynet)/[\w./]+)`", text):
        assert (ROOT / name).exists(), name
