"""The user's classes and functions (``./file.py:Name``, ``package.module:Name``) and their sources.

``sources/`` in the folder of a run holds a copy of each file of the user's, with their relative
folders, and ``run.json`` the path of each original. So a run can be repeated after the files have
changed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from tinynet.core.explanations.arguments import nearest
from tinynet.train.base.files import read_bytes, sha256
from tinynet.train.base.problems import did_you_mean, in_users_code, one_of
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


GRAMMAR = "a name from the list, ./file.py:Name, or package.module:Name"


class NotFoundError(Exception):
    """A reference that cannot be resolved."""


class Importer:
    """Resolves the references of a config. It executes each file once.

    Args:
        folder: the folder of the config file, which ``./file.py`` is relative to.
        extra: more folders to search for modules (``run.path``).
        stand_ins: copies to import in place of changed or missing files.
    """

    def __init__(
        self, folder: Path, extra: Sequence[str] = (), stand_ins: StandIns = NO_STAND_INS
    ) -> None:
        self.folder = folder
        self.stand_ins = stand_ins
        own = [str(f.resolve()) for f in (Path(), folder, *map(Path, extra))]
        self.search = [*stand_ins.folders, *own]
        self._modules: list[str] = []
        self._files: dict[Path, ModuleType] = {}

    def find(self, reference: str, folder: Path | None = None) -> tuple[Any, str]:
        """Return the object of a reference, and the reference with an absolute path.

        Args:
            reference: ``"./file.py:Name"`` or ``"package.module:Name"``.
            folder: the folder that ``./file.py`` is relative to; defaults to the config's folder.

        Raises:
            NotFoundError: if the file, module or name does not exist, or its code fails.
        """
        place, _, name = reference.rpartition(":")
        if not place or not name:
            raise NotFoundError(f"{reference!r} is not {GRAMMAR}")
        if place.endswith(".py"):
            path = ((folder or self.folder) / place).resolve()
            copy = self.stand_ins.files.get(str(path), path)
            if copy not in self._files:
                self._files[copy] = self._load_file(copy, place)
            known_as = copy if self.stand_ins.renamed else path
            return _attribute(self._files[copy], name, place), f"{known_as}:{name}"
        module = self._load_module(place)
        self._modules.append(place)
        return _attribute(module, name, place), reference

    @property
    def used_modules(self) -> bool:
        """Whether a reference used a module name."""
        return bool(self._modules)

    def sources(self) -> tuple[str, ...]:
        """Return the user's files that were imported, directly or indirectly."""
        found = traced(self._files, self._modules, [Path(folder) for folder in self.search])
        return tuple(map(str, found))

    def without_a_name(self, place: str, folder: Path) -> str:
        """Return the problem with a reference ``./file.py`` without a name."""
        path = (folder / place).resolve()
        try:
            module = self._load_file(path, place)
        except NotFoundError as error:
            return str(error)
        own = _defined(module, module)
        hint = f": write '{place}:{own[0]}'" if len(own) == 1 else ""
        return f"{place!r} names no class or function in the file{hint}. It defines: {one_of(own)}"

    def _load_file(self, path: Path, place: str) -> ModuleType:
        if not path.is_file():
            other = nearest(path.stem, (file.stem for file in path.parent.glob("*.py")))
            hint = f"; did you mean {other}.py?" if other else "."
            raise NotFoundError(f"there is no file {place}{hint} Tried: {path}")
        digest = hashlib.sha256(str(path).encode()).hexdigest()[:8]
        name = f"{path.stem}_{digest}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise NotFoundError(f"{place} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        _drop_namesakes(path.parent)
        sys.modules[name] = module  # dataclasses and type hints need it while the module runs
        try:
            with on_path([str(path.parent), *self.search]), _users_errors(place):
                spec.loader.exec_module(module)
        except NotFoundError:
            del sys.modules[name]
            raise
        return module

    def _load_module(self, name: str) -> ModuleType:
        if not all(part.isidentifier() for part in name.split(".")):
            raise NotFoundError(f"{name!r} is not the name of a module; {GRAMMAR} is possible")
        importlib.invalidate_caches()
        with on_path(self.search), _users_errors(name):
            top, _, _ = name.partition(".")
            try:
                module = importlib.import_module(name)
            except ModuleNotFoundError as error:
                if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                    raise  # a module that the user's module imports
                tried = "".join(f"\n    {folder}" for folder in self.search)
                raise NotFoundError(
                    f"there is no module {error.name!r}. "
                    f"Tried these folders and Python's own:{tried}"
                ) from None
            self._refuse_namesake(top)
        return module

    def _refuse_namesake(self, top: str) -> None:
        """Raise if a different module of that name has already been imported."""
        spec = importlib.machinery.PathFinder.find_spec(top, self.search)
        loaded = getattr(sys.modules[top], "__file__", None)
        if spec is None or spec.origin is None or loaded is None:
            return
        if Path(loaded).resolve() != Path(spec.origin).resolve():
            raise NotFoundError(
                f"module {top!r} has already been imported from {loaded}, "
                f"so {spec.origin} cannot be; name it by its file, such as ./{top}.py:Name"
            )


@contextlib.contextmanager
def on_path(folders: Sequence[str]) -> Iterator[None]:
    """Put folders at the front of the import path, as Python does with a script's folder."""
    sys.path[:0] = folders
    try:
        yield
    finally:
        for folder in folders:  # one by one: the user's code may have added others
            with contextlib.suppress(ValueError):
                sys.path.remove(folder)


@contextlib.contextmanager
def _users_errors(place: str) -> Iterator[None]:
    """Convert any exception of the user's code to a NotFoundError with the user's lines."""
    try:
        yield
    except NotFoundError:
        raise
    except (Exception, SystemExit) as error:
        raise NotFoundError(f"importing {place} failed\n{in_users_code(error)}") from None


def _drop_namesakes(folder: Path) -> None:
    """Remove modules of the same names that an earlier config imported from its folder."""
    for file in [*folder.glob("*.py"), *folder.glob("*/__init__.py")]:
        name = file.parent.name if file.name == "__init__.py" else file.stem
        loaded = getattr(sys.modules.get(name), "__file__", None)
        if loaded is None or name in sys.stdlib_module_names:
            continue
        home = Path(loaded).parent.parent if file.name == "__init__.py" else Path(loaded).parent
        on_standing_path = str(home) in sys.path or str(home.resolve()) in sys.path
        if Path(loaded).resolve() != file.resolve() and not on_standing_path:
            for known in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
                del sys.modules[known]


def _attribute(module: ModuleType, name: str, place: str) -> Any:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            own = _defined(value, module)
            hint = did_you_mean(part, own) or "."
            raise NotFoundError(f"{place} has no {part!r}{hint} It defines: {one_of(own)}")
        value = getattr(value, part)
    return value


def _defined(value: Any, module: ModuleType) -> list[str]:
    """Return the names of the public classes and functions of a module, or of a class in it."""
    return [
        name
        for name, v in vars(value).items()
        if callable(v) and not name.startswith("_") and inspect.getmodule(v) in (module, None)
    ]
