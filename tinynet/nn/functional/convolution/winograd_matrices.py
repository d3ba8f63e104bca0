"""The matrices of Winograd convolutions: four outputs of a kernel of length 3 from six products.

    results = RESULTS @ ((WEIGHTS @ weights) * (ELEMENTS @ elements))

Polynomials are multiplied by their values at six points, the last of which is infinity. The points
determine the rounding error: 2/3, -2/3, 3/2 and -3/2 give a third less than the usual
1, -1, 2 and -2 (Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the
Accuracy of Winograd Convolution for Deep Neural Networks", 2020).
"""

from __future__ import annotations

import numpy as np

from tinynet.dtypes import Array

TILE = 4
_FINITE = (0, 2 / 3, -2 / 3, 3 / 2, -3 / 2)
POINTS = len(_FINITE) + 1


def _matrices() -> tuple[Array, Array, Array]:
    """Return the matrices of the elements, the weights and the results (Lagrange's polynomials)."""
    elements, weights = np.zeros((POINTS, POINTS)), np.zeros((POINTS, 3))
    results = np.zeros((TILE, POINTS))
    for i, point in enumerate(_FINITE):
        others = [*_FINITE[:i], *_FINITE[i + 1 :]]
        elements[i, :-1] = np.poly(others)[::-1]
        weights[i] = point ** np.arange(3.0) / np.prod([point - other for other in others])
        results[:, i] = point ** np.arange(float(TILE))
    elements[-1] = np.poly(_FINITE)[::-1]
    weights[-1, -1] = results[-1, -1] = 1
    return elements, weights, results


ELEMENTS, WEIGHTS, RESULTS = _matrices()
