"""The models of all shipped configs: the same answers in onnxruntime."""

from pathlib import Path

import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tests.unit.onnx_export.comparing import ROUNDINGS, assert_same, running
from tinynet.train.assemble.build import build_model
from tinynet.train.config.resolve import load_config

ROOT = Path(__file__).parents[3]
CONFIGS = sorted([*ROOT.glob("configs/*.toml"), *ROOT.glob("examples/*/*.toml")])
EXAMPLES = {
    "breast_cancer": lambda: tn.rand(5, 30),
    "clothes": lambda: tn.rand(5, 1, 28, 28),
    "digits_cnn": lambda: tn.rand(5, 1, 8, 8),
    "digits_gan": lambda: tn.rand(5, 1, 8, 8),
    "digits_mlp": lambda: tn.rand(5, 1, 8, 8),
    "digits_vae": lambda: tn.rand(5, 1, 8, 8),
    "fashion_cnn": lambda: tn.rand(5, 1, 28, 28),
    "fashion_mlp": lambda: tn.rand(5, 1, 28, 28),
    "parity": lambda: tn.rand(5, 1, 8, 8),
    "residual": lambda: tn.rand(5, 64),
    "spiral": lambda: tn.rand(5, 2),
    "text_gpt": lambda: tn.randint(0, 100, (5, 64)),
    "text_lstm": lambda: tn.randint(0, 100, (5, 64)),
    "words_skipgram": lambda: tn.randint(0, 3000, (5, 6)),
}


def model_of(name):
    """The model of a config, with numbers in place of zeros."""
    tn.manual_seed(0)
    model = build_model(load_config(next(path for path in CONFIGS if path.stem == name)))
    with tn.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.uniform_(-0.1, 0.1)
        for buffer in model.buffers():
            if buffer.is_floating_point():
                buffer.uniform_(0.5, 1.5)
    return model


@pytest.mark.parametrize("name", [path.stem for path in CONFIGS])
def test_the_answers_are_the_same(name):
    model, example = model_of(name), EXAMPLES[name]()
    if name == "digits_vae":
        with tn.no_grad():  # no variance, so that the code is its mean whatever noise is drawn
            model.encoder[-1].bias[model.latent :] = -1000.0
    assert_same(model, example, batches=(1, 3, 5, 7))


def test_the_generator():
    assert_same(model_of("digits_gan").generator, tn.randn(5, 32), batches=(1, 3, 7))


def test_a_language_model_takes_texts_of_any_length():
    for name in ("text_gpt", "text_lstm"):
        model, axes = model_of(name), {"tokens": {0: "batch", 1: "time"}}
        program = assert_same(model, EXAMPLES[name](), dynamic_axes=axes)
        tokens = tn.randint(0, 100, (3, 17))
        (found,) = running(program)(tokens.numpy())
        with tn.no_grad():
            assert_near(found, model.eval()(tokens).double().numpy(), ROUNDINGS)
