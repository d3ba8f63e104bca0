"""What PyTorch has and tinynet lacks: functions that raise, and name an alternative.

The parts of modules that hold little else stand below: each names PyTorch's path.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator
from typing import Any, NoReturn


def refusal(name: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that raises NotImplementedError.

    Args:
        name: PyTorch's name, after ``torch.``.
        instead: the reason, and what to do instead.
    """

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"tinynet has no {name}: {instead}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Refuse: {instead}.\n\nRaises:\n    NotImplementedError: always."
    return refuse


def absent(name: str, instead: str) -> type[Any]:
    """Return a class for ``isinstance`` checks and annotations: it has no instances.

    Args:
        name, instead: as of ``refusal``.
    """
    refuse = refusal(name, instead)
    doc = f"Not supported: {instead}.\n\nRaises:\n    NotImplementedError: always."
    return type(refuse.__name__, (), {"__new__": refuse, "__doc__": doc, "__module__": __name__})


# ---- torch.nested ------------------------------------------------------------------------------

_PAD = "rows of different lengths are padded; use nn.utils.rnn.pad_sequence and a mask"
nested_tensor = refusal("nested.nested_tensor", _PAD)
as_nested_tensor = refusal("nested.as_nested_tensor", _PAD)
to_padded_tensor = refusal("nested.to_padded_tensor", _PAD)


# ---- torch.cuda.nvtx ---------------------------------------------------------------------------


def _without_cuda(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise RuntimeError: there is no GPU to profile."""
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


mark = range_pop = range_push = range_start = range_end = _without_cuda


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Raise RuntimeError when the block, or the decorated function, begins."""
    range_push(msg)
    yield


# ---- torch._subclasses --------------------------------------------------------------------------

_RUN = "programs are traced with proxies; run them on tensors"
FakeTensor = absent("_subclasses.FakeTensor", _RUN)
FakeTensorMode = absent("_subclasses.FakeTensorMode", _RUN)


def is_fake(x: object) -> bool:
    """Return False: all tensors have numbers."""
    return False


# ---- torch.fx.experimental.proxy_tensor ---------------------------------------------------------


def get_proxy_mode() -> None:
    """Return None: nothing is being traced."""


# ---- torch.SymInt and the like ------------------------------------------------------------------

SymInt = absent("SymInt", _RUN)
SymFloat = absent("SymFloat", _RUN)
SymBool = absent("SymBool", _RUN)

# ---- torch.PyTorchFileReader ---------------------------------------------------------------------

_FILES = "tn.load and exchange.load_pytorch read PyTorch's files"
PyTorchFileReader = absent("PyTorchFileReader", _FILES)
PyTorchFileWriter = absent(
    "PyTorchFileWriter", _FILES.replace("load", "save").replace("read", "write")
)

# ---- torch.Stream --------------------------------------------------------------------------------

_QUEUE = "operations run at once, in the order of the program"
Stream = absent("Stream", _QUEUE)
Event = absent("Event", _QUEUE)


# ---- torch.nn.attention -------------------------------------------------------------------------
# Selecting an attention backend; tinynet has only one.


class SDPBackend(enum.Enum):
    """PyTorch's attention backends.

    Example:
        >>> from tinynet.compat import refusal
        >>> refusal.SDPBackend.MATH.name
        'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Run a block unchanged: there is only one attention backend.

    Args:
        backends: a ``SDPBackend``, or a list of them.
        set_priority: ignored.

    Raises:
        TypeError: ``backends`` is something else.

    Example:
        >>> from tinynet.compat import refusal
        >>> with refusal.sdpa_kernel(refusal.SDPBackend.MATH):
        ...     pass
    """
    chosen = backends if isinstance(backends, list) else [backends]
    if not all(isinstance(backend, SDPBackend) for backend in chosen):
        raise TypeError("Backends must be an instance of SDPBackend or a list of SDPBackend")
    yield


# ---- torch.nn.attention.flex_attention ----------------------------------------------------------

_MASK = "pass a mask, or scores to add, to nn.functional.scaled_dot_product_attention"
BlockMask = absent("nn.attention.flex_attention.BlockMask", _MASK)
AuxRequest = absent("nn.attention.flex_attention.AuxRequest", _MASK)
flex_attention = refusal("nn.attention.flex_attention.flex_attention", _MASK)
create_block_mask = refusal("nn.attention.flex_attention.create_block_mask", _MASK)
create_mask = refusal("nn.attention.flex_attention.create_mask", _MASK)
_DEFAULT_SPARSE_BLOCK_SIZE = 128


# ---- torch.utils.cpp_extension ------------------------------------------------------------------
# Names that build scripts import; nothing is compiled.

CUDA_HOME = ROCM_HOME = CUDNN_HOME = SYCL_HOME = None
IS_HIP_EXTENSION = False

_INSTEAD = "extensions are linked with PyTorch's library; write an autograd.Function on arrays"
load = refusal("utils.cpp_extension.load", _INSTEAD)
load_inline = refusal("utils.cpp_extension.load_inline", _INSTEAD)
CppExtension = refusal("utils.cpp_extension.CppExtension", _INSTEAD)
CUDAExtension = refusal("utils.cpp_extension.CUDAExtension", _INSTEAD)
BuildExtension = refusal("utils.cpp_extension.BuildExtension", _INSTEAD)
include_paths = refusal("utils.cpp_extension.include_paths", _INSTEAD)
library_paths = refusal("utils.cpp_extension.library_paths", _INSTEAD)


def is_ninja_available() -> bool:
    """Return False: nothing is compiled.

    Example:
        >>> from tinynet.compat import refusal
        >>> refusal.is_ninja_available()
        False
    """
    return False
