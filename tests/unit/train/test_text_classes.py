"""A classifier of texts: trained, resumed, served and exported."""

import io
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from tinynet.data import FormatError
from tinynet.train import load_run, run
from tinynet.train.cli import main

from .conftest import Killed
from .test_runner import weights

CONFIG = """\
[run]
epochs = 4

[data]
type = "LabelledTexts"
path = "reviews"
length = 16
vocab_size = 100
test_split = "stratified"
batch_size = 8

[model]
type = "TextClassifier"
vocab_size = 100
classes = 2

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "Adam"
lr = 0.05
"""
WORDS = {"good": ["great", "lovely", "fine"], "bad": ["dull", "poor", "boring"]}


@pytest.fixture
def config(tmp_path):
    draw = random.Random(0)
    for name, words in WORDS.items():
        (tmp_path / "reviews" / name).mkdir(parents=True)
        for number in range(20):
            text = draw.choices([*words, "the", "film", "plot", "was"], k=12)
            file = tmp_path / "reviews" / name / f"{number:02}.txt"
            file.write_text(" ".join([*text, words[0]]), encoding="utf-8")
    (tmp_path / "reviews.toml").write_text(CONFIG)
    return tmp_path / "reviews.toml"


@pytest.fixture
def folder(config, tmp_path):
    return run(config, out=tmp_path / "runs", quiet=True).folder


def test_it_learns_and_answers_without_the_data(config, folder):
    trained = load_run(folder)
    files = [trained.parts.test_set.location(i) for i in range(8)]
    texts = [Path(file).read_text("utf-8") for file in files]
    inputs = trained.inputs_of(texts)
    assert inputs.tolist() == [row.tolist() for row, _ in trained.parts.test_set]
    expected = trained.predict(texts)
    assert all(answer["label"] in file for answer, file in zip(expected, files, strict=True))
    shutil.rmtree(config.parent / "reviews")
    trained = load_run(folder, data=False)
    assert trained.predict(texts) == expected
    assert trained.predict(["great!", "dull"])[0]["label"] == "good"
    with pytest.raises(FormatError, match="row 1: expected a text, found 3"):
        trained.predict([3])


def test_lines_and_files(config, folder, capsys, monkeypatch):
    lines = 'a lovely plot\n"a dull,\\nboring plot"\n"fine", great\n'
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert main(["predict", str(folder), "-", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["label"] for row in rows] == ["good", "bad", "good"]
    (config.parent / "mine.txt").write_bytes(b"\xff\xfe")
    names = [str(config.parent / "mine.txt"), str(config.parent / "reviews" / "bad")]
    assert main(["predict", str(folder), *names]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith(f"0: error: {names[0]}, line 1: expected utf-8 text")
    assert len(rest) == 20
    assert rest[0].startswith("1: bad (") and rest[0].endswith(f"  {names[1]}/00.txt")


def test_resumed_to_the_bit(config, folder, tmp_path, dies):
    revive = dies(6)
    with pytest.raises(Killed):
        run(config, {"run.save_every_steps": 1}, out=tmp_path / "b", quiet=True)
    revive()
    (stopped,) = (tmp_path / "b" / "reviews").iterdir()
    assert main(["resume", str(stopped)]) == 0
    assert weights(load_run(stopped).model) == weights(load_run(folder).model)


def test_exported(folder, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    assert main(["export", str(folder), str(tmp_path / "model.onnx")]) == 0
    trained = load_run(folder)
    inputs = trained.inputs_of(["a great plot", "dull"])
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    (found,) = session.run(None, {session.get_inputs()[0].name: inputs.numpy()})
    expected = trained.model.eval()(inputs).detach().numpy()
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
