"""The rows of `samples.SAMPLES` for padding, pooling and resampling."""

import tinynet as tn
from tinynet.nn.functional.images.grid_sampling import Warp
from tinynet.nn.functional.images.interpolation import SAMPLERS, Resampling
from tinynet.nn.functional.pooling.windows import Options

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
    sample("max_pool_2x2", _input.distinct)
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
    sample("avg_pool_backward2d", f(1, 3, 3), (5, 4), pooled(3, 2, 1, 1, True), _include, None)
sample("avg_pool2d", f(1, 5, 4), pooled((1, 2), (2, 1)), True, -3)
sample("avg_pool2d", f(1, 2, 2), pooled(1), True, None)
sample("avg_pool2d", f(0, 2, 4, 4), pooled(2), True, None)
sample("avg_pool3d", f(1, 2, 3, 4), pooled(2, 1, rank=3), True, None)
sample("avg_pool_backward2d", f(1, 2, 2), (5, 4), pooled(2), True, None)
sample("avg_pool_backward3d", f(1, 1, 2, 3), (2, 3, 4), pooled(2, 1, rank=3), True, None)
for _output in ((1, 1), (2, 4), (7, 3)):
    sample("adaptive_avg_pool2d", f(2, 3, 4), _output)
    sample("adaptive_max_pool2d", f(2, 3, 4).distinct, _output)
    sample("adaptive_avg_pool_backward2d", f(2, *_output), (3, 4))
sample("adaptive_avg_pool3d", f(1, 2, 3, 2), (1, 2, 2))
sample("adaptive_avg_pool_backward3d", f(1, 1, 2, 2), (2, 3, 2))
sample("adaptive_max_pool3d", f(1, 2, 3, 2).distinct, (1, 2, 2))
sample("plane_mean", f(1, 2, 2, 2), 3)
PLACES = i([[[0, 5], [7, 11]], [[1, 1], [0, 0]]])
sample("max_unpool2d", f(2, 2, 2), i([[[0, 5], [7, 11]], [[1, 2], [4, 0]]]), (3, 4))
sample("max_unpool3d", f(2, 1, 2, 1), i([[[[0], [5]]], [[[7], [3]]]]), (2, 2, 2))
OFFSETS = tn.tensor([[[3, 0]], [[1, 2]]], dtype=tn.uint8)
for _kind in ("max_pool_backward", "adaptive_max_pool_backward"):
    sample(f"{_kind}2d", f(2, 2, 2), PLACES, (3, 4), False)
    sample(f"{_kind}3d", f(2, 1, 2, 1), i([[[[0], [5]]], [[[7], [3]]]]), (2, 2, 2), True)
sample("max_pool_2x2_backward", f(2, 1, 2), OFFSETS, (2, 3, 4))
sample("max_gather", f(2, 3, 4), PLACES, 2)
sample("max_gather", f(2, 3, 4).transposed, PLACES, 2)
DRAWS = tn.tensor([[[0.2, 0.7], [0.5, 0.1]]], dtype=tn.float64)
sample("fractional_max_pool2d", f(2, 5, 4).distinct, DRAWS, (2, 1), (3, 2))
sample("fractional_max_pool2d", f(1, 2, 5, 4).distinct.transposed, DRAWS, (2, 2), (2, 3))
DRAWS = tn.tensor([[[0.2, 0.7, 0.4]]], dtype=tn.float64)
sample("fractional_max_pool3d", f(1, 3, 4, 3).distinct, DRAWS, (1, 2, 1), (2, 2, 2))

# ---- resampling ---------------------------------------------------------------------------------


def resampled(mode, *size, align=False, smooth=False, scales=None):
    """The options of an interpolation."""
    return Resampling(mode, size, scales or (None,) * len(size), align, smooth)


for (_mode, _smooth), _ranks in SAMPLERS.items():
    _name = f"upsample_{_mode.replace('-', '_')}{'_smooth' if _smooth else ''}"
    _aligned = (False,) if "nearest" in _mode else (False, True)
    for _rank in _ranks:
        _shape, _sizes = (1, 1, *(3, 4, 2)[:_rank]), [(5, 2, 3)[:_rank], (6, 8, 4)[:_rank]]
        for _size in _sizes:
            for _align in _aligned:
                _how = resampled(_mode, *_size, align=_align, smooth=_smooth)
                sample(f"{_name}{_rank}d", f(*_shape), _how)
                sample(f"{_name}_back{_rank}d", f(1, 1, *_size), _how, _shape[2:])
    _shape = (1, 2, *(4, 3, 2)[:_rank])
    _how = resampled(_mode, *(5, 5, 3)[:_rank], smooth=_smooth, scales=(1.3, 1.7, 1.6)[:_rank])
    for _input in (f(*_shape), f(*_shape).transposed, f(*_shape).strided, f(*_shape).expanded):
        sample(f"{_name}{_rank}d", _input, _how)
sample("upsample_linear1d", f(1, 1, 50), resampled("linear", 3))
sample("upsample_bilinear2d", f(1, 1, 2, 45), resampled("bilinear", 3, 7))

sample("shuffled_pixels", f(2, 8, 2, 3), 2)
sample("shuffled_pixels", f(4, 2, 3).transposed, 2)
sample("unshuffled_pixels", f(2, 4, 6), 2)
sample("unshuffled_pixels", f(2, 4, 6).strided, 2)
sample("shuffled_channels", f(2, 6, 2), 2)
sample("shuffled_channels", f(2, 6, 2).transposed, 3)

# ---- reading at places --------------------------------------------------------------------------

for _rank in (2, 3):
    _picture, _grid = f(1, 2, *(3, 4, 2)[:_rank]), f(1, *(1, 2, 1)[:_rank], _rank).unit
    _modes = ("bilinear", "nearest", "bicubic") if _rank == 2 else ("bilinear", "nearest")
    for _mode in _modes:
        for _padding in ("zeros", "border", "reflection"):
            for _align in (True, False):
                _warp = Warp(_mode, _padding, _align)
                sample(f"grid_sampler{_rank}d", _picture, _grid, _warp, (0,) * _rank)
    _warp, _orders = Warp("bilinear", "zeros", False), (1, *(0,) * (_rank - 1))
    sample(f"grid_sampler{_rank}d", _picture.transposed, _grid.transposed, _warp, _orders)
    _out = f(1, 2, *(1, 2, 1)[:_rank])
    for _order in ((0,) * _rank, _orders):
        sample(f"grid_spread{_rank}d", _out, _grid, _warp, _order, _picture.shape[2:])
    sample("affine_places", f(2, _rank, _rank + 1), (2, 3, 1)[:_rank], False)
    sample("affine_sums", f(2, *(2, 3, 1)[:_rank], _rank), (2, 3, 1)[:_rank], True)
_warp = Warp("bicubic", "border", False)
sample("grid_sampler2d", f(1, 1, 3, 4), f(1, 2, 1, 2).unit, _warp, (2, 1))
sample("affine_places", f(2, 2, 3).transposed, (2, 3), True)
