"""The rows of `samples.SAMPLES` for normalisation."""

import numpy as np

import tinynet as tn
from tinynet.nn.functional.normalization_ops import Blocks

from .samples import f, sample

EPS = 0.1  # moderate slopes, so that finite differences can follow them

# Four samples are summed as columns, three as rows (see blocks.seen_as).
for _blocks in (
    Blocks(4, 3, 1, 2, shared=True),
    Blocks(3, 2, 1, 4, shared=True),
    Blocks(5, 2, 1, 1, shared=True),
    Blocks(1, 4, 1, 3, shared=True),
    Blocks(0, 2, 1, 3, shared=True),
):
    _shape = (_blocks.samples, _blocks.groups, _blocks.places)
    _vector, _known = f(_blocks.groups), tn.tensor(np.linspace(0.3, 1.1, _blocks.groups))
    for _input in (f(*_shape), f(*_shape).transposed, f(*_shape).strided):
        sample("batch_normalized", _input, _vector, _vector, _blocks, EPS)
        sample("batch_scaled", _input, _known, _known, _vector, _vector, _blocks, EPS)
for _blocks in (Blocks(2, 2, 2, 3), Blocks(2, 1, 3, 1), Blocks(2, 3, 1, 2), Blocks(0, 1, 2, 2)):
    _channels = _blocks.groups * _blocks.channels
    _shape = (_blocks.samples, _channels, _blocks.places)
    for _input in (f(*_shape), f(*_shape).transposed, f(*_shape).strided):
        sample("group_normalized", _input, f(_channels), f(_channels), _blocks, EPS)
NONE = tn.zeros(0, dtype=tn.float64)  # an empty weight or bias stands for none
for _weight in (f(3), NONE):
    for _input in (f(4, 3), f(4, 3).transposed, f(2, 2, 3).strided, f(3), f(0, 3)):
        sample("layer_normalized", _input, _weight, f(3), 3, EPS)
        sample("layer_normalized", _input, _weight, NONE, 3, EPS)
        sample("rms_normalized", _input, _weight, 3, EPS)
sample("layer_normalized", f(2, 2, 3), f(2, 3), f(2, 3), 6, EPS)
sample("rms_normalized", f(2, 2, 3), f(2, 3), 6, EPS)
