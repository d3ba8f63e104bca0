"""The rows of `samples.SAMPLES` for padding, pooling and resampling."""

from .samples import f, sample

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
