"""The metrics of a loop in an experiment tracker: one of your own, MLflow, or Weights & Biases.

Run: python examples/track_runs.py
"""

import csv
import tempfile
from pathlib import Path

import tinynet as torch
from tinynet import nn, optim
from tinynet.train import Callbacks, Track, evaluate, fit
from tinynet.utils.data import DataLoader


class Table:
    """A tracker: a class with the method `log`. It works in a thread of its own."""

    def __init__(self, path):
        self.path = path

    def log(self, points):
        with open(self.path, "a", newline="") as file:
            for point in points:
                for name, value in point.figures.items():
                    csv.writer(file).writerow([point.x(name), name, value])

    def end(self, status, files):
        print(status)


torch.manual_seed(0)
net, loss = nn.Linear(64, 10), nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=0.01)
train_batches = DataLoader(torch.data.Digits(flatten=True), batch_size=64, shuffle=True)
test_batches = DataLoader(torch.data.Digits(train=False, flatten=True), batch_size=500)

path = Path(tempfile.mkdtemp()) / "figures.csv"
# MLflow(folder="mlflow") and Wandb(project="digits") are in tinynet.train.trackers.
track = Track([Table(path)], experiment="digits", config={"lr": 0.01}, every=10)
callbacks = Callbacks([track])
for step in fit(net, loss, optimizer, train_batches, epochs=3, callbacks=callbacks):
    if step.ends_epoch:
        callbacks.evaluated(evaluate(net, loss, test_batches))
# finished

rows = [*csv.reader(path.read_text().splitlines())]
print([int(step) for step, name, _ in rows if name == "train/loss"])
# [0, 10, 20, 22, 30, 40, 45, 50, 60, 68]
print(sorted({name for _, name, _ in rows}))
# ['lr', 'test/accuracy', 'test/loss', 'train/loss']
