"""Storages: the memory of tensors as numbers, ``Tensor.storage()`` and ``FloatStorage``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet import dtypes
from tinynet.core.devices import CPU, device, require_cpu
from tinynet.core.tensors.tensor import Tensor, method, wrap
from tinynet.dtypes import Array
from tinynet.ops.creation.memory import StorageBase, in_shared_memory, shares_memory
from tinynet.ops.shaping.strided import memory_of

S = TypeVar("S", bound="_Numbers")


class _Numbers(StorageBase):
    """The common base of storages of bytes and of numbers."""

    is_cuda = is_sparse = False
    is_cpu = True

    def __len__(self) -> int:
        return self._array.size

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self._array, dtype=dtype, copy=bool(copy) or None)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    @property
    def device(self) -> device:
        """Always the cpu."""
        return CPU

    @property
    def _cdata(self) -> int:
        """The address of the memory, equal for views of the same storage."""
        return self._array.ctypes.data

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 if the storage is empty."""
        return self._array.ctypes.data if self._array.size else 0

    def tolist(self) -> list[Any]:
        """Return the numbers as a list."""
        found: list[Any] = self._array.tolist()
        return found

    def size(self) -> int:
        """Return the number of elements."""
        return self._array.size

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._array.nbytes

    def element_size(self) -> int:
        """Return the number of bytes per element."""
        return self._array.itemsize

    def fill_(self: S, value: Any) -> S:
        """Set all elements to one value."""
        self._array[...] = value
        return self

    def copy_(self: S, source: Sequence[Any] | _Numbers, non_blocking: bool = False) -> S:
        """Copy the numbers of another storage of the same size."""
        self._array[...] = np.asarray(source)
        return self

    def resize_(self, size: int) -> None:
        """Allocate memory of another size; tensors keep the old memory."""
        old, self._array = self._array, np.zeros(size, self._array.dtype)
        self._array[: old.size] = old[:size]

    def resizable(self) -> bool:
        """Return whether numpy owns the memory, rather than the caller or shared memory."""
        return not self.is_shared()

    def clone(self: S) -> S:
        """Return a storage with a copy of the numbers."""
        return self._over(self._array.copy())

    def cpu(self: S) -> S:
        """Return the storage itself."""
        return self

    def is_shared(self) -> bool:
        """Return whether forked processes share the memory."""
        return shares_memory(self._array)

    def share_memory_(self: S) -> S:
        """Move the numbers to memory shared with processes forked from now on."""
        if not self.is_shared():
            self._array = in_shared_memory(self._array)
        return self

    @classmethod
    def _over(cls: type[S], array: Array) -> S:
        made = cls.__new__(cls)
        made._array = array
        return made


class UntypedStorage(_Numbers):
    """The bytes of a tensor and all its views.

    Args:
        data: the number of bytes (zeros), or the bytes.
        device: only the cpu.

    Raises:
        RuntimeError: the device is not the cpu.
        TypeError, ValueError: numpy cannot convert the numbers to an array.

    Example:
        >>> x = tn.zeros(4)
        >>> x[1:].untyped_storage().nbytes()
        16
    """

    def __init__(self, data: int | Sequence[int] = 0, *, device: Any = None):
        require_cpu(CPU if device is None else device)
        self._array = np.zeros(data, np.uint8) if isinstance(data, int) else np.array(data, "u1")

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Return a storage backed by a memory-mapped file; arguments as of ``tn.from_file``."""
        return cls._over(from_file(filename, shared, nbytes, dtype=dtypes.uint8)._array)

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return self._over(found) if isinstance(index, slice) else int(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._cdata == other._cdata

    __hash__ = object.__hash__

    def untyped(self) -> UntypedStorage:
        """Return the storage itself."""
        return self

    def __repr__(self) -> str:
        lines = "".join(f" {x}\n" for x in self.tolist())
        return f"{lines}[tinynet.storage.UntypedStorage(device=cpu) of size {len(self)}]"


class TypedStorage(_Numbers, Sequence[Any]):
    """The numbers in a tensor's memory, in memory order.

    Writes change the tensor, but autograd does not track them.

    Args:
        data: the number of elements (zeros), or the numbers.
        dtype: their dtype; the default dtype if omitted.
        device: only the cpu.
        wrap_storage: bytes to interpret as numbers of the dtype, instead of ``data``.

    Raises:
        RuntimeError: the device is not the cpu.
        TypeError, ValueError: numpy cannot convert the numbers to an array.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).t().storage().tolist()
        [1, 2, 3, 4]
        >>> tn.storage.TypedStorage([1, 2], dtype=tn.float32).tolist()
        [1.0, 2.0]
    """

    def __init__(
        self,
        data: int | Sequence[Any] | Array = 0,
        *,
        dtype: Any = None,
        device: Any = None,
        wrap_storage: UntypedStorage | None = None,
    ):
        require_cpu(CPU if device is None else device)
        kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
        if wrap_storage is not None:
            self._array = wrap_storage._array.view(kind)
        else:
            self._array = np.zeros(data, kind) if isinstance(data, int) else np.array(data, kind)

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return self._over(found) if isinstance(index, slice) else found.item()

    @property
    def dtype(self) -> dtypes.dtype:
        """Data type of the numbers."""
        return dtypes.of(self._array)

    def untyped(self) -> UntypedStorage:
        """Return the same memory as bytes."""
        return UntypedStorage._over(self._array.view(np.uint8))

    def type(self, dtype: Any = None) -> Any:
        """Return the name of the storage's class, or a storage converted to a dtype."""
        if dtype is None:
            return f"tinynet.{self.dtype.scalar_name}Storage"
        return self._converted(getattr(dtype, "dtype", dtype))

    def _converted(self, dtype: Any) -> TypedStorage:
        return self._over(self._array.astype(dtypes.as_numpy(dtype)))

    def double(self) -> TypedStorage:
        """Return the numbers as float64."""
        return self._converted(dtypes.float64)

    def float(self) -> TypedStorage:
        """Return the numbers as float32."""
        return self._converted(dtypes.float32)

    def half(self) -> TypedStorage:
        """Return the numbers as float16."""
        return self._converted(dtypes.float16)

    def long(self) -> TypedStorage:
        """Return the numbers as int64."""
        return self._converted(dtypes.int64)

    def int(self) -> TypedStorage:
        """Return the numbers as int32."""
        return self._converted(dtypes.int32)

    def byte(self) -> TypedStorage:
        """Return the numbers as uint8."""
        return self._converted(dtypes.uint8)

    def bool(self) -> TypedStorage:
        """Return the numbers as booleans."""
        return self._converted(dtypes.bool)

    def __repr__(self) -> str:
        lines = "".join(f" {x}\n" for x in self._array.tolist())
        kind = f"tinynet.storage.TypedStorage(dtype={self.dtype!r}, device=cpu)"
        return f"{lines}[{kind} of size {len(self)}]"


class StorageKind(type):
    """The metaclass of ``FloatStorage`` etc.: ``isinstance`` checks the dtype."""

    dtype: dtypes.dtype | None

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and cls.dtype in (None, instance.dtype)


def _legacy(dtype: dtypes.dtype | None) -> Any:
    def make(cls: Any, data: Any = 0) -> TypedStorage:
        return TypedStorage(data, dtype=dtype)

    name = "Storage" if dtype is None else f"{dtype.scalar_name}Storage"
    doc = f"""Return a storage of {"the default dtype" if dtype is None else dtype.name}.

    Args:
        data: the number of elements (zeros), or the numbers.

    Raises:
        TypeError, ValueError: numpy cannot convert the numbers to an array.

    Example:
        >>> len(tn.{name}(3)), tn.{name}([1, 0]).size()
        (3, 2)
    """
    return StorageKind(name, (), {"__new__": make, "__doc__": doc, "dtype": dtype})


Storage = _legacy(None)
FloatStorage = _legacy(dtypes.float32)
DoubleStorage = _legacy(dtypes.float64)
HalfStorage = _legacy(dtypes.float16)
BFloat16Storage = _legacy(dtypes.bfloat16)
LongStorage = _legacy(dtypes.int64)
IntStorage = _legacy(dtypes.int32)
ShortStorage = _legacy(dtypes.int16)
CharStorage = _legacy(dtypes.int8)
ByteStorage = _legacy(dtypes.uint8)
BoolStorage = _legacy(dtypes.bool)


def is_storage(obj: Any) -> bool:
    """Return whether an object is a storage.

    Args:
        obj: anything.

    Example:
        >>> tn.is_storage(tn.ones(2).storage()), tn.is_storage(tn.ones(2))
        (True, False)
    """
    return isinstance(obj, StorageBase)


@method
def storage(self: Tensor) -> TypedStorage:
    """Return the memory that the tensor is a view of, as numbers.

    Example:
        >>> tn.tensor([1.0, 2.0])[1:].storage().tolist()
        [1.0, 2.0]
    """
    return TypedStorage._over(memory_of(self._array)[0])


@method
def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the memory that the tensor is a view of, as bytes.

    Example:
        >>> tn.ones(4)[2:].untyped_storage().nbytes()
        16
    """
    return UntypedStorage._over(memory_of(self._array)[0].view(np.uint8))


def _dlpack(
    self: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a DLPack capsule over the memory, for the ``from_dlpack`` of other libraries.

    Args:
        stream: None or -1: there is no other device.
        max_version, dl_device, copy: as of numpy's ``__dlpack__``.

    Raises:
        BufferError: the tensor requires grad, or DLPack has no such dtype.
        AssertionError: a stream.

    Source: https://data-apis.org/array-api/latest/design_topics/data_interchange.html

    Example:
        >>> import numpy as np
        >>> np.from_dlpack(tn.ones(2))
        array([1., 1.], dtype=float32)
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    return self._array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)


def _dlpack_device(self: Tensor) -> tuple[int, int]:
    """Return DLPack's numbers of the CPU.

    Example:
        >>> tn.ones(2).__dlpack_device__()
        (1, 0)
    """
    return self._array.__dlpack_device__()


method(_dlpack, "__dlpack__")
method(_dlpack_device, "__dlpack_device__")


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Tensor:
    """Return a tensor backed by a memory-mapped file.

    Args:
        filename: the file, with nothing but the numbers.
        shared: write changes of the tensor to the file, which is created or extended if necessary.
        size: the number of elements.
        dtype: their dtype; the default dtype if omitted.
        requires_grad: whether to compute gradients for the tensor.
        device: only the cpu.

    Raises:
        RuntimeError: the file does not exist, or is too small.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "numbers")
        ...     tn.from_file(str(path), shared=True, size=3).fill_(2).tolist(), path.stat().st_size
        ([2.0, 2.0, 2.0], 12)
    """
    require_cpu(CPU if device is None else device)
    kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
    wanted = size * kind.itemsize
    try:
        if shared:
            with open(filename, "ab") as file:
                if file.tell() < wanted:
                    file.truncate(wanted)
        with open(filename, "rb") as file:
            there = file.seek(0, 2)
    except OSError as error:
        raise RuntimeError(
            f"unable to open file <{filename}> in {'read-write' if shared else 'read-only'} mode: "
            f"{error.strerror} ({error.errno})"
        ) from None
    if there < wanted:
        raise RuntimeError(
            f"file <{filename}> size <{there}> is smaller than the required mapping size <{wanted}>"
        )
    if not size:
        return wrap(np.empty(0, kind)).requires_grad_(requires_grad)
    mapped = np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(wanted,))
    return wrap(np.asarray(mapped).view(np.ndarray).view(kind)).requires_grad_(requires_grad)
