"""The rows of `samples.SAMPLES` for order, running sums, rearrangement and choice."""

from .samples import f, i, sample

for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).expanded):
    sample("softmax_backward log_softmax_backward", _spec, f(2, 3), -1)
    sample("softmax_backward log_softmax_backward", _spec, f(2, 3), 0)
sample("softmax_backward log_softmax_backward", f(), f(), 0)
sample("softmax_backward log_softmax_backward", f(0, 3), f(0, 3), 1)

# ---- order --------------------------------------------------------------------------------------

for _spec in (f(2, 4).distinct, f(4, 2).distinct.transposed, f(2, 2).distinct.strided):
    sample("kthvalue", _spec, 2, 1)
    sample("kthvalue", _spec, 1, 0, True)
    sample("median_all nanmedian_all msort median nanmedian", _spec)
    sample("median_dim nanmedian_dim mode median nanmedian", _spec, 1)
    sample("median_dim nanmedian_dim mode", _spec, 0, True)
    sample("quantile nanquantile", _spec, 0.3)
    sample("quantile nanquantile", _spec, 0.3, 1)
    sample("cummax cummin", _spec, 1)
    sample("cummax cummin", _spec, 0)
sample("kthvalue", f(), 1)
sample("median_dim nanmedian_dim mode cummax cummin", f(), 0)
sample("median_all nanmedian_all", f())

# ---- running ------------------------------------------------------------------------------------

for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).expanded, f(3, 1), f(0, 3)):
    for _dim in (0, 1):
        sample("cumprod logcumsumexp", _spec, _dim)
        sample("recurrence", _spec, f(*_spec.shape), _dim)
sample("cumprod logcumsumexp", f(), 0)
sample("cumprod", f(4).of(2, 0, 3, -1), 0)
sample("cumprod", f(4).of(0, 2, 0, 4), 0)
sample("diff", f(2, 4))
sample("diff", f(2, 4), 2, 0)
sample("gradient", f(3, 4), edge_order=2)

# ---- reductions ---------------------------------------------------------------------------------

for _spec in (f(2, 3).distinct, f(2, 3).distinct.transposed, f(2, 3).distinct.strided):
    sample("aminmax", _spec, 1, False)
    sample("aminmax", _spec, None, True)
    sample("nansum_dims nansum nanmean", _spec, 1)
    sample("nansum_dims nansum nanmean", _spec, None, True)
    sample("nan_to_num", _spec)
sample("aminmax", f(), None, False)

# ---- rearranging --------------------------------------------------------------------------------

for _spec in (f(4, 3), f(4, 3).transposed, f(4, 3).strided, f(4, 3).expanded):
    sample("rot90", _spec)
    sample("rot90", _spec, -1, (1, 0))
    sample("fliplr flipud", _spec)
    sample("unfold", _spec, 0, 2, 1)
    sample("unfold", _spec, -1, 2, 2)
    sample("repeat_interleave", _spec, 2, 1)
    sample("repeat_interleave", _spec, i(1, 0, 2, 1), 0)
    sample("movedim", _spec, (0, 1), (1, 0))
    sample("tensor_split", _spec, 2)
    sample("hsplit", _spec, [1])
    sample("vsplit", _spec, 2)
    sample("select_scatter", _spec, f(3), 0, 1)
    sample("slice_scatter", _spec, f(4, 2), 1, 0, 3, 2)
    sample("diagonal_scatter", _spec, f(3))
sample("as_strided", f(2, 3), (2, 2), (1, 2))
sample("as_strided", f(6), (3, 3), (1, 1), 1)
sample("as_strided", f(2, 3).transposed, (2, 2), (1, 3))
sample("as_strided", f(2, 3).expanded, (2, 2), (0, 1))
sample("strided", f(6), (2, 2), (1, 3), 1, (1,))
sample("strided_sum", f(2, 2), (6,), (1,), (2, 2), (1, 2), 1)
sample("strided_sum", f(2, 2), (2, 3), (0, 1), (2, 2), (0, 1), 0)
sample("strided_copy", f(2, 3), (2, 3), (3, 1), (3, 2), (1, 1), 1)
sample("windows_summed", f(3, 3, 2), (4, 3), 0, 2, 1)
sample("windows_summed", f(1), (), 0, 1, 1)
sample("unfold", f(), 0, 1, 1)
sample("hstack vstack dstack column_stack", [f(2, 3), f(2, 3)])
