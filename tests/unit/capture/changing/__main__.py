"""Run the programs of seeds: ``python -m tests.unit.capture.changing 0 500 --backend llvm``."""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import tinynet as tn
from tests.unit.capture import twins
from tests.unit.capture.interpreted import interpret
from tests.unit.capture.test_random_programs import Rounded

from .language import Program, directed_programs, random_program
from .lockstep import run, shrunken


@contextlib.contextmanager
def backend(name: str) -> Iterator[None]:
    """Run native functions of the LLVM backend uncompiled, and compare up to rounding."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        if name == "llvm":
            interpret(patch)
            patch.setattr(twins, "exact", Rounded)
            patch.setattr(twins, "shown", str)
        yield


def main() -> None:
    """Print the programs that differ, and how often each kind of difference came."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.unit.capture.changing", description=__doc__
    )
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--backend", default="numpy", choices=["numpy", "llvm"])
    parser.add_argument("--verify", type=int, default=0, help="the option of tn.compile")
    parser.add_argument("--directed", action="store_true", help="each read with each change")
    parser.add_argument("--only", default="", help="programs with names that begin like this")
    parser.add_argument("--whole", action="store_true", help="print programs as they are")
    options = parser.parse_args()
    chosen: dict[str, Any] = {"backend": options.backend}
    if options.verify is not None:
        chosen["verify"] = options.verify
    compile = functools.partial(tn.compile, **chosen)
    programs: Iterable[tuple[Any, Program]] = (
        directed_programs(random.Random(options.first))
        if options.directed
        else ((seed, random_program(seed)) for seed in range(options.first, options.last))
    )
    kinds: Counter[str] = Counter()
    total: Counter[str] = Counter()
    began = time.perf_counter()
    gc.collect()
    gc.freeze()  # a capture looks at all objects that are alive
    with backend(options.backend):
        for name, program in programs:
            if not str(name).startswith(options.only):
                continue
            found, calls = run(program, compile)
            total.update(programs=1, replayed=calls[0] > 0, replays=calls[0], captured=calls[1])
            if found is None:
                continue
            total.update(different=1)
            kinds[found.kind] += 1
            if options.whole or options.directed:
                print(f"--- {name}: {found}\n", flush=True)
                continue
            small = shrunken(program, compile, found)
            found, _ = run(small, compile)
            print(f"--- {name}: {found}\n{small.text()}", flush=True)
    for kind, count in kinds.most_common():
        print(f"{count:5} {kind}")
    print(dict(total), f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
