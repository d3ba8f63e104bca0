import pytest

from tinynet.dtypes import extension_dtypes

collect_ignore = ["record.py"]  # it imports PyTorch; the doctest collector would, too


@pytest.fixture
def without_ml_dtypes(monkeypatch):
    def missing():
        raise ImportError(extension_dtypes.missing())

    monkeypatch.setattr(extension_dtypes, "bfloat16", missing)
