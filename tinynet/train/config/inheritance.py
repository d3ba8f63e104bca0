"""Configs with bases.

At the top of a file, ``base = "other.toml"`` (or a list of such names, relative to this file)
merges this file into another:

- Tables are merged key by key, at every depth.
- Any other value, such as a list, replaces the base's.
- A table with a different ``type`` replaces the table of the base, because the arguments of one
  type do not suit another. In a section, the section's own keys (``data.batch_size``) stay.
- ``without = ["schedule", "optimizer.clip_norm"]`` first removes these keys from the base.
- Later bases are merged into earlier ones.
- ``./file.py:Name`` is relative to the file that contains it.

The values of the command line override everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tinynet.core.explanations.arguments import nearest
from tinynet.train.base.problems import ConfigError, Origin, Problem, did_you_mean
from tinynet.train.config.document import KeyPath, Source, dotted, read_toml, split_key
from tinynet.train.config.sections import NAMED, SECTIONS, settings

_BASE, _WITHOUT = "base", "without"


def read_with_bases(path: str | Path) -> Source:
    """Read a TOML file, and merge it into its bases.

    Raises:
        ConfigError: if a file cannot be read, or is its own base.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> _ = (folder / "a.toml").write_text("optimizer = {type = 'SGD', lr = 0.1}")
        >>> _ = (folder / "b.toml").write_text("base = 'a.toml'\\noptimizer.lr = 0.2")
        >>> read_with_bases(folder / "b.toml").tree
        {'optimizer': {'type': 'SGD', 'lr': 0.2}}
    """
    return _read(Path(path), ())


def _read(path: Path, readers: tuple[Path, ...]) -> Source:
    """Read a file and its bases; `readers` are the files that led to it."""
    source = read_toml(path)
    source.folders = {source.file: source.folder}
    readers = (*readers, path)
    names = _strings(source, _BASE)
    if not names:
        if _WITHOUT in source.tree:
            raise _refused(source, _WITHOUT, "is only for a file that has a base")
        return source
    lower: Source | None = None
    for name in names:
        base = _read_base(source, name, readers)
        lower = base if lower is None else merge_sources(lower, base)
    assert lower is not None
    for key in _strings(source, _WITHOUT):
        _remove(lower, source, key)
    return merge_sources(lower, source)


def _read_base(source: Source, name: str, readers: tuple[Path, ...]) -> Source:
    try:
        path = source.folder / name
        if not path.is_file():
            near = nearest(path.name, (file.name for file in path.parent.glob("*.toml")))
            hint = f"; did you mean {near}?" if near else ""
            raise _refused(source, _BASE, f"there is no file {path}{hint}")
    except (OSError, ValueError) as error:  # a name that is too long, a NUL in it
        raise _refused(source, _BASE, f"{name!r} cannot be read: {error}") from None
    if path.resolve() in [reader.resolve() for reader in readers]:
        circle = " -> ".join(str(file) for file in (*readers, path))
        raise _refused(source, _BASE, f"the files are each other's bases: {circle}")
    return _read(path, readers)


def _strings(source: Source, key: str) -> list[str]:
    """Return the value of ``base`` or ``without`` as a list; remove ``base`` from the tree."""
    value = source.tree.get(key, [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise _refused(source, key, f"must be a string or a list of strings, got {value!r}")
    if key == _BASE:
        source.tree.pop(key, None)
    return listed


def merge_sources(lower: Source, upper: Source) -> Source:
    """Merge the upper source into the lower one, which is consumed."""
    upper.tree.pop(_WITHOUT, None)
    _merge(lower, upper, lower.tree, upper.tree, ())
    upper.tree, upper.origins = lower.tree, lower.origins
    upper.folders = {**lower.folders, **upper.folders}
    return upper


def _merge(
    lower: Source, upper: Source, into: dict[str, Any], tree: dict[str, Any], path: KeyPath
) -> None:
    for key, value in tree.items():
        place = (*path, key)
        base_value = into.get(key)
        if not isinstance(value, dict) or not isinstance(base_value, dict):
            lower.forget(place)
            into[key] = value
            lower.origins.update(_under(upper, place))
            continue
        if value.get("type", base_value.get("type")) != base_value.get("type"):
            for old in [k for k in base_value if not _is_section_key(place, k)]:
                lower.forget((*place, old))
                del base_value[old]
        if place in upper.origins:
            lower.origins[place] = upper.origins[place]
        _merge(lower, upper, base_value, value, place)


def _is_section_key(path: KeyPath, key: str) -> bool:
    name = str(path[0])
    is_section = len(path) == 1 or (len(path) == 2 and name in NAMED)
    return is_section and name in SECTIONS and key in settings(SECTIONS[name])


def _under(source: Source, path: KeyPath) -> dict[KeyPath, Origin]:
    return {p: o for p, o in source.origins.items() if p[: len(path)] == path}


def _remove(lower: Source, source: Source, key: str) -> None:
    """Remove a key of ``without`` from the base."""
    try:
        *parents, last = split_key(key)
    except ValueError:
        raise _refused(source, _WITHOUT, f"{key!r} is not a key such as optimizer.lr") from None
    place: Any = lower.tree
    for part in parents:
        place = place.get(part) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        hint = did_you_mean(key, _paths(lower.tree))
        raise _refused(source, _WITHOUT, f"the base has no {key}{hint}")
    del place[last]
    lower.forget((*parents, last))


def _paths(tree: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    for key, value in tree.items():
        yield dotted((*path, key))
        if isinstance(value, dict):
            yield from _paths(value, (*path, key))


def _refused(source: Source, key: str, text: str) -> ConfigError:
    return ConfigError([Problem(source.origin(key), key, text)])
