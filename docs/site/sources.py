"""The source of the mathematics of a name: a formula, a paper, or the derivative.

Mathematical functions, layers, losses, optimizers, schedules, initial values, transforms, datasets
and metrics need one. EXEMPT lists the files of all other kinds.
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
    "creates, converts and moves elements: the first sentence is the definition": (
        "core/* core/*/* dtypes/* ops/pointwise/apply ops/shaping/grids ops/pointwise/conversion "
        "ops/pointwise/complex_numbers ops/shaping/copies ops/creation/constructors "
        "ops/creation/fill ops/indexing/getitem ops/creation/tensor_types ops/creation/like "
        "ops/creation/memory ops/creation/ranges ops/shaping/reshaping ops/indexing/index_select "
        "ops/shaping/views sparse/tensors sparse/rows compat/storage compat/native/tensor_methods "
        "nn/layers/shaping nn/layers/images nn/functional/images/padding "
        "nn/functional/images/shuffle nn/functional/pooling/unpooling data/transforms/base "
        "data/transforms/augmentation data/transforms/geometry data/transforms/warps"
    ),
    "compares, orders and counts: the first sentence is the definition": (
        "ops/pointwise/comparison ops/reduction/unique ops/reduction/extrema "
        "ops/reduction/histograms ops/pointwise/clamp ops/pointwise/rounding "
        "ops/reduction/sorting"
    ),
    "containers and infrastructure": (
        "nn/layers/container nn/modules/module nn/base/hooks nn/layers/lazy nn/base/registry "
        "nn/base/module nn/parallel/data_parallel nn/parallel/distributed nn/parameter "
        "nn/layers/parameter_container nn/base/state nn/utils/parameters nn/utils/parametrize "
        "nn/utils/rnn nn/utils/stateless optim/base/groups optim/base/hooks optim/optimizer "
        "optim/base/swapping optim/lr_scheduler/base"
    ),
    "loads data": (
        "data/readers/arrays data/texts/tokenizer data/loading/collate data/readers/tables "
        "data/readers/table_rows data/dataset data/loading/sampler data/readers/files "
        "data/readers/image_folder data/readers/images data/loading/loader "
        "data/loading/passes data/loading/processes "
        "data/splits data/texts/text data/texts/labelled "
        "data/loading/worker"
    ),
    "runs and reports training": "train/* train/*/* train/*/*/*",
    "the operation of the same name, on selected elements": "masked",
}
"""Kind -> its files below tinynet/."""

PAPER = re.compile(r"Source:|arXiv|\b(1[6-9]|20)\d\d\b")
SPAN = re.compile(r"``([^`]+)``")
FORMULA = re.compile(r" [-+*/@=<>^] | // |\*\*|\|\w|\b[a-z]\w*\(.+\)|\w\[\w|^[-+][a-z]$|^-[a-z]+\(")
SHAPE = re.compile(r"\[|\([\w*]+, ")


def needed(name: Name, page: str) -> bool:
    """Return whether a name has mathematics of its own."""
    if page not in MATHEMATICAL or isinstance(name.value, property):
        return False
    op = operation_of(name.value) if inspect.isroutine(name.value) else None
    if op is not None and (op.kind == "view" or op.formulas is None):
        return False  # a view, or it compares, orders or rounds
    path = file_of(name.value)
    kinds = " ".join(EXEMPT.values()).split()
    return path is not None and not any(path.with_suffix("").match(kind) for kind in kinds)


def documented(name: Name) -> bool:
    """Return whether the entry has the formula or the paper."""
    op = operation_of(name.value) if inspect.isroutine(name.value) else None
    if op is not None and formulas(op):
        return True
    doc = inspect.getdoc(name.value) or ""
    parts = {h: text for h, text in sections(doc).items() if h in ("", "Args", "Returns")}
    text = "\n".join(parts.values())
    if PAPER.search(text) or any(is_formula(s, name.name) for s in SPAN.findall(text)):
        return True
    if re.search(r"^    .* = ", parts[""], re.M):  # a separate block
        return True
    return any(documented(other) for other in references.of(name, text))


def is_formula(span: str, name: str) -> bool:
    """Return whether text in backquotes is a formula, not a shape, argument or call."""
    if SHAPE.match(span) or span.startswith(f"{name}("):
        return False
    return bool(FORMULA.search(span))
