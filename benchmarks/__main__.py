"""`python -m benchmarks` compares tinynet with PyTorch on this machine. Prints Markdown tables.

Without options, it measures a little of everything, and with `--long` everything. Each option below
measures one table alone. `--save FOLDER` also writes the tables there, as Markdown, JSON and plots,
in place of those of the same title.

Needs the `benchmarks` extra (PyTorch and matplotlib; JAX is included if installed). On a busy
machine, single times vary; ratios are medians over adjacent runs, which noise affects alike.
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable
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
TABLES = (
    "operations floor inference generation scaling large rows memory imports loading sweeps".split()
)
SHORT = {*TABLES} - {"floor", "memory", "sweeps"}  # what takes a few minutes in all


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--operations", action="store_true", help="single operations and messages")
    add("--workloads", nargs="*", metavar="NAME", help=f"training steps: {', '.join(NAMES)}")
    add("--floor", action="store_true", help="steps written by hand in numpy")
    add("--inference", action="store_true", help="one answer at a time, without a graph")
    add("--generation", action="store_true", help="texts token by token, by a GPT")
    add("--scaling", action="store_true", help="how cost grows with the work")
    add("--large", action="store_true", help="GPT-2 and ResNet-18: time and memory of a step")
    add("--rows", action="store_true", help="data loaders over 10 million rows")
    add("--memory", action="store_true", help="peak memory of training steps")
    add("--imports", action="store_true", help="time of importing the packages")
    add("--loading", action="store_true", help="examples per second of data loaders")
    add("--sweeps", action="store_true", help="kernels over their sizes (--only: one family)")
    add("--long", "--everything", action="store_true", help="all of these")
    add("--accuracy", action="store_true", help="errors of float32 against float64 (no times)")
    add("--only", default="", help="those of --operations whose name contains this text")
    add(
        "--threads",
        type=int,
        nargs="+",
        default=[1],
        metavar="N",
        help="of each library (1); with several numbers, training steps are measured with each",
    )
    add("--rounds", type=int, help="turns of each side (40; of a little of everything, 5)")
    add("--save", type=Path, metavar="FOLDER", help="write tables and pictures there")
    arguments = parser.parse_args()
    one = any(getattr(arguments, name) for name in TABLES) or arguments.workloads is not None
    arguments.short = not (one or arguments.long or arguments.accuracy)
    arguments.rounds = arguments.rounds or (5 if arguments.short else 40)
    unknown = [name for name in arguments.workloads or () if name not in NAMES]
    if unknown:
        parser.error(f"no workload is called {unknown[0]!r}; there are {', '.join(NAMES)}")
    return arguments


def machine(threads: list[int], rounds: int) -> str:
    """Return one line that describes the machine and the versions."""
    packages = ("numpy", "torch", "jax", "llvmlite")
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
    if arguments.workloads is not None or arguments.long or arguments.short:
        for count in (threads, *more):
            tables.append(race.report(count, rounds, arguments.workloads or []))
    if arguments.accuracy:
        from benchmarks import accuracy

        tables.append(accuracy.report(threads))
    for name in TABLES:
        asked = getattr(arguments, name) or (arguments.short and name in SHORT)
        if asked or arguments.long:
            tables += _measured(name, threads, rounds, arguments.only)
    return tables


def _measured(name: str, threads: int, rounds: int, only: str) -> list[Table]:
    """Measure the tables of one option."""
    import torch

    from benchmarks import generation, inference, large_steps, loading, processes, scaling, sweeps

    torch.set_num_threads(threads)
    few = min(rounds, 5)
    measures: dict[str, Callable[[], list[Table]]] = {
        "operations": lambda: _operations(rounds, only),
        "floor": lambda: [race.report_floor(threads, rounds)],
        "inference": lambda: [inference.report(threads, rounds)],
        "generation": lambda: [generation.report(torch, rounds)],
        "scaling": lambda: scaling.report(threads, rounds),
        "large": lambda: large_steps.report(threads, few),
        "rows": lambda: [loading.report_rows(min(rounds, 3))],
        "memory": lambda: [processes.report_memory(threads)],
        "imports": lambda: [processes.report_imports(rounds)],
        "loading": lambda: [loading.report(rounds)],
        "sweeps": lambda: sweeps.report(torch, few, only),
    }
    return measures[name]()


def _operations(rounds: int, only: str) -> list[Table]:
    """Measure single operations, and the messages about them."""
    import torch

    from benchmarks import messages, operations

    tables = [operations.report(torch, rounds, only), messages.report(rounds, only)]
    if not any(table.rows for table in tables):
        names = ", ".join(case.__name__ for case in operations.CASES)
        raise SystemExit(f"no case's name contains {only!r}; there are {names}")
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
