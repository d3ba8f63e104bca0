"""Tricks about hooks, modes, threads, errors, optimizers and other state around a function."""

from __future__ import annotations

import abc
import asyncio
import builtins
import collections
import contextlib
import contextvars
import copy
import functools
import gc
import importlib
import inspect
import itertools
import locale
import logging
import math
import operator
import os
import pickle
import random
import sys
import threading
import types
import warnings
import weakref
from typing import Any

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn, optim

from .table import CALLS, change, ones, outcome, trick, value, with_each

# ---- hooks --------------------------------------------------------------------------------------

REGISTER = nn.modules.module


@contextlib.contextmanager
def hooked(register: Any, hook: Any) -> Any:
    """Register a hook for a while."""
    handle = register(hook)
    try:
        yield
    finally:
        handle.remove()


def _linear() -> Any:
    tn.manual_seed(3)
    return nn.Linear(2, 2)


def _with_hook(register: Any, hook: Any, early: bool, wrapped: bool) -> Any:
    """Return a trick: a hook that is registered before or after the captures, then removed."""

    def run(C: Any) -> Any:
        net, seen = _linear(), []

        def counting(*args: Any) -> Any:
            seen.append(type(args[0]).__name__)
            return hook(*args)

        g = C(net) if wrapped else C(lambda x: net(x) * 2)
        found, handle = [], None
        for i in range(10):
            if i == (0 if early else 4):
                handle = register(net, counting)
            if i == 7 and handle is not None:
                handle.remove()
            x = tn.ones(2, requires_grad=True)
            out = g(x[None])
            out.sum().backward()
            found.append((value(out), value(x.grad), value(net.weight.grad)))
        return found, collections.Counter(seen)["Linear"]

    return run


HOOKS = {
    "forward": (lambda m, h: m.register_forward_hook(h), lambda m, i, o: o * 2),
    "pre": (lambda m, h: m.register_forward_pre_hook(h), lambda m, i: (i[0] * 2,)),
    "backward": (
        lambda m, h: m.register_full_backward_hook(h),
        lambda m, i, o: (i[0] * 2,) if i[0] is not None else None,
    ),
    "backward_pre": (
        lambda m, h: m.register_full_backward_pre_hook(h),
        lambda m, o: (o[0] * 2,),
    ),
    "global_forward": (
        lambda m, h: REGISTER.register_module_forward_hook(h), lambda m, i, o: o * 2,
    ),
    "global_pre": (
        lambda m, h: REGISTER.register_module_forward_pre_hook(h), lambda m, i: (i[0] * 2,),
    ),
    "global_backward": (
        lambda m, h: REGISTER.register_module_full_backward_hook(h),
        lambda m, i, o: (i[0] * 2,) if i[0] is not None else None,
    ),
    "global_that_returns_nothing": (
        lambda m, h: REGISTER.register_module_forward_hook(h), lambda m, i, o: None,
    ),
    "weight": (lambda m, h: m.weight.register_hook(h), lambda g: g * 2),
    "accumulated": (
        lambda m, h: m.weight.register_post_accumulate_grad_hook(h),
        lambda p: setattr(p, "grad", p.grad * 2),
    ),
    "multi_grad": (
        lambda m, h: tn.autograd.graph.register_multi_grad_hook([m.weight, m.bias], h),
        lambda gs: None,
    ),
}  # fmt: skip
for (_name, (_register, _hook)), _early, _wrapped in itertools.product(
    HOOKS.items(), (True, False), (True, False)
):
    _run = _with_hook(_register, _hook, _early, _wrapped)
    _run.__name__ = f"hook_{_name}_{'early' if _early else 'late'}{'_module' * _wrapped}"
    trick(_run)


@trick
def multi_grad_hook_on_results(C: Any) -> Any:
    w, seen = tn.ones(2, requires_grad=True), []
    g = C(lambda x: (x * w, x + w))
    for _ in range(5):
        a, b = g(ones())
        tn.autograd.graph.register_multi_grad_hook(
            (a, b), lambda gs: seen.append([t is not None for t in gs])
        )
        (a + b).sum().backward()
    return seen, value(w.grad)


@trick
def hook_on_the_node_of_a_result(C: Any) -> Any:
    w, seen = tn.ones(2, requires_grad=True), []
    g = C(lambda x: x * w)
    for _ in range(5):
        out = g(ones())
        out.grad_fn.register_prehook(lambda gs: seen.append(value(gs[0])))
        out.sum().backward()
    return seen


@trick
def retain_grad_of_a_result(C: Any) -> Any:
    w = tn.ones(2, requires_grad=True)
    g, found = C(lambda x: x * w), []
    for i in range(6):
        out = g(ones())
        if i > 1:
            out.retain_grad()
        (out * 2).sum().backward()
        found.append(value(out.grad) if i > 1 else None)
    return found


@trick
def hooks_of_optimizers(C: Any) -> Any:
    net = _linear()
    sgd = optim.SGD(net.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        sgd.zero_grad()
        net(x).sum().backward()
        sgd.step()
        return x * 1

    handles, seen = [], []
    return change(
        C,
        step,
        [
            lambda: handles.append(sgd.register_step_pre_hook(lambda o, a, k: seen.append(1))),
            lambda: handles.append(sgd.register_step_post_hook(lambda o, a, k: seen.append(2))),
            lambda: handles.append(
                optim.optimizer.register_optimizer_step_post_hook(lambda o, a, k: seen.append(3))
            ),
            lambda: [h.remove() for h in handles],
        ],
        look=lambda: (len(seen), net.weight),
    )


# ---- modes --------------------------------------------------------------------------------------


def _modes(make: Any) -> Any:
    def run(C: Any) -> Any:
        w = tn.ones(2, requires_grad=True)
        g = C(lambda x: (x * w + tn.zeros(2)) @ tn.eye(2))
        found = [outcome(g, ones()) for _ in range(CALLS)]
        with make():
            found += [outcome(g, ones()) for _ in range(3)]
        return found + [outcome(g, ones()) for _ in range(2)]

    return run


@contextlib.contextmanager
def _default_dtype() -> Any:
    tn.set_default_dtype(tn.float64)
    try:
        yield
    finally:
        tn.set_default_dtype(tn.float32)


MODES = {
    "no_grad": tn.no_grad, "inference": tn.inference_mode, "enable_grad": tn.enable_grad,
    "grad_off": lambda: tn.set_grad_enabled(False), "default_dtype": _default_dtype,
    "autocast": lambda: tn.autocast("cpu", dtype=tn.bfloat16),
    "autocast_half": lambda: tn.autocast("cpu", dtype=tn.float16),
    "autocast_off": lambda: tn.autocast("cpu", enabled=False),
    "anomaly": tn.autograd.detect_anomaly,
    "saved_hooks": lambda: tn.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    "save_on_cpu": lambda: tn.autograd.graph.save_on_cpu(),
    "multithreading": lambda: tn.autograd.graph.disable_saved_tensors_hooks("no"),
    "errstate": lambda: np.errstate(all="raise"),
    "warnings_as_errors": lambda: warnings.catch_warnings(action="error"),
    "device": lambda: tn.device("cpu"),
}  # fmt: skip
for _name, _make in MODES.items():
    _run = _modes(_make)
    _run.__name__ = f"mode_{_name}"
    trick(_run)


@trick
def mode_that_is_asked_for(C: Any) -> Any:
    g = C(lambda x: x * (2 if tn.is_grad_enabled() else 3) * (5 if tn.is_autocast_enabled() else 7))
    found = [outcome(g, ones()) for _ in range(4)]
    with tn.no_grad():
        found += [outcome(g, ones()) for _ in range(3)]
    with tn.autocast("cpu"):
        found += [outcome(g, ones()) for _ in range(3)]
    return found


@trick
def strict_leaf_writes(C: Any) -> Any:
    def write(x: Any) -> Any:
        w = tn.ones(2, requires_grad=True)
        w[0] = 2.0
        return w * x

    g, found = C(write), []
    for i in range(6):
        tn.autograd.set_strict_leaf_writes(i in (3, 4))
        try:
            found.append(outcome(g, ones()))
        finally:
            tn.autograd.set_strict_leaf_writes(False)
    return found


@trick
def printing_options(C: Any) -> Any:
    found = change(C, lambda x: x * len(str(np.float64(1 / 3))), lambda: np.set_printoptions(2))
    np.set_printoptions(8)
    return found


@trick
def deterministic_algorithms(C: Any) -> Any:
    found = change(
        C,
        lambda x: x * (2 if tn.are_deterministic_algorithms_enabled() else 3),
        lambda: tn.use_deterministic_algorithms(True),
    )
    tn.use_deterministic_algorithms(False)
    return found


# ---- where a call comes from --------------------------------------------------------------------


def _elsewhere(C: Any, function: Any, call: Any) -> Any:
    g = C(function)
    found = [outcome(g, ones()) for _ in range(CALLS)]
    call(lambda: found.append(outcome(g, ones())))
    return found + [outcome(g, ones())]


def _thread(run: Any) -> None:
    thread = threading.Thread(target=run, name="another")
    thread.start()
    thread.join()


def _loop(run: Any) -> None:
    async def main() -> None:
        run()

    asyncio.run(main())


def _handler(run: Any) -> None:
    try:
        raise ValueError
    except ValueError:
        run()


def _locals(run: Any) -> None:
    hidden = 5.0
    run()
    assert hidden


def _context(run: Any) -> None:
    contextvars.copy_context().run(run)


ASKS = {
    "thread_ident": lambda x: x * (2 if threading.get_ident() == MAIN else 3),
    "thread_native": lambda x: x * (2 if threading.get_native_id() == NATIVE else 3),
    "thread_object": lambda x: x * (2 if threading.current_thread() is _main() else 3),
    "thread_name": lambda x: x * len(threading.current_thread().name),
    "thread_local": lambda x: x * getattr(LOCAL, "scale", 3.0),
    "running_loop": lambda x: x * (2 if asyncio._get_running_loop() is None else 3),
    "running_loop_error": lambda x: x * _has_loop(),
    "exc_info": lambda x: x * (2 if sys.exc_info()[0] is None else 3),
    "exception": lambda x: x * (2 if sys.exception() is None else 3),
    "callers_locals": lambda x: x * _of_callers("hidden"),
    "active_threads": lambda x: x * threading.active_count(),
    "context_variable": lambda x: x * VARIABLE.get(),
    "current_task": lambda x: x * _has_loop(),
}  # fmt: skip
MAIN, NATIVE, LOCAL = threading.get_ident(), threading.get_native_id(), threading.local()
LOCAL.scale = 2.0
VARIABLE = contextvars.ContextVar("VARIABLE", default=2.0)


_main = threading.main_thread


def _of_callers(name: str) -> float:
    frame = sys._getframe(1)
    while frame is not None and name not in frame.f_locals:
        frame = frame.f_back
    return 2.0 if frame is None else frame.f_locals[name]


def _has_loop() -> int:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return 2
    return 3


for _name, _ask in ASKS.items():

    def _run(C: Any, ask: Any = _ask) -> Any:
        return [_elsewhere(C, ask, call) for call in (_thread, _loop, _handler, _context, _locals)]

    _run.__name__ = f"elsewhere_{_name}"
    trick(_run)


# ---- errors -------------------------------------------------------------------------------------


def _indices() -> Any:
    good = [lambda i=i: tn.tensor([i]) for i in (0, 1, 2)]
    return [*good, lambda: tn.tensor([99]), lambda: tn.tensor([-99]), lambda: tn.tensor([1])]


W = tn.arange(6.0).view(3, 2)


def _try_except(i: Any) -> Any:
    try:
        return F.embedding(i, W)
    except IndexError:
        return tn.full((1, 2), -1.0)


def _bare_except_in_helper(i: Any) -> Any:
    return _try_except(i) * 2


def _suppress(i: Any) -> Any:
    out = tn.zeros(1, 2)
    with contextlib.suppress(IndexError):
        out = W[i]
    return out


def _finally_return(i: Any) -> Any:
    result = tn.zeros(1, 2)
    try:
        result = W[i]
    except IndexError as error:
        result = result + len(type(error).__name__)
    finally:
        result = result * 2
    return result


def _else_clause(i: Any) -> Any:
    try:
        row = W[i]
    except IndexError:
        row = tn.ones(1, 2)
    else:
        row = row * 3
    return row


def _error_in_a_loop(i: Any) -> Any:
    total = tn.zeros(1, 2)
    for shift in range(3):
        try:
            total = total + W[i + shift]
        except IndexError:
            break
    return total


def _error_of_an_error(i: Any) -> Any:
    try:
        try:
            return W[i]
        except IndexError as error:
            raise KeyError("bad") from error
    except KeyError as error:
        return tn.ones(1, 2) * len(error.args)


def _class_of_error(i: Any) -> Any:
    error = None
    try:
        return W[i]
    except Exception as caught:
        error = caught
    return tn.ones(1, 2) * len(str(error).split()[0])


class _Catching:
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return kind is IndexError


def _context_manager(i: Any) -> Any:
    with _Catching():
        return W[i]
    return tn.ones(1, 2)


@contextlib.contextmanager
def _catching() -> Any:
    with contextlib.suppress(IndexError):
        yield


def _generator_manager(i: Any) -> Any:
    with _catching():
        return W[i]
    return tn.ones(1, 2) * 7


def _stack(i: Any) -> Any:
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(IndexError))
        return W[i]
    return tn.ones(1, 2) * 8


def _next_default(i: Any) -> Any:
    def rows() -> Any:
        try:
            yield W[i]
        except IndexError:
            yield tn.ones(1, 2) * 9

    return next(rows())


def _except_group(i: Any) -> Any:
    with contextlib.suppress(ExceptionGroup):
        try:
            return W[i]
        except* IndexError:
            raise KeyError from None
    return tn.ones(1, 2)


class _Net(nn.Module):
    def forward(self, i: Any) -> Any:
        try:
            return W[i]
        except IndexError:
            return tn.ones(1, 2) * 4


ERRORS = {
    "try_except": _try_except, "in_a_helper": _bare_except_in_helper, "suppress": _suppress,
    "finally": _finally_return, "else": _else_clause, "in_a_loop": _error_in_a_loop,
    "of_an_error": _error_of_an_error, "class": _class_of_error, "manager": _context_manager,
    "generator_manager": _generator_manager, "exit_stack": _stack, "generator": _next_default,
    "in_a_module": _Net(),
    "gather": lambda i: _or(lambda: W.gather(0, i[:, None]), -1.0),
    "take": lambda i: _or(lambda: W.take(i), -2.0),
    "one_hot": lambda i: _or(lambda: F.one_hot(i, 3), -3.0),
    "index_select": lambda i: _or(lambda: W.index_select(0, i), -4.0),
    "scatter": lambda i: _or(lambda: W.scatter(0, i[:, None], 1.0), -5.0),
    "nll": lambda i: _or(lambda: F.nll_loss(W[:1], i), -6.0),
    "cross_entropy": lambda i: _or(lambda: F.cross_entropy(W[:1], i), -7.0),
    "bincount": lambda i: _or(lambda: tn.bincount(i), -8.0),
    "repeat_interleave": lambda i: _or(lambda: W.repeat_interleave(i.expand(3), 0), -9.0),
    "split_sizes": lambda i: _or(lambda: W[i].view(2, 1), -10.0),
    "index_add": lambda i: _or(lambda: W.index_add(0, i, tn.ones(1, 2)), -11.0),
    "multi_margin": lambda i: _or(lambda: F.multi_margin_loss(W[:1], i), -12.0),
    "integer_power": lambda i: _or(lambda: tn.tensor([2]) ** i, -13.0),
    "integer_division": lambda i: _or(lambda: tn.tensor([2]) // (i - 1), -14.0),
    "embedding_bag": lambda i: _or(lambda: F.embedding_bag(i[None], W), -15.0),
}  # fmt: skip


def _or(make: Any, other: float) -> Any:
    try:
        return make()
    except Exception:
        return tn.full((1, 2), other)


for _name, _function in ERRORS.items():

    def _run(C: Any, function: Any = _function) -> Any:
        return with_each(C, function, *_indices())

    _run.__name__ = f"error_{_name}"
    trick(_run)

NUMBERS = {
    "cholesky": lambda a: tn.linalg.cholesky(a), "inv": lambda a: tn.linalg.inv(a),
    "solve": lambda a: tn.linalg.solve(a, tn.ones(2)), "inverse": lambda a: a.inverse(),
    "eigh": lambda a: tn.linalg.eigvalsh(a), "svd": lambda a: tn.linalg.svdvals(a),
    "multinomial": lambda a: tn.multinomial(a.diagonal(), 1) * 0,
    "bernoulli": lambda a: tn.bernoulli(a.diagonal()) * 0,
    "bce": lambda a: F.binary_cross_entropy(a.diagonal(), tn.ones(2)),
    "normal": lambda a: tn.distributions.Normal(0.0, a.diagonal()).variance,
    "categorical": lambda a: tn.distributions.Categorical(a.diagonal()).probs,
}  # fmt: skip


def _matrices() -> Any:
    return [lambda s=s: tn.eye(2) * s for s in (1.0, 0.5, -1.0, 0.0, float("nan"), 1.0)]


for _name, _function in NUMBERS.items():

    def _run(C: Any, function: Any = _function) -> Any:
        def guarded(a: Any) -> Any:
            try:
                return function(a)
            except Exception as error:
                return a * 0 + len(type(error).__name__)

        return with_each(C, guarded, *_matrices()), with_each(C, function, *_matrices())

    _run.__name__ = f"error_of_{_name}"
    trick(_run)


@trick
def counter_in_finally(C: Any) -> Any:
    n = tn.zeros(1)

    def look_up(i: Any) -> Any:
        n.add_(1)
        try:
            return W[i]
        finally:
            n.sub_(1)

    g, found = C(look_up), []
    for make in _indices():
        found.append((outcome(g, make()), value(n), n._version))
    return found


@trick
def writes_before_an_error(C: Any) -> Any:
    n = tn.zeros(1)

    def look_up(i: Any) -> Any:
        n.add_(1)
        row = W[i]
        n.add_(10)
        return row

    g = C(look_up)
    return [(outcome(g, make()), value(n), n._version) for make in _indices()]


@trick
def gradients_before_an_error(C: Any) -> Any:
    w = tn.ones(3, 2, requires_grad=True)

    def step(i: Any) -> Any:
        (w * 2).sum().backward()
        out = w[i]
        out.sum().backward()
        return out.detach()

    g = C(step)
    return [(outcome(g, make()), value(w.grad)) for make in _indices()]


@trick
def mode_after_an_error(C: Any) -> Any:
    def look_up(i: Any) -> Any:
        with tn.no_grad():
            return W[i]

    g = C(look_up)
    return [(outcome(g, make()), tn.is_grad_enabled()) for make in _indices()]


# ---- state of Python ----------------------------------------------------------------------------


class Thing:
    """An object with attributes."""

    def __init__(self, **given: Any):
        self.__dict__.update(given)


@trick
def namespace_that_is_replaced(C: Any) -> Any:
    thing = Thing(scale=1.0)
    return change(C, lambda x: x * thing.scale, lambda: setattr(thing, "__dict__", {"scale": 2.0}))


@trick
def namespace_of_a_module_that_is_replaced(C: Any) -> Any:
    net = nn.ReLU()
    net.scale = 1.0
    return change(
        C,
        lambda x: net(x) * net.scale,
        lambda: setattr(net, "__dict__", {**net.__dict__, "scale": 2.0}),
    )


@trick
def order_of_attributes(C: Any) -> Any:
    thing = Thing(a=1.0, b=2.0)
    return change(
        C,
        lambda x: x * next(iter(vars(thing).values())),
        lambda: thing.__dict__.update(a=thing.__dict__.pop("a")),
    )


@trick
def order_of_modules(C: Any) -> Any:
    net = nn.Sequential(nn.Tanh(), nn.Softmax(0))

    def turn() -> None:
        first = net._modules.pop("0")
        net._modules["0"] = first

    return change(C, lambda x: net(x * 3), turn)


@trick
def order_of_parameters(C: Any) -> Any:
    net = nn.Linear(2, 2, bias=True)

    def total(x: Any) -> Any:
        for i, p in enumerate(net.parameters()):
            x = x * (i + 2) + p.detach().sum()
        return x

    return change(C, total, lambda: net._parameters.update(weight=net._parameters.pop("weight")))


@trick
def ordered_dict_in_a_module(C: Any) -> Any:
    net = nn.ModuleDict({"a": nn.Tanh(), "b": nn.Softmax(0)})

    def through(x: Any) -> Any:
        for layer in net.values():
            x = layer(x * 3)
        return x

    return change(C, through, lambda: net.update({"a": net.pop("a")}))


@trick
def parameter_dict_order(C: Any) -> Any:
    held = nn.ParameterDict({"a": tn.ones(2), "b": tn.ones(2) * 2})
    return change(
        C,
        lambda x: x * next(iter(held.values())),
        lambda: held.update({"a": held.pop("a")}),
    )


@trick
def dictionary_of_ordered_dict(C: Any) -> Any:
    d = collections.OrderedDict(a=1.0, b=2.0)
    return change(C, lambda x: x * [*d.items()][0][1], lambda: d.move_to_end("a"))


@trick
def ordered_dict_in_reverse(C: Any) -> Any:
    d = collections.OrderedDict(a=1.0, b=2.0)
    return change(C, lambda x: x * next(reversed(d.values())), lambda: d.move_to_end("a"))


@trick
def ordered_dict_compared(C: Any) -> Any:
    d, e = collections.OrderedDict(a=1.0, b=2.0), collections.OrderedDict(a=1.0, b=2.0)
    return change(C, lambda x: x * (2 if d == e else 3), lambda: d.move_to_end("a"))


@trick
def chain_map(C: Any) -> Any:
    maps = collections.ChainMap({}, {"a": 1.0})
    return change(C, lambda x: x * maps["a"], lambda: maps.maps[0].update(a=2.0))


@trick
def default_factory(C: Any) -> Any:
    d = collections.defaultdict(lambda: 1.0)
    return change(
        C, lambda x: x * d.default_factory(), lambda: setattr(d, "default_factory", lambda: 2.0)
    )


@trick
def deque_rotated(C: Any) -> Any:
    line = collections.deque([1.0, 2.0])
    return change(C, lambda x: x * line[0], lambda: line.rotate(1))


@trick
def range_with_another_stop(C: Any) -> Any:
    held = [range(0, 3, 2)]
    return change(C, lambda x: x * held[0].stop, lambda: held.__setitem__(0, range(0, 4, 2)))


@trick
def range_in_an_attribute(C: Any) -> Any:
    thing = Thing(r=range(0, 3, 2))
    return change(C, lambda x: x * thing.r.stop, lambda: setattr(thing, "r", range(0, 4, 2)))


@trick
def slice_in_an_attribute(C: Any) -> Any:
    thing = Thing(s=slice(0, 1))
    return change(C, lambda x: x[thing.s], lambda: setattr(thing, "s", slice(1, 2)))


@trick
def equal_tuple_of_other_types(C: Any) -> Any:
    thing = Thing(t=(1, 2))
    return change(
        C,
        lambda x: x.to(tn.int64) * thing.t[0],
        [lambda: setattr(thing, "t", (1.0, 2)), lambda: setattr(thing, "t", (True, 2))],
    )


@trick
def equal_set_of_other_types(C: Any) -> Any:
    thing = Thing(s=frozenset({1}))
    return change(
        C,
        lambda x: x.to(tn.int64) * next(iter(thing.s)),
        lambda: setattr(thing, "s", frozenset({1.0})),
    )


@trick
def negative_zero_in_a_list(C: Any) -> Any:
    row = [0.0]
    return change(C, lambda x: 1 / (x * row[0]), lambda: row.__setitem__(0, -0.0))


@trick
def nan_in_a_list(C: Any) -> Any:
    row = [1.0]
    return change(C, lambda x: x * row[0], [lambda: row.__setitem__(0, math.nan)] * 2)


@trick
def nested_frozen(C: Any) -> Any:
    class Pair(tuple):
        pass

    pair = Pair((1, 2))
    pair.scale = 1.0
    held = (pair,)
    return change(C, lambda x: x * held[0].scale, lambda: setattr(pair, "scale", 2.0))


@trick
def attribute_of_an_error(C: Any) -> Any:
    error = ValueError("a")
    error.scale = 1.0
    return change(C, lambda x: x * error.scale, lambda: setattr(error, "scale", 2.0))


@trick
def notes_of_an_error(C: Any) -> Any:
    error = ValueError("a")
    error.add_note("first")
    return change(C, lambda x: x * len(error.__notes__), lambda: error.add_note("second"))


@trick
def library_class_attribute(C: Any) -> Any:
    net = _linear()

    def put(scale: float) -> None:
        nn.Linear.trick_scale = scale

    put(1.0)
    try:
        return change(C, lambda x: net(x) * net.trick_scale, lambda: put(2.0))
    finally:
        del nn.Linear.trick_scale


@trick
def library_method(C: Any) -> Any:
    before = tn.Tensor.relu
    try:
        return change(C, lambda x: x.relu(), lambda: setattr(tn.Tensor, "relu", lambda t: t * 5))
    finally:
        tn.Tensor.relu = before


@trick
def library_operator(C: Any) -> Any:
    before = tn.Tensor.__mul__
    try:
        return change(C, lambda x: x * 2, lambda: setattr(tn.Tensor, "__mul__", lambda t, o: t + 5))
    finally:
        tn.Tensor.__mul__ = before


@trick
def library_forward(C: Any) -> Any:
    net, before = _linear(), nn.Linear.forward
    try:
        return change(C, net, lambda: setattr(nn.Linear, "forward", lambda m, x: x * 5))
    finally:
        nn.Linear.forward = before


@trick
def library_optimizer_step(C: Any) -> Any:
    p = nn.Parameter(tn.ones(2))
    sgd = optim.SGD([p], lr=0.1)

    def step(x: Any) -> Any:
        sgd.zero_grad()
        (p * x).sum().backward()
        sgd.step()
        return x * 1

    try:
        return change(
            C, step, lambda: setattr(optim.SGD, "step", lambda self: None), look=lambda: p
        )
    finally:
        del optim.SGD.step  # the class inherits it


@trick
def library_function_in_a_closure(C: Any) -> Any:
    before = F.gelu
    try:
        return change(C, lambda x: F.gelu(x), lambda: setattr(F, "gelu", lambda x: x * 7))
    finally:
        F.gelu = before


@trick
def random_state_of_numpy(C: Any) -> Any:
    return change(C, lambda x: x * np.random.get_state()[2], lambda: np.random.rand())


@trick
def random_state_of_python(C: Any) -> Any:
    return change(C, lambda x: x * random.getstate()[1][-1], lambda: random.random())


@trick
def random_state_of_tinynet(C: Any) -> Any:
    return change(C, lambda x: x * int(tn.get_rng_state().sum() % 97), lambda: tn.manual_seed(5))


@trick
def generator_object(C: Any) -> Any:
    tn.manual_seed(0)
    made = tn.Generator()
    made.manual_seed(3)
    return change(
        C, lambda x: x * tn.rand(2, generator=made), lambda: made.manual_seed(3),
        look=made.initial_seed,
    )  # fmt: skip


@trick
def flags_of_an_array(C: Any) -> Any:
    array = np.ones(3)
    return change(
        C,
        lambda x: x * (2 if array.flags.writeable else 3),
        lambda: setattr(array.flags, "writeable", False),
    )


@trick
def strides_of_an_array(C: Any) -> Any:
    array = np.ones((3, 2))
    return change(C, lambda x: x * array.strides[0], lambda: setattr(array, "shape", (2, 3)))


@trick
def large_array(C: Any) -> Any:
    array = np.ones(20_000)
    return change(C, lambda x: x * float(array[5]), lambda: array.__setitem__(5, 7.0))


@trick
def view_of_a_large_array(C: Any) -> Any:
    array = np.ones(20_000)
    part = array[:4]
    return change(C, lambda x: x * float(part[1]), lambda: array.__setitem__(1, 7.0))


@trick
def large_list(C: Any) -> Any:
    row = [1.0] * 20_000
    return change(C, lambda x: x * row[5], lambda: row.__setitem__(5, 7.0))


@trick
def large_dict(C: Any) -> Any:
    table = dict.fromkeys(range(20_000), 1.0)
    return change(C, lambda x: x * table[5], lambda: table.__setitem__(5, 7.0))


@trick
def array_behind_a_tensor(C: Any) -> Any:
    array = np.ones(2, np.float32)
    t = tn.from_numpy(array)
    return change(C, lambda x: x + t + float(array[0]), lambda: array.__setitem__(0, 7.0))


@trick
def cached_object(C: Any) -> Any:
    cached = functools.lru_cache(lambda: Thing(scale=1.0))
    return change(C, lambda x: x * cached().scale, lambda: setattr(cached(), "scale", 2.0))


@trick
def cached_method(C: Any) -> Any:
    class Model:
        scale = 1.0

        @functools.cache  # noqa: B019
        def get(self) -> Any:
            return Thing(scale=self.scale)

    model = Model()
    return change(C, lambda x: x * model.get().scale, lambda: setattr(model.get(), "scale", 2.0))


@trick
def cached_property(C: Any) -> Any:
    class Model:
        scale = 1.0

        @functools.cached_property
        def held(self) -> Any:
            return [self.scale]

    model = Model()
    return change(C, lambda x: x * model.held[0], lambda: model.held.__setitem__(0, 2.0))


@trick
def name_in_a_global(C: Any) -> Any:
    thing, held = Thing(a=1.0, b=2.0), {"name": "a"}
    return change(C, lambda x: x * getattr(thing, held["name"]), lambda: held.update(name="b"))


@trick
def attrgetter_in_a_list(C: Any) -> Any:
    thing, held = Thing(a=1.0, b=2.0), [operator.attrgetter("a")]
    return change(
        C, lambda x: x * held[0](thing), lambda: held.__setitem__(0, operator.attrgetter("b"))
    )


@trick
def imported_by_a_computed_name(C: Any) -> Any:
    module = types.ModuleType("module_of_tricks")
    module.scale, names = 1.0, ["module_of_", "tricks"]
    sys.modules["module_of_tricks"] = module
    try:
        return change(
            C,
            lambda x: x * importlib.import_module("".join(names)).scale,
            lambda: setattr(module, "scale", 2.0),
        )
    finally:
        del sys.modules["module_of_tricks"]


@trick
def global_that_appears(C: Any) -> Any:
    names: dict[str, Any] = {"tn": tn}
    exec("def f(x): return x * (2 if 'EXTRA' in globals() else 3)", names)
    return change(C, names["f"], lambda: names.update(EXTRA=1))


@trick
def builtin_that_is_replaced(C: Any) -> Any:
    before = builtins.max
    try:
        return change(C, lambda x: x * max(1, 2), lambda: setattr(builtins, "max", lambda *a: 5))
    finally:
        builtins.max = before


@trick
def name_of_a_function(C: Any) -> Any:
    def named(x: Any) -> Any:
        return x * len(named.__name__)

    return change(C, named, lambda: setattr(named, "__name__", "other_name"))


@trick
def doc_of_a_function(C: Any) -> Any:
    def documented(x: Any) -> Any:
        return x * len(documented.__doc__ or "")

    return change(C, documented, lambda: setattr(documented, "__doc__", "text"))


@trick
def annotations_of_a_function(C: Any) -> Any:
    def annotated(x: Any) -> Any:
        return x * (1 + len(annotated.__annotations__))

    return change(C, annotated, lambda: annotated.__annotations__.update(y=int))


@trick
def wrapped_function(C: Any) -> Any:
    @functools.wraps(ones)
    def outer(x: Any) -> Any:
        return x * outer.__wrapped__.trick_scale

    outer.__wrapped__ = Thing(trick_scale=1.0)
    return change(C, outer, lambda: setattr(outer.__wrapped__, "trick_scale", 2.0))


@trick
def signature_of_a_function(C: Any) -> Any:
    def scaled(x: Any, scale: float = 2.0) -> Any:
        return x * inspect.signature(scaled).parameters["scale"].default

    return change(C, scaled, lambda: setattr(scaled, "__defaults__", (3.0,)))


@trick
def subclasses(C: Any) -> Any:
    class Base:
        pass

    made: list[Any] = []
    return change(
        C,
        lambda x: x * (1 + len(Base.__subclasses__())),
        lambda: made.append(type("Child", (Base,), {})),
    )


@trick
def name_of_a_class(C: Any) -> Any:
    thing = Thing()
    kind = type("Kind", (), {})
    thing = kind()
    return change(
        C, lambda x: x * len(type(thing).__name__), lambda: setattr(kind, "__name__", "Another")
    )


@trick
def registered_class(C: Any) -> Any:
    kind = type("Kind", (), {})
    thing = kind()
    return change(
        C,
        lambda x: x * (2 if isinstance(thing, collections.abc.Sized) else 3),
        lambda: setattr(kind, "__len__", lambda self: 1),
    )


@trick
def level_of_a_logger(C: Any) -> Any:
    logger = logging.Logger("tricks")
    return change(
        C, lambda x: x * (2 if logger.isEnabledFor(10) else 3), lambda: logger.setLevel(10)
    )


@trick
def environment(C: Any) -> Any:
    try:
        return change(
            C,
            lambda x: x * float(os.getenv("TINYNET_TRICK", "1")),
            lambda: os.environ.update(TINYNET_TRICK="2"),
        )
    finally:
        os.environ.pop("TINYNET_TRICK", None)


@trick
def working_directory(C: Any) -> Any:
    before = os.getcwd()
    try:
        return change(C, lambda x: x * len(os.getcwd()), lambda: os.chdir("/"))
    finally:
        os.chdir(before)


@trick
def search_path(C: Any) -> Any:
    try:
        return change(C, lambda x: x * len(sys.path), lambda: sys.path.append("/nowhere"))
    finally:
        sys.path.remove("/nowhere")


@trick
def error_state_of_numpy(C: Any) -> Any:
    before = np.geterr()
    try:
        return change(
            C,
            lambda x: x * (2 if np.geterr()["over"] == "ignore" else 3),
            lambda: np.seterr(over="ignore"),
        )
    finally:
        np.seterr(**before)


@trick
def garbage_collector(C: Any) -> Any:
    return change(C, lambda x: x * (2 if gc.isenabled() else 3), lambda: None)


@trick
def recursion_limit(C: Any) -> Any:
    before = sys.getrecursionlimit()
    try:
        return change(
            C, lambda x: x * sys.getrecursionlimit(), lambda: sys.setrecursionlimit(before + 9)
        )
    finally:
        sys.setrecursionlimit(before)


@trick
def decimal_point(C: Any) -> Any:
    return change(C, lambda x: x * len(locale.localeconv()["decimal_point"]), lambda: None)


@trick
def referrers(C: Any) -> Any:
    thing = Thing()
    held = [thing]
    return change(
        C, lambda x: x * len([r for r in gc.get_referrers(thing) if r is held]), held.clear
    )


@trick
def weak_set(C: Any) -> Any:
    kept = [Thing(), Thing()]
    found = weakref.WeakSet(kept)
    return change(C, lambda x: x * len(found), lambda: kept.pop() and None)


@trick
def weak_method(C: Any) -> Any:
    kept = [Thing(scale=1.0)]
    proxy = weakref.proxy(kept[0])
    return change(C, lambda x: x * proxy.scale, lambda: setattr(kept[0], "scale", 2.0))


@trick
def pickled_object(C: Any) -> Any:
    held = [Thing(scale=1.0)]
    return change(C, lambda x: x * copy.copy(held[0]).scale, lambda: setattr(held[0], "scale", 2.0))


@trick
def pickled_bytes(C: Any) -> Any:
    held = [{"a": 1.0}]
    return change(
        C, lambda x: x * pickle.loads(pickle.dumps(held))[0]["a"], lambda: held[0].update(a=2.0)
    )


@trick
def method_of_an_instance(C: Any) -> Any:
    class Model:
        def scale(self, x: Any) -> Any:
            return x * 2

    model = Model()
    return change(C, lambda x: model.scale(x), lambda: setattr(model, "scale", lambda x: x * 3))


@trick
def special_method_of_a_class(C: Any) -> Any:
    class Model:
        def __call__(self, x: Any) -> Any:
            return x * 2

    model = Model()
    return change(C, model, lambda: setattr(Model, "__call__", lambda self, x: x * 3))


@trick
def meta_attribute(C: Any) -> Any:
    class Meta(type):
        scale = 1.0

    class Model(metaclass=Meta):
        pass

    return change(C, lambda x: x * Model.scale, lambda: setattr(Meta, "scale", 2.0))


@trick
def attribute_by_a_property_of_a_base(C: Any) -> Any:
    class Base:
        @property
        def scale(self) -> float:
            return self._scale

    class Model(Base):
        _scale = 1.0

    model = Model()
    return change(C, lambda x: x * model.scale, lambda: setattr(Base, "scale", 5.0))


@trick
def getattribute(C: Any) -> Any:
    held = {"scale": 1.0}

    class Model:
        def __getattribute__(self, name: str) -> Any:
            return held[name]

    model = Model()
    return change(C, lambda x: x * model.scale, lambda: held.update(scale=2.0))


@trick
def a_module_whose_getattr_raises_another_error(C: Any) -> Any:
    class Net(nn.Module):
        def __getattr__(self, name: str) -> Any:
            return {"scale": 2.0}[name] if name == "scale" else super().__getattr__(name)

        def forward(self, x: Any) -> Any:
            return x * self.scale

    class Strict(Net):
        def __getattr__(self, name: str) -> Any:
            return self.__dict__["_parameters"][name]

        def forward(self, x: Any) -> Any:
            return x * 3

    return change(C, Net(), lambda: None), change(C, Strict(), lambda: None)


# ---- what a replay leaves -----------------------------------------------------------------------


@trick
def version_of_a_gradient(C: Any) -> Any:
    w = tn.ones(2, requires_grad=True)

    def step(x: Any) -> Any:
        w.grad = None
        (x * w).sum().backward()
        w.grad.mul_(0.5)
        return x * 1

    return change(C, step, lambda: None, look=lambda: (w.grad._version, w.grad))


@trick
def version_of_a_parameter(C: Any) -> Any:
    w = nn.Parameter(tn.ones(2))
    sgd = optim.SGD([w], lr=0.1, momentum=0.9)

    def step(x: Any) -> Any:
        sgd.zero_grad()
        (x * w).sum().backward()
        sgd.step()
        return w.detach().clone()

    def look() -> Any:
        return w._version, w.grad._version, sgd.state[w]["momentum_buffer"]._version

    return change(C, step, lambda: None, look=look)


@trick
def identity_of_state(C: Any) -> Any:
    w = nn.Parameter(tn.ones(2))
    adam, seen = optim.Adam([w], lr=0.1), []

    def step(x: Any) -> Any:
        adam.zero_grad()
        (x * w).sum().backward()
        adam.step()
        return x * 1

    def look() -> Any:
        seen.append(adam.state[w]["exp_avg"])
        return seen[0] is seen[-1], adam.state[w]["step"], adam.state[w]["exp_avg"]

    return change(C, step, lambda: adam.state[w].update(step=tn.tensor(100.0)), look=look)


@trick
def second_derivatives(C: Any) -> Any:
    w = tn.ones(2, requires_grad=True)
    g, found = C(lambda x: (x * w**3).sum()), []
    for _ in range(5):
        y = g(ones() * 2)
        (first,) = tn.autograd.grad(y, w, create_graph=True)
        (second,) = tn.autograd.grad(first.sum(), w)
        found.append((value(first), value(second)))
    return found


@trick
def hessian(C: Any) -> Any:
    g = C(lambda x: (x**3).sum())
    return [outcome(tn.autograd.functional.hessian, g, ones()) for _ in range(5)]


@trick
def jacobian(C: Any) -> Any:
    g = C(lambda x: x**2)
    return [outcome(tn.autograd.functional.jacobian, g, ones()) for _ in range(5)]


@trick
def gradient_penalty(C: Any) -> Any:
    net = _linear()
    g, found = C(net), []
    for _ in range(5):
        x = tn.ones(2, requires_grad=True)
        net.zero_grad()
        (gx,) = tn.autograd.grad(g(x).square().sum(), x, create_graph=True)
        gx.norm().backward()
        found.append(value([p.grad for p in net.parameters()]))
    return found


@trick
def transforms_around(C: Any) -> Any:
    g = C(lambda x: (x**2).sum())
    found = []
    for _ in range(5):
        found.append(outcome(tn.func.grad(g), ones()))
        found.append(outcome(tn.vmap(g), tn.ones(3, 2)))
        found.append(outcome(tn.func.grad(tn.func.grad(lambda t: g(t.expand(2)))), tn.ones(1)[0]))
    return found


@trick
def state_of_a_backward_function(C: Any) -> Any:
    held, w = [2.0], tn.ones(2, requires_grad=True)

    class Scale(tn.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * held[0]

    g, found = C(lambda x: Scale.apply(x * w)), []
    for i in range(7):
        w.grad = None
        y = g(ones())
        held[0] = 7.0 if i == 4 else 2.0
        y.sum().backward()
        found.append(value(w.grad))
    return found


@trick
def forward_of_a_function_that_is_replaced(C: Any) -> Any:
    w = tn.ones(2, requires_grad=True)

    class Scale(tn.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    return change(
        C,
        lambda x: Scale.apply(x * w),
        [
            lambda: setattr(Scale, "forward", staticmethod(lambda ctx, x: x * 5)),
            lambda: setattr(Scale, "backward", staticmethod(lambda ctx, g: g * 5)),
        ],
    )


@trick
def backward_of_a_function_that_is_replaced(C: Any) -> Any:
    w = tn.ones(2, requires_grad=True)

    class Scale(tn.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    g, found = C(lambda x: Scale.apply(x * w)), []
    for i in range(8):
        if i == 5:
            Scale.backward = staticmethod(lambda ctx, g: g * 5)
        w.grad = None
        g(ones()).sum().backward()
        found.append(value(w.grad))
    return found


@trick
def view_that_begins_to_require_grad(C: Any) -> Any:
    t = tn.ones(2).view(2)
    return change(
        C,
        lambda x: x + t.sum(),
        [lambda: t.requires_grad_(True), lambda: t.requires_grad_(False)],
    )


@trick
def base_that_begins_to_require_grad(C: Any) -> Any:
    base = tn.ones(4)
    t = base[1:3]
    return change(C, lambda x: x + t, [lambda: base.requires_grad_(True)])


@trick
def view_of_a_base_with_a_history(C: Any) -> Any:
    base, w = tn.ones(4), tn.ones(4, requires_grad=True)
    t = base[1:3]
    return change(C, lambda x: x + t, [lambda: base.mul_(w)])


@trick
def leaf_that_gets_a_history(C: Any) -> Any:
    t, w = tn.ones(2), tn.ones(2, requires_grad=True)
    return change(C, lambda x: x + t, [lambda: t.mul_(w)])


@trick
def sets_requires_grad_again(C: Any) -> Any:
    t = tn.ones(2).view(2).requires_grad_()
    return change(
        C,
        lambda x: (t.requires_grad_(True), x * 1)[1],
        [lambda: t.requires_grad_(False)],
        look=lambda: t.requires_grad,
    )


@trick
def tensor_that_moves(C: Any) -> Any:
    t = tn.ones(2)
    return change(
        C,
        lambda x: x + t,
        [
            lambda: setattr(t, "data", tn.zeros(2)),
            lambda: t.set_(tn.arange(2.0)),
            lambda: t.resize_(1),
            lambda: setattr(t, "data", tn.ones(2, dtype=tn.float64)),
        ],
    )


@trick
def swapped_data(C: Any) -> Any:
    a, b = tn.ones(2), tn.zeros(2)

    def swap() -> None:
        a.data, b.data = b.data, a.data

    return change(C, lambda x: x + a * 2 + b, [swap, swap])


@trick
def two_globals_become_one(C: Any) -> Any:
    held = {"a": tn.ones(2), "b": tn.zeros(2)}

    def write(x: Any) -> Any:
        held["a"].add_(1)
        return held["b"] + x

    return change(C, write, lambda: held.update(b=held["a"]), look=lambda: held["b"])


@trick
def global_becomes_a_view_of_another(C: Any) -> Any:
    a, b = tn.ones(2), tn.zeros(2)

    def write(x: Any) -> Any:
        a.add_(1)
        return b + x

    return change(C, write, lambda: setattr(b, "data", a.data), look=lambda: (a, b))


@trick
def argument_is_the_global(C: Any) -> Any:
    t = tn.ones(2)

    def write(x: Any) -> Any:
        t.add_(1)
        return x * 2

    return with_each(C, write, ones, lambda: t, lambda: t[:], lambda: t.detach())


@trick
def argument_is_a_parameter(C: Any) -> Any:
    net = _linear()
    sgd = optim.SGD(net.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        sgd.zero_grad()
        net(x).sum().backward()
        sgd.step()
        return x * 1

    g = C(step)
    calls = [ones] * 4 + [lambda: net.bias, lambda: net.bias.detach(), lambda: net.weight[0]]
    return [(outcome(g, make()), value([*net.parameters()])) for make in calls + [ones]]


@trick
def written_view_that_is_passed_again(C: Any) -> Any:
    def write(a: Any) -> Any:
        with tn.no_grad():
            a.add_(1)
        return a * 1

    g, a, found = C(write), tn.arange(4.0)[1:3], []
    for i in range(8):
        a = a if i < 4 else tn.arange(4.0)[1:3]
        found.append((outcome(g, a), a._version))
    return found


@trick
def inference_tensor_that_is_returned(C: Any) -> Any:
    def infer(x: Any) -> Any:
        with tn.inference_mode():
            return x * 2

    g = C(infer)
    return [g(ones()).is_inference() for _ in range(5)]


@trick
def hook_of_a_leaf_and_grad_inside(C: Any) -> Any:
    w, handles = tn.ones(2, requires_grad=True), []
    return change(
        C,
        lambda x: x + tn.autograd.grad((w * x).sum(), w)[0],
        [
            lambda: handles.append(w.register_hook(lambda g: g * 3)),
            lambda: handles.pop().remove(),
        ],
    )


@trick
def large_array_that_was_read_only(C: Any) -> Any:
    array = np.ones(20_000)
    array.flags.writeable = False

    def put() -> None:
        array.flags.writeable = True
        array[5] = 7.0
        array.flags.writeable = False

    return change(C, lambda x: x * float(array[5]), put)


@trick
def default_of_a_named_tuple(C: Any) -> Any:
    Point = collections.namedtuple("Point", "first second", defaults=(2.0,))

    def put() -> None:
        Point.__new__.__defaults__ = (5.0,)

    return change(C, lambda x: x * Point(1.0).second, put)


@trick
def registration_of_a_library_class(C: Any) -> Any:
    class Thing:
        pass

    class Abstract(abc.ABC):  # noqa: B024
        pass

    thing = Thing()
    return change(
        C,
        lambda x: x * (2 if isinstance(thing, collections.abc.Sized) else 3),
        [
            lambda: setattr(Thing, "__len__", lambda self: 3),
            lambda: Abstract.register(Thing),
        ],
    )


# ---- schedules ----------------------------------------------------------------------------------


def _scheduled(make: Any, read: Any) -> Any:
    def run(C: Any) -> Any:
        p = nn.Parameter(tn.ones(2))
        sgd = optim.SGD([p], lr=0.1, momentum=0.9)
        schedule = make(sgd)

        def step(x: Any) -> Any:
            sgd.zero_grad()
            (p * x).sum().backward()
            sgd.step()
            schedule.step(*([1.0] if "Plateau" in type(schedule).__name__ else []))
            return x * read(sgd, schedule)

        g = C(step)
        return [(outcome(g, ones()), value(p), sgd.param_groups[0]["lr"]) for _ in range(12)]

    return run


SCHEDULES = {
    "step": lambda o: optim.lr_scheduler.StepLR(o, 5),
    "multi_step": lambda o: optim.lr_scheduler.MultiStepLR(o, [5, 8]),
    "constant": lambda o: optim.lr_scheduler.ConstantLR(o, 0.5, 6),
    "plateau": lambda o: optim.lr_scheduler.ReduceLROnPlateau(o, patience=2),
    "exponential": lambda o: optim.lr_scheduler.ExponentialLR(o, 0.9),
    "cyclic": lambda o: optim.lr_scheduler.CyclicLR(o, 0.1, 0.5, step_size_up=2),
    "lambda": lambda o: optim.lr_scheduler.LambdaLR(o, lambda epoch: 1.0 if epoch < 6 else 0.5),
}
SCHEDULE_READS = {
    "last_lr": lambda o, s: s.get_last_lr()[0],
    "group": lambda o, s: o.param_groups[0]["lr"],
    "nothing": lambda o, s: 1.0,
    "epoch": lambda o, s: s.last_epoch // 6,
}
for (_name, _make), (_what, _read) in itertools.product(SCHEDULES.items(), SCHEDULE_READS.items()):
    _run = _scheduled(_make, _read)
    _run.__name__ = f"schedule_{_name}_reads_{_what}"
    trick(_run)


# ---- optimizers ---------------------------------------------------------------------------------


def _training(changes: Any, kind: Any = optim.SGD, **options: Any) -> Any:
    def run(C: Any) -> Any:
        tn.manual_seed(0)
        net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Tanh(), nn.Linear(2, 2, bias=False))
        optimizer = kind(net.parameters(), lr=0.1, **options)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        def look() -> Any:
            states = [optimizer.state.get(p, {}) for p in net.parameters()]
            return [*net.parameters()], states, [p._version for p in net.parameters()]

        return change(
            C, step, [lambda: changes(net, optimizer)], argument=lambda: tn.ones(3, 2), look=look
        )

    return run


def _group(optimizer: Any) -> Any:
    return optimizer.param_groups[0]


TRAININGS = {
    "reversed": lambda net, o: _group(o)["params"].reverse(),
    "new_reversed_list": lambda net, o: _group(o).update(params=_group(o)["params"][::-1]),
    "one_left_out": lambda net, o: _group(o)["params"].pop(),
    "one_twice": lambda net, o: _group(o)["params"].append(_group(o)["params"][0]),
    "moved_to_a_group": lambda net, o: o.add_param_group(
        {"params": [_group(o)["params"].pop()], "lr": 0.01}
    ),
    "groups_reversed": lambda net, o: (
        o.add_param_group({"params": [nn.Parameter(tn.ones(1))]}), o.param_groups.reverse(),
    ),
    "another_parameter": lambda net, o: _group(o)["params"].__setitem__(
        0, nn.Parameter(tn.ones(2, 2))
    ),
    "parameter_replaced_in_the_model": lambda net, o: setattr(
        net[0], "weight", nn.Parameter(tn.ones(2, 2))
    ),
    "weights_swapped": lambda net, o: (
        lambda a, b: (setattr(net[0], "weight", b), setattr(net[2], "weight", a))
    )(net[0].weight, net[2].weight),
    "layers_swapped": lambda net, o: (
        lambda a, b: (net.__setitem__(0, b), net.__setitem__(2, a))
    )(net[0], net[2]),
    "state_swapped": lambda net, o: o.state.update(
        {net[0].weight: o.state[net[2].weight], net[2].weight: o.state[net[0].weight]}
    ),
    "state_cleared": lambda net, o: o.state.clear(),
    "state_of_one_deleted": lambda net, o: o.state.pop(net[0].weight, None),
    "state_replaced": lambda net, o: o.state.update({p: dict(s) for p, s in o.state.items()}),
    "tied": lambda net, o: setattr(net[2], "weight", net[0].weight),
    "frozen": lambda net, o: net[0].weight.requires_grad_(False),
    "gradients_set": lambda net, o: setattr(net[0].weight, "grad", tn.ones(2, 2)),
    "lr": lambda net, o: _group(o).update(lr=0.01),
    "lr_as_a_tensor": lambda net, o: _group(o).update(lr=tn.tensor(0.01)),
    "weight_decay": lambda net, o: _group(o).update(weight_decay=0.5),
    "maximize": lambda net, o: _group(o).update(maximize=True),
    "momentum": lambda net, o: _group(o).update(momentum=0.5),
    "group_replaced": lambda net, o: o.param_groups.__setitem__(0, dict(_group(o), lr=0.5)),
    "groups_replaced": lambda net, o: setattr(o, "param_groups", [dict(_group(o), lr=0.5)]),
    "loaded": lambda net, o: o.load_state_dict(o.state_dict()),
    "data_turned": lambda net, o: setattr(net[0].weight, "data", tn.ones(2, 2).t()),
    "data_shared": lambda net, o: setattr(net[0].weight, "data", net[2].weight.data),
    "double": lambda net, o: net.double() and None,
    "activation": lambda net, o: net.__setitem__(1, nn.Sigmoid()),
    "defaults": lambda net, o: o.defaults.update(lr=0.5),
    "generator_of_parameters": lambda net, o: o.__init__(net.parameters(), lr=0.01),
    "another_step": lambda net, o: setattr(o, "step", lambda: None),
    "another_zero_grad": lambda net, o: setattr(o, "zero_grad", lambda: None),
    "class_of_the_optimizer": lambda net, o: setattr(o, "__class__", _Lazy),
    "groups_in_a_tuple": lambda net, o: _group(o).update(params=tuple(_group(o)["params"])),
}  # fmt: skip


class _Lazy(optim.SGD):
    def step(self, closure: Any = None) -> Any:
        return None


for _name, _changes in TRAININGS.items():
    for _kind, _options in ((optim.SGD, {"momentum": 0.9}), (optim.SGD, {}), (optim.Adam, {})):
        _run = _training(_changes, _kind, **_options)
        _run.__name__ = f"training_{_name}_{_kind.__name__}{'_momentum' * bool(_options)}"
        trick(_run)
