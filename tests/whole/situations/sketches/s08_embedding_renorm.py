import tinynet as tn
from tinynet import nn

embedding = nn.Embedding(3, 5, max_norm=1)
with tn.no_grad():
    embedding.weight.fill_(1)
W = tn.ones(7, 5, requires_grad=True)
a = embedding.weight @ W.t()
b = embedding(tn.tensor([1, 2])) @ W.t()
(a.unsqueeze(0) + b.unsqueeze(1)).sigmoid().prod().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [3, 5]] is at version 3; expected version 2 instead.
#   saved    s08_embedding_renorm.py:8 a = embedding.weight @ W.t()       for MmBackward0 (its input: Embedding.weight)
#                                          ^^^^^^^^^^^^^^^^^^^^^^^^
#   changed  s08_embedding_renorm.py:9 b = embedding(tn.tensor([1, 2])) @ W.t() by embedding renorm (max_norm=1.0), version 2 -> 3   module Embedding
#                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   needed   s08_embedding_renorm.py:10 (a.unsqueeze(0) + b.unsqueeze(1)).sigmoid().prod().backward()
#   fix      look up first and use the weight afterwards, or use a copy of it: `weight.clone()` (max_norm rescales the weight's rows in place at each lookup)
#   explain  python -m tinynet explain inplace-saved
