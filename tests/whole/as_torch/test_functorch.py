"""``functorch``, as programs older than ``torch.func`` use it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.func import functorch

ROOT = Path(__file__).parents[3]
WARNS = pytest.warns(FutureWarning, match="is deprecated as of PyTorch 2.0")


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


def test_a_module_is_a_function_of_its_parameters():
    model, x = Tied(), tn.randn(3, 2)
    with WARNS:
        function, params = functorch.make_functional(model)
    assert function.param_names == ("first.weight", "first.bias", "second.bias")
    assert params[0] is not model.first.weight and all(p.requires_grad for p in params)
    assert tn.equal(function(params, x), model(x))
    with WARNS:
        gradients = functorch.grad(lambda given: function(given, x).sum())(params)
    model(x).sum().backward()
    for gradient, parameter in zip(gradients, model.parameters(), strict=True):
        assert tn.equal(gradient, parameter.grad)
    assert all(p.grad is None for p in params)


def test_parameters_without_gradients():
    with WARNS:
        _, params = functorch.make_functional(nn.Linear(2, 1), disable_autograd_tracking=True)
    assert not any(p.requires_grad for p in params)


def test_buffers_are_arguments_and_are_updated():
    model = nn.BatchNorm1d(2)
    with WARNS:
        function, params, buffers = functorch.make_functional_with_buffers(model)
    function(params, buffers, tn.randn(4, 2))
    assert buffers[2].item() == 1 and model.num_batches_tracked.item() == 0
    message = "`model` has buffers. Please use make_functional_with_buffers"
    with WARNS, pytest.raises(RuntimeError, match=message):
        functorch.make_functional(model)


def test_an_ensemble_runs_in_one_call():
    models = [nn.Linear(2, 3, dtype=tn.float64) for _ in range(4)]
    x = tn.randn(5, 2, dtype=tn.float64)
    with WARNS:
        function, params, buffers = functorch.combine_state_for_ensemble(models)
    assert [p.shape for p in params] == [(4, 3, 2), (4, 3)] and buffers == ()
    assert not any(p.requires_grad for p in params)
    with WARNS:
        results = functorch.vmap(function, in_dims=(0, 0, None))(params, buffers, x)
    for result, model in zip(results, models, strict=True):
        np.testing.assert_allclose(result, model(x).detach(), rtol=1e-12)


@pytest.mark.parametrize(
    "models, message",
    [
        ([], "at least one model, got 0"),
        ([nn.Linear(1, 1), nn.ReLU()], "all models to be of the same class"),
        ([nn.Linear(1, 1), nn.Linear(1, 1).eval()], "to have the same training/eval mode"),
    ],
)
def test_ensembles_that_are_refused(models, message):
    with WARNS, pytest.raises(RuntimeError, match=message):
        functorch.combine_state_for_ensemble(models)


def test_programs_import_it_as_pytorch_s():
    program = (
        "import tinynet.as_torch\n"
        "from functorch import make_functional, vmap\n"
        "import torch\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "print(vmap(torch.sin)(torch.zeros(2)).tolist())"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[0.0, 0.0]\n"
