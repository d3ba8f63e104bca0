"""The public names of tinynet with the parameters of each: what a user's program may rely on.

``python -m tests.tools.manifest`` writes ``manifest.txt``. A difference in it is a change that
users see.
"""

import enum
import importlib
import inspect
import pkgutil
from pathlib import Path

import tinynet
from tinynet.base import lazy

FILE = Path(__file__).with_suffix(".txt")
ENGINE = """
    as_torch base capture compat core dtypes errors kernels ops
""".split()
"""Parts of tinynet from which users import nothing."""


def public_modules():
    """Yield the paths of packages and top modules that users import from."""
    yield "tinynet"
    for info in pkgutil.iter_modules(tinynet.__path__, "tinynet."):
        name = info.name.removeprefix("tinynet.")
        if name not in ENGINE and not name.startswith("_"):
            yield info.name
            if info.ispkg and name in ("nn", "optim", "data", "autograd", "utils"):
                yield from packages_in(info.name)


def packages_in(package):
    """Yield the packages inside a package, and the modules directly in one of the top."""
    home = importlib.import_module(package)
    for info in pkgutil.iter_modules(home.__path__, f"{package}."):
        if info.ispkg or package.count(".") == 1:
            yield info.name
            if info.ispkg:
                yield from packages_in(info.name)


def parameters(value):
    """Return the parameters as text, without annotations and the values of defaults."""
    if isinstance(value, enum.EnumMeta):
        return ""  # each version of Python has another
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    plain = [
        p.replace(
            annotation=p.empty,
            default=p.default if p.default is p.empty else _Given(),
        )
        for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


class _Given:
    """The text of a default value."""

    def __repr__(self):
        return "..."


def entries(path, seen):
    """Yield a line for each public name of a module, and for the members of classes, once each."""
    module = importlib.import_module(path)
    for name, value in sorted(lazy.members(module).items()):
        home = getattr(value, "__module__", None) or ""
        own = home.startswith("tinynet") if hasattr(module, "__path__") else home == path
        if name.startswith("_") or inspect.ismodule(value) or not own:
            continue
        yield f"{path}.{name}{parameters(value)}"
        if inspect.isclass(value) and value not in seen:
            seen.add(value)
            yield from (f"{path}.{name}.{member}" for member in members(value))


def members(kind):
    """Yield the public members of a class itself, with the parameters of its methods."""
    for name in sorted(vars(kind)):
        if not name.startswith("_"):
            held = inspect.getattr_static(kind, name)
            function = getattr(held, "__func__", held)
            yield name + (parameters(function) if inspect.isroutine(function) else "")


def lines():
    """Return the lines of the manifest."""
    seen: set[type] = set()
    return [entry for path in public_modules() for entry in entries(path, seen)]


if __name__ == "__main__":
    FILE.write_text("\n".join([*lines(), ""]), encoding="utf-8")
