"""Compares tinynet with PyTorch on PyTorch's own tables: `python -m tests.pytorch_tables`."""

from __future__ import annotations

import argparse
import collections
import itertools
import time

from . import modules, optimizers, translate
from .known import known
from .rows import compared, rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.pytorch_tables", description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="a pattern of operations' names")
    parser.add_argument("--faces", nargs="*", default=(), help="function method inplace out error")
    parser.add_argument("--dtypes", nargs="*", default=(), help="float32 float64 int64 bool")
    parser.add_argument("--most", type=int, default=10**9, help="samples per operation and dtype")
    parser.add_argument("--all", action="store_true", help="print each difference, not a summary")
    parser.add_argument("--listed", action="store_true", help="print the known differences, too")
    options = parser.parse_args()
    translate.install()
    count, started = 0, time.monotonic()
    found: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    tables = (
        rows(options.only, tuple(options.faces), tuple(options.dtypes), options.most),
        modules.rows(options.only, options.most),
        optimizers.rows(options.only, options.most),
    )
    for row in itertools.chain(*tables):
        count += 1
        text = compared(row)
        if text is not None and (options.listed or known(row.id) is None):
            found[row.op].append((row.id, text))
    for op, differences in sorted(found.items(), key=lambda item: -len(item[1])):
        shown = differences if options.all else differences[:2]
        print(f"{op}: {len(differences)}")
        for name, text in shown:
            print(f"    {name.removeprefix(op)}: {text[:230]}")
    wrong = sum(map(len, found.values()))
    share = 100 * (count - wrong) / max(count, 1)
    seconds = time.monotonic() - started
    print(f"{count - wrong} of {count} samples agree ({share:.2f} %), {seconds:.0f} s")


if __name__ == "__main__":
    main()
