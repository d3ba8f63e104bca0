"""Old names that programs for PyTorch still use, with its warnings."""

import pytest

import tinynet as tn
from tinynet import nn

NAMES = "uniform normal eye dirac orthogonal xavier_uniform xavier_normal kaiming_uniform".split()


@pytest.mark.parametrize("name", [*NAMES, "kaiming_normal", "constant", "sparse"])
def test_initialisation_without_the_underscore(name):
    arguments = {"constant": (0.5,), "sparse": (0.5,)}.get(name, ())
    shape = (2, 2, 3) if name == "dirac" else (2, 3)
    tn.manual_seed(0)
    expected = getattr(nn.init, f"{name}_")(tn.empty(shape), *arguments)
    tn.manual_seed(0)
    with pytest.warns(FutureWarning) as caught:
        made = getattr(nn.init, name)(tn.empty(shape), *arguments)
    text = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."
    assert [str(w.message) for w in caught] == [text] and caught[0].filename == __file__
    assert tn.equal(made, expected)
