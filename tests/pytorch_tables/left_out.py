"""What of PyTorch's tables is not compared, each with its reason. Patterns of whole names."""

COMPLEX = "complex numbers stay out of tinynet"
FOURIER = "Fourier transforms stay out, with complex numbers"
RANDOM = "random numbers of another generator: tests/oracle compares what must be true of them"
UNINITIALISED = "the contents of new memory"
INTERNAL = "PyTorch's own machinery"
SPARSE = "sparse layouts beyond those that embeddings and graph networks need"
DEVICES = "other devices and formats of numbers"

LEFT_OUT: dict[str, str] = {
    r"fft\..*|stft|istft": FOURIER,
    r"angle|conj|conj_physical|complex|polar|real|imag|resolve_conj|resolve_neg|view_as_complex"
    r"|view_as_real|cdouble|cfloat|chalf|sgn_complex|linalg\.eigvals|linalg\.eig": COMPLEX,
    r"bernoulli|multinomial|normal.*|randn?(_like|int|int_like)?|randint.*|uniform|exponential"
    r"|cauchy|geometric|log_normal|nn\.functional\.(alpha_|feature_alpha_)?dropout[23]?d?"
    r"|nn\.functional\.rrelu|nn\.functional\.gumbel_softmax|nn\.functional\.fractional_max_pool[23]d"
    r"|rand|randn|svd_lowrank|pca_lowrank"
    r"|nn\.functional\.feature_alpha_dropout\.(with|without)_train|torch\.ops\.aten\._.*attention.*"
    r"|nn\.functional\.(dropout|alpha_dropout)": RANDOM,
    r"(new_)?empty(_like|_strided|_permuted)?|new_empty_strided": UNINITIALISED,
    r"_.*|jiterator_.*|torch\.ops\..*|.*_backward.*|native_.*|_.*|_upsample.*|.*_copy_internal"
    r"|fill_diagonal_internal|nonzero_static|scatter_reduce_internal|unsafe_.*_internal"
    r"|split_with_sizes_copy_internal|slice": INTERNAL,
    r"sparse\..*|to_sparse": SPARSE,
    r"bfloat16|torch\._scaled_mm.*|hash_tensor": DEVICES,
}
