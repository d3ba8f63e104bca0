"""The way of a config through the rooms of the trainer, which docs/design.md gives in numbers."""

import re
from pathlib import Path

from tests.tools import walk

DESIGN = Path(__file__).parents[3] / "docs" / "design.md"


def test_the_walk_of_a_config_is_as_short_as_the_design_says(reports):
    text = DESIGN.read_text(encoding="utf-8")
    rooms, returns = map(int, re.search(r"(\d+) rooms, with (\d+) returns", text).groups())
    stays = walk.walk()
    named = {room for room, _ in stays}
    assert {"commands", "config", "assemble", "run"} <= named
    assert (len(named), walk.returns_in(stays)) == (rooms, returns)
