"""A perceptron on the bundled digits, in annotated functions."""

import argparse

import tinynet as tn
import tinynet.nn as nn
import tinynet.nn.functional as F
from tinynet import Tensor, optim
from tinynet.data import Digits
from tinynet.utils.data import DataLoader, random_split


class Perceptron(nn.Module):
    def __init__(self, inputs: int, hidden: int, classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x.view(x.size(0), -1)
        x = self.dropout(F.relu(self.fc1(x)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(
    model: nn.Module,
    device: tn.device,
    loader: DataLoader[tuple[Tensor, Tensor]],
    optimizer: optim.Optimizer,
) -> float:
    model.train()
    total = 0.0
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(data)
        if batch_idx % 10 == 0:
            print(f"{batch_idx * len(data)}\tLoss: {loss.item():.6f}")
    return total


@tn.no_grad()
def accuracy(model: nn.Module, loader: DataLoader[tuple[Tensor, Tensor]]) -> float:
    model.eval()
    correct = 0
    seen = 0
    for data, target in loader:
        pred = model(data).argmax(dim=1, keepdim=True)
        correct += pred.eq(target.view_as(pred)).sum().item()
        seen += target.size(0)
    return correct / seen


def probabilities(model: Perceptron, images: Tensor) -> Tensor:
    log_probabilities = model(images)
    probs = tn.softmax(log_probabilities, dim=-1)
    top, classes = probs.topk(3, dim=-1)
    assert top.shape == classes.shape
    best: Tensor = probs.max(dim=1).values
    return best


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args(arguments)

    tn.manual_seed(0)
    device = tn.device("cuda" if tn.cuda.is_available() else "cpu")
    train_set, test_set = random_split(Digits(train=True), [0.8, 0.2])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)

    model = Perceptron(64, 32, 10).to(device)
    optimizer = optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(1, args.epochs + 1):
        train(model, device, train_loader, optimizer)
        scheduler.step()
        score = accuracy(model, test_loader)
        print(epoch, scheduler.get_last_lr()[0], f"{score:.2%}")
    images, _ = next(iter(test_loader))
    print(probabilities(model, images[:5]))
    n_params = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{n_params:,} parameters")


if __name__ == "__main__":
    main()
