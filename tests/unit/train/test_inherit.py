"""Configs on top of other configs: what is merged, what is replaced, where values came from."""

import pytest

from tinynet.train import ConfigError, load_config, to_toml
from tinynet.train.config.inheritance import read_with_bases

BASE = """\
[data]
type = "Digits"
batch_size = 64

[model]
type = "sequential"
layers = [{type = "Flatten"}, {type = "Linear", in_features = 64, out_features = 10}]

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "SGD"
lr = 0.1
momentum = 0.9
clip_norm = 1.0

[schedule]
type = "StepLR"
step_size = 3
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**texts):
        for name, text in {"base": BASE, **texts}.items():
            (tmp_path / f"{name}.toml").write_text(text)

    return write


def refusal(path="a.toml"):
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return str(caught.value).splitlines()[0]


def test_tables_merge_and_lists_are_replaced(files):
    files(a='base = "base.toml"\n[optimizer]\nlr = 0.2\n[model]\nlayers = [{type = "Flatten"}]\n')
    config = load_config("a.toml", ["optimizer.momentum=0.5"])
    assert config.optimizer.component.arguments == {"lr": 0.2, "momentum": 0.5}
    assert len(config.model.component.arguments["layers"]) == 1
    origins = {
        key: str(config.origin(key))
        for key in ("data.batch_size", "optimizer.lr", "optimizer.momentum", "model.layers.0.type")
    }
    assert origins == {
        "data.batch_size": "base.toml:3",
        "optimizer.lr": "a.toml:3",
        "optimizer.momentum": "command line",
        "model.layers.0.type": "a.toml:5",
    }
    assert "model.layers.1.type" not in config.origins
    assert config.run.name == "a"
    assert "batch_size = 64" in to_toml(config) and "# base.toml:3" in to_toml(config)


def test_another_type_replaces_the_arguments_but_not_the_keys_of_the_section(files):
    files(
        a='base = "base.toml"\n[optimizer]\ntype = "Adam"\n[model]\ntype = "mlp"\nsizes = [64, 10]'
    )
    config = load_config("a.toml")
    assert config.optimizer.component.arguments == {}
    assert config.optimizer.clip_norm == 1.0
    assert config.model.component.arguments == {"sizes": [64, 10]}


def test_the_same_type_again_merges(files):
    files(a='base = "base.toml"\noptimizer = {type = "SGD", lr = 1}')
    arguments = load_config("a.toml").optimizer.component.arguments
    assert arguments == {"lr": 1.0, "momentum": 0.9}


def test_things_are_taken_out(files):
    files(a='base = "base.toml"\nwithout = ["schedule", "optimizer.clip_norm"]\n')
    config = load_config("a.toml")
    assert config.schedule is None
    assert config.optimizer.clip_norm is None
    assert "optimizer.clip_norm" not in config.origins


def test_several_bases_and_bases_of_bases(files):
    files(
        a='base = ["b.toml", "c.toml"]\n',
        b='base = "base.toml"\nrun.seed = 1\nrun.epochs = 1\n',
        c="run.seed = 2\noptimizer.lr = 7\n",
    )
    config = load_config("a.toml")
    assert (config.run.seed, config.run.epochs) == (2, 1)
    assert config.optimizer.component.arguments["lr"] == 7.0
    assert str(config.origin("run.epochs")) == "b.toml:3"


def test_the_base_is_relative_to_its_reader_and_so_are_its_files(files, tmp_path):
    files(a='base = "shared/b.toml"\n')
    (tmp_path / "shared").mkdir()
    own = BASE.replace('"CrossEntropyLoss"', '"./own.py:Loss"')
    (tmp_path / "shared" / "b.toml").write_text(own)
    (tmp_path / "shared" / "own.py").write_text("from tinynet.nn import CrossEntropyLoss as Loss")
    config = load_config("a.toml")
    assert config.loss.component.type == f"{tmp_path / 'shared' / 'own.py'}:Loss"
    assert str(config.origin("loss.type")) == "shared/b.toml:10"


def test_a_mistake_in_the_base_is_told_with_its_line(files):
    files(a='base = "base.toml"\n', base=BASE.replace("momentum", "momentun"))
    assert refusal().startswith("base.toml:15: optimizer.momentun: unknown key; did you mean")
    files(a='base = "base.toml"\n', base="[run\n")
    assert refusal().startswith("base.toml:1: is not TOML: ")


@pytest.mark.parametrize(
    "text, message",
    [
        ('base = "bas.toml"', "a.toml:1: base: there is no file bas.toml; did you mean base.toml?"),
        ("\nbase = 5", "a.toml:2: base: must be a string or a list of strings, got 5"),
        ('base = "a\\u0000"', "a.toml:1: base: "),
        (f'base = "{"a" * 5000}"', "a.toml:1: base: "),
        ('base = "."', "a.toml:1: base: there is no file ."),
        ('base = "a.toml"', "a.toml:1: base: the files are each other's bases: a.toml -> a.toml"),
        ('without = ["x"]', "a.toml:1: without: is only for a file that has a base"),
        (
            'base = "base.toml"\nwithout = ["shedule"]',
            "a.toml:2: without: the base has no shedule; did you mean 'schedule'?",
        ),
        ('base = "base.toml"\nwithout = ["a b"]', "a.toml:2: without: 'a b' is not a key such as"),
        ('base = "base.toml"\nwithout = ["data.type.x"]', "a.toml:2: without: the base has no"),
    ],
)
def test_mistakes(files, text, message):
    files(a=text)
    assert refusal().startswith(message)


def test_a_longer_circle(files):
    files(a='base = "b.toml"', b='base = "c.toml"', c='base = "a.toml"')
    assert refusal() == (
        "c.toml:1: base: the files are each other's bases: a.toml -> b.toml -> c.toml -> a.toml"
    )


def test_two_ways_to_the_same_base_are_no_circle(files):
    files(a='base = ["b.toml", "c.toml"]', b='base = "base.toml"', c='base = "base.toml"')
    assert load_config("a.toml").run.name == "a"
    assert read_with_bases("a.toml").folders.keys() == {"a.toml", "b.toml", "c.toml", "base.toml"}
