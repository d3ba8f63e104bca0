"""The packages that PyTorch programs import beside torch: torchvision, torchtext, torchaudio.

``PATHS`` maps torchvision's paths to tinynet's modules; ``REASONS`` says what to do about missing
names. They serve where the package is not installed, or is one that needs PyTorch itself.
"""

from __future__ import annotations

import functools
from importlib.machinery import PathFinder
from pathlib import Path

PATHS: dict[str, str] = {
    "torchvision": "compat.vision",
    "torchvision.datasets": "compat.vision.datasets",
    "torchvision.datasets.cifar": "compat.vision.datasets",
    "torchvision.datasets.fakedata": "compat.vision.datasets",
    "torchvision.datasets.folder": "compat.vision.datasets",
    "torchvision.datasets.mnist": "compat.vision.datasets",
    "torchvision.datasets.vision": "compat.vision.datasets",
    "torchvision.io": "compat.vision.io",
    "torchvision.io.image": "compat.vision.io",
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
REASONS: list[tuple[str, str]] = [
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
