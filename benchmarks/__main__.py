"""`python -m benchmarks` compares tinynet with PyTorch on this machine. Prints Markdown tables.

Without options, it measures single operations. Each option below adds a table. `--save FOLDER` also
writes the tables there, as Markdown, JSON and plots, in place of those of the same title.

Needs the `benchmarks` extra (PyTorch and matplotlib; JAX is included if installed). On a busy
machine, single times vary; ratios are medians over adjacent runs, which noise affects alike.
"""

import argparse
import os
import platform
import sys
from importlib import metadata, util
from pathlib import Path

from benchmarks import race
from benchmarks.results import save
from benchmarks.tables import Table
from benchmarks.workloads import ROWS

MISSING = (
    "python -m benchmarks measures tinynet against PyTorch, which is not installed here.\n"
    "In the clone: pip install torch==2.13.0 matplotlib"
)
NAMES = [row.name for row in ROWS]


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--workloads", nargs="*", metavar="NAME", help=f"training steps: {', '.join(NAMES)}")
    add("--floor", action="store_true", help="steps written by hand in numpy")
    add("--inference", action="store_true", help="one answer at a time, without a graph")
    add("--scaling", action="store_true", help="how cost grows with the work")
    add("--memory", action="store_true", help="peak memory of training steps")
    add("--imports", action="store_true", help="time of importing the packages")
    add("--loading", action="store_true", help="examples per second of data loaders")
    add("--sweeps", action="store_true", help="kernels over their sizes (--only: one family)")
    add("--everything", action="store_true", help="all of these")
    add("--accuracy", action="store_true", help="errors of float32 against float64 (no times)")
    add("--only", default="", help="of single operations: those whose name contains this text")
    add(
        "--threads",
        type=int,
        nargs="+",
        default=[1],
        metavar="N",
        help="of each library (1); with several numbers, training steps are measured with each",
    )
    add("--rounds", type=int, default=40, help="turns of each side (40)")
    add("--save", type=Path, metavar="FOLDER", help="write tables and pictures there")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.workloads or () if name not in NAMES]
    if unknown:
        parser.error(f"no workload is called {unknown[0]!r}; there are {', '.join(NAMES)}")
    return arguments


def machine(threads: list[int], rounds: int) -> str:
    """Return one line that describes the machine and the versions."""
    packages = ("numpy", "torch", "jax", "numba")
    told = f"{' and '.join(map(str, threads))} thread{'s' * (threads != [1])}"
    found = [f"{p} {metadata.version(p)}" for p in packages if util.find_spec(p)]
    return (
        f"{_processor()}, {os.cpu_count()} cores; {told}; "
        f"Python {platform.python_version()}, {', '.join(found)}; {rounds} turns"
    )


def _processor() -> str:
    """Return the name of the processor, with its widest vector instructions."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    name = next((x.partition(":")[2] for x in text.splitlines() if "model name" in x), "")
    widest = next((x for x in ("avx512f", "avx2", "avx") if f" {x} " in text), "")
    return f"{name.strip()} ({widest})" if widest else name.strip()


def measured(arguments: argparse.Namespace) -> list[Table]:
    """Measure the requested tables."""
    (threads, *more), rounds, tables = arguments.threads, arguments.rounds, []
    everything = arguments.everything
    if arguments.workloads is not None or everything:
        for count in (threads, *more):
            tables.append(race.report(count, rounds, arguments.workloads or []))
    if arguments.floor or everything:
        tables.append(race.report_floor(threads, rounds))
    if arguments.inference or everything:
        from benchmarks import inference

        tables.append(inference.report(threads, rounds))
    if arguments.scaling or everything:
        from benchmarks import scaling

        tables += scaling.report(threads, rounds)
    if arguments.memory or arguments.imports or everything:
        from benchmarks import processes

        if arguments.memory or everything:
            tables.append(processes.report_memory(threads))
        if arguments.imports or everything:
            tables.append(processes.report_imports(rounds))
    if arguments.loading or everything:
        from benchmarks import loading

        tables.append(loading.report(rounds))
    if arguments.accuracy:
        from benchmarks import accuracy

        tables.append(accuracy.report(threads))
    if arguments.sweeps or everything:
        import torch

        from benchmarks import sweeps

        tables += sweeps.report(torch, min(rounds, 5), arguments.only)
    if not tables or everything:
        import torch

        from benchmarks import messages, operations

        torch.set_num_threads(threads)
        tables.append(operations.report(torch, rounds, arguments.only))
        tables.append(messages.report(rounds, arguments.only))
        if not any(table.rows for table in tables):
            names = ", ".join(case.__name__ for case in operations.CASES)
            raise SystemExit(f"no case's name contains {arguments.only!r}; there are {names}")
    return tables


def main() -> int:
    """Run the benchmarks that the command line requests."""
    arguments = parsed()
    if util.find_spec("torch") is None:
        print(MISSING, file=sys.stderr)
        return 2
    about = machine(arguments.threads, arguments.rounds)
    print(about)
    tables = measured(arguments)
    if arguments.save:
        for table in tables:
            table.about = about
        save(tables, arguments.save)
    return 0


if __name__ == "__main__":
    sys.exit(main())
