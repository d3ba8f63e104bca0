"""Training in TensorBoard: curves, histograms, images, and the graphs of a step.

Run: python examples/watch_in_tensorboard.py runs/watched
then: tensorboard --logdir runs   (it comes with `pip install tensorboard`)
"""

import sys

import tinynet as torch
from tinynet import board, nn, optim
from tinynet.utils.data import DataLoader
from tinynet.utils.tensorboard import SummaryWriter


def main(folder="runs/watched", epochs=5):
    """Train on the bundled digits, and write events for TensorBoard to a folder."""
    torch.manual_seed(0)
    digits = torch.data.Digits(train=True)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = optim.Adam(net.parameters(), lr=2e-3)

    def one_step(images, labels):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    with SummaryWriter(folder) as writer:
        loader = DataLoader(digits, batch_size=64, shuffle=True)
        images, labels = next(iter(loader))
        writer.add_images("digits", images[:16])

        # Record a step: the graphs of forward, backward and the optimizer, with the time, the
        # memory and the line of each operation.
        with board.record(net) as recorded:
            one_step(images, labels)
        recorded.write(writer)

        for epoch in range(epochs):
            losses = [one_step(images, labels) for images, labels in loader]
            writer.add_scalar("loss", sum(losses) / len(losses), epoch)
            for name, parameter in net.named_parameters():
                writer.add_histogram(f"weights/{name}", parameter, epoch)
                writer.add_histogram(f"gradients/{name}", parameter.grad, epoch)
    print(f"view the events: tensorboard --logdir {folder}")
    return losses


if __name__ == "__main__":
    main(*sys.argv[1:])
