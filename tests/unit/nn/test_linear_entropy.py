"""Linear cross-entropy of some rows at a time: the same numbers in less memory."""

import tracemalloc

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.nn import functional as F

IGNORED = -100


def inputs(rows=10, features=3, classes=7, dtype=tn.float64):
    generator = tn.Generator().manual_seed(0)
    how = {"generator": generator, "dtype": dtype, "requires_grad": True}
    x, w, b = (tn.randn(*s, **how) for s in ((rows, features), (classes, features), (classes,)))
    target = tn.randint(0, classes, (rows,), generator=generator)
    target[0] = IGNORED
    return x, w, b, target


def gradients(options, reduction, weight=None, dtype=tn.float64):
    x, w, b, target = inputs(dtype=dtype)
    how = {"linear_bias": b, "weight": weight, "reduction": reduction, "options": options}
    loss = F.linear_cross_entropy(x, w, target, **how)
    factors = tn.arange(1, 1 + loss.numel(), dtype=loss.dtype).reshape(loss.shape)
    return loss, *tn.autograd.grad((loss * factors).sum(), (x, w, b))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("rows", [1, 4, 10, 99])
def test_some_rows_at_a_time_give_the_same_numbers(rows, reduction, weighted):
    weight = tn.arange(1.0, 8.0, dtype=tn.float64) if weighted else None
    found = gradients(nn.LinearCrossEntropyOptions(batch_chunk_size=rows), reduction, weight)
    for ours, whole in zip(found, gradients(None, reduction, weight), strict=True):
        assert ours.shape == whole.shape and ours.dtype == whole.dtype
        assert tn.allclose(ours, whole, rtol=1e-12, atol=1e-12)


def test_the_loss_of_half_precision_is_summed_in_single():
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=1)
    x, w = tn.full((40, 1), 100.0, dtype=tn.half), tn.tensor([[-100.0], [100.0]], dtype=tn.half)
    target = tn.zeros(40, dtype=tn.long)
    loss = F.linear_cross_entropy(x, w, target, options=options)
    assert loss.dtype is tn.half and loss.item() == 20000  # their sum is more than float16 holds


def peak(options):
    """Return the memory that a step takes beyond what there was, in logits of the whole batch."""
    rows, features, classes = 512, 32, 2048
    x, w, b, target = inputs(rows, features, classes, tn.float32)
    tracemalloc.start()
    try:
        F.linear_cross_entropy(x, w, target, linear_bias=b, options=options).backward()
        return tracemalloc.get_traced_memory()[1] / (rows * classes * 4)
    finally:
        tracemalloc.stop()


def test_some_rows_at_a_time_take_less_memory():
    whole = peak(None)
    assert whole >= 2  # the logits, and their exponentials or gradients
    for how in {}, {"chunking_method": "aspect_ratio"}:
        assert peak(nn.LinearCrossEntropyOptions(**how)) < whole / 4


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, 4),  # 100 rows in ceil(2000 / 16) parts: 1 row
        ({"chunking_method": "aspect_ratio"}, 8),
        ({"chunking_method": "aspect_ratio:8"}, 1),
        ({"chunking_method": "aspect_ratio:999"}, 1),
        ({"chunking_method": None}, 100),
        ({"batch_chunk_size": 7}, 7),
        ({"batch_chunk_size": 700}, 100),
        ({"batch_chunk_size": 8, "chunking_method": "aspect_ratio"}, 8),
    ],
)
def test_how_many_rows(options, rows):
    assert nn.LinearCrossEntropyOptions(**options).rows(100, 16, 240, tn.float32) == rows


def test_two_numbers_of_rows_are_refused():
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=3, chunking_method="aspect_ratio")
    x, w, b, target = inputs()
    with pytest.raises(ValueError, match="give different chunk sizes"):
        F.linear_cross_entropy(x, w, target, linear_bias=b, options=options)


def test_where_options_do_not_apply():
    x, w, b, target = inputs()
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    with pytest.warns(UserWarning, match="``options`` ignored"):
        smoothed = F.linear_cross_entropy(x, w, target, label_smoothing=0.1, options=options)
    assert smoothed.item() == F.linear_cross_entropy(x, w, target, label_smoothing=0.1).item()
    one = F.linear_cross_entropy(x[1], w, target[1], options=options)
    assert one.item() == F.linear_cross_entropy(x[1], w, target[1]).item()


def test_gradients_of_gradients():
    def loss(x, w):
        options = nn.LinearCrossEntropyOptions(batch_chunk_size=2)
        return F.linear_cross_entropy(x, w, target, options=options)

    x, w, _, target = inputs(rows=4)
    assert tn.autograd.gradgradcheck(loss, (x, w))
