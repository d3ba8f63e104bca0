import pytest

from tinynet.capture import compiled
from tinynet.kernels.llvm import store


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """The native functions of the tests do not go to the user's folder."""
    path = tmp_path_factory.mktemp("native")
    path.chmod(0o700)
    before, store.folder = store.folder, lambda: path
    yield path
    store.folder = before


@pytest.fixture(autouse=True)
def _captures(fast_captures):
    """All tests here capture."""


@pytest.fixture(autouse=True)
def native_forms(monkeypatch):
    """Programs keep their native form, however much time it takes."""
    monkeypatch.setattr(compiled, "fastest", lambda entry, tensors: entry)
