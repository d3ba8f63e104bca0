"""Your own data set: points on spirals, generated on access.

Run: python examples/own_dataset.py
"""

import math

import tinynet as torch
from tinynet import nn, optim
from tinynet.utils.data import DataLoader, Dataset, random_split


class Spirals(Dataset):
    """Points on the arms of a spiral in the plane, with the number of their arm.

    A data set has a length, and a sample for each index below it. The same seed gives the same
    random numbers from torch, with or without workers.
    """

    def __init__(self, count, arms=3, noise=0.1):
        self.count, self.arms, self.noise = count, arms, noise

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        arm, place = index % self.arms, index / self.count
        angle = 4 * place + 2 * math.pi * arm / self.arms
        point = torch.tensor([math.cos(angle), math.sin(angle)]) * (0.2 + place)
        return point + self.noise * torch.randn(2), arm


def main(count=900, epochs=20):
    """Train a small network to classify the arms; return its accuracy on held-out points."""
    torch.manual_seed(0)
    train, test = random_split(Spirals(count, noise=0.05), [0.8, 0.2])
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
    optimizer = optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(epochs):
        # The loader stacks samples: points of shape (32, 2), arms of shape (32,), dtype int64.
        # num_workers=2 would load the next batches in the background.
        for points, arms in DataLoader(train, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(points), arms)
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: {accuracy(net, test):.3f} of the held-out points are right")
    return accuracy(net, test)


def accuracy(net, dataset):
    """Return the share of samples whose largest output is that of their label."""
    points, arms = next(iter(DataLoader(dataset, batch_size=len(dataset))))
    with torch.no_grad():
        return (net(points).argmax(dim=1) == arms).float().mean().item()


if __name__ == "__main__":
    main()
