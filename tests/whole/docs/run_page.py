"""Runs the programs of one page of the documentation: `python tests/whole/docs/run_page.py PAGE`.

The blocks marked ``python`` share one namespace. A block with ``title="name"`` is also written to
the file of that name, unless it is marked ``text``: those quote files of tinynet. A block marked
``output`` is what the one before it prints; if that ends with an error, its last lines are the
error as Python would show it, without the traceback. In messages, a page is ``example.py``.
"""

import contextlib
import io
import linecache
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)(?: title=\"(.*?)\")?\n(.*?)^```$", re.M | re.S)
BLANK = re.compile(r"\d+(\.\d+)? (s|ms|µs|s/epoch)\b")


def blocks(page):
    """The programs of a page, each with the output that it shows, or None; files are written."""
    found = BLOCK.findall(page)
    after = [*found[1:], ("", "", "")]
    for (language, title, text), (following, _, shown) in zip(found, after, strict=True):
        if title and language != "text":
            Path(title).write_text(text, encoding="utf-8")
        if language == "python":
            yield text, shown if following == "output" else None


def run(program, names):
    """What a program prints, with the error at the end if there is one.

    To messages, all programs of a page are one file.
    """
    before = names.get("__source__", "")
    names["__source__"] = source = before + program
    linecache.cache["example.py"] = (len(source), None, source.splitlines(True), "example.py")
    padded = "\n" * before.count("\n") + program
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(padded, "example.py", "exec"), names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
            names["__error__"] = error
    return said.getvalue()


def joined(text):
    """Text without its line breaks and the times in it: pages break long lines."""
    return " ".join(BLANK.sub("TIME", text).split())


def check(page):
    """Run a page; return how many programs it has."""
    names = {"__name__": "__main__"}
    count = 0
    for program, shown in blocks(page):
        count += 1
        names.pop("__error__", None)
        said = run(program, names)
        if shown is None and "__error__" in names:
            raise AssertionError(f"this program fails:\n{program}") from names["__error__"]
        if shown is not None and joined(said) != joined(shown):
            raise AssertionError(f"this program:\n{program}\nshows:\n{shown}\nbut says:\n{said}")
    return count


if __name__ == "__main__":
    print(check(Path(sys.argv[1]).read_text(encoding="utf-8")), "programs")
