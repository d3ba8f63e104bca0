"""Records PyTorch's answers: `python -m tests.recorded.record [FOLDER ...] [--errors]`.

Without folders, all suites and PyTorch's own tables are recorded. `--errors` prints the errors and
warnings in the answers. Read them whenever you add entries: a slip looks like an expected error.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from . import live, store
from .suite import Suite, suites


def record(suite: Suite) -> dict[str, Any]:
    """Write PyTorch's answers to a suite, and return them.

    Raises:
        SystemExit: an entry does not end in PyTorch as it should.
    """
    answers = {
        family.name: {e.name: e.answer(live.torch) for e in family.entries.values()}
        for family in suite.families.values()
    }
    wrong = [entry.complaint(answers[entry.family][entry.name]) for entry in suite.entries]
    if any(wrong):
        raise SystemExit("\n".join(filter(None, wrong)))
    suite.path.mkdir(exist_ok=True)
    for path in suite.path.iterdir():
        path.unlink()
    for family, found in answers.items():
        store.save(suite.path / family, found)
    (suite.path / "version.json").write_text(json.dumps({"torch": live.VERSION}) + "\n")
    print(f"{suite.folder}: {sum(map(len, answers.values()))} answers of PyTorch {live.VERSION}")
    return answers


def errors_in(value: Any, path: str) -> Iterator[str]:
    """Yield the errors and warnings in an answer."""
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from errors_in(part, f"{path}[{number}]")
    elif isinstance(value, dict):
        if "raises" in value:
            yield f"{path}: {value['raises']}: {value['says']}"
        if "warns" in value:
            yield f"{path}: {value['warns']}"
        for key, part in value.items():
            yield from errors_in(part, f"{path}/{key}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded.record", description=__doc__)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="such as nn/machinery")
    parser.add_argument("--errors", action="store_true", help="print errors and warnings")
    options = parser.parse_args()
    live.prepare()
    for suite in suites():
        if not options.folders or suite.folder in options.folders:
            answers = record(suite)
            if options.errors:
                print(*errors_in(answers, suite.folder), sep="\n")


if __name__ == "__main__":
    main()
