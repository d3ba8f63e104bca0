"""Forward-mode derivatives of ordinary code: dual tensors, ``torch.autograd.forward_ad``.

A dual tensor is a tensor with a direction. The products of Jacobians with the directions are taken
when they are asked for, by two backward passes, as in `jvp`.
"""

from __future__ import annotations

from contextlib import ContextDecorator, ExitStack
from typing import Any, NamedTuple, Self

from tinynet.autograd.derivatives import grad
from tinynet.core.modes import enable_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.func.level import Level
from tinynet.ops import zeros_like

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent, which is None if it depends on no dual tensor.

    Example:
        >>> from tinynet.func.forward_ad import unpack_dual
        >>> unpack_dual(tn.ones(1))
        UnpackedDualTensor(primal=tensor([1.]), tangent=None)
    """

    primal: Tensor
    tangent: Tensor | None


class _Duals(Level):
    """The dual tensors of the level that is open, and their directions."""

    def __init__(self) -> None:
        super().__init__()
        self.tensors: list[Tensor] = []
        self.tangents: list[Tensor] = []
        self.recording = ExitStack()
        self.recording.enter_context(enable_grad())


_levels: list[_Duals] = []


def enter_dual_level() -> int:
    """Open a level, in which there can be dual tensors, and return its number.

    Raises:
        RuntimeError: there is one.

    Example:
        >>> from tinynet.func import forward_ad
        >>> level = forward_ad.enter_dual_level()
        >>> forward_ad.exit_dual_level()
    """
    if _levels:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment. Use torch.func.jvp instead."
        )
    _levels.append(_Duals())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: the dual tensors become ordinary ones.

    Args:
        level: its number, 0.

    Raises:
        RuntimeError: there is none.
    """
    if not _levels or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    closed = _levels.pop()
    closed.finish()
    closed.recording.close()


class dual_level(ContextDecorator):  # noqa: N801 -- PyTorch's name
    """A context in which there can be dual tensors.

    Operations are recorded in it, also inside of ``no_grad()`` around it.

    Example:
        >>> from tinynet.func import forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tn.tensor([1.0, 2.0]), tn.tensor([1.0, 0.0]))
        ...     forward_ad.unpack_dual(x * x).tangent
        tensor([2., 0.])
    """

    def __enter__(self) -> Self:
        enter_dual_level()
        return self

    def __exit__(self, *error: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a tensor with the values of another one, and a direction.

    Args:
        tensor: any shape, floating-point or complex.
        tangent: the direction, of its shape.
        level: the number of the level, 0.

    Raises:
        RuntimeError: no level is open, the tensor is dual, or the shapes differ.
        ValueError: one of them is neither floating-point nor complex.

    Example:
        >>> from tinynet.func import forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tn.tensor(2.0), tn.tensor(1.0))
        ...     forward_ad.unpack_dual(x**3)
        UnpackedDualTensor(primal=tensor(8.), tangent=tensor(12.))
    """
    if not _levels:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    current = _levels[-1]
    if any(tensor is dual for dual in current.tensors):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level 0 is not supported."
        )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )
    made: Tensor = current.lift(tensor)
    current.tensors.append(made)
    current.tangents.append(tangent)
    return made


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a tensor without its direction, and its tangent, the Jacobian times the direction.

    Every call takes two backward passes, so what was computed must be twice differentiable. A
    gradient that was computed inside of the level has a tangent if it was recorded, with
    ``create_graph=True``.

    Args:
        tensor: computed from dual tensors.
        level: the number of the level, 0.

    Example:
        >>> from tinynet.func import forward_ad
        >>> with forward_ad.dual_level():
        ...     x = forward_ad.make_dual(tn.tensor([3.0]), tn.tensor([2.0]))
        ...     forward_ad.unpack_dual(x.sin().sum()).tangent == 2 * tn.tensor(3.0).cos()
        tensor(True)
    """
    if not _levels or not tensor.requires_grad or not _levels[-1].tensors:
        return UnpackedDualTensor(tensor, None)
    current = _levels[-1]
    with enable_grad():
        direction = current.leaf(zeros_like(tensor))
        found = grad(
            tensor, current.tensors, direction, retain_graph=True, create_graph=True,
            allow_unused=True,
        )  # fmt: skip
        used = [(g, v) for g, v in zip(found, current.tangents, strict=True) if g is not None]
        if not used:
            return UnpackedDualTensor(tensor, None)
        slopes, tangents = zip(*used, strict=True)
        (tangent,) = current.gradients(slopes, [direction], tangents)
    return UnpackedDualTensor(current.leave(tensor), current.leave(tangent))
