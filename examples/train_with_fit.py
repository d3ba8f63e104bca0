"""The network of train_by_hand.py, trained with `train.fit`: you write only the outer loop.

Run: python examples/train_with_fit.py
"""

import tinynet as torch
from tinynet import nn, optim, train
from tinynet.utils.data import DataLoader


def main(epochs=10):
    """Train on the bundled digits; return the accuracy on the test part."""
    torch.manual_seed(0)
    train_set = torch.data.Digits(train=True, flatten=True)
    test_set = torch.data.Digits(train=False, flatten=True)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
    loss = nn.CrossEntropyLoss()
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    steps = train.fit(
        net,
        loss,
        optimizer,
        DataLoader(train_set, batch_size=32, shuffle=True),
        epochs,
        schedule=optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs),
        clip_norm=5.0,
    )
    # Each iteration is a completed step; between two steps, any code can run. Without such code,
    # `steps.run()` takes all of them. If a loss or gradient becomes NaN, fit raises an error that
    # names the operation, before the weights change.
    for step in steps:
        if step.ends_epoch:
            # In eval mode and without a graph; all random streams are restored.
            figures = train.evaluate(net, loss, DataLoader(test_set, batch_size=500))
            print(f"epoch {step.epoch + 1:2}  lr {step.lr:.4f}  test {figures['accuracy']:.4f}")
    return figures["accuracy"]


if __name__ == "__main__":
    main()
