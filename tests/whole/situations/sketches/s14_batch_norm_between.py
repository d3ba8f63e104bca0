import tinynet as tn
from tinynet import nn

net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
images, more = tn.randn(8, 3), tn.randn(8, 3)
net.eval()
frozen = net(images)
net.train()
net(more)
frozen.sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [4]] is at version 2; expected version 1 instead.
#   saved    s14_batch_norm_between.py:7 frozen = net(images)               for NativeBatchNormBackward0 (its input: Sequential.1.running_mean)   module Sequential.1
#                                                 ^^^^^^^^^^^
#   changed  s14_batch_norm_between.py:9 net(more)                          by batch norm in training (running statistics), version 1 -> 2   module Sequential.1
#   needed   s14_batch_norm_between.py:10 frozen.sum().backward()
#   fix      call backward() before the next forward in training mode, or run the forward again after it: in training mode batch norm updates its running statistics in each forward, even under no_grad()
#   explain  python -m tinynet explain inplace-saved
