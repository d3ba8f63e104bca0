"""Built-in parametrizations: weight_norm, spectral_norm, orthogonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Size, Tensor, wrap
from tinynet.dtypes import Array
from tinynet.nn.base.module import Module
from tinynet.nn.functional.vector import normalize
from tinynet.nn.layers.convolution import _ConvNd
from tinynet.nn.utils.parametrize import register_parametrization
from tinynet.ops.creation.constructors import eye
from tinynet.ops.linalg.inverses import solve
from tinynet.ops.linalg.matrix_functions import matrix_exp
from tinynet.ops.linalg.vectors import householder_product
from tinynet.ops.shaping.joining import cat
from tinynet.ops.shaping.views import axis_of
from tinynet.random import default_generator

# ---- weight_norm --------------------------------------------------------------------------------


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """Return the 2-norm over all dimensions except ``dim``, with keepdim; over all for -1."""
    if dim == -1:
        return v.norm()
    dim = axis_of(dim, v.ndim)
    others = tuple(d for d in range(v.ndim) if d != dim)
    return v.norm(2, others, keepdim=True) if others else v.abs()


class _WeightNorm(Module):
    """``v * (g / |v|)``."""

    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Return the weight for length ``g`` and direction ``v``."""
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return length and direction of a weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Reparametrize a weight by length and direction, ``g * v / |v|``; return the module.

    Args:
        module: the module; its class is replaced by a subclass.
        name: the parameter; ``parametrizations.weight.original0`` is g, ``original1`` is v.
        dim: the dimension to keep in the norm; None takes the norm over all dimensions.

    Raises:
        ValueError: the module has no such parameter.

    Source: Salimans and Kingma, "Weight normalization", 2016, arXiv:1602.07868.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(20, 40))
        >>> layer
        ParametrizedLinear(
          in_features=20, out_features=40, bias=True
          (parametrizations): ModuleDict(
            (weight): ParametrizationList(
              (0): _WeightNorm()
            )
          )
        )
        >>> layer.parametrizations.weight.original0.shape
        tinynet.Size([40, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _OldNames:
    """A load hook for state dicts of ``nn.utils.weight_norm``: weight_g and weight_v."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        old = f"{prefix}{self.name}"
        new = f"{prefix}parametrizations.{self.name}.original"
        if f"{old}_g" in state_dict and f"{old}_v" in state_dict:
            state_dict[f"{new}0"] = state_dict.pop(f"{old}_g")
            state_dict[f"{new}1"] = state_dict.pop(f"{old}_v")


# ---- spectral_norm ------------------------------------------------------------------------------


def matrix_of(weight: Tensor, dim: int) -> Tensor:
    """Return a weight as a matrix, with ``dim`` first and the others flattened."""
    return weight.movedim(dim, 0).flatten(1) if dim else weight.flatten(1)


class _SpectralNorm(Module):
    """``weight / sigma`` with an estimate of the largest singular value of the weight.

    ``_u`` and ``_v`` are estimates of its singular vectors. Reading the weight in training mode
    refines them in place by power iterations.
    """

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got "
                f"{dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = matrix_of(weight.detach(), self.dim)
            for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
                vector = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(name, normalize(vector, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _power_method(self, matrix: Tensor, steps: int) -> None:
        with no_grad():
            for _ in range(steps):
                self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight divided by the estimate."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = matrix_of(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next reading changes them in place
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the value unchanged as the original."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value on each read; return the module.

    Args:
        module: the module; its class is replaced by a subclass.
        name: the parameter.
        n_power_iterations: number of power iterations per read in training mode.
        eps: lower bound of the norms in divisions.
        dim: the output dimension; by default 0, or 1 for transposed convolutions.

    Raises:
        ValueError: the module has no such parameter, or the number of iterations is not positive.
        IndexError: the dimension is out of range.

    Source: Miyato et al., "Spectral normalization for generative adversarial networks", 2018,
    arXiv:1802.05957.

    Example:
        >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(20, 40))
        >>> layer.eval().parametrizations.weight[0]._u.shape
        tinynet.Size([40])
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = outputs_dim(module)
    function = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, function)


def outputs_dim(module: Module) -> int:
    """Return the output dimension of a module's weight."""
    return 1 if isinstance(module, _ConvNd) and module.transposed else 0


# ---- orthogonal ---------------------------------------------------------------------------------


class _Orthogonal(Module):
    """An orthogonal matrix computed from an unconstrained one: ``base @ map(X)``.

    ``matrix_exp`` and ``cayley`` map the skew-symmetric ``A = tril(X) - tril(X).T`` to ``exp(A)``
    and ``(I - A/2)^-1 (I + A/2)``; ``householder`` takes the columns of X under the diagonal as
    reflectors, and the diagonal as signs. Wide matrices are transposed first.
    """

    base: Tensor | None

    def __init__(self, shape: Sequence[int], orthogonal_map: str, use_trivialization: bool = True):
        super().__init__()
        self.shape = tuple(shape)
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """Return the orthogonal matrix."""
        wide = X.shape[-2] < X.shape[-1]
        Q = self._map(X.mT if wide else X)
        if self.use_trivialization:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _map(self, X: Any) -> Any:
        """Return the orthogonal matrix of a tall X."""
        if self.orthogonal_map == "householder":
            reflectors = X.tril(-1)
            tau = 2.0 / (1.0 + (reflectors * reflectors).sum(-2))
            signs = X.diagonal(dim1=-2, dim2=-1).detach().sign()
            return householder_product(reflectors, tau) * signs.unsqueeze(-2)
        n, k = X.shape[-2:]
        X = X.tril()
        if n != k:
            X = cat.function([X, X.new_zeros(*X.shape[:-2], n, n - k)], dim=-1)
        A = X - X.mT
        if self.orthogonal_map == "matrix_exp":
            Q = matrix_exp(A)
        else:
            identity = eye(n, dtype=A.dtype)
            Q = solve(identity - 0.5 * A, identity + 0.5 * A)
        return Q[..., :k]

    def right_inverse(self, Q: Tensor) -> Tensor:
        """Return the input that maps to ``Q`` or, if ``Q`` is not orthogonal, to a nearby matrix.

        Raises:
            ValueError: the shape differs from that of the weight.
            NotImplementedError: without trivialization, only ``householder`` is invertible.
        """
        if tuple(Q.shape) != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {Size(self.shape)}. "
                f"Got a tensor of shape {Q.shape}."
            )
        values = Q.detach()._array
        wide = values.shape[-2] < values.shape[-1]
        tall = values.mT if wide else values
        if self.use_trivialization:
            self.base = wrap(_orthogonalized(tall))
            zero = np.zeros_like(values)
            np.einsum("...ii->...i", zero[..., : tall.shape[-1], : tall.shape[-1]])[...] = -1
            return wrap(zero)
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        reflectors = _reflectors(tall)
        return wrap(reflectors.mT.copy() if wide else reflectors)


def _orthogonalized(Q: Array) -> Array:
    """Return a square orthogonal matrix that extends a tall Q, orthogonalised."""
    n, k = Q.shape[-2:]
    if n == k:
        tolerance = 10.0 * n * np.finfo(Q.dtype).eps
        if np.allclose(Q.mT @ Q, np.eye(k, dtype=Q.dtype), atol=tolerance):
            return Q.copy()
    random = default_generator.numpy.standard_normal((*Q.shape[:-1], n - k)).astype(Q.dtype)
    q, r = np.linalg.qr(np.concatenate([Q, random], axis=-1))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]


def _reflectors(Q: Array) -> Array:
    """Return the Householder vectors below the diagonal of a tall matrix, and signs on it."""
    raw, tau = np.linalg.qr(Q, mode="raw")
    vectors = raw.mT.copy()
    diagonal = np.einsum("...ii->...i", vectors[..., : Q.shape[-1], :])
    diagonal[...] = np.sign(diagonal)
    diagonal[tau == 0] *= -1  # LAPACK skipped this reflection
    return vectors


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a weight orthogonal during training and return the module.

    A tall matrix has orthonormal columns, a wide one orthonormal rows; more dimensions are a batch.

    Args:
        module: the module; its class is replaced by a subclass.
        name: the parameter.
        orthogonal_map: ``"matrix_exp"`` (the default for square matrices), ``"cayley"`` or
            ``"householder"`` (the default for others): the map from unconstrained to orthogonal
            matrices.
        use_trivialization: train a change relative to the current value, stored in
            ``parametrizations.weight[0].base``. Without it, only ``"householder"`` starts near the
            current value.

    Raises:
        ValueError: the parameter or map does not exist, or it has fewer than 2 dimensions.

    Source: Lezcano-Casado, "Trivializations for gradient-based optimization on manifolds", 2019,
    arXiv:1909.09501.

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(20, 40))
        >>> Q = layer.weight
        >>> bool((Q.T @ Q - tn.eye(20)).abs().max() < 1e-5)
        True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    function = _Orthogonal(weight.shape, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, function, unsafe=True)
