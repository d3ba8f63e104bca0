"""The names of the nodes that gradients get with ``create_graph``: ``SigmoidBackwardBackward0``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .columns import Column
from .outcomes import tensors

FORWARD = "the function itself consists of other operations than in PyTorch"
FORMULA = "the same derivative by another formula"
KNOWN: dict[str, str] = {
    r"as_strided(_copy|\.partial_views)?": "the sum by strides is one operation, not written views",
    r"as_strided_scatter": "the gradient has other values: known.py",
    r"(linalg\.)?lu_solve|lu_unpack|triangular_solve|ormqr": FORWARD,
    r"linalg\.householder_product|nn\.functional\.(bilinear|linear|linear_cross_entropy)": FORWARD,
    r"nn\.functional\.(pad\.circular|rms_norm|soft_margin_loss)|special\.ndtr": FORWARD,
    r"__rdiv__|combinations|diagflat|(nan)?quantile": FORWARD,
    r"linalg\.(qr|svdvals|solve|solve_ex|multi_dot|slogdet)|logdet|qr|norm\.nuc|dist": FORMULA,
    r"fft\.ihfft[2n]?|native_group_norm|nn\.functional\.cosine_similarity": FORMULA,
    r"addr|repeat|sum_to_size": FORMULA,
    r"frexp": "a power of two that overflows is avoided",
    r"masked_scatter|trace|nn\.functional\.max_unpool[23]d(\.grad)?": (
        "the derivative is one operation, in PyTorch several that work on flat memory"
    ),
    r"aminmax|nn\.functional\.prelu": "PyTorch takes another way for a tensor without dimensions",
    r"linalg\.det|tile": "PyTorch records nothing where a tensor is empty",
}
COLUMN = Column("nodes", KNOWN)
UNDEFINED = "torch::autograd::NotImplemented"  # PyTorch has no second derivative: ours may have one


def names(library: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> list[str | None]:
    """Return the name of the node of each input's gradient; None for one without history."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = [t for t in tensors(function(*args, **kwargs)) if t.requires_grad]
        inputs = [t for t in tensors([args, kwargs]) if t.requires_grad]
        if not inputs or not outputs:
            return []
        # They require grad: the gradient of a linear function has a history by them alone.
        starts = [library.ones_like(t).requires_grad_() for t in outputs]
        found = library.autograd.grad(outputs, inputs, starts, create_graph=True, allow_unused=True)
    return [g.grad_fn.name() if g is not None and g.grad_fn is not None else None for g in found]


def different(theirs: list[str | None], ours: list[str | None]) -> list[str]:
    """Return a line for each name that is another one, and for each that one library lacks."""
    pairs = zip(theirs, ours, strict=True) if len(theirs) == len(ours) else [(theirs, ours)]
    return [f"{b}, not {a}" for a, b in pairs if a not in (b, UNDEFINED)]
