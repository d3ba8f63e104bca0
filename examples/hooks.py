"""Hooks: look at gradients on their way, or change them; look at what modules give out.

Run: python examples/hooks.py
"""

import tinynet as torch
from tinynet import nn

# On a tensor: is called with its gradient; what it returns takes the place of it.
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.register_hook(lambda gradient: print("gradient of y:", gradient))
handle = x.register_hook(lambda gradient: gradient.clamp(max=2))
y.sum().backward()  # gradient of y: tensor([1., 1.])
print(x.grad)  # tensor([2., 2.])
handle.remove()

# On a leaf, when its .grad is complete: an optimizer step in the middle of backward.
weight = torch.tensor([1.0, 2.0], requires_grad=True)


def step(parameter):
    """Change the parameter, and let its gradient go at once."""
    with torch.no_grad():
        parameter -= 0.1 * parameter.grad
    parameter.grad = None


weight.register_post_accumulate_grad_hook(step)
(weight * weight).sum().backward()
print(weight)  # tensor([0.8000, 1.6000], requires_grad=True)

# On modules: what comes out of each, without touching their code.
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
seen = {}


def remember(name):
    """A forward hook that keeps the share of zeros in what a module gave out."""

    def hook(module, inputs, output):
        seen[name] = (output == 0).float().mean().item()

    return hook


handles = [module.register_forward_hook(remember(name)) for name, module in net.named_children()]
net(torch.randn(32, 4))
for handle in handles:
    handle.remove()
print(list(seen), 0 < seen["1"] < 1)  # ['0', '1', '2'] True

# And the gradients that arrive at them.
net[2].register_full_backward_hook(
    lambda module, to_inputs, to_outputs: print("into the last layer:", to_outputs[0].shape)
)
net(torch.randn(32, 4)).mean().backward()  # into the last layer: tinynet.Size([32, 1])

# On what is saved for backward: here in half precision, at half the memory.
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
    loss = (x * x).sum()
x.grad = None
loss.backward()
print(x.grad)  # tensor([2., 4.])
