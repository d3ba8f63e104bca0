"""Loads oneDNN, and calls its C functions.

The reference is https://uxlfoundation.github.io/oneDNN/v3.2/group_dnnl_api.html.
"""

from __future__ import annotations

import ctypes
import functools
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from tinynet.kernels import threads

PACKAGE = "onednn-cpu-gomp"  # built for GNU's OpenMP, which needs no other package
VERSION = 3  # of the interface
SPINS = "GOMP_SPINCOUNT", "10000"  # a waiting thread must leave the processor to others soon
Pointer = ctypes.c_void_p
CPU, IN_ORDER, FLOAT32, ANY_LAYOUT = 1, 1, 3, 1


@functools.cache
def load() -> tuple[ctypes.CDLL, ctypes.CDLL] | None:
    """Return oneDNN and its OpenMP; None if they are not installed, or of another version."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    paths = [str(file.locate()) for file in files if file.name == f"libdnnl.so.{VERSION}"]
    name, count = SPINS
    unset = name not in os.environ
    os.environ.setdefault(name, count)  # read once, by OpenMP
    try:
        library, openmp = ctypes.CDLL(paths[0]), ctypes.CDLL("libgomp.so.1")
    except (OSError, IndexError):
        return None
    finally:
        if unset:
            del os.environ[name]
    library.dnnl_primitive_desc_query_md.restype = Pointer
    library.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    threads.in_child(lambda: openmp.omp_set_num_threads(1))  # it has none of OpenMP's threads
    threads.add_pool(openmp.omp_set_num_threads)
    return library, openmp


def is_available() -> bool:
    """Return whether oneDNN can be used."""
    return load() is not None


def version() -> str | None:
    """Return the version of the package; None if oneDNN cannot be used."""
    return metadata.version(PACKAGE) if is_available() else None


def functions() -> Any:
    """Return the C functions."""
    loaded = load()
    assert loaded is not None
    return loaded[0]


def openmp() -> Any:
    """Return the functions of its OpenMP."""
    loaded = load()
    assert loaded is not None
    return loaded[1]


@functools.cache
def _function(name: str) -> Any:
    return getattr(functions(), f"dnnl_{name}")


def call(name: str, *args: Any) -> None:
    """Call a function that returns a status.

    Raises:
        RuntimeError: the status is not success.
    """
    status = _function(name)(*args)
    if status:
        raise RuntimeError(f"oneDNN: {name} failed with status {status}")


class Object:
    """An object of oneDNN, which exists as long as this one.

    Args:
        kind: the name of its type.
        function: what creates it.
        args: the arguments of the function.

    Attributes:
        pointer: its address.
    """

    def __init__(self, kind: str, function: str, *args: Any):
        self.pointer = self._as_parameter_ = Pointer()
        call(function, ctypes.byref(self.pointer), *args)
        destroy = getattr(functions(), f"dnnl_{kind}_destroy")
        weakref.finalize(self, destroy, self.pointer).atexit = False


@functools.cache
def engine() -> Object:
    """Return the engine of the processor."""
    return Object("engine", "engine_create", CPU, ctypes.c_size_t(0))


def stream() -> Object:
    """Return a stream, which runs one call after the other."""
    return Object("stream", "stream_create", engine(), IN_ORDER)


def memory(described: Any) -> Object:
    """Return memory in a layout, at an address to be set."""
    unset = Pointer(-1 & (1 << 64) - 1)
    return Object("memory", "memory_create", described, engine(), unset)


def address(array: Any) -> Pointer:
    """Return the address of a contiguous array; `array.ctypes` takes four times as long."""
    try:
        return Pointer(ctypes.addressof(ctypes.c_char.from_buffer(array)))
    except TypeError:  # it may not be written
        return Pointer(array.ctypes.data)


@functools.cache
def own_scratch() -> Object:
    """Return the attribute of primitives whose scratch memory is an argument.

    That of other primitives belongs to the thread that creates them.
    """
    made = Object("primitive_attr", "primitive_attr_create")
    call("primitive_attr_set_scratchpad_mode", made, 1)
    return made


def primitive(description: Object) -> Object:
    """Return the function that a description is of."""
    return Object("primitive", "primitive_create", description)


def layout(shape: tuple[int, ...], last: bool = False) -> Object:
    """Return the layout of a contiguous array of numpy.

    Args:
        shape: ``[batch, channels, *size]``.
        last: the array is ``[batch, *size, channels]``.
    """
    order = [*range(len(shape))]
    if last:
        order.append(order.pop(1))
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d], step = step, step * shape[d]
    function, steps = "memory_desc_create_with_strides", sizes(strides)
    return Object("memory_desc", function, len(shape), sizes(shape), FLOAT32, steps)


def any_layout(shape: tuple[int, ...]) -> Object:
    """Return the layout that oneDNN prefers."""
    function = "memory_desc_create_with_tag"
    return Object("memory_desc", function, len(shape), sizes(shape), FLOAT32, ANY_LAYOUT)


def sizes(numbers: Any) -> Any:
    """Return numbers as a C array of 64-bit integers."""
    numbers = tuple(numbers)
    return (ctypes.c_int64 * len(numbers))(*numbers)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let OpenMP use one thread in calls from this thread."""
    omp = openmp()
    before = omp.omp_get_max_threads()
    if before == 1:
        yield
        return
    omp.omp_set_num_threads(1)
    try:
        yield
    finally:
        omp.omp_set_num_threads(before)
