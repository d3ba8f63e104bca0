"""Declarations of operations: ``@pointwise``, ``@operation``, ``@view`` and ``.grad``.

One declaration defines the function, the Tensor method, the in-place variant, the node class and
the saved values. ``ops/README.md`` shows how to write one; ``compiler.py`` turns it into a
straight-line Python function at its first call (compiling all of them at import would take longer
than importing numpy).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from tinynet import dtypes, errors
from tinynet.core import arrays
from tinynet.core.declaration import compiler
from tinynet.core.declaration.composite import COMPOSITES as COMPOSITES
from tinynet.core.declaration.composite import composite as composite
from tinynet.core.declaration.out_argument import ANY, OutRules
from tinynet.core.graph.recorded_backward import parameters
from tinynet.core.tensors.tensor import ALIASES, FUNCTIONS, METHODS, Tensor, method, wrap
from tinynet.core.tensors.version import NUMBER
from tinynet.kernels import low_precision

REGISTRY: dict[str, Operation] = {}
_COMMUTATIVE = frozenset("add mul and or xor".split())  # 2 * x is mul(x, 2), as in PyTorch
_REFLECTED = _COMMUTATIVE.union("sub truediv floordiv mod pow matmul lshift rshift".split())


class Operation:
    """One operation: its kernel, its derivative and its public functions.

    Attributes:
        name: PyTorch's name.
        kernel: arrays in, array out (``multiple``: several arrays).
        declared: the declared function; all public forms have its signature.
        tensors: names of the tensor inputs: the parameters before ``/``.
        attributes: names of the other parameters.
        kind: ``"pointwise"``, ``"plain"``, ``"view"`` or ``"sequence"`` (of tensors, as in cat).
        formulas: input name -> derivative; None without derivatives.
        joint: one function for the derivatives of all inputs, instead of ``formulas``.
        ufunc: the kernel, if it is a numpy ufunc; else None.
        recorded: input name -> the function that replaces its formula when the gradient is
            recorded, and its argument names after ``g``; see ``double_backward.py``.
        function: the public function on tensors.
        order: the function of layouts.py that lays out the results; "": the kernel does.
        complex: whether it takes complex numbers, see ``complex_rules.py``: True if it is
            holomorphic in each input, ``"given"`` if its formulas are right as given.
    """

    function: Any
    writes = False  # see core/trace.py
    formulas: dict[str, Callable[..., Any]] | None = None
    joint: Callable[..., Any] | None = None
    number_node: str | None = None  # the node's name when a formula multiplies by a number
    arranged: Callable[[Any], Any] = staticmethod(tuple)  # edges, as ``next_functions`` shows them
    into: Callable[..., None] | None = None  # writes the result over the first argument
    assigns: Callable[..., Any] | None = None  # returns what the in-place form assigns, or None
    # What few operations are, set beside their declarations:
    of_numbers = False  # all inputs may be Python numbers
    opmath = False  # numbers combined with float16 stay in float32, see kernels/low_precision.py
    of_views: frozenset[str] = frozenset()  # inputs of which PyTorch saves a view, see node.restore
    exempt: frozenset[str] = frozenset()  # inputs excluded from promotion
    frees: frozenset[str] = frozenset()  # large attributes that backward frees, like saved arrays
    mixed: Callable[[Any, Any], None] | None = None  # refuses arrays of some different dtypes

    def __init__(
        self,
        declared: FunctionType,
        kind: str,
        kernel: Callable[..., Any] | None,
        *,
        ints: str = "keep",
        outputs: Sequence[str] = (),
        hidden: Sequence[str] = (),
        differentiable: int = 1,
        result: Callable[..., Any] | None = None,
        node: str | None = None,
        public: bool = False,
        many: bool = False,
        numbers: bool | str = True,
        out: bool | OutRules = False,
        autocast: str | None = None,
        fitted: Callable[..., Any] | None = None,
        **faces: Any,
    ):
        self.name, self.declared, self.kind = declared.__name__, inspect.unwrap(declared), kind
        self._parameters(self.declared.__code__)
        self.ints, self.numbers = ints, numbers
        self.outputs, self.hidden = tuple(outputs), tuple(hidden)
        self.differentiable, self.many, self.autocast = differentiable, many, autocast
        self.result, self.fitted = result, fitted
        self.ufunc = kernel if isinstance(kernel, np.ufunc) else None
        self.kernel: Callable[..., Any] = low_precision.kernel_of(self, kernel or declared)
        self.node_name = node or f"{''.join(w.title() for w in self.name.split('_'))}Backward0"
        self.takes_out = bool(out) or (public and kind != "view" and not many)
        self.out_rules = out if isinstance(out, OutRules) else ANY
        self.recorded: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}
        self._install(public, **faces)

    def _parameters(self, code: CodeType) -> None:
        """Separate the tensor inputs, which come before ``/``, from the attributes."""
        count = code.co_posonlyargcount
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.tensors, self.attributes = names[:count], names[count:]
        self.keyword_only = code.co_kwonlyargcount

    def _install(
        self,
        public: bool,
        operator: str | None = None,
        inplace: bool | str = False,
        aliases: Sequence[str] = (),
        numbers_first: bool = False,
        order: str | None = None,
        complex: bool | str | None = None,
    ) -> None:
        if REGISTRY.get(self.name, self).declared.__code__ != self.declared.__code__:
            raise ValueError(f"operation {self.name!r} is declared twice")  # not loaded again
        REGISTRY[self.name] = self
        moves = self.kind in ("view", "sequence")  # elements, computing nothing
        self.complex = complex if complex is not None else "given" if moves else False
        self.numbers_first = numbers_first
        usual = _ORDERS.get(self.kind, "in_rows")
        self.order = usual if order is None else order
        self.function = compiler.lazy(self, self.declared)
        ALIASES.update(dict.fromkeys(aliases, self.name))
        if public:
            FUNCTIONS[self.name] = method(self.function)
        if operator is not None:
            self.operator = compiler.lazy(self, self.declared, operator=True)
            self._operators(operator)
        if inplace:
            in_place = compiler.in_place(self, f"{self.name}_")
            in_place.__doc__ = f"Write the result of ``{self.name}`` to this tensor and return it."
            self._method(in_place)
        simple = inplace is True and self.kind == "pointwise" and len(self.tensors) == 1
        if simple or inplace == "function":
            FUNCTIONS[f"{self.name}_"] = METHODS[f"{self.name}_"]

    # ---- derivative -------------------------------------------------------------------------

    def grad(self, /, **formulas: Callable[..., Any]) -> Operation:
        """Declare the derivative for each differentiable input.

        A formula's first parameter is the gradient ``g``. The names of the others determine what
        is saved: an input, an output (``result`` if there is only one) or an attribute by its
        name, or ``x_shape`` for only the shape of input x. A formula may name an array that it does
        not use: a write to it before backward is refused, as in PyTorch.

        Raises:
            TypeError: a name is unknown.
        """
        for key, formula in formulas.items():
            if key not in self.tensors:
                raise TypeError(f"{self.name} has no tensor input {key!r} to differentiate")
            self._check(formula)
        self.formulas = formulas
        return self

    def grads(self, joint: Callable[..., Any]) -> Operation:
        """Declare all derivatives in one function that returns a tuple.

        Besides the names that ``grad`` accepts, it may take ``needs``, a tuple of bools, one per
        input.
        """
        self._check(joint)
        self.joint = joint
        self.formulas = dict.fromkeys(self.tensors, joint)
        return self

    def _check(self, formula: Callable[..., Any]) -> None:
        known = {*self.tensors, *self.attributes, *self.outputs, *self.hidden, "needs", "result"}
        for t in self.tensors:
            known |= {f"{t}_shape", f"{t}_shapes"}
        for name in parameters(formula)[1:]:
            if name not in known:
                raise TypeError(
                    f"a formula of {self.name} uses {name!r}, which is not an input, output, shape "
                    f"or attribute of it; known names: {', '.join(sorted(known))}"
                )
            inputs = name in _RESERVED_FORWARD and name in (*self.tensors, *self.attributes)
            if inputs or name in _RESERVED_BACKWARD or (name == "result" and self.outputs):
                raise TypeError(
                    f"a formula of {self.name} uses the name {name!r}, which is reserved for "
                    "compiled functions: rename it"
                )

    @property
    def multiple(self) -> bool:
        """True if there are several outputs."""
        return self.many or bool(self.outputs)

    @property
    def title(self) -> str:
        """The name for users: the operation's, or for an internal form that of its node."""
        if self.formulas is None or hasattr(Tensor, self.name):
            return self.name
        forward = re.sub(r"Backwards?\d*(?=$|_copy$)", "", self.node_name)
        # A digit does not end a word: MaxPool2DWithIndices is max_pool2d_with_indices.
        return re.sub(r"(?<=[^\d_])([A-Z])", r"_\1", forward).lower()

    @property
    def written_dtypes(self) -> str:
        """The characters of the dtypes in which numpy can write the result to the first input."""
        whole = "l" if self.ufunc in (np.add, np.subtract, np.multiply) else ""
        plain = self.ufunc is not None and not self.attributes and len(self.tensors) <= 2
        return f"fd{whole}" if plain and self.numbers else ""

    @property
    def saves_first(self) -> bool:
        """True if a formula needs the value of the first input."""
        return self.formulas is not None and any(
            self.tensors[0] in parameters(f)[1:] for f in self.formulas.values()
        )

    # ---- public forms -----------------------------------------------------------------------

    def _operators(self, operator: str) -> None:
        """Bind Python's operator, its reflected form and its in-place form."""
        forward = self.operator
        method(forward, f"__{operator}__")
        if operator not in _REFLECTED:
            return

        def reflected(self: Tensor, other: Any) -> Any:
            return forward(other, self)

        swapped = forward if operator in _COMMUTATIVE else reflected
        self._method(swapped, f"__r{operator}__")
        self._method(compiler.in_place(self, f"__i{operator}__", operator=True))

    def _method(self, function: Any, name: str | None = None) -> None:
        """Add a form of the operation as a Tensor method with the declared signature."""
        function.__wrapped__ = self.declared
        method(function, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function on tensors, or the kernel on arrays (inside formulas)."""
        for a in args:
            if isinstance(a, Tensor):
                return self.function(*args, **kwargs)
        if isinstance(args[0], np.generic):  # numpy's results of arithmetic on 0-d arrays
            args = (np.asarray(args[0]), *args[1:])
        for a in args:
            if isinstance(a, (np.ndarray, np.generic)):
                return self.kernel(*args, **kwargs)
        first = args[0]
        if isinstance(first, (list, tuple)) and not any(isinstance(x, Tensor) for x in first):
            return self.kernel(*args, **kwargs)
        if hasattr(first, "apply_operation"):  # symbols, see capture/native/symbols.py
            return first.apply_operation(self, args, kwargs)
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<operation {self.name}>"

    # ---- the slow path: called by compiled functions for unusual arguments ---------------------

    def coerce(self, inputs: tuple[Any, ...], rest: dict[str, Any]) -> Any:
        """Convert numbers and arrays among the tensor inputs to tensors, then run.

        Raises:
            TypeError: an input is neither a tensor nor (for pointwise operations) a number.
        """
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        if tensors:  # numpy's scalars are numbers, without a dtype that would count
            inputs = tuple(x.item() if isinstance(x, np.generic) else x for x in inputs)
        tensors_only = self.kind != "pointwise" or (not tensors and not self.of_numbers)
        values = [x._array if isinstance(x, Tensor) else x for x in inputs]
        counted = [
            v
            for v, name in zip(values, self.tensors, strict=True)
            if name not in self.exempt and (isinstance(v, np.ndarray) or type(v) in _NUMBERS)
        ]
        kind = dtypes.result_type(counted) if counted else None
        numbers = self.numbers is True, self.numbers  # of the first input, and of the others
        made = []
        for position, x in enumerate(inputs):
            if isinstance(x, Tensor):
                made.append(x)
            elif tensors_only:
                raise self._no_tensor(position, x)
            elif type(x) in _NUMBERS and kind is not None and numbers[position > 0]:
                if self.mixed is not None and tensors and type(x) is bool:
                    self.mixed(tensors[0]._array, np.asarray(x))
                number = wrap(arrays.number(dtypes.number(x, kind), kind))
                number._counter = NUMBER  # hooks on saved tensors do not see it
                made.append(number)
            elif isinstance(x, np.ndarray):
                made.append(wrap(x))
            else:
                raise self._no_tensor(position, x)
        return self.function(*made, **rest)

    def operands(self, inputs: tuple[Any, ...], rest: dict[str, Any]) -> Any:
        """Run ``coerce`` for the operands of an operator; return NotImplemented for others."""
        return self.coerce(inputs, rest) if all(map(_is_operand, inputs)) else NotImplemented

    def _no_tensor(self, position: int, x: Any) -> TypeError:
        name = "input" if self.tensors[position] == "self" else self.tensors[position]
        return errors.must_be_tensor(self.name, name, position + 1, x)


# Local names of compiled functions, see core/declaration/codegen.py.
_RESERVED_FORWARD = frozenset("c d edges f m n o out r some t v".split())
_RESERVED_BACKWARD = frozenset("freed g n results wanted".split())
_NUMBERS = frozenset(dtypes.type_of_number)
_ORDERS = {"pointwise": "iterated", "view": ""}


def _is_operand(x: Any) -> bool:
    return isinstance(x, (Tensor, np.ndarray, np.generic)) or type(x) in _NUMBERS


def pointwise(
    kernel: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Any], Operation]:
    """Declare an elementwise operation, with broadcasting and type promotion.

    Args:
        kernel: the numpy function; the declared function itself unless given.
        inplace: also make the method ``name_`` and, for one tensor, a function of that name;
            ``"method"``: no function; ``"function"``: a function for any number of tensors.
        ints: the treatment of integers: ``"keep"``, or ``"float"`` to convert them first.
        operator: Python's operator, such as ``"mul"`` for ``*``.
        node: name of the node class; by default from the operation's name.
        public: whether it is public: a function, which takes ``out=``, and a Tensor method.
        aliases: other public names of its function, its method and ``name_``.
        out: whether the function takes ``out=`` even if it is not public, or its rules for that.
        numbers: whether an input may be a Python number; ``"other"``: not the first.
        numbers_first: whether PyTorch still takes ``alpha`` or ``beta`` before the tensors.
    """
    return lambda declared: Operation(declared, "pointwise", kernel, **options)


def operation(
    kernel: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Any], Operation]:
    """Declare an operation that is not elementwise: reductions, products, indexing, ...

    Args:
        kernel: the numpy function; the declared function itself unless given.
        order: the function of layouts.py that lays out the results, ``"in_rows"`` unless given.
        outputs: names of the outputs if there are several.
        differentiable: the number of differentiable outputs, which come first. If more than one,
            a formula's ``g`` is a tuple of their gradients, with zeros for missing ones.
        hidden: names of further arrays that the kernel returns only for the formulas.
        autocast: the dtype that autocast casts the inputs to, see core/declaration/casting.py.
        result: builds the returned value from several outputs (a named tuple).
        fitted: returns the array for an in-place result of another shape, or raises.
    """
    return lambda declared: Operation(declared, "plain", kernel, **options)


def view(kernel: Callable[..., Any] | None = None, **options: Any) -> Callable[[Any], Operation]:
    """Declare a view: its kernel returns numpy views of its input.

    Args:
        kernel: the numpy function; the declared function itself unless given.
        many: the kernel returns a list of views (``unbind``).
    """
    return lambda declared: Operation(declared, "view", kernel, **options)


def sequence(**options: Any) -> Callable[[Any], Operation]:
    """Declare an operation on a sequence of tensors: ``cat``."""
    return lambda declared: Operation(declared, "sequence", None, **options)


compiler.NAMESPACE["is_operand"] = _is_operand
