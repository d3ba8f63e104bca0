"""Data sets in files, named by a config."""

import ast
import os
import re
import struct
from pathlib import Path

import pytest

import tinynet as tn
from tinynet.train import ConfigError, load_config, to_toml
from tinynet.train.assemble.build import build
from tinynet.train.config.coercion import (
    MismatchError,
    accepts_paths,
    anchored,
    coerce,
    describe_type,
)
from tinynet.train.loop.splits import DataSource

ROOT = Path(__file__).parents[3]

CONFIG = """\
[data]
type = "MNIST"
root = "files"
batch_size = 4
validation = 0
flatten = true
augment = {type = "Compose", transforms = [
    {type = "RandomCrop", size = 4, padding = 1},
    {type = "RandomHorizontalFlip", p = 0.4},
]}
transform = {type = "Normalize", mean = 0.5, std = [0.25]}

[model]
type = "Linear"
in_features = 16
out_features = 10

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "SGD"
lr = 0.1
"""


def mnist_files(folder, count=6):
    folder.mkdir()
    for stem in ("train", "t10k"):
        images = struct.pack(">4I", 0x803, count, 4, 4) + bytes(range(16 * count))
        (folder / f"{stem}-images-idx3-ubyte").write_bytes(images)
        (folder / f"{stem}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2I", 0x801, count) + bytes(range(count))
        )


@pytest.fixture
def config(tmp_path, monkeypatch):
    """The path of a config in one folder, while another one is the working directory."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    mnist_files(tmp_path / "configs" / "files")
    monkeypatch.chdir(tmp_path / "elsewhere")
    path = tmp_path / "configs" / "images.toml"
    path.write_text(CONFIG)
    return path


def test_a_path_is_relative_to_the_config(config):
    parts = build(load_config(os.path.relpath(config)))
    assert (len(parts.train_set), len(parts.test_set)) == (6, 6)
    images, labels = next(iter(parts.train_batches))
    assert images.shape == (4, 16)
    assert images.dtype is tn.float32
    pipeline = repr(parts.train_set.transform)
    steps = ["ToDtype", "RandomCrop", "RandomHorizontalFlip", "Normalize", "_Flatten"]
    places = [pipeline.index(step) for step in steps]
    assert places == sorted(places)
    assert "RandomCrop" not in repr(parts.test_set.transform)


def test_a_path_of_the_command_line_is_relative_to_the_working_directory(config):
    (config.parent / "files").rename("moved")
    assert len(build(load_config(config, ["data.root=moved"])).train_set) == 6
    with pytest.raises(ConfigError, match="configs/files does not exist: it must be a folder with"):
        build(load_config(config))


def test_the_resolved_config_finds_the_files_from_anywhere(config, tmp_path):
    text = to_toml(load_config(config))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.toml").write_text(text)
    again = load_config(tmp_path / "run" / "config.toml")
    assert again.data.component.arguments["root"] == str(config.parent / "files")
    assert len(build(again).train_set) == 6


def test_a_damaged_file(config):
    path = config.parent / "files" / "t10k-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ConfigError) as caught:
        build(load_config(config))
    assert (
        str(caught.value)
        .splitlines()[0]
        .endswith(
            f"images.toml:3: data.root: MNIST refused its arguments. FormatError: {path}: "
            "expected 6 bytes after the header, for the shape [6] that it states, found 5"
        )
    )


def test_not_a_path(config):
    with pytest.raises(ConfigError, match="data.root: must be a path, got 5"):
        load_config(config, {"data.root": 5})


def test_a_mistake_in_a_transform(config):
    config.write_text(CONFIG.replace("padding = 1", "pading = 1"))
    with pytest.raises(ConfigError) as caught:
        load_config(config)
    assert "data.augment.transforms.0.pading: unknown key; did you mean 'padding'?" in str(
        caught.value
    )


def test_which_parameters_take_paths():
    path = str | os.PathLike[str]
    assert accepts_paths(path | None)
    assert accepts_paths(path | list[path])
    assert not accepts_paths(str | list[str] | None)
    assert describe_type(path | None) == "a path"
    assert describe_type(list[Path]) == "a list (each element a path)"
    assert coerce("a.csv", path) == "a.csv"
    with pytest.raises(MismatchError, match="must be a path, got 5"):
        coerce(5, path)


def test_anchored():
    folder = Path("/data/configs")
    assert anchored("/x/a.csv", folder) == "/x/a.csv"
    assert anchored(Path("a.csv"), folder) == Path("/data/configs/a.csv")
    assert anchored(["a", "../b"], folder) == ["/data/configs/a", "/data/b"]
    assert anchored(None, folder) is None
    assert anchored("~/a", folder) == os.path.expanduser("~/a")


# ---- what the trainer asks of a data set ----

ASKS = {"dataset_attribute": 1, "about": 0, "getattr": 1, "hasattr": 1}
"""The functions that ask for a member by its name, and the place of the name."""
OTHERS = {"dataset", "state_dict", "samples"}  # of subsets, of what was learned, of models


def test_every_member_that_the_trainer_asks_for_is_declared_and_documented():
    members = {name for name in vars(DataSource) if not name.startswith("_")}
    found = set()
    for file in (ROOT / "tinynet" / "train").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            function = getattr(node, "func", None)
            name = getattr(function, "attr", getattr(function, "id", ""))
            place = ASKS.get(name)
            if place is None or len(node.args) <= place:
                continue
            about = ast.unparse(node.args[0])
            if name in ("getattr", "hasattr") and "dataset" not in about and about != "examples":
                continue
            asked = node.args[place]
            found |= {asked.value} if isinstance(asked, ast.Constant) else set()
    assert {"own_split", "divided", "tokenizer", "in_order"} <= found
    assert found - OTHERS <= members
    text = (ROOT / "docs" / "howto" / "dataset.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+)", "".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)))
    assert {*listed} - {"train", "other", "state", "name", "index"} == members
