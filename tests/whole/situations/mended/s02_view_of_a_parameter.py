"""A view of a parameter is written in place

`weight[:, 0]` shares the memory of the leaf, so writing to it is writing to the leaf.
"""

import tinynet as tn
from tinynet import nn

values = tn.ones(2, 3)
values[:, 0].zero_()
weight = nn.Parameter(values)
(weight * weight).sum().backward()

assert weight.grad.tolist() == [[0, 2, 2], [0, 2, 2]]
