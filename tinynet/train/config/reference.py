"""A config in full, and the reference of all keys."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from tinynet.base.invocation import command
from tinynet.train.config.coercion import describe_type
from tinynet.train.config.components import EVERY, FAMILIES, INSIDE, Family
from tinynet.train.config.document import toml_value
from tinynet.train.config.sections import SECTIONS, Config, field_docs, settings
from tinynet.train.config.signatures import Parameter, field_types, signature_of
from tinynet.train.config.values import text_of
from tinynet.train.metrics.registry import METRICS, find_metric

# ---- rendering ----------------------------------------------------------------------------------
# A config in full: every value, including defaults, with its origin.


def to_toml(config: Config) -> str:
    """Return a config as TOML text that trains the same model from any folder.

    Paths are absolute. A comment on each line names the origin of the value. Defaults that TOML
    cannot express (None) are comments.

    Args:
        config: a config from `load_config`.

    Raises:
        AttributeError: if it is not a config.

    Example:
        >>> from tinynet.train import load_config, to_toml
        >>> print(to_toml(load_config("configs/digits_mlp.toml")))
        # The config of a run, in full; first read from ...
        <BLANKLINE>
        [run]
        ...
    """
    return text_of(config.values(), config.file)


# ---- reference ----------------------------------------------------------------------------------
# The reference of configs, from the signatures and docstrings that check them.


KINDS: dict[str, Family] = {**FAMILIES, **INSIDE}
"""The families by section, and those inside sections."""

_TOP_LEVEL = {
    "base": "Another config (or a list of them), relative to this one, that this one is merged "
    "into: tables are merged key by key, all other values replaced; a table with a different type "
    "replaces that of the base, except for the keys of the section itself.",
    "without": "Keys to remove from the base, such as schedule or optimizer.clip_norm.",
}
_WIDTH = 100


# ---- lists ----


def list_types(kind: str) -> str:
    """List the types of one kind: name, signature, and the first line of the docstring.

    Args:
        kind: a key of `KINDS`, or ``"metrics"``.

    Example:
        >>> print(list_types("metrics"))
        accuracy
            the share of examples whose largest output belongs to the target class
        ...
    """
    if kind == "metrics":
        return "\n".join(f"{name}\n    {metric.meaning}" for name, metric in METRICS.items())
    family = KINDS[kind]
    return "\n".join(
        _entry(name, target, family) for name, target in sorted(family.names().items())
    )


def _entry(name: str, target: Callable[..., Any], family: Family) -> str:
    call = f"{name}({', '.join(spelled(p) for p in parameters(target, family))})"
    lines = textwrap.wrap(call, _WIDTH, subsequent_indent=" " * (len(name) + 1))
    return "\n".join([*lines, f"    {first_line(target)}"])


def parameters(target: Callable[..., Any], family: Family) -> list[Parameter]:
    """Return the parameters of a type that a config can set."""
    known = signature_of(target, family.given_to(target)).parameters.values()
    return [p for p in known if p.name not in family.hidden]


def spelled(parameter: Parameter) -> str:
    """Format a parameter as in a signature; in brackets if its default is None."""
    if parameter.required:
        return parameter.name
    text = toml_value(parameter.default)
    return f"[{parameter.name}]" if text is None else f"{parameter.name}={text}"


def first_line(target: Any) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(target) or "(not documented)").splitlines()[0]


# ---- pages ----


def explain_key(key: str) -> str | None:
    """Explain a section, a key, a type or a metric; return None for an unknown name.

    Example:
        >>> print(explain_key("run.seed").splitlines()[0])
        run.seed: an integer, by default 0
    """
    if key in _TOP_LEVEL:
        return f"{key}: a string or a list of strings\n\n{_wrapped(_TOP_LEVEL[key])}"
    section, _, rest = key.partition(".")
    if section in SECTIONS and not rest:
        return _section_page(section)
    if section in SECTIONS and rest in settings(SECTIONS[section]):
        return _setting_page(section, rest)
    if section in KINDS and rest in KINDS[section].names():
        return _type_page(rest, KINDS[section])
    if section in FAMILIES and rest:
        return _argument_page(section, rest)
    metric = METRICS.get(key) or find_metric(key)  # topK, top5
    if metric is not None:
        return f"{key}, a metric for evaluation.metrics: {metric.meaning}"
    pages = [_type_page(key, family) for family in KINDS.values() if key in family.names()]
    return pages[0] if pages else None


def known_keys() -> list[str]:
    """Return all names that `explain_key` knows, for suggestions."""
    keys = [*_TOP_LEVEL, *SECTIONS, *METRICS]
    for section, cls in SECTIONS.items():
        keys += [f"{section}.{key}" for key in settings(cls)]
    for section, family in FAMILIES.items():
        for target in family.names().values():
            keys += [f"{section}.{p.name}" for p in parameters(target, family)]
    return [*dict.fromkeys(keys), *(name for family in KINDS.values() for name in family.names())]


def _section_page(section: str) -> str:
    cls = SECTIONS[section]
    lines = [f"[{section}]: {inspect.getdoc(cls)}", ""]
    for key, doc in field_docs(cls).items():
        if key in settings(cls):
            lines += [f"{key}: {kind_of(section, key)}", _wrapped(doc, indent=4)]
    if section in FAMILIES:
        names = ", ".join(sorted(FAMILIES[section].names()))
        lines += ["", _wrapped(f"type: {names}; or ./file.py:Name, or package.module:Name"), ""]
        lines.append(f"The keys of a type: {command('explain', f'{section}.NAME')}")
    return "\n".join(lines)


def _setting_page(section: str, key: str) -> str:
    doc = field_docs(SECTIONS[section])[key]
    metadata = settings(SECTIONS[section])[key].metadata
    rule = f"\n\nIt must {metadata['must']}." if "must" in metadata else ""
    if "family" in metadata:
        names = [", ".join(sorted(EVERY[metadata["family"]].names())), "./file.py:Name"]
        rule = f"\n\ntype: {'; or '.join(filter(None, names))}, or package.module:Name"
    return f"{section}.{key}: {kind_of(section, key)}\n\n{_wrapped(doc)}{rule}"


def kind_of(section: str, key: str) -> str:
    """Describe the type and the default of a key."""
    cls = SECTIONS[section]
    default = settings(cls)[key].default
    if "family" in settings(cls)[key].metadata:
        return "a list (each element a type, or a table with a type and its keys), by default []"
    if "own" in settings(cls)[key].metadata:
        return "a list (each element a name or a table with a type), by default left out"
    text = toml_value(default)
    by_default = "left out" if text is None else text
    if "or" in settings(cls)[key].metadata:
        return f"a number, or a table with a type and its keys, by default {by_default}"
    return f"{describe_type(field_types(cls)[key])}, by default {by_default}"


def _type_page(name: str, family: Family) -> str:
    target = family.names()[name]
    call = f"{name}({', '.join(spelled(p) for p in parameters(target, family))})"
    doc = inspect.getdoc(target) or "(not documented)"
    wrapped = textwrap.wrap(call, _WIDTH, subsequent_indent=" " * (len(name) + 1))
    return "\n".join([*wrapped, "", doc])


def _argument_page(section: str, key: str) -> str | None:
    """Explain a key as an argument of the types of a section; equal texts share a paragraph."""
    family = FAMILIES[section]
    names_by_text: dict[str, list[str]] = {}
    for name, target in sorted(family.names().items()):
        for parameter in parameters(target, family):
            if parameter.name == key:
                kind = describe_type(parameter.declared)
                default = _default(parameter)
                text = f"{kind}, {default}\n{_wrapped(_argument_doc(target, key), indent=4)}"
                names_by_text.setdefault(text.rstrip(), []).append(name)
    if not names_by_text:
        return None
    head = f"{section}.{key}, an argument of these types:"
    return "\n\n".join([head, *(_named(names, text) for text, names in names_by_text.items())])


def _named(names: list[str], text: str) -> str:
    return f"{_wrapped(', '.join(names))}: {text}"


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    text = toml_value(parameter.default)
    return "by default left out" if text is None else f"by default {text}"


def _argument_doc(target: Any, key: str) -> str:
    """Return the text on an argument in the section ``Args:`` of a docstring."""
    for doc in _docs(target):
        found = re.search(rf"^    {re.escape(key)}\b[^:\n]*: (.*(?:\n {{8,}}\S.*)*)", doc, re.M)
        if found:
            return " ".join(found[1].split())
    return ""


def _docs(target: Any) -> Iterator[str]:
    for owner in target.__mro__ if inspect.isclass(target) else [target]:
        yield inspect.cleandoc(owner.__doc__ or "")


def _wrapped(text: str, indent: int = 0) -> str:
    pad = " " * indent
    return textwrap.fill(text, _WIDTH, initial_indent=pad, subsequent_indent=pad)
