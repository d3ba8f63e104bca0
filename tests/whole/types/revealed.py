"""What type checkers see."""

from typing import assert_type

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import Tensor, nn
from tinynet.autograd.function import FunctionCtx
from tinynet.data import Digits
from tinynet.utils.data import DataLoader, Subset, random_split


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", tn.ones(3))

    def forward(self, x: Tensor, *, bias: float = 0.0) -> tuple[Tensor, float]:
        return x * self.factor + bias, bias


def modules(x: Tensor) -> None:
    assert_type(nn.Linear(3, 3)(x), Tensor)
    assert_type(nn.Sequential(nn.Linear(3, 3), nn.ReLU())(x), Tensor)
    assert_type(nn.Embedding(3, 3)(x), Tensor)
    assert_type(nn.BatchNorm1d(3).weight, nn.Parameter)
    assert_type(nn.CrossEntropyLoss()(x, x), Tensor)
    assert_type(nn.MaxPool2d(2)(x), Tensor)
    output, (h, c) = nn.LSTM(3, 3)(x)
    assert_type(h, Tensor)
    assert_type(Scale()(x, bias=1.0), tuple[Tensor, float])
    assert_type(Scale().eval().double(), Scale)


def functions(x: Tensor) -> None:
    assert_type(tn.softmax(x, dim=-1), Tensor)
    assert_type(F.softmax(x, dim=-1), Tensor)
    assert_type(tn.linalg.norm(x) + tn.linalg.det(x), Tensor)
    assert_type(tn.signal.windows.kaiser(3, beta=2.0, sym=False, dtype=tn.float64), Tensor)
    assert_type(tn.masked.sum(x, 0, keepdim=True, mask=x > 0), Tensor)
    assert_type(x.add_(1).softmax(0) @ x.T, Tensor)
    assert_type(2 - x[0, ..., None] ** 2, Tensor)
    assert_type(x > 0, Tensor)
    assert_type(x.shape[0], int)
    assert_type(x.dtype, tn.dtype)


def saved(ctx: FunctionCtx) -> None:
    assert_type(ctx.saved_tensors[0], Tensor)


def data() -> None:
    assert_type(DataLoader(Digits()), DataLoader[tuple[Tensor, Tensor]])
    assert_type(random_split(Digits(), [0.5, 0.5]), list[Subset[tuple[Tensor, Tensor]]])
