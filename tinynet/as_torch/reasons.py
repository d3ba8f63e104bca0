"""The packages and paths that tinynet stands in for, and why it lacks a path or a name.

``LEFT_OUT`` gives the reasons for missing paths, ``NAMES`` for other missing names.
"""

from __future__ import annotations

import re

from tinynet.as_torch import companions
from tinynet.compat import paths

PATHS = paths.PATHS | companions.PATHS
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
    known = LEFT_OUT + NAMES + companions.REASONS
    return next((why for pattern, why in known if re.fullmatch(pattern, path)), None)


def is_served(path: str) -> bool:
    """Return whether tinynet stands in for a module: PyTorch's own, or a package beside it."""
    package = path.partition(".")[0]
    if package in companions.PACKAGES:
        return not companions.is_left_to_python(package)
    return package in ("torch", "functorch")
