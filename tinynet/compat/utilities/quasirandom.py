"""``torch.quasirandom``: Sobol sequences, by SciPy."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import qmc

from tinynet import dtypes
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.dtypes import DtypeLike
from tinynet.ops import randint

__all__ = ["SobolEngine"]


class SobolEngine:
    """A Sobol sequence: points that fill the unit cube evenly.

    The direction numbers are those of Joe and Kuo, "Constructing Sobol Sequences with Better
    Two-Dimensional Projections" (2008). Unscrambled points are PyTorch's.

    Args:
        dimension: the dimension of the cube, at most 21201.
        scramble: apply a random linear matrix scramble and a digital shift (Owen, 1998).
        seed: the seed of the scramble; drawn from the default generator if omitted.

    Raises:
        ValueError: the dimension is out of range.

    Example:
        >>> from tinynet.compat.utilities.quasirandom import SobolEngine
        >>> SobolEngine(2).draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None):
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        start = seed if seed is not None or not scramble else randint(2**31, ()).item()
        self._sequence = qmc.Sobol(
            dimension, scramble=scramble, bits=self.MAXBIT, rng=np.random.default_rng(start)
        )

    @property
    def num_generated(self) -> int:
        """The number of points drawn or skipped."""
        return int(self._sequence.num_generated)

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: DtypeLike = None) -> Tensor:
        """Return the next points, ``[n, dimension]``.

        Args:
            n: the number of points.
            out: a tensor to write them to.
            dtype: their dtype; the default dtype if omitted.
        """
        kind = dtypes.default_float() if dtype is None else dtypes.as_numpy(dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers that are no power of two
            points = wrap(self._sequence.random(n).astype(kind))
        return points if out is None else out.resize_(n, self.dimension).copy_(points)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: DtypeLike = None) -> Tensor:
        """Return the next ``2**m`` points.

        Args:
            m: the logarithm of their number.
            out, dtype: as of ``draw``.

        Raises:
            ValueError: the number of points so far would not be a power of two.
        """
        before, n = self.num_generated, 2**m
        total = before + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{before} points have been previously generated, then: n={before}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Return to the first point, and return the engine."""
        self._sequence.reset()
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip points, and return the engine.

        Args:
            n: the number of points.
        """
        self._sequence.fast_forward(n)
        return self

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        if self.scramble:
            options.append("scramble=True")
        if self.seed is not None:
            options.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(options)})"
