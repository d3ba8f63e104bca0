"""Batch norm moves its statistics between forward and backward

In evaluation mode, batch norm computes with its running statistics; a forward in training mode
moves them. Run backward first.
"""

import tinynet as tn
from tinynet import nn

net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
images, more = tn.randn(8, 3), tn.randn(8, 3)
net.eval()
net(images).sum().backward()
net.train()
net(more)

assert net[0].weight.grad.shape == (4, 3)
