"""Texts with classes: files, columns, tokens, and what is wrong."""

import pickle

import pytest

import tinynet as tn
from tinynet.data import FormatError, LabelledTexts, Tokenizer, WordTokenizer


@pytest.fixture
def root(tmp_path):
    for name, texts in {"ham": ["See you at noon.", "At noon?"], "spam": ["Win money!"]}.items():
        (tmp_path / name).mkdir()
        for number, text in enumerate(texts):
            (tmp_path / name / f"{number}.txt").write_text(text, encoding="utf-8")
        (tmp_path / name / "notes.md").write_text("not a text")
    return tmp_path


def table(tmp_path, text):
    path = tmp_path / "mails.csv"
    path.write_text(text, encoding="utf-8")
    return path


# ---- words ----


def test_words():
    words = WordTokenizer.train("The cat, the dog; the end.", vocab_size=5)
    assert words.vocabulary == ["the", "cat", ",", "dog"]
    assert words.vocab_size == 5
    assert words.encode("THE bird, the dog") == [0, 4, 2, 0, 3]
    assert words.decode([0, 4, 2]) == "the <unk> ,"
    assert words.encode("") == []
    more = WordTokenizer(["a"], special_tokens=["<|end|>"])
    assert more.encode("a<|end|>b") == [0, 2, 1]
    assert more.encode("<|end|>", specials=False) == [1] * 5


def test_words_in_a_file(tmp_path):
    words = WordTokenizer.train("über Größe 東京", special_tokens=["<|end|>"])
    words.save(tmp_path / "words.json")
    again = Tokenizer.load(tmp_path / "words.json")
    assert again.is_same(words)
    assert again.encode("größe") == words.encode("Größe")
    (tmp_path / "words.json").write_text(
        words.to_bytes().decode().replace('"unknown": "<unk>"', '"unknown": 3'), encoding="utf-8"
    )
    with pytest.raises(FormatError, match="an unknown token that is not a text"):
        Tokenizer.load(tmp_path / "words.json")


def test_words_that_are_none():
    with pytest.raises(ValueError, match="must hold each word once. Got 'a' twice"):
        WordTokenizer(["a", "b", "a"])
    with pytest.raises(ValueError, match="must leave room for words"):
        WordTokenizer.train("a b", vocab_size=1)


# ---- texts ----


def test_a_folder(root):
    texts = LabelledTexts(root, length=4)
    assert texts.classes == ["ham", "spam"]
    assert texts.targets == [0, 0, 1]
    tokens, label = texts[1]
    assert tokens.dtype is tn.int64
    words = texts.preprocessing.tokenizer
    assert tokens.tolist() == [*(n + 1 for n in words.encode("at noon ?")), 0]
    assert (texts[0][0] > 0).all()  # cut off
    assert label.dtype is tn.int64
    assert texts.location(2) == str(root / "spam" / "0.txt")
    (batch,) = tn.data.DataLoader(texts, batch_size=3)
    assert batch[0].shape == (3, 4)
    assert pickle.loads(pickle.dumps(texts))[0][0].tolist() == texts[0][0].tolist()


def test_a_table(tmp_path):
    path = table(tmp_path, 'id,mail,kind\n1,"Win,\nnow",spam\n2,See you,ham\n')
    texts = LabelledTexts(path, 5, text="mail", target="kind")
    assert texts.classes == ["ham", "spam"]
    assert texts.targets == [1, 0]
    assert texts[0][0].tolist() == [1, 2, 3, 0, 0]
    assert texts.location(1) == f"{path}, line 4"


@pytest.mark.parametrize("level", ["word", "character", "byte_pair"])
def test_levels(root, level):
    texts = LabelledTexts(root, 40, level=level, vocab_size=300)
    tokens = texts[2][0]
    words = texts.preprocessing.tokenizer
    decoded = words.decode((tokens[tokens > 0] - 1).tolist())
    assert decoded.replace(" ", "").lower() == "winmoney!"


def test_the_tokenizer_is_trained_on_the_training_part(root):
    train, test = LabelledTexts(root, 4).divided([0, 2], [1])
    words = train.preprocessing.tokenizer
    assert "win" in words.vocabulary
    assert "?" not in words.vocabulary
    assert test[0][0].tolist()[2] == words.vocab_size  # the number of unknown words, plus 1
    assert (train.targets, test.targets) == ([0, 1], [0])
    again, _ = LabelledTexts(root, 4).divided([1], [0, 2], train.preprocessing.state_dict())
    assert again[0][0].tolist() == test[0][0].tolist()
    (root / "eggs").mkdir()
    (root / "eggs" / "1.txt").write_text("x")
    with pytest.raises(ValueError, match="are eggs, ham, spam, but the model was trained for ham"):
        LabelledTexts(root, 4).divided([0], [1], train.preprocessing.state_dict())


# ---- what is wrong ----


def test_all_files_at_once(root):
    (root / "ham" / "2.txt").write_bytes(b"caf\xe9")
    (root / "spam" / "1.txt").write_text(" \n")
    with pytest.raises(FormatError) as raised:
        LabelledTexts(root)
    assert str(raised.value).splitlines() == [
        "2 mistakes",
        f"  {root / 'ham' / '2.txt'}, line 1: expected utf-8 text, found the byte 0xe9 at offset 3",
        f"  {root / 'spam' / '1.txt'}: expected a text, found none",
    ]
    (root / "eggs").mkdir()
    with pytest.raises(FileNotFoundError, match="no valid file for the classes eggs"):
        LabelledTexts(root)


def test_all_rows_at_once(tmp_path):
    path = table(tmp_path, "text,label\nWin,spam\n,ham\nYou,\n")
    with pytest.raises(FormatError) as raised:
        LabelledTexts(path)
    assert str(raised.value).splitlines() == [
        f"{path}: 2 mistakes",
        "  line 3, column 'text': expected a value, found none",
        "  line 4, column 'label': expected a value, found none",
    ]
    with pytest.raises(FormatError, match="expected a column 'mail', found the columns 'text'"):
        LabelledTexts(path, text="mail")
    with pytest.raises(FileNotFoundError):
        LabelledTexts(tmp_path / "nowhere")


@pytest.mark.parametrize("options", [{"length": 0}, {"level": "words"}, {"vocab_size": 1}])
def test_arguments_that_do_not_fit(root, options):
    with pytest.raises(ValueError, match=f"'{[*options][0]}' parameter"):
        LabelledTexts(root, **options)


def test_values_that_are_no_texts(root):
    with pytest.raises(FormatError, match="rows, row 2: expected a text, found 5"):
        LabelledTexts(root).preprocessing(["a", 5])
