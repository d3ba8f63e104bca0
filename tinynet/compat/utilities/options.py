"""Options that change nothing, and exceptions that nothing raises.

``torch._dynamo`` and ``torch._inductor`` have those of PyTorch's compiler, ``torch.utils`` the one
of ``torch.utils.deterministic``. Programs set them at their start. ``tn.compile`` runs a function
eagerly where it cannot replay it, and has no kernels to tune.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

# torch._dynamo.config
accumulated_cache_size_limit = 256
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = 8
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
disable = False
error_on_recompile = False
optimize_ddp = True
recompile_limit = 8
suppress_errors = False
verbose = False

# torch._inductor.config
conv_1x1_as_mm = False
coordinate_descent_tuning = False
epilogue_fusion = True
force_fuse_int_mm_with_mul = False
fx_graph_cache = True
max_autotune = False
triton = SimpleNamespace(cudagraphs=False, unique_kernel_names=True)


@contextlib.contextmanager
def patch(
    changes: str | Mapping[str, Any] | None = None, value: Any = None, **kwargs: Any
) -> Iterator[None]:
    """Set options for a ``with`` block or for a decorated function.

    Args:
        changes: values by option, or the name of one option.
        value: the value of the one option.
        kwargs: values by option.

    Example:
        >>> from tinynet.compat.utilities import options
        >>> with options.patch(suppress_errors=True):
        ...     options.suppress_errors
        True
        >>> options.suppress_errors
        False
    """
    given = {changes: value} if isinstance(changes, str) else dict(changes or {})
    given.update(kwargs)
    options = globals()
    before = {name: options[name] for name in given}
    options.update(given)
    try:
        yield
    finally:
        options.update(before)


@contextlib.contextmanager
def disable_cache_limit() -> Iterator[None]:
    """Do nothing: ``tn.compile`` has its own limit."""
    yield


# ---- torch._dynamo.exc --------------------------------------------------------------------------


class TorchDynamoException(RuntimeError):  # noqa: N818  # PyTorch's name
    """The base class of what PyTorch's compiler raises."""


class InternalTorchDynamoError(TorchDynamoException):
    """A mistake of PyTorch's compiler."""


class BackendCompilerFailed(TorchDynamoException):
    """An error of a backend of PyTorch's compiler."""


class RecompileError(TorchDynamoException):
    """PyTorch compiles a function again, and its options forbid that."""


class TorchRuntimeError(TorchDynamoException):
    """An operation fails while PyTorch traces it."""


class Unsupported(TorchDynamoException):
    """PyTorch cannot trace a statement."""


class UserError(TorchDynamoException):
    """PyTorch's compiler is used in a wrong way."""


# ---- torch.utils.deterministic ------------------------------------------------------------------

fill_uninitialized_memory = True
