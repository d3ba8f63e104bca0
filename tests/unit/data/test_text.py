"""Windows of texts."""

import gzip
import os

import pytest

import tinynet as tn
from tinynet.data import (
    BPETokenizer,
    CharTokenizer,
    DataLoader,
    FormatError,
    PythonSources,
    Text,
)
from tinynet.train import ConfigError, load_config
from tinynet.train.assemble.build import build

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "letters.txt"
    file.write_text(LETTERS, encoding="utf-8")
    return file


def shown(text, index):
    return [text.tokenizer.decode(window) for window in text[index]]


def test_windows(path):
    text = Text(path, length=5, held_out=0)
    assert len(text) == 5
    assert [shown(text, i) for i in range(5)] == [
        ["abcde", "bcdef"],
        ["fghij", "ghijk"],
        ["klmno", "lmnop"],
        ["pqrst", "qrstu"],
        ["uvwxy", "vwxyz"],
    ]
    assert shown(text, -1) == ["uvwxy", "vwxyz"]
    inputs, targets = text[0]
    assert inputs.dtype is targets.dtype is tn.int64
    assert text.tokens.tolist() == text.tokenizer.encode(LETTERS)
    assert text.vocab_size == 27
    for wrong in (5, -6):
        with pytest.raises(IndexError, match=f"window {wrong} is out of range: there are 5"):
            text[wrong]


def test_the_last_window_ends_where_the_text_ends(path):
    for length in range(1, 26):
        text = Text(path, length=length, held_out=0)
        assert len(text) == 25 // length
        assert len(text[len(text) - 1][1]) == length


def test_overlapping_windows(path):
    text = Text(path, length=5, stride=2, held_out=0)
    assert len(text) == 11
    assert shown(text, 10) == ["uvwxy", "vwxyz"]
    assert shown(text, 1)[0] == "cdefg"


def test_the_end_is_held_out(path):
    options = dict(length=3, held_out=0.3, stride=1)
    train, test = Text(path, **options), Text(path, train=False, **options)
    assert train.tokenizer.decode(train.tokens) == LETTERS[:19]
    assert test.tokenizer.vocabulary == LETTERS[:19]  # nothing is learnt from what is held out
    assert test.tokens.tolist() == [19] * 7
    assert (len(train), len(test)) == (16, 2)


def test_batches_are_samples(path):
    text = Text(path, length=4, stride=3, held_out=0)
    order = [3, 0, 6]
    (batch,) = DataLoader(text, batch_size=3, sampler=order)
    for part in (0, 1):
        assert batch[part].tolist() == [text[i][part].tolist() for i in order]
    with pytest.raises(IndexError):
        list(DataLoader(text, batch_size=2, sampler=[0, len(text)]))


def test_byte_pairs(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("the cat sat on the mat. " * 50, encoding="utf-8")
    text = Text(path, length=8, level="byte_pair", vocab_size=265, held_out=0)
    assert text.vocab_size == 265
    assert isinstance(text.tokenizer, BPETokenizer)
    assert text.tokenizer.decode(text.tokens) == "the cat sat on the mat. " * 50
    assert len(text.tokens) == 501  # of 1200 characters


def test_a_tokenizer_that_is_given(path, tmp_path):
    own = CharTokenizer("zyxwvu")
    own.save(tmp_path / "own.json")
    for tokenizer in (own, tmp_path / "own.json"):
        text = Text(path, length=2, held_out=0, tokenizer=tokenizer)
        assert text.tokens.tolist() == [6] * 20 + [5, 4, 3, 2, 1, 0]
    with pytest.raises(ValueError, match="takes a 'tokenizer' or a 'vocab_size'"):
        Text(path, tokenizer=own, vocab_size=5)


def test_several_files(path, tmp_path):
    folder = tmp_path / "texts"
    (folder / "inner").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "c.md", "inner/d.txt"):
        (folder / name).write_text(name * 3, encoding="utf-8")
    packed = tmp_path / "x.txt.gz"
    packed.write_bytes(gzip.compress("größe".encode()))

    def read(paths, **options):
        text = Text(paths, length=2, held_out=0, **options)
        return text.tokenizer.decode(text.tokens)

    assert read(folder) == "a.txt" * 3 + "\n" + "b.txt" * 3
    assert read(folder, pattern="*.md") == "c.md" * 3
    assert read(str(folder), pattern="**/*.txt").endswith("\n" + "inner/d.txt" * 3)
    assert read([packed, path]) == f"größe\n{LETTERS}"
    assert read([packed, path], limit=7) == "größe\na"
    with pytest.raises(
        FileNotFoundError, match=r"texts has no file that fits the pattern '\*.rst'"
    ):
        read(folder, pattern="*.rst")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match="'path' parameter of Text must name a file"):
        read([])


def test_a_byte_order_mark_is_no_character(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert Text(path, length=1, held_out=0).tokenizer.vocabulary == "abc"


@pytest.mark.parametrize(
    "content, where, found",
    [
        (
            "größe\n".encode() * 2 + "größe".encode("latin-1"),
            "line 3",
            "the byte 0xf6 at offset 18",
        ),
        (b"a\nb\xc3", "line 2", "the byte 0xc3 at offset 3"),
        ("abc".encode("utf-16"), "line 1", "the byte 0xff at offset 0"),
        (b"\x1f\x8b\x08", "line 1", "(the file begins with 1f 8b: a gzip file)"),
    ],
)
def test_no_utf8(tmp_path, content, where, found):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        Text(path)
    assert str(caught.value).startswith(f"{path}, {where}: expected utf-8 text, found ")
    assert found in str(caught.value)


@pytest.mark.parametrize(
    "options, message",
    [
        (
            dict(length=26, held_out=0),
            "The training part of the text has 26 tokens, and one window",
        ),
        (dict(length=5, held_out=0.1, train=False), "The held-out part of the text has 2 tokens"),
        (dict(length=5, held_out=1), "The training part of the text has 0 tokens"),
        (dict(length=0), "'length' parameter of Text must be an integer >= 1. Got 0"),
        (dict(stride=-1), "'stride' parameter of Text must be an integer >= 1. Got -1"),
        (dict(held_out=1.5), "'held_out' parameter of Text must be from 0 to 1. Got 1.5"),
        (dict(level="word"), "'level' parameter of Text must be 'character' or 'byte_pair'"),
    ],
)
def test_refused(path, options, message):
    with pytest.raises(ValueError, match=message):
        Text(path, **options)


def test_the_sources_of_python():
    train, test = (PythonSources(length=64, train=part, limit=100_000) for part in (True, False))
    assert len(train.tokens) == 90_000
    assert len(test.tokens) == 10_000
    assert "import" in train.tokenizer.decode(train.tokens)
    text = PythonSources(length=16, limit=1000, held_out=0)
    first = sorted(
        name for name in os.listdir(os.path.dirname(os.__file__)) if name.endswith(".py")
    )
    with open(os.path.join(os.path.dirname(os.__file__), first[0]), encoding="utf-8") as file:
        assert file.read(100) == text.tokenizer.decode(text.tokens[:100])


CONFIG = """\
[data]
type = "Text"
path = ["letters.txt", "more.txt"]
length = 4
level = "byte_pair"
vocab_size = 256
validation = 0

[model]
type = "Embedding"
num_embeddings = 256
embedding_dim = 8

[loss]
type = "CrossEntropyLoss"

[optimizer]
type = "SGD"
lr = 0.1
"""


def test_in_a_config(path, tmp_path, monkeypatch):
    config = tmp_path / "text.toml"
    config.write_text(CONFIG)
    (tmp_path / "more.txt").write_text(LETTERS)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    parts = build(load_config(config, ["data.validation=0"]))
    assert len(parts.train_set.tokens) == 48
    inputs, targets = next(iter(parts.test_batches))
    assert inputs.shape == targets.shape == (1, 4)
    with pytest.raises(ConfigError, match="data.level: must be one of 'character', 'byte_pair'"):
        load_config(config, ["data.level=word"])
