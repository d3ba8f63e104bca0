"""Embedding(max_norm=...) rescales the rows that it looks up in place, so the order matters.

Run: python examples/embedding_max_norm.py
"""

import tinynet as torch
from tinynet import nn

words = torch.tensor([1, 2])
other = torch.ones(4, 3, requires_grad=True)
embedding = nn.Embedding(3, 3, max_norm=1.0)


def long_rows():
    """Set the norm of all rows to 2."""
    with torch.no_grad():
        embedding.weight.fill_(2 / 3**0.5)


def lengths():
    """Return the norms of all rows."""
    return embedding.weight.norm(dim=1).round(decimals=4).tolist()


# A lookup rescales its rows in the weight.
long_rows()
print(lengths())  # [2.0, 2.0, 2.0]
embedding(words)
print(lengths())  # [2.0, 1.0, 1.0]


def loss_of(weight):
    """Return a loss that uses the weight twice: directly, and by lookup."""
    whole = weight @ other.t()  # saved for the gradient of `other` ...
    found = embedding(words) @ other.t()  # ... and here it is rescaled
    return (whole.unsqueeze(0) + found.unsqueeze(1)).sigmoid().prod()


# The saved weight has changed, so backward raises an error that names the change.
long_rows()
try:
    loss_of(embedding.weight).backward()
except RuntimeError as error:
    print(str(error)[:76])
    # one of the variables needed for gradient computation has been modified by an
    (changed,) = [line for line in str(error).splitlines() if line.startswith("  changed")]
    print(changed.partition(" by ")[2])
    # embedding renorm (max_norm=1.0), version 4 -> 5   module Embedding

# The lookup does not change a copy.
long_rows()
loss_of(embedding.weight.clone()).backward()
print(other.grad.shape, embedding.weight.grad.shape)  # tinynet.Size([4, 3]) tinynet.Size([3, 3])

# Or look up first: the weight saved afterwards does not change.
long_rows()
found = embedding(words) @ other.t()
whole = embedding.weight @ other.t()
(whole.unsqueeze(0) + found.unsqueeze(1)).sigmoid().prod().backward()
