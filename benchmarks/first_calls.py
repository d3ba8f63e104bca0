"""Processor seconds until a compiled step runs natively: ``python -m benchmarks.first_calls``.

Each workload runs in a process of its own, once with an empty cache, and once with what that left.
"""

import os
import subprocess
import sys
import tempfile
from time import process_time

import tinynet
from benchmarks.workloads import BY_NAME, Training

WORKLOADS = "mlp_small", "lenet", "lstm_small", "gpt_micro"
STEPS = 4  # two are captured, and the next one waits for the compiler


def measure(name: str) -> float:
    """Return the seconds of the first steps of a workload in this process."""
    tinynet.set_num_threads(1)
    training = Training(tinynet, BY_NAME[name], "llvm")
    start = process_time()
    for _ in range(STEPS):
        training.step()
    return process_time() - start


def main(names: list[str]) -> None:
    """Print a row for each workload."""
    print(f"{'step':<16}{'empty cache':>14}{'from disk':>14}")
    for name in names or WORKLOADS:
        with tempfile.TemporaryDirectory() as folder:
            code = f"from benchmarks.first_calls import measure; print(measure({name!r}))"
            command, env = [sys.executable, "-c", code], os.environ | {"TINYNET_CACHE": folder}
            runs = [subprocess.check_output(command, env=env, text=True) for _ in range(2)]
        print(f"{name:<16}{float(runs[0]):>12.2f} s{float(runs[1]):>12.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
