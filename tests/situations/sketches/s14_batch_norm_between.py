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
#   saved    s14_batch_norm_between.py:7 frozen = net(images)               for NativeBatchNormBackward0 (an input of it)   module Sequential.1
#                                                 ^^^^^^^^^^^
#   changed  s14_batch_norm_between.py:9 net(more)                          by batch norm in training (running statistics), version 1 -> 2   module Sequential.1
#   needed   s14_batch_norm_between.py:10 frozen.sum().backward()
#   fix      change a copy: `.clone()` the tensor before the write, or use an out-of-place form
#   explain  python -m tinynet explain inplace-saved
