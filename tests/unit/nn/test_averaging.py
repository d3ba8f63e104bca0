"""AveragedModel and update_bn: averages of weights, with PyTorch's numbers."""

import copy
import importlib

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn
from tinynet.optim import swa_utils
from tinynet.optim.swa_utils import AveragedModel, update_bn


def model(lib):
    made = lib.nn.Sequential(
        lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3), lib.nn.Linear(3, 1, bias=False)
    ).double()
    random = np.random.RandomState(0)
    with lib.no_grad():
        for p in made.parameters():
            p.copy_(lib.tensor(random.standard_normal(tuple(p.shape))))
    return made


OPTIONS = {
    "default": lambda swa: {},
    "buffers": lambda swa: {"use_buffers": True},
    "swa": lambda swa: {"avg_fn": swa.get_swa_avg_fn()},
    "swa multi": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "ema": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.7), "use_buffers": True},
    "ema multi": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.7)},
    "ema multi buffers": lambda swa: {
        "multi_avg_fn": swa.get_ema_multi_avg_fn(),
        "use_buffers": True,
    },
    "own": lambda swa: {"avg_fn": lambda average, value, count: average + value * count},
}


def averaged(lib, swa, label):
    """The state of an average of a model on its way, then with the statistics of some batches."""
    source = model(lib)
    average = swa.AveragedModel(source, **OPTIONS[label](swa))
    random = np.random.RandomState(1)
    for _ in range(5):
        source(lib.tensor(random.standard_normal((6, 2)))).sum().backward()
        with lib.no_grad():
            for p in source.parameters():
                p -= 0.1 * p.grad
        average.update_parameters(source)
    states = [{k: t.tolist() for k, t in average.state_dict().items()}]
    average.eval()
    batches = [lib.tensor(random.standard_normal((5, 2))) for _ in range(3)]
    swa.update_bn([(batch, None) for batch in batches], average)
    assert not average.training and average.module[1].momentum == 0.1
    out = average(batches[0])
    return [*states, {k: t.tolist() for k, t in average.state_dict().items()}, out.tolist()]


@pytest.mark.oracle
@pytest.mark.parametrize("label", OPTIONS)
def test_as_pytorch(label):
    torch = importlib.import_module("torch")
    theirs = averaged(torch, importlib.import_module("torch.optim.swa_utils"), label)
    ours = averaged(tn, swa_utils, label)
    for one, other in zip(ours[:2], theirs[:2], strict=True):
        assert list(one) == list(other)
        for key in other:
            np.testing.assert_allclose(one[key], other[key], rtol=1e-9, atol=1e-9, err_msg=key)
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-9, atol=1e-9)


def moved(average, values):
    source = nn.Linear(1, 1, bias=False)
    made = average(source)
    for value in values:
        source.weight.detach().fill_(value)
        made.update_parameters(source)
    return made.module.weight.item()


def test_the_average_of_all():
    assert moved(AveragedModel, (2.0, 4.0, 9.0)) == near(5)


def test_the_exponential_average():
    for name in ("avg_fn", "multi_avg_fn"):
        kind = swa_utils.get_ema_avg_fn if name == "avg_fn" else swa_utils.get_ema_multi_avg_fn
        found = moved(
            lambda source, n=name, k=kind: AveragedModel(source, **{n: k(0.5)}), (4.0, 8.0)
        )
        assert found == 6.0


def test_the_model_is_copied_and_its_gradients_do_not_reach_the_average():
    source = nn.Linear(2, 1)
    average = AveragedModel(source)
    assert average.module is not source and average.module.weight is not source.weight
    source(tn.ones(2)).sum().backward()
    assert average.module.weight.grad is None
    average.update_parameters(source)
    assert average.module.weight.requires_grad and average.module.weight.is_leaf


def test_an_average_is_a_module_that_can_be_saved_and_copied():
    source = nn.BatchNorm1d(2)
    average = AveragedModel(source)
    average.update_parameters(source)
    other = AveragedModel(nn.BatchNorm1d(2))
    other.load_state_dict(average.state_dict())
    assert other.n_averaged.item() == 1 and copy.deepcopy(other).n_averaged.item() == 1


def test_refused():
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn should be"):
        AveragedModel(nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max)
    for make in (swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="^Invalid decay value 1.5 provided. Please provide"):
            make(1.5)


def test_a_model_without_batch_normalisation_is_not_run():
    update_bn([tn.ones(1)], nn.Identity().eval())
    assert update_bn(iter([]), nn.Linear(1, 1)) is None
