"""``size_average=`` and ``reduce=``, which ``reduction=`` has replaced."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any


def legacy_reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a loss take ``size_average`` and ``reduce`` by name, with PyTorch's warning."""

    @functools.wraps(function)
    def taking(*args: Any, **kwargs: Any) -> Any:
        if "size_average" in kwargs or "reduce" in kwargs:
            average, reduce = kwargs.pop("size_average", None), kwargs.pop("reduce", None)
            if average is not None or reduce is not None:
                reduction = "none" if reduce is False else "sum" if average is False else "mean"
                warnings.warn(
                    "size_average and reduce args will be deprecated, please use "
                    f"reduction='{reduction}' instead.",
                    UserWarning,
                    stacklevel=2,
                )
                kwargs["reduction"] = reduction
        return function(*args, **kwargs)

    return taking


LOSSES = (
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy "
    "hinge_embedding_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss "
    "multilabel_margin_loss multilabel_soft_margin_loss nll_loss poisson_nll_loss smooth_l1_loss "
    "soft_margin_loss triplet_margin_loss"
).split()
"""The functions that PyTorch lets take them."""
