"""Boxes and arrows as SVG, generated as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tinynet.board.graphs.layered import Point, layout

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
