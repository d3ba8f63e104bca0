import tinynet as tn
from tinynet import nn

model = nn.Linear(3, 1)
loss = model(tn.ones(2, 3)).detach().mean()
loss.requires_grad = True
loss.backward()

# ---- says ----
# LostGradientWarning: backward() was called on a leaf: only its own .grad is computed. If it is a loss, something detached it from the parameters (detach(), .data, .item(), numpy or no_grad), and requires_grad = True does not reconnect it: remove whatever detached it. More: python -m tinynet explain lost-gradient
