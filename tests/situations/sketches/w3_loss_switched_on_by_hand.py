import tinynet as tn
from tinynet import nn

model = nn.Linear(3, 1)
loss = model(tn.ones(2, 3)).detach().mean()
loss.requires_grad = True
loss.backward()

# ---- says ----
# LostGradientWarning: backward() was called on a leaf: nothing but its own .grad is computed. If it is a loss, it was cut off from the parameters on the way (by detach(), .data, .item(), numpy or no_grad), and requires_grad = True does not connect it again: let it depend on them. More: python -m tinynet explain lost-gradient
