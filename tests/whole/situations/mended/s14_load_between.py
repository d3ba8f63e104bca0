"""Weights are loaded between forward and backward

Loading writes to the parameters. Load first, then run the forward.
"""

import tinynet as tn
from tinynet import nn

net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
before = {name: value.clone() for name, value in net.state_dict().items()}
net.load_state_dict(before)
net(tn.ones(2, 3)).sum().backward()

assert net[0].weight.grad is not None
