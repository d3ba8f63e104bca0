"""The threads of BLAS are divided among the ranks of a machine, unless the user chooses."""

import os
import sys

import tinynet as tn
import tinynet.distributed as dist
from tinynet.distributed.mpi import divide
from tinynet.kernels import threads

if sys.argv[1:] == ["chosen"]:
    tn.set_num_threads(3)
before = tn.get_num_threads()
dist.init_process_group("mpi")
processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
if sys.argv[1:] == ["chosen"] or os.environ.get("OPENBLAS_NUM_THREADS"):
    expected = before
else:
    expected = min(before, max(1, processors // dist.get_world_size()))
assert tn.get_num_threads() == expected, (tn.get_num_threads(), expected)
assert dist.get_node_local_rank() == dist.get_rank() == int(os.environ["RANK"])
assert dist.get_world_size() == int(os.environ["WORLD_SIZE"])
dist.destroy_process_group()
if not sys.argv[1:] and not os.environ.get("OPENBLAS_NUM_THREADS"):
    # Of 8 processors, two ranks share the first 4, and a rank on another machine none of them.
    threads.sharing._set(4)
    divide([("a", 1, (0, 1, 2, 3)), ("a", 2, (0, 1, 2, 3)), ("b", 3, (0, 1, 2, 3))], 0)
    assert tn.get_num_threads() == 2
    threads.sharing._set(4)
    divide([("a", 1, (0, 1)), ("a", 2, (2, 3))], 0)
    assert tn.get_num_threads() == 2
print("passed", flush=True)
