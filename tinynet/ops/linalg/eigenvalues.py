"""Eigenvalues and eigenvectors of general square matrices, which are complex."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.declaration.casting import autocast
from tinynet.core.declaration.complex_rules import adjoint, conjugate
from tinynet.core.declaration.operation import operation
from tinynet.core.declaration.out_argument import with_out
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array
from tinynet.ops.linalg.checks import named, square
from tinynet.ops.linalg.inverses import solution_and_info
from tinynet.ops.linalg.spectra import converged, gaps, on_diagonal, refuse_phases
from tinynet.ops.out_dtypes import EXPECTED
from tinynet.ops.shaping.views import unsqueeze


@operation(
    outputs=("eigenvalues", "eigenvectors"),
    differentiable=2,
    node="LinalgEigBackward0",
    methods=False,
    complex="given",
)
def eigen_values_and_vectors(A: Array, /) -> tuple[Array, Array]:
    """Return complex eigenvalues, and eigenvectors of norm 1 as columns."""
    kind = dtypes.complex_of(A.dtype)
    values, vectors = converged("eig", np.linalg.eig, A)
    return values.astype(kind), vectors.astype(kind)


def _gradient(g: Any, values: Any, vectors: Any) -> Any:
    """Return the derivative for eigenvectors of norm 1 (Boeddeker et al. 2017).

    With W = V^H gV: ``V^-H (diag(gL) + (W - V^H V diag(Re W)) / conj(L_j - L_i)) V^H``.
    """
    by_values, by_vectors = g
    turned = adjoint(vectors) @ by_vectors
    refuse_phases("linalg_eig", "eigen", turned)
    along = turned.real.diagonal(0, -2, -1)
    turned = turned - (adjoint(vectors) @ vectors) * unsqueeze(along, -2)
    inner = turned / conjugate(gaps(values))
    inner = inner - on_diagonal(inner.diagonal(0, -2, -1)) + on_diagonal(by_values)
    right = adjoint(vectors)
    return solution_and_info(right, inner @ right, True, False)[0]


eigen_values_and_vectors.grad(
    A=lambda g, eigenvalues, eigenvectors: _gradient(g, eigenvalues, eigenvectors)
)
_Eig = named("linalg_eig", ("eigenvalues", "eigenvectors"))


@with_out(EXPECTED)
@autocast("float32")
def eig(A: Tensor) -> Any:
    """Return the eigenvalues and eigenvectors of square matrices, as complex numbers.

    ``A @ V = V @ diag(w)``, where the columns of V have norm 1. Their phases are arbitrary; the
    derivative is that of functions that do not depend on them, for distinct eigenvalues.

    Args:
        A: ``[..., n, n]``.

    Returns:
        ``(eigenvalues, eigenvectors)``: ``[..., n]`` in no order; ``[..., n, n]``, eigenvectors as
        columns.

    Raises:
        LinAlgError: the algorithm does not converge.
        RuntimeError: not floating-point or complex square matrices.

    Example:
        >>> tn.linalg.eig(tn.tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
        tensor([0.+1.j, 0.-1.j])
    """
    square("linalg.eig", A)
    return _Eig(*eigen_values_and_vectors.function(A))


@with_out(EXPECTED)
@autocast("float32")
def eigvals(A: Tensor) -> Tensor:
    """Return the eigenvalues of square matrices, as complex numbers in no order.

    The w of ``A @ v = w * v``.

    Args:
        A: ``[..., n, n]``.

    Raises:
        LinAlgError: the algorithm does not converge.
        RuntimeError: not floating-point or complex square matrices.

    Example:
        >>> tn.linalg.eigvals(tn.tensor([[2.0, 0.0], [0.0, 3.0]]))
        tensor([2.+0.j, 3.+0.j])
    """
    square("linalg.eigvals", A)
    return eigen_values_and_vectors.function(A)[0]
