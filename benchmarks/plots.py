"""Plots of the results, by matplotlib."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.race import FASTER
from benchmarks.tables import Table

OURS, THEIRS = "#1f6f8b", "#d1603d"
STRENGTHS = {"tinynet": 1.0, "llvm": 0.45, "compiled": 0.7, "compiled-llvm": 0.3}


def kind_of(table: Table) -> Callable[[Table, Path], None] | None:
    """Return the function that plots a table, if there is one."""
    if table.title == "Growth":
        return growth
    is_race = "times as fast" in " ".join(table.columns) and "aim" in table.columns
    return speedups if is_race else None


def speedups(table: Table, file: Path) -> None:
    """Plot the speedup of each row, on a logarithmic scale around 1."""
    plt = _pyplot()
    names = [row[0] for row in table.rows]
    shown = []
    for name, column in FASTER.items():
        if column in table.columns and all(row[table.columns.index(column)] for row in table.rows):
            shown.append((column, STRENGTHS[name]))
    height = 0.8 / len(shown)
    size = (7, (0.15 + 0.2 * len(shown)) * len(names) + 1.2)
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    for i, (column, strength) in enumerate(shown):
        ratios = [row[table.columns.index(column)] for row in table.rows]
        colours = [OURS if ratio >= 1 else THEIRS for ratio in ratios]
        places = [place + height * (i - (len(shown) - 1) / 2) for place in range(len(names))]
        widths = [ratio - 1 for ratio in ratios]
        bars = axes.barh(places, widths, height, left=1, color=colours, alpha=strength)
        note = "" if column == FASTER["tinynet"] else f" {column}"
        axes.bar_label(bars, [f"{ratio:.2f}{note}" for ratio in ratios], padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.set(xscale="log", xlabel="times as fast as PyTorch (eager, CPU)", title=table.title)
    ticks = [0.5, 1, 2, 4, 8, 16, 32, 64, 128]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    axes.minorticks_off()
    axes.margins(x=0.5)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    _save(plt, figure, file)


def growth(table: Table, file: Path) -> None:
    """Plot the time of a step over each axis, for both libraries."""
    from matplotlib import ticker

    plt = _pyplot()
    names = [*dict.fromkeys(row[0] for row in table.rows)]
    figure, panels = plt.subplots(1, len(names), figsize=(3 * len(names), 3), layout="constrained")
    for axes, name in zip(panels, names, strict=True):
        rows = [row for row in table.rows if row[0] == name]
        sizes = [row[1] for row in rows]
        axes.plot(sizes, [row[2] for row in rows], "o-", color=OURS, label="tinynet")
        axes.plot(sizes, [row[3] for row in rows], "s--", color=THEIRS, label="PyTorch")
        axes.plot(sizes, [row[4] for row in rows], "^:", color=OURS, label="compiled")
        axes.set(xscale="log", yscale="log", xlabel=name, ylabel="µs per step")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    panels[0].legend()
    _save(plt, figure, file)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    return pyplot


def _save(plt: Any, figure: Any, file: Path) -> None:
    figure.savefig(file, dpi=110)
    plt.close(figure)
