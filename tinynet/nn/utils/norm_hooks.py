"""weight_norm and spectral_norm as hooks, which compute the weight before each forward.

Prefer the parametrizations of the same names, which compute the weight when it is read.
"""

from __future__ import annotations

from typing import Any

from tinynet.core.callsite import warn
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import M, Module
from tinynet.nn.functional.vector import normalize
from tinynet.nn.parameter import Parameter, is_lazy
from tinynet.nn.utils.parametrizations import matrix_of, norm_except_dim, outputs_dim


def _pop(module: Module, kind: type, name: str) -> Any:
    """Remove and return the hook of a class on a weight; None if there is none."""
    key, hook = _find(module, kind, name)
    if hook is not None:
        del module._forward_pre_hooks[key]
    return hook


def _find(module: Module, kind: Any, name: str) -> tuple[int, Any]:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key, hook
    return -1, None


def _refuse_two(module: Module, kind: type, what: str, name: str) -> None:
    if _find(module, kind, name)[1] is not None:
        raise RuntimeError(f"Cannot register two {what} hooks on the same parameter {name}")


def _refuse_lazy(weight: Any, what: str, kind: str) -> None:
    if is_lazy(weight):
        raise ValueError(
            f"The module passed to {what} can't have uninitialized parameters. Make sure to "
            f"run the dummy forward before applying {kind} normalization"
        )


# ---- weight_norm --------------------------------------------------------------------------------


class WeightNorm:
    """The hook that computes ``g * v / |v|``."""

    def __init__(self, name: str, dim: int):
        self.name = name
        self.dim = dim

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Reparametrize a weight of a module; return the hook."""
        warn(
            "`tinynet.nn.utils.weight_norm` is deprecated in favor of "
            "`tinynet.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
        )
        _refuse_two(module, WeightNorm, "weight_norm", name)
        hook = WeightNorm(name, -1 if dim is None else dim)
        _refuse_lazy(getattr(module, name), "`WeightNorm`", "weight")
        weight = getattr(module, name).detach()
        length = norm_except_dim(weight, hook.dim)
        delattr(module, name)
        module.register_parameter(f"{name}_g", Parameter(length))
        module.register_parameter(f"{name}_v", Parameter(weight))
        hook(module, ())
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Replace the length and the direction by the weight; the hook itself stays."""
        weight = self.compute_weight(module)
        for end in ("", "_g", "_v"):
            delattr(module, self.name + end)
        setattr(module, self.name, Parameter(weight))

    def compute_weight(self, module: Any) -> Tensor:
        """Return the weight."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / norm_except_dim(v, self.dim))

    def __call__(self, module: Module, args: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Reparametrize a weight by length and direction, ``g * v / |v|``; return the module.

    Deprecated: ``nn.utils.parametrizations.weight_norm`` computes the weight when it is read. It
    loads state dicts saved with this one.

    Args:
        module: the module; it gets parameters ``weight_g`` and ``weight_v``.
        name: the parameter.
        dim: the dimension to keep in the norm; None takes the norm over all dimensions.

    Raises:
        RuntimeError: the parameter already has such a hook.

    Source: Salimans and Kingma, "Weight normalization", 2016, arXiv:1602.07868.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     layer = nn.utils.weight_norm(nn.Linear(3, 2))
        >>> layer.weight_g.shape, layer.weight_v.shape
        (tinynet.Size([2, 1]), tinynet.Size([2, 3]))
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Undo ``weight_norm`` and return the module.

    Args:
        module: the module.
        name: the parameter.

    Raises:
        ValueError: the parameter has no such hook.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # it is deprecated
        ...     layer = nn.utils.weight_norm(nn.Linear(3, 2))
        >>> [name for name, _ in nn.utils.remove_weight_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    hook = _pop(module, WeightNorm, name)
    if hook is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hook.remove(module)
    return module


# ---- spectral_norm ------------------------------------------------------------------------------


class SpectralNorm:
    """The hook that divides a weight by an estimate of its largest singular value."""

    def __init__(
        self,
        name: str = "weight",
        n_power_iterations: int = 1,
        dim: int = 0,
        eps: float = 1e-12,
    ):
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    @staticmethod
    def apply(
        module: Any, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Divide a weight of a module by its largest singular value; return the hook."""
        _refuse_two(module, SpectralNorm, "spectral_norm", name)
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        _refuse_lazy(weight, "`SpectralNorm`", "spectral")
        matrix = hook.reshape_weight_to_matrix(weight.detach())
        u, v = (normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in matrix.shape)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        # present before the first forward, but not a parameter
        setattr(module, name, weight.detach())
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module.register_state_dict_post_hook(hook.note_version)
        return hook

    def remove(self, module: Any) -> None:
        """Replace the original weight by the divided one; the hook itself stays."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight))

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Return the weight as a matrix with a row for each output."""
        return matrix_of(weight, self.dim)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """Return the weight, optionally after power iterations (in place)."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()  # the next forward changes them in place
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: Module, args: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    def note_version(self, module: Any, state: Any, prefix: str, metadata: Any) -> None:
        """Store the format version in the metadata of a state dict, as PyTorch does."""
        versions = metadata.setdefault("spectral_norm", {})
        key = f"{self.name}.version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = 1


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value before each forward; return the module.

    Prefer ``nn.utils.parametrizations.spectral_norm``.

    Args:
        module: the module; it gets the parameter ``weight_orig`` and the buffers ``weight_u`` and
            ``weight_v``, estimates of the singular vectors.
        name: the parameter.
        n_power_iterations: number of power iterations before each forward in training mode.
        eps: lower bound of the norms in divisions.
        dim: the output dimension; by default 0, or 1 for transposed convolutions.

    Raises:
        RuntimeError: the parameter already has such a hook.
        ValueError: the parameter is None, or the number of iterations is not positive.

    Source: Miyato et al., "Spectral normalization for generative adversarial networks", 2018,
    arXiv:1802.05957.

    Example:
        >>> layer = nn.utils.spectral_norm(nn.Linear(3, 2), n_power_iterations=50)
        >>> _ = layer(tn.ones(3))
        >>> round(tn.linalg.matrix_norm(layer.weight, 2).item(), 3)
        1.0
    """
    dim = outputs_dim(module) if dim is None else dim
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Undo ``spectral_norm`` and return the module.

    Args:
        module: the module.
        name: the parameter.

    Raises:
        ValueError: the parameter has no such hook.

    Example:
        >>> layer = nn.utils.spectral_norm(nn.Linear(3, 2))
        >>> [name for name, _ in nn.utils.remove_spectral_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    hook = _pop(module, SpectralNorm, name)
    if hook is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    noting = module._state_dict_hooks
    for number, function in [*noting.items()]:
        if getattr(function, "__self__", None) is hook:
            del noting[number]
    hook.remove(module)
    return module
