import tinynet as tn
from tinynet import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.relu = nn.ReLU()

    def forward(self, x):
        h = self.relu(self.linear(x))
        h += x
        return h


net = nn.Sequential(Block(), Block())
net(tn.ones(2, 3)).sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [2, 3]], which is output 0 of ReluBackward0, is at version 1; expected version 0 instead.
#   saved    s04_residual.py:12 in forward h = self.relu(self.linear(x))      for ReluBackward0 (its output)   module Sequential.1.relu
#                                              ^^^^^^^^^^^^^^^^^^^^^^^^^
#   changed  s04_residual.py:13 in forward h += x                             by __iadd__, version 0 -> 1   module Sequential.1
#   needed   s04_residual.py:18       net(tn.ones(2, 3)).sum().backward()
#   fix      change a copy: `h = h.clone()` before line 13; or out of place: `h = h + ...`
#   explain  python -m tinynet explain inplace-saved
