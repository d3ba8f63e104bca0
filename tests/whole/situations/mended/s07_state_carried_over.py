"""A state is carried over from one step to the next

The state still hangs on the graph of the last step, which backward has freed. Detach it: gradients
then go back one step (truncated backpropagation through time).
"""

import tinynet as tn

w = tn.ones(3, requires_grad=True)
h = tn.ones(3)
for _ in range(2):
    h = (h.detach() * w).tanh()
    h.sum().backward()

assert (w.grad > 0).all()
