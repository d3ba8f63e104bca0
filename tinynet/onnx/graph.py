"""An ONNX graph in the making: nodes, constants, and lengths that are computed when it runs.

The table has the form of each operation, which adds nodes to a graph.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from tinynet.capture.program import Handle, Value, same
from tinynet.dtypes import Array
from tinynet.onnx.errors import NoFormError


class Size:
    """A length that follows the sizes of the inputs.

    It is not an int: code that needs a fixed length fails instead of computing with an example's.

    Attributes:
        values: the length in each capture.
    """

    __slots__ = ("values",)

    def __init__(self, values: tuple[int, ...]):
        self.values = values

    def __repr__(self) -> str:
        return "/".join(map(str, self.values))


class Varying:
    """Another constant that follows the sizes of the inputs, such as a mask.

    Attributes:
        values: the constant in each capture.
    """

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]):
        self.values = values

    def __repr__(self) -> str:
        return "a constant that depends on a dynamic dimension"


class DifferentError(Exception):
    """Captures at different sizes did different things."""


def merged(parts: list[Any]) -> Any:
    """Merge one constant or value of each capture.

    Returns:
        The constant or value that they share, or a `Size` or `Varying`; of structures, one with
        these inside.

    Raises:
        DifferentError: the structures differ.
    """
    first = parts[0]
    kind = type(first)
    if any(type(part) is not kind for part in parts):
        raise DifferentError
    if isinstance(first, (Value, Handle)):
        if any(part.number != first.number for part in parts):
            raise DifferentError
        return first
    if isinstance(first, (tuple, list)):
        if any(len(part) != len(first) for part in parts):
            return Varying(tuple(parts))
        inner = [merged(list(column)) for column in zip(*parts, strict=True)]
        return kind(*inner) if hasattr(first, "_fields") else kind(inner)
    if kind is dict:
        if any(list(part) != list(first) for part in parts):
            raise DifferentError
        return {key: merged([part[key] for part in parts]) for key in first}
    if kind is slice:
        fields = ([getattr(p, name) for p in parts] for name in ("start", "stop", "step"))
        return slice(*map(merged, fields))
    if all(same(first, part) for part in parts):
        return first
    return Size(tuple(parts)) if kind is int else Varying(tuple(parts))


def is_fixed(structure: Any) -> bool:
    """Return whether nothing in a structure follows the sizes of the inputs."""
    if isinstance(structure, (tuple, list)):
        return all(map(is_fixed, structure))
    if isinstance(structure, dict):
        return all(map(is_fixed, structure.values()))
    if isinstance(structure, slice):
        return is_fixed([structure.start, structure.stop, structure.step])
    return not isinstance(structure, (Size, Varying))


def product(lengths: Any) -> Any:
    """Return the product of lengths, an int or a `Size`."""
    lengths = [*lengths]
    sizes = [n.values for n in lengths if isinstance(n, Size)]
    fixed = math.prod(n for n in lengths if not isinstance(n, Size))
    if not sizes:
        return fixed
    return Size(tuple(fixed * math.prod(column) for column in zip(*sizes, strict=True)))


# ---- the graph ----


Lengths = Sequence[Any]  # of int and Size


class Ref:
    """A value of the graph.

    Attributes:
        name: its name in the graph.
        dtype: numpy's dtype.
        shape: its lengths, ints and `Size`; None for intermediate values of one operation.
    """

    __slots__ = ("dtype", "name", "shape")

    def __init__(self, name: str, dtype: Any, shape: Lengths | None = None):
        self.name, self.dtype = name, dtype
        self.shape: Any = None if shape is None else tuple(shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def axis(self, dim: Any) -> int:
        """Return a dimension counted from the front."""
        return int(dim) % max(self.rank, 1)


class Node:
    """One node: the name of an ONNX operation, names of values, and attributes."""

    __slots__ = ("attributes", "inputs", "op", "outputs", "place")

    def __init__(self, op: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any]):
        self.op, self.inputs, self.outputs, self.attributes = op, inputs, outputs, attributes
        self.place = ""  # the user's line


class Graph:
    """A graph that grows by calls: ``g("Gemm", x, w, transB=1)`` adds a node and returns its value.

    Attributes:
        opset: the version of ONNX's operations.
        inputs, outputs: the values that are passed to it, and that it returns.
        nodes: in the order of their computation.
        initializers: name -> constant array.
        results: shape and dtype of each result of the call that is being translated.
        place: the user's line of that call.
    """

    def __init__(self, opset: int):
        self.opset = opset
        self.inputs: list[Ref] = []
        self.outputs: list[Ref] = []
        self.nodes: list[Node] = []
        self.initializers: dict[str, Array] = {}
        self.results: list[tuple[Any, Any]] = []
        self.place = ""
        self._numbers = itertools.count()
        self._constants: dict[Any, Ref] = {}
        self._lengths: dict[tuple[int, ...], Ref] = {}
        self._dimensions: dict[tuple[int, ...], tuple[Ref, int]] = {}

    @property
    def shape(self) -> Any:
        """The shape of the first result of the call."""
        return self.results[0][0]

    @property
    def dtype(self) -> Any:
        """The dtype of the first result of the call."""
        return self.results[0][1]

    # ---- nodes ------------------------------------------------------------------------------

    def __call__(
        self, op: str, *inputs: Any, outputs: int = 1, dtype: Any = None, **attributes: Any
    ) -> Any:
        """Add a node.

        Args:
            op: its operation.
            inputs: values, None for one that is left out, numbers (in the dtype of the first
                value) or arrays.
            outputs: the number of results.
            dtype: the results', by default the first value's.
            attributes: the node's; None is left out.

        Returns:
            The result, or a list of several.
        """
        first = next((x for x in inputs if isinstance(x, Ref)), None)
        kind = None if first is None else first.dtype
        names = ["" if x is None else self.value(x, kind).name for x in inputs]
        while names and not names[-1]:  # onnxruntime crashes at some that are left out at the end
            names.pop()
        made = [
            Ref(f"{op}_{next(self._numbers)}", kind if dtype is None else np.dtype(dtype))
            for _ in range(outputs)
        ]
        given = {key: value for key, value in attributes.items() if value is not None}
        node = Node(op, names, [ref.name for ref in made], given)
        node.place = self.place
        self.nodes.append(node)
        return made[0] if outputs == 1 else made

    def value(self, x: Any, kind: Any) -> Ref:
        """Return a value, or the constant for a number or array; numbers get the dtype ``kind``."""
        if isinstance(x, Ref):
            return x
        if isinstance(x, (Size, Varying)):
            raise NoFormError("a number follows a dynamic dimension")
        return self.constant(x, None if isinstance(x, (np.ndarray, np.generic)) else kind)

    def constant(self, x: Any, kind: Any = None) -> Ref:
        """Return the value of a constant, stored once."""
        array = np.asarray(x, kind)
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._constants:
            name = f"constant_{next(self._numbers)}"
            self.initializers[name] = array
            self._constants[key] = Ref(name, array.dtype, array.shape)
        return self._constants[key]

    def integers(self, *numbers: Any) -> Ref:
        """Return a constant vector of int64."""
        if not is_fixed(numbers):
            raise NoFormError("a number follows a dynamic dimension")
        return self.constant(np.array(numbers, np.int64))

    def cast(self, x: Any, kind: Any) -> Ref:
        """Return a value in another dtype."""
        kind = np.dtype(kind)
        if isinstance(x, Size):  # as a number
            x = self("Squeeze", self.length(x), self.integers(0))
        if not isinstance(x, Ref):
            return self.constant(np.asarray(fixed(x)).astype(kind))
        if x.dtype == kind:
            return x
        made: Ref = self("Cast", x, to=kind, dtype=kind)
        made.shape = x.shape
        return made

    def prune(self) -> None:
        """Leave out nodes and constants that no output depends on."""
        needed = {ref.name for ref in self.outputs}
        kept = []
        for node in reversed(self.nodes):
            if not needed.isdisjoint(node.outputs):
                kept.append(node)
                needed.update(node.inputs)
        self.nodes = kept[::-1]
        self.initializers = {n: x for n, x in self.initializers.items() if n in needed}

    # ---- lengths ----------------------------------------------------------------------------

    def remember(self, ref: Ref) -> None:
        """Note the dimensions of a value, from which other lengths can be computed."""
        for axis, length in enumerate(ref.shape or ()):
            if isinstance(length, Size):
                self._dimensions.setdefault(length.values, (ref, axis))

    def length(self, n: Any) -> Ref:
        """Return a length as a vector of one int64."""
        if not isinstance(n, Size):
            return self.integers(n)
        if n.values not in self._lengths:
            self._lengths[n.values] = self._computed(n.values)
        return self._lengths[n.values]

    def _computed(self, wanted: tuple[int, ...]) -> Ref:
        """Compute a length from the dimensions that are known."""
        if wanted in self._dimensions:
            ref, axis = self._dimensions[wanted]
            made: Ref = self("Shape", ref, start=axis, end=axis + 1, dtype=np.int64)
            return made
        for known in self._dimensions:
            pairs = [*zip(wanted, known, strict=True)]
            if all(k and n % k == 0 and n // k == wanted[0] // known[0] for n, k in pairs):
                factor = self.integers(wanted[0] // known[0])
                return self("Mul", self.length(Size(known)), factor)
            if len({n - k for n, k in pairs}) == 1:
                rest = self.integers(wanted[0] - known[0])
                return self("Add", self.length(Size(known)), rest)
        for known in self._dimensions:
            if all(k and n % k == 0 for n, k in zip(wanted, known, strict=True)):
                other = tuple(n // k for n, k in zip(wanted, known, strict=True))
                if other in self._dimensions:
                    parts = self.length(Size(known)), self.length(Size(other))
                    return self("Mul", *parts)
        raise NoFormError(f"a length ({Size(wanted)}) follows no dimension of a value")

    def lengths(self, shape: Lengths) -> Ref:
        """Return a shape as a vector of int64."""
        if is_fixed(shape):
            return self.integers(*shape)
        return self("Concat", *map(self.length, shape), axis=0)

    def reshape(self, x: Ref, shape: Lengths) -> Ref:
        """Return a value in another shape."""
        if x.shape is not None and _equal(x.shape, shape):
            return x
        short: list[Any] = [
            0
            if isinstance(n, Size) and x.shape is not None and _equal(x.shape[i : i + 1], [n])
            else n
            for i, n in enumerate(shape)
        ]
        open_ = [i for i, n in enumerate(short) if isinstance(n, Size)]
        if len(open_) == 1:
            short[open_[0]] = -1
        made: Ref = self("Reshape", x, self.lengths(short if len(open_) < 2 else shape))
        made.shape = tuple(shape)
        return made

    def expand(self, x: Ref, shape: Lengths) -> Ref:
        """Return a value broadcast to a shape."""
        made: Ref = self("Expand", x, self.lengths(shape))
        made.shape = tuple(shape)
        return made

    def full(self, shape: Lengths, value: Any, kind: Any) -> Ref:
        """Return a value filled with a number."""
        return self.expand(self.constant(value, kind), shape)


def _equal(one: Lengths, other: Lengths) -> bool:
    """Return whether two shapes are the same at any size of the inputs."""
    as_values = [[n.values if isinstance(n, Size) else n for n in shape] for shape in (one, other)]
    return as_values[0] == as_values[1]


def fixed(x: Any) -> Any:
    """Return a number or structure of numbers; refuse one that follows a dynamic dimension."""
    if not is_fixed(x):
        raise NoFormError("a number follows a dynamic dimension")
    return x


# ---- the table of forms ----


F = TypeVar("F", bound=Callable[..., Any])

FORMS: dict[str, Callable[..., Any]] = {}
"""The name of an operation, or ``module:name`` of another function on arrays -> its form.

A form gets the graph and the arguments of the kernel, with a `Ref` for each array. It adds nodes,
and returns the results; for an operation that writes to its first argument, its new value.
"""

PUT_BACK: dict[str, Callable[..., Any]] = {}
"""The name of a view -> a function of the graph, the viewed value, the new value of the view, and
the attributes of the view; it returns the new viewed value."""

RANDOM = (
    "random:", "ops.creation.random", "ops.creation.drawing:", "ops.creation.multinomial:",
    "ops.creation.reparameterized:",
    "nn.functional.dropouts:", "nn.functional.activation.", "nn.init:",
)  # fmt: skip
"""How the names of functions begin whose results are not constants."""


def form(*names: str) -> Callable[[F], F]:
    """Declare the form of operations."""

    def declare(function: F) -> F:
        FORMS.update(dict.fromkeys(names, function))
        return function

    return declare


def put_back(*names: str) -> Callable[[F], F]:
    """Declare how a write to views changes the viewed value."""

    def declare(function: F) -> F:
        PUT_BACK.update(dict.fromkeys(names, function))
        return function

    return declare


def renamed(names: dict[str, str]) -> None:
    """Declare operations of the inputs' dtype that ONNX has under other names."""
    for name, op in names.items():
        FORMS[name] = _computing(op)


_LOGICAL = {"Add": "Or", "Mul": "And", "Max": "Or", "Min": "And"}  # of bools


def _computing(op: str) -> Callable[..., Any]:
    def compute(g: Graph, *inputs: Any) -> Any:
        return g(_LOGICAL.get(op, op) if g.dtype == bool else op, *as_result(g, *inputs))

    return compute


def as_result(g: Graph, *inputs: Any) -> list[Ref]:
    """Return values and numbers in the dtype of the result."""
    return [g.cast(x, g.dtype) for x in inputs]


def together(g: Graph, *inputs: Any) -> list[Ref]:
    """Return values and numbers in their common dtype."""
    kinds = [x.dtype if isinstance(x, Ref) else x for x in inputs]
    common = np.result_type(*kinds)
    return [g.cast(x, common) for x in inputs]


def choose(g: Graph, condition: Any, x: Any, other: Any, kind: Any) -> Any:
    """Return elements of ``x`` where a condition holds, else of another value, in a dtype."""
    chosen, x, other = g.cast(condition, bool), g.cast(x, kind), g.cast(other, kind)
    if chosen.dtype == x.dtype:  # onnxruntime has no Where of bools
        return g("Or", g("And", chosen, x), g("And", g("Not", chosen), other))
    return g("Where", chosen, x, other, dtype=kind)


def fits(x: Ref, *numbers: float) -> bool:
    """Return whether numbers can be attributes of a node, which are in float32."""
    return x.dtype != np.float64 or all(float(np.float32(n)) == n for n in numbers)
