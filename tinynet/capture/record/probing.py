"""The backward pass of a captured function, recorded for each set of outputs that may start it."""

from __future__ import annotations

import contextlib
import graphlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tinynet.autograd.function_node import FunctionNode
from tinynet.capture.program import Call, CaptureError, Program
from tinynet.capture.record.outputs import Output
from tinynet.capture.record.recorder import Recorder
from tinynet.core.graph.engine import BackwardPass, reachable
from tinynet.core.graph.node import NOWHERE_EDGE, Edge, Node
from tinynet.core.graph.views import edge_of
from tinynet.core.tensors.tensor import Tensor, wrap

EACH_SET = 4  # of up to 4 outputs whose backward passes meet, each set has a program


class Group:
    """Outputs whose backward passes meet; one node stands for them.

    Attributes:
        outputs: the outputs.
        ends: where the gradients go: tensors, numbers of arguments, or outputs of other groups,
            from which these were computed.
        programs: for sets of outputs (places in ``outputs``) that get a gradient, the backward
            pass, with these gradients as arguments and the gradients of ``ends`` as results. Of
            more than four outputs, the sets are each single one and all of them.
        frees: for each output, the outputs (places) that cannot be differentiated after it was,
            unless its backward pass keeps the graph.
    """

    def __init__(self, outputs: list[Output], ends: list[Any]):
        self.outputs, self.ends = outputs, ends
        self.programs: dict[tuple[int, ...], Program] = {}
        self.frees: list[set[int]] = []

    def same(self, other: Group) -> Call | bool | None:
        """Return True, or the first call that differs, or False."""
        mine, its = ([o.number for o in g.outputs] for g in (self, other))
        if mine != its or self.frees != other.frees:
            return False
        for key, program in self.programs.items():
            found = program.difference(other.programs[key])
            if found is not True:
                return found
        return True


class _Live:
    """An output that requires grad, and what its backward pass reaches.

    Args:
        output: the output.
        edge: that of its tensor.
        arguments: the nodes of the arguments, where the pass stops.
        others: by edge, where it stops as well: the other outputs. It goes on from each with the
            gradient that users of that output add to, and behind its hooks.

    Attributes:
        inner: those where it stopped.
        uses: of these nodes, by the node and its edge that led there.
    """

    def __init__(self, output: Output, edge: Edge, arguments: set[Any], others: dict[Edge, Output]):
        self.output, self.edge = output, edge
        inner = {node for node, _ in others if node is not edge[0]} - arguments
        with _cut([*inner]):
            order, self.leaves = reachable([edge[0]])
        self.order = {node for node in order if node not in arguments and node not in inner}
        self.frees = {node for node in self.order if frees(node)}
        passed = [node for node in order if node in self.order]  # newest first
        further = [(node, i, e) for node in passed for i, e in enumerate(node.edges) if e]
        self.uses = {(node, i): e for node, i, e in further if e[0] in inner}
        self.inner = {e: others[e] for e in self.uses.values() if e in others}
        self.reached = {*order} - inner | {("leaf", key) for key in self.leaves}
        self.reached |= {("inner", node) for node, _ in self.inner}


def _not_separate() -> CaptureError:
    return CaptureError(
        "it returns or stores a tensor and another one that is computed from it",
        "return or store the first one detached, or compute the second one outside",
    )


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
    live: list[_Live] = []
    spent: list[_Live] = []
    with _cut([edge[0] for edge in edges]):
        nodes = {edge[0] for edge in edges if isinstance(edge[0], Node)}
        made_here = [(o, o.tensor) for o in outputs if o.tensor is not None]
        recorded = [(o, t, edge) for o, t in made_here if (edge := edge_of(t)) is not None]
        others = {edge: o for o, _, edge in recorded}
        for output, t, edge in recorded:
            if output.base is not None or not t.requires_grad:
                continue
            one = _Live(output, edge, nodes, others)
            if any(node.sequence < started for node in one.order):
                raise CaptureError(
                    "a result depends on the history of a tensor from outside",
                    "pass that tensor as an argument, or detach it",
                )
            (spent if one.frees & recorder.spent else live).append(one)
        parts = _parts(live)
        if not all(map(_is_exact, parts)):
            raise _not_separate()
        made = [_probed(recorder, part, tensors) for part in parts]
        made += [Group([one.output], [*_ends([one], tensors).values()]) for one in spent]
        return _in_order(made)


def _is_exact(part: list[_Live]) -> bool:
    """Return whether gradients are the same to the bit although passes stop at other outputs.

    Each of those must be used once, for the program would give it the sum of the gradients. And
    no node may lead to another output of its node, where passes do not stop.
    """
    uses = {use: edge for one in part for use, edge in one.uses.items()}
    return len(uses) == len({edge for one in part for edge in one.inner})


def _in_order(made: list[Group]) -> list[Group]:
    """Sort groups so that an output comes after those that it was computed from.

    Outputs of one group have one node, so none of them can be computed from another.
    """
    of = {id(o): group for group in made for o in group.outputs}
    inner = {g: [end.base or end for end in g.ends if isinstance(end, Output)] for g in made}
    before = {g: [of[id(o)] for o in found if id(o) in of] for g, found in inner.items()}
    try:
        return [*graphlib.TopologicalSorter(before).static_order()]
    except graphlib.CycleError:
        raise _not_separate() from None


@contextlib.contextmanager
def _cut(ends: list[Any]) -> Iterator[None]:
    """End all backward passes at some leaves and nodes, and do not run their hooks: the engine
    does, after the program."""
    before = [(end, end.hooks, end.edges) for end in ends if isinstance(end, Node)]
    leaves = [(end, end._hooks) for end in ends if isinstance(end, Tensor)]
    for node, *_ in before:
        node.hooks, node.edges = None, ()
    for leaf, _ in leaves:
        leaf._hooks = None
    try:
        yield
    finally:
        for node, hooks, edges in reversed(before):
            node.hooks, node.edges = hooks, edges
        for leaf, hooks in reversed(leaves):
            leaf._hooks = hooks


def _parts(live: list[_Live]) -> list[list[_Live]]:
    """Divide outputs so that backward passes of different parts do not meet."""
    parts: list[tuple[set[Any], list[_Live]]] = []
    for one in live:
        reached, members = {*one.reached}, [one]
        for part in [p for p in parts if p[0] & reached]:
            parts.remove(part)
            reached |= part[0]
            members = part[1] + members
        parts.append((reached, members))
    return [members for _, members in parts]


def _probed(recorder: Recorder, part: list[_Live], tensors: list[Tensor]) -> Group:
    ends = _ends(part, tensors)
    group = Group([one.output for one in part], [*ends.values()])
    for one in part:
        group.frees.append({i for i, other in enumerate(part) if one.frees & other.frees})
    forward = recorder.program
    few = len(part) <= EACH_SET
    for size in range(len(part), 0, -1) if few else (len(part), 1):
        for key in itertools.combinations(range(len(part)), size):
            recorder.program = group.programs[key] = Program()
            with _WithoutTraces(recorder, part):
                _probe(recorder, [part[i] for i in key], [*ends])
    recorder.program = forward
    return group


class _WithoutTraces:
    """Undoes what code of the user's does in a backward pass: it runs again in the real one.

    What it does to its ``ctx`` and to generators is undone; the recorder refuses other effects.

    Args:
        recorder: the recorder.
        part: the outputs of the pass.
    """

    def __init__(self, recorder: Recorder, part: list[_Live]):
        self._recorder = recorder
        nodes = {node for one in part for node in one.order if isinstance(node, FunctionNode)}
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


def _ends(part: list[_Live], tensors: list[Tensor]) -> dict[Edge, Any]:
    """Return where the gradients of outputs go."""
    reached = {target for one in part for target in one.reached}
    ends: dict[Edge, Any] = {}
    for place, t in enumerate(tensors):
        edge = edge_of(t)
        if edge is not None and (("leaf", id(edge[0])) in reached or edge[0] in reached):
            ends.setdefault(edge, place)
    for one in part:
        for leaf in one.leaves.values():
            ends.setdefault((leaf.tensor, 0), leaf.tensor)
        for edge, output in one.inner.items():
            ends.setdefault(edge, output)
    return ends


class _Probe(BackwardPass):
    """A backward pass that leaves the gradients of embeddings as rows."""

    def _tensor(self, g: Any) -> Any:
        return g if g is None else wrap(g)


def _probe(recorder: Recorder, part: list[_Live], ends: list[Edge]) -> None:
    """Record one backward pass as the program of the recorder."""
    program, given = recorder.program, []
    for one in part:
        t = one.output.tensor
        assert t is not None
        g = np.ones(t._array.shape, t._array.dtype)
        program.arguments.append(recorder.define(g))
        given.append(wrap(g))
    if any(node.hooks is not None for node in {n for one in part for n in one.order}):
        raise CaptureError(
            "a tensor that the function makes has a hook, or keeps its gradient",
            "register the hook outside of the function, on what it returns",
        )
    known = recorder.known()
    run = _Probe([one.edge for one in part], given, True, False, ends)
    with _cut([end for end, _ in ends]):
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
    """Return the edges of a group's ends, in one call with these outputs and arguments."""

    def edge_at(end: Any) -> Edge | None:
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
    with _cut([edge[0] for edge in edges]), _cut([end for end, _ in wanted]):
        run.run()
    return [run.captured.get(end) if end else None for end in ends]


def _pattern(like: Any) -> Any:
    """Return numbers of a shape and dtype, as the gradient of a result."""
    return np.cos(np.arange(like.size)).reshape(like.shape).astype(like.dtype)


def frees(node: Node) -> bool:
    """Return whether a node holds values that a backward pass frees."""
    op = getattr(node, "op", None)
    if op is None:
        return True
    if any(getattr(node, f"saved_{name}_version", None) is not None for name in node.saved):
        return True
    return any(hasattr(node, f"saved_{name}") for name in op.frees)
