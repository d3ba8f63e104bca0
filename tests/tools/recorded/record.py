"""Record PyTorch's answers: `python -m tests.tools.recorded.record [SUITE[:FAMILY] ...]`.

Without arguments, all suites are recorded, optimizers and PyTorch's own tables. `--errors` prints
the errors and warnings in the answers. Read them whenever you add entries: a slip looks like an
expected one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from tests.answers.pytorch_tables import record as tables
from tests.unit.optim import record as optimizers

from . import live, store
from .suite import Suite, suites

OTHERS = {"optim": lambda family: optimizers.main(), "pytorch_tables": tables.record}
"""Answers of other forms, in their packages."""


def record(suite: Suite, only: str = "") -> dict[str, Any]:
    """Write PyTorch's answers to a suite, or to one family of it, and return them.

    Raises:
        SystemExit: an entry does not end in PyTorch as it should.
    """
    families = [suite.families[only]] if only else [*suite.families.values()]
    kept = {family.name for family in families if family.skip}  # recorded where they can run
    families = [family for family in families if not family.skip]
    answers = {
        family.name: {e.name: e.answer(live.torch) for e in family.entries.values()}
        for family in families
    }
    wrong = [e.complaint(answers[f.name][e.name]) for f in families for e in f.entries.values()]
    if any(wrong):
        raise SystemExit("\n".join(filter(None, wrong)))
    suite.path.mkdir(exist_ok=True)
    for path in suite.path.iterdir() if not only else ():
        if path.stem not in kept:
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
    known = {suite.name: suite for suite in suites()}
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.recorded.record", description=__doc__
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join([*known, *OTHERS]))
    parser.add_argument("--errors", action="store_true", help="print errors and warnings")
    options = parser.parse_args()
    live.prepare()
    for chosen in options.suites or [*known, *OTHERS]:
        name, _, family = chosen.partition(":")
        if name in OTHERS:
            OTHERS[name](family)
            continue
        answers = record(known[name], family)
        if options.errors:
            print(*errors_in(answers, name), sep="\n")


if __name__ == "__main__":
    main()
