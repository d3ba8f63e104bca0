"""Which operations take complex numbers; all others refuse them. See core's ``complex_rules.py``."""

from tinynet.core.declaration.complex_rules import takes_complex

takes_complex(
    holomorphic=[
        # elementwise
        *("add", "sub", "mul", "div", "neg", "scaled", "number_minus", "addcmul", "addcdiv"),
        *("reciprocal", "square", "sqrt", "rsqrt", "power", "power_number", "power_of_number"),
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sigmoid", "sinc"),
        *("sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
        *("lerp_number", "lerp_tensor", "logaddexp"),
        # sums and products
        *("sum_all", "sum_dims", "mean_all", "mean_dims", "prod_all", "prod_dim", "cofactors"),
        *("cumsum", "cumprod", "logsumexp", "logcumsumexp", "trace"),
        *("mm", "bmm", "mv", "dot", "addmm", "addbmm", "baddbmm", "addmv", "addr"),
        *("row_product", "cross_product", "embed", "sparse_product"),
        *(
            "affine_map",
            "linear_map",
            "normal_values",
            "uniform_values",
            "normal_placed",
            "normal_around",
            "normal_spread",
            "silu",
            "ldexp",
            "recurrence",
        ),
        # linear algebra
        *("determinant", "inverse_and_info", "solution_and_info", "lower_upper"),
        *("matrix_exponential", "packed_factors", "ldl_and_info", "ldl_solution", "triangular"),
        # the same numbers in other places
        *("alias", "blocks", "cast", "cat", "stack", "clone", "contiguous_copy", "copy", "cleared"),
        *("cut", "cut_backward", "diagonal_copy", "diagonal_embed", "diagonal_filled"),
        *("diagonal_matrix", "diagonal_scatter", "diagonal_view", "expand_to", "fill", "filled"),
        *("filled_with", "flip_dims", "gather_along", "gather_sum", "index", "index_set"),
        *("index_sum", "kept", "masked_by", "masked_number", "masked_scatter", "masked_select"),
        *("masked_spread", "permute_dims", "put", "repeat_dims", "reshape_copy", "roll_dims"),
        *("rot90", "scatter_number", "scatter_source", "scatter_sum", "select"),
        *("select_backward", "select_scatter", "select_slices", "select_sum", "slice_scatter"),
        *("slices_added", "slices_copied", "slices_filled", "slices_filled_by", "slices_reduced"),
        *("split_at", "split_in_sizes", "squeeze_all", "squeeze_dim", "squeeze_dims", "squeezed"),
        *("squeezed_dim", "strided", "strided_copy", "strided_sum", "t", "take", "take_sum"),
        *("transpose", "tril", "triu", "unbind", "unfold", "unsafe_view", "unsqueeze"),
        *("im2col", "col2im", "constant_pad", "embedding_rows", "indexed_rows", "channel_sums"),
        *("shuffled_channels", "shuffled_pixels", "unshuffled_pixels"),
        *(
            f"{kind}_{way}{n}d"
            for kind in ("circular", "reflect", "replicate")
            for way in ("pad", "fold")
            for n in (1, 2, 3)
        ),
        *("view_as_shape", "viewed_as", "where", "windows_summed", "zeroed", "zeros_instead"),
    ],
    as_declared=[
        *("complex_transform", "real_transform", "transform_to_real"),
        *("sign_and_log", "cholesky_and_info", "orthogonal_triangular", "eigen_system"),
        *("singular_system", "pseudoinverse", "least_squares", "eigen_values_and_vectors"),
        *("abs", "angle", "complex", "conj_physical", "conjugate", "parts", "polar", "sgn"),
        *("real_part", "imaginary_part", "view_as_real", "view_as_complex"),
        *("eq", "ne", "isclose", "isfinite", "isinf", "isnan", "isreal"),
        *("logical_and", "logical_not", "logical_or", "logical_xor"),
        *("all", "any", "count_nonzero"),
        *("variance", "deviation", "variance_mean", "deviation_mean"),
        *("vdot", "vector_norm", "renorm", "distance", "softmax", "log_softmax"),
    ],
)
