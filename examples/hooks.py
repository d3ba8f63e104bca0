"""Hooks: inspect or change gradients during backward, and inspect the outputs of modules.

Run: python examples/hooks.py
"""

import tinynet as torch
from tinynet import nn

# On a tensor: called with its gradient, which a returned value replaces.
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.register_hook(lambda gradient: print("gradient of y:", gradient))
handle = x.register_hook(lambda gradient: gradient.clamp(max=2))
y.sum().backward()  # gradient of y: tensor([1., 1.])
print(x.grad)  # tensor([2., 2.])
handle.remove()

# On a leaf, called once its .grad is complete: an optimizer step during backward.
weight = torch.tensor([1.0, 2.0], requires_grad=True)


def step(parameter):
    """Update the parameter, and free its gradient at once."""
    with torch.no_grad():
        parameter -= 0.1 * parameter.grad
    parameter.grad = None


weight.register_post_accumulate_grad_hook(step)
(weight * weight).sum().backward()
print(weight)  # tensor([0.8000, 1.6000], requires_grad=True)

# On modules: their outputs, without changing their code.
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
seen = {}


def record_zeros(name):
    """Return a forward hook that records the share of zeros in the output of a module."""

    def hook(module, inputs, output):
        seen[name] = (output == 0).float().mean().item()

    return hook


handles = [
    module.register_forward_hook(record_zeros(name)) for name, module in net.named_children()
]
net(torch.randn(32, 4))
for handle in handles:
    handle.remove()
print(list(seen), 0 < seen["1"] < 1)  # ['0', '1', '2'] True

# And the gradients of their outputs.
net[2].register_full_backward_hook(
    lambda module, to_inputs, to_outputs: print("into the last layer:", to_outputs[0].shape)
)
net(torch.randn(32, 4)).mean().backward()  # into the last layer: tinynet.Size([32, 1])

# On tensors saved for backward: here in half precision, with half the memory.
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
    loss = (x * x).sum()
x.grad = None
loss.backward()
print(x.grad)  # tensor([2., 4.])
