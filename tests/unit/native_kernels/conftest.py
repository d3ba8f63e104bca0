import pytest

import tinynet as tn


@pytest.fixture
def compiled():
    """The kernels of numba, for one test."""
    if not tn.backends.numba.is_available():
        pytest.skip("needs numba: pip install numba")
    tn.backends.numba.enabled = True
    yield
    tn.backends.numba.enabled = False
