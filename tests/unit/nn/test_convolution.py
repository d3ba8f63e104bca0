"""What the tables cannot say of convolutions: blocks, layouts, texts that PyTorch varies."""

import itertools
import math

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn
from tinynet.nn import functional as F
from tinynet.nn.functional.convolution import (
    bands,
    by_rows,
    convolution_ops,
    depthwise,
)
from tinynet.nn.functional.convolution import (
    im2col as sliding,
)
from tinynet.nn.functional.convolution.im2col import each_block
from tinynet.nn.functional.geometry import Geometry


def by_definition(x, walk):
    """The windows of an array, element by element."""
    shape = (x.shape[1], *walk.kernel, x.shape[0], *walk.out)
    made, dims = np.zeros(shape), range(len(walk.kernel))
    for k in itertools.product(*map(range, walk.kernel)):
        for o in itertools.product(*map(range, walk.out)):
            place = [
                walk.stride[a] * o[a] + walk.dilation[a] * k[a] - walk.padding[a] for a in dims
            ]
            if all(0 <= p < n for p, n in zip(place, x.shape[2:], strict=True)):
                made[(slice(None), *k, slice(None), *o)] = x[(..., *place)].T
    return made.reshape(x.shape[1] * np.prod(walk.kernel), x.shape[0], -1)


@pytest.mark.parametrize("block", [64, 500, 5000, 1 << 21])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("few", [0, 1 << 20])
def test_windows_are_those_of_the_definition_in_blocks_of_any_size(dims, block, few, monkeypatch):
    monkeypatch.setattr(sliding, "BLOCK", block)
    monkeypatch.setattr(sliding, "FEW", few)
    random = np.random.RandomState(dims)
    for _ in range(30):
        limits = (1, 4), (1, 4), (-1, 4), (1, 4), (1, 6)
        walk = Geometry(*(tuple(random.randint(*limit, dims).tolist()) for limit in limits))
        x = random.standard_normal((random.randint(1, 5), random.randint(1, 4), *(5, 6, 3)[:dims]))
        made = np.full((x.shape[1] * np.prod(walk.kernel), len(x), np.prod(walk.out)), np.nan)

        def write(part, span, found, _, made=made):
            made[:, part, span] = found

        each_block(write, x, walk, np.empty(0))
        np.testing.assert_array_equal(made, by_definition(x, walk))


@pytest.mark.parametrize("block", [64, 1000])
def test_blocks_change_nothing(block, monkeypatch):
    def results():
        random = np.random.RandomState(0)
        for stride, groups in itertools.product((1, 2, 3), (1, 2)):
            shapes = (3, 4, 9, 8), (6, 4 // groups, 3, 2)
            leaves = [tn.tensor(random.standard_normal(s)).requires_grad_() for s in shapes]
            y = F.conv2d(*leaves, stride=stride, padding=1, groups=groups)
            yield y
            yield from tn.autograd.grad((y * y).sum(), leaves)

    expected = list(results())
    monkeypatch.setattr(sliding, "BLOCK", block)
    monkeypatch.setattr(sliding, "FEW", 0)  # otherwise all windows are one block
    convolution_ops._spreading.cache_clear()
    for found, wanted in zip(results(), expected, strict=True):
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), atol=1e-12)
    convolution_ops._spreading.cache_clear()


@pytest.mark.parametrize(
    "stride, kernel, channels", [(1, 5, (6, 16)), (2, 3, (3, 16)), (3, 2, (8, 2))]
)
def test_all_ways_of_the_transposed_convolution_agree(stride, kernel, channels):
    random = np.random.RandomState(0)
    inner, outer = channels
    for size in (7, 40):  # short and long rows are added in different orders
        walk = Geometry((kernel, kernel), (stride, stride), (1, 1), (1, 1), (size, size))
        whole = ((size - 1) * stride + kernel - 2,) * 2
        y = random.standard_normal((3, outer, size, size))
        weight, bias = (
            random.standard_normal((outer, inner, kernel, kernel)),
            np.arange(inner * 1.0),
        )
        one, *others = (
            way(y, weight, bias, whole, walk, 1)
            for way in (
                convolution_ops._spread_by_adding,
                convolution_ops._spread_by_classes,
                convolution_ops._spread_apart,
            )
        )
        for other in others:
            np.testing.assert_allclose(one, other, atol=1e-11)


def test_an_image_without_channels_gives_the_bias():
    x = tn.zeros(2, 0, 3, 3).requires_grad_()
    y = F.conv2d(x, tn.zeros(2, 0, 1, 1), tn.tensor([1.0, 2.0]))
    assert y.shape == (2, 2, 3, 3) and y.mean((0, 2, 3)).tolist() == [1, 2]
    y.sum().backward()
    assert x.grad.shape == x.shape


def test_float16_is_summed_in_float32():
    """4,096 times 1: in float16, where the next number after 2,048 is 2,050, the sum would stop."""
    x, w = (
        tn.ones(*s, dtype=tn.float16).requires_grad_() for s in ((1, 4096, 1, 1), (2, 4096, 1, 1))
    )
    y = F.conv2d(x, w)
    assert y.dtype is tn.float16 and y.flatten().tolist() == [4096, 4096]
    y.sum().backward()
    assert x.grad.dtype is w.grad.dtype is tn.float16 and x.grad.mean().item() == 2
    x = tn.ones(4, 1, 32, 32, dtype=tn.float16)
    w = tn.ones(1, 1, 1, 1, dtype=tn.float16).requires_grad_()
    F.conv2d(x, w).sum().backward()
    assert w.grad.item() == 4096


def test_zeros_around_the_input_stay_zeros_beside_infinities():
    x = tn.full((1, 1, 3, 3), float("inf"))
    x[0, 0, 1, 1] = 1.0
    found = F.unfold(x, 3, padding=1)[0, :, 0].tolist()
    assert found[:4] == [0, 0, 0, 0] and found[6] == 0


def test_results_are_contiguous():
    for y in (
        F.conv2d(tn.ones(2, 3, 5, 5), tn.ones(4, 3, 3, 3), padding=1),
        F.conv_transpose2d(tn.ones(2, 3, 5, 5), tn.ones(3, 4, 3, 3), stride=2, padding=1),
        F.fold(tn.ones(2, 12, 20), (4, 5), 2, padding=(1, 0)),
        F.unfold(tn.ones(2, 3, 5, 5), 2, padding=1),
    ):
        assert y.is_contiguous()


def test_gradients_are_contiguous():
    for channels in (3, 40):  # 40: a product per row
        conv = nn.Conv2d(channels, channels, 3, padding=1)
        conv(tn.ones(2, channels, 8, 8)).sum().backward()
        assert conv.weight.grad.is_contiguous() and conv.bias.grad.is_contiguous()


def test_unknown_padding():
    with pytest.raises(ValueError, match=r"Invalid padding string 'full', should be one of \{"):
        nn.Conv2d(1, 1, 1, padding="full")
    with pytest.raises(ValueError, match="but got padding_mode='mirror'"):
        nn.Conv2d(1, 1, 1, padding_mode="mirror")


@pytest.mark.parametrize("option", ["stride", "padding", "dilation"])
def test_options_are_whole_numbers(option):
    with pytest.raises(TypeError, match=f"argument '{option}' must be tuple of ints, not float"):
        F.conv2d(tn.ones(1, 1, 3, 3), tn.ones(1, 1, 1, 1), **{option: 1.5})
    with pytest.raises(
        TypeError, match=r"conv2d\(\): argument 'input' \(position 1\) must be Tensor"
    ):
        F.conv2d([1.0], tn.ones(1, 1, 1, 1))


# ---- forms of convolutions ----------------------------------------------------------------------

BANDS = {
    "fives": (Geometry((5, 5), (1, 1), (0, 0), (1, 1), (10, 10)), (14, 14)),
    "rest": (Geometry((5, 6), (1, 1), (2, 1), (1, 1), (7, 13)), (7, 16)),
    "same": (Geometry((2, 4), (1, 1), (0, 1), (1, 1), (5, 8)), (5, 8)),
    "short": (Geometry((5, 3), (1, 1), (4, 2), (1, 1), (5, 3)), (1, 1)),
    "apart": (Geometry((3, 4), (2, 3), (1, 2), (3, 2), (6, 7)), (15, 22)),
}


@pytest.mark.parametrize("block", [1, 1 << 21])
@pytest.mark.parametrize("name", BANDS)
def test_neighbouring_results_together_are_the_same(name, block, monkeypatch):
    walk, size = BANDS[name]
    random = np.random.RandomState(0)
    x = random.standard_normal((5, 2, *size))
    weight, bias = random.standard_normal((4, 1, *walk.kernel)), np.arange(4.0)
    convolve = convolution_ops.convolve_biased.kernel
    alone = [  # each channel is a group, and has two results
        convolve(x[:, [i]], weight[2 * i : 2 * i + 2], bias[2 * i : 2 * i + 2], walk, 1)
        for i in range(2)
    ]
    monkeypatch.setattr(sliding, "BLOCK", block)
    found = bands.convolved(x, weight, bias, walk, x.shape[1])
    np.testing.assert_allclose(found, np.concatenate(alone, 1), atol=1e-12)


@pytest.mark.parametrize(("block", "deep"), [(1, 1), (4000, 1000), (1 << 21, 1)])
@pytest.mark.parametrize(
    ("walk", "size"),
    [
        (Geometry((5, 5), (1, 1), (2, 2), (1, 1), (10, 10)), (10, 10)),
        (Geometry((3, 4), (1, 3), (1, 2), (3, 2), (20, 7)), (24, 22)),
        (Geometry((3, 2), (1, 1), (-2, -1), (1, 1), (5, 6)), (9, 9)),
        (Geometry((5, 3), (1, 1), (4, 2), (1, 1), (5, 3)), (1, 1)),
        (Geometry((1, 3), (2, 1), (0, 1), (1, 1), (4, 40)), (7, 40)),
        (Geometry((5,), (2,), (3,), (3,), (90,)), (186,)),
        (Geometry((3,), (1,), (1,), (1,), (200,)), (200,)),
        (Geometry((3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), (6, 5, 18)), (6, 5, 18)),
        (Geometry((2, 4, 3), (3, 2, 1), (1, 2, 1), (2, 3, 2), (3, 2, 7)), (8, 8, 9)),
        (Geometry((1, 3, 2), (1, 2, 2), (0, 1, 0), (1, 1, 1), (3, 4, 4)), (3, 8, 8)),
    ],
    ids=str,
)
def test_products_with_rows_of_windows_are_the_same(walk, size, block, deep, monkeypatch):
    monkeypatch.setattr(by_rows, "BLOCK", block)  # an image in several parts, or in one
    monkeypatch.setattr(by_rows, "_DEEP", deep)  # products are added for columns, or these copied
    monkeypatch.setattr(by_rows, "_TOGETHER", block)
    by_rows._plan.cache_clear()
    random = np.random.RandomState(0)
    for batch in (1, 5, 40):
        x, y = (random.standard_normal((batch, 4, *s)) for s in (size, walk.out))
        weight, bias = random.standard_normal((6, 2, *walk.kernel)), np.arange(6.0)
        y = np.concatenate([y, y[:, :2]], axis=1)
        found = by_rows.convolved(x, weight, bias, walk, 2)
        windows = by_definition(x, walk).reshape(2, -1, batch, math.prod(walk.out))
        product = np.einsum("gok,gkbp->bgop", weight.reshape(2, 3, -1), windows)
        expected = product.reshape(found.shape) + bias.reshape(-1, *[1] * len(size))
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert found.flags.c_contiguous
        found = by_rows.correlated(x, y, walk, 2)
        expected = np.einsum("gkbp,bgop->gok", windows, y.reshape(batch, 2, 3, -1))
        np.testing.assert_allclose(found, expected.reshape(weight.shape), atol=1e-11)
    by_rows._plan.cache_clear()


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("kernel", "padding", "dilation"), [(3, 1, 1), (2, 0, 1), (3, 2, 2), (5, 4, 1)], ids=str
)
def test_few_results_are_sums_of_products(kernel, padding, dilation, groups, monkeypatch):
    """Windows slide over the results, or over the input: both give the same."""
    random = np.random.RandomState(0)
    x = tn.tensor(random.standard_normal((2, 40, 9, 8)), requires_grad=True)
    shape = 2 * groups, 40 // groups, kernel, kernel
    weight, bias = (
        tn.tensor(random.standard_normal(s), requires_grad=True) for s in (shape, shape[0])
    )
    results = []
    for _ in range(2):
        y = F.conv2d(x, weight, bias, 1, padding, dilation, groups)
        results.append([y, *tn.autograd.grad((y * y).sum(), (x, weight, bias))])
        monkeypatch.setattr(convolution_ops, "_mirrored", lambda *_: None)
    for found, expected in zip(*results, strict=True):
        a, b = found.detach().numpy(), expected.detach().numpy()
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize(
    "shape", [(3, 6, 2, 2), (3, 6, 5, 4), (1, 6, 7), (0, 6, 4), (2, 6, 1, 2, 3)]
)
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("block", [1, 1 << 21])
def test_kernels_of_one_element_are_products(shape, groups, block, monkeypatch):
    monkeypatch.setattr(sliding, "BLOCK", block)
    random = np.random.RandomState(0)
    ones = (1,) * (len(shape) - 2)
    x = tn.tensor(random.standard_normal(shape), requires_grad=True)
    weight = tn.tensor(random.standard_normal((9, 6 // groups, *ones)), requires_grad=True)
    bias = tn.tensor(random.standard_normal(9), requires_grad=True)
    y = getattr(F, f"conv{len(ones)}d")(x, weight, bias, groups=groups)
    g = tn.tensor(random.standard_normal(y.shape))
    found = tn.autograd.grad(y, (x, weight), g)
    back = getattr(F, f"conv_transpose{len(ones)}d")(g, weight, groups=groups)
    length = math.prod(shape[2:])
    parts = x.detach().reshape(shape[0], groups, 6 // groups, length)
    matrix, slopes = (
        weight.detach().reshape(groups, 9 // groups, -1),
        g.reshape(shape[0], groups, 9 // groups, length),
    )
    expected = [
        tn.einsum("goc,bgcl->bgol", matrix, parts).reshape(y.shape) + bias.reshape(-1, *ones),
        tn.einsum("goc,bgol->bgcl", matrix, slopes).reshape(shape),
        tn.einsum("bgcl,bgol->goc", parts, slopes).reshape(weight.shape),
    ]
    for result, value in zip((y, *found), expected, strict=True):
        np.testing.assert_allclose(
            result.detach().numpy(), value.detach().numpy(), rtol=1e-12, atol=1e-12
        )
    np.testing.assert_array_equal(back.detach().numpy(), found[0].numpy())


@pytest.mark.parametrize(("stride", "kernel", "dilation"), [(1, 9, 1), (2, 5, 1), (3, 7, 2)])
def test_channels_alone_in_one_dimension_are_rows_of_images(stride, kernel, dilation):
    random = np.random.RandomState(0)
    x, weight = (tn.tensor(random.randn(*s)) for s in ((4, 3, 80), (3, 1, kernel)))
    leaves = x.requires_grad_(), weight.requires_grad_()
    y = F.conv1d(x, weight, None, stride, 2, dilation, groups=3)
    expected = [
        F.conv1d(x[:, [i]], weight[[i]], None, stride, 2, dilation).flatten(1) for i in range(3)
    ]
    expected = tn.stack(expected, 1)
    g = tn.tensor(random.randn(*y.shape))
    pairs = zip(tn.autograd.grad(y, leaves, g), tn.autograd.grad(expected, leaves, g), strict=True)
    for found, right in [(y, expected), *pairs]:
        assert found.is_contiguous()
        np.testing.assert_allclose(found.detach().numpy(), right.detach().numpy(), atol=1e-12)


@pytest.mark.parametrize("part", [1, depthwise.PART])
@pytest.mark.parametrize(
    ("walk", "size"),
    [
        (Geometry((5,), (1,), (2,), (1,), (70,)), (70,)),
        (Geometry((3,), (2,), (1,), (3,), (4,)), (12,)),
        (Geometry((3, 3), (1, 1), (1, 1), (1, 1), (20, 16)), (20, 16)),
        (Geometry((5, 4), (2, 1), (2, 1), (1, 2), (4, 3)), (8, 7)),
        (Geometry((2, 3, 2), (2, 1, 2), (0, 1, 1), (1, 1, 1), (2, 3, 2)), (4, 3, 3)),
    ],
    ids=["one", "apart", "rows", "strided", "three"],
)
def test_products_of_channels_alone_are_the_same(walk, size, part, monkeypatch):
    monkeypatch.setattr(depthwise, "PART", part)
    random = np.random.RandomState(0)
    batch = 3 * math.prod(size)
    x, y = (random.standard_normal((batch, 3, *s)) for s in (size, walk.out))
    weight, bias = random.standard_normal((3, 1, *walk.kernel)), np.arange(3.0)
    assert depthwise.pays(x.shape, walk, 3)
    convolve = convolution_ops.convolve_biased.kernel
    correlate = convolution_ops.correlate.kernel
    alone = [slice(c, c + 1) for c in range(3)]
    expected = [convolve(x[:, c], weight[c], bias[c], walk, 1) for c in alone]
    found = depthwise.convolved(x, weight, bias, walk, 3)
    np.testing.assert_allclose(found, np.concatenate(expected, 1), atol=1e-12)
    expected = [correlate(x[:, c], y[:, c], walk, 1) for c in alone]
    found = depthwise.correlated(x, y, walk)
    np.testing.assert_allclose(found, np.concatenate(expected), atol=1e-10)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("where", ["input", "weight", "gradient"])
def test_what_is_not_finite_stays_where_it_is_seen(where, value):
    """Channels alone and a large kernel: many results are computed together, but not then."""
    arrays = {"input": np.ones((2, 4, 12, 12)), "weight": np.ones((4, 1, 5, 5))}
    arrays["gradient"] = np.ones((2, 4, 8, 8))
    walk = Geometry((5, 5), (1, 1), (0, 0), (1, 1), (8, 8))
    assert bands.pays(arrays["input"].shape, 1, walk)
    arrays[where][1, -1, 4, 4] = value
    x, weight = (tn.tensor(arrays[name]).requires_grad_() for name in ("input", "weight"))
    y = F.conv2d(x, weight, groups=4)
    y.backward(tn.tensor(arrays["gradient"]))
    broken = [int((~t.isfinite()).sum()) for t in (y, x.grad, weight.grad)]
    seen = {"input": [25, 0, 25], "weight": [2 * 64, 2 * 64, 0], "gradient": [0, 25, 25]}
    assert broken == seen[where]


@pytest.mark.parametrize(
    ("channels", "stride", "kernel", "size"),
    [(32, 1, 3, 16), (32, 2, 3, 16), (3, 1, 5, 24), (8, 1, 3, 20), (8, 1, 3, 32)],
    ids=["rows", "strided", "classes", "columns", "wide"],
)
def test_the_number_of_threads(channels, stride, kernel, size):
    """It changes no bit."""
    random = np.random.RandomState(0)
    outputs = 16 if channels < 32 else 32
    shapes = (32, channels, size, size), (outputs, channels, kernel, kernel)
    arrays = [random.standard_normal(s).astype("f") for s in shapes]

    def run():
        leaves = [tn.tensor(a).requires_grad_() for a in arrays]
        y = F.conv2d(*leaves, stride=stride, padding=1)
        results = [y.detach(), *tn.autograd.grad((y * y).sum(), leaves)]
        return [t.numpy() for t in results]

    before = tn.get_num_threads()
    try:
        tn.set_num_threads(1)
        alone = run()
        tn.set_num_threads(3)
        for found, one in zip(run(), alone, strict=True):
            np.testing.assert_array_equal(found, one)
    finally:
        tn.set_num_threads(before)
