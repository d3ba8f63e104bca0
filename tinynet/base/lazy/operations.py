"""Where tensors and operations find their names. Written by ``python -m tinynet.base.lazy``.

Of each, the modules with their names: ``name``, ``name=attribute``, or ``name=`` for the module
itself. ``name=property`` is a property of Tensor.
"""

OPERATIONS = {
    "tinynet.Tensor": {
        "tinynet.ops.shaping.views": "transpose t unsqueeze select unbind swapdims",
        "tinynet.ops.creation.tensor_types": "as_subclass",
        "tinynet.ops.pointwise.exponential": (
            "exp exp_ exp2 exp2_ expm1 expm1_ log log_ log1p log1p_ log2 log2_ log10 log10_ sqrt "
            "sqrt_ rsqrt rsqrt_ reciprocal reciprocal_ square square_ neg __neg__ neg_ positive "
            "sign sign_ sgn sgn_ abs __abs__ abs_ absolute absolute_ tanh tanh_ sigmoid sigmoid_ "
            "relu relu_ negative negative_"
        ),
        "tinynet.ops.pointwise.arithmetic": (
            "floor_divide __floordiv__ __rfloordiv__ __ifloordiv__ floor_divide_ remainder "
            "__mod__ __rmod__ __imod__ remainder_ fmod fmod_ gcd gcd_ lcm lcm_ bitwise_left_shift "
            "__lshift__ __rlshift__ __ilshift__ bitwise_left_shift_ bitwise_right_shift "
            "__rshift__ __rrshift__ __irshift__ bitwise_right_shift_ __add__ __radd__ __iadd__ "
            "__sub__ __rsub__ __isub__ mul __mul__ __rmul__ __imul__ mul_ __truediv__ "
            "__rtruediv__ __itruediv__ __rdiv__ add_ add sub_ sub div div_ where subtract "
            "subtract_ multiply multiply_ divide divide_ true_divide true_divide_"
        ),
        "tinynet.ops.shaping.strided": "unfold as_strided as_strided_",
        "tinynet.ops.pointwise.complex_numbers": (
            "real=property imag=property isreal conj conj_physical conj_physical_ resolve_conj "
            "is_conj resolve_neg is_neg angle"
        ),
        "tinynet.ops.shaping.diagonals": (
            "trace diag_embed diag diagflat adjoint mH=property H=property"
        ),
        "tinynet.ops.shaping.copies": (
            "tril tril_ triu triu_ clone contiguous flip roll repeat tile select_scatter "
            "slice_scatter diagonal_scatter as_strided_scatter"
        ),
        "tinynet.ops.pointwise.conversion": (
            "__array_wrap__ cuda to type_as type cpu bfloat16 float double half cfloat cdouble "
            "long int short bool char byte"
        ),
        "tinynet.ops.reduction.sums": "sum mean nansum nanmean prod all any",
        "tinynet.compat.native.deprecated": "resize resize_as",
        "tinynet.compat.native.tensor_methods": (
            "prelu hardshrink pin_memory is_distributed module_load name=property"
        ),
        "tinynet.ops.creation.memory": (
            "is_nonzero is_same_size is_signed is_cpu=property is_quantized=property "
            "is_meta=property is_nested=property is_ipu=property is_maia=property "
            "is_mkldnn=property is_mps=property is_mtia=property is_sparse_csr=property "
            "is_vulkan=property is_xla=property is_xpu=property is_pinned is_set_to ndimension "
            "get_device dim_order storage_offset new new_empty_strided sum_to_size set_ resize_ "
            "resize_as_ share_memory_ is_shared"
        ),
        "tinynet.compat.storage": "storage untyped_storage __dlpack__ __dlpack_device__",
        "tinynet.ops.shaping.reshaping": (
            "view reshape view_as reshape_as flatten ravel unflatten squeeze expand expand_as "
            "broadcast_to permute movedim T=property mT=property squeeze_ unsqueeze_ t_ "
            "transpose_ swapaxes_ swapdims_ moveaxis"
        ),
        "tinynet.ops.indexing.gather": (
            "gather take_along_dim scatter scatter_ scatter_add scatter_add_"
        ),
        "tinynet.ops.indexing.index_select": (
            "index_select index_add index_add_ index_fill index_fill_ masked_fill masked_fill_ "
            "masked_select"
        ),
        "tinynet.ops.pointwise.powers": (
            "__pow__ __rpow__ __ipow__ pow pow_ float_power float_power_ ldexp ldexp_ frexp"
        ),
        "tinynet.ops.shaping.stacking": "fliplr flipud rot90 repeat_interleave swapaxes",
        "tinynet.ops.creation.random": "multinomial bernoulli",
        "tinynet.ops.creation.fill": (
            "fill_ fill fill_diagonal_ zero_ uniform_ random_ bernoulli_ geometric_ normal_ "
            "log_normal_ exponential_ cauchy_"
        ),
        "tinynet.ops.creation.like": "new_tensor new_zeros new_ones new_empty new_full",
        "tinynet.ops.pointwise.gamma": (
            "lgamma lgamma_ digamma digamma_ igamma igamma_ igammac igammac_ polygamma polygamma_ "
            "mvlgamma mvlgamma_"
        ),
        "tinynet.ops.fourier": "stft istft",
        "tinynet.ops.indexing.getitem": "__getitem__ __delitem__ __setitem__ copy_",
        "tinynet.ops.indexing.index_put": (
            "index_put_ index_put take put put_ index_copy index_copy_ masked_scatter "
            "masked_scatter_"
        ),
        "tinynet.ops.pointwise.clamp": (
            "maximum minimum fmax fmin nan_to_num nan_to_num_ clamp clamp_ clamp_min clamp_min_ "
            "clamp_max clamp_max_ clip clip_"
        ),
        "tinynet.ops.shaping.splitting": (
            "narrow narrow_copy split chunk diagonal tensor_split hsplit vsplit dsplit "
            "split_with_sizes unsafe_split unsafe_chunk unsafe_split_with_sizes"
        ),
        "tinynet.ops.indexing.scatter_reduce": (
            "scatter_reduce scatter_reduce_ index_reduce index_reduce_"
        ),
        "tinynet.ops.linalg.inverses": "inverse",
        "tinynet.ops.products.matmul": "mm bmm mv dot vdot matmul __matmul__ __rmatmul__ outer ger",
        "tinynet.ops.linalg.older": (
            "pinverse cholesky cholesky_solve cholesky_inverse triangular_solve qr svd geqrf lu "
            "lu_solve"
        ),
        "tinynet.ops.linalg.matrix_functions": "matrix_power matrix_exp det slogdet logdet",
        "tinynet.ops.reduction.extrema": "amax amin max min aminmax argmax argmin",
        "tinynet.ops.reduction.statistics": "cov corrcoef var std",
        "tinynet.ops.linalg.norms": "norm",
        "tinynet.ops.linalg.vectors": "cross ormqr",
        "tinynet.ops.products.tensordot": "inner kron",
        "tinynet.ops.products.addmm": (
            "addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_ addbmm addbmm_"
        ),
        "tinynet.ops.pointwise.addcmul": "addcmul addcmul_ addcdiv addcdiv_ lerp lerp_",
        "tinynet.ops.pointwise.apply": "apply_ map_ map2_",
        "tinynet.ops.pointwise.bessel": "i0 i0_",
        "tinynet.ops.pointwise.comparison": (
            "eq __eq__ eq_ ne __ne__ ne_ lt __lt__ lt_ le __le__ le_ gt __gt__ gt_ ge __ge__ ge_ "
            "logical_and logical_and_ logical_or logical_or_ logical_xor logical_xor_ logical_not "
            "logical_not_ bitwise_and __and__ __rand__ __iand__ bitwise_and_ bitwise_or __or__ "
            "__ror__ __ior__ bitwise_or_ bitwise_xor __xor__ __rxor__ __ixor__ bitwise_xor_ "
            "bitwise_not __invert__ bitwise_not_ isnan isinf isfinite isposinf isneginf isclose "
            "allclose equal not_equal not_equal_ less less_ less_equal less_equal_ greater "
            "greater_ greater_equal greater_equal_"
        ),
        "tinynet.ops.pointwise.error_function": "erf erf_ erfc erfc_ erfinv erfinv_",
        "tinynet.ops.pointwise.logarithms": "logaddexp logaddexp2 xlogy xlogy_ logit logit_",
        "tinynet.ops.pointwise.rounding": (
            "floor floor_ ceil ceil_ trunc trunc_ round round_ frac frac_ signbit copysign "
            "copysign_ heaviside heaviside_ nextafter nextafter_ fix fix_"
        ),
        "tinynet.ops.pointwise.trigonometry": (
            "sin sin_ cos cos_ tan tan_ asin asin_ acos acos_ atan atan_ atan2 atan2_ hypot "
            "hypot_ sinh sinh_ cosh cosh_ asinh asinh_ acosh acosh_ atanh atanh_ deg2rad deg2rad_ "
            "rad2deg rad2deg_ sinc sinc_ arcsin arcsin_ arccos arccos_ arctan arctan_ arctan2 "
            "arctan2_ arcsinh arcsinh_ arccosh arccosh_ arctanh arctanh_"
        ),
        "tinynet.ops.products.cdist": "dist renorm renorm_",
        "tinynet.ops.reduction.cumulative": (
            "cumsum cumsum_ cumprod cumprod_ logcumsumexp cummax cummin diff"
        ),
        "tinynet.ops.reduction.histograms": "histc histogram",
        "tinynet.ops.reduction.softmax": "softmax log_softmax logsumexp",
        "tinynet.ops.reduction.sorting": (
            "sort argsort msort topk kthvalue median nanmedian mode quantile nanquantile"
        ),
        "tinynet.ops.reduction.unique": (
            "nonzero nonzero_static argwhere count_nonzero bincount unique unique_consecutive"
        ),
        "tinynet.sparse.rows": (
            "to_dense coalesce is_coalesced _indices _values indices values _nnz sparse_dim "
            "dense_dim _shown"
        ),
        "tinynet.sparse.tensors": "to_sparse to_sparse_coo to_sparse_csr",
        "tinynet.sparse.functions": (
            "smm sspaddmm sparse_mask crow_indices col_indices ccol_indices row_indices"
        ),
    },
    "tinynet.ops": {
        "tinynet.core.graph.views": "detach",
        "tinynet.core.graph.inplace": "detach_",
        "tinynet.ops.shaping.joining": "cat stack concat concatenate",
        "tinynet.ops.shaping.views": (
            "alias_copy detach_copy transpose transpose_copy t t_copy unsqueeze unsqueeze_copy "
            "select select_copy slice_copy unbind unbind_copy swapdims"
        ),
        "tinynet.ops.creation.constructors": (
            "tensor as_tensor from_numpy zeros ones empty full eye"
        ),
        "tinynet.ops.creation.tensor_types": (
            "FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor "
            "CharTensor ByteTensor BoolTensor"
        ),
        "tinynet.ops.pointwise.exponential": (
            "exp exp_ exp2 exp2_ expm1 expm1_ log log_ log1p log1p_ log2 log2_ log10 log10_ sqrt "
            "sqrt_ rsqrt rsqrt_ reciprocal reciprocal_ square square_ neg neg_ positive sign sgn "
            "abs abs_ absolute tanh tanh_ sigmoid sigmoid_ relu relu_ negative negative_"
        ),
        "tinynet.ops.pointwise.arithmetic": (
            "floor_divide remainder fmod gcd gcd_ lcm lcm_ bitwise_left_shift bitwise_right_shift "
            "mul add sub rsub div where subtract multiply divide true_divide"
        ),
        "tinynet.ops.shaping.strided": "unfold unfold_copy as_strided as_strided_copy as_strided_",
        "tinynet.ops.pointwise.complex_numbers": (
            "real imag is_complex isreal conj conj_physical conj_physical_ resolve_conj is_conj "
            "resolve_neg is_neg complex polar view_as_real view_as_complex view_as_real_copy "
            "view_as_complex_copy angle"
        ),
        "tinynet.ops.shaping.diagonals": (
            "trace diag_embed diag diagflat block_diag tril_indices triu_indices adjoint"
        ),
        "tinynet.ops.shaping.copies": (
            "tril triu clone flip roll tile select_scatter slice_scatter diagonal_scatter "
            "as_strided_scatter"
        ),
        "tinynet.ops.pointwise.conversion": (
            "set_default_tensor_type is_tensor is_floating_point numel result_type"
        ),
        "tinynet.ops.reduction.sums": "sum mean nansum nanmean prod all any",
        "tinynet.ops.creation.ranges": (
            "arange linspace logspace scalar_tensor asarray frombuffer empty_strided empty_permuted"
        ),
        "tinynet.compat.native.deprecated": "range",
        "tinynet.ops.creation.memory": "is_nonzero is_same_size is_signed get_device resize_as_",
        "tinynet.ops.shaping.reshaping": (
            "view_copy reshape flatten ravel unflatten squeeze squeeze_copy expand_copy "
            "broadcast_to permute permute_copy movedim moveaxis"
        ),
        "tinynet.ops.indexing.gather": "gather take_along_dim scatter scatter_add",
        "tinynet.ops.indexing.index_select": (
            "index_select index_add index_fill masked_fill masked_select"
        ),
        "tinynet.ops.pointwise.powers": "pow float_power ldexp ldexp_ frexp",
        "tinynet.ops.shaping.stacking": (
            "atleast_1d atleast_2d atleast_3d hstack vstack dstack column_stack row_stack fliplr "
            "flipud rot90 repeat_interleave swapaxes"
        ),
        "tinynet.ops.shaping.grids": (
            "meshgrid broadcast_tensors broadcast_shapes cartesian_prod combinations vander"
        ),
        "tinynet.ops.creation.random": (
            "multinomial rand randn randint randperm bernoulli poisson binomial normal"
        ),
        "tinynet.ops.creation.fill": "fill_ fill zero_",
        "tinynet.ops.creation.like": (
            "zeros_like ones_like empty_like full_like rand_like randn_like randint_like"
        ),
        "tinynet.ops.pointwise.gamma": "lgamma digamma igamma igammac polygamma mvlgamma",
        "tinynet.ops.creation.reparameterized": (
            "_standard_gamma _sample_dirichlet _standard_gamma_grad _dirichlet_grad"
        ),
        "tinynet.ops.fourier": "stft istft",
        "tinynet.ops.indexing.index_put": "index_put_ index_put take put index_copy masked_scatter",
        "tinynet.ops.pointwise.clamp": (
            "maximum minimum fmax fmin nan_to_num nan_to_num_ clamp clamp_ clamp_min clamp_min_ "
            "clamp_max clamp_max_ clip clip_"
        ),
        "tinynet.ops.shaping.splitting": (
            "narrow narrow_copy split split_copy chunk diagonal diagonal_copy tensor_split hsplit "
            "vsplit dsplit split_with_sizes split_with_sizes_copy unsafe_split unsafe_chunk "
            "unsafe_split_with_sizes"
        ),
        "tinynet.ops.indexing.scatter_reduce": "scatter_reduce index_reduce segment_reduce",
        "tinynet.ops.linalg.inverses": "inverse",
        "tinynet.ops.products.matmul": "mm bmm mv dot vdot matmul outer ger",
        "tinynet.ops.linalg.least_squares": "svd_lowrank pca_lowrank",
        "tinynet.ops.linalg.older": (
            "pinverse cholesky cholesky_solve cholesky_inverse triangular_solve qr svd geqrf lu "
            "lu_solve lu_unpack"
        ),
        "tinynet.ops.linalg.matrix_functions": "matrix_power matrix_exp det slogdet logdet",
        "tinynet.ops.reduction.extrema": "amax amin max min aminmax argmax argmin",
        "tinynet.ops.reduction.statistics": "cov corrcoef var std var_mean std_mean",
        "tinynet.ops.linalg.norms": "norm",
        "tinynet.ops.linalg.vectors": "cross ormqr",
        "tinynet.ops.products.tensordot": "tensordot inner kron chain_matmul",
        "tinynet.ops.products.addmm": "addmm addmv addmv_ addr baddbmm addbmm",
        "tinynet.ops.pointwise.addcmul": "addcmul addcdiv lerp",
        "tinynet.ops.pointwise.bessel": "i0 i0_",
        "tinynet.ops.pointwise.comparison": (
            "eq ne lt le gt ge logical_and logical_or logical_xor logical_not bitwise_and "
            "bitwise_or bitwise_xor bitwise_not isnan isinf isfinite isposinf isneginf isclose "
            "allclose equal not_equal less less_equal greater greater_equal"
        ),
        "tinynet.ops.pointwise.error_function": "erf erf_ erfc erfc_ erfinv",
        "tinynet.ops.pointwise.logarithms": "logaddexp logaddexp2 xlogy xlogy_ logit logit_",
        "tinynet.ops.pointwise.rounding": (
            "floor floor_ ceil ceil_ trunc trunc_ round round_ frac frac_ signbit copysign "
            "heaviside nextafter fix fix_"
        ),
        "tinynet.ops.pointwise.trigonometry": (
            "sin sin_ cos cos_ tan tan_ asin asin_ acos acos_ atan atan_ atan2 hypot sinh sinh_ "
            "cosh cosh_ asinh asinh_ acosh acosh_ atanh atanh_ deg2rad deg2rad_ rad2deg rad2deg_ "
            "sinc sinc_ arcsin arcsin_ arccos arccos_ arctan arctan_ arctan2 arcsinh arcsinh_ "
            "arccosh arccosh_ arctanh arctanh_"
        ),
        "tinynet.ops.products.cdist": "cdist dist renorm",
        "tinynet.ops.products.einsum": "einsum",
        "tinynet.ops.reduction.cumulative": (
            "cumsum cumprod logcumsumexp cummax cummin diff gradient trapezoid trapz "
            "cumulative_trapezoid"
        ),
        "tinynet.ops.reduction.histograms": "histc histogram histogramdd searchsorted bucketize",
        "tinynet.ops.reduction.softmax": "softmax log_softmax logsumexp",
        "tinynet.ops.reduction.sorting": (
            "sort argsort msort topk kthvalue median nanmedian mode quantile nanquantile"
        ),
        "tinynet.ops.reduction.unique": (
            "nonzero nonzero_static argwhere unravel_index count_nonzero bincount unique "
            "unique_consecutive isin"
        ),
    },
    "tinynet.ops.special": {
        "tinynet.ops.pointwise.exponential": "exp2 expm1 log1p expit",
        "tinynet.ops.pointwise.gamma": (
            "gammaln digamma psi zeta gammainc gammaincc polygamma multigammaln"
        ),
        "tinynet.ops.pointwise.bessel": (
            "chebyshev_polynomial_t shifted_chebyshev_polynomial_t chebyshev_polynomial_u "
            "shifted_chebyshev_polynomial_u chebyshev_polynomial_v shifted_chebyshev_polynomial_v "
            "chebyshev_polynomial_w shifted_chebyshev_polynomial_w hermite_polynomial_h "
            "hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p i0 i0e i1 i1e "
            "bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 "
            "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
            "scaled_modified_bessel_k1 spherical_bessel_j0 airy_ai"
        ),
        "tinynet.ops.pointwise.error_function": "erf erfc erfcx erfinv ndtr ndtri log_ndtr",
        "tinynet.ops.pointwise.logarithms": "xlogy xlog1py logit entr",
        "tinynet.ops.pointwise.rounding": "round",
        "tinynet.ops.pointwise.trigonometry": "sinc",
        "tinynet.ops.reduction.softmax": "softmax log_softmax logsumexp",
    },
}
