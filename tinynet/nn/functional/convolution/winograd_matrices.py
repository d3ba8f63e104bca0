"""The matrices of Winograd convolutions: a tile of outputs of a kernel of length 3.

    results = scheme.results @ ((scheme.weights @ weights) * (scheme.elements @ elements))

Polynomials are multiplied by their values at two more points than the tile has outputs; the last
point is infinity. The points determine the rounding error. Points 0, 1 and -1 for two outputs
hardly add to it. For four, 2/3, -2/3, 3/2 and -3/2 give a third less than the usual 1, -1, 2 and -2
(Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and Improving the Accuracy of Winograd
Convolution for Deep Neural Networks", 2020), but two to four times that of all products.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Scheme:
    """The matrices for one tile size.

    Args:
        finite: the points but infinity.
    """

    def __init__(self, finite: Sequence[float]):
        self.points = points = len(finite) + 1
        self.tile = points - 2
        self.elements, self.weights = np.zeros((points, points)), np.zeros((points, 3))
        self.results = np.zeros((self.tile, points))
        for i, point in enumerate(finite):  # Lagrange's polynomials
            others = [*finite[:i], *finite[i + 1 :]]
            self.elements[i, :-1] = np.poly(others)[::-1]
            lead = np.prod([point - other for other in others])
            self.weights[i] = point ** np.arange(3.0) / lead
            self.results[:, i] = point ** np.arange(float(self.tile))
        self.elements[-1] = np.poly(finite)[::-1]
        self.weights[-1, -1] = self.results[-1, -1] = 1


ACCURATE = Scheme((0, 1, -1))
FAST = Scheme((0, 2 / 3, -2 / 3, 3 / 2, -3 / 2))
