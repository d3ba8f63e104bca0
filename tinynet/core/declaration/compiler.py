"""The compiler of declarations: makes a straight-line function and a node class from each.

It works like ``dataclasses``: it generates source text, runs ``exec`` once, and stores the text in
``linecache`` for tracebacks. Whatever a declaration fixes is decided here, not at each call. All
functions share one namespace, in which kernels can be replaced (``core/trace.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from sys import _getframe as getframe
from types import FunctionType
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core import arrays, complex_rules, layouts, seams
from tinynet.core.callsite import COMPILED, OUTSIDE, execute, is_outside, outward
from tinynet.core.declaration import casting, codegen
from tinynet.core.declaration.out_argument import written
from tinynet.core.graph.inplace import run_inplace
from tinynet.core.graph.node import Freed, Node, already_freed, count_nodes, restore
from tinynet.core.graph.recorded_backward import backward_recorded, unpack
from tinynet.core.graph.saved_hooks import SavedTensor
from tinynet.core.graph.views import MULTIPLE, edge_of, make_view, requires_grad, view_edge
from tinynet.core.modes import inference, mode
from tinynet.core.numpy_errors import explain
from tinynet.core.tensors import subclasses
from tinynet.core.tensors.tensor import UNRECORDED, VIEW, Tensor, counter_of, wrap
from tinynet.core.tensors.version import INFERENCE, NUMBER, Version
from tinynet.core.trace import observable, observers, traced
from tinynet.kernels import low_precision

NAMESPACE = observable.namespace
NAMESPACE.update(
    __name__="tinynet.ops.compiled",
    Tensor=Tensor,
    ndarray=np.ndarray,
    asarray=np.asarray,
    new=object.__new__,
    NUMBERS=frozenset({float, int, bool}),
    number_of=dtypes.number_of,
    VIEW=VIEW,
    UNRECORDED=UNRECORDED,
    NUMBER=NUMBER,
    MULTIPLE=MULTIPLE,
    Version=Version,
    OUTSIDE=OUTSIDE,
    is_outside=is_outside,
    mode=mode,
    INFERENCE=INFERENCE,
    getframe=getframe,
    outward=outward,
    view_edge=view_edge,
    requires_grad=requires_grad,
    may_share_memory=np.may_share_memory,
    Recorded=seams.Recorded,
    edge_of=edge_of,
    make_view=make_view,
    counter_of=counter_of,
    count_nodes=count_nodes,
    restore=restore,
    Freed=Freed,
    already_freed=already_freed,
    promoted=dtypes.result_type,
    floating_kind=dtypes.floating_kind,
    wrap=wrap,
    converted=arrays.converted,
    written=written,
    explain=explain,
    run_inplace=run_inplace,
    observers=observers,
    SUBCLASSES=subclasses.SUBCLASSES,
    dispatched=subclasses.dispatched,
    **{name: traced(function) for name, function in layouts.ORDERS.items()},
)
inference.track(NAMESPACE)


OPERATOR = " operator"


def lazy(op: Any, declared: FunctionType, operator: bool = False) -> FunctionType:
    """Return the public function of ``op``; its code is compiled at the first call.

    Args:
        op: the operation.
        declared: the declared function, for its defaults and docstring.
        operator: make the form behind Python's operator, which returns NotImplemented for unknown
            operands.
    """
    NAMESPACE[f"{op.name}_op"] = op
    observable.add(f"{op.name}_kernel", op)
    function = FunctionType(_stub.__code__, NAMESPACE, op.name)
    _forget(function, op.name + OPERATOR if operator else op.name)
    function.__defaults__ = declared.__defaults__
    out = {"out": None} if op.takes_out else {}
    function.__kwdefaults__ = {**(declared.__kwdefaults__ or {}), **out}
    function.__doc__ = declared.__doc__
    # The public module, for users and pickle: the declaring module holds the Operation instead.
    public = (declared.__module__ or "").startswith("tinynet.ops.")
    function.__module__ = "tinynet.ops" if public else declared.__module__
    function.__qualname__ = op.name
    function.__wrapped__ = declared  # type: ignore[attr-defined]  # signature for help()
    return function


@functools.cache
def in_place(op: Any, what: str, operator: bool = False, **rules: bool) -> Callable[..., Tensor]:
    """Return the function that applies ``op`` in place; its code is compiled at the first call.

    Args:
        op: the operation.
        what: name of the function, as messages show it.
        operator: see ``lazy``.
        rules: the last arguments of ``run_inplace``.
    """
    NAMESPACE[f"{op.name}_ufunc"] = op.ufunc
    name = f"{op.name}_{what}"
    function = NAMESPACE[name] = FunctionType(_stub.__code__, NAMESPACE, what)
    _forget(function, name)
    function.__defaults__ = op.declared.__defaults__
    function.__kwdefaults__ = op.declared.__kwdefaults__
    function.__qualname__ = what
    _inplace[name] = function, (op, what, operator, rules)
    return function


_inplace: dict[str, tuple[FunctionType, tuple[Any, ...]]] = {}


def _stub(*args, **kwargs):  # type: ignore[no-untyped-def]  # runs with NAMESPACE as its globals
    return first_call(getframe(0).f_code.co_name, args, kwargs)


def first_call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compile an operation and run it."""
    if name in _inplace:
        function, form = _inplace[name]
        function.__code__ = _execute(name, codegen.InPlace(*form).source()).__code__
        call_input(function)
        return function(*args, **kwargs)
    op = NAMESPACE[f"{name.removesuffix(OPERATOR)}_op"]
    operator = name.endswith(OPERATOR)
    compile_operation(op, operator)
    return (op.operator if operator else op.function)(*args, **kwargs)


NAMESPACE["first_call"] = first_call


def compile_operation(op: Any, operator: bool) -> None:
    """Give a function of ``op`` its code, and make the node class."""
    if op.formulas is not None and f"{op.name}_node" not in NAMESPACE:
        node = _node_class(op, op.node_name)
        formulas = _formulas(op).items()
        observable.add_functions({k: low_precision.formula_of(op, f) for k, f in formulas})
        source = codegen.Backward(op).source()
        node.backward = _execute(f"{op.name} backward", source)  # type: ignore[method-assign]  # compiled
        if op.number_node is not None:
            node.by_number = _node_class(op, op.number_node)
            node.by_number.backward = node.backward  # type: ignore[method-assign]  # compiled
        NAMESPACE[f"{op.name}_node"] = node  # last: other threads check for it
    source = codegen.Forward(op, operator).source()
    if operator:
        op.operator.__code__ = _execute(op.name + OPERATOR, source).__code__
    else:
        op.function.__code__ = _execute(op.name, source).__code__
        call_input(op.function)


def _formulas(op: Any) -> dict[str, Any]:
    """Return the formulas of ``op`` by their names in the namespace."""
    if op.joint is not None:
        return {f"{op.name}_joint": op.joint}
    return {f"{op.name}_grad_{key}": formula for key, formula in op.formulas.items()}


def widen() -> None:
    """Make all formulas compute 16-bit floats in float32, and all kernels bfloat16."""
    for key, op in [*observable.operations.items()]:  # other threads may load operations
        op.kernel = low_precision.kernel_of(op, op.kernel)
        observable.add(key, op)
        known = _formulas(op) if f"{op.name}_node" in NAMESPACE else {}
        observable.add_functions({k: low_precision.formula_of(op, f) for k, f in known.items()})
    observable.refresh()


dtypes.before_first.append(lambda late: low_precision.switch_on(late, complex_rules, widen))


def look_for_autocast() -> None:
    """Recompile the operations with an autocast policy to check for autocast."""
    if not casting.state.used:
        casting.state.used = True
        for op in [*observable.operations.values()]:
            if op.autocast:
                _forget(op.function, op.name)


def _look_for_subclasses() -> None:
    for op in [*observable.operations.values()]:
        _forget(op.function, op.name)
        if hasattr(op, "operator"):
            _forget(op.operator, op.name + OPERATOR)
    for name, (function, _) in [*_inplace.items()]:
        _forget(function, name)


seams.subclassed.append(_look_for_subclasses)


def _forget(function: FunctionType, name: str) -> None:
    """Discard a function's code: its next call compiles it again."""
    function.__code__ = _stub.__code__.replace(co_name=name, co_filename=COMPILED)


def call_input(function: Any) -> None:
    """Rename the first parameter from ``self`` to ``input``, as in PyTorch's functions."""
    code = function.__code__
    if code.co_argcount and code.co_varnames[0] == "self":
        function.__code__ = code.replace(co_varnames=("input", *code.co_varnames[1:]))
        notes = function.__annotations__
        function.__annotations__ = {"input" if k == "self" else k: v for k, v in notes.items()}


def _execute(title: str, source: str) -> Any:
    return execute(f"{COMPILED} {title}", source, NAMESPACE)["compiled"]


def _node_class(op: Any, title: str) -> type[Node]:
    arrays, constants = codegen.saved_arrays(op), codegen.saved_constants(op)
    slots = [f"saved_{n}{end}" for n in arrays for end in ("", "_version", "_at")]
    slots += [f"saved_{n}" for n in constants]
    names = {n: n.replace("_shape", "_sym_sizes") for n in (*arrays, *constants)}
    shown = {f"_saved_{names[n]}": _saved_property(n, n in arrays) for n in names}
    shown |= {f"_raw_saved_{n}": _raw_property(n) for n in arrays}
    return type(
        title,
        (Node,),
        {
            **shown,
            "saved": tuple(arrays),
            "__slots__": tuple(slots),
            "__module__": "tinynet.autograd",
            "__doc__": f"The node of ``{op.name}``.",
            "op": op,
            "arranged": staticmethod(op.arranged),
            "inputs": op.tensors,
            "multiple": op.multiple,
            "gives_fresh": True,
            "backward_recorded": backward_recorded,
        },
    )


def _saved_property(name: str, is_array: bool) -> property:
    """Return the property for a saved value, PyTorch's ``grad_fn._saved_self``."""
    if is_array:
        return property(lambda node: unpack(node, name))

    def constant(node: Any) -> Any:
        value = getattr(node, f"saved_{name}")
        return value % 2**64 if type(value) is int else value  # PyTorch shows dimensions unsigned

    return property(constant)


def _raw_property(name: str) -> property:
    """Return the property to set hooks on a saved value: ``grad_fn._raw_saved_self``."""

    def handle(node: Any) -> SavedTensor:
        def state() -> Any:
            version = getattr(node, f"saved_{name}_version")
            return getattr(node, f"saved_{name}") if version is None else version

        return SavedTensor(state, lambda keeper: keeper.keep_one(node, name))

    return property(handle)


def filled(g: list[Any], shapes: tuple[Any, ...], kinds: tuple[Any, ...]) -> list[Any]:
    """Return the gradients of several outputs, with zeros for missing ones."""
    return [np.zeros(s, k) if x is None else x for x, s, k in zip(g, shapes, kinds, strict=True)]


observable.add_functions(
    {"filled": filled, "number": dtypes.operand, "in_opmath": low_precision.in_opmath}
)
