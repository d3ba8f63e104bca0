"""The source text of in-place operations that need no history: one straight-line function each.

Writes that are recorded or observed, mix dtypes or shapes, or might overlap take the slow path
(``core/tensors/inplace.py``), which repeats all checks.
"""

from __future__ import annotations

from typing import Any


def source(op: Any, what: str, operator: bool) -> str:
    """Return the function that writes the result of a one- or two-operand ufunc to ``self``.

    Args:
        op: the operation; its kernel is a ufunc.
        what: the name of the write in messages.
        operator: return NotImplemented for unknown operands.
    """
    slow = f"run_inplace({op.name}_op, self, (other,), {{}}, {what!r})"
    if len(op.tensors) == 1:
        return _unary(op, what)
    if operator:
        slow = f"{slow} if is_operand(other) else NotImplemented"
    return f"""\
def compiled(self, other):
    a = self._array
    if a.dtype.char not in 'fd' or a.base is not None or observers or self._counter is INFERENCE:
        return {slow}
    if isinstance(other, Tensor):
        b = other._array
        if b is not a:
            if b.base is not None or b.dtype is not a.dtype or (b.ndim and b.shape != a.shape):
                return {slow}
        if (self._requires_grad or other._requires_grad) and mode.grad:
            return {slow}
    elif type(other) is float or type(other) is int:
        b = other
        if self._requires_grad and mode.grad:
            return {slow}
    else:
        return {slow}
    {op.name}_ufunc(a, b, out=a)
{_BUMP.format(what=what)}"""


def _unary(op: Any, what: str) -> str:
    slow = f"run_inplace({op.name}_op, self, (), {{}}, {what!r})"
    return f"""\
def compiled(self):
    a = self._array
    if a.dtype.kind != 'f' or a.base is not None or observers or self._counter is INFERENCE:
        return {slow}
    if self._requires_grad and mode.grad:
        return {slow}
    {op.name}_ufunc(a, out=a)
{_BUMP.format(what=what)}"""


_BUMP = """\
    v = self._counter
    if v is None:
        v = self._counter = new(Version)
        v.n = 0
    f = getframe(1)
    c = f.f_code
    try: o = OUTSIDE[c.co_filename]
    except KeyError: o = is_outside(c.co_filename)
    v.bump((c, f.f_lasti) if o else outward(f), {what!r})
    return self
"""
