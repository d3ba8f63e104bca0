"""``save`` and ``load``: tinynet's own format for data, PyTorch's for other objects."""

from __future__ import annotations

from typing import IO, Any

from tinynet.exchange import npz
from tinynet.exchange.files import StrPath, name_of, opened, write_to
from tinynet.exchange.pytorch import check_location, is_pytorch, load_pytorch, save_pytorch
from tinynet.exchange.structure import Encoder, UnstorableError

DEFAULT_PROTOCOL = 2  # of pickle, in PyTorch


def save(
    obj: Any,
    f: StrPath | IO[bytes],
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write data, tensors or objects to a file, replacing an existing file atomically.

    Data is written to an .npz file without pickle: dicts, OrderedDicts, Counters, lists, tuples,
    numbers, strings, bytes, None, Tensors, Parameters, Buffers, numpy arrays and numbers, dtypes
    and Sizes, with any nesting. This covers the ``state_dict()`` of modules, optimizers,
    schedulers and loaders, and the state of generators. If ``obj`` contains anything else, such as
    a whole module, an ``argparse.Namespace`` or an instance of your own class, the file has
    PyTorch's format; see ``tinynet.exchange.save_pytorch``.

    Tensors that share memory are stored once and share it again after ``load``; an object that
    appears twice is loaded as one object. ``requires_grad`` is kept; gradients and history are
    not.

    Args:
        obj: the data.
        f: a path, or a file open for writing in binary mode.
        pickle_module: accepted for compatibility; without effect.
        pickle_protocol: accepted for compatibility; without effect.
        _use_new_zipfile_serialization: accepted for compatibility; without effect.

    Raises:
        TypeError: a part of ``obj`` cannot be pickled; the message has its path within ``obj``.
        OSError: the file cannot be written; an existing file is unchanged.

    Example:
        >>> path = getfixture("tmp_path") / "model.npz"
        >>> model = nn.Linear(2, 1)
        >>> tn.save({"epoch": 3, "model": model.state_dict()}, path)
        >>> state = tn.load(path)
        >>> model.load_state_dict(state["model"])
        <All keys matched successfully>
        >>> tn.save(model, path)
        >>> tn.load(path, weights_only=False)
        Linear(in_features=2, out_features=1, bias=True)
    """
    encoder = Encoder()
    try:
        content = encoder.encode(obj)
    except UnstorableError:
        save_pytorch(obj, f)
        return
    write_to(
        f,
        lambda file: npz.write_archive(file, npz.KIND, npz.STRUCTURE, content, encoder.arrays),
    )


def load(
    f: StrPath | IO[bytes],
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    inflated: int = 2**30,
    **pickle_load_args: Any,
) -> Any:
    """Load data written by ``save``: equal values of the same types, tensors as new leaves.

    Also reads checkpoints of ``tinynet train`` and files of ``torch.save``.

    Args:
        f: a path, or a file open for reading in binary mode, which is read from the beginning.
        map_location: only the cpu; functions and dictionaries may map other devices to it.
        pickle_module: accepted for compatibility; without effect.
        weights_only: False also loads whole modules and objects of any class, see
            ``tinynet.exchange.load_pytorch``: only for files that you trust. Otherwise a file
            cannot run any code.
        mmap: without effect: the whole file is read and its checksums are verified. Use
            ``tinynet.exchange.safe_open`` to read parts of large files.
        inflated: maximum number of bytes in a compressed file.
        **pickle_load_args: accepted for compatibility, such as ``encoding``; without effect.

    Raises:
        OSError: the file does not exist or cannot be read.
        UnsafeError: it contains an object of a class that is neither data nor allowed, see
            ``tinynet.serialization.add_safe_globals``.
        ExchangeError: it is damaged, of a newer format, or another kind of file; the message has
            the expected and the actual contents.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> tn.save([tn.ones(2), (1, None)], file)
        >>> tn.load(file)
        [tensor([1., 1.]), (1, None)]
    """
    check_location(map_location)
    with opened(f) as file:
        if is_pytorch(file):
            safe = weights_only is None or bool(weights_only)
            return load_pytorch(file, weights_only=safe, inflated=inflated)
        return npz.read_archive(file, name_of(f), npz.KINDS)
