"""Rows for attention."""

import numpy as np

from .samples import f, sample

KEEP = np.array([[1.0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1]])
NOISE = np.array([[2.0, 0, 2, 2], [2, 2, 0, 0], [0, 0, 0, 2]])

for _batch in ((), (2,), (1, 2), (0,)):
    _q, _k, _v = f(*_batch, 3, 2), f(*_batch, 4, 2), f(*_batch, 4, 3)
    sample("attend", _q, _k, _v, None, None, 0.7)
    sample("attend", _q, _k, _v, KEEP, NOISE, 0.7)
    sample("attend_with_bias", _q, _k, _v, f(3, 4), NOISE, 0.7)
    sample("attend_with_bias", _q, _k, _v, f(*_batch, 1, 4), None, 1.0)
_q, _k, _v = f(2, 3, 2), f(1, 4, 2), f(4, 3)
sample("attend", _q, _k, _v, None, None, 0.7)  # broadcast
sample("attend_with_bias", _q, _k, _v, f(2, 3, 4), None, 0.7)
sample("attend", f(2, 3).transposed, f(4, 3).strided, f(4, 1).expanded, None, None, 0.7)
sample("attend", f(2, 3), f(0, 3), f(0, 2), None, None, 1.0)
sample("attend", f(2, 0), f(4, 0), f(4, 2), None, None, 1.0)
_large = f(3, 2).of(30, -40, 5, 20, -3, 0.5)  # scores that must be shifted
sample("attend", _large, f(4, 2), f(4, 3), KEEP, None, 30.0)
sample("attend_with_bias", _large, f(4, 2), f(4, 3), f(3, 4), None, 30.0)
