import pytest

from tinynet.dtypes import extension_dtypes


@pytest.fixture
def without_ml_dtypes(monkeypatch):
    def missing():
        raise ImportError(extension_dtypes.missing())

    monkeypatch.setattr(extension_dtypes, "bfloat16", missing)
