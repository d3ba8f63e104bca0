"""Configs: what they resolve to, and how their mistakes are told."""

import dataclasses
import os
import sys
import tomllib

import pytest

from tinynet import nn, optim
from tinynet.train import ConfigError, load_config, to_toml
from tinynet.train.assemble.build import build
from tinynet.train.config.sections import SECTIONS, field_docs
from tinynet.train.config.values import Value, as_tree, read_values
from tinynet.train.models import mlp
from tinynet.train.study.run_group import resolved_text


@pytest.fixture
def mistakes(write, tmp_path):
    """The mistakes of a config, one string each; nothing may have been written."""

    def find(config, overrides=(), **modules):
        path = write(config, **modules)
        before = {*os.listdir(tmp_path)}
        with pytest.raises(ConfigError) as caught:
            build(load_config(path, overrides))
        assert {*os.listdir(tmp_path)} - before <= {"__pycache__"}
        *lines, last = str(caught.value).splitlines()
        count = len(caught.value.problems)
        assert last == f"{count} mistake{'s' * (count > 1)}; nothing was written."
        return lines

    return find


# ---- what a config resolves to ----


def test_values_and_their_origins(write, digits):
    config = load_config(write(digits), ["optimizer.lr=3e-4", "run.name=5"])
    assert config.run.seed == 3
    assert config.run.name == "5"
    assert config.data.batch_size == 57
    assert config.data.shuffle is True
    assert config.model.component.target is mlp
    assert config.model.component.arguments == {"sizes": [64, 16, 10]}
    assert config.optimizer.component.target is optim.SGD
    assert config.optimizer.component.arguments == {"lr": 3e-4, "momentum": 0.9}
    assert config.loss.component.target is nn.CrossEntropyLoss
    assert config.schedule is None
    assert str(config.origin("run.seed")) == "digits.toml:2"
    assert str(config.origin("optimizer.momentum")) == "digits.toml:19"
    assert str(config.origin("optimizer.lr")) == "command line"
    assert str(config.origin("data.shuffle")) == "default"


def test_the_name_of_a_run_is_that_of_its_config(write, digits):
    assert load_config(write(digits)).run.name == "digits"


def test_a_config_cannot_be_changed(write, digits):
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_config(write(digits)).run.seed = 1


def test_a_schedule(write, digits):
    extra = '[schedule]\ntype = "StepLR"\nstep_size = 2\nper = "step"\n'
    config = load_config(write(digits + extra))
    assert config.schedule.per == "step"
    assert config.schedule.component.target is optim.lr_scheduler.StepLR
    assert config.schedule.component.arguments == {"step_size": 2}


def test_layers_inside_a_model(write, digits):
    layers = (
        'type = "sequential"\nlayers = [\n'
        '  {type = "Flatten"},\n  {type = "Linear", in_features = 64, out_features = 10},\n]'
    )
    config = load_config(write(digits.replace('type = "mlp"\nsizes = [64, 16, 10]', layers)))
    model = build(config).model
    assert [type(layer) for layer in model] == [nn.Flatten, nn.Linear]
    assert str(config.origin("model.layers.1.in_features")) == "digits.toml:13"
    assert 'layers = [{type = "Flatten", start_dim = 1, ' in to_toml(config)


def test_every_key_is_documented():
    for section in SECTIONS.values():
        assert section.__doc__
        fields = {field.name for field in dataclasses.fields(section)}
        assert set(field_docs(section)) == fields
        assert all(doc.endswith(".") for doc in field_docs(section).values())


def test_overrides_can_be_a_mapping(write, digits):
    config = load_config(write(digits), {"optimizer.lr": 1, "model.sizes": [64, 10]})
    assert config.optimizer.component.arguments["lr"] == 1.0
    assert str(config.origin("model.sizes")) == "overrides"


# ---- the config in full ----


def test_the_resolved_config_resolves_to_the_same(write, digits, tmp_path):
    extra = '[schedule]\ntype = "CosineAnnealingLR"\nT_max = 7\n'
    config = load_config(write(digits + extra), ["optimizer.clip_norm=2", 'run.out="a b"'])
    text = to_toml(config)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.toml").write_text(text)
    again = load_config(tmp_path / "elsewhere" / "config.toml")
    for section in SECTIONS:
        one, two = getattr(config, section), getattr(again, section)
        if hasattr(one, "component"):
            assert one.component.target is two.component.target
            assert one.component.written.items() <= two.component.written.items()
            one = dataclasses.replace(one, component=two.component)
        assert one == two
    assert to_toml(again).count("\n") == text.count("\n")


NESTED = {"run.init_skip": ["a  # b", "c = d"], "run.path": ["x\u2028y"], "run.seed": 5}


def test_a_stored_config_reads_back_as_its_values(write, digits):
    config = load_config(write(digits), NESTED)
    values = config.values()
    assert values["run", "init_skip"].value == ["a  # b", "c = d"]
    assert values["run", "seed"].origin == "overrides"
    assert values["data", "batch_size"].origin == "digits.toml:7"
    assert values["evaluation", "metrics"] == Value("None", "default", is_toml=False)
    assert read_values(to_toml(config)) == values
    assert as_tree(values) == tomllib.loads(to_toml(config))


def test_a_damaged_line_of_a_stored_config_is_left_out(write, digits):
    config = load_config(write(digits), NESTED)
    whole = to_toml(config)
    for text in (whole.replace("seed = 5", "seed = \ufffd"), whole.replace("seed = 5", "seed")):
        assert read_values(text) == {k: v for k, v in config.values().items() if k[1] != "seed"}


def test_the_text_of_a_config_without_origins_keeps_every_string(write, digits):
    config = write(digits.replace("[run]", '[run]\ninit_skip = ["a  # b"]'))
    assert tomllib.loads(resolved_text(config, []))["run"]["init_skip"] == ["a  # b"]


def test_the_resolved_config_shows_origins(write, digits):
    lines = to_toml(load_config(write(digits), ["optimizer.lr=1"])).splitlines()
    found = {line.split(" = ")[0]: line.split("  # ") for line in lines if " = " in line}
    assert found["seed"][-1] == "digits.toml:2"
    assert found["lr"][0].rstrip() == "lr = 1.0"
    assert found["lr"][-1] == "command line"
    assert found["activation"][-1] == "default"


def test_the_users_own_files_are_found_from_anywhere(write, digits, tmp_path):
    own = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"').replace(
        '"CrossEntropyLoss"', '"my_losses:Loss"'
    )
    config = load_config(
        write(
            own,
            net="from tinynet import nn\nclass Net(nn.Linear):\n"
            "    def __init__(self): super().__init__(64, 10)",
            my_losses="from tinynet import nn\nclass Loss(nn.CrossEntropyLoss): pass",
        )
    )
    assert config.model.component.type == f"{tmp_path / 'net.py'}:Net"
    assert config.run.path == (str(tmp_path),)
    elsewhere = tmp_path / "runs" / "x"
    elsewhere.mkdir(parents=True)
    (elsewhere / "config.toml").write_text(to_toml(config))
    os.chdir(elsewhere)
    sys.modules.pop("my_losses")
    again = load_config("config.toml")
    assert again.model.component.target.__name__ == "Net"
    assert again.run.path == (str(tmp_path), str(elsewhere))
    sys.modules.pop("my_losses")


# ---- mistakes ----


def test_all_mistakes_at_once_in_the_order_of_the_file(mistakes, digits):
    text = (
        digits.replace("epochs = 2", 'epochs = "ten"')
        .replace("batch_size", "batchsize")
        .replace('"mlp"', '"mpl"')
        .replace("momentum", "momentun")
    )
    found = mistakes(text + "[optimiser]\nlr = 1\n", ["optimizer.lr=fast", "run"])
    starts = [
        "digits.toml:3: run.epochs: must be an integer, got the string 'ten'. The number of passes",
        "digits.toml:7: data.batchsize: unknown key; did you mean 'batch_size'? Digits takes:",
        "digits.toml:10: model.type: there is no 'mpl'; did you mean 'mlp'? There are: cnn,",
        "digits.toml:19: optimizer.momentun: unknown key; did you mean 'momentum'? SGD takes: lr,",
        "digits.toml:20: optimiser: unknown section; did you mean 'optimizer'? There are: run,",
        "command line: --set needs KEY=VALUE, got 'run'",
        "command line: optimizer.lr: must be a number, got the string 'fast'",
    ]
    assert [one[: len(start)] for one, start in zip(found, starts, strict=True)] == starts


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('lr = 0.1', 'lr = "1e-3"', "18: optimizer.lr: must be a number, got the string '1e-3' ("),
        ("seed = 3", "seed = -1", "2: run.seed: must be from 0 to 2**63 - 1, got -1. The seed of"),
        ("epochs = 2", "epochs = 0", "3: run.epochs: must be at least 1, got 0."),
        ("seed = 3", 'name = "a/b"', "2: run.name: must be a name for a folder, without slashes"),
        ("seed = 3", "sed = 3", "2: run.sed: unknown key; did you mean 'seed'? [run] has: name, "),
        ("sizes = [64, 16, 10]", "", "9: model.sizes: is missing; it must be a list (each"),
        ("sizes = [64, 16, 10]", "sizes = [64, true]", "11: model.sizes: element 1 must be an int"),
        ('type = "mlp"', "", "9: model: type is missing; it can be: cnn, mlp, sequential, "),
        ('type = "mlp"', "type = 5", "10: model.type: must be a string, got 5"),
        ('type = "mlp"', 'type = "mlp"\nactivation = "rleu"', "11: model.activation: must be one"),
        ('type = "Digits"', 'type = "Digits"\ntrain = true', "7: data.train: is set by the"),
        ("[loss]", "[loss.x]", "13: loss: type is missing; it can be: "),
        ("[run]\nseed = 3\nepochs = 2", "run = 5", "1: run: must be a table [run], got 5"),
    ],
)  # fmt: skip
def test_a_mistake(mistakes, digits, old, new, message):
    found = mistakes(digits.replace(old, new))
    assert any(line.startswith(f"digits.toml:{message}") for line in found), found


@pytest.mark.parametrize("section", ["data", "model", "loss", "optimizer"])
def test_a_missing_section(mistakes, digits, section):
    start = digits.index(f"[{section}]")
    rest = digits.find("\n[", start)
    found = mistakes(digits[:start] + ("" if rest < 0 else digits[rest:]))
    (line,) = found
    assert line.startswith(f"digits.toml: {section}: section [{section}] is missing; its type can ")
    assert line.count(",") < 15
    assert f"more (tinynet list {section})" in line or section == "loss"


@pytest.mark.parametrize("section", ["data", "model", "loss", "optimizer"])
def test_a_mistyped_section_is_told_once(mistakes, digits, section):
    (line,) = mistakes(digits.replace(f"[{section}]", f"[{section}x]"))
    assert f": {section}x: unknown section; did you mean '{section}'? There are: " in line


def test_an_empty_config(mistakes):
    assert len(mistakes("")) == 4


def test_a_mistake_inside_a_layer(mistakes, digits):
    layers = (
        'type = "sequential"\nlayers = [\n'
        '  {type = "Linear", in_features = 64, out_featurs = 10},\n  {type = "ReLu"},\n]'
    )
    found = mistakes(digits.replace('type = "mlp"\nsizes = [64, 16, 10]', layers))
    assert [line.split("; ")[0] for line in found] == [
        "digits.toml:12: model.layers.0.out_featurs: unknown key",
        "digits.toml:12: model.layers.0.out_features: is missing",
        "digits.toml:13: model.layers.1.type: there is no 'ReLu'",
    ]


def test_an_argument_that_the_constructor_refuses(mistakes, digits):
    (line,) = mistakes(digits.replace("momentum = 0.9", "nesterov = true"))
    assert line.startswith("digits.toml:19: optimizer.nesterov: SGD refused its arguments. ")
    assert "Nesterov" in line


def test_the_users_constructor_fails(mistakes, digits, tmp_path):
    own = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    lines = mistakes(own, net="class Net:\n    def __init__(self):\n        self.x = 1 / 0\n")
    assert lines[0] == f"digits.toml:10: model: {tmp_path / 'net.py'}:Net failed"
    assert lines[2].strip() == "self.x = 1 / 0"
    assert lines[-1] == "  ZeroDivisionError: division by zero"


def test_the_wrong_kind_of_thing(mistakes, digits):
    own = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    (line,) = mistakes(own, net="class Net:\n    pass")
    assert line.startswith("digits.toml:10: model: must give an nn.Module, gave ")


def test_a_reference_to_something_that_cannot_be_called(mistakes, digits):
    own = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    (line,) = mistakes(own, net="Net = 5")
    assert line.endswith("is 5, which cannot be called")


def test_the_users_syntax_error_is_told_with_the_other_mistakes(mistakes, digits):
    own = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    lines = mistakes(own.replace("epochs", "epoch"), net="class Net(:")
    assert lines[0].startswith("digits.toml:3: run.epoch: unknown key")
    assert lines[1] == "digits.toml:10: model.type: importing ./net.py failed"
    assert lines[-1].strip().startswith("SyntaxError")


def test_an_empty_test_set(mistakes, digits):
    own = digits.replace('"Digits"', '"./few.py:Few"')
    few = "class Few(list):\n    def __init__(self): super().__init__([(1, 2)] * 2)"
    (line,) = mistakes(own, few=few)
    assert line == "digits.toml:6: data: the test set is empty"
