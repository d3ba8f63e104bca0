import tinynet as tn
from tinynet import nn

net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
before = net.state_dict()
loss = net(tn.ones(2, 3)).sum()
net.load_state_dict(before)
loss.backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [1, 3]] is at version 2; expected version 1 instead.
#   saved    s14_load_between.py:6    loss = net(tn.ones(2, 3)).sum()    for AddmmBackward0 (its input: Sequential.1.weight)   module Sequential.1
#                                            ^^^^^^^^^^^^^^^^^^
#   changed  s14_load_between.py:7    net.load_state_dict(before)        by load_state_dict, version 1 -> 2
#   needed   s14_load_between.py:8    loss.backward()
#   fix      load before the forward whose backward you need, or run the forward again
#   explain  python -m tinynet explain inplace-saved
