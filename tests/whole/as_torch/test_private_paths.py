"""Names that programs import from PyTorch's private modules."""

import pytest

from tinynet.compat import paths


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("torch", "_disable_dynamo"),
        ("torch.utils._foreach_utils", "_foreach_supported_types"),
        ("torch.utils._foreach_utils", "_get_foreach_kernels_supported_devices"),
    ],
)
def test_they_are_there(path, name):
    assert any(hasattr(home, name) for home in paths.homes_of(path))


def test_a_function_without_dynamo_runs():
    (disable,) = (home._disable_dynamo for home in paths.homes_of("torch")[:1])
    assert disable(abs)(-2) == 2 and disable(recursive=False)(abs)(-3) == 3
