"""matplotlib, given tensors: what stands in the parts of a figure."""

import numpy as np

from tests.tools.libraries import Library

from .matrix import ONES, TABLES, VECTORS, Matrix

program = Matrix(__name__, "matplotlib")
matplotlib = Library("matplotlib")
colors, plt = Library("matplotlib.colors"), Library("matplotlib.pyplot")


def drawn(draw):
    """A call that draws into axes of its own and returns what stands there."""

    def call(x):
        matplotlib.use("agg")
        figure, axes = plt.subplots(figsize=(1, 1))
        try:
            return draw(axes, x)
        finally:
            plt.close(figure)

    return call


def data(line):
    return np.asarray(line.get_xydata(), float)


def heights(bars):
    return [float(bar.get_height()) for bar in bars]


program.rows(
    VECTORS,
    plot=drawn(lambda axes, x: data(axes.plot(x)[0])),
    plot_against=drawn(lambda axes, x: data(axes.plot(x, x, "o-")[0])),
    plot_list=drawn(lambda axes, x: data(axes.plot([*x])[0])),
    plot_detached=drawn(lambda axes, x: data(axes.plot(x.detach().numpy())[0])),
    semilogy=drawn(lambda axes, x: data(axes.semilogy(x)[0])),
    step=drawn(lambda axes, x: data(axes.step(x, x)[0])),
    scatter=drawn(lambda axes, x: np.asarray(axes.scatter(x, x).get_offsets())),
    scatter_colors=drawn(
        lambda axes, x: np.asarray(axes.scatter([1, 2, 3, 4], [1, 2, 3, 4], c=x).get_array())
    ),
    scatter_sizes=drawn(lambda axes, x: axes.scatter([1, 2, 3, 4], [1] * 4, s=x).get_sizes()),
    bar=drawn(lambda axes, x: heights(axes.bar(range(4), x))),
    bar_at=drawn(lambda axes, x: heights(axes.bar(x, [1] * len(x)))),
    barh=drawn(lambda axes, x: [float(b.get_width()) for b in axes.barh(range(4), x)]),
    hist=drawn(lambda axes, x: list(axes.hist(x, bins=2, range=(0, 4))[:2])),
    hist_weights=drawn(lambda axes, x: axes.hist([1, 2, 3, 4], 2, weights=x)[0]),
    fill_between=drawn(
        lambda axes, x: axes.fill_between(range(4), x, x + 1).get_paths()[0].vertices
    ),
    errorbar=drawn(lambda axes, x: data(axes.errorbar(range(4), x, yerr=x)[0])),
    stem=drawn(lambda axes, x: data(axes.stem(x).markerline)),
    vlines=drawn(lambda axes, x: len(axes.vlines(x, 0, 1).get_segments())),
    boxplot=drawn(lambda axes, x: data(axes.boxplot(x)["medians"][0])),
    pie=drawn(lambda axes, x: [float(wedge.theta2) for wedge in axes.pie(x)[0]]),
    set_xticks=drawn(lambda axes, x: [float(t.get_position()[0]) for t in axes.set_xticks(x)]),
    hist2d=drawn(lambda axes, x: axes.hist2d(x, x, bins=2)[0]),
    stackplot=drawn(lambda axes, x: len(axes.stackplot(range(4), x, x))),
    quiver=drawn(lambda axes, x: np.asarray(axes.quiver(x, x).U, float)),
    title=drawn(lambda axes, x: axes.set_title(x).get_text()),
    legend=drawn(lambda axes, x: axes.plot([1], label=x)[0].get_label()),
)
program.rows(
    ONES,
    axhline=drawn(lambda axes, x: data(axes.axhline(x))),
    axvline=drawn(lambda axes, x: float(axes.axvline(x).get_xdata()[0])),
    xlim=drawn(lambda axes, x: [float(v) for v in axes.set_xlim(0, x)]),
    text_at=drawn(lambda axes, x: [float(v) for v in axes.text(x, x, "a").get_position()]),
    annotate=drawn(lambda axes, x: [float(v) for v in axes.annotate("a", (x, x)).xy]),
    plot_point=drawn(lambda axes, x: data(axes.plot(x, x, "o")[0])),
    plot_points=drawn(lambda axes, x: data(axes.plot([0, 1], [x, x])[0])),
    scatter_point=drawn(lambda axes, x: np.asarray(axes.scatter(x, x).get_offsets())),
    bar_of_one=drawn(lambda axes, x: heights(axes.bar("a", x))),
    line_width=drawn(lambda axes, x: axes.plot([1], linewidth=x)[0].get_linewidth()),
    alpha=drawn(lambda axes, x: float(axes.plot([1], alpha=x / 8)[0].get_alpha())),
    gray=lambda x: colors.to_hex([float(x) / 8] * 3),
    norm=lambda x: float(colors.Normalize(0, 8)(x)),
    colormap=lambda x: list(plt.cm.viridis(x / 8)),
)
program.rows(
    TABLES,
    imshow=drawn(lambda axes, x: np.asarray(axes.imshow(x).get_array())),
    matshow=drawn(lambda axes, x: np.asarray(axes.matshow(x).get_array())),
    pcolormesh=drawn(lambda axes, x: np.asarray(axes.pcolormesh(x).get_array())),
    contour=drawn(lambda axes, x: axes.contour(x).levels),
    contourf=drawn(lambda axes, x: len(axes.contourf(x, levels=3).levels)),
    plot_table=drawn(lambda axes, x: [data(line) for line in axes.plot(x)]),
    hist_of_rows=drawn(lambda axes, x: axes.hist([*x], bins=2)[0]),
    violinplot=drawn(lambda axes, x: len(axes.violinplot(x)["bodies"])),
    boxplot_of_rows=drawn(lambda axes, x: [data(b) for b in axes.boxplot([*x])["medians"]]),
    scatter_of_columns=drawn(
        lambda axes, x: np.asarray(axes.scatter(x[:, 0], x[:, 1], c=x[:, 2]).get_offsets())
    ),
    limits=drawn(lambda axes, x: list(axes.imshow(x, vmin=0, vmax=4).get_clim())),
    images=drawn(
        lambda axes, x: np.asarray(axes.imshow((x[..., None] / 4).repeat(1, 1, 3)).get_array())
    ),
)
