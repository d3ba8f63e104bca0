"""The operations that the foundation promises, and which of them no row is about.

An operation is covered by the rows whose names begin with it, up to the first hyphen.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.tools.recorded.rows import Row

PROMISED = """
add sub mul div floor_divide remainder pow neg add_ sub_ mul_ div_ floor_divide_ remainder_ pow_
eq ne lt le gt ge
exp log log1p expm1 sqrt rsqrt abs sign sin cos tan tanh sigmoid relu clamp erf floor round maximum
minimum where exp_ sqrt_ relu_ clamp_
sum mean prod max min amax amin argmax argmin var std norm logsumexp softmax log_softmax cumsum all
any
matmul mm bmm dot @ t T transpose permute reshape view view_as flatten squeeze unsqueeze expand
expand_as repeat cat stack split chunk unbind select narrow flip roll tril triu diagonal
getitem setitem gather scatter scatter_add index_select index_add masked_fill masked_select
take_along_dim
clone contiguous to float double long int bool item tolist numpy
tensor as_tensor from_numpy zeros ones full empty eye arange linspace rand randn randint randperm
zeros_like ones_like full_like empty_like rand_like randn_like randint_like
new_zeros new_ones new_full new_empty new_tensor FloatTensor LongTensor
normal_ uniform_ zero_ fill_ copy_ manual_seed Generator repr
linear dropout embedding mse_loss cross_entropy binary_cross_entropy_with_logits
""".split()

# Operations that take no tensor.
MAKERS = """
tensor as_tensor from_numpy zeros ones full empty eye arange linspace rand randn randint randperm
FloatTensor LongTensor manual_seed Generator
""".split()

# The kinds of input that every other operation must meet in some row.
LAYOUTS = ("0d", "empty", "transposed", "strided", "expanded")


def uncovered(cases: Iterable[Row]) -> list[str]:
    """The promised operations that have no row."""
    names = {case.op for case in cases}
    return [name for name in PROMISED if name not in names]


def kinds_of_input(cases: Iterable[Row], op: str) -> set[str]:
    """Which of `LAYOUTS` the inputs of an operation's rows have, over all its rows."""
    seen = set()
    for case in cases:
        if case.op == op:
            for spec in case.inputs:
                seen.add(spec.layout)
                seen |= {"0d"} if spec.shape == () else set()
                seen |= {"empty"} if 0 in spec.shape else set()
    return seen & set(LAYOUTS)
