"""Silent: a leaf is converted

`.to(...)` is an operation: its result is no leaf, and gradients arrive at the tensor before it,
which has no name. Convert first.
"""

import tinynet as tn

w = tn.ones(3).to(tn.float64).requires_grad_()
(w * w).sum().backward()

assert w.grad.tolist() == [2, 2, 2]
