"""Messages of layers and losses end with what to do."""

import pytest

import tinynet as tn
from tinynet import nn

X64 = tn.ones(2, 3, dtype=tn.float64)


@pytest.mark.parametrize(
    "call",
    [
        lambda: X64 @ tn.ones(3, 4),
        lambda: tn.mv(X64, tn.ones(3)),
        lambda: tn.dot(X64[0], tn.ones(3)),
        lambda: tn.addmm(tn.ones(2, 4), X64, tn.ones(3, 4)),
        lambda: tn.einsum("ij,jk->ik", X64, tn.ones(3, 4)),
        lambda: nn.Linear(3, 2)(X64),
        lambda: nn.Linear(3, 2, bias=False)(tn.ones(2, 3, dtype=tn.int64)),
        lambda: nn.Conv1d(2, 1, 1)(X64[None]),
        lambda: nn.LSTMCell(3, 3)(X64),
        lambda: nn.LayerNorm(3)(X64),
        lambda: nn.BatchNorm1d(3)(X64),
    ],
)
def test_mixed_dtypes_say_how_to_convert(call):
    with pytest.raises(RuntimeError, match=r"x\.float\(\).*module\.double\(\)"):
        call()


def test_class_numbers_as_targets_of_a_difference_name_the_loss_for_them():
    scores, labels = tn.ones(5, 5), tn.ones(5, dtype=tn.int64)
    for loss in (nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss()):
        with pytest.warns(UserWarning, match="nn.CrossEntropyLoss"):
            loss(scores, labels)
    with pytest.warns(UserWarning) as caught:
        nn.MSELoss()(scores, tn.ones(5))
    assert "CrossEntropy" not in str(caught[0].message)
