"""Drawings of the autograd graph of a tensor: what `backward()` would visit."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.board.graphs.layout import Arrow, Box, render
from tinynet.board.graphs.pictures import dot_of_boxes
from tinynet.board.graphs.watch import saved_values
from tinynet.core.callsite import locate
from tinynet.core.graph.node import Node
from tinynet.core.graph.views import edge_of
from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import path_of

MAX_BOXES = 400


class Drawing:
    """A drawing of an autograd graph, which notebooks display.

    Created by ``board.draw``, not by users.

    Args:
        boxes, arrows, left_out: the attributes of these names.

    Attributes:
        boxes: the tensors and nodes.
        arrows: from results to inputs, the direction of gradients.
        left_out: the number of nodes not drawn because there are too many.

    Example:
        >>> w = tn.ones(2, requires_grad=True)
        >>> drawing = tn.board.draw(w * w, names={"w": w})
        >>> len(drawing.boxes), drawing.svg()[:4]
        (3, '<svg')
    """

    def __init__(self, boxes: list[Box], arrows: list[Arrow], left_out: int) -> None:
        self.boxes = boxes
        self.arrows = arrows
        self.left_out = left_out

    def svg(self) -> str:
        """Return the drawing as SVG."""
        return render(self.boxes, self.arrows, "autograd graph")

    def dot(self) -> str:
        """Return the drawing in Graphviz's DOT language."""
        return dot_of_boxes(self.boxes, self.arrows, "autograd graph")

    def text(self) -> str:
        """Return one line per box: its text, and where its gradients go."""
        titles = {box.key: box.lines[0] for box in self.boxes}
        lines = []
        for box in self.boxes:
            ends = [titles[arrow.end] for arrow in self.arrows if arrow.start == box.key]
            came = f" -> {', '.join(ends)}" if ends else ""
            lines.append("; ".join(box.lines) + came)
        return "\n".join(lines) + "\n"

    def _repr_svg_(self) -> str:
        return self.svg()


def draw(*tensors: Tensor, names: dict[str, Tensor] | None = None) -> Drawing:
    """Draw the autograd graph of tensors: leaves, non-leaves, versions, saved values.

    Arrows point in the direction of gradients, from the tensors to the leaves. The box of a node
    shows the user's line and the saved values, each with its version when saved, and its current
    version if it was modified since (a backward pass would then raise). Nothing is computed or
    changed.

    Args:
        *tensors: the results.
        names: names of leaves, such as ``{"w": w}`` or ``dict(model.named_parameters())``;
            other leaves are labelled with their shapes.

    Returns:
        A drawing with ``svg()``, ``dot()`` and ``text()``; notebooks display it inline.

    Raises:
        TypeError: an argument is not a tensor.

    Example:
        >>> from tinynet import board
        >>> w = tn.tensor([1.0, 2.0], requires_grad=True)
        >>> loss = (w * w).sum()
        >>> print(board.draw(loss, names={"w": w}).text(), end="")
        tensor; float32[]; not a leaf -> SumBackward0
        SumBackward0 -> MulBackward0
        MulBackward0; saved self float32[2] v0; saved other float32[2] v0 -> w
        w; float32[2]; leaf, version 0
    """
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"draw() takes tensors. Got {type(tensor).__name__} instead.")
    return _Sketch(names or {}).drawn(tensors)


class _Sketch:
    """Collects boxes and arrows, each node once."""

    def __init__(self, names: dict[str, Tensor]) -> None:
        self._names = {id(tensor): name for name, tensor in names.items()}
        self._keys: dict[int, str] = {}
        self._boxes: dict[str, Box] = {}  # topologically sorted, as `layout` requires
        self._arrows: list[Arrow] = []
        self._todo: list[Any] = []

    def drawn(self, tensors: tuple[Tensor, ...]) -> Drawing:
        """Visit the nodes from the tensors to the leaves, newest first."""
        for tensor in tensors:
            edge = edge_of(tensor)
            if edge is None or edge[0] is tensor:
                self._key(tensor)
                continue
            key = f"result{len(self._boxes)}"
            name = self._names.get(id(tensor), "tensor")
            lines = (name, _shape(tensor._array), f"not a leaf{_written(tensor)}")
            self._boxes[key] = Box(key, lines, "tensor")
            self._arrows.append(Arrow(key, self._key(edge[0])))
        left_out = 0
        while self._todo:
            self._todo.sort(key=lambda node: node.sequence)
            node = self._todo.pop()
            if len(self._boxes) >= MAX_BOXES:
                left_out += 1
                continue
            self._node(node)
        known = self._boxes.keys()
        arrows = [arrow for arrow in self._arrows if arrow.end in known]
        if left_out:
            text = (f"{left_out} more nodes", "not drawn")
            ends = [arrow for arrow in self._arrows if arrow.end not in known]
            self._boxes["rest"] = Box("rest", text, "folded", stacked=True)
            arrows += [Arrow(start, "rest") for start in dict.fromkeys(a.start for a in ends)]
        return Drawing([*self._boxes.values()], arrows, left_out)

    def _key(self, target: Any) -> str:
        """Return the key of the box of a node or leaf; a new one is queued for drawing."""
        key = self._keys.get(id(target))
        if key is None:
            key = self._keys[id(target)] = f"n{len(self._keys)}"
            if isinstance(target, Node):
                self._todo.append(target)
            else:
                self._leaf(key, target)
        elif not isinstance(target, Node):
            self._boxes[key] = self._boxes.pop(key)
        return key

    def _leaf(self, key: str, leaf: Tensor) -> None:
        name = self._names.get(id(leaf), "leaf" if leaf.requires_grad else "constant")
        kind = "leaf" if leaf.requires_grad else "leaf, requires no grad"
        grad = ("has .grad",) if leaf._grad is not None else ()
        version = f"{kind}, version {leaf._version}" if not leaf.is_inference() else kind
        self._boxes[key] = Box(key, (name, _shape(leaf._array), version, *grad), "leaf")

    def _node(self, node: Any) -> None:
        place = locate(node.site)
        module = path_of(getattr(node, "scope", None))
        inputs = dict(zip(node.inputs, node.edges, strict=False))
        saved = [_saved(node, name, value) for name, value in saved_values(node).items()]
        lines = [node.name().rpartition("::")[2], module, *saved]
        tip = f"{place.place}\n{place.text}" if place is not None else ""
        if place is not None and place.filename[:1] != "<":  # not typed at a prompt
            lines.insert(1, f"{place.place.partition(' in ')[0]}  {_cut(place.text)}")
        start = self._keys[id(node)]
        self._boxes[start] = Box(start, tuple(filter(None, lines)), "backward", tip)
        labels: dict[str, list[str]] = {}
        for name, edge in zip(_input_names(inputs, node), node.edges, strict=True):
            if edge:
                labels.setdefault(self._key(edge[0]), []).append(name)
        several = sum(map(len, labels.values())) > 1
        for end, names in labels.items():
            self._arrows.append(Arrow(start, end, ", ".join(names) if several else ""))


def _input_names(inputs: dict[str, Any], node: Any) -> list[str]:
    """Return the names of the inputs of a node; numbers if they have no names."""
    names = list(inputs)
    return names if len(names) == len(node.edges) else [str(i) for i in range(len(node.edges))]


def _shape(array: Any) -> str:
    return f"{array.dtype.name}{list(array.shape)}"


def _written(tensor: Tensor) -> str:
    return f", version {tensor._version}" if not tensor.is_inference() and tensor._version else ""


def _saved(node: Any, name: str, value: Any) -> str:
    """Describe a saved value: an array with its version, or a number."""
    if not isinstance(value, np.ndarray):
        return f"saved {name} = {_cut(repr(value), 24)}"
    counter, at = getattr(node, f"saved_{name}_version", None), getattr(node, f"saved_{name}_at", 0)
    shown = f"saved {name} {_shape(value)}"
    now = getattr(counter, "count", None)
    at = int(at)
    if now is None:  # not shared with a tensor, freed, or stored specially
        return shown
    return f"{shown} v{at}" if now == at else f"{shown} v{at}, now v{now}: changed"


def _cut(text: str, limit: int = 44) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
