"""The import hook: ``import torch`` and ``import torch.x.y`` import tinynet's modules.

So does ``import torchvision``, where it is not installed. ``COMPANIONS`` maps the paths of packages
beside torch. ``LEFT_OUT`` gives the reasons for missing paths, ``NAMES`` for other missing names.

PyTorch's functions ask all of their arguments for a ``__torch_function__``; tinynet's operations
ask tensors only, which costs a program nothing. Subclasses of Tensor then see the operations of
which a function consists. So the first module that defines such a class lets all functions ask.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tinynet.base import lazy
from tinynet.compat import paths
from tinynet.core.devices import device
from tinynet.core.layouts import layout, memory_format
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.dtypes import dtype
from tinynet.dtypes.kinds import HOMES
from tinynet.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from tinynet.random import Generator

COMPANIONS: dict[str, str] = {
    "torchvision": "compat.vision",
    "torchvision.datasets": "compat.vision.datasets",
    "torchvision.datasets.cifar": "compat.vision.datasets",
    "torchvision.datasets.fakedata": "compat.vision.datasets",
    "torchvision.datasets.folder": "compat.vision.datasets",
    "torchvision.datasets.mnist": "compat.vision.datasets",
    "torchvision.datasets.vision": "compat.vision.datasets",
    "torchvision.io": "compat.vision.utils",
    "torchvision.io.image": "compat.vision.utils",
    "torchvision.models": "compat.vision.models",
    "torchvision.models.alexnet": "compat.vision.models.plain",
    "torchvision.models.mobilenet": "compat.vision.models.mobilenet",
    "torchvision.models.mobilenetv2": "compat.vision.models.mobilenet",
    "torchvision.models.mobilenetv3": "compat.vision.models.mobilenet",
    "torchvision.models.resnet": "compat.vision.models.resnet",
    "torchvision.models.vgg": "compat.vision.models.plain",
    "torchvision.ops": "compat.vision.ops",
    "torchvision.ops.boxes": "compat.vision.ops",
    "torchvision.ops.misc": "compat.vision.ops compat.vision.models.mobilenet",
    "torchvision.ops.stochastic_depth": "compat.vision.ops",
    "torchvision.transforms": "compat.vision.transforms",
    "torchvision.transforms.functional": "compat.vision.transforms.functional",
    "torchvision.transforms.transforms": "compat.vision.transforms",
    "torchvision.transforms.v2": "compat.vision.transforms.v2",
    "torchvision.transforms.v2.functional": "compat.vision.transforms.functional.v2",
    "torchvision.utils": "compat.vision.utils",
}

_FILES = "read the files with tinynet.data: ImageFolder, IDX, NPZ, CSV, or a Dataset of your own"
_MODELS = "it has AlexNet, MobileNet, ResNet and VGG; write others with nn, and load their weights"
_PLAIN = "images are plain tensors; there are no boxes, masks, key points or videos"
COMPANION_REASONS: list[tuple[str, str]] = [
    (r"torchvision\.datasets(\..+)?", _FILES),
    (r"torchvision\.models(\..+)?", _MODELS),
    (r"torchvision\.transforms\..*([Bb]ound|[Kk]ey_?[Pp]oint|IoU|_mask|_video|Temporal).*", _PLAIN),
    (r"torchvision\.(transforms|tv_tensors)(\..+)?", f"compose its other transforms; {_PLAIN}"),
    (r"torchvision\.ops(\..+)?", "it has boxes, stochastic depth and frozen batch norms only"),
    (r"torchvision\.io(\..+)?", "read images with read_image or Pillow; there are no videos"),
    (r"torchvision\.utils(\..+)?", "draw with Pillow, or in TensorBoard: add_image_with_boxes"),
    (r"torchtext(\..+)?", "read texts with tinynet.data: Text, LabelledTexts, WordTokenizer"),
    (r"torchaudio(\..+)?", "read sounds with the module wave or the package soundfile"),
]
PACKAGES = ("torchvision", "torchtext", "torchaudio")


@functools.cache
def is_left_to_python(package: str) -> bool:
    """Return whether Python is to import a package itself: one that runs on tinynet, too.

    A package with compiled libraries is linked with PyTorch's, and cannot run on tinynet.
    """
    spec = PathFinder.find_spec(package)
    if spec is None or spec.origin is None:  # a folder of that name is not a package
        return False
    endings = {".so", ".pyd", ".dylib", ".dll"}
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    files = (
        file for folder in folders for place in (folder, folder / "lib") for file in _in(place)
    )
    return not any(file.suffix in endings for file in files)


def _in(folder: Path) -> list[Path]:
    return [*folder.iterdir()] if folder.is_dir() else []


PATHS = paths.PATHS | COMPANIONS
"""The modules of tinynet behind each path of PyTorch, and of the packages beside it."""

_GPU = "tinynet runs on the CPU only"
_MEMORY = "the memory of a tensor is its numpy array: x.numpy()"
_NAMED = "dimensions have no names; use their numbers"
_COMPILER = "tinynet.compile captures functions as they run; graphs are not exported"
_QUANTIZED = "there are no quantized numbers; train and save in float32"
_PROCESSES = "processes share batches, not models, and run on MPI: see docs/distributed.md"
_INTERNAL = "it is internal to PyTorch"
LEFT_OUT: list[tuple[str, str]] = [
    (r"torch\.(ao|quantization|nn\.(intrinsic|qat|quantiz\w+))(\..+)?", _QUANTIZED),
    (r"torch\.(cuda|mps|xpu|mtia|backends|accelerator)(\..+)?", _GPU),
    (r"torch\.nn\.parallel\..+", _GPU),
    (r"torch\.distributed(\..+)?", _PROCESSES),
    (r"torch\.(export|fx|jit|compiler|nativert|package|utils\.jit)(\..+)?", _COMPILER),
    (r"torch\.autograd\.profiler\w+|torch\.profiler\..+", "record with tinynet.board.record"),
    (r"torch\.nn\.modules\.linear_cross_entropy_options", _INTERNAL),
    (r"torch\.onnx\..+", "torch.onnx.export is the way to ONNX"),
    (r"torch\.masked\..+", "there are no masked tensors; use the functions of torch.masked"),
    (r"torch\.nn\.attention\.(bias|experimental|varlen)", _COMPILER),
    (r"torch\.utils\.data\.(datapipes.*|graph.*|backward_compatibility)", "data pipes are gone"),
    (r"torch\.utils\.(mobile_optimizer|bundled_inputs|mkldnn)", _QUANTIZED),
    (r"torch\.(monitor|numa(\..+)?|contrib|multiprocessing\..+)", _INTERNAL),
    (r"torch\.sparse\..+", "there is one sparse layout, with the indices of all entries"),
    (r"torch\.(nn\.(backends(\..+)?|cpp)|utils\..+)", _INTERNAL),
]
NAMES: list[tuple[str, str]] = [
    (r"torch\.(fake_)?q(u?int|uantize)\w+", _QUANTIZED),
    (r"torch\.Tensor\.(rename_?|refine_names|align_\w+|names)", _NAMED),
    (r"torch\.Tensor\.(untyped_storage|pin_memory)", _MEMORY),
]


def reason(path: str) -> str | None:
    """Return why a module or name of PyTorch is missing; None if no reason is known."""
    known = LEFT_OUT + NAMES + COMPANION_REASONS
    return next((why for pattern, why in known if re.fullmatch(pattern, path)), None)


def is_served(path: str) -> bool:
    """Return whether tinynet stands in for a module: PyTorch's own, or a package beside it."""
    package = path.partition(".")[0]
    if package in PACKAGES:
        return not is_left_to_python(package)
    return package in ("torch", "functorch")


# ---- classes that functions ask -----------------------------------------------------------------


_NAME = "__torch_function__"


class _Finder(MetaPathFinder):
    """Finds modules as Python does, and looks through those that mention the method."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self.ask = ask

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own spec, with the loader that looks through it."""
        if name.startswith("tinynet."):  # its proxies let functions ask while they live
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(loader := spec.loader) is SourceFileLoader:
            spec.loader = _Loader(loader.name, loader.path)
            spec.loader.ask = self.ask
        return spec


class _Loader(SourceFileLoader):
    """Python's loader, which looks through a module that it has loaded."""

    ask: Callable[[], None]
    mentioned = False

    def get_data(self, path: str) -> bytes:
        """Return the bytes of the source or of the compiled module."""
        data = super().get_data(path)
        self.mentioned = self.mentioned or _NAME.encode() in data
        return data

    def exec_module(self, module: ModuleType) -> None:
        """Load the module; let functions ask the classes that it defines."""
        super().exec_module(module)
        if self.mentioned and any(_is_asked(x, module) for x in vars(module).values()):
            self.ask()


def _is_asked(x: object, module: ModuleType) -> bool:
    if not isinstance(x, type) or x.__module__ != module.__name__:
        return False
    method = getattr(x, _NAME, None)  # that of a mode is not a class method
    return hasattr(method, "__self__") and (_NAME in vars(x) or not issubclass(x, Tensor))


def defines_tensor_likes(program: str) -> bool:
    """Return whether a script defines such a class."""
    if not program.endswith(".py"):
        return False
    with open(program, "rb") as file:
        text = file.read()
    return _NAME.encode() in text and any(map(_defines, ast.walk(ast.parse(text))))


def _defines(node: ast.AST) -> bool:
    """Return whether a statement defines a class with the method; that of a mode has ``self``."""
    if not isinstance(node, ast.ClassDef):
        return False
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    return any(method.name == _NAME and method.decorator_list for method in methods)


def mark_tensor_likes(ask: Callable[[], None]) -> None:
    """Look through the modules that are imported from now on.

    Args:
        ask: lets all functions ask their arguments.
    """
    place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(place, _Finder(ask))


# ---- the finder ---------------------------------------------------------------------------------


HERE = str(Path(__file__).parent)
RENAMED: dict[str, tuple[type, ...]] = {
    "torch": (Tensor, Size, Generator, device, dtype, layout, memory_format),
    "torch.nn.parameter": (Buffer, Parameter, UninitializedBuffer, UninitializedParameter),
}
"""The modules that the types of values name: libraries ask whether "torch" is in ``str(type(x))``,
and programs compare the texts of a dtype and of ``x.type()``."""


class Absence(NamedTuple):
    """A name that a program uses and tinynet lacks, and where."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        why = next((r for path in parents(self.name) if (r := reason(path))), "")
        return f"{self.file}:{self.line}: tinynet has no {self.name}{why and f': {why}'}"


absences: dict[Absence, int] = {}
"""All absences, and how often each was met."""


def parents(name: str) -> list[str]:
    """Return a dotted name and its parents: ``a.b.c``, ``a.b``, ``a``."""
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]


def note(name: str) -> Absence:
    """Count an absence at the program's current line."""
    frame: Any = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith((HERE, "<frozen importlib")):
        frame = frame.f_back
    found = Absence(frame.f_code.co_filename, frame.f_lineno, name)
    absences[found] = absences.get(found, 0) + 1
    return found


class TorchFinder(MetaPathFinder, Loader):
    """Finds and loads PyTorch's modules, using the map in ``paths.py``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec for torch, one of its submodules, or a package beside it.

        Raises:
            ModuleNotFoundError: there is nothing in tinynet under that path, and it is imported
                rather than looked for with ``importlib.util.find_spec``.
        """
        if not is_served(name):
            return None
        if name not in PATHS:
            if sys._getframe(2).f_globals.get("__name__") == "importlib.util":
                return None
            raise ModuleNotFoundError(str(note(name)))
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None for Python's default; ``exec_module`` replaces the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the empty module that Python created with tinynet's."""
        serve(module.__name__, module)


def serve(path: str, empty: ModuleType) -> None:
    """Install tinynet's module for a path of PyTorch.

    Args:
        path: the path.
        empty: a module for the names of all modules, if a path stands for several.
    """
    homes = [importlib.import_module(f"tinynet.{home}".rstrip(".")) for home in PATHS[path].split()]
    sys.modules[path] = module = paths.unite(path, homes, empty)
    if getattr(vars(module).get("__getattr__"), "func", None) is not inner:
        vars(module)["__getattr__"] = partial(inner, path, homes)
    if path == "torch.optim":  # programs and libraries choose optimizers from its __dict__
        lazy.members(module)
    if path == "torch.nn":  # PyTorch's loads it, and tinynet's would be here without serving it
        importlib.import_module("tinynet.nn.functional")
    for child in PATHS:
        parent, _, name = child.rpartition(".")
        if parent == path and name in vars(module):
            if not isinstance(vars(module)[name], ModuleType):
                serve(child, ModuleType(child))  # the parent keeps its function of the same name
            elif module is empty:  # the names are its own
                del vars(module)[name]  # `inner` serves it when a program first uses it
            else:
                importlib.import_module(child)


def inner(path: str, homes: list[ModuleType], name: str) -> Any:
    """Return a submodule of a module or a name that loads lazily, as its missing attribute.

    Args:
        path: PyTorch's path of the module.
        homes: tinynet's modules for that path.
        name: the missing attribute.

    Raises:
        AttributeError: there is no such name in tinynet; the absence is counted.
    """
    full = f"{path}.{name}"
    if name == "torch":  # PyTorch's modules import it, and programs reach it through them
        return sys.modules["torch"]
    if full in PATHS:
        return importlib.import_module(full)
    if source := paths.source_of(path, name):
        module, _, name = source.rpartition(".")
        return getattr(importlib.import_module(module), name)
    with suppress(KeyError):
        vars(sys.modules[path])[name] = value = paths.lazy_name(homes, name)
        return value
    importing = sys._getframe(1).f_code.co_filename.startswith("<frozen importlib")
    if name == "__all__" and not importing:
        return [one for one in dir(sys.modules[path]) if not one.startswith("_")]
    if name.startswith("__") or (importing and sys.modules[path].__name__ == path):
        raise AttributeError(f"module {path!r} has no attribute {name!r}")  # find_spec comes next
    raise AttributeError(str(note(full)), name=name, obj=sys.modules[path])


def ask() -> None:
    """Let all functions ask ``__torch_function__`` of arguments that are no tensors."""
    importlib.import_module("tinynet.compat.fx.interception").ask_all()


def install() -> None:
    """Install the import hook for this process.

    Raises:
        ImportError: the real torch has already been imported.
    """
    there = sys.modules.get("torch")
    if any(isinstance(finder, TorchFinder) for finder in sys.meta_path):
        return
    if there is not None:
        raise ImportError(
            f"torch has been imported already, from {there.__file__}: tinynet can stand in for it "
            "only from the beginning. Make `import tinynet.as_torch` the first line of the "
            "program, or run it with `python -m tinynet.as_torch program.py`."
        )
    for module, classes in RENAMED.items():
        for cls in classes:
            HOMES.setdefault(id(cls), cls.__module__)
            cls.__module__ = module
    sys.meta_path.insert(0, TorchFinder())
    mark_tensor_likes(ask)
    program = getattr(sys.modules["__main__"], "__file__", None)
    if program is not None and defines_tensor_likes(program):
        ask()
