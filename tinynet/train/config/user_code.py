"""The user's classes and functions: ``./file.py:Name`` or ``package.module:Name``."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tinynet.core.explanations.arguments import nearest
from tinynet.train.base.problems import did_you_mean, in_users_code, one_of
from tinynet.train.config.sources import NO_STAND_INS, StandIns, traced

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
            folder: the folder that ``./file.py`` is relative to; defaults to that of the config.

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
    """Put folders at the front of the import path, as Python does with that of a script."""
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
