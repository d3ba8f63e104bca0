"""Writing files for ``torch.load``: a zip archive with a pickle and the bytes of storages."""

from __future__ import annotations

import zipfile
from typing import IO, Any

import numpy as np

from tinynet.dtypes import Array
from tinynet.exchange.files import StrPath, write_to
from tinynet.exchange.memory import blocks
from tinynet.exchange.pickler import Pickler, Place

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
