"""The switches of PyTorch's back ends: scripts set them, nothing here depends on them."""

from __future__ import annotations


class _Absent:
    """A back end that is not there. Its switches can be set, and change nothing.

    Attributes:
        enabled, benchmark, deterministic, allow_tf32: as scripts set them.
    """

    enabled = False
    benchmark = False
    deterministic = True
    allow_tf32 = False

    def is_available(self) -> bool:
        """Return False."""
        return False

    def is_built(self) -> bool:
        """Return False."""
        return False

    def version(self) -> None:
        """Return None."""
        return None


class _Cuda(_Absent):
    matmul = _Absent()


cudnn = _Absent()
mps = _Absent()
mkldnn = _Absent()
cuda = _Cuda()
