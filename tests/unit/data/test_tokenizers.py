"""Tokenizers: against a plain implementation, there and back, and in files."""

import copy
import json
import pickle
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tinynet as tn
from tinynet.data import BPETokenizer, CharTokenizer, FormatError, Tokenizer

PROSE = (
    "She sells sea-shells on the sea-shore. The shells she sells are sea-shells, I'm sure!\n"
    "Über Straßen, naïve café, 東京タワー, Ελλάδα; 1234 12 1 snake_case __init__ \t x\n\n  y"
) * 3


# ---- characters ----


def test_characters_are_numbered_in_the_order_of_unicode():
    letters = CharTokenizer.train("hello, wörld")
    assert letters.vocabulary == " ,dehlorwö"
    assert letters.vocab_size == 11
    assert letters.special_tokens == {"<unk>": 10}
    assert letters.encode("öd") == [9, 2]
    assert letters.encode("dz!") == [2, 10, 10]
    assert letters.decode([2, 10, 3]) == "d<unk>e"
    assert letters.decode([2, 10, 3], specials=False) == "de"


def test_the_most_frequent_characters():
    assert CharTokenizer.train("aaabbbccd", vocab_size=3).vocabulary == "ab"
    assert CharTokenizer.train("ddccbbaa", vocab_size=4, unknown=None).vocabulary == "abcd"
    assert CharTokenizer.train("ddccbbaa", vocab_size=3).vocabulary == "ab"
    assert CharTokenizer.train("ab", vocab_size=100).vocab_size == 3
    with pytest.raises(ValueError, match="must leave room for characters"):
        CharTokenizer.train("ab", vocab_size=1)


def test_without_a_token_for_unknown_characters():
    letters = CharTokenizer("ab", unknown=None)
    assert letters.vocab_size == 2
    assert letters.encode("") == []
    with pytest.raises(ValueError, match=r"character 'é' \(U\+00E9\) at position 2 is not in the"):
        letters.encode("abé")


def test_the_unknown_token_is_ordinary_text_when_it_stands_there():
    letters = CharTokenizer("<unk>", special_tokens=["<end>"])
    assert letters.encode("<unk>") == [0, 1, 2, 3, 4]
    assert letters.encode("k<end>z") == [3, 6, 5]
    assert letters.encode("<end>", specials=False) == [0, 5, 2, 5, 4]


@pytest.mark.parametrize("vocabulary", ["aba", ["a", "bc"], [1], [""]])
def test_a_vocabulary_that_is_none(vocabulary):
    with pytest.raises(ValueError, match="'vocabulary' parameter of CharTokenizer must hold"):
        CharTokenizer(vocabulary)


def test_an_empty_vocabulary():
    assert CharTokenizer("").encode("ab") == [0, 0]
    assert CharTokenizer.train("").vocab_size == 1


# ---- byte pairs ----


def words_of(text):
    """The words, found one by one: what the pattern says, in another way."""
    words, position = [], 0
    while position < len(text):
        rest = text[position:]
        for start in ("'s", "'d", "'m", "'t", "'ll", "'ve", "'re"):
            if rest.startswith(start):
                break
        else:
            start = None
        if start is None:
            lead = 1 if rest[0] == " " and len(rest) > 1 and not rest[1].isspace() else 0
            if not rest[lead].isspace():
                kinds = [
                    lambda c: c.isalpha() or (re.match(r"[^\W\d_]", c) is not None),
                    lambda c: re.match(r"\d", c) is not None,
                    lambda c: c == "_" or (not c.isspace() and not re.match(r"\w", c)),
                ]
                kind = next(k for k in kinds if k(rest[lead]))
                end = lead
                while end < len(rest) and end - lead < 64 and kind(rest[end]):
                    end += 1
            else:
                end = 0
                while end < len(rest) and end < 64 and rest[end].isspace():
                    end += 1
                if end < len(rest) and not rest[end].isspace() and end > 1:
                    end -= 1
            start = rest[:end]
        words.append(start)
        position += len(start)
    return words


def plain_training(text, count, least=2):
    """Byte-pair encoding as the paper has it: count all pairs, merge the first, again."""
    words = [list(word.encode()) for word in words_of(text)]
    merges = []
    for new in range(256, 256 + count):
        pairs = Counter(pair for word in words for pair in zip(word, word[1:]))  # noqa: B905
        if not pairs:
            break
        best, times = min(pairs.items(), key=lambda item: (-item[1], item[0]))
        if times < least:
            break
        merges.append(best)
        words = [plain_merge(word, best, new) for word in words]
    return merges, words


def plain_merge(word, pair, new):
    merged = []
    for token in word:
        merged.append(token)
        if merged[-2:] == [*pair]:
            # A token that was just made is not a first half: the pair holds older ones.
            merged[-2:] = [new]
    return merged


TEXTS = [
    PROSE,
    "aaaaaaaaaa aaaa aaa aa a",
    "low low low low low lower lower newest newest newest newest newest newest widest widest",
    "abababab bababa abab " * 4,
    "x = [f(x) for x in range(10)]\n    return x['a'], x[\"b\"]\n" * 5,
    "日本語の文章には空白がない。" * 20,
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_training_finds_what_counting_again_and_again_finds(text):
    merges, words = plain_training(text, 60)
    trained = BPETokenizer.train(text, 316)
    assert trained.merges == merges
    assert trained.encode(text) == [token for word in words for token in word]
    assert trained.vocab_size == 256 + len(merges)


@given(st.text(alphabet="ab ", max_size=60))
def test_training_on_any_small_text(text):
    merges, words = plain_training(text, 12)
    trained = BPETokenizer.train(text, 268)
    assert trained.merges == merges
    assert trained.encode(text) == [token for word in words for token in word]


def test_the_example_of_the_paper():
    """Sennrich et al.: low, lower, newest, widest; 'es' and 'est' come first."""
    text = " low" * 5 + " lower" * 2 + " newest" * 6 + " widest" * 3
    pairs = BPETokenizer.train(text, 259)
    assert [pairs.token_bytes(token) for token in (256, 257, 258)] == [b"es", b"est", b" l"]


@given(st.text(max_size=40))
def test_there_and_back(text):
    for tokenizer in (BPETokenizer(), TRAINED):
        tokens = tokenizer.encode(text)
        assert tokenizer.decode(tokens) == text
        assert b"".join(map(tokenizer.token_bytes, tokens)) == text.encode()
    letters = CharTokenizer.train(text)
    assert letters.decode(letters.encode(text)) == text


TRAINED = BPETokenizer.train(PROSE, 400, special_tokens=["<|end|>", "<|end|>>", "<pad>"])


def test_words_are_what_the_pattern_says():
    assert [TRAINED.decode(TRAINED.encode(word)) for word in words_of(PROSE)] == words_of(PROSE)


def test_a_text_without_spaces_takes_no_longer():
    text = "=" * 20_000 + "a" * 20_000 + " " * 20_000 + "1" * 20_000
    tokenizer = BPETokenizer.train(text, 300)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert max(len(tokenizer.token_bytes(i)) for i in range(tokenizer.vocab_size)) <= 64


def test_half_a_character():
    tokenizer = BPETokenizer()
    assert tokenizer.encode("é") == [0xC3, 0xA9]
    assert tokenizer.decode([0xC3]) == "\ufffd"
    assert tokenizer.decode(tokenizer.encode("\ud800")) == "?"


def test_special_tokens():
    tokenizer = TRAINED
    first = 256 + len(tokenizer.merges)
    assert tokenizer.special_tokens == {
        "<|end|>": first,
        "<|end|>>": first + 1,
        "<pad>": first + 2,
    }
    assert tokenizer.vocab_size == first + 3
    tokens = tokenizer.encode("sea<|end|>>x<|end|><pad>")
    assert tokens == [*tokenizer.encode("sea"), first + 1, 120, first, first + 2]
    assert tokenizer.decode(tokens) == "sea<|end|>>x<|end|><pad>"
    assert tokenizer.decode(tokens, specials=False) == "seax"
    assert tokenizer.decode(tn.tensor(tokens)) == "sea<|end|>>x<|end|><pad>"
    plain = tokenizer.encode("<pad>", specials=False)
    assert max(plain) < first
    assert tokenizer.decode(plain) == "<pad>"
    assert tokenizer.token_bytes(first) == b"<|end|>"


def test_special_tokens_are_not_trained_on():
    with_special = BPETokenizer.train("ab <|end|> ab " * 9, 300, special_tokens=["<|end|>"])
    learnt = {with_special.token_bytes(256 + i) for i in range(len(with_special.merges))}
    assert learnt == {b"ab", b" ab"}


@pytest.mark.parametrize("special", [["a", "a"], [""], [5]])
def test_special_tokens_that_are_none(special):
    for make in (BPETokenizer.train, CharTokenizer.train):
        with pytest.raises(ValueError, match="'special_tokens' must be different texts"):
            make("abc", 400, special_tokens=special)
    with pytest.raises(ValueError, match="must be different texts"):
        CharTokenizer("ab", special_tokens=["<unk>"])


def test_the_size_of_the_vocabulary():
    assert BPETokenizer.train(PROSE, 256).merges == []
    assert BPETokenizer.train(PROSE, 300).vocab_size == 300
    assert BPETokenizer.train(PROSE, 300, special_tokens=["<|end|>"]).vocab_size == 300
    with pytest.raises(ValueError, match=r"must be >= 257 \(the bytes and the special tokens\)"):
        BPETokenizer.train(PROSE, 256, special_tokens=["<|end|>"])


def test_the_least_count():
    assert BPETokenizer.train("ab ab cd", 300, min_count=1).vocab_size == 260  # ab, _ab, cd, _cd
    assert BPETokenizer.train("ab ab cd", 300).merges == [(97, 98)]
    assert BPETokenizer.train("ab ab cd", 300, min_count=3).merges == []


@pytest.mark.parametrize(
    "merges", [[(256, 1)], [(1, 2), (1, 2)], [(-1, 1)], [(1, 2), (257, 1)], [(1, 300)]]
)
def test_merges_that_are_none(merges):
    with pytest.raises(ValueError, match=r"Merge \d must be a pair of earlier tokens"):
        BPETokenizer(merges)


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr("tinynet.data.texts.byte_pairs._CACHED_WORDS", 3)
    tokenizer = BPETokenizer(TRAINED.merges)
    text = " ".join("abcdefgh") * 3
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert len(tokenizer._cache) <= 3


# ---- both ----

BOTH = [CharTokenizer.train(PROSE, special_tokens=["<end>"]), CharTokenizer("ab", None), TRAINED]


@pytest.mark.parametrize("tokenizer", BOTH)
def test_numbers_that_no_token_has(tokenizer):
    for wrong in (-1, tokenizer.vocab_size):
        with pytest.raises(ValueError, match=f"from 0 to {tokenizer.vocab_size - 1}. Got {wrong}"):
            tokenizer.decode([0, wrong])
    with pytest.raises(TypeError, match="A tokenizer encodes a str. Got bytes instead."):
        tokenizer.encode(b"ab")


@pytest.mark.parametrize("tokenizer", BOTH)
def test_arrays(tokenizer):
    array = tokenizer.encode_array("ab")
    assert array.dtype == np.int64
    assert array.tolist() == tokenizer.encode("ab")
    assert tokenizer.encode_array("").dtype == np.int64
    assert len(tokenizer.encode_array("")) == 0


@pytest.mark.parametrize("tokenizer", BOTH)
def test_saved_and_loaded(tokenizer, tmp_path):
    path = tmp_path / "tokens.json"
    path.write_text("what was there before")
    tokenizer.save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["tokens.json"]
    for load in (Tokenizer.load, type(tokenizer).load):
        again = load(path)
        assert type(again) is type(tokenizer)
        assert again.special_tokens == tokenizer.special_tokens
        assert again.encode("ababba") == tokenizer.encode("ababba")
        again.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
        (tmp_path / "again.json").unlink()
    for copied in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
        assert copied.encode("abab") == tokenizer.encode("abab")


def test_another_kind(tmp_path):
    path = tmp_path / "tokens.json"
    TRAINED.save(path)
    with pytest.raises(FormatError) as caught:
        CharTokenizer.load(path)
    assert str(caught.value) == (
        f"{path}: expected a tokenizer of the kind characters, found 'byte pairs'"
    )


DAMAGED = {
    "": "expected a tokenizer as JSON, found invalid JSON: Expecting value",
    "[1, 2": "found invalid JSON",
    "[" * 100_000: "found invalid JSON",
    "5": 'expected JSON with "format": "tinynet tokenizer", found 5',
    '{"format": "tinynet tokenizer", "version": 2}': "expected version 1, found 2",
    '{"format": "tinynet tokenizer", "version": 1, "kind": "x"}': "found 'x'",
    '{"format": "tinynet tokenizer", "version": 1, "kind": ["x"]}': "found ['x']",
}
CHANGED = [
    (0, "vocabulary", "aa", "must hold each character once"),
    (0, "vocabulary", 5, "a vocabulary or unknown token that is not a text"),
    (0, "unknown", 5, "a vocabulary or unknown token that is not a text"),
    (0, "special_tokens", "x", "'x' as 'special_tokens'"),
    (0, "special_tokens", [5], "[5] as 'special_tokens'"),
    (0, "vocabulary", None, "no 'vocabulary'"),
    (2, "merges", None, "no 'merges'"),
    (2, "merges", [[1, 2, 3]], "merges that are not a list of pairs of numbers"),
    (2, "merges", [[1, "2"]], "merges that are not a list of pairs of numbers"),
    (2, "merges", [[1, 999]], "must be a pair of earlier tokens"),
    (2, "merges", {"1": 2}, "merges that are not a list of pairs of numbers"),
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file(tmp_path, text):
    path = tmp_path / "tokens.json"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        Tokenizer.load(path)
    assert str(caught.value).startswith(f"{path}: expected ")
    assert DAMAGED[text] in str(caught.value)


@pytest.mark.parametrize("which, key, value, message", CHANGED)
def test_a_file_with_wrong_parts(tmp_path, which, key, value, message):
    path = tmp_path / "tokens.json"
    BOTH[which].save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    if value is None:
        del content[key]
    else:
        content[key] = value
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError) as caught:
        Tokenizer.load(path)
    assert f"{path}: expected a complete tokenizer of the kind" in str(caught.value)
    assert message in str(caught.value)


def test_every_truncation_of_a_file_is_found(tmp_path):
    path = tmp_path / "tokens.json"
    BPETokenizer.train(PROSE, 260, special_tokens=["é"]).save(path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(FormatError):
            Tokenizer.load(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Tokenizer.load(tmp_path / "tokens.json")
