"""A parameter is updated by hand

A leaf is where gradients arrive. A recorded write would make it a result, and there would be no
place for the gradient. An update is not part of what is differentiated: do it unrecorded.
"""

import tinynet as tn

w = tn.ones(3, requires_grad=True)
(w * w).sum().backward()
with tn.no_grad():
    w -= 0.1 * w.grad
w.grad = None

assert w.is_leaf and w.tolist() == [0.800000011920929] * 3
