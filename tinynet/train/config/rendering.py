"""A config in full: every value, including defaults, with its origin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tinynet.train.base.toml_text import dotted, toml_key, toml_value
from tinynet.train.config.sections import SECTIONS, Config, settings
from tinynet.train.config.signatures import Component


def to_toml(config: Config) -> str:
    """Return a config as TOML text that trains the same model from any folder.

    Paths are absolute. A comment on each line names the origin of the value. Defaults that TOML
    cannot express (None) are comments.

    Args:
        config: a config from `load_config`.

    Raises:
        AttributeError: if it is no config.

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
    """Yield assignments with their origins: the type, its arguments, the section's own keys."""
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
    """Convert components, also in a list, to values for TOML; return any other value unchanged."""
    if isinstance(value, Component):
        return value.inline
    if isinstance(value, tuple):
        return tuple(item.inline if isinstance(item, Component) else item for item in value)
    return value


def _origin(config: Config, path: str) -> str:
    """Return the origin of a value, with those of overridden parts."""
    origin = str(config.origin(path))
    own = config.origins.get(path)
    if own is None or own.kind != "file":
        return origin
    parts = {o for p, o in config.origins.items() if p.startswith(f"{path}.")}
    return ", ".join([origin, *sorted(str(o) for o in parts if o.file != own.file)])


def _shown(value: Any) -> str:
    """Escape the text of a comment, so that it stays on its line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
