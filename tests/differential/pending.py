"""Programs that tinynet does not answer yet, each with what is missing.

A program that passes must be struck from the list: the test says so.
"""

WAITING: dict[str, tuple[str, ...]] = {
    "a view made before t_() of its base is replayed on the transposed base": (
        "view_histories/a_view_of_what_is_transposed_in_place",
    ),
    "mark_dirty neither checks nor counts": (
        "function_outputs/a_leaf_written_and_marked_dirty_is_refused",
        "function_outputs/a_dirty_input_that_is_not_returned",
    ),
    "what hooks return is not checked": ("tools/saved_tensors_hooks_that_write_are_refused",),
    "a Function's other ways: vjp, keyword arguments, no tensor at all, texts": (
        "function_contexts/vjp_is_another_name_for_backward",
        "function_contexts/keyword_arguments_of_apply",
        "function_contexts/calling_an_instance_is_refused",
    ),
    "integer data is accepted where grad is required; numpy's error for a changed shape": (
        "data/assigning_data_of_another_shape_keeps_the_old_gradient",
    ),
    "a saved leaf shows its old data after `x.data = y`": (
        "data/assigning_data_between_forward_and_backward",
    ),
    "deepcopy does not keep memory shared": (
        "copies/deepcopy_of_views_keeps_their_memory_shared",
        "copies/deepcopy_of_a_base_and_its_view",
    ),
    "grad returns a tensor of its own on the memory of the gradient given": (
        "grad/the_gradient_given_may_be_the_result_itself",
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
        "indexed_writes/an_assignment_to_one_of_several_views_is_refused",
        "indexed_writes/an_assignment_to_a_leaf_is_refused",
        "indexed_writes/an_assignment_of_nothing_to_a_leaf_is_refused",
    ),
    "accumulators: their name, and one object per leaf": (
        "nodes/the_edges_of_a_product_with_a_constant",
        "nodes/a_leaf_has_one_accumulator",
        "nodes/the_edges_of_copy_slices",
        "nodes/a_walk_over_the_whole_graph",
        "function_contexts/the_edges_of_a_custom_node",
    ),
    "node of t_(), _saved_dim, edges as inputs of grad": (
        "view_histories/transposing_in_place",
        "nodes/saved_arguments_can_be_read_from_the_node",
        "nodes/a_gradient_edge_stands_for_its_tensor",
    ),
    "a hook on a captured tensor in the middle of the pass": (
        "hooks/a_hook_on_the_input_that_autograd_grad_captures",
    ),
    "small checks and texts of backward, grad and modes": (
        "backward/inputs_that_require_no_grad_are_refused",
        "grad/zeros_for_unused_inputs_with_create_graph",
        "gradients/a_gradient_of_another_dtype_is_refused",
    ),
    "a gradient has the strides of its leaf": ("backward/a_gradient_of_a_transposed_leaf",),
    "the version of an unpickled tensor": (
        "copies/a_shallow_copy_of_a_leaf",
        "copies/a_pickled_leaf_comes_back",
        "copies/a_pickle_leaves_the_gradient_behind",
        "copies/a_pickled_view_loses_its_base",
        "copies/a_pickled_parameter_comes_back",
        "copies/a_pickled_0d_and_empty_tensor",
    ),
    "is_grads_batched": ("grad/batched_gradients",),
    "inference_mode": (
        "tools/inference_mode_records_nothing",
        "tools/an_inference_tensor_cannot_be_saved_for_backward",
        "tools/an_inference_tensor_cannot_be_written_outside",
        "tools/an_inference_tensor_cannot_require_grad_outside",
        "tools/an_inference_tensor_has_no_version",
        "tools/a_usual_tensor_written_in_inference_mode",
        "tools/inference_mode_as_a_decorator_and_switched_off",
    ),
    "allow_mutation_on_saved_tensors": ("tools/saved_tensors_allowed_to_be_written",),
    "detect_anomaly": (
        "tools/anomaly_mode_names_the_node_that_made_nan",
        "tools/anomaly_mode_without_a_look_for_nan",
        "tools/anomaly_mode_can_be_set",
    ),
    "autograd.functional": (
        "tools/functional_vjp_and_jvp",
        "tools/functional_jacobian_and_hessian",
        "tools/functional_hvp_and_vhp",
        "tools/functional_jacobian_of_several_inputs",
        "tools/functional_jacobian_with_create_graph",
        "tools/functional_jacobian_refuses_what_is_no_tensor",
    ),
    "swap_tensors, set_, resize_": (
        "tools/swapping_two_tensors",
        "tools/setting_the_source_of_a_tensor",
        "tools/resizing_by_resize_as_of_data",
    ),
}

PENDING = {program: reason for reason, programs in WAITING.items() for program in programs}
