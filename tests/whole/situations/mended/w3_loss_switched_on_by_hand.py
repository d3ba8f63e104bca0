"""Silent: a loss is made to require grad by hand

If backward says that the loss does not require grad, something has cut it off on the way. Making
it a leaf silences the error and connects nothing. Find the cut; here it is `detach()`.
"""

import tinynet as tn
from tinynet import nn

model = nn.Linear(3, 1)
loss = model(tn.ones(2, 3)).mean()
loss.backward()

assert model.weight.grad is not None
