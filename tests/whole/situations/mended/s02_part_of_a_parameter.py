"""A part of a parameter is assigned to

Assigning by index is recorded, so the parameter becomes a result; the next backward finds that
the leaf has gone. Fill without recording, or fill first and make the parameter last.
"""

import tinynet as tn
from tinynet import nn

weight = nn.Parameter(tn.ones(2, 3))
with tn.no_grad():
    weight[:, 0] = 0
(weight * weight).sum().backward()

assert weight.grad.tolist() == [[0, 2, 2], [0, 2, 2]]
