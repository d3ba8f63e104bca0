"""func.rearrange: patterns against reshape and permute, and the patterns that it refuses."""

import numpy as np
import pytest

import tinynet as tn
from tinynet.func import rearrange

X = np.arange(24.0).reshape(2, 3, 4)

PATTERNS = [
    ("a b c -> c (a b)", {}, X.reshape(6, 4).T),
    ("a b (c d) -> a b c d", {"d": 2}, X.reshape(2, 3, 2, 2)),
    ("a b (c d)->(a d) (b c)", {"c": 2}, X.reshape(2, 3, 2, 2).transpose(0, 3, 1, 2).reshape(4, 6)),
    ("a ... -> ... a", {}, X.transpose(1, 2, 0)),
    ("a ... -> a (...)", {}, X.reshape(2, 12)),
    ("... -> ...", {}, X),
    ("... a b c -> (... a) (b c)", {}, X.reshape(2, 12)),
    ("a b c -> a 1 b () c", {}, X.reshape(2, 1, 3, 1, 4)),
    ("(a b) c d -> a b c d", {"a": 2, "b": 1}, X.reshape(2, 1, 3, 4)),
]


@pytest.mark.parametrize(("pattern", "sizes", "expected"), PATTERNS)
def test_patterns(pattern, sizes, expected):
    np.testing.assert_array_equal(rearrange(tn.from_numpy(X), pattern, **sizes), expected)


def test_a_list_is_stacked_and_gradients_come_back():
    x = tn.from_numpy(X.copy()).requires_grad_()
    found = rearrange([x, 2 * x], "n a b c -> (a b) (n c)")
    weights = np.arange(48.0).reshape(6, 8)
    found.backward(tn.from_numpy(weights))
    np.testing.assert_array_equal(x.grad, (weights[:, :4] + 2 * weights[:, 4:]).reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("pattern", "sizes", "text"),
    [
        ("a b c", {}, "must contain a single '->' separator"),
        ("a b -> a b", {}, r"dimensions in pattern \(2\) must be equal .* in the tensor \(3\)"),
        ("a b c -> a b", {}, r"only on one side of rearrange expression .*: \{'c'\}"),
        ("a a c -> a c", {}, "contains duplicate dimension 'a'"),
        ("a b c -> a b c", {"d": 3}, r"not found in rearrange expression: \{'d'\}"),
        ("a b c -> (...) a", {}, "Ellipsis found in right side, but not left side"),
        ("(a ...) b -> a b ...", {}, "Ellipsis is parenthesis in the left side is not allowed"),
        ("a b c -> ((a b) c)", {}, "brackets inside brackets not allowed"),
        ("a b (c -> a b c", {}, "Imbalanced parentheses"),
        ("a b c) -> a b c", {}, "Brackets are not balanced"),
        ("a b 4 -> a b", {}, "only supports unnamed axes of size 1"),
        ("_a b c -> _a b c", {}, "Invalid axis identifier: _a"),
        (".. b -> b", {}, "dots only inside ellipsis"),
        ("a b (c d) -> a b c d", {}, "cannot infer the sizes of two dimensions at once c and d"),
        ("a b (c d) -> a b c d", {"d": 3}, "do not fit a dimension of 4 elements"),
        ("a b c -> a b c", {"b": 5}, "do not fit a dimension of 3 elements"),
        ("1 b c -> b c", {}, "do not fit a dimension of 2 elements"),
    ],
)
def test_refusals(pattern, sizes, text):
    with pytest.raises(ValueError, match=text):
        rearrange(tn.from_numpy(X), pattern, **sizes)


def test_a_length_that_is_no_integer():
    with pytest.raises(TypeError, match="rearrange axis lengths must be integers"):
        rearrange(tn.from_numpy(X), "a b c -> a b c", b="x")
