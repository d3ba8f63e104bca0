import tinynet as tn
from tinynet import nn

critic = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
loss = critic(tn.ones(2, 3)).sum()
with tn.no_grad():
    for p in critic.parameters():
        p.clamp_(-0.01, 0.01)
loss.backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [1, 3]] is at version 2; expected version 1 instead.
#   saved    s14_clamp_between.py:5   loss = critic(tn.ones(2, 3)).sum() for AddmmBackward0 (its input: Sequential.1.weight)   module Sequential.1
#                                            ^^^^^^^^^^^^^^^^^^^^^
#   changed  s14_clamp_between.py:8   p.clamp_(-0.01, 0.01)              by clamp_, version 1 -> 2
#   needed   s14_clamp_between.py:9   loss.backward()
#   fix      write to it after the backward() that needs the old values, or run the forward again after the write
#   explain  python -m tinynet explain inplace-saved
