"""The rules of autograd in one script, each with its output.

Run: python examples/autograd_tour.py
"""

import tinynet as torch
from tinynet import board

# The user creates leaves; a result knows the operation that created it.
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
print(x.is_leaf, x.grad_fn)  # True None
print(y.is_leaf, y)  # False tensor([1., 4.], grad_fn=<MulBackward0>)

# backward() starts from one number, and adds to the .grad of the leaves.
y.sum().backward()
print(x.grad)  # tensor([2., 4.])
(3 * x).sum().backward()
print(x.grad)  # tensor([5., 7.])
x.grad = None  # what optimizer.zero_grad() does

# For several numbers it needs their weights.
(x * x).backward(torch.tensor([1.0, 10.0]))
print(x.grad)  # tensor([ 2., 40.])

# autograd.grad returns the gradients and leaves .grad alone.
(gradient,) = torch.autograd.grad((x**3).sum(), x)
print(gradient)  # tensor([ 3., 12.])

# A result keeps its gradient after retain_grad().
middle = x.exp()
middle.retain_grad()
middle.log().sum().backward()
print(middle.grad.allclose(1 / middle))  # True

# A graph supports one backward; retain_graph=True keeps it for another.
loss = (x * x).sum()
loss.backward(retain_graph=True)
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print(str(error)[:51])  # Trying to backward through the graph a second time,

# Three ways out of the graph: for a block, for a value, and for numpy.
with torch.no_grad():
    print((x * x).requires_grad)  # False
print((x * x).detach().requires_grad)  # False
print((x * x).detach().numpy())  # [1. 4.]

# A view shares memory and version with its base: a write to one changes the other.
base = x * 1
row = base[1:]
row.mul_(10)
print(base)  # tensor([ 1., 20.], grad_fn=<CopySlices>)
print(base._version, row._version)  # 1 1
base.sum().backward()

# A graph as text; in a notebook, board.draw shows an image.
x.grad = None
drawing = board.draw((x * 2).sum(), names={"x": x}).text().splitlines()
print(drawing[0])  # tensor; float32[]; not a leaf -> SumBackward0
print(drawing[-1])  # x; float32[2]; leaf, version 0
