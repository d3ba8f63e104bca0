"""All programs, family by family."""

from pathlib import Path

from tests.differential.spec import Family, Program

from . import (
    programs_containers,
    programs_edges,
    programs_hooks,
    programs_init,
    programs_lazy,
    programs_lazy_layers,
    programs_members,
    programs_norms,
    programs_orthogonal,
    programs_parametrize,
    programs_prune,
    programs_state,
    programs_testing,
    programs_transforms,
    programs_utils,
    programs_vmap,
)

FOLDER = Path(__file__).parent / "answers"

FAMILIES: tuple[Family, ...] = (
    programs_hooks.program,
    programs_members.program,
    programs_state.program,
    programs_parametrize.program,
    programs_norms.program,
    programs_orthogonal.program,
    programs_utils.program,
    programs_edges.program,
    programs_init.program,
    programs_containers.program,
    programs_lazy.program,
    programs_lazy_layers.program,
    programs_transforms.program,
    programs_vmap.program,
    programs_prune.program,
    programs_testing.program,
)

PROGRAMS: tuple[Program, ...] = tuple(p for family in FAMILIES for p in family.programs)
