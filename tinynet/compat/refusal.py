"""Functions that raise for features of PyTorch that tinynet lacks, and name an alternative."""

from __future__ import annotations

import contextlib
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
