"""tinynet.masked: elements that the mask leaves out change nothing; checked against the rest alone.

tests/answers/pytorch_tables compares values and gradients with PyTorch's.
"""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, near
from tinynet import masked

X = tn.tensor([[3.0, -1.0, 4.0, 2.0], [5.0, 9.0, -2.0, 6.0]])
MASK = tn.tensor([[True, False, True, True], [False, True, True, False]])
REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "amax": np.max,
    "amin": np.min,
    "mean": np.mean,
    "var": lambda kept: np.var(kept, ddof=1),
    "std": lambda kept: np.std(kept, ddof=1),
    "norm": lambda kept: np.sqrt(np.sum(kept**2)),
    "median": lambda kept: np.sort(kept)[(len(kept) - 1) // 2],
    "logsumexp": lambda kept: np.log(np.sum(np.exp(kept))),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_sees_what_the_mask_keeps(name):
    found = getattr(masked, name)(X, dim=1, mask=MASK).numpy()
    rows = zip(X.numpy(), MASK.numpy(), strict=True)
    expected = [REDUCTIONS[name](row[kept].astype(np.float64)) for row, kept in rows]
    assert found == near(expected)
    assert getattr(masked, name)(X, dim=1, keepdim=True, mask=MASK).shape == (2, 1)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "softmax", "log_softmax", "softmin"])
def test_a_function_along_a_dimension_sees_what_the_mask_keeps(name):
    found = getattr(masked, name)(X, 1, mask=MASK)
    alone = getattr(masked, name)
    for row, kept, values in zip(X, MASK, found, strict=True):
        expected = alone(row[kept], 0).numpy()
        assert values[kept].numpy() == near(expected, 2 * STEPS)


def test_nothing_kept_leaves_the_identity():
    nothing = tn.tensor([False, False])
    x = tn.tensor([1.0, 2.0])
    values = [getattr(masked, n)(x, mask=nothing).item() for n in ("sum", "prod", "amax", "amin")]
    assert values == [0, 1, -float("inf"), float("inf")]
    assert np.isnan(masked.mean(x, mask=nothing).item())
    assert masked.amax(x.long(), mask=nothing).item() == tn.iinfo(tn.int64).min
    with pytest.raises(ValueError, match="no fully masked out rows"):
        masked.median(x.long(), mask=nothing)


def test_elements_left_out_get_no_gradient():
    x = X.clone().requires_grad_()
    masked.normalize(x, 2, 1, mask=MASK).sum().backward()
    assert not x.grad[~MASK].any() and x.grad[MASK].all()


def test_dtypes_and_refusals():
    ints = tn.tensor([1, 2], dtype=tn.int16)
    assert masked.sum(ints).dtype is tn.int64 and masked.amax(ints).dtype is tn.int16
    assert masked.argmax(X).dtype is tn.float32  # as PyTorch has it
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        masked.mean(ints)
    with pytest.raises(IndexError, match="mask dimensionality higher"):
        masked.sum(ints, mask=MASK)
    with pytest.raises(AssertionError, match="Only one of"):
        masked.var(X, unbiased=True, correction=0)
