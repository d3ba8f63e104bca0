"""Embedding(max_norm=...) shortens the rows that it looks up, in place: mind the order.

Run: python examples/embedding_max_norm.py
"""

import tinynet as torch
from tinynet import nn

words = torch.tensor([1, 2])
other = torch.ones(4, 3, requires_grad=True)
embedding = nn.Embedding(3, 3, max_norm=1.0)


def long_rows():
    """Make all rows as long as 2, as training would in time."""
    with torch.no_grad():
        embedding.weight.fill_(2 / 3**0.5)


def lengths():
    """The lengths of all rows."""
    return embedding.weight.norm(dim=1).round(decimals=4).tolist()


# A lookup rescales the rows that it takes, in the weight itself.
long_rows()
print(lengths())  # [2.0, 2.0, 2.0]
embedding(words)
print(lengths())  # [2.0, 1.0, 1.0]


def loss_of(weight):
    """A loss that uses the table twice: as a whole, and by lookup."""
    whole = weight @ other.t()  # saved for the gradient of `other` ...
    found = embedding(words) @ other.t()  # ... and here it is rescaled
    return (whole.unsqueeze(0) + found.unsqueeze(1)).sigmoid().prod()


# So what was saved is no longer what it was: backward refuses, and says who changed it.
long_rows()
try:
    loss_of(embedding.weight).backward()
except RuntimeError as error:
    print(str(error)[:76])
    # one of the variables needed for gradient computation has been modified by an
    (changed,) = [line for line in str(error).splitlines() if line.startswith("  changed")]
    print(changed.partition(" by ")[2])
    # embedding renorm (max_norm=1.0), version 4 -> 5   module Embedding

# A copy is not touched by the lookup.
long_rows()
loss_of(embedding.weight.clone()).backward()
print(other.grad.shape, embedding.weight.grad.shape)  # tinynet.Size([4, 3]) tinynet.Size([3, 3])

# Or look up first: what is saved afterwards stays as it is.
long_rows()
found = embedding(words) @ other.t()
whole = embedding.weight @ other.t()
(whole.unsqueeze(0) + found.unsqueeze(1)).sigmoid().prod().backward()
