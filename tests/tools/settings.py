"""The settings of a process. A test that leaves one changed decides about the tests after it."""

import tinynet as tn
from tinynet.core import modes, printing
from tinynet.core.graph import inplace
from tinynet.nn.base import hooks
from tinynet.utils import backcompat

MODES = "grad on inference autocast plain backward_pass tracer".split()
STAGES = hooks.ModuleHooks.__slots__
READ = {
    "default dtype": tn.get_default_dtype,
    "default device": tn.get_default_device,
    "modes": lambda: [getattr(modes.mode, name) for name in MODES],
    "anomaly mode": tn.is_anomaly_enabled,
    "deterministic algorithms": tn.are_deterministic_algorithms_enabled,
    "warnings each time": tn.is_warn_always_enabled,
    "precision of products": tn.get_float32_matmul_precision,
    "threads": tn.get_num_threads,
    "kernels of LLVM": lambda: tn.backends.llvm.enabled,
    "autocast": lambda: (tn.is_autocast_enabled(), tn.get_autocast_dtype("cpu")),
    "cache of autocast": tn.is_autocast_cache_enabled,
    "print options": lambda: printing._options,
    "strict writes to leaves": lambda: inplace.settings.strict_leaf_writes,
    "hooks of all modules": lambda: [len(getattr(hooks.everywhere, stage)) for stage in STAGES],
    "warnings of old versions": lambda: (
        backcompat.broadcast_warning.enabled,
        backcompat.keepdim_warning.enabled,
    ),
}


def settings():
    """Return the values of all settings by name."""
    return {name: read() for name, read in READ.items()}
