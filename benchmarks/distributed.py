"""`python -m benchmarks.distributed`: data-parallel steps beside PyTorch's with gloo. Markdown.

The program starts itself with ``mpirun -n 1, 2, 4``. All ranks train a perceptron with tinynet's
DistributedDataParallel on MPI and with PyTorch's on gloo, in turns. Per rank and step:

- *step*: forward, backward with averages, and SGD's step. *alone*: the same in ``no_sync()``, and
  a barrier.
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
from collections.abc import Sequence
from pathlib import Path

RANKS = (1, 2, 4)
MACHINES = (2, 4, 16, 256)
SIZES = (512,) * 10 + (10,)
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
        batch: examples per rank and step.
        reduce: adds a tensor over all ranks, in place.
        sent: returns the number of bytes sent so far.
    """

    def __init__(self, library, batch, reduce, sent, barrier):
        self.library, self.reduce, self.sent, self.barrier = library, reduce, sent, barrier
        nn = library.nn
        layers = []
        for a, b in zip(SIZES, SIZES[1:], strict=False):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.parallel.DistributedDataParallel(nn.Sequential(*layers[:-1]), bucket_cap_mb=1)
        self.optimizer = library.optim.SGD(self.net.parameters(), lr=0.01)
        self.inputs = library.randn(batch, SIZES[0])
        self.labels = library.randint(0, SIZES[-1], (batch,))
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
        """Train on one batch, without averages, and wait for the slowest rank."""
        with self.net.no_sync():
            self.step()
        self.barrier()

    def messages(self):
        """Reduce as many numbers as the model has, and compute nothing."""
        for flat in self.flat:
            self.reduce(flat)

    def turn(self):
        """Measure each function."""
        self.flat = [self.library.zeros(n) for n in (sum(self.sizes[:1]), sum(self.sizes[1:]))]
        for name, times in self.times.items():
            getattr(self, name)()  # the other library's turn took the cache
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


def slow_down(channel, gigabits: float, microseconds: float) -> None:
    """Let messages take as long as over a network, which needs no processor for the wait."""
    exchange = channel.exchange

    def over_network(self, outgoing, incoming, *rest):
        began = time.perf_counter()
        exchange(self, outgoing, incoming, *rest)
        size = max(
            sum(flat.nbytes for rank, flat in side if rank != self.rank)
            for side in (outgoing, incoming)
        )
        needed = microseconds / 1e6 + size / (gigabits / 8 * 1e9)
        time.sleep(max(0, began + needed - time.perf_counter()))

    channel.exchange = over_network


def rank_of_mpirun(turns: int, batch: int, network: Sequence[float]) -> None:
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
    if network:
        slow_down(Channel, *network)
    ours = Side(tn, batch, dist.all_reduce, lambda: counted[0], dist.barrier)
    theirs = Side(
        torch,
        batch,
        torch.distributed.all_reduce,
        lambda: loopback() / n,
        torch.distributed.barrier,
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


def measured(
    n: int, turns: int, batch: int, network: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Start ``n`` ranks and return what rank 0 prints."""
    mpirun = Path(sys.prefix, "bin", "mpirun")
    command = [str(mpirun) if mpirun.exists() else "mpirun", "-n", str(n), sys.executable]
    command += ["-W", "ignore", "-m", "benchmarks.distributed", "--rank", "--turns", str(turns)]
    command += ["--batch", str(batch)]
    command += ["--network", *map(str, network)] if network else []
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
    parser.add_argument("--batch", type=int, default=128, help="examples per rank and step")
    parser.add_argument(
        "--network", nargs=2, type=float, default=(), metavar=("GBIT/S", "MICROSECONDS"),
        help="let tinynet's messages take as long as over such a network",
    )  # fmt: skip
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        rank_of_mpirun(arguments.turns, arguments.batch, arguments.network)
        return
    print("| processes | library | step ms | alone ms | messages ms | hidden | MB per step |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for n in RANKS:
        found = measured(n, arguments.turns, arguments.batch, arguments.network)
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
