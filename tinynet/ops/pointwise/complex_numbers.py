"""Complex numbers: their parts, conjugates, angles, and tensors made of parts.

Conjugates are computed, not marked as pending: PyTorch's ``is_conj()`` is always False here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.complex_rules import holds_complex
from tinynet.core.declaration.operation import composite, operation, pointwise, view
from tinynet.core.seams import Recorded
from tinynet.core.tensors.tensor import Tensor, method, public_function, wrap
from tinynet.dtypes import Array
from tinynet.ops.arguments import name_of, same_dtype
from tinynet.ops.pointwise.arithmetic import where
from tinynet.ops.pointwise.exponential import sgn
from tinynet.ops.pointwise.where import zeros_for
from tinynet.ops.shaping.strided import memory_of, steps_of
from tinynet.ops.shaping.views import copied

_EXPECTED = same_dtype(
    "Expected object of scalar type {result} but got scalar type {out} for argument 'out'"
)

# ---- parts --------------------------------------------------------------------------------------


@view(node="SelectBackward0", complex="given", order="iterated")
def real_part(self: Array, /) -> Array:
    """Return a view of the real parts."""
    return self.real


@view(node="SelectBackward0", complex="given", order="iterated")
def imaginary_part(self: Array, /) -> Array:
    """Return a view of the imaginary parts."""
    return self.imag


real_part.grad(self=lambda g: g)  # the engine makes it complex
imaginary_part.grad(self=lambda g: g * 1j)


@composite(method=False, checks=True)
def real(input: Tensor) -> Tensor:
    """Return a view of the real parts of any tensor; a real one itself.

    Example:
        >>> tn.tensor([1 + 2j, 3 - 1j]).real
        tensor([1., 3.])
    """
    return real_part.function(input) if input.is_complex() else input


@composite(method=False, checks=True)
def imag(input: Tensor) -> Tensor:
    """Return a view of the imaginary parts.

    Raises:
        RuntimeError: the tensor is not complex.

    Example:
        >>> tn.tensor([1 + 2j, 3 - 1j]).imag
        tensor([ 2., -1.])
    """
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return imaginary_part.function(input)


def _assigned(part: Any) -> Any:
    """Return the setter of a part: ``z.real = x`` writes to the memory of ``z``."""

    def assign(self: Tensor, value: Any) -> None:
        part(self).copy_(value if isinstance(value, Tensor) else wrap(np.asarray(value)))

    return assign


method(property(real, _assigned(real)), "real")
method(property(imag, _assigned(imag)), "imag")


@composite(method=False, checks=True)
def is_complex(input: Tensor) -> bool:
    """Return whether the dtype is complex.

    Example:
        >>> tn.is_complex(tn.tensor([1j])), tn.is_complex(tn.tensor([1.0]))
        (True, False)
    """
    return input.is_complex()


@pointwise(public=True, complex="given")
def isreal(self: Array, /) -> Array:
    """Return True where the imaginary part is zero.

    Example:
        >>> tn.tensor([1 + 1j, 2]).isreal()
        tensor([False,  True])
    """
    return np.isreal(self)


# ---- conjugates ---------------------------------------------------------------------------------


@pointwise(np.conjugate, node="ConjBackward0", complex="given")
def conjugate(self: Array, /) -> Array:
    """Return the complex conjugates."""


conjugate.grad(self=lambda g: conjugate(g))
Recorded.conjugate = staticmethod(conjugate.function)


@composite(checks=True)
def conj(self: Tensor) -> Tensor:
    """Return the complex conjugates of any tensor; a real one itself.

    Example:
        >>> tn.tensor([1 + 2j, 3.0]).conj()
        tensor([1.-2.j, 3.-0.j])
    """
    return conjugate.function(self) if self.is_complex() else self


@pointwise(public=True, inplace="function", node="ConjPhysicalBackward0", complex="given")
def conj_physical(self: Array, /) -> Array:
    """Return the complex conjugates in new memory; of real numbers, a copy.

    Example:
        >>> tn.conj_physical(tn.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    return np.conjugate(self) if self.dtype.kind == "c" else self.copy()


conj_physical.grad(self=lambda g: conjugate(g))


def _pending(name: str, what: str) -> None:
    def resolve(self: Tensor) -> Tensor:
        return self

    def marked(self: Tensor) -> bool:
        return False

    for function, start in ((resolve, f"resolve_{name}"), (marked, f"is_{name}")):
        function.__name__ = function.__qualname__ = start
        shown = "False" if function is marked else "tensor([1.])"
        result = "False" if function is marked else "the tensor itself"
        function.__doc__ = f"""Return {result}: tinynet computes {what} instead of marking them.

    Example:
        >>> tn.tensor([1.0]).{start}()
        {shown}
    """
        composite(checks=True)(function)


_pending("conj", "conjugates")
_pending("neg", "negatives")

# ---- made of parts ------------------------------------------------------------------------------


def _refuse_parts(name: str, first: Array, second: Array) -> None:
    kinds = name_of(first), name_of(second)
    if not all(x.dtype in (np.float16, np.float32, np.float64) for x in (first, second)):
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {kinds[0]} and "
            f"{kinds[1]}"
        )
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            f"Expected object of scalar type {kinds[0]} but got scalar type {kinds[1]} for second "
            "argument"
        )


@operation(node="ComplexBackward0", out=_EXPECTED, complex="given", order="iterated")
def complex(real: Array, imag: Array, /) -> Array:
    """Return complex numbers of given real and imaginary parts.

    Args:
        real, imag: float32 or float64 tensors of one dtype, which broadcast.

    Raises:
        RuntimeError: other dtypes, or different ones.

    Example:
        >>> tn.complex(tn.tensor([1.0, 2.0]), tn.tensor([0.0, -1.0]))
        tensor([1.+0.j, 2.-1.j])
    """
    _refuse_parts("complex", real, imag)
    shape = np.broadcast_shapes(real.shape, imag.shape)
    made = np.empty(shape, dtypes.complex_of(real.dtype))
    made.real, made.imag = real, imag
    return made


public_function(complex.function)
complex.grad(real=lambda g, real, imag: g.real, imag=lambda g, real, imag: g.imag)


@operation(node="PolarBackward0", out=_EXPECTED, complex="given", order="iterated")
def polar(abs: Array, angle: Array, /) -> Array:
    """Return complex numbers of given absolute values and angles.

    Args:
        abs: the absolute values.
        angle: the angles, in radians.

    Raises:
        RuntimeError: dtypes that are not float32 or float64, or different ones.

    Example:
        >>> tn.polar(tn.tensor([1.0, 2.0]), tn.tensor([0.0, 1.0]))
        tensor([1.0000+0.0000j, 1.0806+1.6829j])
    """
    _refuse_parts("polar", abs, angle)
    shape = np.broadcast_shapes(abs.shape, angle.shape)
    made = np.empty(shape, dtypes.complex_of(abs.dtype))
    np.multiply(abs, np.cos(angle), out=made.real)
    np.multiply(abs, np.sin(angle), out=made.imag)
    return made


public_function(polar.function)
polar.grad(
    abs=lambda g, result: (conjugate(g) * sgn(result)).real,
    angle=lambda g, result: (conjugate(g) * (result * 1j)).real,
)


# ---- views of both parts ------------------------------------------------------------------------


@view(node="ViewAsRealBackward0", complex="given")
def view_as_real(self: Array, /) -> Array:
    """Return a view of complex numbers as pairs of real and imaginary parts, ``[..., 2]``.

    Raises:
        RuntimeError: the tensor is not complex.

    Example:
        >>> tn.view_as_real(tn.tensor([1 + 2j, 3 - 1j]))
        tensor([[ 1.,  2.],
                [ 3., -1.]])
    """
    if self.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return dtypes.pairs_of(self)


@view(node="ViewAsComplexBackward0", complex="given")
def view_as_complex(self: Array, /) -> Array:
    """Return a view of pairs of real and imaginary parts, ``[..., 2]``, as complex numbers.

    Raises:
        RuntimeError: the dtype is not float32 or float64, the last dimension is not 2, or the
            memory does not have the parts side by side.

    Example:
        >>> tn.view_as_complex(tn.tensor([[1.0, 2.0], [3.0, -1.0]]))
        tensor([1.+2.j, 3.-1.j])
    """
    if self.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {name_of(self)}"
        )
    if not self.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if self.size == 0:  # numpy has no strides for it
        return np.empty(self.shape[:-1], dtypes.complex_of(self.dtype))
    *steps, last = steps_of(self)
    if last != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(step % 2 for step, n in zip(steps, self.shape, strict=False) if n > 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if memory_of(self)[1] % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return self.view(dtypes.complex_of(self.dtype))[..., 0]


@operation(node="ViewAsRealBackward0", complex="given")
def parts(self: Array, /) -> Array:
    """Return a copy of complex numbers as pairs of real and imaginary parts."""
    return np.stack((self.real, self.imag), -1)


public_function(view_as_real.function)
public_function(view_as_complex.function)
copied("tn.view_as_real_copy(x * 1j)", [[[0.0, 1.0], [0.0, 2.0]]])(view_as_real)
copied("tn.view_as_complex_copy(x)", [1 + 2j])(view_as_complex)
view_as_real.grad(self=lambda g: complex(g[..., 0], g[..., 1]))
view_as_complex.grad(self=lambda g: parts(g))


parts.grad(self=lambda g: complex(g[..., 0], g[..., 1]))

# ---- angles -------------------------------------------------------------------------------------


@pointwise(public=True, ints="float", complex="given")
def angle(self: Array, /) -> Array:
    """Return the angle in the complex plane, in radians; pi for negative real numbers.

    Example:
        >>> tn.tensor([1j, 1 + 1j]).angle()
        tensor([1.5708, 0.7854])
    """
    return np.asarray(np.angle(self), dtypes.real_of(self.dtype))


angle.grad(self=lambda g, self: _turned(g, self))


def _turned(g: Any, z: Any) -> Any:
    """Return the gradient of the angle: ``i g / conj(z)``; zero at zero and for real numbers."""
    zero = z == 0
    if not holds_complex(z):
        return zeros_for(g)
    return where(zero, 0.0, g * 1j / where(zero, 1.0, conjugate(z)))
