"""There is no GPU here: what PyTorch scripts ask of ``torch.cuda``, with the answer "none"."""

from __future__ import annotations

from typing import Any


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


def is_initialized() -> bool:
    """Return False.

    Example:
        >>> tn.cuda.is_initialized()
        False
    """
    return False


def manual_seed(seed: int) -> None:
    """Do nothing: there is no generator of a GPU. ``tinynet.manual_seed`` seeds the CPU's.

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
    """Do nothing: there is no cache of a GPU's memory.

    Example:
        >>> tn.cuda.empty_cache()
    """


def synchronize(device: Any = None) -> None:
    """Do nothing: everything is finished when it returns.

    Example:
        >>> tn.cuda.synchronize()
    """


def current_device() -> int:
    """Refuse: there is none.

    Raises:
        RuntimeError: always.

    Example:
        >>> tn.cuda.current_device()
        Traceback (most recent call last):
        RuntimeError: tinynet runs on the CPU: there is no current GPU
    """
    raise RuntimeError("tinynet runs on the CPU: there is no current GPU")
