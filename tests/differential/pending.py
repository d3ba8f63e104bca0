"""Programs that tinynet does not answer yet, each with what is missing.

A program that passes must be struck from the list: the test says so.
"""

WAITING: dict[str, tuple[str, ...]] = {
    "a view of a leaf is accepted as dirty; a piece of a split is refused late": (
        "function_oddities/a_dirty_view_of_a_leaf_is_refused",
        "function_oddities/a_dirty_piece_of_a_split_is_refused",
    ),
    "functions and hooks behind a missing gradient are not called": (
        "engine/a_hook_behind_a_missing_gradient",
    ),
    "a view that was made a leaf keeps apart from its base's new history": (
        "view_oddities/the_base_of_a_view_that_is_a_leaf_itself_gets_a_history",
        "view_oddities/a_base_that_was_detached_in_place_is_written",
    ),
    "a Function under no_grad returns the input itself": (
        "function_oddities/a_forward_that_returns_its_input_unchanged_under_no_grad",
        "function_oddities/a_dirty_leaf_under_no_grad",
    ),
    "hooks on several outputs run in the order of the outputs": (
        "engine/hooks_of_several_outputs_run_in_their_order",
    ),
    "after t_() and its like the base of a view is a hidden tensor": (
        "view_oddities/a_view_whose_base_is_unsqueezed_in_place",
        "view_oddities/a_view_whose_base_is_squeezed_in_place_and_written",
        "view_oddities/a_base_transposed_in_place_and_then_written",
        "view_histories/a_view_of_what_is_transposed_in_place",
    ),
    "retains_grad after detach_()": ("engine/retain_grad_and_then_detach_in_place",),
    "a Function's other ways: vjp, keyword arguments, the warning of an instance": (
        "function_contexts/vjp_is_another_name_for_backward",
        "function_contexts/keyword_arguments_of_apply",
        "function_contexts/calling_an_instance_is_refused",
    ),
    "numpy's error for an accumulated gradient of another shape": (
        "data/assigning_data_of_another_shape_keeps_the_old_gradient",
    ),
    "out= arguments": (
        "versions/after_out_of_an_operation",
        "versions/after_out_of_an_operation_under_no_grad",
        "leaves/a_leaf_as_out_argument_is_refused",
        "leaves/an_out_argument_of_what_requires_grad_is_refused",
    ),
    "which view an error speaks of": (
        "view_writes/one_of_several_views_of_a_constant_must_not_get_a_history",
        "view_writes/a_view_of_one_of_several_views_must_not_be_written",
        "view_oddities/a_recorded_view_of_a_view_made_under_no_grad_must_not_be_written",
        "view_oddities/several_views_made_under_no_grad_must_not_be_written_outside",
        "indexed_writes/an_assignment_to_one_of_several_views_is_refused",
        "indexed_writes/an_assignment_to_a_leaf_is_refused",
        "indexed_writes/an_assignment_of_nothing_to_a_leaf_is_refused",
    ),
    "backward's inputs retain their gradients": (
        "backward/inputs_that_require_no_grad_are_refused",
    ),
    "a pack hook that writes is not refused": ("tools/saved_tensors_hooks_that_write_are_refused",),
    "is_grads_batched": ("grad/batched_gradients",),
    "inference_mode": ("tools/an_inference_tensor_cannot_be_written_outside",),
    "allow_mutation_on_saved_tensors": ("tools/saved_tensors_allowed_to_be_written",),
    "detect_anomaly": (
        "tools/anomaly_mode_names_the_node_that_made_nan",
        "tools/anomaly_mode_can_be_set",
    ),
    "swap_tensors, set_, resize_": (
        "tools/swapping_two_tensors",
        "tools/setting_the_source_of_a_tensor",
        "tools/resizing_by_resize_as_of_data",
    ),
}

PENDING = {program: reason for reason, programs in WAITING.items() for program in programs}
