"""Silent: a parameter is replaced under `no_grad`

`w = w - ...` makes a new tensor, which under `no_grad` requires no gradient: the second step has
none. Change the tensor instead.
"""

import tinynet as tn

w = tn.ones(3, requires_grad=True)
for _ in range(2):
    (w * w).sum().backward()
    with tn.no_grad():
        w -= 0.1 * w.grad
    w.grad = None

assert w.requires_grad
