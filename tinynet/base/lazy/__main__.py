"""``python -m tinynet.base.lazy`` writes what lazy packages and Tensor read.

``table.py`` comes from the imports of lazy packages, ``operations.py`` from the declarations.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
HEAD = '''"""Where {whose} find their names. Written by ``python -m tinynet.base.lazy``.

Of each, the modules with their names: ``name``, ``name=attribute``, or ``name=`` for the module
itself{also}.
"""

{variable} = {{
'''


def eager_names(path: Path) -> set[str]:
    """Return the names that an ``__init__.py`` imports at once."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    imports = [statement for statement in body if isinstance(statement, ast.ImportFrom)]
    return {alias.asname or alias.name for one in imports for alias in one.names}


def lazy_imports(path: Path) -> list[ast.ImportFrom]:
    """Return the imports that an ``__init__.py`` shows to type checkers only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        statement
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and node.orelse
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
    ]


def homes(package: str, statement: ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Return the names that a statement defines, each with ``module`` or ``module:attribute``.

    As everywhere in Python, importing from ``package.part.file`` defines ``part`` in the package.
    """
    assert statement.module
    if statement.module.startswith(f"{package}."):
        part = statement.module.removeprefix(f"{package}.").partition(".")[0]
        yield part, f"{package}.{part}"
    for alias in statement.names:
        if alias.name == "*":
            yield from ((name, f"{statement.module}:{name}") for name in _all(statement.module))
        elif _is_module(statement.module, alias.name):
            yield alias.asname or alias.name, f"{statement.module}.{alias.name}"
        else:
            yield alias.asname or alias.name, f"{statement.module}:{alias.name}"


def _all(module: str) -> list[str]:
    """Return the ``__all__`` of a module, which is not loaded for that, or of a package's stub."""
    path = PACKAGE.parent.joinpath(*module.split("."))
    path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError(f"{module} has no __all__")


def _is_module(package: str, name: str) -> bool:
    path = PACKAGE.parent.joinpath(*package.split("."), name)
    return path.is_dir() or path.with_suffix(".py").exists()


def table() -> str:
    """Return the text of ``table.py``."""
    tables = {}
    for path in sorted(PACKAGE.rglob("__init__.py")):
        package = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        statements = lazy_imports(path)
        if statements:
            found = dict(home for statement in statements for home in homes(package, statement))
            for name in eager_names(path) & found.keys():
                del found[name]
            tables[package] = found
    return _text(tables, HEAD.format(whose="lazy packages", also="", variable="MODULES"))


def operations() -> str:
    """Return the text of ``operations.py``.

    A process of its own records which names there are after each file.
    """
    recorder = Path(__file__).with_name("recorder.py")
    command = [sys.executable, str(recorder), *_declaring()]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    also = ". ``name=property`` is a property of Tensor"
    head = HEAD.format(whose="tensors and operations", also=also, variable="OPERATIONS")
    return _text(json.loads(done.stdout), head)


def _declaring() -> list[str]:
    """Return the modules of operations, and others that declare methods of Tensor."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        part, name = path.relative_to(PACKAGE).parts[0], path.stem
        if part == "ops":
            declares = path.parent.name != "batching" and name not in ("__init__", "everything")
        else:
            text = path.read_text(encoding="utf-8")
            declares = part != "core" and bool(re.search(r"tensor import .*\bmethod\b", text))
        if declares:
            found.append(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    return found


def _text(tables: Mapping[str, Mapping[str, str]], head: str) -> str:
    lines = []
    for package, found in tables.items():
        lines += [f'    "{package}": {{\n', *map(_entry, _by_module(found)), "    },\n"]
    return f"{head}{''.join(lines)}}}\n"


def _by_module(found: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each module with its names."""
    names: dict[str, list[str]] = {}
    for name, home in found.items():
        module, _, attribute = home.partition(":")
        names.setdefault(module, []).append(name if name == attribute else f"{name}={attribute}")
    yield from ((module, " ".join(found)) for module, found in names.items())


def _entry(module_and_names: tuple[str, str]) -> str:
    """Return the lines of a module, of at most 100 characters."""
    module, names = module_and_names
    line = f'        "{module}": "{names}",\n'
    if len(line) <= 101:
        return line
    parts = [names] if len(names) <= 86 else textwrap.wrap(names, 84)
    texts = [f'            "{part} "\n' for part in parts[:-1]]
    return "".join([f'        "{module}": (\n', *texts, f'            "{parts[-1]}"\n        ),\n'])


def main(arguments: list[str]) -> int:
    """Write the tables, or compare them; the result is the exit status."""
    for make in (table, operations):
        text, path = make(), Path(__file__).with_name(f"{make.__name__}.py")
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if arguments == ["--check"]:
            print(f"{path} is out of date: run python -m tinynet.base.lazy")
            return 1
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
