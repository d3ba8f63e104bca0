"""The batching rule of an operation: by the family that lists it, or by its parameters."""

from __future__ import annotations

import functools
import re

from tinynet.core.declaration.operation import REGISTRY, Operation
from tinynet.ops.batching import indexing, layers, products, rules
from tinynet.ops.batching.rules import Rule

# The operations of each rule. ``max_pool`` stands for ``max_pool1d`` to ``max_pool3d``.
FAMILIES: dict[Rule, str] = {
    rules.elementwise: """
        alias cast clone complex contiguous_copy fill filled filled_with frexp higher_gamma
        imaginary_part kept masked_by masked_number mvlgamma nan_to_num polar power_number
        power_of_number real_part rsub_scalar scaled zeroed zeros_instead""",
    rules.leading: """
        attend attend_with_bias constant_pad shuffled_pixels tril triu unshuffled_pixels""",
    rules.folded: """
        adaptive_avg_pool adaptive_avg_pool_backward adaptive_max_pool adaptive_max_pool_backward
        affine_places affine_sums avg_pool avg_pool_backward circular_pad col2im
        fractional_max_pool grid_sampler grid_spread im2col max_gather max_pool max_pool_2x2
        max_pool_backward max_pool_values max_unpool plane_mean reflect_pad replicate_pad
        shuffled_channels upsample_bicubic upsample_bicubic_back upsample_bicubic_smooth
        upsample_bicubic_smooth_back upsample_bilinear upsample_bilinear_back
        upsample_bilinear_smooth upsample_bilinear_smooth_back upsample_lanczos_smooth
        upsample_lanczos_smooth_back upsample_linear upsample_linear_back upsample_nearest
        upsample_nearest_back upsample_nearest_exact upsample_nearest_exact_back
        upsample_trilinear upsample_trilinear_back""",
    rules.inserted: "diagonal_matrix stack unsqueeze",
    rules.reduction: """
        all amax amin any count_nonzero deviation deviation_mean logsumexp mean_dims nansum_dims
        sum_dims variance variance_mean vector_norm""",
    rules.slices: """
        select_slices select_sum slices_added slices_copied slices_filled slices_filled_by
        slices_reduced""",
    rules.norm_of_difference: "distance",
    rules.expanded: "expand_to",
    rules.repeated: "repeat_dims",
    rules.embedded: "embed",
    rules.permuted: "permute_dims",
    rules.transposed: "t",
    rules.all_squeezed: "squeeze_all squeezed",
    rules.copied: """
        bernoulli_values binomial_values cauchy_values copy dirichlet_values exponential_values
        gamma_values geometric_values log_normal_values normal_around normal_spread normal_values
        poisson_values random_values uniform_values""",
    products.matrices: "mm",
    products.stacks: "bmm",
    products.matrix_vector: "mv",
    products.vector_matrix: "row_product",
    products.vectors: "dot vdot",
    products.linear: "affine_map linear_map",
    products.added_matrices: "addmm",
    products.added_stacks: "baddbmm",
    products.added_vector: "addmv",
    indexing.index_taken: "index",
    indexing.index_summed: "index_sum",
    indexing.index_cleared: "cleared",
    indexing.index_put: "index_set",
    layers.table_rows: "embedding_rows",
    layers.table_rows_summed: "summed_rows",
    layers.row_norm: "layer_normalized rms_normalized",
    layers.group_norm: "batch_scaled group_normalized",
    layers.entropy: "indexed_cross_entropy",
    layers.nll_loss: "likelihood likelihood_of_places",
    layers.nll_loss_backward: "likelihood_backward likelihood_of_places_backward",
    layers.loss: "binary_entropy entropy_of_logits huber_error smooth_error squared_error",
    layers.loss_backward: """
        binary_entropy_backward huber_error_backward smooth_error_backward
        squared_error_backward""",
    layers.convolution: "convolve convolve_biased",
    layers.transposed_convolution: "spread spread_biased",
    layers.convolution_weight: "correlate",
}
# Reductions of everything, and the operations that reduce a dimension in the same way.
OF_ALL = {
    "max_all": "amax",
    "mean_all": "mean_dims",
    "median_all": "median_dim",
    "min_all": "amin",
    "nanmedian_all": "nanmedian_dim",
    "prod_all": "prod_dim",
    "sum_all": "sum_dims",
}
# These run example by example.
LOOPED = frozenset(
    """
    _unique2_values addbmm addr all_distances batch_normalized blocks complex_transform
    convolve_backward ctc_nll ctc_nll_backward diagonal_filled gru_sequence histc kept_rows
    ldl_and_info ldl_solution lstm_sequence masked_scatter masked_select normal_placed
    packed_factors pair_distances parts plane_indices_2x2 put real_transform renorm rnn_sequence
    sparse_product spread_backward strided summed_bags take take_sum trace transform_to_real
    unique_consecutive_values unique_dim_values view_as_complex view_as_real viewed_as
    weighted_bags weighted_rows""".split()
)
BORDER = frozenset("enter leave".split())  # their kernels take batched arrays themselves
MATRICES = "A"  # the name of a tensor input: a matrix, or any number of them

RULES: dict[str, Rule] = {name: rule for rule, names in FAMILIES.items() for name in names.split()}


@functools.cache
def rule_of(op: Operation) -> Rule | None:
    """Return the batching rule of an operation; None: example by example."""
    name = op.name
    if name in OF_ALL:
        return rules.of_all(REGISTRY[OF_ALL[name]])
    if name in LOOPED or name in BORDER:
        return None
    return RULES.get(name) or RULES.get(re.sub(r"[123]d$", "", name)) or _derived(op)


def _derived(op: Operation) -> Rule | None:
    """Return the rule that follows from the kind and the parameters of an operation."""
    if op.kind == "pointwise":
        return rules.elementwise
    if MATRICES in op.tensors:
        return rules.leading
    named = (rules.DIMENSIONS | rules.SHAPES) & {*op.attributes}
    return rules.dimensions if named else None
