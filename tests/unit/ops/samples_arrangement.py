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

# ---- putting and reducing into places -----------------------------------------------------------

APART = f(3, 4).of(*(0.33 - 0.71 * k for k in (5, 2, 9, 0, 7, 3, 8, 1, 6, 4, 11, 10)))

for _spec in (f(2, 3), f(2, 3).transposed, f(2, 3).strided):
    sample("take", _spec, i([[0, 5], [-1, 0]]))
    sample("put", _spec, i([5, 0]), f(2))
    sample("put", _spec, i([5, 5]), f(2), True)
    sample("index_copy", _spec, 0, i(1), f(1, 3))
    sample("masked_scatter", _spec, i([[1, 0, 1], [0, 0, 1]]) > 0, f(2, 2))
    for _way in ("sum", "mean", "prod", "amax", "amin"):
        for _include in (True, False):
            _options = {"include_self": _include}
            _at = i([[0, 0, 1], [0, 1, 1], [0, 0, 0]])
            sample("scatter_reduce", _spec.distinct, 0, _at, APART, _way, **_options)
            if _way != "sum":
                sample("index_reduce", _spec, 0, i(1, 1, 1), f(3, 3).distinct, _way, **_options)
sample("scatter_reduce", f(2).of(0, 2), 0, i(0, 0, 1, 1), f(4).of(3, 0, 2, 4), "prod")
sample("scatter_reduce", f(), 0, i(0), f(), "mean")
sample("index_reduce", f(), 0, i(0), f(), "amax")
sample("take_sum", f(2), i(3, 3), (2, 2))
sample("slices_copied", f(2, 3), i(1), f(1, 3), 0)
sample("scatter_reduced", f(2), i(0, 0), f(2).distinct, 0, "amin", True)
sample("slices_reduced", f(2), i(0, 0), f(2).distinct, 0, "mean", False)

# ---- filling ------------------------------------------------------------------------------------

sample("fill", f(2, 3), 2.5)
sample("diagonal_filled", f(3, 4), 2.0, False)
sample("rsub", f(2, 3), f(3))
sample("rsub", f(2, 3), 2.0, alpha=3)
