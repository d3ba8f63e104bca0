"""``python -m tinynet.as_torch program.py ...``: run a PyTorch program on tinynet."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from types import ModuleType, TracebackType
from typing import Any

from tinynet.as_torch import hook, report
from tinynet.core.printing import quantity

HERE = os.path.dirname(__file__)


def main(arguments: list[str]) -> int:
    """Run the program named by the arguments; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tinynet.as_torch", description=__doc__)
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
        for file in report.files_of(program):
            for absence in report.absent_in(file):
                seen.setdefault(absence, 0)
    met = {0: "in the text", 1: "met once"}
    lines = [
        f"{absence} ({met.get(count, f'met {count} times')})"
        for absence, count in sorted(seen.items())
    ]
    return [*lines, f"{quantity(len(lines), 'name')} that tinynet lacks"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
