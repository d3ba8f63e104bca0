"""A rank fails in the way that the argument names, while the others wait for it."""

import contextlib
import os
import signal
import sys
import time
import warnings

import tinynet as tn
import tinynet.distributed as dist

warnings.simplefilter("error")
dist.init_process_group("mpi")
rank, n, how = dist.get_rank(), dist.get_world_size(), sys.argv[1]
t = tn.ones(3)
dist.all_reduce(t)


def fails():
    if how == "raises":
        raise ValueError("no more paper")
    if how == "exits":
        sys.exit(0)
    if how == "leaves":
        dist.destroy_process_group()
        sys.exit(0)
    if how in ("is killed", "is stopped"):
        time.sleep(1)  # its line is looked at from time to time
        os.kill(os.getpid(), signal.SIGKILL if how == "is killed" else signal.SIGSTOP)
        time.sleep(10)


if how == "all raise":
    raise ValueError(f"rank {rank} has no more paper")
if how == "diverges":
    by_variable = os.environ.get("TORCH_DISTRIBUTED_DEBUG") == "DETAIL"
    assert (dist.get_debug_level() == dist.DebugLevel.DETAIL) == by_variable
    with contextlib.nullcontext() if by_variable else tn.autograd.checked():
        dist.broadcast(t, 0) if rank == 1 else dist.all_reduce(t)
if how == "is interrupted":
    dist.barrier()
    if rank == 0:
        print("ready", flush=True)
    time.sleep(30)
if rank == 1:
    fails()
if how == "sends nothing":
    if rank == 0:
        dist.recv(t, 1)
else:
    dist.all_reduce(t)
