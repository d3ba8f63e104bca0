"""The graph of the model."""

from __future__ import annotations

import base64

from tinynet.train.show.markup import Html, element, folded, joined
from tinynet.train.show.run_data import RunData


def graph(run: RunData) -> Html | None:
    """Return the graph of the forward pass, and those of the other parts of a step."""
    if run.model is None or run.model.graph is None:
        return None
    graphs = run.model.graph
    first = "forward" if "forward" in graphs.graphs else next(iter(graphs.graphs), None)
    if first is None:
        return None
    text = "The operations of one training step on the way forward; boxes are modules."
    shown = [element("p", text, class_="soft"), _picture(graphs.svg(first), first)]
    for name in graphs.graphs:
        if name not in (first, "step"):
            shown.append(folded(name, _picture(graphs.svg(name), name)))
    return joined(shown)


def _picture(svg: str, name: str) -> Html:
    """Return the picture as an image of its own, whose styles and names stay inside."""
    data = base64.b64encode(svg.encode()).decode()
    image = element("img", alt=f"graph: {name}", src=f"data:image/svg+xml;base64,{data}")
    return element("div", Html(image.removesuffix("</img>")), class_="graph")
