"""A config written out in full: every value, the defaults too, and where each came from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tinynet.train.config.sections import SECTIONS, Config, settings
from tinynet.train.config.signatures import Component
from tinynet.train.config.toml_text import dotted, toml_key, toml_value


def to_toml(config: Config) -> str:
    """The config as a TOML file that trains the same again, from anywhere.

    Paths of files of classes are absolute. The end of each line says where the value came from.
    Defaults that TOML cannot express (None) are shown as comments.

    Args:
        config: what `load_config` returned.

    Raises:
        AttributeError: something else than a config.

    Example:
        >>> from tinynet.train import load_config, to_toml
        >>> print(to_toml(load_config("configs/digits_mlp.toml")))
        # The config of a run, in full; first read from ...
        <BLANKLINE>
        [run]
        ...
    """
    blocks = [f"# The config of a run, in full; first read from {_shown(config.file)}."]
    for name in SECTIONS:
        section = getattr(config, name)
        tables: dict[tuple[str, ...], Any] = {} if section is None else {(name,): section}
        for key, inside in getattr(section, "named", {}).items():
            tables[name, key] = inside
        for path, table in tables.items():
            rows = [*_assignments(config, path, table)]
            width = max((len(text) for text, _ in rows), default=0)
            lines = [f"{text:<{width}}  # {_shown(origin)}" for text, origin in rows]
            blocks.append("\n".join([f"[{dotted(path)}]", *lines]))
    return "\n\n".join(blocks) + "\n"


def _assignments(config: Config, path: tuple[str, ...], section: Any) -> Iterator[tuple[str, str]]:
    """Assignments and their origins, in the order: type, its arguments, the section's own keys."""
    values: dict[str, Any] = {}
    if getattr(section, "component", None) is not None:
        values.update(section.component.written)
    for key in settings(type(section)):
        if (len(path), key) != (2, "accumulate"):
            values[key] = _listed(getattr(section, key))
    for key, value in values.items():
        text = toml_value(value)
        comment = "# " if text is None else ""
        shown = _shown(value) if text is None else text
        yield f"{comment}{toml_key(key)} = {shown}", _origin(config, dotted((*path, key)))


def _listed(value: Any) -> Any:
    """A list of components as TOML can say it; any other value as it is."""
    if isinstance(value, tuple):
        return tuple(item.inline if isinstance(item, Component) else item for item in value)
    return value


def _origin(config: Config, path: str) -> str:
    """Where a value came from; parts of it may have been overridden since."""
    whole = str(config.origin(path))
    own = config.origins.get(path)
    if own is None or own.kind != "file":
        return whole
    parts = {o for p, o in config.origins.items() if p.startswith(f"{path}.")}
    return ", ".join([whole, *sorted(str(o) for o in parts if o.file != own.file)])


def _shown(value: Any) -> str:
    """Text that stays on its line, whatever it is: it goes into a comment."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
