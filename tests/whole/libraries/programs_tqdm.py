"""tqdm, given tensors."""

import io

from .matrix import ONES, TABLES, VECTORS, Matrix

program = Matrix(__name__, "tqdm")
if not program.skip:
    from tqdm import tqdm, trange


def bar(iterable=None, **options):
    return tqdm(iterable, file=io.StringIO(), mininterval=1e9, **options)


def postfixed(x):
    shown = bar(range(2))
    shown.set_postfix(loss=x)
    return shown.postfix


def updated(x):
    shown = bar(total=9)
    try:
        shown.update(x)
        return shown.n
    finally:
        shown.disable = True  # it draws itself, with this number, when it is deleted


program.rows(
    VECTORS,
    iterate=lambda x: [*bar(x)],
    total=lambda x: bar(x).total,
    length=lambda x: len(bar(x)),
    zipped=lambda x: len([*bar(zip(x, x, strict=True))]),
    enumerated=lambda x: [*bar(enumerate(x))],
    postfix=postfixed,
)
program.rows(TABLES, rows=lambda x: [*bar(x, desc="a", leave=False)])
program.rows(
    ONES,
    postfix_of_one=postfixed,
    described=lambda x: bar(range(2), desc=f"loss {x:.3f}").desc,
    updated=updated,
    trange=lambda x: [*trange(x, file=io.StringIO())],
    total_of_one=lambda x: bar(range(2), total=x).total,
    iterate_one=lambda x: [*bar(x)],
    written=lambda x: tqdm.write(f"{x}", file=io.StringIO()),
)
