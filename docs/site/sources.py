"""Where the mathematics of a name comes from: a formula, a paper, or the derivative that is shown.

Mathematical functions, layers, losses, optimizers, schedules, initial values, transforms, datasets
and metrics need one. Other kinds do not: EXEMPT has them, by the files that hold them.
"""

import inspect
import re

from docs.site import references
from docs.site.derivatives import formulas
from docs.site.docstrings import sections
from docs.site.inventory import Name, file_of, operation_of

MATHEMATICAL = {
    *("making", "elementwise", "reductions", "products", "tensor", "linalg", "nn", "functional"),
    *("init", "optim", "data", "train"),
}
"""Pages with mathematics."""

EXEMPT = {
    "makes, converts and moves elements: the first sentence is the definition": (
        "core/* dtypes ops/aliases ops/callables ops/combining ops/conversion ops/copying"
        " ops/creation ops/filling ops/grids ops/indexing ops/index_key ops/legacy ops/likes"
        " ops/memory ops/ranges ops/reshaping ops/selecting ops/shape sparse compat/storage"
        " nn/constant_padding"
        " nn/flatten nn/padding nn/shuffle nn/functional/padding nn/functional/shuffle"
        " nn/functional/unpooling"
        " data/transforms/base data/transforms/chance data/transforms/frame"
    ),
    "compares, orders and counts: the first sentence is the definition": (
        "ops/comparison ops/counting ops/extrema ops/histograms ops/limits ops/rounding ops/sorting"
    ),
    "holds other parts, or is plumbing": (
        "nn/container nn/global_hooks nn/hooks nn/lazy nn/lazy_layers nn/members nn/module"
        " nn/parallel nn/parameter nn/parameter_container nn/state nn/utils/convert_parameters"
        " nn/utils/parametrization_list nn/utils/parametrize nn/utils/rnn nn/utils/skipping"
        " nn/utils/stateless optim/groups optim/hooks optim/optimizer optim/swap"
        " optim/lr_scheduler/base"
    ),
    "brings data, as they are, to the model": (
        "data/arrays data/characters data/collate data/columns data/csv_rows data/dataset"
        " data/distributed data/files data/folder data/image_folder data/images data/loader"
        " data/options data/passes data/processes data/rows data/sampler data/seeding data/stack"
        " data/subset data/tables data/text data/threads data/tokenizer data/worker"
    ),
    "runs, keeps and reports a training": "train/*",
    "does to some elements what the operation of the same name does to all": "masked/*",
}
"""Kind -> the files below tinynet/ that are of it."""

PAPER = re.compile(r"Source:|arXiv|\b(1[6-9]|20)\d\d\b")
SPAN = re.compile(r"``([^`]+)``")
FORMULA = re.compile(r" [-+*/@=<>^] | // |\*\*|\|\w|\b[a-z]\w*\(.+\)|\w\[\w|^[-+][a-z]$|^-[a-z]+\(")
SHAPE = re.compile(r"\[|\([\w*]+, ")


def needed(name: Name, page: str) -> bool:
    """Whether something has mathematics of its own."""
    if page not in MATHEMATICAL or isinstance(name.value, property):
        return False
    op = operation_of(name.value) if inspect.isroutine(name.value) else None
    if op is not None and (op.kind == "view" or op.formulas is None):
        return False  # it computes nothing, or it compares, orders or rounds
    path = file_of(name.value)
    kinds = " ".join(EXEMPT.values()).split()
    return path is not None and not any(path.with_suffix("").match(kind) for kind in kinds)


def told(name: Name) -> bool:
    """Whether the reader learns the formula or the paper."""
    op = operation_of(name.value) if inspect.isroutine(name.value) else None
    if op is not None and formulas(op):
        return True
    doc = inspect.getdoc(name.value) or ""
    parts = {h: text for h, text in sections(doc).items() if h in ("", "Args", "Returns")}
    text = "\n".join(parts.values())
    if PAPER.search(text) or any(is_formula(s, name.name) for s in SPAN.findall(text)):
        return True
    if re.search(r"^    .* = ", parts[""], re.M):  # in a block of its own
        return True
    return any(told(other) for other in references.of(name, text))


def is_formula(span: str, name: str) -> bool:
    """Whether something between backquotes computes: no shape, no argument, no call of itself."""
    if SHAPE.match(span) or span.startswith(f"{name}("):
        return False
    return bool(FORMULA.search(span))
