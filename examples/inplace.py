"""In-place operations: fifteen situations that fail, their messages, and the fixed programs.

Run: python examples/inplace.py        the list
     python examples/inplace.py 3      the third: broken program, message, fixed program
     python examples/inplace.py w1     one that raises nothing, but does not train either

The tests run these programs from tests/whole/situations; docs/inplace.md shows all of them.
"""

import sys
import warnings
from pathlib import Path

SITUATIONS = Path(__file__).parents[1] / "tests" / "whole" / "situations"
SAYS = "# ---- says ----"  # in a broken program, before the checks of the tests


def main(choice=None):
    """Print the list, or run the programs of one situation."""
    broken = sorted(SITUATIONS.glob("sketches/*.py"))
    names = [str(int(p.stem[1:3])) if p.stem.startswith("s") else p.stem[:2] for p in broken]
    if choice not in names:
        for name, path in zip(names, broken, strict=True):
            print(f"{name:>3}  {mended_of(path)[0]}")
        return
    for name, path in zip(names, broken, strict=True):
        if name == choice:
            show(path)


def mended_of(path):
    """Return the title, the explanation and the fixed program."""
    _, text, program = (SITUATIONS / "mended" / path.name).read_text("utf-8").split('"""', 2)
    title, _, explanation = text.partition("\n")
    return title, explanation.strip(), program.strip()


def show(path):
    """Print the broken program, its outcome, and the fixed program."""
    title, explanation, mended = mended_of(path)
    program = path.read_text("utf-8").partition(SAYS)[0].strip()
    print(f"{title}\n\n{indented(program)}\n\nsays:\n")
    print(f"{indented(outcome(program, path))}\n\n{explanation}\n\n{indented(mended)}\n")
    print("says:", outcome(mended, path) or "nothing")


def outcome(program, path):
    """Run a program, and return its error or warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(program, path, "exec"), {"__name__": "__main__"})
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "\n".join(str(warning.message) for warning in caught)


def indented(text):
    """Indent a text."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


if __name__ == "__main__":
    main(*sys.argv[1:])
