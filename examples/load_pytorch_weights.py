"""Loading PyTorch's weights: .safetensors and .pt, with the state of the optimizer.

Run: python examples/load_pytorch_weights.py

This PyTorch program wrote the files in examples/weights:

    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    ...  # ten steps of training
    safetensors.torch.save_file(net.state_dict(), "model.safetensors")
    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, "training.pt")
"""

from pathlib import Path

import tinynet as torch
from tinynet import nn
from tinynet.exchange import load_file, load_pytorch, safe_open

FOLDER = Path(__file__).parent / "weights"


def make():
    """Build the network with the classes and names of the PyTorch program."""
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


# The names in the file, without loading it.
with safe_open(FOLDER / "model.safetensors") as file:
    print(file.keys())  # ['0.bias', '0.weight', '2.bias', '2.weight']

# The weights alone.
net = make()
print(net.load_state_dict(load_file(FOLDER / "model.safetensors")))
# <All keys matched successfully>
x = torch.linspace(-1, 1, 4)
print(net(x).detach())  # tensor([0.5442, 0.1502, 0.4669])

# Weights and optimizer. A file of torch.save contains a program that builds objects. tinynet only
# reads data from it, and raises an error that names anything else.
state = load_pytorch(FOLDER / "training.pt")
again = make()
again.load_state_dict(state["model"])
print(bool((net(x) == again(x)).all()))  # True

# Training resumes where PyTorch stopped: after ten steps.
optimizer = torch.optim.Adam(again.parameters(), lr=0.01)
optimizer.load_state_dict(state["optimizer"])
(again(x) - 1).square().mean().backward()
optimizer.step()
print(optimizer.state[again[0].weight]["step"].item())  # 11.0

# To write a file for torch.load: save_pytorch(net.state_dict(), "for_pytorch.pt")
