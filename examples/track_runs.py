"""The metrics of a loop in an experiment tracker: one of your own, MLflow, or Weights & Biases.

Run: python examples/track_runs.py
"""

import csv
import tempfile
from pathlib import Path

import tinynet as torch
from tinynet import nn, optim
from tinynet.train import Track, fit
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
batches = DataLoader(torch.data.Digits(flatten=True), batch_size=64, shuffle=True)

path = Path(tempfile.mkdtemp()) / "figures.csv"
# MLflow(folder="mlflow") and Wandb(project="digits") are in tinynet.train.trackers.
track = Track([Table(path)], experiment="digits", config={"lr": 0.01}, every=10)
steps = [*fit(net, loss, optimizer, batches, epochs=3, callbacks=[track], validation=0.1)]
# finished
print(steps[-1].number, [*steps[-1].validation])
# 62 ['loss', 'accuracy']

rows = [*csv.reader(path.read_text().splitlines())]
print([int(step) for step, name, _ in rows if name == "train/loss"])
# [0, 10, 20, 30, 40, 41, 50, 60, 62]
print(sorted({name for _, name, _ in rows}))
# ['lr', 'train/loss', 'val/accuracy', 'val/loss']
