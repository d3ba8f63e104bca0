"""``python -m tinynet.as_torch program.py ...``: run a PyTorch program on tinynet.

With ``--report``, it lists the names that tinynet lacks: those met at run time, or found in the
text of the program.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import runpy
import sys
from collections.abc import Iterator
from modulefinder import ModuleFinder
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from tinynet.as_torch import hook
from tinynet.as_torch.hook import PATHS, Absence, is_served
from tinynet.core.printing import quantity

_DESCRIPTION = "``python -m tinynet.as_torch program.py ...``: run a PyTorch program on tinynet."
HERE = os.path.dirname(__file__)


def main(arguments: list[str]) -> int:
    """Run the program named by the arguments; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tinynet.as_torch", description=_DESCRIPTION)
    parser.add_argument(
        "--report",
        action="store_true",
        help="list the names that the program uses and tinynet lacks",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="a module, not a file")
    parser.add_argument("program", help="the script, or with -m the module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program gets")
    options = parser.parse_args(arguments)
    status = run(options.program, options.arguments, options.module)
    if options.report:
        print(*reported(options.program, options.module), sep="\n", file=sys.stderr)
    return status


def run(program: str, arguments: list[str], as_module: bool) -> int:
    """Run a program as Python would, with its own ``sys.argv``, ``sys.path`` and ``__main__``."""
    sys.argv[:] = [program, *arguments]
    try:
        if as_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(program))
            if hook.defines_tensor_likes(program):
                hook.ask()
            runpy.run_path(program, run_name="__main__")
    except (AttributeError, ImportError) as error:
        line = asked_for(error)
        if line is None:
            _show(error)
        else:
            print(line, file=sys.stderr)
        return 1
    except Exception as error:
        _show(error)
        return 1
    return 0


def asked_for(error: AttributeError | ImportError) -> hook.Absence | None:
    """Return the name missing from tinynet that raised ``error``, if there is one."""
    place = _own(error.__traceback__)
    if place is None:
        return None
    while place.tb_next and not _inside(place.tb_next):
        place = place.tb_next
    file, line = place.tb_frame.f_code.co_filename, place.tb_lineno
    owner = type(getattr(error, "obj", None))
    ours = owner.__module__.startswith(("tinynet.", "torch"))
    if ours and not issubclass(owner, ModuleType):
        hook.absences[found := hook.Absence(file, line, _shown(owner, error.name))] = 1
        return found
    return next((a for a in reversed(hook.absences) if a[:2] == (file, line)), None)


def _shown(owner: type, name: Any) -> str:
    """Return PyTorch's name of a class's attribute."""
    return f"{owner.__module__}.{owner.__name__}.{name}"


def _inside(entry: TracebackType) -> bool:
    name = entry.tb_frame.f_code.co_filename
    return name.startswith((os.path.dirname(HERE) + os.sep, "<frozen", "<tinynet"))


def _own(entry: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the entries that lead to the program."""
    while entry and _inside(entry):
        entry = entry.tb_next
    return entry


def _show(error: Exception) -> None:
    # With several processes, the hook ends all of them.
    own = error.with_traceback(_own(error.__traceback__))
    sys.excepthook(type(own), own, own.__traceback__)


def reported(program: str, as_module: bool) -> list[str]:
    """Return the lines of the report: names met at run time, or found in the program's text."""
    seen = dict(hook.absences)
    if not as_module:
        for file in files_of(program):
            for absence in absent_in(file):
                seen.setdefault(absence, 0)
    met = {0: "in the text", 1: "met once"}
    lines = [
        f"{absence} ({met.get(count, f'met {count} times')})"
        for absence, count in sorted(seen.items())
    ]
    return [*lines, f"{quantity(len(lines), 'name')} that tinynet lacks"]


# ---- names in the text of a program -------------------------------------------------------------


def files_of(script: str) -> list[str]:
    """Return the files of a program: its script, and the local modules that it imports."""
    finder = ModuleFinder(path=[str(Path(script).parent)])
    finder.run_script(script)
    files = [getattr(module, "__file__", None) for module in finder.modules.values()]
    return [file for file in files if file]


def absent_in(file: str) -> Iterator[Absence]:
    """Yield the names that a file uses and tinynet lacks."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"), file)
    aliases: dict[str, str] = {}  # a name in the program -> its path in torch
    nodes = [*ast.walk(tree)]
    for statement in nodes:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        for name, path in _imported(statement):
            if is_served(path):
                aliases[name] = path
                if missing := first_missing(path):
                    yield Absence(file, statement.lineno, missing)
    for node in nodes:
        if isinstance(node, ast.Attribute):
            dotted = _dotted(node, aliases)
            # The parts of a longer chain are its prefixes: check only the last attribute.
            if dotted and first_missing(dotted) == dotted:
                yield Absence(file, node.lineno, dotted)


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield the names that a statement binds, each with its dotted path."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if not node.level and alias.name != "*":
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            yield alias.name.partition(".")[0], alias.name.partition(".")[0]
            if "." in alias.name:
                yield alias.name, alias.name  # binds no name, but must be checked


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value, aliases)
        return inner and f"{inner}.{node.attr}"
    return None


def first_missing(path: str) -> str | None:
    """Return the prefix of a dotted path up to the first missing name; None if none is missing."""
    parts = path.split(".")
    if parts[0] not in PATHS:
        return parts[0]
    value: Any = importlib.import_module(parts[0])
    for n, part in enumerate(parts[1:], 2):
        inner = ".".join(parts[:n])
        if inner in PATHS:
            value = importlib.import_module(inner)
        elif not isinstance(value, (ModuleType, type)):
            return None
        elif part in vars(value) or (isinstance(value, type) and hasattr(value, part)):
            value = getattr(value, part)
        else:
            return inner
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
