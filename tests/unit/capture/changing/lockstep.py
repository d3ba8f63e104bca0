"""Runs a program eagerly and compiled, and finds the first difference."""

from __future__ import annotations

import abc
import array
import ast
import asyncio
import bisect
import collections
import contextlib
import copy
import dataclasses
import datetime
import enum
import fractions
import functools
import gc
import heapq
import importlib
import inspect
import itertools
import json
import linecache
import logging
import math
import operator
import os
import pathlib
import pickle
import random
import re
import string
import sys
import threading
import types
import typing
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F
from tests.unit.capture import twins
from tinynet import nn, optim
from tinynet.nn.base.hooks import everywhere
from tinynet.optim.base import hooks as optimizer_hooks

from .language import Program

MODULES = (
    abc, array, asyncio, bisect, collections, contextlib, copy, dataclasses, datetime, enum,
    fractions, functools, gc, heapq, importlib, inspect, itertools, json, logging, math, nn,
    operator, optim, os, pathlib, pickle, random, re, string, sys, threading, tn, types, typing,
    warnings, weakref,
)  # fmt: skip
MODULE = "changing_program"
NAMES = {module.__name__.rpartition(".")[2]: module for module in MODULES}
NAMES |= {"tn": tn, "np": np, "F": F}
OWNERS = (tn, F, math, np, nn.Linear, nn.Module, tn.Tensor)
KEPT = [
    (owner, name, getattr(owner, name))
    for owner, name in [
        *((tn, "relu"), (F, "relu"), (math, "pi"), (np, "pi")),
        *((nn.Linear, "forward"), (tn.Tensor, "relu")),
    ]
]


class Difference(NamedTuple):
    """The first difference of a program's two ways to run."""

    event: str
    what: str
    eager: str
    compiled: str

    @property
    def kind(self) -> str:
        """What stays the same when the program gets shorter."""
        return (
            f"{self.what} {self.eager[:9]} {self.compiled[:9]}"
            if "error" in self.what
            else (self.what)
        )

    def __str__(self) -> str:
        return f"{self.event!r}: {self.what}: eager {self.eager}, compiled {self.compiled}"


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Put back what programs change in libraries and modes."""
    environment, filters = dict(os.environ), [*warnings.filters]
    errors, main = np.geterr(), threading.current_thread().name
    states = random.getstate(), np.random.get_state()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.seterr(**errors)
        threading.current_thread().name = main
        random.setstate(states[0])
        np.random.set_state(states[1])
        os.environ.clear()
        os.environ.update(environment)
        warnings.filters[:] = filters
        tn.set_default_dtype(tn.float32)
        tn.set_grad_enabled(True)
        for stage in everywhere.__slots__:
            getattr(everywhere, stage).clear()
        nn.Module._hooks = None  # as handles do that remove the last hook
        for hooks in optimizer_hooks.everywhere:
            hooks.clear()
        for owner, key, value in KEPT:
            setattr(owner, key, value)
        for owner in OWNERS:
            for key in [key for key in vars(owner) if re.search(r"[a-z]_\d$", key)]:
                if key.startswith(("scale_", "doubled_")):
                    delattr(owner, key)
        for name in [key for key in logging.root.manager.loggerDict if key.startswith("changing_")]:
            logging.getLogger(name).setLevel(logging.NOTSET)
        for key in [key for key in sys.modules if key.startswith(("package_", MODULE))]:
            del sys.modules[key]


class Way:
    """One of the two ways to run a program.

    Attributes:
        log: what was seen: the event, what it is about, and its value.
    """

    def __init__(self, compile: Callable[[Any], Any]):
        self.log: list[tuple[str, str, Any]] = []
        self._event, self._looks, self._out = "", [], None
        module = sys.modules[MODULE] = types.ModuleType(MODULE)  # as data classes and pickle ask
        self.names = module.__dict__
        self.names.update(
            NAMES, compile=compile, call=self._call, back=self._back, watch=self._looks.append,
            in_thread=in_thread, in_loop=in_loop,
        )  # fmt: skip

    def run(self, program: Program, filename: str) -> None:
        """Run all statements; an error ends a statement and not the program."""
        text = program.text()
        linecache.cache[filename] = len(text), None, text.splitlines(True), filename
        line = 0
        tn.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        for block in program.blocks():
            self._event = block
            tree = ast.parse(block, filename)
            ast.increment_lineno(tree, line)
            line += block.count("\n") + 1
            try:
                exec(compile(tree, filename, "exec"), self.names)
            except Exception as error:
                self._note("error of the statement", worded(error))
            if re.search(r"\b(call|back)\(", block):
                self._look()

    def _note(self, what: str, value: Any) -> None:
        self.log.append((self._event, what, value))

    def _call(self, function: Any, *args: Any) -> None:
        try:
            self._out = function(*args)
        except Exception as error:
            self._out = None
            self._note("error of the call", worded(error))
            return
        self._note("result", seen(self._out))
        same = [[i for i, arg in enumerate(args) if arg is part] for part in parts(self._out)]
        self._note("which arguments are results", same)
        tensors = dict(enumerate([*parts(self._out), *args]))
        self._note("aliases", twins.aliases(tensors))

    def _back(self) -> None:
        for i, t in enumerate(parts(self._out)):
            if t.requires_grad and t.is_floating_point():
                try:
                    t.sum().backward(retain_graph=True)
                except Exception as error:
                    self._note(f"error of backward {i}", worded(error))

    def _look(self) -> None:
        for name in (*"x1 a1 i1".split(), *self._looks):
            try:
                value = seen(eval(name, self.names))
            except Exception as error:
                value = worded(error)
            self._note(name, value)


def in_thread(function: Callable[[], None]) -> None:
    """Call a function in another thread."""
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def in_loop(function: Callable[[], None]) -> None:
    """Call a function while an event loop runs."""

    async def main() -> None:
        function()

    asyncio.run(main())


def worded(error: Exception) -> str:
    """Return the class of an error and its first sentence."""
    text = re.sub(r"0x[0-9a-f]+", "0x", str(error).partition("\n")[0])
    return f"{type(error).__name__}: {re.split(r'[.:(] ?', text)[0]}"


def parts(result: Any) -> list[Any]:
    """Return the tensors of a result."""
    if isinstance(result, tn.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [t for part in result for t in parts(part)]
    return parts([*result.values()]) if isinstance(result, dict) else []


def seen(thing: Any) -> Any:
    """Return what can be seen of an object, so that equal means the same."""
    if isinstance(thing, tn.Tensor):
        if not hasattr(thing._array, "strides"):
            return "sparse", seen(thing.to_dense())
        found = twins.seen_of(thing)
        found["kind"] = type(thing).__name__
        found["storage_offset"] = thing.storage_offset()
        found["hooked"] = bool(thing._hooks)
        return found
    if isinstance(thing, nn.Module):
        named = [*thing.named_parameters(), *thing.named_buffers()]
        return [(name, seen(t)) for name, t in named], thing.training
    if isinstance(thing, optim.Optimizer):
        groups = [
            {k: len(v) if k == "params" else seen(v) for k, v in group.items()}
            for group in thing.param_groups
        ]
        states = [
            [seen(thing.state.get(p, {})) for p in group["params"]] for group in thing.param_groups
        ]
        return groups, states, len(thing.state)
    if isinstance(thing, dict):
        return type(thing).__name__, [(seen(k), seen(v)) for k, v in thing.items()]
    if isinstance(thing, (tuple, list, set, frozenset, collections.deque)):
        return type(thing).__name__, [seen(part) for part in thing]
    if isinstance(thing, float):
        return repr(thing)
    if isinstance(thing, (np.ndarray, np.generic)):
        return str(thing.dtype), thing.tolist()
    return (thing, type(thing).__name__) if isinstance(thing, (int, str, bytes)) else repr(thing)


def first_difference(a: Any, b: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """Return where two values differ, and the parts there."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        pairs = [(f"{path}.{key}", a[key], b[key]) for key in a]
    elif isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        if a == b:
            return None
        pairs = [(f"{path}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
        if any(isinstance(part, bytes) for part in a):
            return path, a, b
    else:
        return None if a == b else (path, a, b)
    return next(filter(None, (first_difference(x, y, where) for where, x, y in pairs)), None)


def run(
    program: Program, compile: Callable[[Any], Any], filename: str = "changing program"
) -> tuple[Difference | None, Any]:
    """Return the first difference, and the numbers of calls of the compiled function."""
    ways = []
    for wrap in (lambda f: f, compile):
        way = Way(wrap)
        with restored():
            way.run(program, filename)
        ways.append(way)
    eager, compiled = (way.log for way in ways)
    g = ways[1].names.get("g")
    used = g.explain().calls if hasattr(g, "explain") else (0, 0, 0)
    for way in ways:
        way.names.clear()
    gc.collect()  # graphs of a vmap that are alive make all compiled functions run eagerly
    for mine, theirs in itertools.zip_longest(eager, compiled, fillvalue=("", "nothing", "")):
        if mine[:2] != theirs[:2]:
            what = mine[1] if "error" in mine[1] else theirs[1]
            return Difference(mine[0] or theirs[0], what, shown(mine[1:]), shown(theirs[1:])), used
        different = first_difference(mine[2], theirs[2])
        if different is not None:
            where, a, b = different
            return Difference(mine[0], f"{mine[1]}{where}", shown(a), shown(b)), used
    return None, used


def shown(value: Any) -> str:
    """Return text for a value of the log."""
    return twins.shown(value)[:200]


def shrunken(program: Program, compile: Callable[[Any], Any], found: Difference) -> Program:
    """Return the program without the lines that do not matter for the difference."""

    def fails(shorter: Program) -> bool:
        other, _ = run(shorter, compile)
        return other is not None and other.kind == found.kind

    for result in ("y",):
        simpler = program._replace(form="function", result=result)
        if fails(simpler):
            program = simpler
    again = True
    while again:
        again = False
        for field, number in [*program.parts()]:
            if number >= len(getattr(program, field)):
                continue
            shorter = program.without(field, number)
            if fails(shorter):
                program, again = shorter, True
    return program
