"""`python -m benchmarks`: what one operation costs, beside PyTorch's. Prints a Markdown table.

With `--workloads [names]`: training steps of whole models instead, each library in a process of its
own, with the aims of the project. With `--floor`: steps written by hand in numpy.

Needs the `oracle` extra (PyTorch). A machine that does other work makes single numbers jump; the
ratio column is the median of ratios of neighbouring turns, which noise hits alike.
"""

import argparse
import platform
import sys

import numpy

from benchmarks import messages, operations, race
from benchmarks.workloads import BY_NAME


def main() -> int:
    """Run the benchmarks that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="turns of each side (40)")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--workloads", nargs="*", metavar="NAME", help=", ".join(BY_NAME))
    parser.add_argument("--floor", action="store_true", help="steps written by hand in numpy")
    parser.add_argument("--threads", type=int, default=1, help="of each library (1)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.workloads or () if name not in BY_NAME]
    if unknown:
        parser.error(f"no workload is called {unknown[0]!r}; there are {', '.join(BY_NAME)}")
    try:
        import torch
    except ImportError:
        print("The opponent is missing: pip install torch==2.13.0", file=sys.stderr)
        return 2
    threads = arguments.threads
    print(
        f"Python {platform.python_version()}, numpy {numpy.__version__}, "
        f"torch {torch.__version__}, "
        f"{platform.machine()}, {threads} thread{'s' * (threads > 1)}, {arguments.rounds} turns\n"
    )
    if arguments.workloads is None and not arguments.floor:
        torch.set_num_threads(threads)
        operations.report(torch, arguments.rounds, arguments.only)
        messages.report(arguments.rounds, arguments.only)
    if arguments.workloads is not None:
        race.report(threads, arguments.rounds, arguments.workloads)
    if arguments.floor:
        race.report_floor(threads, arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
