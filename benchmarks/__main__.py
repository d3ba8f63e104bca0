"""`python -m benchmarks`: what one operation costs, beside PyTorch's. Prints a Markdown table.

Needs the `oracle` extra (PyTorch). A machine that does other work makes single numbers jump; the
ratio column is the median of ratios of neighbouring turns, which noise hits alike.
"""

import argparse
import platform
import sys

import numpy

from benchmarks import messages, operations


def main() -> int:
    """Run the benchmarks that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="turns of each side (40)")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("The opponent is missing: pip install torch==2.13.0", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    print(
        f"Python {platform.python_version()}, numpy {numpy.__version__}, "
        f"torch {torch.__version__}, "
        f"{platform.machine()}, one thread, {arguments.rounds} turns\n"
    )
    operations.report(torch, arguments.rounds, arguments.only)
    messages.report(arguments.rounds, arguments.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
