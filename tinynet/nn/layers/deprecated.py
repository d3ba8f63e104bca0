"""Deprecated classes: ``Container`` and ``NLLLoss2d``."""

from __future__ import annotations

from typing import Any

from tinynet.core.callsite import warn
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.layers.declaration import complete
from tinynet.nn.layers.losses.loss import NLLLoss

__all__ = ["Container", "NLLLoss2d"]


class Container(Module):
    """Deprecated: a module with submodules given by keyword; use ``Module``.

    Args:
        **modules: the children.

    Raises:
        TypeError: a child is not a module.

    Source: https://docs.pytorch.org/docs/stable/nn.html, where it is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     held = nn.Container(last=nn.Identity())
        >>> held.last
        Identity()
    """

    def __init__(self, **modules: Any):
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)


class NLLLoss2d(NLLLoss):
    """Deprecated alias of ``NLLLoss``.

    Args:
        weight: a weight for each class.
        size_average, reduce: deprecated; they override ``reduction``.
        ignore_index: a target class to ignore.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Shape:
        As ``NLLLoss``.

    Raises:
        IndexError, ValueError, RuntimeError: as ``NLLLoss``.

    Source: https://docs.pytorch.org/docs/stable/nn.html, where it is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     loss = nn.NLLLoss2d()
        >>> loss(tn.full((1, 2, 1, 1), -0.5), tn.tensor([[[1]]]))
        tensor(0.5000)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in "
            "replacement and see https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more "
            "details.",
            FutureWarning,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


complete(__name__)
