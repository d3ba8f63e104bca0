"""The models that tinynet.train brings along."""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, near
from tinynet import nn
from tinynet.data import DataLoader, TensorDataset
from tinynet.train import load_config
from tinynet.train.cli import main
from tinynet.train.models import VAE, VAELoss, cnn
from tinynet.train.models.feedforward import Decoded
from tinynet.train.step.task import InputsAsTargets


def test_a_cnn_has_the_layers_that_its_arguments_say():
    net = cnn([3, 20, 12], [4, 8], classes=5, hidden=[16], convolutions=2, dropout=0.1)
    kinds = [type(module).__name__ for module in net]
    stage = ["Conv2d", "BatchNorm2d", "ReLU"] * 2 + ["MaxPool2d"]
    assert kinds == [*stage * 2, "Flatten", "Dropout", "Linear", "ReLU", "Dropout", "Linear"]
    assert net(tn.zeros(2, 3, 20, 12)).shape == (2, 5)
    widths = [m.out_channels for m in net if isinstance(m, nn.Conv2d)]
    assert widths == [4, 4, 8, 8]


@pytest.mark.parametrize(
    "image, channels, message",
    [
        ([28, 28], [8], r"must be channels, height and width. Got \[28, 28\]"),
        ([1, 8, 8], [8] * 4, "4 stages, each of which halves the image: too many for 8x8 pixels"),
    ],
)
def test_a_cnn_that_cannot_be(image, channels, message):
    with pytest.raises(ValueError, match=message):
        cnn(image, channels, classes=2)


def test_the_loss_of_a_vae_is_the_bound_of_the_paper():
    """The divergence in closed form against the mean of what it is defined by, over many draws."""
    tn.manual_seed(0)
    mean, log_variance = tn.tensor([[0.7, -1.2]]), tn.tensor([[-0.5, 0.3]])
    images = tn.tensor([[0.2, 1.0, 0.0]])
    decoded = Decoded(tn.tensor([[0.3, 0.9, 0.5]]), mean, log_variance)
    pixels = -sum(
        t * np.log(p) + (1 - t) * np.log(1 - p) for t, p in ((0.2, 0.3), (1.0, 0.9), (0.0, 0.5))
    )
    deviation = (0.5 * log_variance).exp()
    noise = tn.randn(400_000, 2)
    code = mean + deviation * noise
    log_ratio = -0.5 * noise.square() - deviation.log() + 0.5 * code.square()
    divergence = log_ratio.sum(1).mean().item()
    assert VAELoss()(decoded, images).item() == pytest.approx(pixels + divergence, abs=0.01)
    both = VAELoss(beta=3)(decoded, images).item()
    assert both == pytest.approx(pixels + 3 * divergence, abs=0.03)
    twice = Decoded(*[part.repeat(2, 1) for part in decoded])
    assert VAELoss()(twice, images.repeat(2, 1)).item() == near(
        VAELoss()(decoded, images).item(), 2 * STEPS
    )


def test_all_of_a_vae_is_trained_and_it_draws_codes():
    vae = VAE([1, 4, 4], latent=2, hidden=[8])
    images = tn.rand(6, 1, 4, 4)
    VAELoss()(vae(images), images).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in vae.parameters())
    assert not (vae(images).images == vae(images).images).all()
    tn.manual_seed(1)
    first = vae.samples(3)
    tn.manual_seed(1)
    assert (vae.samples(3) == first).all() and first.shape == (3, 1, 4, 4)
    assert 0 <= first.min() and first.max() <= 1


# ---- in configs ----


def test_inputs_as_targets():
    examples = InputsAsTargets(TensorDataset(tn.rand(5, 3), tn.arange(5)))
    inputs, targets = next(iter(DataLoader(examples, batch_size=4)))
    assert inputs.shape == (4, 3) and (inputs == targets).all()
    inputs.zero_()
    assert targets.abs().sum() > 0
    assert InputsAsTargets(["a", "b"]).__getitems__([1]) == [("b", "b")]
    assert len(examples) == 5 and (examples[2][0] == examples[2][1]).all()


def test_an_autoencoder_from_a_config(write, digits, capsys):
    path = write(
        digits.replace("batch_size = 57", 'batch_size = 57\ntargets = "inputs"\nflatten = true')
        .replace("[64, 16, 10]", "[64, 16, 64]")
        .replace("CrossEntropyLoss", "MSELoss")
    )
    assert load_config(path).data.targets == "inputs"
    assert main(["train", path, "--quiet", "epochs=1"]) == 0
    assert main(["check", path]) == 0
    assert "inputs [57, 64] tinynet.float32, targets [57, 64] tinynet.float32" in (
        capsys.readouterr().out
    )


def test_models_and_their_losses_are_listed(capsys):
    assert main(["list", "model"]) == 0
    models = capsys.readouterr().out
    assert "cnn(image, channels, classes" in models and "VAE(image, latent=8" in models
    assert "VAELoss" not in models
    assert main(["list", "loss"]) == 0
    assert "VAELoss(beta=1.0)" in capsys.readouterr().out
