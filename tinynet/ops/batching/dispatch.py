"""Dispatch of kernels to batching rules: the rule of each operation, and the wrapper of kernels."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.declaration.operation import REGISTRY, Operation
from tinynet.core.seams import Recorded
from tinynet.core.trace import observable
from tinynet.kernels.threads import fork_safe_lock
from tinynet.ops.batching import operation_rules, rules
from tinynet.ops.batching.array import BatchedArray, UnbatchableError, is_batched
from tinynet.ops.batching.rules import Call, NoRuleError, Rule

# ---- families -----------------------------------------------------------------------------------
# The rule of an operation: by the family that lists it, or by its parameters.


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
    operation_rules.matrices: "mm",
    operation_rules.stacks: "bmm",
    operation_rules.matrix_vector: "mv",
    operation_rules.vector_matrix: "row_product",
    operation_rules.vectors: "dot vdot",
    operation_rules.linear: "affine_map linear_map",
    operation_rules.added_matrices: "addmm",
    operation_rules.added_stacks: "baddbmm",
    operation_rules.added_vector: "addmv",
    operation_rules.index_taken: "index",
    operation_rules.index_summed: "index_sum",
    operation_rules.index_cleared: "cleared",
    operation_rules.index_put: "index_set",
    operation_rules.table_rows: "embedding_rows",
    operation_rules.table_rows_summed: "summed_rows",
    operation_rules.row_norm: "layer_normalized rms_normalized",
    operation_rules.group_norm: "batch_scaled group_normalized",
    operation_rules.entropy: "indexed_cross_entropy",
    operation_rules.nll_loss: "likelihood likelihood_of_places",
    operation_rules.nll_loss_backward: "likelihood_backward likelihood_of_places_backward",
    operation_rules.loss: "binary_entropy entropy_of_logits huber_error smooth_error squared_error",
    operation_rules.loss_backward: """
        binary_entropy_backward huber_error_backward smooth_error_backward
        squared_error_backward""",
    operation_rules.convolution: "convolve convolve_biased",
    operation_rules.transposed_convolution: "spread spread_biased",
    operation_rules.convolution_weight: "correlate",
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
    convolve_backward ctc_nll ctc_nll_backward diagonal_filled entries_at gru_sequence histc
    kept_rows ldl_and_info ldl_solution lstm_sequence masked_scatter masked_select normal_placed
    packed_factors pair_distances parts plane_indices_2x2 put real_transform renorm rnn_sequence
    sparse_product spread_backward spread_entries strided summed_bags take take_sum trace
    transform_to_real unique_consecutive_values unique_dim_values view_as_complex view_as_real
    viewed_as weighted_bags weighted_rows""".split()
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


# ---- dispatch -----------------------------------------------------------------------------------
# Active only while a batch is alive.


_lock = fork_safe_lock()


class _State:
    alive = 0  # levels
    warns = False  # see set_vmap_fallback_warning


_state = _State()


def begin(meets_batches: Callable[[list[Any]], bool]) -> None:
    """Replace the plain kernels by batching ones, for the first level."""
    with _lock:
        _state.alive += 1
        if _state.alive == 1:
            Recorded.batched = meets_batches
            observable.wrap_kernels(_batching)


def end() -> None:
    """Restore the plain kernels, after the last level."""
    with _lock:
        _state.alive -= 1
        if _state.alive == 0:
            Recorded.batched = None
            observable.wrap_kernels(None)


def set_fallback_warning(enabled: bool) -> None:
    """Enable or disable warnings for operations that run example by example."""
    _state.warns = bool(enabled)


def warns_of_fallback() -> bool:
    """Return whether a warning names operations that run example by example."""
    return _state.warns


def _batching(op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that accepts batched arrays, too."""

    def run(*args: Any, **kwargs: Any) -> Any:
        for a in args:
            kind = type(a)
            if kind is BatchedArray:
                break
            if kind is tuple or kind is list:
                if any(type(x) is BatchedArray for x in a):
                    break
        else:
            return kernel(*args, **kwargs)
        return _run(op, kernel, args, kwargs)

    return op.kernel if op.name in BORDER else run


def _run(op: Any, kernel: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    call = Call(op, kernel, args, kwargs)
    rule = rule_of(op)
    if rule is not None:
        try:
            return call.wrapped(rule(call))
        except NoRuleError:
            pass
        except Exception:  # its message describes the whole batch; that of the loop, one example
            return _loop(call)
    if _state.warns:
        warnings.warn(
            f"There is a performance drop because we have not yet implemented the batching rule "
            f"for aten::{op.title}. Please file us an issue on GitHub so that we can prioritize "
            "its implementation.",
            UserWarning,
            stacklevel=4,
        )
    return _loop(call)


def _loop(call: Call) -> Any:
    """Return the kernel's results for each example, stacked."""
    found = [_flat(a, call) for a in call.args]
    rows = [
        call.kernel(*(_example(x, batched, i) for x, batched in found), **call.kwargs)
        for i in range(call.examples)
    ]
    if call.several:
        columns = zip(*rows, strict=True)
        return call.wrapped([_stacked(column, call.batch) for column in columns])
    return call.wrapped(_stacked(rows, call.batch))


def _flat(x: Any, call: Call) -> tuple[Any, Any]:
    """Return an argument with one dimension for all levels, and whether it is batched."""
    if is_batched(x):
        return call.full(x).reshape(call.examples, *x.shape), True
    if isinstance(x, (tuple, list)) and any(map(is_batched, x)):
        return [_flat(part, call) for part in x], None
    return x, False


def _example(x: Any, batched: bool | None, i: int) -> Any:
    if batched is None:
        return [_example(part, b, i) for part, b in x]
    return x[i, ...] if batched else x


def _stacked(parts: Sequence[Any], batch: tuple[int, ...]) -> Any:
    if parts[0] is None:
        return None
    arrays = [np.asarray(p) for p in parts]
    if any(p is None or a.shape != arrays[0].shape for p, a in zip(parts, arrays, strict=True)):
        raise UnbatchableError("vmap: the results of the examples differ in shape")
    return np.stack(arrays).reshape(*batch, *arrays[0].shape)
