"""Functions as PyTorch knows them: their paths in its packages, and the arguments it records.

PyTorch writes ``torch.nn.functional`` in Python for the greater part. Such a function hands the
required arguments on by position and all others by name, with their defaults. A compiled function
is recorded as it was called.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
from typing import Any

from tinynet import fft
from tinynet.base import lazy
from tinynet.base.lazy import HOMES
from tinynet.compat.library import ops
from tinynet.compat.runtime import _assert
from tinynet.core.devices import device
from tinynet.core.layouts import layout, memory_format
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import FUNCTIONS, METHODS, Tensor
from tinynet.dtypes import dtype
from tinynet.nn.functional import upsample, upsample_bilinear, upsample_nearest
from tinynet.ops import creation, linalg, special
from tinynet.ops import everything as everything  # before it is looked at

_LAYERS = "tinynet.nn.functional"  # under as_torch, the parent's attribute has other names too
_IN_NN = """
    avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear one_hot
    scaled_dot_product_attention softplus softshrink
""".split()
_AT_THE_TOP = """
    adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc
    conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity hardshrink
    native_channel_shuffle pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rrelu_
    selu_ threshold_
""".split()
_IN_PYTHON = """
    atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul
    einsum lu meshgrid norm split stft tensordot unique unique_consecutive unravel_index
""".split()
# Of these PyTorch records the arguments as they were given, and not by the names of parameters.
_AS_CALLED = frozenset("atleast_1d atleast_2d atleast_3d einsum".split())
_UNLISTED = {  # parameters that tinynet's signatures do not show, and where they stand
    "torch.functional.norm": ("keepdim", "out"),
    "torch.functional.tensordot": ("dims", "out"),
    "torch.functional.lu": ("get_infos", "out"),
}
_RENAMED = {
    "logsigmoid": "torch._C._nn.log_sigmoid",
    "threshold": "torch.nn.functional._threshold",
    "sigmoid": "sigmoid",  # a method of the input
    "tanh": "tanh",
}
_RANDOM = frozenset(
    f"torch.{name}"
    for name in """
    bernoulli dropout multinomial normal poisson rand rand_like randint randint_like randn
    randn_like randperm rrelu
""".split()
)
_OPERATORS = {
    **{f"__{name}__": name for name in "add sub mul matmul pow eq ne lt le gt ge".split()},
    **{f"__i{name}__": f"{name}_" for name in "add sub mul pow".split()},
    **{"__truediv__": "div", "__mod__": "remainder", "__itruediv__": "div_"},
}
_KEEP_THEIR_NAMES = frozenset(
    "__floordiv__ __and__ __or__ __xor__ __lshift__ __rshift__ __getitem__ __setitem__".split()
)
# They read values, which a proxy does not have: PyTorch calls them, and records nothing.
_OF_VALUES = frozenset("as_tensor asarray from_numpy frombuffer is_tensor tensor".split())
_NOT_RECORDED = (upsample, upsample_bilinear, upsample_nearest)  # they call interpolate
_TYPES = (Tensor, Size, device, dtype, layout, memory_format)


def _public(members: dict[str, Any]) -> dict[str, Any]:
    """Return the public functions among the members of a module."""
    return {
        name: value
        for name, value in members.items()
        if not name.startswith("_") and isinstance(value, types.FunctionType)
    }


def _functional(name: str) -> str:
    if name in _IN_NN:
        return f"torch._C._nn.{name}"
    return f"torch.{name}" if name in _AT_THE_TOP else f"torch.nn.functional.{name}"


@functools.cache
def paths() -> dict[Any, str]:
    """Return PyTorch's path of each public function on tensors, and of types in annotations."""
    found: dict[Any, str] = {_assert: "torch._assert"}
    found |= {kind: f"torch.{kind.__name__}" for kind in _TYPES}
    found |= {f: f"torch.ops.profiler.{name}" for name, f in vars(ops.profiler).items()}
    for module, prefix in ((linalg, "linalg"), (fft, "fft"), (special, "special")):
        for name, function in _public(vars(module)).items():
            found[function] = f"torch._C._{prefix}.{prefix}_{name}"
    for name, function in _public(vars(creation)).items():
        if name not in _OF_VALUES:
            found[function] = f"torch.{name}"
    for name, function in FUNCTIONS.items():
        if name in _OF_VALUES:
            continue
        if function not in found or name == function.__name__:  # it has other names, too
            found[function] = f"torch.{'functional.' * (name in _IN_PYTHON)}{name}"
    layers = {name: lazy.load(_LAYERS, name) for name in HOMES[_LAYERS]}
    for name, function in _public(layers).items():
        if function not in _NOT_RECORDED:
            found[function] = _RENAMED.get(name) or _functional(name)
    return found


@functools.cache
def by_path() -> dict[str, Any]:
    """Return the functions and types by their paths."""
    return {path: value for value, path in paths().items()}


@functools.cache
def methods() -> dict[str, str]:
    """Return the Tensor methods that take proxies, and their names in graphs."""
    return {
        name: _OPERATORS.get(name, name)
        for name, method in METHODS.items()
        if isinstance(method, types.FunctionType)
        if not name.startswith("__") or name in _OPERATORS or name in _KEEP_THEIR_NAMES
    }


@functools.cache
def signatures() -> dict[Any, inspect.Signature]:
    """Return the signatures of the functions that PyTorch writes in Python."""
    homes = ("torch.nn.functional.", "torch.functional.")
    return {
        function: inspect.signature(function)
        for function, path in paths().items()
        if path.startswith(homes) and path.rpartition(".")[2] not in _AS_CALLED
    }


def qualified_name(target: Any) -> str:
    """Return the path of a function or class as PyTorch prints it."""
    known = paths().get(target) if isinstance(target, (types.FunctionType, type)) else None
    if known is not None:
        return known
    module = getattr(target, "__module__", None)
    name = getattr(target, "__name__", None) or type(target).__name__
    if module == "builtins" or getattr(__builtins__, name, None) is target:
        return f"builtins.{name}"
    if module is None:
        return str(name)
    module = module.replace("tinynet.compat.fx", "torch.fx")
    return f"{'operator' if module == '_operator' else module}.{name}"


def is_of_torch(target: Any) -> bool:
    """Return whether PyTorch's package has a function or class."""
    return isinstance(target, (types.FunctionType, type)) and target in paths()


def node_name(target: Any) -> str:
    """Return the name of a function, from which its node is named."""
    known = paths().get(target) if isinstance(target, types.FunctionType) else None
    return known.rpartition(".")[2] if known else getattr(target, "__name__", str(target))


def has_effect(target: Any) -> bool:
    """Return whether a function does more than compute a value."""
    return target in (*vars(ops.profiler).values(), _assert, operator.setitem)


def is_random(target: Any) -> bool:
    """Return whether a function draws random numbers."""
    return paths().get(target) in _RANDOM


def recorded(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return a call as PyTorch records it: the function, and its arguments with their defaults."""
    path = paths()[function]
    if path == "torch.functional.einsum" and isinstance(args[-1], (list, tuple)):
        return function, (args[0], *args[1]), kwargs
    if function not in signatures():
        return function, args, kwargs
    if kwargs.get("return_indices") is True:
        name = f"{node_name(function)}_with_indices"
        function = lazy.load(_LAYERS, name) if name in HOMES[_LAYERS] else function
    return function, *_by_name(path, signatures()[function], args, kwargs)


def _by_name(
    path: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    after, unlisted = _UNLISTED.get(path, ("", ""))
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(value)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(value)
        else:
            named[parameter.name] = value
            if parameter.name == after:
                named[unlisted] = None
    return tuple(positional), named
