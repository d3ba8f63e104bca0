"""Complex numbers: the gradients of what operations compute with them.

The gradient of a real loss L by z = x + iy is dL/dx + i dL/dy, as in PyTorch (the conjugate
Wirtinger derivative; Kreutz-Delgado, "The complex gradient operator and the CR-calculus", 2009).
For a holomorphic f it is ``g conj(f')``. The formula of an operation computes ``g f'``, which is
right for real numbers, so ``conj(formula(conj(g)))`` is right for complex ones. Operations that
are not holomorphic (abs, conj, svd) have formulas that are right for both. Declarations say which
is the case (``complex=``); without it, an operation refuses complex numbers.

The first complex array switches this on (``kernels/low_precision.py``): programs without any pay
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.seams import Recorded
from tinynet.core.tensors.tensor import Tensor


def holds_complex(x: Any) -> bool:
    """Return whether an argument is or contains a complex array or tensor."""
    if isinstance(x, (list, tuple)):
        return any(map(holds_complex, x))
    array = x._array if isinstance(x, Tensor) else x
    return isinstance(array, (np.ndarray, np.generic)) and array.dtype.kind == "c"


def conjugate(x: Any) -> Any:
    """Return an argument with complex arrays and tensors replaced by their conjugates."""
    if isinstance(x, (list, tuple)):
        return type(x)([conjugate(one) for one in x])
    if not holds_complex(x):
        return x
    return Recorded.conjugate(x) if isinstance(x, Tensor) else np.asarray(np.conjugate(x))


def adjoint(x: Any) -> Any:
    """Return the conjugate transposes of matrices, arrays or tensors."""
    return conjugate(x.mT)


def refuse(op: Any, inputs: Iterable[Any]) -> None:
    """Raise NotImplementedError if an operation does not take complex numbers."""
    if not op.complex:
        lists = [one for x in inputs for one in (x if isinstance(x, (list, tuple)) else (x,))]
        kind = next(dtypes.of(x) for x in lists if holds_complex(x))
        raise NotImplementedError(f"\"{op.title}_cpu\" not implemented for '{kind.scalar_name}'")


def gradient(op: Any, formula: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return what the formula of an operation gives for complex arrays."""
    g, *saved = args
    if op.complex is True:
        return conjugate(formula(conjugate(g), *saved))
    return formula(g, *saved)
