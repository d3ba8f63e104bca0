"""An in-place module after one that keeps its output

Tanh needs its output, and `ReLU(inplace=True)` overwrites it. The message names both modules.
"""

import tinynet as tn
from tinynet import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.squash = nn.Tanh()
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.squash(x))


x = tn.ones(2, 3, requires_grad=True)
Net()(x).sum().backward()

assert (x.grad > 0).all()
