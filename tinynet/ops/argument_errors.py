"""Argument errors shared by families of operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import Array

_C_NAMES = {
    "BFloat16": "c10::BFloat16", "Half": "c10::Half", "Long": "long int", "Short": "short int",
    "Char": "signed char", "Byte": "unsigned char",
}  # fmt: skip


# The remedy for indices or class numbers of another dtype.
to_long = "`{0} = {0}.long()` makes it int64".format


def name_of(array: Array) -> str:
    """Return the name of a dtype as in most messages: ``"Float"``."""
    return dtypes.of(array).scalar_name


def c_name(array: Array) -> str:
    """Return the name of a dtype as in some messages: ``"float"``, ``"long int"``."""
    name = name_of(array)
    if array.dtype.kind == "c":
        return f"c10::complex<{name.removeprefix('Complex').lower()}>"
    return _C_NAMES.get(name, name.lower())


def too_few(kind: str, given: tuple[int, ...], shape: tuple[int, ...]) -> RuntimeError:
    """Return the error for an expansion to fewer dimensions."""
    return RuntimeError(
        f"expand({kind}{{{list(given)}}}, size={list(shape)}): the number of sizes provided "
        f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor "
        f"({len(given)})"
    )


def refuse_others(function: str, **given: Any) -> None:
    """Raise TypeError for the first argument that is not a tensor (``self`` is called input)."""
    for position, (name, x) in enumerate(given.items()):
        if not isinstance(x, Tensor):
            shown = "input" if name == "self" else name
            raise errors.must_be_tensor(function, shown, position + 1, x)


def refuse_other_elements(position: int, elements: Iterable[Any]) -> None:
    """Raise TypeError for the first element of a sequence that is not a tensor."""
    for i, x in enumerate(elements):
        if not isinstance(x, Tensor):
            text = f"expected Tensor as element {i} in argument {position}, but got "
            raise errors.not_a_tensor(text + type(x).__name__, x)


def refuse_outside(index: Array, n: int, dim: int) -> None:
    """Raise RuntimeError for indices outside ``[0, n)``."""
    # Viewed as unsigned, a negative index is huge, so one comparison finds both errors.
    if index.size and index.view(f"u{index.itemsize}").max() >= n:
        wrong = index[(index < 0) | (index >= n)].flat[0]
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size {n}")


def bad_dim(function: str, dim: Any, several: bool = True, overloaded: bool = True) -> TypeError:
    """Return the error for a dimension that is neither an int nor a sequence of ints.

    Args:
        function: the name of the function.
        dim: the argument.
        several: whether the function takes several dimensions.
        overloaded: whether PyTorch's function has several signatures, which its error then lists.
    """
    kind = type(dim).__name__
    if not overloaded:
        wanted = "tuple of ints" if several else "int"
        return TypeError(f"{function}(): argument 'dim' must be {wanted}, not {kind}")
    wanted = "an int or a tuple of ints" if several else "an int"
    return TypeError(
        f"{function}() received an invalid combination of arguments - got (dim={kind}, ), "
        f"but expected one of:\n  dim: {wanted}"
    )


def refuse_bool(name: str, value: Any) -> None:
    """Raise TypeError for a boolean where a kernel takes an int."""
    if value is True or value is False:
        raise TypeError(f"argument '{name}' must be int, not bool")


def no_derivative(name: str) -> Callable[[Any], Any]:
    """Return the formula of an operation without derivative, which raises under PyTorch's name."""

    def formula(g: Any) -> Any:
        if name.startswith("aten::"):
            raise RuntimeError(f"derivative for {name} is not implemented")
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


def refuse_whole(function: str, array: Array) -> None:
    """Raise NotImplementedError for integers and booleans."""
    if not dtypes.is_inexact(array.dtype):
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{name_of(array)}'")


def refuse_half(function: str, array: Array) -> None:
    """Raise NotImplementedError for half precision."""
    if dtypes.is_floating(array.dtype) and array.dtype.itemsize < 4:
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{name_of(array)}'")


def refuse_kinds(function: str, kinds: str, *arrays: Any) -> None:
    """Raise NotImplementedError for arrays of the given kinds (numpy's letters)."""
    for array in arrays:
        if isinstance(array, np.ndarray) and array.dtype.kind in kinds:
            raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{name_of(array)}'")
