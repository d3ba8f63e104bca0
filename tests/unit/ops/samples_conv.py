"""The rows of `samples.SAMPLES` for convolutions, and for windows as columns."""

import math

from tinynet.nn.functional.geometry import Geometry

from .samples import f, sample

# Input, weight and output sizes that belong together: (walk, size of the input).
WALKS = {
    "plain": (Geometry((3,), (1,), (0,), (1,), (3,)), (5,)),
    "stride": (Geometry((2, 3), (2, 1), (1, 1), (1, 1), (3, 3)), (4, 3)),
    "dilation": (Geometry((2, 2), (3, 2), (1, 0), (2, 3), (2, 1)), (5, 4)),
    "pointwise": (Geometry((1, 1), (1, 1), (0, 0), (1, 1), (2, 2)), (2, 2)),
    "3d": (Geometry((1, 2, 2), (1, 1, 2), (0, 1, 1), (1, 1, 1), (2, 3, 2)), (2, 2, 2)),
}
for _walk, _size in WALKS.values():
    _x, _w, _y = f(2, 2, *_size), f(2, 2, *_walk.kernel), f(2, 2, *_walk.out)
    sample("convolve", _x, _w, _walk, 1)
    sample("convolve_biased", _x, _w, f(2), _walk, 1)
    sample("spread", _y, _w, _size, _walk, 1)
    sample("spread_biased", _y, _w, f(2), _size, _walk, 1)
    sample("correlate", _x, _y, _walk, 1)
    sample("convolve_backward", _y, _w, _x.shape, _walk, 1)
    sample("spread_backward", _x, _w, _walk, 1)
_walk, _size = WALKS["stride"]
_x, _w, _y = f(2, 4, *_size), f(2, 2, *_walk.kernel), f(2, 2, *_walk.out)
for _made in ("transposed", "strided", "expanded"):
    sample("convolve", getattr(_x, _made), getattr(_w, _made), _walk, 2)
    sample("spread", getattr(_y, _made), getattr(_w, _made), _size, _walk, 2)
    sample("correlate", getattr(_x, _made), getattr(_y, _made), _walk, 2)
sample("convolve", f(0, 4, *_size), _w, _walk, 2)
sample("spread", f(0, 2, *_walk.out), _w, _size, _walk, 2)
sample("channel_sums", f(2, 3, 2), (0, 2))
sample("correlate", f(0, 4, *_size), f(0, 2, *_walk.out), _walk, 2)

for _walk, _size in WALKS.values():
    _many = math.prod(_walk.kernel)
    sample("im2col", f(2, 2, *_size), _walk)
    sample("col2im", f(2, 2 * _many, math.prod(_walk.out)), _size, _walk)
for _made in ("transposed", "strided", "expanded"):
    sample("im2col", getattr(f(2, 2, 4, 3), _made), WALKS["stride"][0])
    sample("col2im", getattr(f(2, 12, 9), _made), (4, 3), WALKS["stride"][0])
sample("im2col", f(0, 2, 4, 3), WALKS["stride"][0])
sample("col2im", f(0, 12, 9), (4, 3), WALKS["stride"][0])
