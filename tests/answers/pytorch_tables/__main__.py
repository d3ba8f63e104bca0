"""Compare with PyTorch on PyTorch's own tables: `python -m tests.answers.pytorch_tables`."""

from __future__ import annotations

import argparse
import collections
import itertools
import time

from . import modules, optimizers, translate
from .known import known
from .rows import compared, rows

SHARE = 0.995  # of the samples should agree
WIDTH = 230  # of a difference's text


def main() -> None:
    options = _options()
    translate.install()
    started = time.monotonic()
    counts: collections.Counter[str] = collections.Counter()
    of_complex: collections.Counter[str] = collections.Counter()
    wrong, right = set[str](), set[str]()  # operators, by their samples of complex numbers
    tables = (
        rows(options.only, tuple(options.faces), tuple(options.dtypes), options.most),
        modules.rows(options.only, options.most),
        optimizers.rows(options.only, options.most),
    )
    op = ""
    try:
        for row in itertools.chain(*tables):
            op, text = row.op, compared(row)
            listed = text is not None and known(row.id) is not None
            kind = "agreeing" if text is None else "listed" if listed else "differing"
            counts[kind] += 1
            if row.dtype.startswith("complex"):
                of_complex[kind] += 1
                (right if text is None else wrong).add(op)
            if text is not None and (options.listed or not listed):
                print(f"{row.id}{' (listed)' * listed}: {text[:WIDTH]}", flush=True)
    except KeyboardInterrupt:
        print(f"stopped at {op}")
    print(_summary(counts), f"{time.monotonic() - started:.0f} s", sep="\n")
    if of_complex:
        share = len(right - wrong) / len(right | wrong)
        print(f"complex numbers alone: {_summary(of_complex)}")
        print(f"all of them agree for {share:.1%} of {len(right | wrong)} operators")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.answers.pytorch_tables", description=__doc__
    )
    parser.add_argument("only", nargs="?", default="", help="a pattern of operations' names")
    parser.add_argument("--faces", nargs="*", default=(), help="function method inplace out error")
    parser.add_argument("--dtypes", nargs="*", default=(), help="float32 float64 int64 bool")
    parser.add_argument("--most", type=int, default=10**9, help="samples per operation and dtype")
    parser.add_argument("--listed", action="store_true", help="print the known differences, too")
    return parser.parse_args()


def _summary(counts: collections.Counter[str]) -> str:
    """Return the three counts, and whether enough agree with and without the listed."""
    shares = []
    for label, agreeing in (
        ("alone", counts["agreeing"]),
        ("with the listed", counts["agreeing"] + counts["listed"]),
    ):
        share = agreeing / max(counts.total(), 1)
        verdict = "" if share >= SHARE else f", below {SHARE:.1%}"
        shares.append(f"{label} {share:.2%}{verdict}")
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in ("agreeing", "listed", "differing"))
    return f"{kinds}, of {counts.total()} samples\nagreeing: {'; '.join(shares)}"


if __name__ == "__main__":
    main()
