"""Damaged and absurd configs: a clean message and exit code 2, or a config that works."""

import os
import random

import pytest

from tinynet.train.cli import main

SEED_CONFIG = """\
base = "base.toml"
without = ["ema"]

[run]
seed = 3
epochs = 2
eval_every = 1
name = "x"

[data]
type = "Digits"
batch_size = 64
drop_last = true

[model]
type = "sequential"
layers = [
  {type = "Flatten"},
  {type = "Linear", in_features = 64, out_features = 16},
  {type = "ReLU"},
  {type = "Linear", in_features = 16, out_features = 10, bias = true},
]

[loss]
type = "CrossEntropyLoss"
label_smoothing = 0.1

[optimizer]
type = "SGD"
lr = 0.1
momentum = 0.9
clip_norm = 1.0
accumulate = 2

[schedule]
type = "StepLR"
step_size = 1
gamma = 0.5
per = "step"

[evaluation]
metrics = ["accuracy", "top3"]
monitor = "accuracy"
patience = 3
samples = 2
"""
BASE = """\
ema.decay = 0.9
optimizer.weight_decay = 1e-4
"""

# Small or beyond all memory, nothing between, so that a surviving config is tried quickly.
VALUES = (
    *("-1", "0", "1", "2", "0.5", "-0.0", "1e-3", "nan", "inf", "-inf", "1e308", "true", "false"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" + "0" * 400),
    *('""', '"x"', '"1"', '"nan"', '"../x"', '"a/b"', '"\\u0000"', '"Adam"', '"mlp"', '"Linear"'),
    *('"./x.py:Net"', '"os:system"', '"json:loads"', '":"', '"a:b:c"', '"builtins:dict"', '"é\\n"'),
    *("[]", "[[]]", "[1, [2]]", '["a"]', "[-1]", "{}", "{type = 1}", '{type = "Linear"}'),
    *("{a = {b = {c = 1}}}", "1979-05-27", "07:32:00", "0x10", "1_000", "'''a'''", "[" * 2000),
)


def mutated(text, chance):
    """The text after one to three accidents."""
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 3)):
        lines = bytes(data).split(b"\n")
        at = chance.randrange(len(data) or 1)
        line = chance.randrange(len(lines))
        match chance.randrange(9):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + chance.randint(1, 30)]
            case 2:
                data[at:at] = data[: chance.randint(1, 60)]
            case 3:
                lines[line : line + 1] = []
                data = bytearray(b"\n".join(lines))
            case 4:
                lines.insert(line, lines[chance.randrange(len(lines))])
                data = bytearray(b"\n".join(lines))
            case 5:
                chance.shuffle(lines)
                data = bytearray(b"\n".join(lines))
            case _:
                key, equals, _ = lines[line].partition(b" = ")
                if equals:
                    lines[line] = key + equals + chance.choice(VALUES).encode()
                data = bytearray(b"\n".join(lines))
    return bytes(data)


def attack(count, seed, folder, capsys):
    """The number of configs that were refused; all others must work."""
    chance = random.Random(seed)
    (folder / "base.toml").write_text(BASE)
    path = folder / "digits.toml"
    refused = 0
    for number in range(count):
        data = mutated(SEED_CONFIG, chance)
        path.write_bytes(data)
        code = main(["check", "digits.toml"])
        out, err = capsys.readouterr()
        story = f"number {number}:\n{data.decode(errors='replace')}\n{out}\n{err}"
        assert "Traceback" not in err, story
        if code == 0:
            assert out.endswith("no problems found; nothing was written\n"), story
        elif code == 1:  # nothing is wrong with it but that its numbers leave all bounds
            assert "stopped before the weights were changed" in err, story
        else:
            assert code == 2, story
            assert err.startswith(("digits.toml", "base.toml")), story
            refused += 1
        assert sorted(os.listdir(folder)) == ["base.toml", "digits.toml"], story
    return refused


def test_the_config_itself_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "digits.toml").write_text(SEED_CONFIG)
    assert main(["check", "digits.toml"]) == 0


@pytest.mark.filterwarnings("ignore")  # users see warnings; here only errors count
def test_damaged_configs_give_a_clean_message(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert attack(150, 0, tmp_path, capsys) > 90


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(1, 5))
def test_2000_damaged_configs_give_a_clean_message(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert attack(500, seed, tmp_path, capsys) > 300
