"""Rows are written while iterating over them

Iterating over a tensor calls `unbind`, which returns several views at once; such views cannot be
written while recording. Index instead, or compute on the whole.
"""

import tinynet as tn

x = tn.ones(2, 3, requires_grad=True)
y = x * 1
for i in range(len(y)):
    y[i] = y[i] * 2
y.sum().backward()

assert (x.grad == 2).all()
