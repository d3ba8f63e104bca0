"""A training loop by hand, as in PyTorch.

Run: python examples/train_by_hand.py
"""

import tinynet as torch
from tinynet import nn, optim
from tinynet.nn import functional as F
from tinynet.utils.data import DataLoader


def accuracy(net, dataset):
    """Return the share of images whose largest output is that of their label."""
    net.eval()
    with torch.no_grad():
        right = (net(dataset.images).argmax(dim=1) == dataset.labels).sum().item()
    net.train()
    return right / len(dataset)


def main(epochs=10):
    """Train on the bundled digits; return the accuracy on the test part."""
    torch.manual_seed(0)
    train = torch.data.Digits(train=True, flatten=True)
    test = torch.data.Digits(train=False, flatten=True)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        total = 0.0
        for images, labels in DataLoader(train, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(images), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            total += loss.item() * len(labels)
        schedule.step()
        print(f"epoch {epoch + 1:2}  loss {total / len(train):.4f}  test {accuracy(net, test):.4f}")
    return accuracy(net, test)


if __name__ == "__main__":
    main()
