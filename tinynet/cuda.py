"""The functions of ``torch.cuda`` for scripts that check for GPUs: there are none."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, NoReturn

from tinynet.amp import cuda as amp  # noqa: F401  # users read it as torch.cuda.amp

__path__: list[str] = []  # PyTorch has modules inside: cuda.amp


def is_available() -> bool:
    """Return False: tinynet runs on the CPU.

    Example:
        >>> tn.device("cuda" if tn.cuda.is_available() else "cpu")
        device(type='cpu')
    """
    return False


def device_count() -> int:
    """Return 0.

    Example:
        >>> tn.cuda.device_count()
        0
    """
    return 0


_initialized = False


def is_initialized() -> bool:
    """Return False.

    Example:
        >>> tn.cuda.is_initialized()
        False
    """
    return False


def manual_seed(seed: int) -> None:
    """Do nothing: there is no GPU generator. ``tinynet.manual_seed`` seeds the CPU's.

    Args:
        seed: ignored.

    Example:
        >>> tn.cuda.manual_seed(0)
    """


def manual_seed_all(seed: int) -> None:
    """Do nothing, see ``manual_seed``.

    Example:
        >>> tn.cuda.manual_seed_all(0)
    """


def empty_cache() -> None:
    """Do nothing: there is no GPU memory.

    Example:
        >>> tn.cuda.empty_cache()
    """


def synchronize(device: Any = None) -> None:
    """Do nothing: every operation is complete when it returns.

    Example:
        >>> tn.cuda.synchronize()
    """


def current_device() -> int:
    """Raise an error: there is no GPU.

    Raises:
        RuntimeError: always.

    Example:
        >>> tn.cuda.current_device()
        Traceback (most recent call last):
        RuntimeError: tinynet runs on the CPU: there is no current GPU
    """
    raise RuntimeError("tinynet runs on the CPU: there is no current GPU")


def _about_a_gpu(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"tinynet runs on the CPU: there is no GPU for {name}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"""Raise an error: there is no GPU.

    Args:
        *args, **kwargs: ignored.

    Raises:
        RuntimeError: always.

    Example:
        >>> tn.cuda.{name}(0)
        Traceback (most recent call last):
        RuntimeError: tinynet runs on the CPU: there is no GPU for {name}
    """
    return refuse


get_device_name = _about_a_gpu("get_device_name")
get_device_properties = _about_a_gpu("get_device_properties")
get_device_capability = _about_a_gpu("get_device_capability")
set_device = _about_a_gpu("set_device")
current_stream = _about_a_gpu("current_stream")
get_rng_state, set_rng_state = _about_a_gpu("get_rng_state"), _about_a_gpu("set_rng_state")
Event, Stream, CUDAGraph, graph = (  # classes, for annotations and `isinstance`
    type(refuse.__name__, (), {"__new__": refuse, "__doc__": refuse.__doc__})
    for refuse in map(_about_a_gpu, ("Event", "Stream", "CUDAGraph", "graph"))
)


class OutOfMemoryError(RuntimeError):
    """The error of a GPU whose memory is full, for programs that catch it; tinynet never raises it.

    A failed allocation on the CPU is a ``tinynet.errors.AllocationError``.

    Example:
        >>> issubclass(tn.cuda.OutOfMemoryError, RuntimeError)
        True
    """


def get_rng_state_all() -> list[Any]:
    """Return the states of all GPU generators: none.

    Example:
        >>> tn.cuda.get_rng_state_all()
        []
    """
    return []


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Do nothing: there is no GPU generator.

    Args:
        new_states: ignored.

    Example:
        >>> tn.cuda.set_rng_state_all(tn.cuda.get_rng_state_all())
    """


def memory_allocated(device: Any = None) -> int:
    """Return 0: there is no GPU memory.

    Args:
        device: ignored.

    Example:
        >>> tn.cuda.memory_allocated(), tn.cuda.max_memory_allocated()
        (0, 0)
    """
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
memory_cached = max_memory_cached = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: there are no GPU memory statistics.

    Args:
        device: ignored.

    Example:
        >>> tn.cuda.reset_peak_memory_stats()
    """


reset_max_memory_allocated = ipc_collect = reset_peak_memory_stats
reset_accumulated_memory_stats = reset_peak_memory_stats


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Return an empty dictionary: there are no GPU memory statistics.

    Args:
        device: ignored.

    Example:
        >>> len(tn.cuda.memory_stats())
        0
    """
    return OrderedDict()


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """Return an empty dictionary, see ``memory_stats``."""
    return {}


def get_arch_list() -> list[str]:
    """Return the architectures of GPUs that programs can run on: none.

    Example:
        >>> tn.cuda.get_arch_list()
        []
    """
    return []


def seed() -> None:
    """Do nothing: there is no GPU generator to seed.

    Example:
        >>> tn.cuda.seed()
    """


seed_all = seed


def set_stream(stream: Any) -> None:
    """Do nothing with None, as PyTorch.

    Args:
        stream: None; there are no others.

    Example:
        >>> tn.cuda.set_stream(None)
    """


def _not_compiled(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("Torch not compiled with CUDA enabled")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"""Raise PyTorch's error on a machine without a GPU.

    Args:
        *args, **kwargs: ignored.

    Raises:
        AssertionError: always.

    Example:
        >>> tn.cuda.{name}()
        Traceback (most recent call last):
        AssertionError: Torch not compiled with CUDA enabled
    """
    return refuse


init, mem_get_info = _not_compiled("init"), _not_compiled("mem_get_info")
initial_seed, default_stream = _not_compiled("initial_seed"), _not_compiled("default_stream")
can_device_access_peer = _not_compiled("can_device_access_peer")
set_per_process_memory_fraction = _not_compiled("set_per_process_memory_fraction")
default_generators: tuple[Any, ...] = ()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return False.

    Args:
        including_emulation: ignored.

    Example:
        >>> tn.cuda.is_bf16_supported()
        False
    """
    return False


class device(contextlib.AbstractContextManager[None]):  # PyTorch's name
    """A context manager that would select a GPU; it does nothing.

    Args:
        device: ignored.

    Example:
        >>> with tn.cuda.device(0):
        ...     tn.ones(1)
        tensor([1.])
    """

    def __init__(self, device: Any):
        pass

    def __exit__(self, *exc: object) -> None:
        """Change nothing."""


class StreamContext(device):
    """A context manager that would select a queue of work on a GPU; it does nothing.

    Args:
        stream: ignored.

    Example:
        >>> with tn.cuda.stream(None):
        ...     tn.ones(1)
        tensor([1.])
    """

    def __init__(self, stream: Any):
        super().__init__(stream)


stream = StreamContext


class _GpuTensor(type):
    """The metaclass of GPU tensor types, which have no instances."""

    def __call__(cls, *data: Any) -> NoReturn:
        raise TypeError(
            f"type {cls.__module__}.{cls.__name__} not available. tinynet runs on the CPU: "
            f"use {cls.__module__.replace('.cuda', '')}.{cls.__name__}"
        )


_GPU_TENSOR = """A tensor type without instances.

Args:
    *data: ignored.

Raises:
    TypeError: always; ``isinstance`` is what it is for.

Example:
    >>> isinstance(tn.ones(2), tn.{})
    False
"""


def _gpu_tensor(name: str, module: str = __name__) -> Any:
    path = f"{module}.{name}".removeprefix("tinynet.")
    return _GpuTensor(name, (), {"__doc__": _GPU_TENSOR.format(path), "__module__": module})


_SPARSE = (
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
)

HalfTensor = _gpu_tensor("HalfTensor")
FloatTensor = _gpu_tensor("FloatTensor")
DoubleTensor = _gpu_tensor("DoubleTensor")
ByteTensor = _gpu_tensor("ByteTensor")
CharTensor = _gpu_tensor("CharTensor")
ShortTensor = _gpu_tensor("ShortTensor")
IntTensor = _gpu_tensor("IntTensor")
LongTensor = _gpu_tensor("LongTensor")
BoolTensor = _gpu_tensor("BoolTensor")
BFloat16Tensor = _gpu_tensor("BFloat16Tensor")

sparse = SimpleNamespace(  # types of sparse tensors, without instances
    **{name: _gpu_tensor(name, f"{__name__}.sparse") for name in _SPARSE}
)
