"""Loops whose iterations threads share, in LLVM's language.

    for i in shared(len(x), x.size):
        y[i] = f(x[i])

The body becomes a function of some of the iterations, which OpenMP's threads run. It reads the
variables of the function around it; those that it sets are its own, and have no value after it.
Iterations must not depend on each other. LLVM computes most of a loop with vectors, and the last
iterations one by one, with other roundings. So that results do not depend on the number of threads,
they share a flat loop in whole vectors, and LLVM vectorizes only the loops inside of another one.
"""

from __future__ import annotations

import ast
import ctypes
from typing import Any

from tinynet.kernels.llvm.values import ArrayValue, Number, Static
from tinynet.kernels.llvm.writer import Variable, Writer

LARGE = 1 << 18  # elements: threads take longer to wake up than they save in smaller loops
VECTORS = 256  # iterations: a multiple of those that LLVM computes at once
DATA = "%data"  # the structure with what the body reads
PARAMETERS = f"ptr {DATA}, i64 %first, i64 %end"  # of a body
FIRST, END = Number("int64", "%first"), Number("int64", "%end")
TEAM, THREADS, ME = "GOMP_parallel", "omp_get_num_threads", "omp_get_thread_num"
OPENMP = TEAM, THREADS, ME  # functions of GNU's OpenMP, which LLVM has to know
NO_FLAGS = "i32", "0"
COUNT = "tinynet_threads"
_count = ctypes.c_int32(0)  # of the threads; 0: none share loops, where there is no OpenMP
SYMBOLS = {COUNT: ctypes.pointer(_count)}  # which LLVM has to know, too


def set_count(count: int) -> None:
    """Let this many threads share the loops of functions that are compiled from now on."""
    _count.value = count


def is_enabled() -> bool:
    """Return whether threads share loops."""
    return _count.value > 0


def assigned(node: ast.For) -> set[str]:
    """Return the names that a loop sets.

    Raises:
        TypeError: it ends early.
    """
    parts = [*ast.walk(node)]
    if any(isinstance(part, ast.Return | ast.Break) for part in parts):
        raise TypeError(f"a shared loop does not end early: {ast.unparse(node)}")
    names = (part for part in parts if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


class Fields:
    """The structure with the values that the body of a loop reads.

    Args:
        name: of the body, and of the type of the structure.
        outer, inner: write the function around the loop, and its body.
        count: the number of iterations, the first field.
    """

    def __init__(self, name: str, outer: Writer, inner: Writer, count: str):
        self._name, self._outer, self._inner = name, outer, inner
        self._fields = [("i64", count)]

    def given(self, value: Any) -> Any:
        """Return a value of the function around the loop as the body has it."""
        value = value.get() if isinstance(value, Variable) else value
        if isinstance(value, Static):
            return value
        if not isinstance(value, Number | ArrayValue):
            raise TypeError("the body of a shared loop reads numbers and arrays")
        texts: list[str] = []
        for kind, text in value.parts():
            if text.startswith("%"):
                place = self._place(self._inner, DATA, len(self._fields))
                self._fields.append((kind, text))
                text = self._inner.load(kind, place)
            texts.append(text)
        if isinstance(value, Number):
            return Number(value.kind, texts[0])
        return ArrayValue.of_parts(value.form, texts)

    def kind(self) -> str:
        """Return the definition of the structure."""
        return f"%{self._name} = type {{ {', '.join(kind for kind, _ in self._fields)} }}"

    def store(self) -> str:
        """Write the structure; return its address."""
        base = self._outer.slot(f"%{self._name}")
        for k, (kind, text) in enumerate(self._fields):
            self._outer.store(kind, text, self._place(self._outer, base, k))
        return base

    def _place(self, writer: Writer, base: str, k: int) -> str:
        return writer.put(f"getelementptr inbounds %{self._name}, ptr {base}, i32 0, i32 {k}")


def runner(module: Any, body: str, is_flat: bool) -> str:
    """Return the function that runs a body, by threads if that is worth it.

    Args:
        module: the module of the body.
        body: its name.
        is_flat: no loop is inside of it.
    """
    w, team = Writer(""), ""
    count = w.load("i64", DATA)
    if is_enabled():
        team = _team(module, body, VECTORS if is_flat else 1)
        module.declare(TEAM, "void", ["ptr", "ptr", "i32", "i32"])
        module.globals.add(COUNT)
        module.declare("llvm.smin.i64", "i64", ["i64", "i64"])
        w.branch(Number("bool", w.put(f"icmp sge i64 %work, {LARGE}")), "large", "small")
        w.begin("large")
        most = w.put(f"sext i32 {w.load('i32', f'@{COUNT}')} to i64")
        threads = w.call("llvm.smin.i64", "i64", [("i64", most), ("i64", count)])
        w.branch(Number("bool", w.put(f"icmp sgt i64 {threads}, 1")), "shared", "small")
        w.begin("shared")
        threads = w.put(f"trunc i64 {threads} to i32")
        w.call(TEAM, "void", [("ptr", f"@{body}.team"), ("ptr", DATA), ("i32", threads), NO_FLAGS])
        w.line("ret void")
        w.begin("small")
    w.call(body, "void", [("ptr", DATA), ("i64", "0"), ("i64", count)])
    w.line("ret void")
    head = f"define internal void @{body}.run(ptr {DATA}, i64 %work) nounwind {{"
    return "\n".join([team, head, "entry:", *w.lines, "}"])


def _team(module: Any, body: str, grain: int) -> str:
    """Return what each thread of a team runs: the body, for its share of the iterations.

    Each share begins at a multiple of ``grain``.
    """
    w = Writer("")
    count = w.load("i64", DATA)
    grains = w.put(f"udiv i64 {w.plus(count, str(grain - 1))}, {grain}")
    module.declare("llvm.smin.i64", "i64", ["i64", "i64"])
    for name in (ME, THREADS):
        module.declare(name, "i32", [])
    me, threads = (w.put(f"sext i32 {w.call(name, 'i32', [])} to i64") for name in (ME, THREADS))
    ends = (w.times(grains, n) for n in (me, w.plus(me, "1")))
    first, end = (w.times(w.put(f"sdiv i64 {n}, {threads}"), str(grain)) for n in ends)
    end = w.call("llvm.smin.i64", "i64", [("i64", end), ("i64", count)])
    w.call(body, "void", [("ptr", DATA), ("i64", first), ("i64", end)])
    w.line("ret void")
    head = f"define internal void @{body}.team(ptr {DATA}) nounwind {{"
    return "\n".join([head, "entry:", *w.lines, "}"])
