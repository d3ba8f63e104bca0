"""An embedding with `max_norm` is looked up after its weight was used

`max_norm` rescales the rows that are looked up, in place, at each lookup. Use a copy of the weight,
or look up first.
"""

import tinynet as tn
from tinynet import nn

embedding = nn.Embedding(3, 5, max_norm=1)
W = tn.ones(7, 5, requires_grad=True)
a = embedding.weight.clone() @ W.t()
b = embedding(tn.tensor([1, 2])) @ W.t()
(a.unsqueeze(0) + b.unsqueeze(1)).sigmoid().prod().backward()

assert embedding.weight.grad.shape == (3, 5)
