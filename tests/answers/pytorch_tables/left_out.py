"""What of PyTorch's tables is not compared, each with its reason. Patterns of whole names."""

import re
from collections.abc import Iterable

RANDOM = "random numbers of another generator: tests/answers/oracle compares their properties"
UNINITIALISED = "the contents of new memory"
INTERNAL = "PyTorch's own machinery"
SPARSE = "sparse layouts beyond those that embeddings and graph networks need"
DEVICES = "other devices and formats of numbers"

LEFT_OUT: dict[str, str] = {
    r"torch\.ops\.aten\._.*attention.*": RANDOM,
    r"_(batch_norm_with_update|chunk_cat|native_batch_norm_legit|softmax_backward_data"
    r"|unsafe_masked_index(_put_accumulate)?|upsample_bilinear2d_aa)"
    r"|jiterator_.*|torch\.ops\..*|.*_backward.*|slice": INTERNAL,
    r"sparse\..*|to_sparse": SPARSE,
    r"bfloat16|chalf|torch\._scaled_mm.*|hash_tensor": DEVICES,
}

# Compared are shapes, dtypes, requires_grad and errors, but no values and no gradients.
VALUES_LEFT_OUT: dict[str, str] = {
    r"bernoulli|cauchy|exponential|geometric|log_normal|multinomial|normal(\..*)?|rand(n|int)?_like"
    r"|randint|randn|uniform|(svd|pca)_lowrank"
    r"|nn\.functional\.((feature_)?alpha_)?dropout[23]?d?(\.with(out)?_train)?"
    r"|nn\.functional\.(rrelu|gumbel_softmax|fractional_max_pool[23]d)": RANDOM,
    r"(new_)?empty(_like|_strided|_permuted)?": UNINITIALISED,
}


def fits(name: str, patterns: Iterable[str]) -> bool:
    """Return True if the whole name fits one of the patterns."""
    return any(re.fullmatch(p, name) for p in patterns)
