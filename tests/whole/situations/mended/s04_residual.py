"""A residual connection with `+=`

`h += x` writes to the output of the ReLU, which needs it. `h = h + x` makes a new tensor.
"""

import tinynet as tn
from tinynet import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.relu = nn.ReLU()

    def forward(self, x):
        h = self.relu(self.linear(x))
        return h + x


net = nn.Sequential(Block(), Block())
net(tn.ones(2, 3)).sum().backward()

assert all(p.grad is not None for p in net.parameters())
