import pytest

import tinynet as tn


@pytest.fixture
def compiled():
    """The kernels of numba, for one test."""
    if not tn.backends.numba.is_available():
        pytest.skip('needs numba: pip install "tinynet[numba]"')
    tn.backends.numba.enabled = True
    yield
    tn.backends.numba.enabled = False


@pytest.fixture
def threads():
    """Sets the number of threads, which is set back."""
    before = tn.get_num_threads()
    yield tn.set_num_threads
    tn.set_num_threads(before)
