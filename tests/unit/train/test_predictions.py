"""Every shipped config, and every command that takes its run: an answer, or a refusal in words."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet.data.readers.image_encoding import Framing
from tinynet.train import load_run, run
from tinynet.train.cli import main

from .conftest import Killed
from .shipped import CONFIGS

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (the extra 'images')")

IMAGES = {"digits_cnn", "digits_mlp", "digits_vae", "fashion_cnn", "fashion_mlp", "clothes"}
IMAGES |= {"residual", "parity"}
LANGUAGE = {"text_gpt", "text_lstm"}
GENERATIVE = {"digits_gan", "digits_vae", *LANGUAGE}
NAMES = [path.stem for path in CONFIGS]


@pytest.fixture(scope="session")
def short_run(short_run):
    """Returns the folder of a short run of a shipped config."""
    return lambda name: short_run(name).folder


@pytest.fixture
def answer(capsys, monkeypatch):
    """Runs a command; returns its exit code and its output, which is never a traceback."""

    def call(*words, stdin=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = main([*map(str, words)])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return code, printed.out, printed.err

    return call


@pytest.fixture(scope="session")
def three(tmp_path_factory):
    """A drawing of a 3, as people make one: dark on light, with a wide margin."""
    folder = tmp_path_factory.mktemp("drawn")
    ink = np.zeros((90, 120), bool)
    ink[15:24, 40:80] = ink[40:49, 50:80] = ink[66:75, 40:80] = ink[15:75, 71:80] = True
    gray = np.where(ink, 0, 255).astype(np.uint8)
    alpha = np.stack([np.zeros_like(gray)] * 3 + [255 - gray], -1)
    pictures = {
        "gray": Image.fromarray(gray),
        "color": Image.fromarray(np.stack([gray, gray, np.full_like(gray, 255)], -1)),
        "transparent": Image.fromarray(alpha, "RGBA"),
        "white_on_black": Image.fromarray(255 - gray),
        "palette": Image.fromarray(gray).convert("P"),
        "deep": Image.fromarray(gray.astype(np.uint16) * 257),
    }
    for name, picture in pictures.items():
        picture.save(folder / f"{name}.png")
    Image.fromarray(gray).save(folder / "photo.jpg")
    return folder


@pytest.fixture(scope="session")
def bad_files(tmp_path_factory, three):
    folder = tmp_path_factory.mktemp("bad")
    (folder / "README.md").write_text("# A title\n\nAnd a text.\n")
    (folder / "broken.png").write_bytes((three / "gray.png").read_bytes()[:60])
    (folder / "empty.png").write_bytes(b"")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    (folder / "pointer.png").write_text(pointer)
    (folder / "nothing").mkdir()
    return folder


# ---- predict ----


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_test_set(name, short_run, answer):
    code, out, err = answer("predict", short_run(name), "--count", 2, "--json")
    if name == "digits_gan":
        assert code == 2 and len(err.splitlines()) == 1
        assert f"To generate some: tinynet generate {short_run(name)}" in err
        return
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [row["example"] for row in rows] == [0, 1]
    keys = {"class", "probability", "target"}
    if name in LANGUAGE:
        keys = {"text", "target_text"}
    elif name == "words_skipgram":
        keys = {"word", "nearest"}
    elif name == "digits_vae":
        keys = {"images", "mean", "log_variance", "difference"}
    assert all({*row} >= keys for row in rows)
    code, out, _ = answer("predict", short_run(name), "--count", 2)
    assert code == 0 and len(out.splitlines()) == 2
    if name in LANGUAGE:
        assert re.fullmatch(r"""0: (['"]).*\1, should be (['"]).*\2""", out.splitlines()[0])


@pytest.mark.parametrize("name", sorted(IMAGES))
def test_drawings_of_any_kind(name, short_run, answer, three):
    code, out, _ = answer("predict", short_run(name), three, "--json")
    rows = {Path(row["file"]).stem: row for row in map(json.loads, out.splitlines())}
    assert code == 0 and len(rows) == 7
    side = 28 if name in ("fashion_cnn", "fashion_mlp", "clothes") else 8
    inverted = "inverted (the training images are light on dark)"
    for kind, row in rows.items():
        assert f"made {side} x {side} gray" in row["conversion"]
        assert (inverted in row["conversion"]) == (kind != "white_on_black")
        assert ("transparency removed" in row["conversion"]) == (kind == "transparent")
    said = "class" if name != "digits_vae" else "images"
    same = [rows[kind][said] for kind in ("gray", "transparent", "deep", "palette")]
    assert all(np.allclose(one, same[0], atol=0.5) for one in same)
    code, out, _ = answer("predict", short_run(name), three / "gray.png")
    (line,) = out.splitlines()
    assert code == 0 and line.endswith(f"gray.png: {rows['gray']['conversion']}")
    code, out, _ = answer("predict", short_run(name), "-", stdin=f"{three / 'gray.png'}\n")
    assert code == 0 and out.endswith(f"  {rows['gray']['conversion']}\n")


@pytest.mark.parametrize("invert", [False, True])
def test_an_image_of_the_data_set_is_predicted_as_in_it(invert, short_run, tmp_path):
    """Enlarged, and dark on light or not: the conversion gives back the original."""
    digits = tn.data.Digits(train=False).images.numpy()[:20]
    trained = load_run(short_run("digits_cnn"))
    for number, digit in enumerate(digits):
        values = np.rint((1 - digit[0] if invert else digit[0]) * 255).astype(np.uint8)
        path = tmp_path / f"{number:02}.png"
        Image.fromarray(values).resize((160, 160), Image.Resampling.NEAREST).save(path)
        found, text = trained.images(path)
        np.testing.assert_allclose(found, digit, atol=0.5 / 255 + 1e-6)  # bytes, in float32
        assert ("inverted" in text) == invert


def test_images_of_the_data_set_keep_their_predictions(short_run, answer):
    folder = short_run("clothes")
    samples = load_run(folder).parts.test_set.samples[:5]
    _, out, _ = answer("predict", folder, *[path for path, _ in samples], "--json")
    _, expected, _ = answer("predict", folder, "--count", 5, "--json")
    pairs = zip(out.splitlines(), expected.splitlines(), strict=True)
    for row, other in ((json.loads(a), json.loads(b)) for a, b in pairs):
        assert "conversion" not in row
        assert (row["class"], row["probability"]) == (other["class"], other["probability"])


def test_framing():
    digits = tn.data.Digits(train=False).images.numpy()[:100]
    assert Framing.of(digits) == Framing((8, 8), 0.0, 1.0)
    assert Framing.of(1 - digits) == Framing((8, 8), 1.0, 1.0)
    padded = np.pad(digits, ((0, 0), (0, 0), (4, 4), (4, 4)))
    framing = Framing.of(padded)
    assert framing == Framing((16, 16), 0.0, 0.5)
    small, done = framing.framed(digits[0], (16, 16))
    assert done == ["with a wider margin"] and small.shape == (1, 16, 16)
    assert Framing.of([small]).extent == 0.5
    noise = np.random.default_rng(0).random((20, 1, 8, 8))
    assert Framing.of(noise).background is None
    assert Framing.of(np.zeros((3, 3, 4, 6))) == Framing((4, 6))
    blank, _ = Framing((8, 8), 0.0, 1.0).framed(np.zeros((1, 30, 20), np.float32), (8, 8))
    assert blank.tolist() == np.zeros((1, 8, 8)).tolist()
    thin = np.zeros((1, 800, 800), np.float32)
    thin[:, 10:790, 400:403] = 1
    line, _ = Framing((8, 8), 0.0, 1.0).framed(thin, (8, 8))
    assert line.max() == 1  # it would fade to 3 %


WRONG = ["README.md", "broken.png", "empty.png", "pointer.png", "nothing", "missing.png"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_inputs_are_refused_in_a_line(name, wrong, short_run, answer, bad_files):
    path = bad_files / wrong
    code, out, err = answer("predict", short_run(name), path)
    if wrong == "README.md" and name in LANGUAGE | {"words_skipgram"}:
        assert code in (0, 1)  # a text: it is continued, and its words are looked up
        return
    assert code in (1, 2)
    (line,) = (out + err).splitlines()
    if name == "digits_gan":
        assert "tinynet generate" in line
        return
    assert str(path) in line
    assert "the model takes " in line or "with no file that ends in" in line
    for reason, file in {"is empty": "empty.png", "Git LFS pointer": "pointer.png"}.items():
        assert (reason in line) == (wrong == file)


def test_points(short_run, answer, tmp_path):
    folder = short_run("spiral")
    np.savetxt(tmp_path / "points.csv", [[0.5, -0.2], [-0.1, 0.3]], delimiter=",")
    _, expected, _ = answer("predict", folder, tmp_path / "points.csv")
    assert len(expected.splitlines()) == 2
    assert answer("predict", folder, "0.5,-0.2", "-0.1,0.3")[1] == expected
    assert answer("predict", folder, "-", stdin="0.5,-0.2\n[-0.1, 0.3]\n")[1] == expected
    first = expected.splitlines()[0]
    assert answer("predict", folder, "0.5", "-0.2") == (0, first + "\n", "")
    code, out, _ = answer("predict", folder, "0.5,-0.2,1")
    assert code == 1 and "0.5,-0.2,1 has 3 numbers, and the model takes 2" in out
    code, out, err = answer("predict", folder, "one,two")
    assert code == 2 and "the model takes 2 numbers per example" in err


def test_rows_of_a_table(short_run, answer, tmp_path):
    folder = short_run("breast_cancer")
    table = Path(load_run(folder).config.data.component.arguments["path"])
    header, first = table.read_text().splitlines()[:2]
    (tmp_path / "one.csv").write_text(f"{header}\n{first}\n")
    names, values = header.split(","), first.split(",")
    raw = {n: v for n, v in zip(names, values, strict=True) if n != "diagnosis"}
    expected = answer("predict", folder, tmp_path / "one.csv")
    assert expected[0] == 0 and re.match(r"0: (malignant|benign) \(", expected[1])
    assert answer("predict", folder, json.dumps(raw)) == expected
    assert answer("predict", folder, ",".join(raw.values())) == expected


def test_words(short_run, answer, tmp_path):
    folder = short_run("words_skipgram")
    code, out, _ = answer("predict", folder, "self", "Name", "selff", "--json")
    first, second, unknown = map(json.loads, out.splitlines())
    assert code == 1 and first["word"] == "self" and second["word"] == "name"
    assert len(first["nearest"]) == 8 and "self" not in first["nearest"]
    assert re.search(
        r"'selff' is not among the [\d,]+ words .*did you mean 'self'", unknown["error"]
    )
    (tmp_path / "words.txt").write_text("self, name.\n")
    _, out, _ = answer("predict", folder, tmp_path / "words.txt")
    assert [line.split(":")[1] for line in out.splitlines()] == [" self", " name"]
    assert answer("predict", folder, "-", stdin="self\n")[1] == out.splitlines()[0] + "\n"


@pytest.mark.parametrize("name", sorted(LANGUAGE))
def test_texts(name, short_run, answer, tmp_path):
    folder, short = short_run(name), ["--length", "5", "--seed", "3"]
    code, text, _ = answer("predict", folder, "--prompt", "def ", *short)
    assert code == 0 and text.startswith("def ") and len(text) == 10
    assert answer("predict", folder, "def ", *short)[1].startswith("0: def")
    (tmp_path / "start.txt").write_text("def ")
    _, out, _ = answer("predict", folder, tmp_path / "start.txt", *short, "--json")
    assert json.loads(out)["text"] == text.removesuffix("\n")
    code, _, err = answer("predict", folder, "--prompt", "")
    assert code == 2 and "--prompt is empty" in err and len(err.splitlines()) == 1
    code, out, _ = answer("predict", folder, "def ", "--temperature", "-1")
    assert code == 1 and "'temperature' parameter of generate must be >= 0" in out


# ---- generate ----


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_generate(name, short_run, answer, tmp_path):
    folder = short_run(name)
    code, out, err = answer("generate", folder, "--length", 20)
    if name not in GENERATIVE:
        assert code == 2 and len(err.splitlines()) == 1
        assert f"For predictions: tinynet predict {folder}" in err
        return
    file = folder / ("samples.txt" if name in LANGUAGE else "samples.png")
    assert code == 0 and str(file) in out.splitlines()[-1]
    if name in LANGUAGE:
        assert file.read_text() in out and len(file.read_text()) == 21
        return
    with Image.open(file) as picture:
        assert picture.size == (8 * 33 + 1, 8 * 33 + 1)
    assert answer("generate", folder, tmp_path / "few.npy", "--count", 3)[0] == 0
    few = np.load(tmp_path / "few.npy")
    assert few.shape == (3, 1, 8, 8)
    code, _, err = answer("generate", folder, tmp_path / "few.npy")
    assert code == 2 and "few.npy already exists; --force replaces it" in err
    assert answer("generate", folder, tmp_path / "few.npy", "--count", 3, "--force")[0] == 0
    assert np.array_equal(np.load(tmp_path / "few.npy"), few)  # of the same seed
    code, _, err = answer("generate", folder, tmp_path / "few.jpg")
    assert code == 2 and "few.jpg must end in .png or .npy" in err


# ---- the other commands ----


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_other_commands(name, short_run, answer, tmp_path):
    folder = short_run(name)
    commands = {
        "eval": ["eval", folder, "--json"],
        "explain": ["explain", folder],
        "report": ["report", folder],
        "weights": ["export", folder, tmp_path / "weights.npz"],
        "show": ["show", folder / "config.toml"],
        "graph": ["graph", folder / "config.toml"],
        "model": ["export", folder, tmp_path / "model.onnx"],
    }
    for command, words in commands.items():
        code, out, err = answer(*words)
        refused = command == "model" and len(err.splitlines()) == 1 and "not exported" in err
        assert code == 0 or refused, (command, out, err)
        if command == "eval":
            assert all(np.isfinite([*json.loads(out)["test"].values()]))
    assert all(tensor.numel() for tensor in tn.load(tmp_path / "weights.npz").values())


def test_a_run_that_was_stopped_within_its_first_epoch(write, digits, dies, answer):
    path = write(digits)
    dies(3)
    with pytest.raises(Killed):
        run(path, {"run.save_every_steps": 2}, quiet=True)
    (folder,) = Path("runs/digits").iterdir()
    code, out, _ = answer("eval", folder)
    assert code == 0 and out.endswith("(364 examples, step 2, within epoch 1)\n")
    assert answer("export", folder, "w.npz")[1].endswith("from step 2, within epoch 1\n")
    (folder / "checkpoint.npz").unlink()
    code, _, err = answer("eval", folder)
    assert code == 2 and "has no weights yet: no epoch was completed" in err and "resume" in err
