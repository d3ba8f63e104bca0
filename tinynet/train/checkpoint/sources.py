"""The user's own source files that a run is made of: found, kept in its folder, taken from there.

A run folder has a copy of each in ``sources/``, in the folders that they have relative to each
other, and ``run.json`` says which file each is a copy of. So a run can be repeated when the files
have changed, or where they are not.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet.train.checkpoint.checksums import sha256
from tinynet.train.checkpoint.run_folder import RunFolder
from tinynet.train.checkpoint.run_record import read_record

FOLDER = "sources"


def traced(files: Iterable[Path], modules: Iterable[str], search: Sequence[Path]) -> list[Path]:
    """Return files, modules by name, and what they import beside them, in the order of their names.

    Args:
        files: Python files.
        modules: such as ``"package.module"``.
        search: the folders in which modules are looked for, beside the folder of each file; what
            is in none of them is not the user's own.
    """
    search = [folder.resolve() for folder in search]
    waiting = [file.resolve() for file in files]
    waiting += [found for name in modules for found in _module(name, search)]
    known: dict[Path, None] = {}
    while waiting:
        file = waiting.pop()
        if file not in known:
            known[file] = None
            waiting += _imported(file, search)
    return sorted(known)


def _imported(file: Path, search: Sequence[Path]) -> Iterator[Path]:
    """The files of the modules that a file imports, as far as they are the user's own."""
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
    """The files of a module and of the packages around it, in the first folder that has it."""
    parts = name.split(".")
    if parts[0] == "tinynet" or parts[0] in sys.stdlib_module_names:
        return
    for folder in folders:
        around = [folder.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
        places = [place for path in around for place in (Path(f"{path}.py"), path / "__init__.py")]
        found = [place for place in places if place.is_file()]
        if found:
            yield from found
            return


# ---- copies ----


def copies_of(sources: Iterable[str | Path], name: str = FOLDER) -> dict[str, tuple[Path, bytes]]:
    """Return what is to be kept: the name inside of a run folder -> the file and its bytes."""
    files = [Path(source) for source in sources]
    if not files:
        return {}
    root = Path(os.path.commonpath([file.parent for file in files]))
    kept = {}
    for file in files:
        try:
            kept[f"{name}/{file.relative_to(root).as_posix()}"] = file, file.read_bytes()
        except OSError:  # it was imported, and is gone
            continue
    return kept


def altered(folder: RunFolder, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the source files of a run that are not as they were: path -> what is the matter."""
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
    """The copies that are imported in the place of the files that a config names."""

    files: Mapping[str, Path] = field(default_factory=dict)
    """The path of a file -> that of its copy."""

    renamed: bool = False
    """Whether the config that is made names the copies from then on."""

    @property
    def folders(self) -> list[str]:
        """The folders in which they find each other."""
        folders = {str(copy.parent): None for copy in self.files.values()}
        return sorted(folders, key=len)


NO_STAND_INS = StandIns()


def stand_ins(folder: RunFolder, record: Mapping[str, Any], *, repeat: bool = False) -> StandIns:
    """Return which copies are to be imported: all or none, since they belong together.

    Args:
        folder: of the run.
        record: its ``run.json``.
        repeat: for a new run that repeats it: also if files have only changed. Else the copies are
            imported only if a file is gone.
    """
    sources = record.get("sources", {})
    missing = any(not os.path.isfile(original) for original in sources.values())
    if not missing and not (repeat and altered(folder, record)):
        return NO_STAND_INS
    pairs = {original: (folder.path / copy).resolve() for copy, original in sources.items()}
    return StandIns({o: copy for o, copy in pairs.items() if copy.is_file()}, repeat)


def of_stored_config(path: Path) -> StandIns:
    """Return what stands in for changed or missing files when the config of a run is run again."""
    folder = RunFolder(path.parent)
    if path.name != folder.config.name or not folder.record.is_file():
        return NO_STAND_INS
    return stand_ins(folder, read_record(folder), repeat=True)


def to_keep(
    sources: Iterable[str], folder: RunFolder, record: Mapping[str, Any]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the copies that a run folder is to have, and what each is a copy of.

    Those of the beginning stay; where files have changed before the run goes on, there are new
    ones beside them (``sources-1``).
    """
    times = len(record.get("resumed", []))
    copies = copies_of(sources, f"{FOLDER}-{times}" if times else FOLDER)
    known: dict[str, str] = record.get("sources", {})
    inside = all(file.is_relative_to(folder.path.resolve()) for file, _ in copies.values())
    now = {str(file): sha256(data) for file, data in copies.values()}
    then = {original: record["files"].get(copy) for copy, original in known.items()}
    if known and (inside or now == then):
        kept = [copy for copy in known if (folder.path / copy).is_file()]
        return {copy: (folder.path / copy).read_bytes() for copy in kept}, known
    contents = {copy: data for copy, (_, data) in copies.items()}
    return contents, {copy: str(file) for copy, (file, _) in copies.items()}
