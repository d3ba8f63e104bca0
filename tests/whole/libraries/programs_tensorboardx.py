"""tensorboardX's own summaries, given tensors: what they write."""

from tests.tools.libraries import Library

from .matrix import ONES, TABLES, VECTORS, Matrix

program = Matrix(__name__, "tensorboardX")
summary = Library("tensorboardX.summary")


def written(make):
    """A call that returns the first value of a summary, as text."""
    return lambda x: str(make(x).value[0])


program.rows(
    ONES,
    scalar=written(lambda x: summary.scalar("a", x)),
    hparams=lambda x: [str(part.value[0].tag) for part in summary.hparams({"a": x}, {"b": x})],
)
program.rows(
    VECTORS,
    histogram=written(lambda x: summary.histogram("a", x, 2)),
    histogram_of_list=written(lambda x: summary.histogram("a", [*x], 2)),
    pr_curve=written(
        lambda x: summary.pr_curve("a", summary.make_np(x > 1), summary.make_np(x / 4), 3)
    ),
)
program.rows(
    TABLES,
    image=written(lambda x: summary.image("a", x, dataformats="HW")),
    image_of_channels=written(lambda x: summary.image("a", x[None], dataformats="CHW")),
    mesh=written(lambda x: summary.mesh("a", x[None], None, None)),
    array=lambda x: summary.make_np(x),
)
