"""An optimizer steps between two backward calls

The step changes parameters that the second backward still needs: its graph was made with the old
ones. Run both backwards first, or make the second graph after the step.
"""

import tinynet as tn
from tinynet import nn, optim

D = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
opt_D = optim.SGD(D.parameters(), lr=0.1)
fake = tn.ones(2, 3, requires_grad=True)
D(fake.detach()).mean().backward()
opt_D.step()
(1 - D(fake)).mean().backward()

assert fake.grad.shape == (2, 3)
