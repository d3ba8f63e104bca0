"""No program leaves hooks of all modules to the tests after it: some empty PyTorch's tables."""

import pytest

from tinynet import nn
from tinynet.nn.base.hooks import ModuleHooks, everywhere


@pytest.fixture(autouse=True)
def no_global_hooks_stay():
    yield
    for stage in ModuleHooks.__slots__:
        getattr(everywhere, stage).clear()
    nn.Module._hooks = None
