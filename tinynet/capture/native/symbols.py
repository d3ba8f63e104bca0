"""Reading formulas: run on symbols instead of arrays, they give the text of an expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class NotElementwise(Exception):  # noqa: N818
    """A formula is not an expression of single elements."""


# numpy's functions of elements, as expressions that LLVM compiles.
UFUNCS = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})",
    "divide": "({0} / {1})", "negative": "(-{0})", "positive": "{0}",
    "absolute": "abs({0})", "tanh": "tanh({0})", "exp": "exp({0})",
    "log": "log({0})", "log1p": "math.log1p({0})", "expm1": "math.expm1({0})",
    "sqrt": "root({0})", "sin": "math.sin({0})", "cos": "math.cos({0})",
    "reciprocal": "(one / {0})", "maximum": "larger({0}, {1})", "minimum": "smaller({0}, {1})",
}  # fmt: skip
# Kernels of elementwise operations that are not ufuncs, by name of the operation.
KERNELS = {
    "relu": "positive({0}, zero)",
    "relu_backward": "({0} if {1} != zero else zero)",
    "sigmoid": "(one / (one + exp(-{0})))",
    "rsub_scalar": "({1} - {0})",
    "scaled": "({0} * {1})",
    "clamp_numbers": "smaller(larger({0}, {1}), {2})",
    "square": "({0} * {0})",
    "where": "({1} if {0} else {2})",
}


class Symbol:
    """An element whose value is an expression.

    Args:
        text: the expression.
        constant: gives the text of a number in the dtype of the program.
    """

    __array_ufunc__ = None
    __slots__ = ("constant", "text")

    def __init__(self, text: str, constant: Callable[[Any], str]):
        self.text, self.constant = text, constant

    def of(self, form: str, *operands: Any) -> Symbol:
        """Return the symbol of a form such as ``"({0} + {1})"``."""
        return Symbol(form.format(*map(self._text, operands)), self.constant)

    def _text(self, operand: Any) -> str:
        if isinstance(operand, Symbol):
            return operand.text
        if type(operand) in (int, float, bool):
            return self.constant(operand)
        raise NotElementwise(type(operand).__name__)

    def apply_operation(self, op: Any, args: tuple[Any, ...], kwargs: Any) -> Symbol:
        """Return the symbol of an operation on elements, see ``Operation.__call__``."""
        form = form_of(op)
        if form is None or kwargs:
            raise NotElementwise(op.name)
        return self.of(form, *args)

    def __add__(self, other: Any) -> Symbol:
        return self.of("({0} + {1})", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return self.of("({1} + {0})", self, other)

    def __sub__(self, other: Any) -> Symbol:
        return self.of("({0} - {1})", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return self.of("({1} - {0})", self, other)

    def __mul__(self, other: Any) -> Symbol:
        return self.of("({0} * {1})", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return self.of("({1} * {0})", self, other)

    def __truediv__(self, other: Any) -> Symbol:
        return self.of("({0} / {1})", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self.of("({1} / {0})", self, other)

    def __neg__(self) -> Symbol:
        return self.of("(-{0})", self)

    def __abs__(self) -> Symbol:
        return self.of("abs({0})", self)

    def __pow__(self, other: Any) -> Symbol:
        if other not in (2, 3):
            raise NotElementwise("**")
        return self.of("({0} * {0})" if other == 2 else "({0} * {0} * {0})", self)


def form_of(op: Any) -> str | None:
    """Return the form of the kernel of an operation on elements; None if there is none."""
    if op.ufunc is not None:
        return UFUNCS.get(op.ufunc.__name__)
    return KERNELS.get(op.name)
