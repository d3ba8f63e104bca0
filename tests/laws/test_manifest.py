"""No public name or parameter is lost by accident."""

import difflib

from tests.tools.manifest import FILE, lines


def test_public_names_and_parameters_are_those_of_the_manifest():
    recorded = FILE.read_text(encoding="utf-8").splitlines()
    changed = [
        line
        for line in difflib.ndiff(sorted(recorded), sorted(lines()))
        if line[:2] in ("- ", "+ ")
    ]
    assert not changed, "\n".join([*changed, "If this is meant: python -m tests.tools.manifest"])
