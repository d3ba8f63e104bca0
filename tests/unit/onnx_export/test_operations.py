"""Every operation that has a form in ONNX, at several batch sizes."""

import importlib

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.unit.onnx_export.comparing import assert_same
from tinynet import nn
from tinynet.core.declaration.operation import REGISTRY
from tinynet.onnx.operations import FORMS, PUT_BACK

X = tn.arange(48, dtype=tn.float32).reshape(2, 4, 6).sin()
IMAGES = tn.arange(2 * 3 * 8 * 6, dtype=tn.float32).reshape(2, 3, 8, 6).cos()
TOKENS = tn.tensor([[1, 2, 0], [3, 4, 5]])

ELEMENTWISE = [
    "abs", "neg", "sign", "exp", "expm1", "exp2", "tanh", "sigmoid", "relu", "erf", "erfc", "floor",
    "ceil", "trunc", "frac", "round", "sin", "cos", "tan", "atan", "sinh", "cosh", "asinh",
    "square", "isnan", "isinf", "isfinite", "logical_not",
]  # fmt: skip
POSITIVE = ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"]
SMALL = ["asin", "acos", "atanh"]
ACTIVATIONS = [
    "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "mish", "hardtanh", "relu6", "hardswish",
    "hardsigmoid", "softplus", "softsign", "tanhshrink", "hardshrink", "softshrink", "logsigmoid",
]  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    assert_same(getattr(tn, name), X)


@pytest.mark.parametrize("name", POSITIVE)
def test_elementwise_of_positive_numbers(name):
    assert_same(lambda x: getattr(tn, name)(x.abs() + 0.5), X)


@pytest.mark.parametrize("name", SMALL)
def test_elementwise_of_small_numbers(name):
    assert_same(lambda x: getattr(tn, name)(x.tanh() * 0.9), X)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    assert_same(getattr(F, name), X)


BINARY = {
    "add": lambda x: x + x[:, :1],
    "numbers": lambda x: 2 * x + 1 - x / 3 - (1 - x) + 1 / (x + 9),
    "alpha": lambda x: tn.add(x, x, alpha=2),
    "integers": lambda x: x + tn.arange(6),
    "integers and numbers": lambda x: tn.arange(6) * 0.5 + x,
    "div": lambda x: x / (x * x + 1),
    "floor_divide": lambda x: (x * 9) // 2,
    "integers floor_divide": lambda x: (x * 9).long() // 2 + (x * 9).long() % 4,
    "trunc": lambda x: tn.div(x * 9, 2, rounding_mode="trunc"),
    "remainder": lambda x: (x * 9) % 2,
    "fmod": lambda x: tn.fmod(x * 9, 2),
    "pow": lambda x: (x**2, x.abs() ** 1.5, 2**x, (x.abs() + 1) ** x),
    "maximum": lambda x: (tn.maximum(x, -x), tn.minimum(x, x * 2)),
    "clamp": lambda x: (x.clamp(-0.5, 0.5), x.clamp(min=0.1), x.clamp_max(0.2)),
    "compare": lambda x: (x > 0, x >= 0.5, x < 0, x <= 0, x == x, x != x, x > x[:, :1]),
    "logic": lambda x: ((x > 0) & (x < 0.5), (x > 0) | (x < -0.5), ~(x > 0), (x > 0) ^ (x > 0.5)),
    "where": lambda x: (tn.where(x > 0, x, 0.0), x.masked_fill(x > 0, 9.0)),
    "lerp": lambda x: tn.lerp(x, x * 2, 0.3),
    "addcmul": lambda x: (tn.addcmul(x, x, x, value=0.5), tn.addcdiv(x, x, x + 9, value=2)),
    "nan_to_num": lambda x: ((x - x) / (x - x)).nan_to_num(1.0),
    "cast": lambda x: (x.long(), x.double(), x.bool(), x.int().float(), x.half()),
}


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic(name):
    assert_same(BINARY[name], X)


REDUCTIONS = {
    "sum": lambda x: (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.long().sum(-1)),
    "mean": lambda x: (x.mean(), x.mean(-1), x.mean((1, 2))),
    "prod": lambda x: (x.prod(1), x.prod()),
    "max": lambda x: (x.max(), x.max(1), x.amax((1, 2)), x.min(-1, keepdim=True), x.amin(0)),
    "argmax": lambda x: (x.argmax(1), x.argmin(-1), x.argmax(), x.argmax(2, keepdim=True)),
    "var": lambda x: (x.var(), x.var(1), x.std(-1), x.var((0, 1)), x.std(2, correction=0)),
    "var_mean": lambda x: (*tn.var_mean(x, 1), *tn.std_mean(x, -1)),
    "norm": lambda x: (x.norm(), x.norm(dim=1), x.norm(1, dim=-1), x.norm(3, dim=1)),
    "normalize": lambda x: F.normalize(x, dim=1),
    "logsumexp": lambda x: x.logsumexp(1),
    "any": lambda x: ((x > 0).any(), (x > 0).all(1), (x > 0.9).any(-1), x.count_nonzero(1)),
    "softmax": lambda x: (x.softmax(1), F.log_softmax(x, -1), F.softmin(x, 1)),
    "cumsum": lambda x: x.cumsum(1),
    "sort": lambda x: (*x.sort(1), *x.topk(2), x.argsort(1, descending=True), *x.kthvalue(2, 1)),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    assert_same(REDUCTIONS[name], X, batches=(2, 3, 4))


SHAPES = {
    "reshape": lambda x: (x.reshape(-1, 6), x.view(x.shape[0], -1), x.flatten(), x.reshape(2, -1)),
    "flatten": lambda x: (x.flatten(1), x.unflatten(2, (2, 3)), x.flatten(0, 1)),
    "transpose": lambda x: (x.transpose(0, 2), x.mT, x.permute(2, 0, 1), x[0].t(), x.movedim(0, 1)),
    "transpose and reshape": lambda x: x.transpose(0, 1).reshape(4, -1),
    "unsqueeze": lambda x: (x.unsqueeze(1), x[:, :1].squeeze(1), x[:, :1, :1].squeeze()),
    "expand": lambda x: (x[:, :1].expand(-1, 3, -1), x[:1].expand(5, 4, 6), x.expand(2, *x.shape)),
    "select": lambda x: (x[0], x[:, -1], x[:, 1:3], x[:, ::2], x[..., -2:], x[:, 1:, None, :3]),
    "split": lambda x: (*x.split(2, 1), *x.chunk(3, 2), *x.split([1, 3], 1), *x.unbind(1)),
    "cat": lambda x: (tn.cat([x, x * 2], 1), tn.cat([x, x]), tn.stack([x, x], -1)),
    "flip": lambda x: (x.flip(1), x.flip((0, 2)), x.roll(2, 1), x.roll((1, -1), (1, 2))),
    "repeat": lambda x: (x.repeat(1, 2, 1), x.repeat(2, 1, 1, 1), x.tile(2), x.repeat(3, 1, 1)),
    "tril": lambda x: (x.tril(), x.triu(1)),
    "unfold": lambda x: x.unfold(2, 3, 2),
    "clone": lambda x: (x.clone(), x.contiguous(), x.detach()),
    "sizes": lambda x: (x * x.shape[0], x / x.size(0), x.shape[0] - x, x.flatten(1).shape[1] * x),
    "creation": lambda x: (
        tn.zeros(x.shape[0], 2), tn.ones(x.shape[0] * 2), tn.full((x.shape[0],), 3.0),
        tn.arange(x.shape[0]), tn.arange(x.shape[0]).float(), tn.eye(3), x[:, 0] + tn.arange(6),
    ),
    "like": lambda x: (tn.zeros_like(x), tn.ones_like(x[:, 0]), tn.full_like(x, 2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    assert_same(SHAPES[name], X, batches=(2, 4, 6))


INDEXING = {
    "embedding": lambda t: F.embedding(t, tn.arange(12.0).reshape(6, 2)),
    "index": lambda t: (tn.arange(6.0)[t], tn.eye(6)[t, t], tn.eye(6)[:, t[0]]),
    "index_select": lambda t: t.index_select(1, tn.tensor([2, 0])),
    "gather": lambda t: tn.arange(6.0).expand(t.shape[0], 6).gather(1, t),
    "scatter": lambda t: tn.zeros(t.shape[0], 6).scatter(1, t, 2.0),
    "scatter_add": lambda t: tn.zeros(t.shape[0], 6).scatter_add(1, t, t.float()),
    "one_hot": lambda t: F.one_hot(t, 6),
}


@pytest.mark.parametrize("name", INDEXING)
def test_indexing(name):
    assert_same(INDEXING[name], TOKENS)


PRODUCTS = {
    "matmul": lambda x: (x @ x.mT, x @ tn.ones(6), x[0] @ x[0].T, x @ tn.ones(6, 2)),
    "of several dimensions": lambda x: x[:, None] @ x.mT[:, None],
    "einsum": lambda x: tn.einsum("bij,bkj->bik", x, x),
    "linear": lambda x: F.linear(x, tn.ones(3, 6), tn.arange(3.0)),
    "dot": lambda x: (x[0, 0].dot(x[0, 1]), x[0].mv(x[0, 0])),
    "addmm": lambda x: tn.addmm(x[0, :, :4], x[0], x[0].T, beta=0.5),
    "baddbmm": lambda x: tn.baddbmm(x[:, :, :4], x, x.mT, alpha=2),
    "outer": lambda x: tn.outer(x[0, 0], x[0, 1]),
    "bilinear": lambda x: F.bilinear(x, x, tn.ones(2, 6, 6)),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.flip(1), dim=-1),
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    assert_same(PRODUCTS[name], X)


WRITES = {
    "add_": lambda x: x.clone().add_(1),
    "mul_": lambda x: (x * 2).mul_(x).sub_(1).div_(2).clamp_(0, 1),
    "relu_": lambda x: F.relu(x * 2, inplace=True),
    "masked_fill_": lambda x: x.clone().masked_fill_(x > 0, 3.0),
    "zero_": lambda x: (x + 1).zero_(),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_in_place(name):
    assert_same(WRITES[name], X)


def test_writes_to_views():
    def compute(x):
        y = x * 2
        first, flat = y[:, 0], y.view(-1)
        y[:, 1] = 1.0
        y[:, 2:] += 5
        y.mT[:, 0] *= 3
        flat.mul_(2)
        y[0] = 7
        return y, first, flat

    assert_same(compute, X)


LAYERS = {
    "Linear": (lambda: nn.Linear(6, 3), X),
    "Linear without bias": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(24, 2, False)), X),
    "LayerNorm": (lambda: nn.LayerNorm(6), X),
    "LayerNorm of two": (lambda: nn.LayerNorm((4, 6), elementwise_affine=False), X),
    "LayerNorm without bias": (lambda: nn.LayerNorm(6, bias=False), X),
    "RMSNorm": (lambda: nn.RMSNorm(6), X),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), X),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3, affine=False), IMAGES),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), X),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(3, affine=True), IMAGES),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(4, track_running_stats=True), X),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), IMAGES),
    "Dropout": (lambda: nn.Sequential(nn.Dropout(0.5), nn.Dropout1d(), nn.AlphaDropout()), X),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, padding=1, groups=2), X),
    "Conv2d": (lambda: nn.Conv2d(3, 5, 3, stride=2, padding=1, dilation=2), IMAGES),
    "Conv2d same": (lambda: nn.Conv2d(3, 5, 4, padding="same", bias=False), IMAGES),
    "Conv2d reflect": (lambda: nn.Conv2d(3, 5, 3, padding=1, padding_mode="reflect"), IMAGES),
    "Conv2d circular": (lambda: nn.Conv2d(3, 5, 3, padding=1, padding_mode="circular"), IMAGES),
    "Conv3d": (lambda: nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv3d(1, 2, 3)), IMAGES),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 2, 3, stride=2, output_padding=1), X),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1), IMAGES),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), X),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, stride=2, padding=1), IMAGES),
    "MaxPool2d ceil": (lambda: nn.MaxPool2d(3, stride=2, ceil_mode=True), IMAGES),
    "AvgPool1d": (lambda: nn.AvgPool1d(2), X),
    "AvgPool2d": (lambda: nn.AvgPool2d(3, stride=2, padding=1), IMAGES),
    "AvgPool2d ceil": (
        lambda: nn.AvgPool2d(3, 2, padding=1, ceil_mode=True, count_include_pad=False), IMAGES,
    ),
    "AvgPool2d divisor": (lambda: nn.AvgPool2d(2, divisor_override=3), IMAGES),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((3, 4)), IMAGES),
    "AdaptiveAvgPool2d 1": (lambda: nn.AdaptiveAvgPool2d(1), IMAGES),
    "AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(4), X),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d((4, 2)), IMAGES),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), IMAGES),
    "ZeroPad2d": (lambda: nn.ZeroPad2d((1, 0, -1, 2)), IMAGES),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d(2), IMAGES),
    "Upsample nearest": (lambda: nn.Upsample(scale_factor=2), IMAGES),
    "Upsample bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), IMAGES),
    "Upsample aligned": (
        lambda: nn.Upsample((5, 9), mode="bilinear", align_corners=True), IMAGES,
    ),
    "Upsample bicubic": (lambda: nn.Upsample((13, 9), mode="bicubic"), IMAGES),
    "PixelShuffle": (lambda: nn.Sequential(nn.Conv2d(3, 8, 1), nn.PixelShuffle(2)), IMAGES),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), IMAGES),
    "ChannelShuffle": (lambda: nn.Sequential(nn.Conv2d(3, 4, 1), nn.ChannelShuffle(2)), IMAGES),
    "PReLU": (lambda: nn.PReLU(4), X),
    "GLU": (lambda: nn.GLU(1), X),
    "Threshold": (lambda: nn.Threshold(0.1, -3.0), X),
    "ReLU inplace": (lambda: nn.Sequential(nn.Linear(6, 6), nn.ReLU(inplace=True)), X),
    "GELU tanh": (lambda: nn.GELU("tanh"), X),
    "Embedding": (lambda: nn.Embedding(6, 3, padding_idx=0), TOKENS),
    "Embedding max_norm": (lambda: nn.Embedding(6, 3, max_norm=0.5), TOKENS),
    "LSTM": (lambda: nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True), X),
    "LSTM proj": (lambda: nn.LSTM(6, 5, proj_size=3, batch_first=True), X),
    "GRU": (lambda: nn.GRU(6, 5, batch_first=True, bidirectional=True), X),
    "RNN": (lambda: nn.RNN(6, 5, nonlinearity="relu", batch_first=True, bias=False), X),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(6, 2, 8, batch_first=True), X),
    "TransformerEncoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(6, 2, 8, batch_first=True, activation="gelu"), 2
        ), X,
    ),
    "weight_norm": (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)), X),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    tn.manual_seed(0)
    make, example = LAYERS[name]
    assert_same(make(), example)


def test_attention_of_three_inputs():
    tn.manual_seed(0)
    model = nn.MultiheadAttention(6, 2, batch_first=True)
    assert_same(model, X, X, X)


def test_a_cell_and_its_states():
    tn.manual_seed(0)
    for model in (nn.GRUCell(6, 5), nn.RNNCell(6, 5)):
        assert_same(model, X[:, 0], tn.zeros(2, 5))


def test_attention_with_masks():
    causal = tn.ones(4, 4).tril().bool()
    bias = tn.zeros(4, 4).masked_fill(~causal, -np.inf)
    none = causal.clone()
    none[1] = False

    def compute(x):
        attend = F.scaled_dot_product_attention
        return (
            attend(x, x, x, is_causal=True), attend(x, x, x, causal), attend(x, x, x, none),
            attend(x, x, x, bias), attend(x, x, x, x[:, :, :4] > 0),
        )  # fmt: skip

    assert_same(compute, X)


LOSSES = {
    "cross_entropy": lambda x, t: F.cross_entropy(x.flatten(0, 1), t.flatten()),
    "nll_loss": lambda x, t: F.nll_loss(x.log_softmax(2).mT, t, reduction="none"),
    "mse_loss": lambda x, t: F.mse_loss(x, t[..., None].expand(x.shape).float()),
    "l1_loss": lambda x, t: F.l1_loss(x[..., 0], t.float()),
    "binary": lambda x, t: F.binary_cross_entropy(x[..., 0].sigmoid(), (t > 2).float()),
    "logits": lambda x, t: F.binary_cross_entropy_with_logits(x[..., 0], (t > 2).float()),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    assert_same(LOSSES[name], X[:, :3], TOKENS)


def test_the_tables_name_what_exists():
    for name in FORMS:
        module, _, function = name.partition(":")
        assert (
            hasattr(importlib.import_module(f"tinynet.{module}"), function)
            if function
            else (name in REGISTRY)
        ), name
    assert {name for name in PUT_BACK if REGISTRY[name].kind == "view"} == {*PUT_BACK}
