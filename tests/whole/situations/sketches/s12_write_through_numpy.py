import numpy as np

import tinynet as tn

buffer = np.ones(3)
w = tn.ones(3, dtype=tn.float64, requires_grad=True)
with tn.autograd.checked():
    y = tn.from_numpy(buffer) * w
buffer[:] = 100
y.sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified without autograd's knowledge: the contents of [tinynet.DoubleTensor [3]] differ from what was saved, at the same version.
#   saved    s12_write_through_numpy.py:8 y = tn.from_numpy(buffer) * w      for MulBackward0 (its input)
#                                             ^^^^^^^^^^^^^^^^^^^^^^^^^
#   changed  between these lines, by code that autograd cannot see
#   needed   s12_write_through_numpy.py:10 y.sum().backward()
#   fix      writes through `.data`, or to a numpy array that shares the tensor's memory (`from_numpy(a)`, `x.numpy()`), are not tracked: use `.detach()` instead of `.data`, and copy arrays with `tensor(a)`
#   explain  python -m tinynet explain unseen-change
