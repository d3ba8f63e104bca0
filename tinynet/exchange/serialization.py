"""``save`` and ``load``: tinynet's own format for data, PyTorch's for objects of any class."""

from __future__ import annotations

from typing import IO, Any

from tinynet.exchange import npz
from tinynet.exchange.files import StrPath, name_of, opened, write_to
from tinynet.exchange.pytorch import check_location, is_pytorch, load_pytorch
from tinynet.exchange.pytorch_writer import save_pytorch
from tinynet.exchange.structure import Encoder, UnstorableError


def save(
    obj: Any,
    f: StrPath | IO[bytes],
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write data, tensors or objects to a file; until it is complete, an old one stays.

    Data go to an .npz file, without pickle: dicts, OrderedDicts, Counters, lists, tuples, numbers,
    strings, bytes, None, Tensors, Parameters, Buffers, numpy arrays and numbers, dtypes and Sizes,
    nested in any way. That is what the ``state_dict()`` of a module, optimizer, scheduler or loader
    and a generator's state consist of. Where there is anything else, such as a whole module, an
    ``argparse.Namespace`` or an object of your own class, the file is one of PyTorch's, see
    ``tinynet.exchange.save_pytorch``.

    Tensors that share memory are stored once and share it again after ``load``; one object that
    stands in two places is one object again. ``requires_grad`` is kept, gradients and history are
    not.

    Args:
        obj: the data.
        f: a path, or a file open for writing in binary mode.
        pickle_module: changes nothing; there for PyTorch's signature, as the next two.
        pickle_protocol: see above.
        _use_new_zipfile_serialization: see above.

    Raises:
        TypeError: something in ``obj`` cannot be pickled; the message has its path inside.
        OSError: the file cannot be written; an old one is as it was.

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
    """Return what ``save`` was given: equal values of the same types, tensors as new leaves.

    Checkpoints of ``tinynet train`` and files of ``torch.save`` are read, too.

    Args:
        f: a path, or a file open for reading in binary mode, which is read from its beginning.
        map_location: only the cpu; what functions and dictionaries say of other places is taken
            for it.
        pickle_module: changes nothing; there for PyTorch's signature.
        weights_only: False also reads whole modules and objects of any class, see
            ``tinynet.exchange.load_pytorch``: only for files that you trust. Otherwise a file
            cannot run anything.
        mmap: changes nothing: all is read, and compared with its checksums.
            ``tinynet.exchange.safe_open`` reads parts of large files.
        inflated: the most bytes that a compressed file may hold.
        **pickle_load_args: change nothing, such as ``encoding``; there for PyTorch's signature.

    Raises:
        OSError: there is no such file, or it may not be read.
        UnsafeError: there is an object in it of a class that is not data and not allowed, see
            ``tinynet.serialization.add_safe_globals``.
        ExchangeError: it is damaged, of a newer format, or something else; says what was expected
            and found.

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
