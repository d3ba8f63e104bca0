"""``tn.compile`` and the compiled form of a module."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from tinynet.base import invocation
from tinynet.capture.compiled import Compiled
from tinynet.capture.explain import Explanation
from tinynet.capture.guard.holdings import is_a
from tinynet.kernels.native import compiler
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import attributes
from tinynet.ops import everything as everything  # before it is looked at

F = TypeVar("F", bound=Callable[..., Any])

BACKENDS = ("numpy", "llvm", "numba", "inductor", "eager", "aot_eager")
MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


class OptimizedModule(Module):
    """A compiled module. ``tn.compile(module)`` returns it.

    It has the attributes of the module, whose parameters it shares.

    Args:
        module: the module.
        options: the options of ``tn.compile``.

    Example:
        >>> net = tn.compile(nn.Linear(2, 1))
        >>> net(tn.ones(3, 2)).shape, net.in_features
        (tinynet.Size([3, 1]), 2)
    """

    _orig_mod: Module
    _takes_global_hooks = False  # the module inside does

    def __init__(self, module: Module, options: dict[str, Any]):
        super().__init__()
        self._orig_mod = module
        self.__dict__["_options"] = options
        self.__dict__["forward"] = Compiled(module, **options)
        self.__dict__["training"] = module.training

    def __getattr__(self, name: str) -> Any:
        module = attributes(self).get("_orig_mod")
        if module is None or name == "_orig_mod":
            raise AttributeError(name)
        return getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_orig_mod", "training", "_hooks") or "_options" not in attributes(self):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def explain(self) -> Explanation:
        """Return what was captured, what runs eagerly and why; print it to read it.

        Example:
            >>> net = tn.compile(nn.Linear(2, 1))
            >>> for _ in range(4):
            ...     _ = net(tn.ones(3, 2))
            >>> net.explain().calls
            Calls(replayed=2, captured=2, eager=0)
        """
        explained: Explanation = self.__dict__["forward"].explain()
        return explained

    def __reduce__(self) -> Any:
        return OptimizedModule, (self._orig_mod, self._options)

    def __deepcopy__(self, memo: dict[int, Any]) -> OptimizedModule:
        return OptimizedModule(copy.deepcopy(self._orig_mod, memo), self._options)


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "numpy",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    verify: int | None = None,
    wait: bool | Sequence[int | None] = True,
) -> Any:
    """Compile a module, a function of tensors, or a whole training step.

    The first two calls run as always, and are recorded. If they did the same, later calls replay
    the recorded operations as one straight-line program, with the same results to the bit. Where a
    replay might differ from what the function would do, the function runs instead; a warning names
    the line, the reason, and the change that would help.

    Args:
        model: a module or function; None returns a decorator.
        fullgraph: raise an error instead of the warning.
        dynamic: ignored: each shape gets its own program.
        backend: ``"numpy"``, or ``"llvm"`` for native functions (``"numba"`` is the same).
            PyTorch's ``"inductor"`` is ``"numpy"`` here; ``"eager"`` and ``"aot_eager"`` do not
            compile.
        mode, options: PyTorch's; ignored, but an unknown mode is an error.
        disable: return the model unchanged.
        verify: how often replays are compared with eager calls. By default, the third one is, then
            about the 10th, 100th, ..., and the first one of each further program; where they
            differ, a warning comes, and all calls run eagerly from then on. ``n``: every n-th
            replay of a program is, and a difference is an error. 0: none is.
        wait: with the LLVM backend, whether the first replay waits for the compiler. ``False``:
            replays run by numpy until another process has compiled the program;
            ``explain().native_from`` notes when. Such notes: the replays at which programs become
            native, so that a run repeats to the bit.

    Raises:
        TypeError: ``model`` is not callable.
        RuntimeError: an unknown backend or mode, or one whose package is not installed.
        ValueError: ``verify`` is not a number of calls, or ``wait`` has no numbers of replays.

    Example:
        >>> net = nn.Linear(2, 1)
        >>> optimizer = tn.optim.SGD(net.parameters(), lr=0.1)
        >>> @tn.compile
        ... def step(x, y):
        ...     optimizer.zero_grad()
        ...     loss = nn.functional.mse_loss(net(x), y)
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss
        >>> losses = [step(tn.ones(4, 2), tn.zeros(4, 1)).item() for _ in range(5)]
        >>> losses == sorted(losses, reverse=True)
        True
    """
    if backend not in BACKENDS:
        raise RuntimeError(
            f"Invalid backend: {backend!r}: tinynet has {', '.join(map(repr, BACKENDS[:2]))}"
        )
    if mode not in MODES:
        raise RuntimeError(
            f"Unrecognized mode={mode}, should be one of {', '.join(map(str, MODES[1:]))}"
        )
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if verify is not None and (not isinstance(verify, int) or verify < 0):
        raise ValueError(f"verify must be a number of calls >= 0. Got {verify!r} instead.")
    known = "llvm" if backend in ("llvm", "numba") else "numpy"
    if known == "llvm" and not compiler.is_available():
        raise RuntimeError(f"backend={backend!r} needs llvmlite: {invocation.installation('llvm')}")
    if not isinstance(wait, bool) and not all(n is None or n > 0 for n in wait):
        raise ValueError(f"wait must be a bool, or numbers of replays > 0. Got {wait!r} instead.")
    chosen = {"fullgraph": fullgraph, "verify": verify, "backend": known, "wait": wait}
    if model is None:
        return lambda model: _compiled(model, disable, backend, chosen)
    return _compiled(model, disable, backend, chosen)


def _compiled(model: Any, disable: bool, backend: Any, options: dict[str, Any]) -> Any:
    if not callable(model):
        raise TypeError(f"tn.compile expects a module or a function, but got {model!r}")
    if disable or backend in ("eager", "aot_eager"):
        return model
    if is_a(model, Module):
        return OptimizedModule(model, options)
    return Compiled(model, **options)


def compile_forward(module: Module, **options: Any) -> None:
    """Compile a module in place, as ``module.compile()`` does."""
    checked = compile(functools.partial(type(module).forward, module), **options)
    module.__dict__["forward"] = checked
