"""Parameters are clamped between forward and backward

As in situation 5, the graph was made with the old values. Clamp after the step.
"""

import tinynet as tn
from tinynet import nn

critic = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
critic(tn.ones(2, 3)).sum().backward()
with tn.no_grad():
    for p in critic.parameters():
        p.clamp_(-0.01, 0.01)

assert critic[0].weight.grad is not None
