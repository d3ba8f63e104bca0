"""A view is made under `no_grad` and written outside

It is not clear whether the write should be recorded. Make the view where you write.
"""

import tinynet as tn

x = tn.ones(3, requires_grad=True)
a = x * 1
v = a[:2]
v.mul_(2)
a.sum().backward()

assert x.grad.tolist() == [2, 2, 1]
