"""A write to an array that shares memory with a tensor

`from_numpy` and `numpy()` share memory; numpy counts no versions. `autograd.checked()` compares
contents, and so sees it. `tn.tensor` copies.
"""

import numpy as np

import tinynet as tn

buffer = np.ones(3)
w = tn.ones(3, dtype=tn.float64, requires_grad=True)
y = tn.tensor(buffer) * w
buffer[:] = 100
y.sum().backward()

assert w.grad.tolist() == [1, 1, 1]
