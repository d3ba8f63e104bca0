"""The Tensor: an array, and what autograd needs to know about it.

This file holds the data and what can be said about it without looking at the graph. Each further
concern adds its methods where the concern stands (``@method``): views and gradients in
``views.py``, ``gradients.py`` and ``inplace.py`` beside it, operations in ``ops/``.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tinynet import dtypes, errors, layouts
from tinynet.core.modes import inference, mode
from tinynet.core.tensors.size import Size as Size
from tinynet.core.tensors.version import INFERENCE, Version, new_version
from tinynet.devices import CPU, device, require_cpu
from tinynet.dtypes import Array
from tinynet.printing import format_tensor, shows_dtype

if TYPE_CHECKING:  # what the other files add, written out by ops/stubs.py
    from tinynet.core.tensors.methods import TensorMethods
else:
    TensorMethods = object

F = TypeVar("F")


# Beside True and False, ``_requires_grad`` can be
VIEW = 2  # ask the base
UNRECORDED = 0  # False, of what was computed under no_grad from a tensor that requires grad


class Tensor(TensorMethods):
    """A multi-dimensional array that records how it was computed.

    Make one with ``tinynet.tensor``, ``zeros``, ``rand``, ...; arithmetic, indexing and methods
    are PyTorch's.

    Attributes:
        data: the same values without history; writes to it are not seen by autograd.
        grad: the gradient, after ``backward()``, of a leaf that requires grad.
        grad_fn: the graph node that made the tensor; None for a leaf.
        requires_grad: whether operations on it are recorded.
        is_leaf: True for a tensor that no recorded operation made.

    Example:
        >>> x = tn.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    # _array          the values; its memory may be shared with other tensors
    # _counter        counts writes to that memory; None until somebody shares, saves or writes it
    # _edge           (node that made it, output number); None for a leaf
    # _requires_grad  False, True, VIEW or UNRECORDED
    # _view           what it is a view of, see core/tensors/views.py
    # _hooks          of a leaf; a non-leaf's hooks are its node's
    _counter: Version | None
    _edge: tuple[Any, int] | None
    _grad: Tensor | None
    _requires_grad: Any
    _view: Any
    _hooks: Any
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",
        "_counter",
        "_edge",
        "_grad",
        "_hooks",
        "_requires_grad",
        "_view",
    )
    _array: Array
    __array_priority__ = 1000  # numpy leaves ``array * tensor`` to Tensor.__rmul__

    def __new__(cls, *data: Any, device: Any = None) -> Tensor:
        """Make a float tensor from nested sequences, or an empty one of a size."""
        require_cpu(CPU if device is None else device)
        t: Tensor = _new(cls)
        fill(t, legacy_array(data, dtypes.default_float()))
        return t

    # ---- what it is -------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """Number of elements along each dimension.

        Example:
            >>> tn.ones(2, 3).shape
            tinynet.Size([2, 3])
        """
        return _size(Size, self._array.shape)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the length of one dimension.

        Example:
            >>> tn.ones(2, 3).size(), tn.ones(2, 3).size(-1)
            (tinynet.Size([2, 3]), 3)
        """
        if dim is None:
            return _size(Size, self._array.shape)
        ndim = self._array.ndim
        if not -ndim <= dim < ndim:
            raise errors.dim_range(dim, ndim)
        return self._array.shape[dim]

    @property
    def dtype(self) -> dtypes.dtype:
        """Data type of the elements."""
        return dtypes.of(self._array)

    @property
    def ndim(self) -> int:
        """Number of dimensions.

        Example:
            >>> tn.ones(2, 3).ndim
            2
        """
        return self._array.ndim

    def dim(self) -> int:
        """Return the number of dimensions.

        Example:
            >>> tn.ones(2, 3).dim()
            2
        """
        return self._array.ndim

    def numel(self) -> int:
        """Return the number of elements.

        Example:
            >>> tn.ones(2, 3).numel(), tn.ones(2, 3).nelement()
            (6, 6)
        """
        return self._array.size

    nelement = numel

    @property
    def itemsize(self) -> int:
        """Bytes per element.

        Example:
            >>> tn.ones(2).itemsize
            4
        """
        return self._array.itemsize

    def element_size(self) -> int:
        """Return the bytes per element.

        Example:
            >>> tn.ones(2, dtype=tn.float64).element_size()
            8
        """
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements.

        Example:
            >>> tn.ones(2, 3).nbytes
            24
        """
        return self._array.nbytes

    def stride(self, dim: int | None = None) -> Any:
        """Return the step, in elements, along each dimension (or one).

        Example:
            >>> tn.ones(2, 3).stride(), tn.ones(2, 3).t().stride(0)
            ((3, 1), 1)
        """
        steps = tuple(s // self._array.itemsize for s in self._array.strides)
        return steps if dim is None else steps[dim]

    def is_contiguous(self, memory_format: layouts.memory_format | None = None) -> bool:
        """Return True if the elements lie in memory in row-major order, or that of a format.

        Example:
            >>> tn.ones(2, 3).is_contiguous(), tn.ones(2, 3).t().is_contiguous()
            (True, False)
        """
        if memory_format is not None:
            return layouts.lies(self._array, memory_format)
        return bool(self._array.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        """Return True for bfloat16, float16, float32 and float64."""
        return dtypes.is_floating(self._array.dtype)

    def is_complex(self) -> bool:
        """Return False: there are no complex tensors."""
        return False

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 if there is none.

        Example:
            >>> x = tn.zeros(3)
            >>> x[1:].data_ptr() - x.data_ptr()
            4
        """
        return self._array.ctypes.data if self._array.size else 0

    @property
    def device(self) -> device:
        """Always the cpu."""
        return CPU

    @property
    def is_cuda(self) -> bool:
        """Always False.

        Example:
            >>> tn.ones(2).is_cuda
            False
        """
        return False

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self._array.ndim else self

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if self._array.size == 0
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self._array)

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __float__(self) -> float:
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if self.requires_grad:
            warnings.warn(errors.SCALAR_WITH_GRAD, UserWarning, stacklevel=2)
        return float(self._array.item())

    def __pos__(self) -> Tensor:
        return self

    def __int__(self) -> int:
        if self._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return int(self._array.item())

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, (Tensor, bool, int, float, np.number)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(value)}."
            )
        inner = value._array if isinstance(value, Tensor) else value
        return bool((self._array == inner).any())

    # ---- to Python and numpy ----------------------------------------------------------------

    def item(self) -> Any:
        """Return the value of a tensor of one element as a Python number.

        Raises:
            RuntimeError: it has several elements, or none.

        Example:
            >>> tn.tensor([[2.5]]).item()
            2.5
        """
        if self._array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._array.size} elements cannot be converted to Scalar"
            )
        return self._array.item()

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers.

        Example:
            >>> tn.tensor([[1, 2], [3, 4]]).tolist(), tn.tensor(5).tolist()
            ([[1, 2], [3, 4]], 5)
        """
        return self._array.tolist()

    def numpy(self, *, force: bool = False) -> Array:
        """Return the values as a numpy array that shares the memory.

        Args:
            force: also of a tensor that requires grad.

        Raises:
            RuntimeError: the tensor requires grad, outside ``no_grad``; use ``x.detach().numpy()``.
            TypeError: the dtype is bfloat16; use ``x.float().numpy()``.

        Example:
            >>> x = tn.zeros(2)
            >>> x.numpy()[0] = 7
            >>> x
            tensor([7., 0.])
        """
        if self.requires_grad and mode.grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        if self._array.dtype.kind == "V":
            raise TypeError("Got unsupported ScalarType BFloat16")
        if self.is_sparse:
            raise TypeError(
                "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
            )
        return np.asarray(self._array)  # itself; a batch refuses

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        if copy is False and dtype is not None and np.dtype(dtype) != array.dtype:
            raise ValueError("a copy is needed for the change of dtype, and copy=False forbids it")
        return np.array(array, dtype=dtype, copy=bool(copy) or None)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(errors.DEEPCOPY)
        if id(self) in memo:
            found: Tensor = memo[id(self)]
            return found
        t: Tensor = _new(type(self))
        memo[id(self)] = t
        fill(t, dense_copy(self._array))
        t._counter = new_version()
        t._counter.n = 1  # PyTorch's copy is written to once
        t._counter.writes = []
        t._requires_grad = self.requires_grad
        t._grad = copy.deepcopy(self._grad, memo)
        t.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return t

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (type(self), self._array, self.requires_grad, self.__dict__)

    # ---- printing ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self.is_sparse:
            return self._shown()
        array = self._array
        if hasattr(array, "show"):  # see batching/array.py
            return str(array.show(self))
        kind = dtypes.of(array)
        tails = []
        try:
            node = self.grad_fn
        except errors.AutogradError:  # a view whose base was written where it may not be
            node = None
            tails.append("grad_fn=<Invalid>")
        if node is not None:
            tails.append(f"grad_fn=<{node.name().rpartition('::')[2]}>")
        elif self.requires_grad and not tails:
            tails.append("requires_grad=True")
        suffix = f"dtype={kind!r}" if shows_dtype(array, dtypes.default_float()) else ""
        return format_tensor(array, suffix, tails)


_new = object.__new__
_size = tuple.__new__


def wrap(array: Array) -> Tensor:
    """Return a leaf tensor without grad that shares the memory of ``array``."""
    t: Tensor = _new(Tensor)
    fill(t, array)
    return t


def fill(t: Tensor, array: Array) -> None:
    """Set up a tensor that was just allocated: a leaf without grad."""
    t._array = array
    t._counter = t._edge = t._grad = t._view = t._hooks = None
    t._requires_grad = False
    if inference.count and mode.inference:
        t._counter = INFERENCE


def _rebuild(cls: type[Tensor], array: Array, requires_grad: bool, state: dict[str, Any]) -> Tensor:
    """Make an unpickled tensor."""
    t: Tensor = _new(cls)
    if isinstance(array, np.ndarray):  # else the rows of a sparse gradient
        array = np.asarray(array, dtype=dtypes.of(array).numpy)
    fill(t, array)
    t._requires_grad = requires_grad
    t.__dict__.update(state)
    return t


def dense_copy(array: Array) -> Array:
    """Return a copy without gaps in memory, in the order of the original (expanded: row-major)."""
    return array.copy(order="C" if 0 in array.strides else "K")


def counter_of(t: Tensor) -> Version:
    """Return the version counter of a tensor's memory, made when first needed."""
    counter: Version | None = t._counter
    if counter is None:
        counter = t._counter = new_version()
    return counter


METHODS: dict[str, Any] = {}  # those that other files added


def method(function: F, name: str | None = None) -> F:
    """Make a function (or property) a method of Tensor."""
    if isinstance(function, property):
        key = name or function.fget.__name__  # type: ignore[union-attr]
    else:
        key = name or function.__name__  # type: ignore[attr-defined]
    METHODS[key] = function
    setattr(Tensor, key, function)
    return function


def legacy_array(data: tuple[Any, ...], dtype: np.dtype[Any]) -> Array:
    """Return the array of a legacy constructor: of a size (``FloatTensor(2, 3)``), or of data.

    The elements of a size are unspecified in PyTorch; here they are zeros.
    """
    if (
        len(data) == 1
        and isinstance(data[0], (Sequence, np.ndarray))
        and not isinstance(data[0], (Size, str))
    ):
        return np.array(data[0], dtype=dtype)
    if len(data) == 1 and isinstance(data[0], Tensor):
        return data[0]._array.astype(dtype)
    if len(data) == 1 and isinstance(data[0], str):
        raise TypeError("new(): invalid data type 'str'")
    sizes = data[0] if len(data) == 1 and isinstance(data[0], Size) else data
    if not all(isinstance(n, int) for n in sizes):
        raise TypeError(f"new(): data must be a sequence or sizes (got {type(data[0]).__name__})")
    for n in sizes:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(sizes)}"
            )
    return np.zeros(sizes if data else (0,), dtype=dtype)
