"""Pickles of PyTorch's tensors, which `pickle` wrote, not `torch.save`."""

import pickle
from pathlib import Path

import tinynet as tn
from tests.unit.exchange import test_fixtures
from tinynet.compat import paths

FILES = Path(test_fixtures.__file__).parent / "files"


class Reader(pickle.Unpickler):
    """Reads a pickle with `torch` as `tinynet.as_torch` gives it."""

    def find_class(self, module, name):
        if module.partition(".")[0] != "torch":
            return super().find_class(module, name)
        homes = paths.homes_of(module)
        return next(getattr(home, name) for home in homes if hasattr(home, name))


def test_pickles_have_what_saved_files_have():
    with open(FILES / "pickled.pkl", "rb") as file:
        found = Reader(file).load()
    saved = tn.load(FILES / "shared.pt", weights_only=False)
    assert list(found) == list(saved)
    for name, value in saved.items():
        if isinstance(value, tn.Tensor):
            assert type(found[name]) is type(value) and tn.equal(found[name], value), name
            assert found[name].stride() == value.stride(), name
            assert found[name].requires_grad == value.requires_grad, name
        elif name != "state":
            assert found[name] == value, name
    assert all(tn.equal(found["state"][k], v) for k, v in saved["state"].items())
