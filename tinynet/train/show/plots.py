"""Plots as SVG, drawn by matplotlib in the colours of the page."""

from __future__ import annotations

import importlib.util
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tinynet.train.observe.progress import number_text
from tinynet.train.show.page import Html, element, escaped, joined

MISSING = "matplotlib"
_POINTS = 72  # per inch
_SIZE = 400, 230
_WIDE, _NARROW = (1100, 330), (420, 300)  # of parallel coordinates, on a screen and on a phone
_CROWDED = 3  # axes beside each other whose names fit a phone
_MOST_TIPS = 100  # of a curve
_INK, _FAINT, _PAPER = "#010101", "#010102", "#010104"
_SHADES = [f"#0103{number:02x}" for number in range(21)]  # from the best run to the worst
_SPREAD = 0.05
_COLOURS = [f"#0102{number:02x}" for number in range(1, 9)]
# matplotlib writes colours into the SVG; the page has others by day and by night.
_VARIABLES = {_INK: "var(--ink)", _FAINT: "var(--faint)", _PAPER: "var(--paper)"} | {
    colour: f"var(--plot-{number})" for number, colour in enumerate(_COLOURS, 1)
}
_VARIABLES |= {
    shade: f"color-mix(in srgb, var(--plot-2) {5 * number}%, var(--plot-1))"
    for number, shade in enumerate(_SHADES)
}
_SETTINGS: Any = {
    "figure.dpi": _POINTS,
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

COLOURS = len(_COLOURS) - 1
"""The number of the other colours."""

Text = Callable[[float], str]
Tip = tuple[float, float, str]
"""A place of a plot, and the text that appears where the mouse points at it."""


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

    style: str = "solid"
    """That of the line: ``"solid"``, ``"dashed"`` or ``"dotted"``."""

    spread: Sequence[float] = ()
    """The deviation at each point, which is drawn as a band."""

    tips: bool = True
    """Whether its points show their values when they are pointed at."""


@dataclass(frozen=True)
class Scale:
    """What an axis shows, and how its values are written."""

    label: str = ""
    log: bool = False
    text: Text = number_text
    ticks: Text | None = None
    """How the values beside the axis are written, if shorter."""

    @property
    def counts(self) -> bool:
        """Whether its values are whole numbers."""
        return self.label in ("epoch", "trial", "step", "examples")


def is_available() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec(MISSING) is not None


def lines(
    title: str,
    curves: Sequence[Curve],
    x_label: str,
    *,
    log: bool = False,
    log_x: bool = False,
    y: Scale | None = None,
    keys: bool = True,
) -> Html:
    """Return a plot of curves over a common axis; each point shows its value when pointed at.

    Args:
        title: its title.
        curves: the curves, at least one.
        x_label: what the axis shows.
        log: whether the values have a logarithmic scale.
        log_x: whether the common axis has one.
        y: how values are written; ``log`` is part of it.
        keys: whether the names of the curves stand beside the title.
    """
    x, y = Scale(x_label, log_x), y or Scale(log=log)
    with _axes() as (axes, drawn, tips):
        for curve in curves:
            _draw(axes, curve)
            tips += _tips(curve, x, y)
        _scale(axes, axes.xaxis, x)
        _scale(axes, axes.yaxis, y)
    return _figure(title, Html(drawn[0]), curves if keys else ())


def _draw(axes: Any, curve: Curve) -> None:
    colour = _COLOURS[curve.colour % len(_COLOURS)]
    marker = "o" if curve.dots or len(curve.x) < 3 and not curve.thin else None
    if curve.spread:
        pairs = [*zip(curve.y, curve.spread, strict=True)]
        low, high = [y - s for y, s in pairs], [y + s for y, s in pairs]
        axes.fill_between(curve.x, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.plot(
        curve.x,
        curve.y,
        color=colour,
        linewidth=0.7 if curve.thin else 1.6,
        alpha=0.55 if curve.thin or curve.dots and len(curve.x) > _MOST_TIPS else 1,
        marker=marker,
        markersize=3 if curve.dots and len(curve.x) > _MOST_TIPS else 4,
        linestyle="none" if curve.dots else curve.style,
    )


def _tips(curve: Curve, x: Scale, y: Scale) -> Iterator[Tip]:
    """Yield what the points of a curve show; some points of a long curve."""
    if curve.thin or not curve.tips:
        return
    spread = curve.spread or [0.0] * len(curve.x)
    for index in range(0, len(curve.x), max(1, len(curve.x) // _MOST_TIPS)):
        place, value = curve.x[index], curve.y[index]
        deviation = f" ± {y.text(spread[index])}" if spread[index] else ""
        head = f"{curve.name}, " if curve.name else ""
        where, what = f"{x.label} {x.text(place)}", f"{y.label} {y.text(value)}".lstrip()
        yield place, value, f"{head}{where}: {what}{deviation}"


def _scale(axes: Any, axis: Any, scale: Scale) -> None:
    """Set the label of an axis, its scale, and how its values are written."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    text = scale.ticks or scale.text
    axis.set_label_text(scale.label)
    if scale.log:
        (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
        axis.set_minor_formatter("")
    elif scale.counts:
        axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def legend(curves: Sequence[Curve]) -> Html:
    """Return the names of curves, with the colours of their lines."""
    return joined(
        element("span", curve.name, class_=f"key {curve.style}", style=f"--key: {_variable(curve)}")
        for curve in curves
        if curve.name
    )


@dataclass(frozen=True)
class Axis:
    """An axis of a plot of parallel coordinates."""

    name: str
    ticks: Sequence[tuple[float, str]]
    """Labels, and their places from 0 to 1."""


def parallel(
    title: str, axes: Sequence[Axis], runs: Sequence[Sequence[float]], names: Sequence[str]
) -> Html:
    """Return a plot of parallel coordinates: an axis per quantity, a line per run.

    Args:
        title: its title.
        axes: the axes, from left to right.
        runs: for each run its places from 0 to 1 on these axes, the best run first.
        names: what each run shows when it is pointed at.
    """
    sizes = {"on-wide": _WIDE, "on-narrow": _NARROW}
    drawn = [
        element("div", Html(_parallel(axes, runs, names, size)), class_=name)
        for name, size in sizes.items()
    ]
    ends = [Curve("the best run", (), ()), Curve("the worst", (), (), 1)]
    return _figure(title, joined(drawn), ends)


def _parallel(
    axes: Sequence[Axis],
    runs: Sequence[Sequence[float]],
    names: Sequence[str],
    size: tuple[int, int],
) -> str:
    last = max(1, len(runs) - 1)
    with _axes(size) as (plot, drawn, tips):
        for number, run in reversed([*enumerate(runs)]):
            # Runs with the same values would hide each other; the last axis is the figure.
            shift = _SPREAD * (0.5 - number / last)
            places = [*(place + shift for place in run[:-1]), *run[-1:]]
            colour = _SHADES[round(number / last * (len(_SHADES) - 1))]
            plot.plot(places, color=colour, linewidth=2.4 if number == 0 else 1)
            tips += [(place, value, names[number]) for place, value in enumerate(places)]
        for number, axis in enumerate(axes):
            plot.axvline(number, color=_FAINT, linewidth=1)
            _label(plot, number, axis, is_last=number and number == len(axes) - 1)
        crowded = size == _NARROW and len(axes) > _CROWDED
        titles = ["\n" * (crowded and n % 2) + axis.name for n, axis in enumerate(axes)]
        plot.set_xticks(range(len(axes)), titles)
        plot.set_yticks([])
        plot.grid(visible=False)
        plot.spines[:].set_visible(False)
        plot.set_ylim(-0.06, 1.08)
        plot.margins(x=0)
    return drawn[0]


def _label(plot: Any, number: int, axis: Axis, is_last: object) -> None:
    """Write the labels of an axis: outside of the first and the last, where no line is."""
    side = "left" if number else "right"
    for place, text in axis.ticks:
        plot.annotate(
            text,
            (number, place),
            (6 if side == "left" else -6, 0 if is_last or not number else 7),
            textcoords="offset points",
            horizontalalignment=side,
            verticalalignment="center",
            annotation_clip=False,
            size=9,
            bbox={"facecolor": _PAPER, "linewidth": 0, "pad": 1.5},  # no line crosses it
            zorder=4,
        )


@contextmanager
def _axes(size: tuple[int, int] = _SIZE) -> Iterator[tuple[Any, list[str], list[Tip]]]:
    """Yield the axes of a new figure, a list that gets its SVG at the end, and one for tips."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    drawn: list[str] = []
    tips: list[Tip] = []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user has set for plots of their own
        matplotlib.rcParams.update(_SETTINGS)
        width, height = size
        inches = width / _POINTS, height / _POINTS
        figure = Figure(figsize=inches, layout="constrained", facecolor="none")
        axes = figure.add_subplot(facecolor="none")
        yield axes, drawn, tips
        text = io.StringIO()
        metadata: Mapping[str, None] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(figure).print_svg(text, metadata=metadata)
        places = axes.transData.transform([(x, y) for x, y, _ in tips]) if tips else ()
    circles = joined(
        element("circle", element("title", tip[2]), cx=f"{x:.1f}", cy=f"{height - y:.1f}", r=5)
        for (x, y), tip in zip(places, tips, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    )
    shown = element("g", circles, class_="tips") if circles else ""
    drawn.append(_for_page(text.getvalue()).replace("</svg>", f"{shown}</svg>"))


def _for_page(svg: str) -> str:
    """Return a document as an element of the page: its colours, no size of its own."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    head, _, rest = svg.partition(">")
    (box,) = re.findall(r'viewBox="[^"]*"', head)
    svg = f'<svg {box} role="img" xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
    return re.sub("|".join(_VARIABLES), lambda found: _VARIABLES[found[0]], svg)


def _figure(title: str, svg: Html, curves: Sequence[Curve]) -> Html:
    caption = element("figcaption", element("b", title), " ", legend(curves))
    return element("figure", caption, svg, class_="plot")


def _variable(curve: Curve) -> Html:
    return escaped(_VARIABLES[_COLOURS[curve.colour % len(_COLOURS)]])
