"""The packages and paths that tinynet stands in for, and why it lacks a path or a name.

``COMPANIONS`` maps the paths of packages beside torch, such as torchvision, where they are not
installed. ``LEFT_OUT`` gives the reasons for missing paths, ``NAMES`` for other missing names.
"""

from __future__ import annotations

import functools
import re
from importlib.machinery import PathFinder
from pathlib import Path

from tinynet.compat import paths

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
    "torchvision.transforms.v2.functional": "compat.vision.transforms.v2.functional",
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
