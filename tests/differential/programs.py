"""All programs, family by family."""

from pathlib import Path

from tinynet.extension_dtypes import installed

from . import (
    programs_at_zero,
    programs_backward,
    programs_calls,
    programs_copies,
    programs_data,
    programs_engine,
    programs_function_contexts,
    programs_function_oddities,
    programs_function_outputs,
    programs_functions,
    programs_grad,
    programs_gradients,
    programs_half,
    programs_higher_order,
    programs_hooks,
    programs_hooks_and_writes,
    programs_in_place,
    programs_index_lists,
    programs_indexed_writes,
    programs_leaf_writes,
    programs_leaves,
    programs_mixtures,
    programs_modes,
    programs_node_calls,
    programs_nodes,
    programs_saved_tensors,
    programs_second_nodes,
    programs_sizes,
    programs_tools,
    programs_versions,
    programs_view_histories,
    programs_view_oddities,
    programs_view_writes,
    programs_views,
    programs_written_views,
)
from .spec import Family, Program

FOLDER = Path(__file__).parent / "answers"

FAMILIES: tuple[Family, ...] = (
    programs_views.program,
    programs_view_writes.program,
    programs_view_histories.program,
    programs_in_place.program,
    programs_indexed_writes.program,
    programs_versions.program,
    programs_leaves.program,
    programs_data.program,
    programs_hooks.program,
    programs_hooks_and_writes.program,
    *([programs_half.program] if installed() else []),  # its programs need ml_dtypes
    programs_nodes.program,
    programs_node_calls.program,
    programs_second_nodes.program,
    programs_at_zero.program,
    programs_saved_tensors.program,
    programs_index_lists.program,
    programs_functions.program,
    programs_function_outputs.program,
    programs_function_contexts.program,
    programs_modes.program,
    programs_backward.program,
    programs_calls.program,
    programs_grad.program,
    programs_gradients.program,
    programs_higher_order.program,
    programs_copies.program,
    programs_sizes.program,
    programs_engine.program,
    programs_view_oddities.program,
    programs_function_oddities.program,
    programs_leaf_writes.program,
    programs_mixtures.program,
    programs_written_views.program,
    programs_tools.program,
)

PROGRAMS: tuple[Program, ...] = tuple(p for family in FAMILIES for p in family.programs)
