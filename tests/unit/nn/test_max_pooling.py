"""Max pooling against its definition: ties, NaN, and what is left over."""

import itertools
import math

import numpy as np
import pytest

import tinynet as tn
from tinynet.nn import functional as F
from tinynet.nn.functional.pooling import maxima

SHAPES = [(3, 2, 4, 6), (2, 3, 5, 7), (1, 2, 3), (2, 1, 6, 2), (300, 2, 16, 16), (0, 2, 4, 4)]
VALUES = {
    "ties": (0.0, 1.0),
    "nan": (0.0, 1.0, math.nan),
    "infinite": (-math.inf, math.nan, math.inf, 2.0),
    "lowest": (-math.inf,),
}


def by_definition(x, g):
    """The maxima, their places in the plane, and the gradient, one window after the other."""
    *lead, height, width = (*x.shape[:-2], x.shape[-2] // 2, x.shape[-1] // 2)
    best, places = np.empty((*lead, height, width), x.dtype), np.zeros((*lead, height, width), int)
    back = np.zeros_like(x)
    for at in np.ndindex(*best.shape):
        *plane, row, column = at
        seen = [(2 * row + i, 2 * column + j) for i in range(2) for j in range(2)]
        wins = seen[0]
        for place in seen[1:]:
            value = x[(*plane, *place)]
            if value > x[(*plane, *wins)] or np.isnan(value):
                wins = place
        best[at], places[at] = x[(*plane, *wins)], wins[0] * x.shape[-1] + wins[1]
        back[(*plane, *wins)] = g[at]
    return best, places, back


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_halves(shape, values):
    random = np.random.RandomState(0)
    x = random.choice(np.array(VALUES[values], "f"), shape)
    g = random.choice(
        np.array([1, 2, np.nan, np.inf], "f"), (*shape[:-2], *(n // 2 for n in shape[-2:]))
    )
    best, places, back = by_definition(x, g)
    leaf = tn.tensor(x).requires_grad_()
    found = F.max_pool2d(leaf, 2)
    assert found.grad_fn.name() == "MaxPool2DWithIndicesBackward0"
    np.testing.assert_array_equal(found.detach().numpy(), best)
    np.testing.assert_array_equal(tn.autograd.grad(found, leaf, tn.tensor(g))[0].numpy(), back)
    with tn.no_grad():
        np.testing.assert_array_equal(F.max_pool2d(leaf, 2).numpy(), best)
    both = F.max_pool2d(leaf, 2, return_indices=True)
    np.testing.assert_array_equal(both[0].detach().numpy(), best)
    np.testing.assert_array_equal(both[1].numpy(), places)


def slowly(plane, spans):
    """The maxima of windows in one plane and their indices: the first of equals, the last NaN."""
    best, indices = [], []
    for span in spans:
        top = None
        for at in itertools.product(*span):
            if top is None or plane[at] > plane[top] or np.isnan(plane[at]):
                top = at
        best.append(plane[top])
        indices.append(np.ravel_multi_index(top, plane.shape))
    return best, indices


def sliding_spans(sizes, kernel, stride, padding, dilation):
    spans = []
    for n in sizes:
        count = (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
        starts = [i * stride - padding for i in range(count)]
        places = [[at + k * dilation for k in range(kernel)] for at in starts]
        spans.append([[at for at in one if 0 <= at < n] for one in places])
    return list(itertools.product(*spans))


def adaptive_spans(sizes, outputs):
    return list(
        itertools.product(
            *(
                [range(i * n // m, -((i + 1) * n // -m)) for i in range(m)]
                for n, m in zip(sizes, outputs, strict=True)
            )
        )
    )


@pytest.mark.parametrize("few", [0, math.inf], ids=["passes", "copies"])
@pytest.mark.parametrize("values", ["ties", "nan", "infinite"])
@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((6, 7), (3, 2, 1, 1)),
        ((6, 7), (3, 1, 1, 1)),
        ((6, 7), (2, 1, 0, 2)),
        ((8, 9), (3, 2, 1, 2)),
        ((5, 5), (5, 1, 2, 1)),
        ((4, 4), (2, 2, 0, 1)),
        ((5, 5), (2, 3, 1, 1)),
        ((3, 3), (3, 3, 1, 1)),
        ((4, 4), (4, 1, 0, 1)),
        ((5, 2), (2, 1, 0, 1)),
        ((4, 5, 6), (3, 2, 1, 1)),
        ((6, 7), 1),
        ((6, 7), 3),
        ((7, 7), 5),
        ((8, 6), 2),
        ((4, 5, 6), 3),
    ],
    ids=str,
)
def test_windows(sizes, options, values, few, monkeypatch):
    monkeypatch.setattr(maxima, "_FEW", few)
    random = np.random.RandomState(0)
    x = random.choice(np.array(VALUES[values], "f"), (2, 3, *sizes))
    rank = len(sizes)
    if isinstance(options, int):
        spans, arguments = adaptive_spans(sizes, (options,) * rank), (options,)
        pool = getattr(F, f"adaptive_max_pool{rank}d")
    else:
        spans, arguments = sliding_spans(sizes, *options), options
        pool = getattr(F, f"max_pool{rank}d")
    leaf = tn.tensor(x).requires_grad_()
    found, indices = pool(leaf, *arguments, return_indices=True)
    expected = [slowly(plane, spans) for plane in x.reshape(-1, *sizes)]
    planes = 6, len(spans)
    np.testing.assert_array_equal(indices.numpy().reshape(planes), [i for _, i in expected])
    np.testing.assert_array_equal(found.detach().numpy().reshape(planes), [v for v, _ in expected])
    with tn.no_grad():
        np.testing.assert_array_equal(pool(leaf, *arguments).numpy(), found.detach().numpy())
    g = random.randint(1, 9, found.shape).astype("f")
    back = np.zeros((6, math.prod(sizes)), "f")
    for plane, (_, at), slope in zip(back, expected, g.reshape(planes), strict=True):
        np.add.at(plane, at, slope)
    (gradient,) = tn.autograd.grad(pool(leaf, *arguments), leaf, tn.tensor(g))
    np.testing.assert_array_equal(gradient.numpy().reshape(back.shape), back)


@pytest.mark.parametrize("size", [3, 10_000, 300_000])
def test_relu_passes_gradients_as_they_are(size):
    """Not a product: what is not finite passes or not as all else; beside NaN it passes."""
    random = np.random.RandomState(0)
    x = random.choice(np.array([-1, 0, 1, np.nan, np.inf, -np.inf], "f"), size)
    g = random.choice(np.array([1, np.nan, np.inf], "f"), size)
    leaf = tn.tensor(x).requires_grad_()
    found = tn.autograd.grad(leaf.relu(), leaf, tn.tensor(g))[0]
    np.testing.assert_array_equal(found.numpy(), np.where(x <= 0, np.float32(0), g))


@pytest.mark.parametrize("size", [0, (0, 2), (2, 0)])
def test_adaptive_pooling_to_no_parts(size):
    rows, columns = size if size else (0, 0)
    found, indices = F.adaptive_max_pool2d(tn.ones(1, 3, 4, 5), size, return_indices=True)
    assert found.shape == indices.shape == (1, 3, rows, columns)


def test_windows_of_one_element():
    x = tn.rand(8, 32, 20, 20)
    values, indices = F.max_pool2d(x, 1, 1, return_indices=True)
    assert tn.equal(values, x)
    assert tn.equal(indices.flatten(2), tn.arange(400).expand(8, 32, 400))


@pytest.mark.parametrize("options", [(2, 2), (3, 2, 1), (3, 1, 0, 2), (2, 1), (1, 2)], ids=str)
@pytest.mark.parametrize("values", [*VALUES, "any"])
def test_images_with_the_channels_last_have_the_same_maxima(values, options):
    random = np.random.RandomState(0)
    shape = 6, 7, 20, 18  # of more elements than are copied
    array = random.choice(VALUES.get(values, random.standard_normal(99)), shape)
    rows = tn.tensor(array, requires_grad=True)
    last = tn.tensor(array).contiguous(memory_format=tn.channels_last).requires_grad_()
    results = []
    for x in (rows, last):
        best, indices = F.max_pool2d(x, *options, return_indices=True)
        alone = F.max_pool2d(x, *options)
        with tn.no_grad():
            plain = F.max_pool2d(x, *options)
        g = tn.arange(float(best.numel()), dtype=best.dtype).reshape(best.shape)
        slopes = [tn.autograd.grad(y, x, g)[0] for y in (best, alone)]
        results.append([best, alone, plain, indices, *slopes])
    for expected, found in zip(*results, strict=True):
        assert found.is_contiguous(memory_format=tn.channels_last)
        a, b = (t.detach().numpy() for t in (found, expected))
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("size", [4, 80])
@pytest.mark.parametrize("grad", [False, True])
def test_maxima_are_contiguous(size, grad):
    """Few windows are copied, many are parts of planes with other elements between them."""
    x = tn.ones(2, 3, size, size, requires_grad=grad)
    for kernel in (2, 3):
        assert F.max_pool2d(x, kernel, padding=1).is_contiguous()
        assert all(y.is_contiguous() for y in F.max_pool2d(x, kernel, return_indices=True))


@pytest.mark.parametrize("shape", [(0, 3, 4, 4), (2, 0, 3, 4, 4)])
def test_an_empty_batch(shape):
    x = tn.zeros(shape, requires_grad=True)
    if len(shape) == 4:
        for y in (F.avg_pool2d(x, 2), F.max_pool2d(x.detach(), 2), F.max_pool2d(x, 2)):
            assert y.shape == (0, 3, 2, 2)
    else:
        assert tn.vmap(lambda x: F.avg_pool2d(x, 2))(x).shape == (2, 0, 3, 2, 2)
