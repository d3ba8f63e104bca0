"""Layout of a directed graph as boxes in rows, and its boxes and arrows as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

# ---- layered ------------------------------------------------------------------------------------
# Layout of a directed graph: boxes in rows from top to bottom, edges between rows.
#
# The usual four steps, each in the simplest form that looks good on graphs of up to some hundred
# boxes: a row for each box (longest path), invisible boxes where an edge crosses a row, an order in
# each row with few crossings (moving each box to the median of its neighbors, back and forth), and
# an x for each box (towards its neighbors, as far as the order allows).
#
# Source: K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system
#     structures, 1981.


GAP_X, GAP_Y = 22.0, 34.0  # between boxes of a row, between rows
_SWEEPS = 12
_WIRE = 6.0  # the width of an invisible box

Point = tuple[float, float]
Edge = tuple[str, str]


@dataclass
class Layout:
    """The result of a layout: centers of boxes, points along the edges, the total size."""

    centres: dict[str, Point] = field(default_factory=dict)
    paths: dict[Edge, list[Point]] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0


def layout(sizes: Mapping[str, Point], edges: Sequence[Edge]) -> Layout:
    """Position boxes so that edges point downwards.

    Args:
        sizes: width and height of each box; the order of the boxes decides which edge of a cycle
            points upwards.
        edges: pairs of boxes, from the upper to the lower one.

    Example:
        >>> from tinynet.board.graphs.layout import layout
        >>> found = layout({"a": (10, 10), "b": (10, 10)}, [("a", "b")])
        >>> found.centres["a"][1] < found.centres["b"][1]
        True
    """
    place = {key: number for number, key in enumerate(sizes)}
    down = {(a, b) if place[a] < place[b] else (b, a) for a, b in edges if a != b}
    rows = _rows(list(sizes), down)
    chains = _chains(sorted(down, key=lambda e: (place[e[0]], place[e[1]])), rows)
    order = _ordered(list(sizes), rows, chains)
    widths = {key: sizes[key][0] if key in sizes else _WIRE for row in order for key in row}
    xs = _across(order, chains, widths)
    found = Layout()
    crossings: dict[str, list[Point]] = {}  # straight down past the boxes of a row
    y = 0.0
    left = min((xs[k] - widths[k] / 2 for row in order for k in row), default=0.0)
    for row in order:
        height = max((sizes[key][1] for key in row if key in sizes), default=0.0)
        for key in row:
            x = xs[key] - left
            found.centres[key] = (x, y + height / 2)
            crossings[key] = [(x, y), (x, y + height)]
            found.width = max(found.width, x + widths[key] / 2)
        found.height = y + height
        y += height + GAP_Y
    for edge in edges:
        if edge[0] != edge[1]:
            first, *wires, last = chains.get(edge) or chains[edge[1], edge[0]]
            points = [found.centres[first], *(p for key in wires for p in crossings[key])]
            points.append(found.centres[last])
            found.paths[edge] = points if edge in chains else points[::-1]
    return found


def _rows(keys: Sequence[str], down: set[Edge]) -> dict[str, int]:
    """Return the row of each box: below its predecessors; sources right above their successors."""
    above: dict[str, list[str]] = {key: [] for key in keys}
    below: dict[str, list[str]] = {key: [] for key in keys}
    for a, b in down:
        above[b].append(a)
        below[a].append(b)
    rows: dict[str, int] = {}
    for key in keys:  # topologically sorted
        rows[key] = max((rows[a] + 1 for a in above[key]), default=0)
    for key in reversed(keys):
        if not above[key] and below[key]:
            rows[key] = min(rows[b] for b in below[key]) - 1
    return rows


def _chains(down: Sequence[Edge], rows: Mapping[str, int]) -> dict[Edge, list[str]]:
    """Return each edge as its chain of boxes, one per row: its ends, and invisible ones."""
    chains = {}
    for number, (a, b) in enumerate(down):
        wires = [f"\0{number}:{row}" for row in range(rows[a] + 1, rows[b])]
        chains[a, b] = [a, *wires, b]
    return chains


def _ordered(
    keys: Sequence[str], rows: Mapping[str, int], chains: Mapping[Edge, list[str]]
) -> list[list[str]]:
    """Return the boxes of each row from left to right."""
    order: list[list[str]] = [[] for _ in range(max(rows.values(), default=-1) + 1)]
    for key in keys:
        order[rows[key]].append(key)
    for (a, _), chain in chains.items():
        for offset, key in enumerate(chain[1:-1], 1):
            order[rows[a] + offset].append(key)
    above, below = _neighbours(chains)
    for sweep in range(_SWEEPS):
        neighbours, walk = (above, order) if sweep % 2 == 0 else (below, order[::-1])
        at = {key: i / max(1, len(row)) for row in order for i, key in enumerate(row)}
        for row in walk:
            row.sort(key=lambda key: _middle([at[n] for n in neighbours.get(key, ())], at[key]))
            at |= {key: i / max(1, len(row)) for i, key in enumerate(row)}
    return order


def _neighbours(
    chains: Mapping[Edge, list[str]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for chain in chains.values():
        for upper, lower in zip(chain, chain[1:], strict=False):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    return above, below


def _middle(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _across(
    order: Sequence[Sequence[str]], chains: Mapping[Edge, list[str]], widths: Mapping[str, float]
) -> dict[str, float]:
    """Return the x of each box: in order, and close to its neighbors."""
    above, below = _neighbours(chains)
    xs: dict[str, float] = {}
    for row in order:
        x = 0.0
        for key in row:
            xs[key] = x + widths[key] / 2
            x += widths[key] + GAP_X
        for key in row:
            xs[key] -= x / 2
    for sweep in range(2 * _SWEEPS):
        neighbours, walk = (above, order) if sweep % 2 == 0 else (below, order[::-1])
        if sweep >= 2 * _SWEEPS - 4:  # finally, towards both sides
            neighbours = {key: above.get(key, []) + below.get(key, []) for key in widths}
        for row in walk:
            wanted = [_middle([xs[n] for n in neighbours.get(key, ())], xs[key]) for key in row]
            for key, x in zip(row, _apart(row, wanted, widths), strict=True):
                xs[key] = x
    return xs


def _apart(row: Sequence[str], wanted: Sequence[float], widths: Mapping[str, float]) -> list[float]:
    """Return the positions closest to the desired ones (least squares) without overlaps.

    Neighbors that would overlap are joined into a block at the mean of their desired positions.
    """
    offsets = [0.0]
    for left, right in zip(row, row[1:], strict=False):
        offsets.append(offsets[-1] + (widths[left] + widths[right]) / 2 + GAP_X)
    blocks: list[tuple[float, int]] = []  # sum of desired positions without offsets, count
    for x, offset in zip(wanted, offsets, strict=True):
        blocks.append((x - offset, 1))
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            total, count = blocks.pop()
            blocks[-1] = (blocks[-1][0] + total, blocks[-1][1] + count)
    means = [_mean(block) for block in blocks for _ in range(block[1])]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _mean(block: tuple[float, int]) -> float:
    return block[0] / block[1]


# ---- svg ----------------------------------------------------------------------------------------
# Boxes and arrows as SVG, generated as text.


_CHAR, _LINE, _PAD = 6.7, 15.0, 9.0  # of a 11 px monospaced font
_MARGIN = 14.0
STYLES = {  # fill, border
    "forward": ("#e3f0fb", "#4a90c4"),
    "backward": ("#fdeadb", "#d9822b"),
    "optimizer": ("#e4f4e4", "#4c9a52"),
    "leaf": ("#eee8fa", "#7e57c2"),
    "tensor": ("#fff8d6", "#b8960c"),
    "source": ("#f4f4f4", "#999999"),
    "folded": ("#fbe3ee", "#c2407e"),
}


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its key, its lines (the first is the title), a style, and a tooltip."""

    key: str
    lines: tuple[str, ...]
    style: str
    tooltip: str = ""
    stacked: bool = False  # represents several: drawn as a stack


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow between two boxes."""

    start: str
    end: str
    label: str = ""
    dashed: bool = False


def render(boxes: Sequence[Box], arrows: Sequence[Arrow], title: str) -> str:
    """Return the picture as a complete SVG document."""
    sizes = {box.key: _size(box) for box in boxes}
    ends = [(arrow.start, arrow.end) for arrow in arrows]
    placed = layout(sizes, ends)
    width, height = placed.width + 2 * _MARGIN, placed.height + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-size="11" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto-start-reverse"><path d="M0,1 L8,4 L0,7 z" fill="#777"/>'
        "</marker></defs>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<g transform="translate({_MARGIN:.0f},{_MARGIN:.0f})">',
    ]
    for arrow in arrows:
        if arrow.start != arrow.end:
            path = placed.paths[arrow.start, arrow.end]
            parts.append(_arrow(arrow, path, sizes[arrow.start], sizes[arrow.end]))
    parts += [_box(box, placed.centres[box.key], sizes[box.key]) for box in boxes]
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _size(box: Box) -> Point:
    longest = max(map(len, box.lines))
    return longest * _CHAR + 2 * _PAD, len(box.lines) * _LINE + 2 * _PAD - 4


def _box(box: Box, centre: Point, size: Point) -> str:
    fill, border = STYLES[box.style]
    (x, y), (width, height) = centre, size
    left, top = x - width / 2, y - height / 2
    frame = f'width="{width:.1f}" height="{height:.1f}" rx="6" fill="{fill}" stroke="{border}"'
    parts = ["<g>", f"<title>{escape(box.tooltip)}</title>" if box.tooltip else ""]
    if box.stacked:
        parts.append(f'<rect x="{left + 4:.1f}" y="{top + 4:.1f}" {frame}/>')
    parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" {frame}/>')
    for number, line in enumerate(box.lines):
        baseline = top + _PAD + _LINE * number + 9
        look = 'font-weight="bold" fill="#222"' if number == 0 else 'fill="#555"'
        text = escape(line)
        parts.append(
            f'<text x="{x:.1f}" y="{baseline:.1f}" text-anchor="middle" {look}>{text}</text>'
        )
    return "".join([*parts, "</g>"])


def _arrow(arrow: Arrow, path: Sequence[Point], start: Point, end: Point) -> str:
    """Return a curve between the borders of two boxes, through the given points."""
    down = path[-1][1] > path[0][1]
    sign = 1 if down else -1
    points = [
        (path[0][0], path[0][1] + sign * start[1] / 2),
        *path[1:-1],
        (path[-1][0], path[-1][1] - sign * (end[1] / 2 + 1)),
    ]
    steps = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        bend = (y1 - y0) * 0.5
        steps.append(f"C{x0:.1f},{y0 + bend:.1f} {x1:.1f},{y1 - bend:.1f} {x1:.1f},{y1:.1f}")
    dash = ' stroke-dasharray="4 3"' if arrow.dashed else ""
    drawn = f'<path d="{" ".join(steps)}" fill="none" stroke="#888"{dash} marker-end="url(#tip)"/>'
    if not arrow.label:
        return drawn
    (x0, y0), (x1, y1) = points[0], points[1]
    x, y = (x0 + x1) / 2, (y0 + y1) / 2 + 3
    return (
        f'{drawn}<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="9" fill="#777" '
        f'stroke="#fff" stroke-width="3" paint-order="stroke">{escape(arrow.label)}</text>'
    )
