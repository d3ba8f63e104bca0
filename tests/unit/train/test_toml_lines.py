"""The line finder: every key of a document, on the line where it is written."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinynet.train.config.document import key_lines, split_key

DOCUMENT = '''\
# a comment with [brackets] and = signs
title = "first"  # 2
"quoted key" = 1
'single.quoted' = 2
a.b . "c d" = 5

[ owner ]  # 7
name = "a # in a string"
text = """
[not.a.table]
not_a_key = 1
"""
raw = \'\'\'
it's = "raw" \\
\'\'\'
after = 1  # 16
quotes = """two at the end: """""
escaped = "\\"quote = 1\\" \\\\"
when = 1979-05-27 07:32:00

[owner.deep."er = ]"]  # 21
list = [
  1,  # 23
  [ 2,
    3 ],
  { x = 1, y = { z = "}" } }, # a ] in a comment
]

[[fruit]]  # 29
name = "apple"
[fruit.physical]
color = "red"
[[fruit.variety]]
name = "gala"
[[fruit.variety]]
name = "fuji"
[[fruit]]
name = "banana"
[[fruit.variety]]
name = "plantain"
[fruit.variety.taste]
sweet = true'''

EXPECTED = {
    ("title",): 2,
    ("quoted key",): 3,
    ("single.quoted",): 4,
    ("a", "b", "c d"): 5,
    ("owner",): 7,
    ("owner", "name"): 8,
    ("owner", "text"): 9,
    ("owner", "raw"): 13,
    ("owner", "after"): 16,
    ("owner", "quotes"): 17,
    ("owner", "escaped"): 18,
    ("owner", "when"): 19,
    ("owner", "deep", "er = ]"): 21,
    ("owner", "deep", "er = ]", "list"): 22,
    ("owner", "deep", "er = ]", "list", 0): 23,
    ("owner", "deep", "er = ]", "list", 1, 1): 25,
    ("owner", "deep", "er = ]", "list", 2, "y", "z"): 26,
    ("fruit", 0): 29,
    ("fruit", 0, "name"): 30,
    ("fruit", 0, "physical", "color"): 32,
    ("fruit", 0, "variety", 1, "name"): 36,
    ("fruit", 1, "name"): 38,
    ("fruit", 1, "variety", 0, "name"): 40,
    ("fruit", 1, "variety", 0, "taste", "sweet"): 42,
}


def paths(value, path=()):
    """The paths of everything in a parsed document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in items:
        yield (*path, key)
        if isinstance(inside, dict | list):
            yield from paths(inside, (*path, key))


@pytest.mark.parametrize("path", EXPECTED, ids=str)
def test_line(path):
    assert key_lines(DOCUMENT)[path] == EXPECTED[path]


def test_all_that_is_in_the_document_and_nothing_else():
    assert set(key_lines(DOCUMENT)) == set(paths(tomllib.loads(DOCUMENT)))


def test_windows_line_ends():
    assert key_lines(DOCUMENT.replace("\n", "\r\n")) == key_lines(DOCUMENT)


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "# one\n\n"])
def test_nothing_in_it(text):
    assert key_lines(text) == {}


@pytest.mark.parametrize(
    "text, parts",
    [
        ("a", ("a",)),
        (" a . \"b.c\" .'d'", ("a", "b.c", "d")),
        ('"\\u00e9"', ("é",)),
        ("3.x", ("3", "x")),
    ],
)
def test_split_key(text, parts):
    assert split_key(text) == parts


@pytest.mark.parametrize("text", ["", "a b", "a.", "a = 1\nb", "a = {b", "#", "[a"])
def test_split_key_refuses_what_is_no_key(text):
    with pytest.raises(tomllib.TOMLDecodeError):
        split_key(text)


# ---- documents that are made line by line, so that the lines are known ----

KEYS = st.text(max_size=4, alphabet=st.sampled_from("ab.=]}#\" 'é\\"))
TEXTS = st.text(max_size=6, alphabet=st.sampled_from("ab\n[]{}=#,'\"\\ "))
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


class Writer:
    """Writes a document in varying styles and remembers the line of each key."""

    def __init__(self, draw):
        self.draw = draw
        self.text = ""
        self.lines = {}

    def note(self, path):
        self.lines.setdefault(path, self.text.count("\n") + 1)
        return path

    def choose(self, *options):
        return self.draw(st.sampled_from(options))

    def quoted(self, text, multiline=False):
        basic = text.replace("\\", "\\\\").replace('"', '\\"')
        plain = "'" not in text and "\n" not in text
        if multiline and "'''" not in text and not text.startswith("\n"):
            if not text.endswith("'''") and self.choose(True, False):
                return f"'''{text}'''" if text.count("'") < 3 else f'"""{basic}"""'
            return f'"""\n{basic}"""' if self.choose(True, False) else f'"""{basic}"""'
        if plain and self.choose(True, False):
            return f"'{text}'"
        escaped = basic.replace("\n", "\\n")
        return f'"{escaped}"'

    def value(self, path, value):
        if isinstance(value, list):
            self.collection(path, enumerate(value), "[]")
        elif isinstance(value, dict):
            self.collection(path, value.items(), "{}")
        elif isinstance(value, str):
            self.text += self.quoted(value, multiline=True)
        elif isinstance(value, bool):
            self.text += str(value).lower()
        else:
            self.text += repr(value)

    def collection(self, path, items, brackets):
        lists = brackets == "[]"
        gap = self.choose(" ", "\n", " # ]}\n") if lists else " "
        self.text += brackets[0] + gap
        for index, (key, inside) in enumerate(items):
            self.text += ("," + gap) if index else ""
            self.note((*path, key))
            if not lists:
                self.text += f"{self.quoted(key)} = "
            self.value((*path, key), inside)
        self.text += gap + brackets[1]

    def pairs(self, path, table):
        for key, value in table.items():
            self.text += self.choose("", "\n", "# a = [1\n", " \t")
            self.note((*path, key))
            self.text += f"{self.quoted(key)}{self.choose('=', ' = ')}"
            self.value((*path, key), value)
            self.text += self.choose("\n", " # x = 1\n")


TABLES = st.dictionaries(KEYS, VALUES, max_size=3)


@given(st.data(), TABLES, st.dictionaries(KEYS, st.lists(TABLES, min_size=1, max_size=3)))
def test_any_document(data, root, arrays):
    writer = Writer(data.draw)
    writer.pairs((), root)
    for key, tables in arrays.items():
        if key in root:
            continue
        for index, table in enumerate(tables):
            writer.note((key,))
            path = writer.note((key, index))
            writer.text += f"[[{writer.quoted(key)}]]\n"
            writer.pairs(path, table)
    assert set(writer.lines) == set(paths(tomllib.loads(writer.text)))
    assert key_lines(writer.text) == writer.lines
