"""`python -m benchmarks.distributed`: data-parallel steps beside PyTorch's with gloo. Markdown.

The program starts itself with ``mpirun -n 1, 2, 4``. All ranks train a perceptron with tinynet's
DistributedDataParallel on MPI and with PyTorch's on gloo, in turns. Per rank and step:

- *step*: forward, backward with averages, and SGD's step. *alone*: the same in ``no_sync()``.
- *hidden*: the share of communication that costs no time: ``1 - (step - alone) / messages``, where
  *messages* is the time of the reductions by themselves.
- *bytes*: what is sent. For MPI the bytes of all messages; for gloo those of the loopback device,
  divided by the number of ranks.

Then it measures latency and bandwidth between two ranks, and computes from them how long the
messages of the same model take with more machines. Each rank sends ``2 (n - 1)`` messages of
``1 / n`` of the gradients: ``2 ((n - 1) latency + (n - 1) / n size / bandwidth)``.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

RANKS = (1, 2, 4)
MACHINES = (2, 4, 16, 256)
SIZES = (784, 1024, 512, 10)
BATCH = 64
STEPS = 4  # in a turn
RENDEZVOUS = "29713"


def loopback() -> int:
    """Return the number of bytes that the loopback device has sent."""
    for line in Path("/proc/net/dev").read_text(encoding="ascii").splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[8])
    return 0


class Side:
    """One library: a wrapped model, and its steps.

    Args:
        library: tinynet or torch.
        reduce: adds a tensor over all ranks, in place.
        sent: returns the number of bytes sent so far.
    """

    def __init__(self, library, reduce, sent, barrier):
        self.library, self.reduce, self.sent, self.barrier = library, reduce, sent, barrier
        nn = library.nn
        layers = []
        for a, b in zip(SIZES, SIZES[1:], strict=False):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.parallel.DistributedDataParallel(nn.Sequential(*layers[:-1]), bucket_cap_mb=1)
        self.optimizer = library.optim.SGD(self.net.parameters(), lr=0.01)
        self.inputs = library.randn(BATCH, SIZES[0])
        self.labels = library.randint(0, SIZES[-1], (BATCH,))
        self.sizes = [p.numel() for p in self.net.parameters()]
        self.times = {"step": [], "alone": [], "messages": []}
        self.bytes = []

    def step(self):
        """Train on one batch."""
        self.optimizer.zero_grad()
        loss = self.library.nn.functional.cross_entropy(self.net(self.inputs), self.labels)
        loss.backward()
        self.optimizer.step()

    def alone(self):
        """Train on one batch, without averages."""
        with self.net.no_sync():
            self.step()

    def messages(self):
        """Reduce as many numbers as the model has, and compute nothing."""
        for flat in self.flat:
            self.reduce(flat)

    def turn(self):
        """Measure each function."""
        self.flat = [self.library.zeros(n) for n in (sum(self.sizes[:1]), sum(self.sizes[1:]))]
        for name, times in self.times.items():
            self.barrier()
            sent, began = self.sent(), time.perf_counter()
            for _ in range(STEPS):
                getattr(self, name)()
            times.append((time.perf_counter() - began) / STEPS)
            self.barrier()
            if name == "step":
                self.bytes.append((self.sent() - sent) / STEPS)

    def row(self) -> dict[str, float]:
        """Return the medians."""
        found = {name: statistics.median(times) for name, times in self.times.items()}
        return found | {"bytes": statistics.median(self.bytes)}


def ping_pong(dist, tn, size: int, times: int) -> float:
    """Return the seconds that ``size`` bytes take from one rank to another."""
    t, taken = tn.zeros(size // 4), []
    for _ in range(times):
        began = time.perf_counter()
        for turn in (0, 1):
            if dist.get_rank() == turn:
                dist.send(t, 1 - turn)
            elif dist.get_rank() == 1 - turn:
                dist.recv(t, turn)
        taken.append((time.perf_counter() - began) / 2)
    return statistics.median(taken)


def rank_of_mpirun(turns: int) -> None:
    """Measure on one rank; rank 0 prints the results as JSON."""
    import torch

    import tinynet as tn
    import tinynet.distributed as dist
    from tinynet.distributed.channel import Channel

    torch.set_num_threads(1)
    tn.set_num_threads(1)
    dist.init_process_group("mpi")
    rank, n = dist.get_rank(), dist.get_world_size()
    torch.distributed.init_process_group(
        "gloo", f"tcp://127.0.0.1:{RENDEZVOUS}", rank=rank, world_size=n
    )
    counted, send = [0], Channel.send

    def counting(channel, flat, *rest):
        counted[0] += flat.nbytes
        return send(channel, flat, *rest)

    Channel.send = counting
    ours = Side(tn, dist.all_reduce, lambda: counted[0], dist.barrier)
    theirs = Side(
        torch, torch.distributed.all_reduce, lambda: loopback() / n, torch.distributed.barrier
    )
    for side in (ours, theirs):
        for _ in range(3):
            side.step()
    for _ in range(turns):
        for side in (ours, theirs):
            side.turn()
    found = {"tinynet": ours.row(), "PyTorch": theirs.row(), "parameters": sum(ours.sizes)}
    if n > 1:
        Channel.send = send
        found["latency"] = ping_pong(dist, tn, 8, 200)
        found["megabytes"] = ping_pong(dist, tn, 1 << 24, 12)
    if rank == 0:
        print(json.dumps(found), flush=True)
    torch.distributed.destroy_process_group()
    dist.destroy_process_group()


def measured(n: int, turns: int) -> dict[str, dict[str, float]]:
    """Start ``n`` ranks and return what rank 0 prints."""
    mpirun = Path(sys.prefix, "bin", "mpirun")
    command = [str(mpirun) if mpirun.exists() else "mpirun", "-n", str(n), sys.executable]
    command += ["-W", "ignore", "-m", "benchmarks.distributed", "--rank", "--turns", str(turns)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, dict[str, float]] = json.loads(run.stdout.splitlines()[-1])
    return found


def hidden(row: dict[str, float]) -> str:
    """Return the share of the messages' time that a step does not wait for."""
    share = 1 - (row["step"] - row["alone"]) / row["messages"]
    return f"{100 * min(max(share, 0), 1):.0f} %"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        rank_of_mpirun(arguments.turns)
        return
    print("| processes | library | step ms | alone ms | messages ms | hidden | MB per step |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for n in RANKS:
        found = measured(n, arguments.turns)
        for name in ("tinynet", "PyTorch"):
            row = found[name]
            times = " | ".join(f"{1000 * row[key]:.2f}" for key in ("step", "alone", "messages"))
            share = hidden(row) if n > 1 else ""
            print(f"| {n} | {name} | {times} | {share} | {row['bytes'] / 1e6:.2f} |", flush=True)
        if n == 2:
            latency, size = found["latency"], 4 * found["parameters"]
            bandwidth = (1 << 24) / found["megabytes"]
    print(f"\nBetween two ranks: {1e6 * latency:.0f} µs, {bandwidth / 1e9:.2f} GB/s\n")
    print("| machines | as fast as here, ms | 10 Gbit/s and 50 µs, ms |\n|---:|---:|---:|")
    for n in MACHINES:
        here, network = (
            1000 * 2 * ((n - 1) * delay + (n - 1) / n * size / speed)
            for delay, speed in ((latency, bandwidth), (5e-5, 1.25e9))
        )
        print(f"| {n} | {here:.1f} | {network:.1f} |")


if __name__ == "__main__":
    main()
