"""Reading files of ``torch.save`` (.pt, .pth), without PyTorch and without running any code.

A file is a zip archive with a pickle and one member per storage; up to PyTorch 1.5, it consists of
several pickles followed by the storages. ``opcodes.py`` reads the pickles; ``pickle_names.py``
lists the permitted names: those in a ``state_dict`` of a module, optimizer or scheduler.
"""

from __future__ import annotations

import io
import math
import sys
import zipfile
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from tinynet import dtypes
from tinynet.core.devices import require_cpu
from tinynet.dtypes import Array
from tinynet.exchange.files import (
    ExchangeError,
    StrPath,
    UnsafeError,
    check_sizes,
    described,
    name_of,
    opened,
    reason,
    write_to,
)
from tinynet.exchange.opcodes import Reader, RefusedError, RefusedNameError, brief, names_in
from tinynet.exchange.pickle_names import Storage, StorageType
from tinynet.exchange.pickler import Pickler, Place
from tinynet.exchange.safe_globals import Allowed, ObjectReader, imported
from tinynet.exchange.safetensors import warn_of_bfloat16
from tinynet.exchange.structure import blocks, of_bfloat16_bits

# ---- pytorch writer -----------------------------------------------------------------------------
# Writing files for ``torch.load``: a zip archive with a pickle and the bytes of storages.


_FOLDER = "archive"


def save_pytorch(obj: Any, f: StrPath | IO[bytes]) -> None:
    """Write state_dicts, modules or other objects to a file that ``torch.load`` reads.

    An existing file is replaced atomically. Tensors become PyTorch's, with their strides; those
    that share memory share it again. Objects are stored as in ``pickle``, by the import path of
    their class and their state. Modules, optimizers and functions that PyTorch has under the same
    name become PyTorch's; ``torch.load`` requires ``weights_only=False`` for them.

    Args:
        obj: any object that can be pickled.
        f: a path, or a file open for writing in binary mode.

    Raises:
        TypeError: a part of ``obj`` cannot be pickled; the message has its path within ``obj``.
        RuntimeError: tensors with different dtypes share memory.
        OSError: the file cannot be written; an existing file is unchanged.

    Example:
        >>> path = getfixture("tmp_path") / "model.pt"
        >>> model = nn.Linear(2, 1)
        >>> optimizer = optim.Adam(model.parameters())
        >>> state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        >>> tn.exchange.save_pytorch(state, path)

        and in PyTorch: ``model.load_state_dict(torch.load(path)["model"])``.
    """
    pickler = Pickler()
    pickler.put(obj, ())
    storages, places = _storages([t._array for t in pickler.tensors])
    data = pickler.finished(places)
    write_to(f, lambda file: _write(file, data, storages))


def _write(file: IO[bytes], pickle: bytes, storages: list[Array]) -> None:
    members: dict[str, Any] = {"data.pkl": pickle, "byteorder": b"little", "version": b"3\n"}
    members |= {f"data/{i}": array.view(np.uint8).data for i, array in enumerate(storages)}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            # A fixed date, so that equal contents give equal files.
            info = zipfile.ZipInfo(f"{_FOLDER}/{name}")
            with archive.open(info, "w", force_zip64=len(data) > 2**31) as member:
                member.write(data)


def _storages(arrays: list[Array]) -> tuple[list[Array], list[Place]]:
    """Return storages as one-dimensional arrays, and the position of each array in them."""
    storages: list[Array] = []
    places: dict[int, Place] = {}
    arrays = [a.copy() if any(n % a.itemsize for n in a.strides) else a for a in arrays]
    for block in blocks(arrays):
        kinds = {block.array.dtype, *(arrays[i].dtype for i, _ in block.members)}
        if len(kinds) > 1:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                f"types: {', '.join(sorted(map(str, kinds)))}"
            )
        array = block.array if block.array.flags.forc else block.array.copy("C")
        flat = array.ravel(order="K")
        for i, layout in block.members:
            offset, strides = (
                (0, array.strides) if layout is None else (layout.offset, layout.strides)
            )
            steps = tuple(n // array.itemsize for n in strides)
            places[i] = Place(len(storages), flat.size, offset // array.itemsize, steps)
        storages.append(flat)
    return storages, [places[i] for i in range(len(arrays))]


# ---- pytorch ------------------------------------------------------------------------------------


_EXPECTED = "a file written by torch.save with tensors and plain data"
_MAGIC = 0x1950A86A20F9469CFC6C  # the first number in files of PyTorch up to 1.5
_PROTOCOL = 1001
BFLOAT16 = dtypes.bfloat16.name


def load_pytorch(
    f: StrPath | IO[bytes],
    map_location: Any = "cpu",
    *,
    weights_only: bool = True,
    inflated: int = 2**30,
) -> Any:
    """Load a file of ``torch.save``, with tinynet's tensors and modules.

    With ``weights_only=True``, the file cannot run any code, whatever it contains: it may name
    PyTorch's functions that create tensors, data classes of Python and numpy, and what you passed
    to ``tinynet.serialization.add_safe_globals``. All tensors are loaded to the cpu; those that
    share memory share it again. Without the package ml_dtypes, bfloat16 is read as float32,
    exactly, with a warning.

    Args:
        f: a path, or a file open for reading in binary mode.
        map_location: only the cpu.
        weights_only: False also loads whole modules and objects of any class, as ``pickle`` does:
            the file may then import and call anything. PyTorch's modules become tinynet's of the
            same name; your own classes are found by their import paths.
        inflated: maximum number of bytes in a compressed file. PyTorch compresses nothing, and an
            uncompressed file may have any size.

    Raises:
        OSError: the file does not exist or cannot be read.
        UnsafeError: it names something that is not permitted.
        ExchangeError: it is damaged, holds more than ``inflated`` bytes, or contains something
            that tinynet does not have.
        ImportError, AttributeError: (with ``weights_only=False``) a class is no longer at its
            import path.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tn.exchange.save_pytorch({"w": tn.ones(2), "epoch": 3}, file)
        >>> tn.exchange.load_pytorch(file)
        {'w': tensor([1., 1.]), 'epoch': 3}
    """
    check_location(map_location)
    path = name_of(f)
    with opened(f) as file:
        head = file.read(16)
        file.seek(0)
        try:
            if head.startswith(b"PK"):
                with zipfile.ZipFile(file) as archive:
                    check_sizes(archive, path, inflated)
                    return _read_zip(archive, path, not weights_only)
            if head.startswith(b"\x80"):
                return _read_legacy(file, path, not weights_only)
        except (ExchangeError, MemoryError):
            raise
        except RefusedNameError as error:
            raise UnsafeError(path, _EXPECTED, str(error), error.name) from None
        except RefusedError as error:
            raise ExchangeError(path, _EXPECTED, str(error)) from None
        except Exception as error:  # damage may raise anything
            if not weights_only and not isinstance(error, _DAMAGE):
                raise  # raised by the classes called
            raise ExchangeError(path, _EXPECTED, f"damage ({reason(error)})") from error
    raise ExchangeError(path, _EXPECTED, described(head))


def get_unsafe_globals_in_checkpoint(f: StrPath | IO[bytes]) -> list[str]:
    """Return the names in a file that make ``load`` with ``weights_only=True`` refuse it.

    No code of the file is run. Names passed to ``add_safe_globals`` are left out.

    Args:
        f: a path, or a file open for reading in binary mode.

    Raises:
        OSError: the file does not exist or cannot be read.
        ValueError: it is not a file of ``save``.

    Example:
        >>> import io
        >>> tn.save(nn.Linear(2, 1), file := io.BytesIO())
        >>> tn.serialization.get_unsafe_globals_in_checkpoint(file)
        ['torch.nn.Linear']
    """
    with opened(f) as file:
        if not is_pytorch(file):
            if zipfile.is_zipfile(file):
                return []  # tinynet's own format contains no names
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        if file.read(2) == b"PK":
            with zipfile.ZipFile(file) as archive:
                inner = next(n for n in archive.namelist() if n.endswith("data.pkl"))
                names = set(names_in(io.BytesIO(archive.read(inner))))
        else:
            file.seek(0)
            _check_beginning(file, name_of(f))
            names = set(names_in(file))
    allowed = Allowed()
    return sorted(f"{module}.{name}" for module, name in names if not allowed.lists(module, name))


_DAMAGE = (zipfile.BadZipFile, ValueError, IndexError, KeyError, EOFError, NotImplementedError)


def check_location(map_location: Any) -> None:
    """Refuse devices other than the cpu; functions and dictionaries may map others to it.

    Raises:
        RuntimeError: it is a device other than the cpu.
    """
    if map_location is not None and not callable(map_location) and type(map_location) is not dict:
        require_cpu(map_location)


def default_restore_location(storage: Any, location: str) -> Any:
    """Return the storage for a location: ``map_location`` may be or call this function.

    Args:
        storage: returned unchanged.
        location: the name of a device in a file.

    Raises:
        RuntimeError: the location is a device other than the cpu.

    Example:
        >>> tn.serialization.default_restore_location("a storage", "cpu")
        'a storage'
    """
    require_cpu(location)
    return storage


def is_pytorch(file: IO[bytes]) -> bool:
    """Return whether a file looks like one of ``torch.save``; rewinds it."""
    head = file.read(4)
    file.seek(0)
    if not head.startswith(b"PK"):
        return head.startswith(b"\x80")
    try:
        with zipfile.ZipFile(file) as archive:
            found = any(name.endswith("data.pkl") for name in archive.namelist())
    except Exception:  # damage may raise anything
        found = False
    file.seek(0)
    return found


class _Storages:
    """The storages that a pickle refers to, each read once.

    Args:
        memory: returns the elements of a storage by key, dtype and count.
        trusted: the pickle may name anything.
    """

    def __init__(self, memory: Callable[[str, str, int], Array], trusted: bool):
        self._memory = memory
        self._trusted = trusted
        self._known: dict[str, tuple[Storage, str]] = {}

    def unpickle(self, file: IO[bytes]) -> Any:
        """Return the data of a pickle."""
        find = imported if self._trusted else Allowed()
        return ObjectReader(self.get, find, self._trusted).read(file)

    def get(self, reference: Any) -> Any:
        """Return the storage that a pickle refers to (or the class of a module, in old files)."""
        if reference[0] == "module":
            return reference[1]
        word, kind, key, _location, count, *view = reference
        if word != "storage" or not isinstance(kind, StorageType) or not isinstance(key, str):
            raise RefusedError(f"the persistent id {brief(reference)}")
        if type(count) is not int or count < 0:
            raise RefusedError(f"a storage of {brief(count)} elements")
        if key not in self._known:
            self._known[key] = Storage(self._memory(key, kind.name, count)), kind.name
        storage, dtype = self._known[key]
        if dtype != kind.name:
            raise RefusedError(f"the storage {key!r} as {dtype} and as {kind.name}")
        if view and view[0] is not None:  # a view of another storage, in old files
            _key, start, length = view[0]
            return storage.part(start, length)
        return storage

    def warn(self, path: str) -> None:
        """Warn about storages read in another dtype than the file has."""
        count = sum(dtype == BFLOAT16 for _, dtype in self._known.values())
        warn_of_bfloat16(path, count, "storage(s)")


def _empty(dtype: str, count: int) -> Array:
    made = np.empty(count, _stored(dtype))
    return of_bfloat16_bits(made) if dtype == BFLOAT16 else made


def _fill(array: Array, data: bytes, dtype: str, order: str) -> None:
    """Write the bytes of a file to an array."""
    values = np.frombuffer(data, _stored(dtype))
    if order != sys.byteorder:
        values = values.byteswap()
    array[...] = of_bfloat16_bits(values) if dtype == BFLOAT16 else values


def _stored(dtype: str) -> np.dtype[Any]:
    return np.dtype(np.uint16 if dtype == BFLOAT16 else dtype)


# ---- a zip archive: PyTorch 1.6 and later -------------------------------------------------------


def _read_zip(archive: zipfile.ZipFile, path: str, trusted: bool) -> Any:
    names = set(archive.namelist())
    pickles = [name for name in names if name.rpartition("/")[2] == "data.pkl"]
    if len(pickles) != 1:
        listed = ", ".join(map(repr, sorted(names)[:3]))
        raise ExchangeError(path, "a zip archive with one data.pkl", f"one with {listed}")
    folder = pickles[0].removesuffix("data.pkl")
    if f"{folder}constants.pkl" in names:
        raise ExchangeError(path, _EXPECTED, "a TorchScript program: store its state_dict()")
    order = "little"
    if f"{folder}byteorder" in names:
        order = archive.read(f"{folder}byteorder").decode()
        if order not in ("little", "big"):
            raise ExchangeError(path, "'little' or 'big'", repr(order), f"{folder}byteorder")

    def memory(key: str, dtype: str, count: int) -> Array:
        name = f"{folder}data/{key}"
        if name not in names:
            raise ExchangeError(path, f"the member {name}", "none")
        size, found = count * _stored(dtype).itemsize, archive.getinfo(name).file_size
        if size != found:
            raise ExchangeError(path, f"{size} bytes ({count} of {dtype})", str(found), name)
        array = _empty(dtype, count)
        _fill(array, archive.read(name), dtype, order)
        return array

    storages = _Storages(memory, trusted)
    data = storages.unpickle(io.BytesIO(archive.read(pickles[0])))
    storages.warn(path)
    return data


# ---- pickles, then bytes: up to PyTorch 1.5, and later on request -------------------------------


def _check_beginning(file: IO[bytes], path: str) -> None:
    """Read the pickles that all files begin with."""
    try:
        magic = Reader().read(file)
    except RefusedError as error:
        found = f"a pickle that torch.save did not write, with {error}"
        raise ExchangeError(path, _EXPECTED, found) from None
    if magic != _MAGIC:
        found = f"a pickle of {brief(magic)}, not written by torch.save"
        raise ExchangeError(path, _EXPECTED, found)
    protocol, system = Reader().read(file), Reader().read(file)
    if protocol != _PROTOCOL or not system["little_endian"]:
        found = f"version {brief(protocol)} of {brief(system)}"
        raise ExchangeError(path, f"version {_PROTOCOL}, written little-endian", found)


def _read_legacy(file: IO[bytes], path: str, trusted: bool) -> Any:
    _check_beginning(file, path)
    place = file.tell()
    left = file.seek(0, 2) - place
    file.seek(place)
    arrays: dict[str, tuple[Array, str]] = {}

    def memory(key: str, dtype: str, count: int) -> Array:
        nonlocal left
        left -= count * _stored(dtype).itemsize
        if left < 0:
            raise ExchangeError(path, f"storage {key!r} of {count} {dtype}", "the end of the file")
        arrays[key] = _empty(dtype, count), dtype
        return arrays[key][0]

    storages = _Storages(memory, trusted)
    data = storages.unpickle(file)
    keys = Reader().read(file)
    texts = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    if not texts or sorted(keys) != sorted(arrays):
        raise ExchangeError(path, f"storages {sorted(arrays)!r:.200}", brief(keys))
    for key in keys:
        array, dtype = arrays[key]
        count = int.from_bytes(file.read(8), "little")
        raw = file.read(math.prod(array.shape) * _stored(dtype).itemsize)
        if count != array.size or len(raw) != count * _stored(dtype).itemsize:
            found = f"{count}, and {len(raw)} bytes"
            raise ExchangeError(path, f"{array.size} elements of {dtype}", found, f"storage {key}")
        _fill(array, raw, dtype, "little")
    storages.warn(path)
    return data
