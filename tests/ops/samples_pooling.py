"""The rows of `samples.SAMPLES` for padding, pooling and resampling."""

import tinynet as tn
from tinynet.nn.functional.windows import Options

from .samples import f, i, sample

# ---- padding ------------------------------------------------------------------------------------

for _mode in ("reflect", "replicate", "circular"):
    for _input in (f(2, 4), f(2, 4).transposed, f(2, 4).strided, f(2, 4).expanded, f(2, 2, 4)):
        sample(f"{_mode}_pad1d", _input, (2, 1))
    sample(f"{_mode}_pad1d", f(1, 4), (-1, 3))
    sample(f"{_mode}_pad1d", f(1, 4), (-3, 2))
    sample(f"{_mode}_pad1d", f(1, 4), (3, -2))
    sample(f"{_mode}_pad1d", f(1, 2, 3), (0, 0))
    sample(f"{_mode}_pad2d", f(1, 2, 3), (2, 1, 1, 0))
    sample(f"{_mode}_pad3d", f(1, 2, 2, 2), (1, 0, 0, 1, 1, 1))
    sample(f"{_mode}_fold1d", f(2, 7), (2, 1), (2, 4))
    sample(f"{_mode}_fold1d", f(2, 4).transposed, (0, 0), (2, 4))
    sample(f"{_mode}_fold2d", f(1, 3, 6), (2, 1, 1, 0), (1, 2, 3))
    sample(f"{_mode}_fold3d", f(1, 4, 3, 3), (1, 0, 0, 1, 1, 1), (1, 2, 2, 2))

# ---- pooling ------------------------------------------------------------------------------------


def pooled(kernel, stride=None, padding=0, dilation=1, ceil=False, rank=2):
    """The options of a pooling."""
    numbers = (kernel, stride or kernel, padding, dilation)
    return Options(*(n if isinstance(n, tuple) else (n,) * rank for n in numbers), ceil)


for _input in (f(2, 4, 5), f(2, 4, 5).transposed, f(2, 4, 5).strided, f(2, 4, 5).expanded):
    sample("max_pool2d", _input.distinct, pooled(2))
    sample("avg_pool2d", _input, pooled(2), True, None)
    sample("adaptive_avg_pool2d", _input, (3, 2))
    sample("adaptive_max_pool2d", _input.distinct, (3, 2))
    sample("plane_mean", _input, 2)
sample("max_pool2d", f(1, 1, 5, 4).distinct, pooled(3, 2, 1))
sample("max_pool2d", f(1, 5, 4).distinct, pooled(2, 1, 1, 2))
sample("max_pool2d", f(1, 5, 4).distinct, pooled((5, 4)))
sample("max_pool2d", f(1, 4, 4).distinct, pooled(2, 3, 0, 1, True))
sample("max_pool2d", f(0, 2, 4, 4), pooled(2))
sample("max_pool3d", f(1, 2, 3, 4).distinct, pooled(2, 1, rank=3))
for _include in (True, False):
    sample("avg_pool2d", f(1, 5, 4), pooled(3, 2, 1, 1, True), _include, None)
    sample("avg_spread2d", f(1, 3, 3), (5, 4), pooled(3, 2, 1, 1, True), _include, None)
sample("avg_pool2d", f(1, 5, 4), pooled((1, 2), (2, 1)), True, -3)
sample("avg_pool2d", f(1, 2, 2), pooled(1), True, None)
sample("avg_pool2d", f(0, 2, 4, 4), pooled(2), True, None)
sample("avg_pool3d", f(1, 2, 3, 4), pooled(2, 1, rank=3), True, None)
sample("avg_spread2d", f(1, 2, 2), (5, 4), pooled(2), True, None)
sample("avg_spread3d", f(1, 1, 2, 3), (2, 3, 4), pooled(2, 1, rank=3), True, None)
for _output in ((1, 1), (2, 4), (7, 3)):
    sample("adaptive_avg_pool2d", f(2, 3, 4), _output)
    sample("adaptive_max_pool2d", f(2, 3, 4).distinct, _output)
    sample("adaptive_avg_spread2d", f(2, *_output), (3, 4))
sample("adaptive_avg_pool3d", f(1, 2, 3, 2), (1, 2, 2))
sample("adaptive_avg_spread3d", f(1, 1, 2, 2), (2, 3, 2))
sample("adaptive_max_pool3d", f(1, 2, 3, 2).distinct, (1, 2, 2))
sample("plane_mean", f(1, 2, 2, 2), 3)
PLACES = i([[[0, 5], [7, 11]], [[1, 1], [0, 0]]])
sample("max_unpool2d", f(2, 2, 2), i([[[0, 5], [7, 11]], [[1, 2], [4, 0]]]), (3, 4))
sample("max_unpool3d", f(2, 1, 2, 1), i([[[[0], [5]]], [[[7], [3]]]]), (2, 2, 2))
sample("max_spread2d", f(2, 2, 2), PLACES, (3, 4), False)
sample("max_spread3d", f(2, 1, 2, 1), i([[[[0], [5]]], [[[7], [3]]]]), (2, 2, 2), True)
sample("max_taken", f(2, 3, 4), PLACES, 2)
sample("max_taken", f(2, 3, 4).transposed, PLACES, 2)
SAMPLES = tn.tensor([[[0.2, 0.7], [0.5, 0.1]]], dtype=tn.float64)
sample("fractional_max_pool2d", f(2, 5, 4).distinct, SAMPLES, (2, 1), (3, 2))
sample("fractional_max_pool2d", f(1, 2, 5, 4).distinct.transposed, SAMPLES, (2, 2), (2, 3))
SAMPLES = tn.tensor([[[0.2, 0.7, 0.4]]], dtype=tn.float64)
sample("fractional_max_pool3d", f(1, 3, 4, 3).distinct, SAMPLES, (1, 2, 1), (2, 2, 2))
