"""From a traced program to an ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tinynet.capture.program import Call, Value, leaves, rebuilt
from tinynet.capture.record.recorder import bump
from tinynet.core.tensors.tensor import Tensor
from tinynet.onnx.errors import NoFormError, UnsupportedOperatorError
from tinynet.onnx.graph import Graph, Ref, is_fixed
from tinynet.onnx.operations import FORMS, PUT_BACK, RANDOM
from tinynet.onnx.tracing import Trace, place_of


class Translation:
    """The translation of one program.

    Calls that no result depends on are left out. Those that depend on no input are computed now,
    and become constants. Writes in place become values of their own: the written value gets
    another name, and views of it are computed anew when they are used next.

    Args:
        traced: the program.
        names: the id of a parameter or buffer -> its name.
        graph: the graph to add to.
        store: make parameters constants of the graph, not inputs.
        fold: compute what depends on parameters only, too.
    """

    def __init__(
        self, traced: Trace, names: Mapping[int, str], graph: Graph, store: bool, fold: bool
    ):
        self.traced, self.graph, self._names, self._store = traced, graph, names, store
        self._makers = {v.number: c for c in traced.calls for v in c.outputs()}
        self._states = {v.number: t for t, v in traced.program.states}
        self._written = {c.args[0].memory for c in traced.calls if c.kind == "write"}
        self._refs: dict[int, Ref] = {}
        self._arrays: dict[int, Any] = {}  # of values that are computed now
        self._writes: dict[int, int] = {}  # the number of a value -> the writes to its memory
        self._seen: dict[int, int] = {}  # the number of a view -> the writes that it includes
        self._foldable = {n for n in self._states if store and fold and not self._is_written(n)}
        for call in traced.calls:
            if self._can_fold(call):
                self._foldable.update(v.number for v in call.outputs())

    def run(self, names: Sequence[str]) -> dict[str, Ref]:
        """Add the inputs, with their names, and all nodes; return the results.

        Raises:
            UnsupportedOperatorError: calls have no form in ONNX; the message names all of them.
        """
        for value, name in zip(self.traced.program.arguments, names, strict=True):
            self.graph.inputs.append(self._define(value, Ref(name, value.dtype)))
        missing: dict[tuple[str, str], None] = {}
        live = self._live()
        for call in self.traced.calls:
            if call not in live or self._is_folded(call):
                continue
            try:
                self._add(call)
            except NoFormError as error:
                for value in call.outputs():
                    self._define(value, Ref("", value.dtype))
                if not isinstance(error, _MissingInputError):
                    why = f" ({error})" if str(error) else ""
                    missing[call.title + why, place_of(call.site)] = None
        if missing:
            lines = "".join(f"\n  {title:<24} {place}".rstrip() for title, place in missing)
            raise UnsupportedOperatorError(f"these operations have no form in ONNX:{lines}")
        return {name: self.ref(value) for name, value in self.traced.results.items()}

    # ---- values -----------------------------------------------------------------------------

    def ref(self, value: Value) -> Ref:
        """Return the value as it is after the writes so far."""
        number = value.number
        maker = self._makers.get(number)
        if number in self._foldable and number not in self._refs:
            self._refs[number] = self._folded(value)
        elif number in self._states and number not in self._refs:
            self._refs[number] = self._state(value)
        elif number not in self._refs:
            raise NoFormError(f"its input is a by-product of {maker and maker.title}")
        elif maker is not None and _is_view(maker) and self._version(value) > self._seen[number]:
            self._seen[number] = self._version(value)
            self._add(maker)
        return self._refs[number]

    def _define(self, value: Value, ref: Ref) -> Ref:
        ref.shape = self.traced.shapes[value.number]
        self._refs[value.number] = ref
        self._seen[value.number] = self._version(value)
        if ref.name:
            self.graph.remember(ref)
        return ref

    def _state(self, value: Value) -> Ref:
        t = self._states[value.number]
        name = self._names.get(id(t))
        if name is None:
            return self.graph.constant(np.array(t._array))
        ref = Ref(name, t._array.dtype, t._array.shape)
        if self._store:
            self.graph.initializers[name] = np.array(t._array, order="C")
        elif all(ref.name != known.name for known in self.graph.inputs):
            self.graph.inputs.append(ref)
        return ref

    def _folded(self, value: Value) -> Ref:
        if value.number in self._states:
            return self._state(value)
        return self.graph.constant(np.array(self._array(value)))

    def _array(self, value: Value) -> Any:
        """Return a value that is computed now."""
        if value.number in self._states:
            return self._states[value.number]._array
        if value.number not in self._arrays:
            call = self._makers[value.number]
            given = rebuilt(
                (call.args, call.kwargs), lambda x: self._array(x) if isinstance(x, Value) else x
            )
            result = call.function(*given[0], **given[1])
            outputs = (x for x in leaves(result) if x is not None)
            for out, made in zip(call.outputs(), outputs, strict=True):
                self._arrays[out.number] = made._array if isinstance(made, Tensor) else made
        return self._arrays[value.number]

    def _can_fold(self, call: Call) -> bool:
        """Return whether a call depends on nothing that is known only when the graph runs."""
        return (
            call.kind == "compute"
            and not _key(call).startswith(RANDOM)
            and is_fixed((call.args, call.kwargs))
            and all(v.number in self._foldable for v in call.inputs())
            and not any(self._is_written(v.number) for v in call.outputs())
        )

    def _is_folded(self, call: Call) -> bool:
        return call.kind == "compute" and all(v.number in self._foldable for v in call.outputs())

    def _is_written(self, number: int) -> bool:
        maker = self._makers.get(number)
        values = maker.outputs() if maker else (v for _, v in self.traced.program.states)
        return any(v.memory in self._written for v in values if v.number == number)

    # ---- calls ------------------------------------------------------------------------------

    def _live(self) -> set[Call]:
        """Return the calls that the results depend on, and those that change Python objects."""
        values = {v.number for v in self.traced.results.values()}
        memory = {v.memory for v in self.traced.results.values()}
        live = set()
        for call in reversed(self.traced.calls):
            if call.kind == "write":
                needed = call.args[0].memory in memory
            elif call.kind == "perform":
                needed = call.function is not bump
            else:
                needed = any(v.number in values for v in call.outputs())
            if needed:
                live.add(call)
                values.update(v.number for v in call.inputs())
                memory.update(v.memory for v in call.inputs())
        return live

    def _add(self, call: Call) -> None:
        """Add the nodes of one call."""
        form = FORMS.get(_key(call))
        if call.kind == "perform":
            raise NoFormError("it changes Python objects")
        if form is None:
            raise NoFormError
        args, kwargs = rebuilt((call.args, call.kwargs), self._given)
        self.graph.place = place_of(call.site)
        self.graph.results = [(self.traced.shapes[v.number], v.dtype) for v in call.outputs()]
        made = form(self.graph, *args, **kwargs)
        if call.kind == "write":
            return self._write(call.args[0], made)
        made = made if isinstance(made, (tuple, list)) else [made]
        for value, ref in zip(call.outputs(), made, strict=False):
            if ref is not None:
                wanted = self.graph.cast(ref, value.dtype)
                self._define(value, Ref(wanted.name, wanted.dtype))

    def _given(self, leaf: Any) -> Any:
        """Return an argument of a form."""
        if not isinstance(leaf, Value):
            return leaf
        ref = self.ref(leaf)
        if not ref.name:
            raise _MissingInputError
        return ref

    # ---- writes in place --------------------------------------------------------------------

    def _version(self, value: Value) -> int:
        return self._writes.get(value.memory, 0)

    def _write(self, value: Value, written: Ref) -> None:
        """Replace a value by another, and what it is a view of."""
        ref = self.graph.cast(written, value.dtype)
        if ref.shape is None:
            ref = Ref(ref.name, ref.dtype, self.traced.shapes[value.number])
        while (maker := self._makers.get(value.number)) is not None and _is_view(maker):
            put = PUT_BACK.get(maker.op.name)
            if put is None:
                raise NoFormError(f"it writes to a view by {maker.title}")
            whole = next(maker.inputs())
            old, rest = self.ref(whole), [x for x in maker.args if x is not whole]
            ref = put(self.graph, old, ref, *rest)
            value, ref.shape = whole, old.shape
        self._writes[value.memory] = self._version(value) + 1
        self._define(value, Ref(ref.name, ref.dtype))


class _MissingInputError(NoFormError):
    """An input has no form, and is named already."""


def _key(call: Call) -> str:
    """Return the name of a call in the table."""
    if call.op is not None:
        return str(call.op.name)
    function = call.function
    module = getattr(function, "__module__", "").removeprefix("tinynet.")
    return f"{module}:{getattr(function, '__name__', '')}"


def _is_view(call: Call) -> bool:
    return call.op is not None and call.op.kind == "view"
