"""The modes of a thread: grad mode, inference mode, the running modules and backward pass."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from tinynet.core import numpy_errors
from tinynet.kernels.threads import Tally

F = TypeVar("F", bound=Callable[..., Any])
DECORATED_CLASS = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only "
    "decorate functions or methods. To preserve the current behavior of class decoration, you can "
    "directly decorate the `__init__` method and nothing else."
)


class _Modes(threading.local):
    # True, False, or a keeper (graph/saved_hooks.py), which is truthy and takes over saved values.
    grad: Any = True
    on: Any = True  # the value of ``grad`` when recording is on: True or a keeper
    inference: bool = False
    autocast: Any = None  # casts the arguments of some operations, see tinynet/amp/state.py
    plain: bool = False  # results are plain tensors, even of subclasses: tensors/subclasses.py
    backward_pass: Any = None  # the running backward pass
    tracer: Any = None  # captures the computations of this thread, see trace.py
    thread: int  # the thread's id; a thread of `on_a_new_stack` has its creator's
    scope: Any = None  # the running modules (module_scope.py); stored in nodes and writes

    def __init__(self) -> None:  # runs once per thread
        self.thread = threading.get_ident()
        numpy_errors.install()


mode = _Modes()


def on_a_new_stack(work: Callable[[], None]) -> None:
    """Run a function in a new thread, under the modes of this one."""
    modes, errors = vars(mode), []

    def run() -> None:
        vars(mode).update(modes)
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    for error in errors:
        raise error


class _Inference:
    """The number of active inference modes in all threads, counted by ``tally``.

    Compiled operations read a global ``inferring``, which is True if there are any; only then do
    they check the mode of the thread. The global costs no measurable time.
    """

    def __init__(self) -> None:
        self.count = 0
        self.tally = Tally(self._update, lambda: mode.thread)
        self._namespaces: list[dict[str, Any]] = []

    def track(self, namespace: dict[str, Any]) -> None:
        """Keep ``inferring`` in a namespace up to date."""
        namespace["inferring"] = False
        self._namespaces.append(namespace)

    def _update(self, count: int) -> None:
        self.count = count
        for namespace in self._namespaces:
            namespace["inferring"] = count > 0


inference = _Inference()


def is_grad_enabled() -> bool:
    """Return True if operations are being recorded.

    Example:
        >>> with tn.no_grad():
        ...     tn.is_grad_enabled()
        False
    """
    return bool(mode.grad)


class GradMode:
    """A grad mode for a ``with`` block or a decorated function (generators included)."""

    def __init__(self, value: bool):
        self._value = value
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(mode.grad)
        mode.grad = self._value and mode.on

    def __exit__(self, *exc: object) -> None:
        mode.grad = self._before.pop()

    def clone(self) -> GradMode:
        """Return another one."""
        return GradMode(self._value)

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            warnings.warn(DECORATED_CLASS, FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(function):
            return functools.wraps(function)(self._generator(function))  # type: ignore[return-value]

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def _generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Apply the mode while the generator's code runs, not while its caller's does."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            advance: Callable[[], Any] = functools.partial(next, generator)
            try:
                while True:
                    try:
                        with self.clone():
                            item = advance()
                    except StopIteration as stop:
                        return stop.value
                    try:
                        advance = functools.partial(generator.send, (yield item))
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        advance = functools.partial(generator.throw, error)
            finally:
                with self.clone():
                    generator.close()

        return wrapped


class no_grad(GradMode):
    """Stop recording: in a ``with`` block, or as a decorator (``@no_grad()`` or ``@no_grad``).

    Args:
        function: what ``@no_grad`` without parentheses decorates.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> with tn.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    def __new__(cls, function: Any = None) -> Any:
        """Decorate at once when used without parentheses."""
        return _bare(cls, False, function)

    def __init__(self, function: Any = None):
        super().__init__(False)


class enable_grad(GradMode):
    """Record again inside a ``no_grad`` block: in a ``with`` block, or as a decorator.

    Args:
        function: what ``@enable_grad`` without parentheses decorates.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> with tn.no_grad(), tn.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    def __new__(cls, function: Any = None) -> Any:
        """Decorate at once when used without parentheses."""
        return _bare(cls, True, function)

    def __init__(self, function: Any = None):
        super().__init__(True)


def _bare(cls: type, value: bool, function: Any) -> Any:
    return object.__new__(cls) if function is None else GradMode(value)(function)


class set_grad_enabled(GradMode):
    """Set recording on or off: at once as a call, for a block with ``with``, or as a decorator.

    Args:
        mode_: True records, False does not.

    Raises:
        TypeError: ``mode_`` is not a bool.

    Example:
        >>> x = tn.ones(2, requires_grad=True)
        >>> with tn.set_grad_enabled(False):
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    def __init__(self, mode_: bool):
        if not isinstance(mode_, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, "
                f"not {type(mode_).__name__}"
            )
        super().__init__(mode_)
        super().__enter__()

    def __enter__(self) -> None:
        mode.grad = self._value and mode.on

    def __call__(self, function: F) -> F:
        """Undo the immediate switch: a decorator affects only its function."""
        mode.grad = self._before.pop()
        return super().__call__(function)
