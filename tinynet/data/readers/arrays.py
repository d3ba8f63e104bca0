"""numpy's .npy and .npz files, memory-mapped where possible, never unpickled."""

import contextlib
import errno
import math
import os
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.readers.files import (
    FormatError,
    StrPath,
    kind_of,
    listed,
    open_existing,
    read_up_to,
)
from tinynet.data.readers.table_rows import Rows
from tinynet.data.transforms import Compose, ToDtype
from tinynet.dtypes import Array
from tinynet.kernels.strides import array_in

_MAGIC = b"\x93NUMPY"
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # of a file in a zip: signature, two lengths at its end
_LOCAL_SIGNATURE = b"PK\x03\x04"


class NPY(Rows[tuple[Tensor, ...]]):
    """The rows of an array in an .npy file, optionally with targets from a second file.

    Sample ``i`` is ``(row, target)``, with the files' dtypes; without ``targets`` it is ``(row,)``.
    The files are memory-mapped: only requested rows are read, so they may be larger than memory.
    Do not truncate a mapped file: reading missing data kills the process (SIGBUS).

    Args:
        data: a file written by ``numpy.save``.
        targets: another one, of the same length.
        dtype: convert the rows to this dtype, sample by sample.
        mmap: False reads the whole file at once.
        transform: a function of the row.
        target_transform: a function of the target.

    Raises:
        FormatError: a file is damaged or not an .npy file; it contains Python objects (whose
            pickles could run any code), or a dtype that tinynet does not have; or the lengths
            differ.


    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
        >>> np.save(path, np.array([[1, 2], [3, 4]]))
        >>> tn.data.NPY(path)[1]
        (tensor([3, 4]),)
    """

    def __init__(
        self,
        data: StrPath,
        targets: StrPath | None = None,
        dtype: dtypes.dtype | None = None,
        mmap: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        paths = [data] if targets is None else [data, targets]
        arrays = [_from_npy(path, mmap) for path in paths]
        for path, array in zip(paths, arrays, strict=True):
            _check_length(path, "", array, len(arrays[0]) if arrays[0].ndim else 0)
        super().__init__(arrays, _converting(dtype, transform), target_transform)


class NPZ(Rows[tuple[Tensor, ...]]):
    """The rows of arrays in an .npz file, selected by name.

    Sample ``i`` is ``(row, target)``, with the file's dtypes; without ``targets`` it is ``(row,)``.
    Files from ``numpy.savez`` are memory-mapped: only requested rows are read. Files from
    ``numpy.savez_compressed`` are decompressed into memory.

    Args:
        path: the file.
        inputs: the name of the array of rows.
        targets: the name of the array of targets; None for none.
        dtype: convert the rows to this dtype, sample by sample.
        mmap: False reads the whole file at once and verifies its checksums.
        transform: a function of the row.
        target_transform: a function of the target.

    Raises:
        FormatError: as in ``NPY``, or the file has no array of that name.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "x.npz")
        >>> np.savez(path, x=np.eye(2), y=np.array([0, 1]))
        >>> tn.data.NPZ(path, dtype=tn.float32)[1]
        (tensor([0., 1.]), tensor(1))
    """

    def __init__(
        self,
        path: StrPath,
        inputs: str = "x",
        targets: str | None = "y",
        dtype: dtypes.dtype | None = None,
        mmap: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ):
        names = [inputs] if targets is None else [inputs, targets]
        arrays = _from_npz(path, names, mmap)
        for name, array in zip(names, arrays, strict=True):
            _check_length(path, name, array, len(arrays[0]) if arrays[0].ndim else 0)
        super().__init__(arrays, _converting(dtype, transform), target_transform)


def _converting(
    dtype: dtypes.dtype | None, transform: Callable[[Any], Any] | None
) -> Callable[[Any], Any] | None:
    if dtype is None:
        return transform
    return Compose([ToDtype(dtype), *(() if transform is None else [transform])])


def _check_length(path: StrPath, name: str, array: Array, length: int) -> None:
    where = f"array {name!r}" if name else ""
    if not array.ndim:
        raise FormatError(path, "an array with rows", "a single number", where)
    if len(array) != length:
        raise FormatError(path, f"{length} rows, as in the inputs", str(len(array)), where)


# ---- .npy ----


def _from_npy(path: StrPath, mmap: bool) -> Array:
    with open_existing(path) as file:
        size = os.fstat(file.fileno()).st_size
        dtype, shape, fortran = _header(path, "", file, size)
        array = _map(path, dtype, shape, fortran, file.tell())
    return array if mmap else np.array(array)


def _header(
    path: StrPath, where: str, file: IO[bytes], size: int
) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """Read the header; leaves the file at the first number.

    Args:
        size: the number of bytes from the current position to the end.
    """
    start = file.read(len(_MAGIC))
    if start != _MAGIC:
        raise FormatError(path, "an .npy array (93 4e 55 4d 50 59)", kind_of(start), where)
    version = tuple(file.read(2))
    if version not in ((1, 0), (2, 0)):
        raise FormatError(path, "version 1.0 or 2.0", ".".join(map(str, version)) or "none", where)
    form = np.lib.format
    read = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
    counted = _Counted(file, size)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about files written by Python 2
            shape, fortran, dtype = read(counted)
    except Exception as error:  # anything that Python's parser raises for a damaged text
        reason = " ".join(str(error).split())[:80]
        raise FormatError(
            path, "the header of an array", f"a damaged one ({reason})", where
        ) from None
    _check_dtype(path, where, dtype)
    expected = math.prod(shape) * dtype.itemsize
    found = size - len(_MAGIC) - 2 - counted.count
    if min(shape, default=0) < 0 or expected != found:
        text = f"{expected} bytes of numbers, for {dtype.name} and the shape {list(shape)}"
        raise FormatError(path, text, str(found), where)
    return dtype, shape, fortran


class _Counted:
    """A file that counts the bytes read from it, and allocates no more than there are."""

    def __init__(self, file: IO[bytes], size: int):
        self._file, self._size = file, size
        self.count = 0

    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` bytes."""
        left = self._size - self.count
        content = self._file.read(left if size < 0 else min(size, left))
        self.count += len(content)
        return content


def _check_dtype(path: StrPath, where: str, dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        found = "Python objects, which would have to be unpickled"
        raise FormatError(path, "numbers", found, where)
    try:
        trainable = dtypes.from_numpy(dtype.newbyteorder("=")) in dtypes.ALL
    except TypeError:
        trainable = False
    if not trainable:
        known = ", ".join(known.name for known in dtypes.ALL)
        raise FormatError(path, f"numbers of one of the types {known}", str(dtype), where)


def _map(
    path: StrPath, dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool, offset: int
) -> Array:
    end, there = offset + math.prod(shape) * dtype.itemsize, os.path.getsize(path)
    if end > there:
        raise FormatError(path, f"at least {end} bytes", str(there))
    memory = b"" if 0 in shape else np.memmap(path, np.uint8, "r")  # no empty mappings
    return _placed(path, memory, dtype, shape, fortran, offset)


def _placed(
    path: StrPath,
    memory: Any,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    fortran: bool,
    offset: int = 0,
) -> Array:
    try:
        return array_in(memory, shape, dtype, offset, order="F" if fortran else "C")
    except ValueError as error:  # more or larger dimensions than numpy supports
        found = f"{list(shape)} ({error})"
        raise FormatError(path, "a valid array shape", found) from None


# ---- .npz ----


def _from_npz(path: StrPath, names: list[str], mmap: bool) -> list[Array]:
    with open_existing(path) as file:
        start = file.read(8)
        if start[:4] not in (_LOCAL_SIGNATURE, b"PK\x05\x06"):
            raise FormatError(path, "a zip file, as .npz files are", kind_of(start))
        with _damage_as_format_error(path), zipfile.ZipFile(file) as archive:
            inside = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            for name in names:
                if name not in inside:
                    found = f"the arrays {listed(map(repr, inside))}"
                    raise FormatError(path, f"an array {name!r}", found)
            return [_member(path, name, archive, inside[name], file, mmap) for name in names]


def _member(
    path: StrPath,
    name: str,
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    file: IO[bytes],
    mmap: bool,
) -> Array:
    """Return one array of an archive, mapped unless it is compressed."""
    where = f"array {name!r}"
    if mmap and info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1:
        file.seek(info.header_offset)
        local = file.read(_LOCAL_HEADER.size)
        signature, *lengths = _LOCAL_HEADER.unpack(local)
        if signature != _LOCAL_SIGNATURE:
            raise FormatError(path, "the header of a file in a zip", kind_of(local), where)
        file.seek(sum(lengths), os.SEEK_CUR)
        dtype, shape, fortran = _header(path, where, file, info.file_size)
        return _map(path, dtype, shape, fortran, file.tell())
    with archive.open(info) as packed:
        dtype, shape, fortran = _header(path, where, packed, info.file_size)
        size = math.prod(shape) * dtype.itemsize
        content = read_up_to(packed, size)
        packed.read(1)  # reading to the end verifies the checksum
    if len(content) != size:
        raise FormatError(path, f"{size} bytes of numbers", str(len(content)), where)
    return _placed(path, content, dtype, shape, fortran)


@contextlib.contextmanager
def _damage_as_format_error(path: StrPath) -> Iterator[None]:
    """Convert errors of zipfile and zlib about damaged data to a FormatError."""
    try:
        yield
    except FormatError:
        raise
    except Exception as error:  # zipfile, zlib, lzma and struct raise about twenty kinds
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # not about the contents; EINVAL is a position before the beginning
        found = f"damage: {error or 'it ends early'}"
        raise FormatError(path, "an undamaged zip file", found) from None
