"""Plots as SVG, drawn by matplotlib in the colours of the page."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tinynet.train.html_report.markup import Html, element, escaped

MISSING = "matplotlib"
_WIDTH, _HEIGHT, _POINTS = 400, 230, 72
_INK, _FAINT = "#010101", "#010102"
_SHADES = [f"#0103{number:02x}" for number in range(21)]  # from the best run to the worst
_SPREAD = 0.05
_COLOURS = [f"#0102{number:02x}" for number in range(1, 9)]
# matplotlib writes colours into the SVG; the page has others by day and by night.
_VARIABLES = {_INK: "var(--ink)", _FAINT: "var(--faint)"} | {
    colour: f"var(--plot-{number})" for number, colour in enumerate(_COLOURS, 1)
}
_VARIABLES |= {
    shade: f"color-mix(in srgb, var(--plot-2) {5 * number}%, var(--plot-1))"
    for number, shade in enumerate(_SHADES)
}
_SETTINGS: Any = {
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "tinynet",
    "text.parse_math": False,  # a name with dollars in it is a name
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.formatter.use_mathtext": False,
    "grid.color": _FAINT,
    "grid.linewidth": 0.4,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "text.color": _INK,
}


GREY = 7
"""The index of the colour for what is in the background."""


@dataclass(frozen=True)
class Curve:
    """A curve of a plot."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: int = 0
    """The index of its colour."""

    thin: bool = False
    """Whether it is in the background, such as the loss of single steps."""

    dots: bool = False
    """Whether to draw points without a line."""


def is_available() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec(MISSING) is not None


def lines(
    title: str, curves: Sequence[Curve], x_label: str, *, log: bool = False, log_x: bool = False
) -> Html:
    """Return a plot of curves over a common axis.

    Args:
        title: its title.
        curves: the curves, at least one.
        x_label: what the axis shows.
        log: whether the values have a logarithmic scale.
        log_x: whether the common axis has one.
    """
    with _axes() as (axes, drawn):
        for curve in curves:
            marker = "o" if curve.dots or len(curve.x) < 3 and not curve.thin else None
            axes.plot(
                curve.x,
                curve.y,
                color=_COLOURS[curve.colour % len(_COLOURS)],
                linewidth=0.7 if curve.thin else 1.6,
                alpha=0.55 if curve.thin else 1,
                marker=marker,
                linestyle="none" if curve.dots else "solid",
                label=curve.name,
            )
        axes.set_xlabel(x_label)
        if log:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")
        if log_x:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
    return _figure(title, drawn[0], curves)


@dataclass(frozen=True)
class Axis:
    """An axis of a plot of parallel coordinates."""

    name: str
    ticks: Sequence[tuple[float, str]]
    """Labels, and their places from 0 to 1."""


def parallel(title: str, axes: Sequence[Axis], runs: Sequence[Sequence[float]]) -> Html:
    """Return a plot of parallel coordinates: an axis per quantity, a line per run.

    Args:
        title: its title.
        axes: the axes, from left to right.
        runs: for each run its places from 0 to 1 on these axes, the best run first.
    """
    last = max(1, len(runs) - 1)
    with _axes() as (plot, drawn):
        for number, run in reversed([*enumerate(runs)]):
            # Runs with the same values would hide each other; the last axis is the figure.
            shift = _SPREAD * (0.5 - number / last)
            places = [*(place + shift for place in run[:-1]), *run[-1:]]
            colour = _SHADES[round(number / last * (len(_SHADES) - 1))]
            plot.plot(places, color=colour, linewidth=2.4 if number == 0 else 1)
        for number, axis in enumerate(axes):
            plot.axvline(number, color=_FAINT, linewidth=1)
            for place, text in axis.ticks:
                side = "right" if number and number == len(axes) - 1 else "left"
                plot.annotate(
                    text,
                    (number, place),
                    (-4 if side == "right" else 4, 8),
                    textcoords="offset points",
                    horizontalalignment=side,
                    size=8,
                )
        plot.set_xticks(range(len(axes)), [axis.name for axis in axes])
        plot.set_yticks([])
        plot.grid(visible=False)
        plot.spines[:].set_visible(False)
        plot.set_ylim(-0.05, 1.12)
    return _figure(title, drawn[0], [Curve("the best run", (), ()), Curve("the worst", (), (), 1)])


@contextmanager
def _axes() -> Iterator[tuple[Any, list[str]]]:
    """Yield the axes of a new figure, and a list that gets its SVG at the end."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    drawn: list[str] = []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user has set for plots of their own
        matplotlib.rcParams.update(_SETTINGS)
        size = _WIDTH / _POINTS, _HEIGHT / _POINTS
        figure = Figure(figsize=size, layout="constrained", facecolor="none")
        axes = figure.add_subplot(facecolor="none")
        yield axes, drawn
        text = io.StringIO()
        metadata: Mapping[str, None] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(figure).print_svg(text, metadata=metadata)
    drawn.append(_for_page(text.getvalue()))


def _for_page(svg: str) -> str:
    """Return a document as an element of the page: its colours, no size of its own."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    head, _, rest = svg.partition(">")
    (box,) = re.findall(r'viewBox="[^"]*"', head)
    svg = f'<svg {box} role="img" xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
    return re.sub("|".join(_VARIABLES), lambda found: _VARIABLES[found[0]], svg)


def _figure(title: str, svg: str, curves: Sequence[Curve]) -> Html:
    keys = [
        element("span", curve.name, class_="key", style=f"--key: {_variable(curve)}")
        for curve in curves
        if curve.name
    ]
    caption = element("figcaption", element("b", title), " ", *keys)
    return element("figure", caption, Html(svg), class_="plot")


def _variable(curve: Curve) -> Html:
    return escaped(_VARIABLES[_COLOURS[curve.colour % len(_COLOURS)]])
