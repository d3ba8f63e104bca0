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


@pytest.mark.parametrize(
    ("name", "make"),
    [("nn.Container", lambda: nn.Container(a=nn.ReLU())), ("NLLLoss2d", lambda: nn.NLLLoss2d())],
)
def test_classes_that_have_become_others(name, make):
    with pytest.warns(FutureWarning, match=f"^`{name}`") as caught:
        made = make()
    assert len(caught) == 1 and caught[0].filename == __file__
    assert isinstance(made, (nn.NLLLoss, nn.Container))


def test_a_container_holds_its_modules_by_name():
    with pytest.warns(FutureWarning):
        held = nn.Container(first=nn.Linear(2, 3), second=nn.ReLU())
    assert [*held._modules] == ["first", "second"] and isinstance(held.first, nn.Linear)
