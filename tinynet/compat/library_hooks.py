"""Hooks that make libraries take tinynet's tensors, which they know as PyTorch's only.

tensorboardX, matplotlib and einops recognize a tensor by its type or the name of its type, and
import torch to convert it. So once one of them has been imported, before tinynet or after it, the
function that recognizes tensors gets a case for tinynet's. Everything else is passed on unchanged.
``Module.compile`` is filled in here, too: ``capture`` is loaded when it is first used.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from tinynet.base import lazy
from tinynet.core import seams
from tinynet.core.tensors.tensor import Tensor


class _Finder:
    """Finds the libraries as Python does, and adapts each when it has been loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own spec, with the loader that adapts it; None for others."""
        spec = PathFinder.find_spec(name, path) if name in _ADAPT else None
        if spec is not None and isinstance(loader := spec.loader, SourceFileLoader):
            spec.loader = _Loader(loader.name, loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Python's loader, and after it the adaptation."""

    def exec_module(self, module: ModuleType) -> None:
        """Load the module, and adapt it."""
        super().exec_module(module)
        _ADAPT[module.__name__](module)


def _adapt_matplotlib(cbook: Any) -> None:
    """Have matplotlib convert a tensor as a whole, not number by number."""
    is_torch_array = getattr(cbook, "_is_torch_array", None)  # not in versions before 3.9
    if is_torch_array is not None:
        cbook._is_torch_array = lambda x: isinstance(x, Tensor) or is_torch_array(x)


def _adapt_einops(backends: Any) -> None:
    """Give einops a backend like PyTorch's."""

    class TinynetBackend(backends.TorchBackend):
        framework_name = "tinynet"

        def __init__(self) -> None:
            self.torch = sys.modules["tinynet"]

    # einops finds its backends as subclasses, which Python knows by weak references
    backends.TinynetBackend = TinynetBackend


def _adapt_tensorboardx(package: ModuleType) -> None:
    """Give the loaded modules of tensorboardX the cases for tinynet."""
    modules = {n: m for n, m in sys.modules.items() if n.startswith("tensorboardX.")}
    plain = modules["tensorboardX.x2num"].make_np
    converting = _converting(plain)
    for module in modules.values():  # several import the function by its name
        if vars(module).get("make_np") is plain:
            vars(module)["make_np"] = converting
    writer = modules["tensorboardX.writer"].SummaryWriter
    writer.add_graph = _drawing(writer.add_graph)
    writer.add_images = _stacking(writer.add_images)


def _converting(make_np: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return tensorboardX's conversion to an array, which also takes tensors."""

    @functools.wraps(make_np)
    def convert(x: Any) -> Any:
        return make_np(x.detach().numpy() if isinstance(x, Tensor) else x)

    return convert


def _drawing(add_graph: Callable[..., None]) -> Callable[..., None]:
    """Return ``add_graph``, which records the forward pass of tinynet's modules."""

    @functools.wraps(add_graph)
    def add(
        self: Any,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        if not isinstance(model, import_module("tinynet.nn.base.module").Module):
            return add_graph(self, model, input_to_model, verbose, use_strict_trace)
        graph = import_module("tinynet.board.graphs.recorder").graph
        self._get_file_writer().add_graph(graph(model, input_to_model, verbose, use_strict_trace))

    return add


def _stacking(add_images: Callable[..., None]) -> Callable[..., None]:
    """Return ``add_images``, which also stacks a list of tensors."""

    @functools.wraps(add_images)
    def add(
        self: Any,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        listed = isinstance(img_tensor, list) and dataformats.upper() in ("CHW", "HWC")
        if listed and img_tensor and all(isinstance(image, Tensor) for image in img_tensor):
            img_tensor, dataformats = lazy.load("tinynet", "stack")(img_tensor), f"N{dataformats}"
        add_images(self, tag, img_tensor, global_step, walltime, dataformats)

    return add


_ADAPT: dict[str, Callable[[Any], None]] = {
    "tensorboardX": _adapt_tensorboardx,
    "matplotlib.cbook": _adapt_matplotlib,
    "einops._backends": _adapt_einops,
}
for _name in _ADAPT.keys() & sys.modules.keys():
    _ADAPT[_name](sys.modules[_name])
sys.meta_path.insert(0, _Finder())
seams.compile_forward.append(
    lambda *args, **options: import_module("tinynet.capture.api").compile_forward(*args, **options)
)
