"""A write through `.data`

`.data` is a tensor with a version of its own, so autograd cannot see the write: without
`autograd.checked()` the gradient is wrong and nothing is said. `detach()` shares the version; best
is a copy.
"""

import tinynet as tn

a = tn.tensor([1.0, 2.0, 3.0], requires_grad=True)
out = a.sigmoid()
shown = out.detach().clone()
shown.zero_()
out.sum().backward()

assert (a.grad > 0).all()
