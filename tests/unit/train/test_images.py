"""Folders of images: parts, normalization, resuming, predictions, exports, and broken files."""

import io
import json
import shutil

import numpy as np
import pytest

import tinynet as tn
from tinynet import exchange
from tinynet.data import FormatError, ImageFolder
from tinynet.train import ConfigError, UsageError, load_config, load_run, run
from tinynet.train.assemble.build import build
from tinynet.train.cli import main
from tinynet.train.run.runner import evaluate_run

from .conftest import Killed
from .test_runner import weights

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (the extra 'images')")

CONFIG = """\
[run]
epochs = 2

[data]
type = "ImageFolder"
root = "pets"
mode = "L"
standardize = true
batch_size = 8
test_split = "stratified"
test_fraction = 0.25
validation = 0
transform = [
  {type = "Resize", size = 10},
  {type = "CenterCrop", size = 8},
]
train_transform = [
  {type = "RandomResizedCrop", size = 8, scale = [0.6, 1.0]},
  {type = "RandomHorizontalFlip"},
]

[model]
type = "sequential"
layers = [{type = "Flatten"}, {type = "Linear", in_features = 64, out_features = 2}]

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "Adam"
lr = 0.05
"""


def write_images(root, count=12):
    """Cats are bright at the top, dogs at the bottom; the sizes differ."""
    random = np.random.default_rng(0)
    for name, top in (("cat", True), ("dog", False)):
        (root / name).mkdir(parents=True)
        for number in range(count):
            height, width = 10 + number % 3, 12
            pixels = random.integers(0, 100, (height, width))
            rows = slice(None, height // 2) if top else slice(height // 2, None)
            pixels[rows] += 120
            Image.fromarray(pixels.astype(np.uint8)).save(root / name / f"{number:02}.png")


@pytest.fixture
def config(tmp_path):
    write_images(tmp_path / "pets")
    (tmp_path / "pets.toml").write_text(CONFIG)
    return tmp_path / "pets.toml"


@pytest.fixture
def folder(config, tmp_path):
    return run(config, out=tmp_path / "runs", quiet=True).folder


def parts_of(config, **values):
    return build(load_config(config, {f"data.{key}": value for key, value in values.items()}))


def paths(dataset):
    return {path for path, _ in dataset.samples}


# ---- parts ----


def test_only_training_images_are_changed_at_random(config):
    parts = parts_of(config, validation=0)
    train, test = parts.train_set, parts.test_set
    assert (len(train), len(test)) == (18, 6)
    assert paths(train).isdisjoint(paths(test))
    assert train.targets.count(0) == 9
    assert train.classes == test.classes == ["cat", "dog"]
    assert test[0][0].tolist() == test[0][0].tolist()
    assert train[0][0].tolist() != train[0][0].tolist()
    assert train[0][0].shape == test[0][0].shape == (1, 8, 8)
    plain = parts_of(config, train_transform=[]).train_set
    assert plain[0][0].shape[2] == 12  # as in the file


def test_augmentation_comes_before_the_transform(config):
    config.write_text(
        CONFIG[: CONFIG.index("train_transform")] + CONFIG[CONFIG.index("\n[model") :]
    )
    parts = parts_of(config, augment={"type": "Pad", "padding": 5})
    plain = ImageFolder(config.parent / "pets", mode="L")
    path, _ = parts.train_set.samples[0]
    image = plain[[path for path, _ in plain.samples].index(path)][0]
    T = tn.data.transforms
    steps = T.Pad(5), T.Resize(10), T.CenterCrop(8)
    expected = (T.Compose(steps)(image) - mean_of(parts)) / std_of(parts)
    assert np.abs((parts.train_set[0][0] - expected).numpy()).max() < 1e-6


def mean_of(parts):
    return parts.train_set.preprocessing.mean[0]


def std_of(parts):
    return parts.train_set.preprocessing.std[0]


def test_normalization_is_fitted_on_the_training_part_without_augmentation(config):
    parts = parts_of(config)
    T = tn.data.transforms
    plain = ImageFolder(
        config.parent / "pets", T.Compose([T.Resize(10), T.CenterCrop(8)]), mode="L"
    )
    chosen = paths(parts.train_set)
    pixels = [plain[i][0].numpy() for i, (path, _) in enumerate(plain.samples) if path in chosen]
    assert mean_of(parts) == pytest.approx(np.mean(pixels, dtype=np.float64), rel=1e-12)
    assert std_of(parts) == pytest.approx(np.std(pixels, dtype=np.float64), rel=1e-12)
    # Images for testing do not count.
    for path in paths(parts.test_set):
        Image.new("L", (12, 12), 255).save(path)
    again = parts_of(config)
    assert (mean_of(again), std_of(again)) == (mean_of(parts), std_of(parts))


def test_channels_have_their_own_means(tmp_path):
    (tmp_path / "x").mkdir()
    Image.new("RGB", (4, 4), (255, 51, 0)).save(tmp_path / "x" / "1.png")
    Image.new("RGB", (4, 4), (255, 153, 0)).save(tmp_path / "x" / "2.png")
    train, _ = ImageFolder(tmp_path, standardize=True).divided([0, 1], [])
    assert train.preprocessing.mean == pytest.approx([1, 0.4, 0])
    assert train.preprocessing.std == pytest.approx([1, 0.2, 1])  # 1 where all are equal
    assert train[0][0][:, 0, 0].tolist() == pytest.approx([0, -1, 0])


def test_test_images_of_their_own(config, tmp_path):
    write_images(tmp_path / "more", count=2)
    config.write_text(CONFIG.replace('test_split = "stratified"\n', 'test_root = "more"\n'))
    parts = build(load_config(config))
    assert [len(part) for part in parts.sets.values()] == [24, 4]
    assert all(str(tmp_path / "more") in path for path in paths(parts.test_set))
    with pytest.raises(ConfigError, match="has its own test part, so there is nothing to split"):
        parts_of(config, test_split="grouped", test_by="x")
    (tmp_path / "more" / "cow").mkdir()
    with pytest.raises(ConfigError, match=r"of the classes in .* but it has the classes cow\."):
        build(load_config(config))


def test_balanced_weights(config):
    for path in sorted((config.parent / "pets" / "dog").iterdir())[4:]:
        path.unlink()
    weights = parts_of(config).loss.weight
    assert weights is None
    overrides = {"loss.class_weights": "balanced", "data.validation": 0}
    loss = build(load_config(config, overrides)).loss
    assert loss.weight.tolist() == pytest.approx([12 / (2 * 9), 12 / (2 * 3)])


# ---- reproducible ----


def test_equal_seeds_and_any_number_of_workers(config, tmp_path):
    first = run(config, out=tmp_path / "a", quiet=True)
    threads = run(config, {"data.workers": 2}, out=tmp_path / "b", quiet=True)
    assert weights(threads.model) == weights(first.model)
    other = run(config, {"run.seed": 1}, out=tmp_path / "c", quiet=True)
    assert weights(other.model) != weights(first.model)


def test_resumed_to_the_bit(config, tmp_path, dies):
    whole = run(config, {"run.save_every_steps": 1}, out=tmp_path / "a", quiet=True)
    revive = dies(3)
    with pytest.raises(Killed):
        run(config, {"run.save_every_steps": 1}, out=tmp_path / "b", quiet=True)
    revive()
    (stopped,) = (tmp_path / "b" / "pets").iterdir()
    assert main(["resume", str(stopped)]) == 0
    assert weights(load_run(stopped).model) == weights(whole.model)


# ---- predictions ----


def test_predicted_as_evaluated(config, folder):
    trained = load_run(folder)
    test = trained.parts.test_set
    names = [path for path, _ in test.samples]
    inputs = trained.inputs_of(names)
    assert inputs.tolist() == tn.stack([image for image, _ in test]).tolist()
    answers = trained.predict(names)
    assert {answer["label"] for answer in answers} <= {"cat", "dog"}
    figures = evaluate_run(folder, quiet=True).metrics
    right = [a["label"] in path for a, path in zip(answers, names, strict=True)]
    assert np.mean(right) == figures["accuracy"]


def test_paths_and_arrays_without_the_data(config, folder, tmp_path):
    path = config.parent / "pets" / "dog" / "03.png"
    shutil.copy(path, tmp_path / "mine.png")
    (expected,) = load_run(folder).predict([path])
    shutil.rmtree(config.parent / "pets")
    trained = load_run(folder, data=False)
    picture = Image.open(tmp_path / "mine.png")
    pixels = np.asarray(picture)
    same = [
        tmp_path / "mine.png",
        str(tmp_path / "mine.png"),
        picture,
        picture.convert("RGB"),
        pixels,
        pixels[:, :, None],
        pixels.tolist(),
        pixels / np.float32(255),
        tn.tensor(pixels)[None],
    ]
    assert trained.predict(same) == [expected] * len(same)
    assert trained.classes == ["cat", "dog"]
    for wrong, message in [
        (np.zeros(5), r"image 1: expected a shape \(height, width\)"),
        (np.full((9, 9), 300), "image 1: expected integers from 0 to 255"),
        (np.zeros((9, 9, 3)), "image 1: expected 1 channel, because the mode is L"),
        ("text.png", "text.png cannot be read"),
    ]:
        with pytest.raises((FormatError, UsageError), match=message):
            trained.predict([wrong])


def test_files_folders_and_lines(config, folder, tmp_path, capsys, monkeypatch):
    pets = config.parent / "pets"
    (tmp_path / "broken.png").write_bytes(b"no image")
    names = [pets / "cat", tmp_path / "broken.png", pets / "dog" / "00.png", tmp_path / "none.png"]
    assert main(["predict", str(folder), *map(str, names), "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["example"] for row in found] == list(range(15))
    files = [str(file) for file in sorted((pets / "cat").iterdir())]
    assert [row["file"] for row in found] == [*files, *map(str, names[1:])]
    good = [row["file"] for row in found if "error" not in row]
    expected = load_run(folder).predict(good)
    assert [row["label"] for row in found if "error" not in row] == [r["label"] for r in expected]
    assert "expected a complete image" in found[12]["error"]
    assert "none.png cannot be read: No such file" in found[14]["error"]
    text = f"{pets / 'cat' / '00.png'}\n{tmp_path / 'broken.png'}\n[[0, 255], [9, 9]]\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["predict", str(folder), "-", "--json"]) == 1
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert {**first, "file": files[0]} == {**found[0]}
    assert "broken.png: expected a complete image" in second["error"]
    assert third["label"] in ("cat", "dog")
    (tmp_path / "empty").mkdir()
    assert main(["predict", str(folder), str(tmp_path / "empty")]) == 2
    assert "is a folder with no file that ends in .png" in capsys.readouterr().err


def test_the_test_set_with_names(config, folder, capsys):
    assert main(["predict", str(folder), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["target_label"] for row in rows} == {"cat", "dog"}


def test_other_classes_than_the_runs(config, folder):
    (config.parent / "pets" / "bird").mkdir()
    Image.new("L", (12, 12)).save(config.parent / "pets" / "bird" / "1.png")
    with pytest.raises(ConfigError, match=r"are the classes bird, cat, dog, but the model was tr"):
        load_run(folder)


# ---- exports ----


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".pt"])
def test_exported_weights_give_the_same_answers(folder, tmp_path, ending):
    path = tmp_path / f"weights{ending}"
    assert main(["export", str(folder), str(path)]) == 0
    loaded = {
        ".npz": exchange.load,
        ".safetensors": exchange.load_file,
        ".pt": exchange.load_pytorch,
    }[ending](path)
    trained = load_run(folder)
    inputs = trained.inputs_of([path for path, _ in trained.parts.test_set.samples])
    expected = trained.model.eval()(inputs)
    for parameter in trained.model.parameters():
        parameter.data.zero_()
    trained.model.load_state_dict(loaded)
    assert trained.model(inputs).tolist() == expected.tolist()


def test_the_exported_model_gives_the_same_answers(folder, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    assert main(["export", str(folder), str(path)]) == 0
    trained = load_run(folder)
    inputs = trained.inputs_of([path for path, _ in trained.parts.test_set.samples])
    (found,) = runtime.InferenceSession(path).run(None, {"input": inputs.numpy()})
    expected = trained.model.eval()(inputs).detach().numpy()
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


# ---- mistakes ----


def test_all_broken_files_at_once(config):
    pets = config.parent / "pets"
    whole = (pets / "cat" / "01.png").read_bytes()
    (pets / "cat" / "01.png").write_bytes(whole[:70])
    (pets / "dog" / "05.png").write_bytes(b"just text")
    (pets / "dog" / "06.png").write_bytes(b"")
    with pytest.raises(ConfigError) as raised:
        build(load_config(config))
    text = str(raised.value)
    assert "pets.toml:6: data.root: ImageFolder refused" in text
    assert "3 mistakes" in text
    for name in ("cat/01.png", "dog/05.png", "dog/06.png"):
        assert f"{pets / name}: expected a complete image that Pillow can read" in text
    (pets / "cow").mkdir()
    with pytest.raises(ConfigError) as raised:
        build(load_config(config))
    text = str(raised.value)
    assert "Found no valid file for the classes cow" in text
    assert "dog/06.png: expected a complete image" in text
    assert "--set data.root=PATH" in text
    assert "data.mode=PATH" not in text


def test_a_truncated_image_is_found_before_training(config, tmp_path):
    """With and without a pass over the training images."""
    path = config.parent / "pets" / "dog" / "05.png"
    path.write_bytes(path.read_bytes()[:80])
    for values in ({}, {"data.standardize": False}):
        with pytest.raises(ConfigError, match="dog/05.png: expected a complete image"):
            run(config, values, out=tmp_path / "runs", quiet=True)
    assert not (tmp_path / "runs").exists()


def test_sizes_that_nothing_makes_equal(config, tmp_path):
    head, tail = CONFIG.split("transform = [", 1)
    config.write_text(head + tail[tail.index("\n[model") :])
    with pytest.raises(ConfigError) as raised:
        run(config, out=tmp_path / "runs", quiet=True)
    text = str(raised.value)
    assert "16 mistakes" in text
    assert "pets/cat/01.png: expected 10 x 12 pixels (height x width), as most images" in text
    assert "found 11 x 12 pixels" in text
    assert len(build(load_config(config, {"data.size": 8})).train_set) == 18


def test_images_that_the_transforms_leave_different(config, tmp_path):
    transform = {"data.transform": [{"type": "Pad", "padding": 1}], "data.standardize": False}
    with pytest.raises(ConfigError) as raised:
        run(config, transform, out=tmp_path / "runs", quiet=True)
    assert "inputs: [1, 13, 14] float32" in str(raised.value)
    assert f"({config.parent / 'pets'}" in str(raised.value)  # where it is
    crop = {"data.transform": [{"type": "RandomCrop", "size": 40}]}
    with pytest.raises(ConfigError, match="expected an image that can be transformed, found Value"):
        build(load_config(config, crop))


def test_mistakes_in_transforms(config):
    wrong = [{"type": "Rezise", "size": 3}, {"type": "Pad", "paddding": 1}]
    with pytest.raises(ConfigError) as raised:
        load_config(config, {"data.transform": wrong})
    text = str(raised.value)
    assert "data.transform.0.type: there is no 'Rezise'; did you mean 'Resize'?" in text
    assert "data.transform.1.paddding: unknown key; did you mean 'padding'?" in text
    with pytest.raises(ConfigError, match="data.transform.0.size: .* parameter of Resize must be"):
        parts_of(config, transform=[{"type": "Resize", "size": -3}])
