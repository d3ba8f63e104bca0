import tinynet as tn
from tinynet import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.squash = nn.Tanh()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.squash(x))


net = Net()
net(tn.ones(2, 3, requires_grad=True)).sum().backward()

# ---- says ----
# RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [tinynet.FloatTensor [2, 3]], which is output 0 of TanhBackward0, is at version 1; expected version 0 instead.
#   saved    s04_inplace_module.py:12 in forward return self.relu(self.squash(x))   for TanhBackward0 (its output)   module Net.squash
#                                                                 ^^^^^^^^^^^^^^
#   changed  s04_inplace_module.py:12 in forward return self.relu(self.squash(x))   by relu_, version 0 -> 1   module Net.relu
#                                                       ^^^^^^^^^^^^^^^^^^^^^^^^^
#   needed   s04_inplace_module.py:16 net(tn.ones(2, 3, requires_grad=True)).sum().backward()
#   fix      set `inplace=False` on Net.relu
#   explain  python -m tinynet explain inplace-saved
