"""Writes the files in ``examples/weights`` with PyTorch and the safetensors package.

python -m tests.whole.examples.record
"""

from pathlib import Path

import safetensors.torch
import torch

WEIGHTS = Path(__file__).parents[3] / "examples" / "weights"


def network():
    """The network of examples/load_pytorch_weights.py."""
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def main():
    """Train it for ten steps, and write both files."""
    torch.manual_seed(0)
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(10):
        optimizer.zero_grad()
        (net(torch.randn(16, 4)) - 1).square().mean().backward()
        optimizer.step()
    safetensors.torch.save_file(net.state_dict(), WEIGHTS / "model.safetensors")
    state = {"model": net.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, WEIGHTS / "training.pt")
    with torch.no_grad():
        print(net(torch.linspace(-1, 1, 4)))


if __name__ == "__main__":
    main()
