import tinynet as tn
from tinynet import nn, optim

D = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
opt_D = optim.SGD(D.parameters(), lr=0.1)
score = D(tn.ones(2, 3, requires_grad=True))
D_loss, G_loss = score.mean(), (1 - score).mean()
D_loss.backward(retain_graph=True)
opt_D.step()
G_loss.backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [1, 3]] is at version 2; expected version 1 instead.
#   saved    s05_step_between_two_backwards.py:6 score = D(tn.ones(2, 3, requires_grad=True)) for AddmmBackward0 (its input: Sequential.2.weight)   module Sequential.2
#                                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
#   changed  s05_step_between_two_backwards.py:9 opt_D.step()                       by SGD.step, version 1 -> 2
#   needed   s05_step_between_two_backwards.py:10 G_loss.backward()
#   fix      call step() after every backward() that needs the old parameters, or run the forward again after the step; `.detach()` what should not be trained
#   explain  python -m tinynet explain inplace-saved
