"""The user's source files of a run, and their copies in the run folder.

``sources/`` holds a copy of each file, with their relative folders, and ``run.json`` the path of
each original. So a run can be repeated after the files have changed, or on a machine without them.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet.train.base.checkpoint_file import sha256
from tinynet.train.base.reading import read_bytes
from tinynet.train.base.run_folder import RunFolder, read_record

FOLDER = "sources"


def traced(files: Iterable[Path], modules: Iterable[str], search: Sequence[Path]) -> list[Path]:
    """Return the given files and modules, and the user's files that they import, sorted.

    Args:
        files: Python files.
        modules: module names, such as ``"package.module"``.
        search: the folders to search for modules, besides the folder of each file; modules in other
            folders are not the user's.
    """
    search = [folder.resolve() for folder in search]
    pending = [file.resolve() for file in files]
    pending += [found for name in modules for found in _module(name, search)]
    traced_files: set[Path] = set()
    while pending:
        file = pending.pop()
        if file not in traced_files:
            traced_files.add(file)
            pending += _imported(file, search)
    return sorted(traced_files)


def _imported(file: Path, search: Sequence[Path]) -> Iterator[Path]:
    """Yield the user's files that a file imports."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, ValueError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _module(alias.name, [file.parent, *search])
        elif isinstance(node, ast.ImportFrom):
            folders = [file.parents[node.level - 1]] if node.level else [file.parent, *search]
            for alias in node.names:
                name = f"{node.module}.{alias.name}" if node.module else alias.name
                yield from _module(name, folders)


def _module(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files of a module and its packages, from the first folder that has it."""
    parts = name.split(".")
    if parts[0] == "tinynet" or parts[0] in sys.stdlib_module_names:
        return
    for folder in folders:
        packages = [folder.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
        places = [
            place for path in packages for place in (Path(f"{path}.py"), path / "__init__.py")
        ]
        found = [place for place in places if place.is_file()]
        if found:
            yield from found
            return


# ---- copies ----


def copies_of(sources: Iterable[str | Path], name: str = FOLDER) -> dict[str, tuple[Path, bytes]]:
    """Return the copies for a run folder: name in the folder -> (file, content)."""
    files = [Path(source) for source in sources]
    if not files:
        return {}
    root = Path(os.path.commonpath([file.parent for file in files]))
    copies = {}
    for file in files:
        try:
            copies[f"{name}/{file.relative_to(root).as_posix()}"] = file, file.read_bytes()
        except OSError:  # it has been deleted since its import
            continue
    return copies


def altered(folder: RunFolder, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the source files that have changed since the run: path -> problem."""
    found = {}
    for copy, original in record.get("sources", {}).items():
        try:
            now = sha256(Path(original).read_bytes())
        except OSError:
            found[original] = f"{original} is gone; its copy {folder.path / copy} is used"
            continue
        if now != record.get("files", {}).get(copy):
            found[original] = (
                f"{original} has changed since the run (its copy is {folder.path / copy})"
            )
    return found


@dataclass(frozen=True)
class StandIns:
    """The copies to import in place of the files that a config names."""

    files: Mapping[str, Path] = field(default_factory=dict)
    """The copies by the paths of the originals."""

    renamed: bool = False
    """Whether the resolved config names the copies instead of the originals."""

    @property
    def folders(self) -> list[str]:
        """The folders of the copies, in which they can import each other."""
        folders = {str(copy.parent): None for copy in self.files.values()}
        return sorted(folders, key=len)


NO_STAND_INS = StandIns()


def stand_ins(folder: RunFolder, record: Mapping[str, Any], *, repeat: bool = False) -> StandIns:
    """Return the copies to import: all of them or none, because they belong together.

    Args:
        folder: the run folder.
        record: its ``run.json``.
        repeat: import the copies even if files have only changed, for a new run that repeats this
            one. By default, the copies are imported only if a file is missing.
    """
    sources = record.get("sources", {})
    missing = any(not os.path.isfile(original) for original in sources.values())
    if not missing and not (repeat and altered(folder, record)):
        return NO_STAND_INS
    pairs = {original: (folder.path / copy).resolve() for copy, original in sources.items()}
    return StandIns({o: copy for o, copy in pairs.items() if copy.is_file()}, repeat)


def of_stored_config(path: Path) -> StandIns:
    """Return the copies for changed or missing files when a stored config is trained again."""
    folder = RunFolder(path.parent)
    if path.name != folder.config.name or not folder.record.is_file():
        return NO_STAND_INS
    return stand_ins(folder, read_record(folder), repeat=True)


def source_copies(
    sources: Iterable[str], folder: RunFolder, record: Mapping[str, Any]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the copies for a run folder, and the original of each.

    The first copies stay. If files have changed before the run is resumed, new copies are added
    beside them (``sources-1``).
    """
    times = len(record.get("resumed", []))
    copies = copies_of(sources, f"{FOLDER}-{times}" if times else FOLDER)
    known: dict[str, str] = record.get("sources", {})
    inside = all(file.is_relative_to(folder.path.resolve()) for file, _ in copies.values())
    now = {str(file): sha256(data) for file, data in copies.values()}
    then = {original: record.get("files", {}).get(copy) for copy, original in known.items()}
    if known and (inside or now == then):
        kept = [copy for copy in known if (folder.path / copy).is_file()]
        return {copy: read_bytes(folder.path / copy) for copy in kept}, known
    contents = {copy: data for copy, (_, data) in copies.items()}
    return contents, {copy: str(file) for copy, (file, _) in copies.items()}
