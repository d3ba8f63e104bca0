"""The matrices of Winograd's convolutions: four results of a kernel of length 3 by six products.

    results = RESULTS @ ((WEIGHTS @ weights) * (ELEMENTS @ elements))

Polynomials are multiplied by their values at the points 0, 1, -1, 2, -2 and infinity.
"""

from __future__ import annotations

import numpy as np

ELEMENTS = np.array(
    [
        [4, 0, -5, 0, 1, 0],
        [0, -4, -4, 1, 1, 0],
        [0, 4, -4, -1, 1, 0],
        [0, -2, -1, 2, 1, 0],
        [0, 2, -1, -2, 1, 0],
        [0, 4, 0, -5, 0, 1],
    ]
)
WEIGHTS = np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
RESULTS = np.array(
    [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]
)
POINTS, TILE = 6, 4
