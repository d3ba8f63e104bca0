"""A program in the style of PyTorch's tutorials for torchrun: training, evaluation, a snapshot."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def setup():
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def cleanup():
    dist.destroy_process_group()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.fc1 = nn.Linear(4 * 8 * 8, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc2(x)


class Trainer:
    def __init__(self, model, loader, optimizer, save_every, snapshot_path):
        self.global_rank = int(os.environ["RANK"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.loader, self.optimizer, self.save_every = loader, optimizer, save_every
        self.epochs_run, self.snapshot_path = 0, snapshot_path
        self.model = model
        if os.path.exists(snapshot_path):
            self._load_snapshot(snapshot_path)
        self.model = DDP(self.model)

    def _load_snapshot(self, path):
        snapshot = torch.load(path, map_location="cpu")
        self.model.load_state_dict(snapshot["MODEL_STATE"])
        self.epochs_run = snapshot["EPOCHS_RUN"]
        print(f"[{self.global_rank}] Resuming training from snapshot at Epoch {self.epochs_run}")

    def _save_snapshot(self, epoch):
        snapshot = {"MODEL_STATE": self.model.module.state_dict(), "EPOCHS_RUN": epoch + 1}
        torch.save(snapshot, self.snapshot_path)

    def _run_epoch(self, epoch):
        self.loader.sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for source, targets in self.loader:
            self.optimizer.zero_grad()
            output = self.model(source)
            loss = F.cross_entropy(output, targets)
            loss.backward()
            self.optimizer.step()
            total += torch.tensor([loss.item() * len(source), len(source)])
        dist.all_reduce(total, op=dist.ReduceOp.SUM)
        return (total[0] / total[1]).item()

    def train(self, max_epochs):
        for epoch in range(self.epochs_run, max_epochs):
            loss = self._run_epoch(epoch)
            if self.global_rank == 0:
                print(f"epoch {epoch} loss {loss:.4f}", flush=True)
            if self.global_rank == 0 and epoch % self.save_every == 0:
                self._save_snapshot(epoch)
            dist.barrier()


def data():
    steps = torch.arange(96.0).reshape(-1, 1) * torch.arange(1.0, 65.0) / 100
    x = torch.sin(steps).reshape(-1, 1, 8, 8)
    return TensorDataset(x, torch.arange(96) // 5 % 3)


def fill(model):
    """The same weights with every library."""
    with torch.no_grad():
        for number, p in enumerate(model.parameters()):
            p.copy_(torch.cos(torch.arange(float(p.numel())) + number).reshape(p.shape) / 5)


@torch.no_grad()
def evaluate(model, dataset):
    model.eval()
    rank, world_size = dist.get_rank(), dist.get_world_size()
    x, y = dataset[rank::world_size]
    right = (model(x).argmax(1) == y).sum()
    shares = [torch.zeros_like(right) for _ in range(world_size)]
    dist.all_gather(shares, right)
    sizes = [None] * world_size
    dist.all_gather_object(sizes, {"rank": rank, "size": len(x)})
    return sum(s.item() for s in shares) / sum(entry["size"] for entry in sizes)


def main(arguments):
    setup()
    torch.manual_seed(0)
    dataset = data()
    sampler = DistributedSampler(dataset, shuffle=False)
    loader = DataLoader(dataset, batch_size=arguments.batch_size, shuffle=False, sampler=sampler)
    model = Net()
    fill(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    trainer = Trainer(model, loader, optimizer, arguments.save_every, arguments.snapshot)
    trainer.train(arguments.total_epochs)
    accuracy = evaluate(trainer.model, dataset)
    if dist.get_rank() == 0:
        print(f"accuracy {accuracy:.3f}", *trainer.model.state_dict())
        buckets = [torch.ones(2) * k for k in range(dist.get_world_size())]
    own = torch.zeros(2)
    dist.scatter(own, buckets if dist.get_rank() == 0 else None, src=0)
    request = None
    if dist.get_rank() == 0:
        request = dist.isend(own + 7, dst=1)
    if dist.get_rank() == 1:
        request = dist.irecv(own, src=0)
    if request is not None:
        request.wait()
    gathered = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
    dist.gather_object(own.tolist(), gathered, dst=0)
    if dist.get_rank() == 0:
        print(gathered, flush=True)
    cleanup()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("total_epochs", type=int)
    parser.add_argument("save_every", type=int)
    parser.add_argument("snapshot")
    parser.add_argument("--batch_size", default=8, type=int)
    main(parser.parse_args())
