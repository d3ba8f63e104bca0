"""The nodes that a backward pass can reach, in the order of visits, and the leaves."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tinynet.core.graph.accumulate_grad import Leaf
from tinynet.core.graph.node import Node
from tinynet.core.tensors.tensor import Tensor

_newest_first = operator.attrgetter("sequence")


def reachable(roots: Sequence[Any], targets: Any = ()) -> tuple[list[Node], dict[int, Leaf]]:
    """Return the nodes reachable from ``roots``, newest first, and the leaves by their id.

    Nodes older than all ``targets`` are omitted, since they cannot lead there. Any node may lead
    to a leaf.
    """
    oldest = min((-1 if isinstance(t, Tensor) else t.sequence for t in targets), default=-1)
    order: list[Node] = []
    leaves: dict[int, Leaf] = {}
    seen: set[Any] = set()
    stack: list[Any] = []
    for root in roots:
        if isinstance(root, Tensor):
            leaves.setdefault(id(root), Leaf(root))
        elif root not in seen:
            seen.add(root)
            stack.append(root)
    pop, push, add, reach = stack.pop, stack.append, order.append, seen.add
    while stack:
        node = pop()
        add(node)
        for edge in node.edges:
            if not edge:
                continue
            target = edge[0]
            if isinstance(target, Tensor):
                leaf = leaves.get(id(target))
                if leaf is None:
                    leaf = leaves[id(target)] = Leaf(target)
                leaf.left += 1
            elif target not in seen and target.sequence >= oldest:
                reach(target)
                push(target)
    order.sort(key=_newest_first, reverse=True)
    return order, leaves


def leading_to(targets: set[Any], order: Sequence[Node]) -> set[Any]:
    """Return the nodes of ``order`` and the leaves on a path to one of ``targets``."""
    wanted = set(targets)
    for node in reversed(order):
        if any(edge and edge[0] in wanted for edge in node.edges):
            wanted.add(node)
    return wanted
