"""A result is written that backward needs

The derivative of a sigmoid is `y * (1 - y)`: backward needs the output. Write to a copy, or make a
new tensor of the two.
"""

import tinynet as tn


def forward(a):
    b = a.sigmoid()
    return tn.where(tn.tensor([False, True, False]), 2.0, b)


a = tn.ones(3, requires_grad=True)
forward(a).sum().backward()

assert a.grad[1] == 0 and (a.grad[[0, 2]] > 0).all()
