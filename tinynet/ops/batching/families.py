"""The batching rule of an operation: the one that it names, or that its parameters determine."""

from __future__ import annotations

from tinynet.core.declaration.operation import REGISTRY, Operation
from tinynet.ops.batching import indexing, layers, products, rules
from tinynet.ops.batching.rules import Rule

LOOP = "loop"  # example by example
BORDER = "border"  # the kernel takes batched arrays itself
MATRICES = "A"  # the name of a tensor input: a matrix, or any number of them

RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        rules.elementwise,
        rules.leading,
        rules.folded,
        rules.dimensions,
        rules.inserted,
        rules.reduction,
        rules.slices,
        rules.norm_of_difference,
        rules.expanded,
        rules.repeated,
        rules.embedded,
        rules.permuted,
        rules.transposed,
        rules.all_squeezed,
        rules.copied,
        products.matrices,
        products.stacks,
        products.matrix_vector,
        products.vector_matrix,
        products.vectors,
        products.linear,
        products.added_matrices,
        products.added_stacks,
        products.added_vector,
        indexing.index_taken,
        indexing.index_summed,
        indexing.index_cleared,
        indexing.index_put,
        layers.table_rows,
        layers.table_rows_summed,
        layers.row_norm,
        layers.group_norm,
        layers.entropy,
        layers.nll_loss,
        layers.nll_loss_backward,
        layers.loss,
        layers.loss_backward,
        layers.convolution,
        layers.transposed_convolution,
        layers.convolution_weight,
    )
}


def rule_of(op: Operation) -> Rule | None:
    """Return the batching rule of an operation; None: example by example.

    Raises:
        KeyError: the declaration names neither a rule nor an operation.
    """
    name = op.batch or _derived(op)
    if name in (LOOP, BORDER):
        return None
    return RULES[name] if name in RULES else rules.of_all(REGISTRY[name])


def _derived(op: Operation) -> str:
    """Return the rule that follows from the kind and the parameters of an operation."""
    if op.kind == "pointwise":
        return "elementwise"
    if MATRICES in op.tensors:
        return "leading"
    named = (rules.DIMENSIONS | rules.SHAPES) & {*op.attributes}
    return "dimensions" if named else LOOP
