"""Views, which share their input's memory, and copies where no view is possible."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet import errors
from tinynet.core import layouts
from tinynet.core.declaration.double_backward import derivative
from tinynet.core.declaration.operation import Operation, composite, operation, view
from tinynet.core.declaration.out_argument import OutRules
from tinynet.core.messages import kind_of
from tinynet.core.tensors.tensor import METHODS, Tensor
from tinynet.dtypes import Array
from tinynet.ops.arguments import EXPECTED, keywords, refuse_others, too_few
from tinynet.ops.shaping.joining import cat, together

# ---- copies of views ----------------------------------------------------------------------------
# Declared with the view: ``expand_copy`` and the like.


F = TypeVar("F")
SEVERAL = EXPECTED._replace(silent=True)


@operation(node="CloneBackward0", complex=True, order="")
def contiguous_copy(self: Array, /, wanted: Any = layouts.contiguous_format) -> Array:
    """Return a copy in row-major order or another memory format."""
    if wanted is layouts.contiguous_format:
        return np.array(self, order="C")
    return layouts.arranged(self, wanted)


contiguous_copy.grad(self=lambda g: g)


def copied(
    call: str, shown: object, out: bool | OutRules = EXPECTED, method: bool = False
) -> Callable[[F], F]:
    """Declare for a view the function ``name_copy``, which returns a copy of it.

    Args:
        call: a call for the example of its docstring, on the matrix ``x`` of 1 and 2.
        shown: the result of the call, as lists.
        out: the rules of its argument ``out=``.
        method: whether it is a Tensor method too.
    """

    def declare(declared: F) -> F:
        view: Any = declared.function if isinstance(declared, Operation) else declared
        name = view.__name__.rstrip("_")  # ``slice_`` hides no builtin
        with_names = keywords(view)

        def function(self: Tensor, *args: Any, **kwargs: Any) -> Any:
            refuse_others(f"{name}_copy", self=self)
            if name == "view":  # its copy takes any strides
                self = contiguous_copy.function(self)
            found = with_names(self, *args, **kwargs)
            if isinstance(found, tuple):
                return tuple(contiguous_copy.function(part) for part in found)
            return contiguous_copy.function(found)

        function.__name__ = function.__qualname__ = f"{name}_copy"
        function.__doc__ = f"""Return a copy of what ``{name}`` returns.

        Raises:
            TypeError: the input is not a tensor; otherwise as ``{name}``.

        Example:
            >>> x = tn.tensor([[1.0, 2.0]])
            >>> {call}.tolist()
            {shown}
        """
        composite(function, method=method, out=out)
        return declared

    return declare


@copied("tn.alias_copy(x)", [[1.0, 2.0]])
def alias_(self: Tensor) -> Tensor:
    """Return the tensor itself."""
    return self


copied("tn.detach_copy(x)", [[1.0, 2.0]], out=True)(METHODS["detach"])


# ---- shared helpers -----------------------------------------------------------------------------


def axis_of(dim: int, ndim: int) -> int:
    """Return a dimension counted from the front; raise IndexError if it is out of range."""
    if dim.__class__ is int:
        if 0 <= dim < ndim:
            return dim
        if -ndim <= dim < 0:
            return dim + ndim
    elif dim.__class__ is bool:
        raise TypeError("argument 'dim' must be int, not bool")
    else:
        dim = operator.index(dim)
    count = ndim or 1
    if not -count <= dim < count:
        raise errors.dim_range(dim, ndim)
    return dim % count


Ints = int | Sequence[int]


def sizes(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a shape given as ``f(2, 3)``, ``f((2, 3))`` or ``f(x.shape)``.

    Raises:
        TypeError: one is not an integer, or the first a boolean; PyTorch takes booleans after it.
    """
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = tuple(args[0])
    if args and isinstance(args[0], bool):
        raise TypeError("sizes must be tuple of ints, not bool")
    return tuple(map(operator.index, args))


def fitted(args: tuple[Any, ...], count: int) -> tuple[int, ...]:
    """Return a shape given as for ``sizes``, with a size instead of -1, for ``count`` elements.

    Raises:
        TypeError: as ``sizes``.
        RuntimeError: the shape does not fit.
    """
    shape = tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    least = product = 1
    for n in shape:
        if n.__class__ is not int:
            return fitted(tuple(map(int, sizes(args))), count)
        least, product = n if n < least else least, product * n
    if least >= 0 and product == count:
        return shape
    if least == -1 and product and shape.count(-1) == 1 and count % product == 0:
        at = shape.index(-1)
        return shape[:at] + (-count // product,) + shape[at + 1 :]
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if least < -1:
        raise RuntimeError(
            f"invalid shape dimension {least} at index {shape.index(least)} of shape {list(shape)}"
        )
    if least == -1 and product == count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")


@operation(complex=True)
def embed(self: Array, /, shape: tuple[int, ...], index: tuple[Any, ...]) -> Array:
    """Return zeros of ``shape`` with ``self`` at ``index``: the derivative of a selection."""
    whole = np.zeros(shape, self.dtype)
    whole[index] = self
    return whole


embed.grad(self=lambda g, index: g[index])

# ---- views --------------------------------------------------------------------------------------


@view(node="AliasBackward0", order="iterated")
def alias(self: Array, /) -> Array:
    """Return a view of the entire tensor."""
    return self[...]


alias.grad(self=lambda g: g)


@view(node="ViewBackward0")
def view_as_shape(self: Array, /, shape: tuple[int, ...]) -> Array:
    """Return a view with another shape."""
    try:
        return self.reshape(shape) if self.flags.c_contiguous else self.reshape(shape, copy=False)
    except ValueError:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        ) from None


view_as_shape.grad(self=lambda g, self_shape: reshape(g, self_shape))


@operation(node="UnsafeViewBackward0", complex=True)
def reshape_copy(self: Array, /, shape: tuple[int, ...]) -> Array:
    """Return a copy with another shape, where no view is possible."""
    return np.array(self, order="C").reshape(shape)


reshape_copy.grad(self=lambda g, self_shape: reshape(g, self_shape))


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """Return ``x`` in another shape: a view where possible, otherwise a copy."""
    if not isinstance(x, Tensor):
        return x.reshape(shape)
    if not x._array.flags.c_contiguous:
        try:
            x._array.reshape(shape, copy=False)
        except ValueError:
            return reshape_copy.function(x, shape)
    return view_as_shape.function(x, shape)


@copied("tn.transpose_copy(x, 0, 1)", [[1.0], [2.0]])
@view(public=True, aliases=("swapdims",))
def transpose(self: Array, /, dim0: int, dim1: int) -> Array:
    """Return a view with two dimensions swapped.

    Example:
        >>> tn.zeros(2, 3, 4).transpose(0, 2).shape
        tinynet.Size([4, 3, 2])
    """
    if self.ndim == 0:
        axis_of(dim0, 0), axis_of(dim1, 0)
        return self[...]
    try:
        return self.swapaxes(dim0, dim1)
    except IndexError:
        axis_of(dim0, self.ndim), axis_of(dim1, self.ndim)
        raise


transpose.grad(self=lambda g, dim0, dim1: transpose(g, dim0, dim1))


@copied("tn.t_copy(x)", [[1.0], [2.0]])
@view(public=True)
def t(self: Array, /) -> Array:
    """Transpose a matrix; vectors and scalars stay. More dimensions raise RuntimeError.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).t()
        tensor([[1, 3],
                [2, 4]])
    """
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


t.grad(self=lambda g: t(g))


@view(node="PermuteBackward0")
def permute_dims(self: Array, /, dims: tuple[int, ...]) -> Array:
    """Return a view with the dimensions in another order."""
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {self.ndim} is not "
            f"equal to len(dims) = {len(dims)}"
        )
    try:
        return self.transpose(dims)
    except ValueError:
        for d in dims:
            axis_of(d, self.ndim)
        raise RuntimeError("permute(): duplicate dims are not allowed.") from None


permute_dims.grad(self=lambda g, dims: permute_dims(g, _inverse(dims)))


def _inverse(dims: tuple[int, ...]) -> tuple[int, ...]:
    order = [d % len(dims) for d in dims]
    return tuple(order.index(i) for i in range(len(order)))


@view(node="ExpandBackward0")
def expand_to(self: Array, /, shape: tuple[int, ...]) -> Array:
    """Return a view in which dimensions of length 1 repeat without copying."""
    wide = layouts.expanded(self, shape)
    if wide is None:
        raise _not_expandable(self, shape)
    return wide  # core/graph/inplace.py refuses overlapping writes


def _not_expandable(array: Array, shape: tuple[int, ...]) -> RuntimeError:
    old, new = array.shape, len(shape) - array.ndim
    if new < 0:
        return too_few(kind_of(array).partition(" ")[0], old, shape)
    if min(shape[:new], default=0) < 0:
        return RuntimeError(
            "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
            "dimension 0"
        )
    places = enumerate(zip(shape[new:], old, strict=True), new)
    at, n, size = max((i, n, m) for i, (n, m) in places if m not in (1, n) and n != -1 or n < -1)
    return RuntimeError(
        f"The expanded size of the tensor ({n}) must match the existing size ({size}) at "
        f"non-singleton dimension {at}.  Target sizes: {list(shape)}.  Tensor sizes: {list(old)}"
    )


expand_to.grad(self=lambda g: g)  # the engine sums it to the input's shape


def expand(x: Any, shape: tuple[int, ...]) -> Any:
    """Return ``x`` broadcast to ``shape``."""
    return expand_to(x, shape) if isinstance(x, Tensor) else np.broadcast_to(x, shape)


def _with_ones(g: Any, self_shape: tuple[int, ...]) -> Any:
    """Return ``g`` with exactly those dimensions of length 1 that a shape has."""
    if not isinstance(g, Tensor):
        return g.reshape(self_shape)
    for d, n in enumerate(self_shape):
        if g.shape[d : d + 1] != (n,) and g.ndim < len(self_shape):
            g = unsqueeze(g, d)
    extra = [d for d, n in enumerate(g.shape) if self_shape[d : d + 1] != (n,)]
    return squeeze_dim(g, extra[0]) if g.ndim > len(self_shape) else g


@copied("tn.unsqueeze_copy(x, 0)", [[[1.0, 2.0]]])
@view(public=True)
def unsqueeze(self: Array, /, dim: int) -> Array:
    """Return a view with a new dimension of length 1 at ``dim``.

    Example:
        >>> tn.tensor([1, 2]).unsqueeze(1).shape
        tinynet.Size([2, 1])
    """
    return layouts.inserted(self, axis_of(dim, self.ndim + 1))


unsqueeze.grad(self=_with_ones)


@view(node="SqueezeBackward0")
def squeeze_all(self: Array, /) -> Array:
    """Return a view without dimensions of length 1."""
    return np.squeeze(self)[...]


squeeze_all.grad(self=_with_ones)


@view(node="SqueezeBackward1")
def squeeze_dim(self: Array, /, dim: int) -> Array:
    """Return a view without the dimension if its length is 1."""
    axis = axis_of(dim, self.ndim)
    return np.squeeze(self, axis) if self.ndim and self.shape[axis] == 1 else self[...]


squeeze_dim.grad(self=_with_ones)


@view(node="SqueezeBackward2")
def squeeze_dims(self: Array, /, dim: tuple[int, ...]) -> Array:
    """Return a view without the given dimensions of length 1."""
    axes = tuple(axis_of(d, self.ndim) for d in dim)
    return np.squeeze(self, tuple(a for a in axes if self.ndim and self.shape[a] == 1))[...]


squeeze_dims.grad(self=_with_ones)


@copied("tn.select_copy(x, 1, 0)", [1.0], out=True)
@view(public=True)
def select(self: Array, /, dim: int, index: int) -> Array:
    """Return a view of one slice, without its dimension.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).select(0, 1)
        tensor([3, 4])
    """
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, self.ndim)
    n = self.shape[axis]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at "
            f"dimension {axis}"
        )
    return self[(slice(None),) * axis + (index, ...)]


select.grad(
    self=lambda g, self_shape, dim, index: embed(
        g, self_shape, (slice(None),) * (dim % len(self_shape)) + (index, ...)
    )
)
derivative(
    select, "SelectBackwardBackward0", grad_output=lambda g, dim, index: select(g, dim, index)
)


@view(node="SliceBackward0")
def cut(self: Array, /, dim: int, part: slice) -> Array:
    """Return a view of a range of one dimension."""
    return self[(slice(None),) * dim + (part,)]


cut.grad(self=lambda g, self_shape, dim, part: embed(g, self_shape, (slice(None),) * dim + (part,)))
derivative(cut, "SliceBackwardBackward0", grad_output=lambda g, dim, part: cut(g, dim, part))


@copied("tn.slice_copy(x, 1, 1)", [[2.0]], out=True)
def slice_(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Return a view of a range of one dimension."""
    return cut.function(self, axis_of(dim, self._array.ndim), slice(start, end, step))


# ---- several views of one tensor ----------------------------------------------------------------


@copied("tn.unbind_copy(x)[0]", [1.0, 2.0], out=SEVERAL)
@view(public=True, many=True)
def unbind(self: Array, /, dim: int = 0) -> list[Array]:
    """Return views of all slices along a dimension, like iteration over the tensor.

    Example:
        >>> tn.tensor([[1, 2], [3, 4]]).unbind()
        (tensor([1, 2]), tensor([3, 4]))
    """
    if self.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axis = axis_of(dim, self.ndim)
    before: tuple[Any, ...] = (slice(None),) * axis
    return [self[before + (i, ...)] for i in range(self.shape[axis])]


unbind.grad(self=lambda g, dim: together(g, axis_of(dim, g[0].ndim + 1)))


@view(many=True, node="SplitBackward0")
def split_at(self: Array, /, starts: tuple[int, ...], dim: int) -> list[Array]:
    """Return views of consecutive ranges of one dimension."""
    before = (slice(None),) * dim
    return [self[before + (slice(a, b),)] for a, b in zip(starts, starts[1:], strict=False)]


split_at.grad(self=lambda g, dim: cat(g, dim))


@view(many=True, node="SplitWithSizesBackward0")
def split_in_sizes(self: Array, /, starts: tuple[int, ...], dim: int) -> list[Array]:
    """Return views of consecutive ranges of one dimension."""
    return split_at.kernel(self, starts, dim)


split_in_sizes.grad(self=lambda g, dim: cat(g, dim))

# ---- the views of in-place methods --------------------------------------------------------------


@view(node="SqueezeBackward3")
def squeezed(self: Array, /) -> Array:
    """Return the view that ``squeeze_()`` makes."""
    return squeeze_all.kernel(self)


squeezed.grad(self=_with_ones)


@view(node="SqueezeBackward4")
def squeezed_dim(self: Array, /, dim: int) -> Array:
    """Return the view that ``squeeze_(dim)`` makes."""
    return squeeze_dim.kernel(self, dim)


squeezed_dim.grad(self=_with_ones)
