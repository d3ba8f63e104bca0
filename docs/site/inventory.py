"""The public names, their pages and their groups."""

import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import tinynet
from docs.coverage.table import NAMESPACES
from tinynet.base import lazy
from tinynet.core.declaration.operation import REGISTRY, Operation
from tinynet.ops import everything as everything

PACKAGE = Path(tinynet.__file__).parent

OPERATIONS = {
    "making": "creation deprecated",
    "elementwise": "pointwise special",
    "reductions": "reduction",
    "shapes": "shaping indexing",
    "products": "products linalg fourier",
}
"""Page -> folders and files in ops/ with its functions."""

TITLES = {
    "making": "Creating tensors",
    "elementwise": "Elementwise operations",
    "reductions": "Reductions and sorting",
    "shapes": "Shapes, views, indexing",
    "products": "Products",
    "settings": "Modes, dtypes, random numbers, files",
    "tensor": "Tensor",
    "linalg": "linalg, special, fft, masked and signal",
    "nn": "nn: modules",
    "functional": "nn.functional",
    "init": "nn.init and nn.utils",
    "optim": "optim",
    "data": "data",
    "distributions": "distributions",
    "autograd": "autograd",
    "compiler": "compiler",
    "board": "board",
    "train": "train",
    "exchange": "exchange",
    "errors": "errors, and PyTorch's other doors",
}

MODULES = {
    "linalg": ["linalg", "special", "fft", "masked", "signal.windows"],
    "nn": ["nn"],
    "functional": ["nn.functional"],
    "init": [
        "nn.init",
        "nn.utils",
        "nn.utils.rnn",
        "nn.utils.parametrize",
        "nn.utils.parametrizations",
        "nn.utils.stateless",
    ],
    "optim": ["optim", "optim.lr_scheduler", "optim.swa_utils"],
    "data": ["data", "data.transforms"],
    "distributions": ["distributions", "distributions.constraints"],
    "autograd": ["autograd", "autograd.functional", "autograd.graph", "utils.checkpoint"],
    "compiler": ["compiler"],
    "board": ["board"],
    "train": ["train"],
    "exchange": ["exchange", "onnx", "serialization"],
    "errors": ["errors", "func", "amp", "cuda", "backends"],
}
"""Page -> its modules, as users write them after ``tinynet.``."""

CONSTANTS = (
    "bool uint8 int8 int16 short int32 int int64 long float16 half float32 float float64 double"
    " pi e inf nan newaxis default_generator"
)
"""Names of `tinynet` that are not functions; the page has a table of them."""


HELPERS = {
    *(f"nn.utils.parametrizations.{n}" for n in ("norm_except_dim", "matrix_of", "outputs_dim")),
    "autograd.functional.units",
    "nn.functional.legacy_reduction",
    "nn.init.skipped",
    "utils.checkpoint.CheckpointFunction",
}
"""Internal names without an underscore."""


class Name(NamedTuple):
    """A public name."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """The name as users write it: ``nn.Linear``, ``tn.tanh``."""
        return f"{self.module}.{self.name}" if self.module else f"tn.{self.name}"


def module_of(path: str) -> Any:
    """Return a module by its name after ``tinynet.``."""
    found: Any = tinynet
    for part in path.split("."):
        if not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


IMPORTANT = {
    "nn": "Module Linear Conv2d Embedding LSTM MultiheadAttention TransformerEncoderLayer "
    "Sequential ModuleList ModuleDict Parameter ReLU GELU Softmax Dropout BatchNorm2d LayerNorm "
    "MaxPool2d CrossEntropyLoss MSELoss BCEWithLogitsLoss Flatten",
    "nn.functional": "linear conv2d embedding relu gelu softmax log_softmax dropout layer_norm "
    "cross_entropy mse_loss scaled_dot_product_attention max_pool2d",
    "nn.init": "constant_ ones_ zeros_ eye_ dirac_ uniform_ normal_ trunc_normal_ xavier_uniform_ "
    "xavier_normal_ kaiming_uniform_ kaiming_normal_ orthogonal_ sparse_",
    "optim": "SGD Adam AdamW RMSprop Optimizer",
    "optim.lr_scheduler": "StepLR CosineAnnealingLR OneCycleLR ReduceLROnPlateau LambdaLR",
    "data": "Dataset DataLoader TensorDataset random_split Subset",
    "distributions": "Distribution Normal Categorical Bernoulli MultivariateNormal Independent "
    "TransformedDistribution kl_divergence Beta Gamma Dirichlet Uniform",
}
"""Module -> the most important names, which come first on its page."""


@functools.cache
def public(path: str) -> list[Name]:
    """Return the public names of a module: the most important ones first, then in its order."""
    module = module_of(path) if path else tinynet
    if path == "errors":
        names = ["AutogradError", "LinAlgError", "LostGradientWarning", "TrainingWarning"]
    else:
        names = [name for name in lazy.members(module) if is_public(module, name)]
        first = IMPORTANT.get(path, "").split()
        names.sort(key=lambda name: first.index(name) if name in first else len(first))
    return [Name(path, name, getattr(module, name)) for name in names]


def is_public(module: Any, name: str) -> bool:
    """Return whether a name of a module is for users: no module and no import of its own."""
    value = getattr(module, name)
    path = f"{module.__name__.removeprefix('tinynet.')}.{name}"
    if name.startswith("_") or inspect.ismodule(value) or path in HELPERS:
        return False
    if hasattr(module, "__all__"):
        return name in module.__all__
    if module is tinynet or name in reexported(module) or name in shared(module.__name__):
        return True
    home = getattr(value, "__module__", None) or ""
    if module.__name__ == "tinynet.ops.linalg":
        return callable(value) and home.startswith("tinynet") and not name.endswith("_op")
    return home == module.__name__ and not hasattr(module, "__path__")


@functools.cache
def shared(module: str) -> frozenset[str]:
    """Return the public names of PyTorch's module of the same name."""
    return frozenset(NAMESPACES.get(module.replace("tinynet", "torch", 1), ()))


@functools.cache
def reexported(module: ModuleType) -> set[str]:
    """Return the names that a module re-exports: ``import X as X``, or ``import *``."""
    file = getattr(module, "__file__", None)  # a path of PyTorch alone has none
    text = Path(file).read_text(encoding="utf-8") if file else ""
    sources = re.findall(r"^from (tinynet\S+) import \*$", text, re.M)
    starred = {name for source in sources for name in importlib.import_module(source).__all__}
    return starred | {
        name for name, same in re.findall(r"\b(\w+) as (\w+)\b", text) if name == same
    }


@functools.cache
def _operations() -> dict[Any, Operation]:
    faces = {op.function: op for op in REGISTRY.values()}
    return faces | {op.declared: op for op in REGISTRY.values()}


def operation_of(value: Any) -> Operation | None:
    """Return the operation that a function belongs to."""
    if not inspect.isfunction(value):
        return None
    return _operations().get(value) or _operations().get(inspect.unwrap(value))


def parameters_of(value: Any) -> list[inspect.Parameter]:
    """Return the parameters of a callable; none without a signature."""
    try:
        return [*inspect.signature(value).parameters.values()]
    except (TypeError, ValueError):
        return []


@functools.cache
def file_of(value: Any) -> Path | None:
    """Return the file of a function or class, relative to tinynet/."""
    op = operation_of(value) if inspect.isroutine(value) else None
    code = getattr(op.declared if op else inspect.unwrap(value), "__code__", None)
    if code is not None:
        path = Path(code.co_filename)
    else:
        try:
            path = Path(inspect.getfile(value))
        except TypeError:
            return None
    return path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else None


@functools.cache
def _by_file() -> dict[str, list[Name]]:
    """Return the functions of `tinynet` by file in ops/; other names under ``"settings"``."""
    found: dict[str, list[Name]] = {}
    for name in public(""):
        path = file_of(name.value) if callable(name.value) else None
        in_ops = path is not None and path.parts[0] == "ops" and not inspect.isclass(name.value)
        found.setdefault(str(path) if in_ops else "settings", []).append(name)
    return found


def functions(page: str) -> Iterator[tuple[str, list[Name]]]:
    """Yield the functions of `tinynet` on a page, in groups with headings."""
    if page == "settings":
        yield "", [n for n in _by_file()["settings"] if n.name not in CONSTANTS.split()]
        return
    for name in OPERATIONS[page].split():
        folder = PACKAGE / "ops" / name
        for file in sorted(folder.glob("*.py")) or [folder.with_suffix(".py")]:
            found = _by_file().get(str(file.relative_to(PACKAGE)))
            if found:
                yield first_sentence(file), found


@functools.cache
def _pages() -> dict[str, str]:
    pages = [*OPERATIONS, "settings"]
    return {n.name: page for page in pages for _, names in functions(page) for n in names}


def page_of(name: str) -> str | None:
    """Return the page of a function of `tinynet`."""
    return _pages().get(name)


def first_sentence(path: Path) -> str:
    """Return the first sentence of a file's docstring."""
    text = path.read_text(encoding="utf-8").split('"""', 2)[1]
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")
