"""The backward pass of a captured function, recorded for each set of outputs that may start it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.autograd.function_node import FunctionNode
from tinynet.capture.program import Call, CaptureError, Program
from tinynet.capture.record.outputs import Output
from tinynet.capture.record.pieces import Piece, Start, Token, cut, divided, standing_in
from tinynet.capture.record.recorder import Recorder
from tinynet.core.graph.engine import BackwardPass
from tinynet.core.graph.node import NOWHERE_EDGE, UNREACHED, Edge, Node
from tinynet.core.graph.views import edge_of
from tinynet.core.tensors.tensor import Tensor, wrap

EACH_SET = 4  # of up to 4 outputs whose backward passes meet, each set has a program


class Group:
    """Outputs whose backward passes meet; one node stands for them.

    Attributes:
        outputs: the outputs.
        ends: where the gradients go: tensors, numbers of arguments, or outputs of other groups,
            from which these were computed; tokens of outputs of others. One that gets several
            gradients is there several times.
        left: for outputs whose gradients come from a lead, the outputs to which the lead goes.
        programs: for sets of outputs (places in ``outputs``) that get a gradient, the backward
            pass, with these gradients as arguments and the gradients of ``ends`` as results. Of
            more than four outputs, the sets are each single one and all of them.
        reached: for each output, the ends (places) that its pass goes to.
        frees: for each output, the outputs (places) that cannot be differentiated after it was,
            unless its backward pass keeps the graph.
        followed: the memory of values that eager nodes save as their inputs: these read what
            replaces them by ``x.data = y``.
    """

    def __init__(self, outputs: list[Output], ends: list[Any]):
        self.outputs, self.ends = outputs, ends
        self.left: dict[Output, list[Output]] = {}
        self.programs: dict[tuple[int, ...], Program] = {}
        self.reached: list[set[int]] = []
        self.frees: list[set[int]] = []
        self.followed: set[int] = set()

    def same(self, other: Group) -> Call | bool | None:
        """Return True, or the first call that differs, or False."""
        mine, its = ([o.number for o in g.outputs] for g in (self, other))
        if mine != its or self.frees != other.frees or self.reached != other.reached:
            return False
        for key, program in self.programs.items():
            found = program.difference(other.programs[key])
            if found is not True:
                return found
        return True

    def reached_from(self, key: Sequence[int]) -> set[int]:
        """Return the ends (places) to which the passes from some outputs go."""
        return set().union(*(self.reached[i] for i in key))

    def marked(self, key: Sequence[int], gradients: Sequence[Any]) -> list[Any]:
        """Return gradients of the ends, with UNREACHED where no pass from some outputs goes."""
        reached = self.reached_from(key)
        return [x if place in reached else UNREACHED for place, x in enumerate(gradients)]


def groups(
    recorder: Recorder, outputs: list[Output], tensors: list[Tensor], started: int
) -> list[Group]:
    """Record the backward passes; outputs whose graph was freed have none.

    An output comes after those that it was computed from.
    """
    edges = [edge for t in tensors if (edge := edge_of(t)) is not None]
    if any(edge is NOWHERE_EDGE for edge in edges):
        raise CaptureError(
            "it uses a view of a tensor that requires grad, made without recording",
            "detach the view, or make it where gradients are recorded",
        )
    live: list[Start] = []
    spent: list[Start] = []
    with cut([edge[0] for edge in edges]):
        nodes = {edge[0] for edge in edges if isinstance(edge[0], Node)}
        made_here = [(o, o.tensor) for o in outputs if o.tensor is not None]
        recorded = [(o, t, edge) for o, t in made_here if (edge := edge_of(t)) is not None]
        others = {edge: o for o, _, edge in recorded}
        for output, t, edge in recorded:
            if output.base is not None or not t.requires_grad:
                continue
            one = Start(output, edge, nodes, others)
            if any(node.sequence < started for node in one.passed):
                raise CaptureError(
                    "a result depends on the history of a tensor from outside",
                    "pass that tensor as an argument, or detach it",
                )
            (spent if one.frees & recorder.spent else live).append(one)
        return [
            _recorded(recorder, piece, tensors, piece.starts[0] in spent)
            for piece in divided(live, spent)
        ]


def _recorded(recorder: Recorder, piece: Piece, tensors: list[Tensor], is_spent: bool) -> Group:
    """Return the group of a piece, with its programs unless its graph was freed."""
    starts, ends = piece.starts, _ends(piece.starts, tensors)
    outputs, tokens = (
        [one.output for one in starts],
        [Token(one.output) for one in starts if one.leads],
    )
    if is_spent:
        return Group(outputs, [*ends.values()])
    left = {use: e for one in starts for use, e in one.left.items()}
    with standing_in(left), standing_in(piece.apart) as stand_ins:
        ends |= {other: ends[edge] for other, edge in stand_ins.items()}
        for edge in {*stand_ins.values()}:
            del ends[edge]
        group, forward = Group(outputs, [*ends.values(), *tokens]), recorder.program
        for key in _sets(starts):
            recorder.program = group.programs[key] = Program()
            with _WithoutTraces(recorder, starts):
                _probe(recorder, [starts[i] for i in key], [*ends])
            given = dict(zip(key, recorder.program.arguments, strict=True))
            recorder.program.results += [given.get(outputs.index(t.output)) for t in tokens]
        recorder.program = forward
        for one in starts:
            reached = {(id(e[0]), e[1]) for node, i in one.uses if (e := node.edges[i])}
            places = {i for i, e in enumerate(ends) if (id(e[0]), e[1]) in reached}
            if one.leads:
                places.add(len(ends) + tokens.index(Token(one.output)))
            group.reached.append(places)
    for one in starts:
        group.frees.append({i for i, other in enumerate(starts) if one.frees & other.frees})
        if one.left:
            group.left[one.output] = [*one.goes_to]
    group.followed = _followed(recorder, starts, tensors)
    return group


def _followed(recorder: Recorder, starts: list[Start], tensors: list[Tensor]) -> set[int]:
    """Return the memory of visible values that nodes have saved as inputs."""
    nodes = {node for one in starts for node in one.passed}
    saved = {id(array) for node in nodes for array in _saved_inputs(node)}
    forward, new = recorder.program, filter(recorder.outside.has_new_data, tensors)
    visible = [*zip(tensors, forward.arguments, strict=True), *forward.states]
    visible += [(t, recorder.value(t._array)) for t in new]
    visible += [(one.output.tensor, one.output.value) for one in starts if one.output.value]
    return {value.memory for t, value in visible if id(t._array) in saved}


def _saved_inputs(node: Node) -> list[Any]:
    """Return the arrays that a node has saved as inputs, not as views of them."""
    if isinstance(node, FunctionNode):
        held = node._saved if isinstance(node._saved, list) else []
        return [item[0].array for item in held if item is not None and item[1] is None]
    of_views = getattr(getattr(node, "op", None), "of_views", ())
    names = {*node.saved} & {*type(node).inputs} - {*of_views}
    return [getattr(node, f"saved_{name}", None) for name in names]


def _sets(starts: list[Start]) -> list[tuple[int, ...]]:
    """Return the sets of starts that have programs, from the largest on.

    With an output whose gradient comes from a lead, those come to which the lead goes.
    """
    places = {id(one.output): i for i, one in enumerate(starts)}
    few = len(starts) <= EACH_SET
    found: dict[tuple[int, ...], None] = {}
    for size in range(len(starts), 0, -1) if few else (len(starts), 1):
        for key in itertools.combinations(range(len(starts)), size):
            more = {places[id(o.base or o)] for i in key for o in starts[i].goes_to}
            found[tuple(sorted({*key} | more))] = None
    return [*found]


class _WithoutTraces:
    """Undoes what code of the user's does in a backward pass: it runs again in the real one.

    What it does to its ``ctx`` and to generators is undone; the recorder refuses other effects.

    Args:
        recorder: the recorder.
        starts: the outputs of the pass.
    """

    def __init__(self, recorder: Recorder, starts: list[Start]):
        self._recorder = recorder
        nodes = {node for one in starts for node in one.passed if isinstance(node, FunctionNode)}
        held = [vars(node) for node in nodes]
        inner = [x for own in held for x in own.values() if type(x) in (dict, list, set)]
        self._before = [(thing, thing.copy()) for thing in (*held, *inner)]

    def __enter__(self) -> None:
        self._recorder.begin_probe()

    def __exit__(self, *exc: object) -> None:
        self._recorder.end_probe()
        for thing, was in self._before:
            thing.clear()
            (thing.extend if type(thing) is list else thing.update)(was)


def _ends(starts: list[Start], tensors: list[Tensor]) -> dict[Edge, Any]:
    """Return where the gradients of outputs go."""
    reached = {id(edge[0]) for one in starts for edge in one.uses.values()}
    ends: dict[Edge, Any] = {}
    for place, t in enumerate(tensors):
        edge = edge_of(t)
        if edge is not None and id(edge[0]) in reached:
            ends.setdefault(edge, place)
    for one in starts:
        for leaf in one.leaves:
            ends.setdefault((leaf, 0), leaf)
        for edge, output in one.inner.items():
            ends.setdefault(edge, output)
    return ends


class _Probe(BackwardPass):
    """A backward pass that leaves the gradients of embeddings as rows."""

    def _tensor(self, g: Any) -> Any:
        return g if g is None else wrap(g)


def _probe(recorder: Recorder, starts: list[Start], ends: list[Edge]) -> None:
    """Record one backward pass as the program of the recorder."""
    program, given = recorder.program, []
    for one in starts:
        t = one.output.tensor
        assert t is not None
        g = np.ones(t._array.shape, t._array.dtype)
        program.arguments.append(recorder.define(g))
        given.append(wrap(g))
    if any(node.hooks is not None for node in {n for one in starts for n in one.passed}):
        raise CaptureError(
            "a tensor that the function makes has a hook, or keeps its gradient",
            "register the hook outside of the function, on what it returns",
        )
    known = recorder.known()
    run = _Probe([one.edge for one in starts], given, True, False, ends)
    with cut([end for end, _ in ends]):
        run.run()
    found = map(run.captured.get, ends)
    program.results = [None if x is None else recorder.value(x._array) for x in found]
    recorder.forget_after(known)


def gradients_behind(
    groups: list[Group], outputs: dict[int, Tensor], tensors: list[Tensor]
) -> list[Any]:
    """Return gradients behind the results of a call, which keeps its graph.

    Args:
        groups: the backward passes.
        outputs: the results by their number.
        tensors: the arguments.
    """
    found: list[Any] = []
    for group in groups:
        if not group.programs:
            continue
        starts = [outputs[o.number] for o in group.outputs]
        given = [wrap(_pattern(t._array)) for t in starts]
        gradients = gradients_at(starts, given, edges_at(group.ends, outputs, tensors), tensors)
        found += [None if g is None else np.array(g._array) for g in gradients]
    return found


def edges_at(
    ends: list[Any], outputs: dict[int, Tensor], tensors: Sequence[Tensor]
) -> list[Edge | None]:
    """Return the edges of a group's ends, in one call with these outputs and arguments.

    A token has none.
    """

    def edge_at(end: Any) -> Edge | None:
        if isinstance(end, Token):
            return None
        if isinstance(end, Output):
            return edge_of(outputs[end.number])
        return edge_of(tensors[end]) if type(end) is int else (end, 0)

    return [edge_at(end) for end in ends]


def gradients_at(
    outputs: Sequence[Tensor],
    given: Sequence[Tensor | None],
    ends: Sequence[Edge | None],
    tensors: list[Tensor],
    create_graph: bool = False,
) -> list[Tensor | None]:
    """Return the gradients of a function at some edges, without running hooks there.

    Args:
        outputs: the results of the function.
        given: their gradients.
        ends: the edges.
        tensors: the arguments of the function, where the pass stops.
        create_graph: record the pass.
    """
    started = [(t, g) for t, g in zip(outputs, given, strict=True) if g is not None]
    starts: list[Any] = [edge_of(t) for t, _ in started]
    wanted = [end for end in ends if end]
    run = BackwardPass(starts, [g for _, g in started], True, create_graph, wanted)
    edges = [edge for t in tensors if (edge := edge_of(t)) is not None]
    with cut([edge[0] for edge in edges]), cut([end for end, _ in wanted]):
        run.run()
    return [run.captured.get(end) if end else None for end in ends]


def _pattern(like: Any) -> Any:
    """Return numbers of a shape and dtype, as the gradient of a result."""
    return np.cos(np.arange(like.size)).reshape(like.shape).astype(like.dtype)
