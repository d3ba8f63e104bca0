"""All programs, family by family."""

from pathlib import Path

from tests.differential.spec import Family, Program

from . import (
    programs_hooks,
    programs_members,
    programs_norms,
    programs_parametrize,
    programs_state,
)

FOLDER = Path(__file__).parent / "answers"

FAMILIES: tuple[Family, ...] = (
    programs_hooks.program,
    programs_members.program,
    programs_state.program,
    programs_parametrize.program,
    programs_norms.program,
)

PROGRAMS: tuple[Program, ...] = tuple(p for family in FAMILIES for p in family.programs)
