"""Where tinynet shows something else than PyTorch on purpose, each with its reason."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.tools.recorded.departures import Departure, Instead, Matching


def result(values: list[float], grad_fn: str, version: int) -> dict[str, Any]:
    """A tensor of float32 with a history."""
    return {
        "tensor": np.array(values, "float32"),
        "requires_grad": True,
        "grad_fn": grad_fn,
        "is_leaf": False,
        "version": version,
    }


FROM_A_LEAF = "LostGradientWarning: backward() was called on a leaf: only its own .grad is computed"

TEXTS = (
    Departure(
        "A leaf's accumulator is a node of tinynet's own, with its own name.",
        said=r"tinynet::autograd::AccumulateGrad",
        ours=lambda said: "AccumulateGrad",
    ),
    Departure(
        "t_() is the view operation t, applied in place.",
        said=r"TBackward1",
        ours=lambda said: "TBackward0",
    ),
    Departure(
        "The same in the text that names the producer of a changed value.",
        said=r"(.* is output 0 of )T1(, is .*)",
        ours=lambda said: rf"{re.escape(said[1])}TBackward0{re.escape(said[2])}",
    ),
    Departure(
        "tinynet's dtype names are one word each; PyTorch prints C++ names.",
        said=r"(attempting to assign a gradient with dtype ')long int(' .*)",
        ours=lambda said: re.escape(f"{said[1]}long{said[2]}"),
    ),
    Departure(
        "An earlier wording of PyTorch that states both the cause and the remedy.",
        said=r"Trying to backward through the graph a second time \(or directly access.*",
        ours=lambda said: (
            r"Trying to backward through the graph a second time, but the (saved intermediate"
            r" results|buffers) have already been freed"
        ),
    ),
    Departure(
        "Every indexed write is a <CopySlices>; for `a[:] = 0`, PyTorch 2.13 detects a write to "
        "the whole tensor and skips the view.",
        said=r"FillBackward3|CopyBackwards",
        ours=lambda said: "CopySlices",
        cases="indexed_writes/*",
    ),
    Departure(
        "The same for `y[...] = x` and `y[()] = 7.0` without dimensions, and without elements.",
        said=r"FillBackward3|CopyBackwards",
        ours=lambda said: "CopySlices",
        cases="sizes/a*_result_written_*",
    ),
    Departure(
        "A value that was partly overwritten keeps its producer's name: AddBackward0 after `b[0] "
        "= 1000`. PyTorch 2.13 names the write.",
        said=r"(.* is output 0 of )tinynet::autograd::CopySlices(, is .*)",
        ours=lambda said: rf"{re.escape(said[1])}\w+Backward\d{re.escape(said[2])}",
    ),
    Departure(
        "Python's own message refuses an attribute without a setter.",
        said=r"attribute '\w+' of 'tinynet._C.TensorBase' objects is not writable",
        ours=lambda said: r"property .*of 'Tensor' object has no setter",
    ),
    Departure(
        "Python's own message refuses a wrong number of arguments.",
        said=r"missing a required argument: '(\w+)'",
        ours=lambda said: rf".* missing 1 required positional argument: '{said[1]}'",
    ),
)

SAVED_ARRAYS = "Nodes save arrays, never tensors: a saved result is freed with its last reference."

SEEDS = "An indexed assignment to a leaf is recorded; backward refuses it and names both lines."
MOVED = {
    "raises": "RuntimeError",
    "says": "leaf variable has been moved into the graph interior",
}

INSTEAD = (
    Instead(
        SEEDS,
        "leaf_writes/an_assignment_makes_the_leaf_a_result",
        {"sees.error": None, "sees.x": result([0, 0], "CopySlices", version=1)},
    ),
    Instead(
        SEEDS,
        "leaf_writes/a_moved_leaf_can_be_written_further",
        {"sees.error": None, "sees.x": result([1, 1], "AddBackward0", version=2)},
    ),
    Instead(
        SEEDS,
        "leaf_writes/the_backward_that_meets_the_moved_leaf_is_refused",
        {"sees.error": MOVED},
    ),
    Instead(
        SEEDS,
        "leaf_writes/a_use_before_the_assignment_is_refused_in_backward_too",
        {"sees.error": MOVED},
    ),
    Instead(
        "The gradient of a leaf never shares memory with the one passed to backward.",
        "gradients/the_gradient_of_a_view_is_a_tensor_of_its_own",
        {
            "sees.g": {"tensor": np.array([1.0, 2.0, 3.0, 4.0], "float32")},
            "sees.x.grad.memory_of": None,
        },
    ),
    Instead(
        SAVED_ARRAYS,
        "copies/a_result_that_was_saved_does_not_keep_its_tensor",
        {"sees.gone": True},
    ),
    Instead(
        SAVED_ARRAYS,
        "copies/a_written_tensor_leaves_no_cycle",
        {"sees.gone": True},
    ),
    Instead(
        "A context that is entered twice restores the mode of each entry; PyTorch's no_grad "
        "remembers only the last and leaves recording off.",
        "modes/one_context_object_entered_twice",
        {"sees.states": [False, False, False, True]},
    ),
    Instead(
        "A hook on a view also runs if another one was registered before a write to its base; "
        "PyTorch attaches it to the view's old node, where it never runs.",
        "hooks_and_writes/a_hook_on_a_view_whose_base_is_written",
        {"sees.log": ["after"]},
    ),
    Instead(
        "Passing more gradients than outputs is an error; PyTorch's grad ignores the rest.",
        "grad/too_many_gradients_are_refused",
        {
            "sees.error": {
                "raises": "RuntimeError",
                "says": "got 1 tensors and 2 gradients",
            }
        },
    ),
    Instead(
        "A gradient that is not a tensor raises a clear error; PyTorch tries to iterate over it.",
        "backward/a_gradient_that_is_no_tensor_is_refused",
        {
            "sees.error": {
                "raises": "TypeError",
                "says": "gradients can be either Tensors or None, but got float",
            }
        },
    ),
    Instead(
        "tinynet warns about a tensor stored on ctx, which bypasses the checks of "
        "save_for_backward.",
        "function_contexts/a_value_on_ctx_is_a_constant_in_the_second_derivative_or_leaks",
        {"warns": [Matching(r"LostGradientWarning: Custom.forward stores a tensor on ctx .*")]},
    ),
    Instead(
        "A leaf is its own accumulator (a separate node would form a cycle with it): "
        "next_functions creates one for inspection, equal to the leaf's others.",
        "nodes/a_leaf_has_one_accumulator",
        {"sees.same": False},
    ),
    Instead(
        "A saved `dim` is kept as it was passed.",
        "nodes/saved_arguments_can_be_read_from_the_node",
        {"sees.dim": 1},
    ),
    *(
        Instead(
            "tinynet warns that a backward from a leaf reaches nothing else.",
            program,
            {"warns": [FROM_A_LEAF] * times},
        )
        for program, times in {
            "backward/a_leaf_can_be_a_root": 1,
            "mixtures/a_loss_without_any_leaf_is_switched_on_by_hand": 1,
        }.items()
    ),
    Instead(
        "detach_() turns the tensor into a leaf, which retains its gradient anyway; PyTorch does "
        "not report that.",
        "engine/retain_grad_and_then_detach_in_place",
        {"sees.y.retains_grad": None},
    ),
    Instead(
        "The message names the write that replaced the whole value; PyTorch names the node that "
        "created it.",
        "second_nodes/a_result_written_before_the_second_derivative",
        {
            "sees.error.says": Matching(
                r"one of the variables needed .*, which is output 0 of MulBackward0, is at version"
                r" 1; expected version 0 instead"
            )
        },
    ),
    Instead(
        "The history of a view whose base was detached and written to leads nowhere; PyTorch "
        "shows a node for it.",
        "view_oddities/a_base_that_was_detached_in_place_is_written",
        {"sees.v.grad_fn": None, "sees.v.is_leaf": None},
    ),
    Instead(
        "A write to an inference tensor is refused before it happens.",
        "tools/an_inference_tensor_cannot_be_written_outside",
        {
            "sees.error": {
                "raises": "RuntimeError",
                "says": "Inplace update to inference tensor outside InferenceMode is not allowed",
            },
            "sees.values": [1.0, 1.0],
        },
    ),
    Instead(
        "A gradient is contiguous, whatever the strides of its leaf.",
        "backward/a_gradient_of_a_transposed_leaf",
        {"sees.strides": [[1, 3], [2, 1]]},
    ),
    Instead(
        "A copy has its own memory, even if the originals shared theirs.",
        "copies/deepcopy_of_views_keeps_their_memory_shared",
        {"sees.b": {"tensor": np.array([1.0, 2.0, 3.0], "float32"), "version": 1}},
    ),
    Instead(
        "The same for a base and its view.",
        "copies/deepcopy_of_a_base_and_its_view",
        {"sees.x": {"tensor": np.array([0.0, 1.0, 2.0, 3.0], "float32"), "version": 1}},
    ),
    Instead(
        "A write that mark_dirty refuses counts once, as forward's own.",
        "function_outputs/a_leaf_written_and_marked_dirty_is_refused",
        {"sees.x.version": 1},
    ),
    Instead(
        "The same for a dirty input that is not returned.",
        "function_outputs/a_dirty_input_that_is_not_returned",
        {"sees.y.version": 1},
    ),
    *(
        Instead("An unpickled tensor is new: its version is 0.", *program)
        for program in (
            ("copies/a_shallow_copy_of_a_leaf", {"sees.y.version": None}),
            ("copies/a_pickled_leaf_comes_back", {"sees.y.version": None}),
            ("copies/a_pickle_leaves_the_gradient_behind", {"sees.y.version": None}),
            ("copies/a_pickled_view_loses_its_base", {"sees.v.version": None}),
            ("copies/a_pickled_parameter_comes_back", {"sees.q.version": None}),
            (
                "copies/a_pickled_0d_and_empty_tensor",
                {"sees.x2.version": None, "sees.y2.version": None},
            ),
        )
    ),
)

DEPARTURES = (*TEXTS, *INSTEAD)
