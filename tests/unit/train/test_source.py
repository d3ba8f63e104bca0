"""Reading config files and putting overrides in place."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinynet.train.base.problems import ConfigError, Origin, Problems
from tinynet.train.config.document import override, parse, read_toml, toml_key, toml_value


def source_of(text, folder="."):
    data = text if isinstance(text, bytes) else text.encode()
    return parse(data, file="c.toml", folder=folder)


def refused(text):
    with pytest.raises(ConfigError) as caught:
        source_of(text)
    return str(caught.value).splitlines()[0]


# ---- files that are not configs ----


def test_a_missing_file(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        read_toml(tmp_path / "none.toml")


def test_a_folder(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_toml(tmp_path)


def test_an_impossible_name():
    with pytest.raises(ConfigError, match="cannot be read: embedded null"):
        read_toml("a\0b.toml")


def test_not_utf8_names_the_line():
    assert refused(b"a = 1\nb = '\xe9'") == "c.toml:2: is not UTF-8: byte 0xe9"


def test_a_byte_order_mark_is_no_mistake():
    assert source_of(b"\xef\xbb\xbfa = 1").tree == {"a": 1}


@pytest.mark.parametrize(
    "text, message",
    [
        ("a = 1\nb 2", "c.toml:2: is not TOML: Expected '=' after a key"),
        ("a = 1\n\nb = ", "c.toml:3: is not TOML: Invalid value"),
        ("[a]\nx = 1\nx = 2", "c.toml:3: is not TOML: Cannot overwrite a value"),
        ("a = " + "[" * 5000, "c.toml: is nested too deeply"),
        ("a = " + "9" * 5000, "c.toml: is not TOML: Exceeds the limit"),
    ],
    ids=["key", "end", "twice", "nested", "long number"],
)
def test_not_toml(text, message):
    assert refused(text).startswith(message)


# ---- overrides ----


def overridden(text, *assignments):
    source, problems = source_of(text), Problems()
    override(source, assignments, problems)
    return source, [str(problem) for problem in problems]


@pytest.mark.parametrize(
    "assignment, value",
    [
        ("o.lr=3e-4", 3e-4),
        ("o.lr = 1", 1),
        ("o.lr=true", True),
        ("o.lr=[1, 2]", [1, 2]),
        ('o.lr="x"', "x"),
        ("o.lr=relu", "relu"),
        ("o.lr=./net.py:Net", "./net.py:Net"),
        ("o.lr=a=b", "a=b"),
        ("o.lr=", ""),
        ("o.lr=1\nx = 2", "1\nx = 2"),
    ],
)
def test_a_value_is_toml_or_else_text(assignment, value):
    source, problems = overridden("[o]\nlr = 0.1", assignment)
    assert not problems
    assert source.tree == {"o": {"lr": value}}
    assert source.origin("o", "lr") == Origin("command line")
    assert source.origin("o") == Origin("file", "c.toml", 1)


def test_a_new_table_is_made():
    source, problems = overridden("", "a.b.c=1")
    assert not problems
    assert source.tree == {"a": {"b": {"c": 1}}}


def test_an_element_of_a_list():
    source, problems = overridden("a = [{x = 1}, {x = 2}]", "a.1.x=5")
    assert not problems
    assert source.tree == {"a": [{"x": 1}, {"x": 5}]}
    assert str(source.origin("a", 1, "x")) == "command line"
    assert str(source.origin("a", 0, "x")) == "c.toml:1"


def test_what_is_replaced_loses_its_lines():
    source, _ = overridden("a = [1, 2]", "a=[3]")
    assert str(source.origin("a", 0)) == "command line"


def test_the_later_override_wins():
    source, _ = overridden("a = 1", "a=2", "a=3")
    assert source.tree == {"a": 3}


@pytest.mark.parametrize(
    "assignment, message",
    [
        ("lr", "command line: --set needs KEY=VALUE, got 'lr'"),
        ("=1", "command line: '' is not a key such as optimizer.lr"),
        ("a b=1", "command line: 'a b' is not a key such as optimizer.lr"),
        ("n.x=1", "command line: n.x: n is 1, which has no keys"),
        ("l.5=1", "command line: l.5: l is a list of 2: its elements are 0 to 1"),
        ("l.x=1", "command line: l.x: l is a list of 2: its elements are 0 to 1"),
        ("a=\udcff", "command line: --set 'a=\\udcff' is not valid text"),
    ],
)
def test_a_bad_override(assignment, message):
    source, problems = overridden("n = 1\nl = [1, 2]", assignment)
    assert problems == [message]
    assert source.tree == {"n": 1, "l": [1, 2]}


def test_overrides_from_python_keep_their_types():
    source, problems = source_of("[o]\nlr = 0.1"), Problems()
    override(source, {"o.lr": 3e-4, "o.name": "5"}, problems)
    assert not len(problems)
    assert source.tree == {"o": {"lr": 3e-4, "name": "5"}}
    assert str(source.origin("o", "lr")) == "overrides"


# ---- writing TOML ----

VALUES = st.recursive(
    st.one_of(
        st.text(),
        st.integers(),
        st.booleans(),
        st.floats(allow_nan=False),
        st.dates(),
        st.datetimes().map(lambda moment: moment.replace(fold=0)),
        st.times().map(lambda moment: moment.replace(fold=0)),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=8,
)


@given(st.text(), VALUES)
def test_written_values_are_read_back(key, value):
    read_back = tomllib.loads(f"{toml_key(key)} = {toml_value(value)}")
    assert read_back == {key: value}
    assert repr(read_back) == repr({key: value})  # 1 is not 1.0, and -0.0 is not 0.0


@pytest.mark.parametrize("value", [None, [1, None], {"a": None}, {1: 2}, object])
def test_what_toml_cannot_say(value):
    assert toml_value(value) is None


@pytest.mark.parametrize(
    "text, found",
    [
        (
            "[a]\nx = 1\ny = [\n  2]\nx = 2",
            "c.toml:5: is not TOML: .*: a.x is given twice, in lines 2 and 5",
        ),
        ("[a]\n[b]\n[a]\n", "c.toml:3: is not TOML: .*: a is given twice, in lines 1 and 3"),
        ("a = {x = 1, x = 2}", "c.toml:1: is not TOML: .*: a.x is given twice, in line 1"),
        ("x = '''\nx = 1\n'''\nx = 2 }", "c.toml:4: .*: x is given twice, in lines 1 and 4"),
        ("a.b = 1\n[[c]]\nx = 1\n[[c]]\nx = 1\nx = [1", "c.toml:6: is not TOML: "),
        ("x = [1, }", "c.toml:1: is not TOML: Invalid value .column 9."),
    ],
)
def test_a_key_that_is_given_twice_is_named_with_its_lines(text, found):
    assert re.match(found, refused(text.encode()))
