"""What the README shows is what happens."""

import linecache
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.site import terminal
from tinynet.train import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
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
OF_RUN_SCRIPT = [["check"]]  # tests/test_run_script.py
SERVING = [["board", "runs"]]  # tests/board/test_launch.py: it does not end by itself
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
        r"`(\w+) (?:[A-Z\[])", README.partition("| command |")[2].partition("\n\n")[0]
    )
    (commands,) = [a.choices for a in cli.build_parser()._actions if a.dest == "command"]
    assert set(named) == set(commands)


def test_the_config_is_one(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    (text,) = (text for language, text in BLOCKS if language == "toml")
    Path("configs/mine.toml").write_text(text, encoding="utf-8")
    assert cli.main(["check", "configs/mine.toml"]) == 0, capsys.readouterr()


# ---- pictures and links ----


def test_the_picture_is_of_such_a_training():
    """Its last lines are what such a training ends with; it is made by docs/site/terminal.py."""
    root = ElementTree.parse(ROOT / "docs/images/training.svg").getroot()
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "$ " + " ".join(["python3 run.py", *COMMANDS[0]])
    assert re.fullmatch(r"epoch +25/25 100%\|.* test acc \d+\.\d %, lr .*", texts[-4])
    accuracy = re.fullmatch(r"test accuracy (\d+\.\d+) %, test loss 0\.\d+", texts[-3])
    assert float(accuracy[1]) > 97
    assert texts[-2].startswith("run folder: ") and texts[-1].startswith("look at it: ")


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
