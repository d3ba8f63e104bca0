import pytest

import tinynet as tn
from tinynet.numba_kernels import sharing
from tinynet.ops.products import gemm


@pytest.fixture
def threads():
    """Sets the number of threads, which is set back."""
    before = tn.get_num_threads()
    yield tn.set_num_threads
    tn.set_num_threads(before)


@pytest.fixture
def compiled(monkeypatch, threads):
    """The kernels of numba, for one test; two threads share also what is hardly worth it."""
    if not tn.backends.numba.is_available():
        pytest.skip("needs numba: pip install numba")
    for module, name, size in ((gemm, "_SHARED", 2**14),):
        monkeypatch.setattr(module, name, size)
    least = sharing.board[sharing.LEAST]
    sharing.board[sharing.LEAST] = 2**9
    threads(2)
    tn.backends.numba.enabled = True
    yield
    tn.backends.numba.enabled = False
    sharing.board[sharing.LEAST] = least
