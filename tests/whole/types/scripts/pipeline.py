"""A data pipeline: data sets of one's own, collate_fn, checkpoints, TensorBoard, resuming."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tinynet as tn
from tinynet import nn, optim
from tinynet.nn.utils.rnn import pack_padded_sequence, pad_sequence
from tinynet.utils.data import DataLoader, Dataset, IterableDataset, Sampler, WeightedRandomSampler
from tinynet.utils.tensorboard import SummaryWriter

Sample = tuple[tn.Tensor, int]


class Batch(NamedTuple):
    tokens: tn.Tensor
    lengths: tn.Tensor
    labels: tn.Tensor


class Sequences(Dataset[Sample]):
    def __init__(self, n: int, transform: Callable[[tn.Tensor], tn.Tensor] | None = None) -> None:
        rng = np.random.default_rng(0)
        self.rows = [rng.integers(1, 20, size=int(rng.integers(2, 9))) for _ in range(n)]
        self.labels = [int(row.sum() % 2) for row in self.rows]
        self.transform = transform

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Sample:
        tokens = tn.from_numpy(self.rows[index])
        if self.transform is not None:
            tokens = self.transform(tokens)
        return tokens, self.labels[index]


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        yield from range(5)


class ByLength(Sampler[list[int]]):
    def __init__(self, data: Sequences, batch_size: int) -> None:
        self.order = sorted(range(len(data)), key=lambda i: len(data.rows[i]))
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[list[int]]:
        for start in range(0, len(self.order), self.batch_size):
            yield self.order[start : start + self.batch_size]

    def __len__(self) -> int:
        return -(-len(self.order) // self.batch_size)


def collate(samples: Sequence[Sample]) -> Batch:
    tokens, labels = zip(*samples)
    lengths = tn.tensor([len(t) for t in tokens])
    return Batch(pad_sequence(tokens, batch_first=True), lengths, tn.tensor(labels))


class Classifier(nn.Module):
    def __init__(self, vocabulary: int, hidden: int, num_layers: int = 1) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden, padding_idx=0)
        self.lstm = nn.LSTM(hidden, hidden, num_layers, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, 2)

    def forward(self, batch: Batch) -> tn.Tensor:
        embedded = self.embedding(batch.tokens)
        packed = pack_padded_sequence(
            embedded, batch.lengths, batch_first=True, enforce_sorted=False
        )
        _, (hidden, _) = self.lstm(packed)
        return self.fc(tn.cat([hidden[-2], hidden[-1]], dim=1))


def save_checkpoint(path: Path, model: nn.Module, optimizer: optim.Optimizer, epoch: int) -> None:
    state: dict[str, Any] = {
        "epoch": epoch,
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
    }
    tn.save(state, path)


def load_checkpoint(path: Path, model: nn.Module, optimizer: optim.Optimizer) -> int:
    checkpoint = tn.load(path, map_location="cpu")
    missing, unexpected = model.load_state_dict(checkpoint["model_state_dict"], strict=False)
    assert not missing and not unexpected
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    return int(checkpoint["epoch"])


def seed_worker(worker_id: int) -> None:
    random.seed(worker_id)


def main() -> None:
    tn.manual_seed(0)
    data = Sequences(32, transform=lambda tokens: tokens.flip(0))
    loader: DataLoader[Sample] = DataLoader(
        data,
        batch_size=8,
        shuffle=True,
        collate_fn=collate,
        generator=tn.Generator().manual_seed(0),
        worker_init_fn=seed_worker,
    )
    by_length = DataLoader(data, batch_sampler=ByLength(data, 8), collate_fn=collate)
    balanced = WeightedRandomSampler([1.0] * len(data), num_samples=4, replacement=True)
    print(len(by_length), [label for _, label in (data[i] for i in balanced)])
    print([int(n) for n in DataLoader(Stream(), batch_size=None)])

    model = Classifier(20, 8)
    optimizer = optim.RMSprop(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    with tempfile.TemporaryDirectory() as folder:
        writer = SummaryWriter(log_dir=folder)
        step = 0
        for epoch in range(2):
            running = 0.0
            for batch in loader:
                loss = criterion(model(batch), batch.labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                running += loss.item()
                writer.add_scalar("loss/train", loss, step)
                step += 1
            for name, param in model.named_parameters():
                writer.add_histogram(name, param, epoch)
            save_checkpoint(Path(folder) / "last.pt", model, optimizer, epoch)
            print(f"epoch {epoch}: {running / len(loader):.3f}")
        writer.close()
        other = Classifier(20, 8)
        resumed = load_checkpoint(
            Path(folder) / "last.pt", other, optim.RMSprop(other.parameters())
        )
        weights = other.state_dict()["fc.weight"]
        print(resumed, weights.shape, tn.equal(weights, model.fc.weight))


if __name__ == "__main__":
    main()
