"""The commands beside train and eval: check, show, list, explain, predict, export, board."""

import functools
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tinynet as tn
from tinynet.train import run
from tinynet.train.cli import main
from tinynet.train.commands import COMMANDS, find
from tinynet.train.config import components, reference
from tinynet.train.config.reference import KINDS, explain_key, known_keys, list_types
from tinynet.train.config.sections import SECTIONS, settings
from tinynet.train.observe.summary import size_text


@pytest.fixture
def say(capsys):
    """Runs a command and returns what it prints; the exit code must be 0."""

    def run_command(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    return run_command


@pytest.fixture
def refuse(capsys):
    """Runs a command that must end with exit code 2, and returns its message."""

    def run_command(*arguments):
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        return err

    return run_command


@pytest.fixture
def trained(write, digits):
    return run(write(digits), {"run.epochs": 1}, quiet=True).folder


# ---- the grammar ----


def test_every_command_is_documented():
    for command in map(find, COMMANDS):
        assert command.description and command.help
        assert all(one.options["help"] for one in command.arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "optimizer.lr=0.5", "seed=7"],
        ["seed=7", "optimizer.lr=0.5"],
        ["--set", "seed=7", "--set", "optimizer.lr=0.5"],
    ],
)
def test_assignments_may_stand_anywhere(write, digits, say, arguments):
    out = say("show", write(digits), *arguments)
    assert re.search(r"^lr = 0\.5 +# command line$", out, re.M)
    assert re.search(r"^seed = 7 +# command line$", out, re.M)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["show", "x.toml", "--st", "a=1"], "did you mean '--set'?"),
        (["show", "x.toml", "--lr", "1"], "(use --set KEY=VALUE for values of the config)"),
        (["eval", "x", "a=1"], "unrecognized arguments: a=1"),
        (["show", "x.toml", "y.toml"], "unrecognized arguments: y.toml"),
    ],
)
def test_mistakes_in_the_grammar(refuse, arguments, message):
    assert message in refuse(*arguments)


@pytest.mark.parametrize("key", ["optimizer.lr", "data.batch_size", "evaluation.patience"])
def test_a_key_without_its_section(write, digits, refuse, key):
    name = key.partition(".")[2]
    message = refuse("show", write(digits), f"{name}=1")
    assert f"command line: {name}: unknown section; did you mean '{key}'? There are" in message


# ---- show ----


def test_show_prints_a_config_with_the_origin_of_each_value(write, digits, say, tmp_path):
    (tmp_path / "base.toml").write_text(digits)
    write('base = "base.toml"\n[optimizer]\nlr = 0.2\n')
    out = say("show", "digits.toml", "run.epochs=3")
    found = {
        line.split(" = ")[0]: line.split("  # ")[-1] for line in out.splitlines() if "=" in line
    }
    assert (found["lr"], found["momentum"]) == ("digits.toml:3", "base.toml:19")
    assert (found["epochs"], found["nesterov"]) == ("command line", "default")
    assert sorted(os.listdir(tmp_path)) == ["base.toml", "digits.toml"]


# ---- check ----


def test_check_says_what_a_run_would_be_like_and_writes_nothing(write, digits, say, tmp_path):
    path = write(digits)
    out = say("check", path)
    assert "1,290 examples for training, 143 for validation, 364 for testing\n" in out
    assert "epoch: 23 batches and 23 steps\n" in out
    assert "inputs [57, 1, 8, 8] tinynet.float32, targets [57] tinynet.int64" in out
    row = r"^1 +Linear +\[57, 16\] tinynet.float32 +1,040 +58,368 +3.65 kB$"  # 57 x 64 x 16
    assert re.search(row, out, re.M)
    assert "forward pass of a batch: 67,488 multiply-adds, 9.58 kB of results" in out
    assert "parameters: 1,210 (1,210 trainable)" in out
    assert "weights 4.84 kB, gradients 4.84 kB, optimizer 4.84 kB" in out  # SGD's momentum
    assert out.endswith("no problems found; nothing was written\n")
    assert os.listdir(tmp_path) == [path]


def test_check_for_programs(write, digits, say):
    found = json.loads(say("check", write(digits), "--json", "optimizer.accumulate=4"))
    assert (found["batches"], found["steps"], found["parameters"]) == (23, 6, 1210)
    assert 0 < found["step_seconds"] < found["total_seconds"]
    assert found["peak_bytes"] > 64 * 16 * 4
    assert [row["kind"] for row in found["modules"]] == [
        *("Sequential", "Flatten", "Linear", "ReLU", "Linear")
    ]


def test_check_finds_what_does_not_fit(write, digits, refuse, tmp_path):
    path = write(digits)
    assert "do not fit together" in refuse("check", path, "model.sizes=[60,10]")
    assert "unknown key; did you mean 'lr'" in refuse("check", path, "optimizer.lrr=1")
    assert os.listdir(tmp_path) == [path]


def test_sizes_for_people():
    assert [size_text(n) for n in (0, 1, 999, 1000, 10**17)] == [
        "0 B",
        "1 B",
        "999 B",
        "1 kB",
        "1e+05 TB",
    ]


# ---- list and explain ----


@pytest.mark.parametrize("kind", KINDS)
def test_list_has_every_type_with_its_signature_and_first_line(kind):
    text = list_types(kind)
    for name, target in KINDS[kind].names().items():
        assert re.search(rf"^{name}\(", text, re.M)
        assert (target.__doc__ or "").strip().splitlines()[0] in text
    assert all(len(line) <= 100 or line.startswith("    ") for line in text.splitlines())


def test_list(say, refuse):
    assert say("list", "optimizer").startswith("A")
    rows = [line.split() for line in say("list").splitlines() if line]
    for kind in [*KINDS, "metrics"]:
        (count,) = (row[1] for row in rows if row[0] == kind)
        assert int(count) == len(re.findall(r"^\S+", say("list", kind), re.M))
    assert "no section 'optimiser'; did you mean 'optimizer'? Sections: data," in refuse(
        "list", "optimiser"
    )


def test_every_key_is_explained(monkeypatch):
    for module, name in [
        (components, "_classes"),
        (components, "_takes_objects_only"),
        (components, "signature_of"),
        (reference, "signature_of"),
    ]:  # for speed
        monkeypatch.setattr(module, name, functools.cache(getattr(module, name)))
    known = known_keys()
    keys = {f"{section}.{key}" for section, cls in SECTIONS.items() for key in settings(cls)}
    assert keys | SECTIONS.keys() <= {*known}
    assert all(explain_key(key) for key in known)


def test_explain(say, refuse):
    page = say("explain", "optimizer.lr")
    assert "SGD" in page and "must be given" not in page and "by default 0.001" in page
    assert "learning rate" in page
    assert say("explain", "run.seed").startswith(
        "run.seed: an integer, by default 0\n\nThe seed of all"
    )
    assert "It must be greater than 0." in say("explain", "optimizer.clip_norm")
    assert say("explain", "optimizer.SGD").startswith("SGD(lr=")
    assert "Linear(in_features, out_features" in say("explain", "Linear")
    assert "exp(loss)" in say("explain", "perplexity")
    assert "among the K largest outputs" in say("explain", "top5")
    assert say("explain", "base").startswith("base: a string or a list")
    assert "Did you mean optimizer.lr?" in refuse("explain", "optimiser.lr")
    assert "Did you mean evaluation.patience?" in refuse("explain", "evaluation.patiense")


# ---- predict ----


def test_predict_on_the_test_set(trained, say):
    rows = [json.loads(line) for line in say("predict", trained, "--json").splitlines()]
    right = sum(row["class"] == row["target"] for row in rows)
    accuracy = json.loads((trained / "run.json").read_text())["test"]["accuracy"]
    assert right / len(rows) == accuracy
    lines = say("predict", trained, "--count", 3, "--best").splitlines()
    assert len(lines) == 3
    assert re.match(r"0: \d \(\d+\.\d %\)", lines[0])


@pytest.mark.parametrize("ending", ["npy", "npz", "csv"])
def test_predict_on_a_file(trained, say, tmp_path, ending):
    images = tn.data.Digits(train=False).images.numpy()[:4]
    path = tmp_path / f"images.{ending}"
    if ending == "npy":
        np.save(path, images.astype(float))
    elif ending == "npz":
        np.savez(path, images)
    else:
        np.savetxt(path, images.reshape(4, 64), delimiter=",")
    found = [json.loads(line) for line in say("predict", trained, path, "--json").splitlines()]
    expected = [json.loads(x) for x in say("predict", trained, "--json").splitlines()[:4]]
    assert [row["class"] for row in found] == [row["class"] for row in expected]
    assert all("target" not in row for row in found)


def test_predict_one_example(trained, say, tmp_path):
    np.save(tmp_path / "one.npy", np.zeros((1, 8, 8)))
    assert len(say("predict", trained, tmp_path / "one.npy").splitlines()) == 1


def test_predict_refuses(trained, refuse, tmp_path):
    def file(name, content):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    assert "cannot be read: No such file" in refuse("predict", trained, "x.npy")
    assert "cannot be read" in refuse("predict", trained, file("a.npy", b"\x93NUMPY\x01\x00"))
    assert "cannot be read" in refuse("predict", trained, file("b.csv", b"1,2\n3,x\n"))
    np.save(tmp_path / "c.npy", np.zeros((2, 7)))
    assert "has shape [2, 7], but must have [examples, 1, 8, 8]" in refuse(
        "predict", trained, tmp_path / "c.npy"
    )
    np.savez(tmp_path / "d.npz", np.zeros(2), np.zeros(2))
    assert "holds 2 arrays" in refuse("predict", trained, tmp_path / "d.npz")
    np.save(tmp_path / "e.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "cannot be read: Object arrays" in refuse("predict", trained, tmp_path / "e.npy")
    np.save(tmp_path / "f.npy", np.array(["a"]))
    assert "not numbers" in refuse("predict", trained, tmp_path / "f.npy")
    assert "--count must be at least 1" in refuse("predict", trained, "--count", 0)
    assert "there is no run folder" in refuse("predict", "x")


def test_predict_numbers(write, digits, say):
    config = digits.replace('"Digits"', '"./line.py:Line"')
    config = config.replace('"mlp"\nsizes = [64, 16, 10]', '"mlp"\nsizes = [1, 1]')
    config = config.replace("CrossEntropyLoss", "MSELoss")
    line = """
        import tinynet as tn
        from tinynet.data import TensorDataset

        class Line(TensorDataset):
            def __init__(self):
                super().__init__(tn.linspace(-1, 1, 50).unsqueeze(1), tn.zeros(50, 1))
    """
    result = run(write(config, line=line), quiet=True)
    row = json.loads(say("predict", result.folder, "--json").splitlines()[0])
    assert row["target"] == [0.0]
    assert len(row["output"]) == 1
    assert "should be 0" in say("predict", result.folder)


# ---- export ----


def test_export(trained, say, refuse, tmp_path):
    out = say("export", trained, "weights.npz")
    assert out == "weights.npz: 4 tensors, 1,210 numbers, from epoch 1\n"
    weights = tn.load("weights.npz")
    assert [*weights] == ["1.weight", "1.bias", "3.weight", "3.bias"]
    assert "already exists; --force" in refuse("export", trained, "weights.npz")
    say("export", trained, "weights.npz", "--force")
    for name in ("weights.safetensors", "weights.pt"):
        say("export", trained, name, "--best")
    for again in (
        tn.exchange.load_file("weights.safetensors"),
        tn.exchange.load_pytorch("weights.pt"),
    ):
        assert all((again[name] == weights[name]).all() for name in weights)
    message = "must end in one of .npz, .safetensors, .pt, .onnx"
    assert message in refuse("export", trained, "weights.txt")


def test_export_of_the_model(trained, say, refuse, capsys):
    pytest.importorskip("onnx", reason="needs onnx: pip install onnx")
    assert say("export", trained, "model.onnx") == "model.onnx: 5 operations, from epoch 1\n"
    assert "already exists; --force" in refuse("export", trained, "model.onnx")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    images = np.zeros((3, *session.get_inputs()[0].shape[1:]), np.float32)
    assert session.run(None, {"input": images})[0].shape == (3, 10)
    assert main(["export", str(trained), "nowhere/model.onnx"]) == 1
    assert "nowhere/model.onnx cannot be written (No such file" in capsys.readouterr().err


# ---- graph ----


@pytest.mark.parametrize(
    "form, telling", [("text", "addmm"), ("dot", "digraph"), ("svg", "<svg"), ("pbtxt", "node {")]
)
def test_graph(write, digits, say, refuse, tmp_path, form, telling):
    path = write(digits)
    assert telling in say("graph", path, "--format", form)
    assert say("graph", path, "--format", form, "--part", "backward", "--save", "x") == ""
    assert (tmp_path / "x").stat().st_size > 100
    assert "already exists" in refuse("graph", path, "--save", "x")
    assert sorted(os.listdir(tmp_path)) == ["digits.toml", "x"]
    assert say("graph", path, "--save", f"y.{form}") == ""
    assert telling in (tmp_path / f"y.{form}").read_text()


def test_what_starts_the_program_is_no_line_of_the_users(write, digits):
    told = subprocess.run(
        [sys.executable, "-m", "tinynet", "graph", write(digits)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
    )
    assert "addmm" in told.stdout
    assert "frozen" not in told.stdout


def test_graphs_for_tensorboard(write, digits, say, refuse, tmp_path, capsys):
    path = write(digits)
    as_events = ("graph", path, "--format", "tensorboard")
    written, look = say(*as_events).splitlines()
    (folder,) = (tmp_path / "runs" / "digits").iterdir()
    assert written == (
        f"graphs: step, forward, backward, optimizer, modules; in {folder.relative_to(tmp_path)}"
    )
    assert look.startswith(f"view them: tinynet board {folder.relative_to(tmp_path)}")
    say(*as_events, "--save", "a b/graphs")
    for events in (EventAccumulator(str(folder)), EventAccumulator("a b/graphs")):
        events.Reload()
        assert {" step", "forward", "backward", "optimizer", "modules"} == {
            *events.Tags()["tensors"]
        }
        (step,) = events.Tensors(" step")
        assert b"addmm" in step.tensor_proto.string_val[0]
    assert "already exists" in refuse(*as_events, "--save", "a b/graphs")
    assert "leave out --part" in refuse(*as_events, "--part", "forward")
    assert main([*as_events, "--save", f"{path}/graphs"]) == 1  # below a file
    out, err = capsys.readouterr()
    assert out == "" and "cannot write to 'digits.toml/graphs': Not a directory" in err


# ---- board ----


def test_board_starts_tensorboard_on_the_folder(trained, monkeypatch, say, refuse):
    calls = []

    class Program:
        def __init__(self, command, **options):
            calls.append(command)

        def wait(self):
            return 0

    monkeypatch.setattr(subprocess, "Popen", Program)
    say("board")
    say("board", trained, "--port", 0, "--host", "0.0.0.0")
    start = [sys.executable, "-m", "tensorboard.main", "--logdir"]
    flags = ["--reload_multifile", "true"]
    given = ["--port", "0", "--host", "0.0.0.0"]
    assert calls == [[*start, "runs", *flags], [*start, str(trained), *flags, *given]]
    assert "There is no folder 'x'" in refuse("board", "x")
    assert "'99999' is not a port from 0 to 65535" in refuse("board", "--port", 99999)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install tensorboard" in refuse("board")


def test_show_names_every_key_of_every_section(say, write, digits):
    shown = say("show", write(digits))
    for name in ("run", "data", "model", "loss", "method", "optimizer", "evaluation"):
        table = shown.partition(f"[{name}]\n")[2].partition("\n\n")[0]
        for key in settings(SECTIONS[name]):
            assert re.search(rf"^(# )?{key} = ", table, re.M), f"{name}.{key}"
    assert "# clip_norm = None" in shown
