import pytest

import tinynet as tn


@pytest.fixture
def compiled():
    """The kernels of LLVM, for one test."""
    if not tn.backends.llvm.is_available():
        pytest.skip("needs llvmlite: pip install llvmlite")
    tn.backends.llvm.enabled = True
    yield
    tn.backends.llvm.enabled = False
