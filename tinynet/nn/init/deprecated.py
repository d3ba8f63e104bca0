"""Deprecated names without an underscore at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.init.constants import constant_, dirac_, eye_
from tinynet.nn.init.random import normal_, sparse_, uniform_
from tinynet.nn.init.scaled import (
    kaiming_normal_,
    kaiming_uniform_,
    orthogonal_,
    xavier_normal_,
    xavier_uniform_,
)

__all__ = [
    "uniform", "normal", "constant", "eye", "dirac", "orthogonal", "sparse", "xavier_uniform",
    "xavier_normal", "kaiming_uniform", "kaiming_normal"
]  # fmt: skip


def _deprecated(function: Any) -> Callable[..., Tensor]:
    name = function.__name__.removesuffix("_")

    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = name
    renamed.__doc__ = f"Deprecated: call ``{name}_``, which does the same."
    return renamed


uniform, normal, constant = map(_deprecated, (uniform_, normal_, constant_))
eye, dirac, orthogonal, sparse = map(_deprecated, (eye_, dirac_, orthogonal_, sparse_))
xavier_uniform, xavier_normal = map(_deprecated, (xavier_uniform_, xavier_normal_))
kaiming_uniform, kaiming_normal = map(_deprecated, (kaiming_uniform_, kaiming_normal_))
