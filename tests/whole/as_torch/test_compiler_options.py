"""Options of PyTorch's compiler, which programs set at their start."""

import pytest

from tinynet.compat import paths
from tinynet.compat.utilities import options


@pytest.mark.parametrize("path", ["torch._dynamo.config", "torch._inductor.config"])
def test_options_are_set_and_read(path):
    (home,) = paths.homes_of(path)
    assert home is options
    with home.patch({"suppress_errors": True}, max_autotune=True), home.patch("verbose", True):
        assert home.suppress_errors and home.max_autotune and home.verbose
    assert not (home.suppress_errors or home.max_autotune or home.verbose)
    home.triton.unique_kernel_names = True
    with pytest.raises(KeyError, match="no_such_option"):
        home.patch(no_such_option=1).__enter__()


def test_the_exceptions_can_be_caught():
    (home,) = paths.homes_of("torch._dynamo.exc")
    with pytest.raises(home.TorchDynamoException, match="a reason"):
        raise home.Unsupported("a reason")
    assert issubclass(home.TorchDynamoException, RuntimeError)
    (tools,) = paths.homes_of("torch._dynamo.utils")
    with tools.disable_cache_limit():
        pass
