"""What a backward pass can reach: the nodes in the order of their turn, and the leaves."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tinynet.core.leaves import Leaf
from tinynet.core.node import Node
from tinynet.core.tensor import Tensor

_newest_first = operator.attrgetter("sequence")


def reachable(roots: Sequence[Any]) -> tuple[list[Node], dict[int, Leaf]]:
    """Return the nodes behind ``roots``, newest first, and the leaves by their id."""
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
            elif target not in seen:
                reach(target)
                push(target)
    order.sort(key=_newest_first, reverse=True)
    return order, leaves
