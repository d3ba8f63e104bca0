"""Which writes make a backward pass raise, as what they changed was saved; needs no PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .columns import Column
from .outcomes import AbsentError, tensors

# Patterns of an operation.
COMPOSED = "the function itself consists of other operations than in PyTorch"
KNOWN: dict[str, str] = {
    r"(masked|fft)\..*|special\.(log_)?ndtr|combinations|__rdiv__": COMPOSED,
    r"(linalg\.)?(lu|lu_factor|lu_factor_ex|lu_solve)|cholesky_solve|triangular_solve": COMPOSED,
    r"ormqr|linalg\.(householder_product|lstsq)": COMPOSED,
    r"native_(group|layer)_norm|_segment_reduce\..*": COMPOSED,
    r"nn\.functional\.(multilabel_margin_loss|soft_margin_loss)": COMPOSED,
    r"nn\.functional\.(nll_loss|pad\.(reflect|replicate))": "only the shape is saved",
    r"nn\.functional\.layer_norm": "a bias is not saved",
    r"nn\.functional\.cross_entropy": "one operation, whose second derivatives read the logits",
    r"index_put": "a copy of the indices is saved, which no write reaches",
}
COLUMN = Column("writes", KNOWN)


def refused(library: Any, function: Callable[..., Any], arguments: Callable[[], Any]) -> str:
    """Return a letter for each tensor of a call, its arguments first, then its results.

    Args:
        library: PyTorch or tinynet.
        function: what is called.
        arguments: returns the positional and the keyword arguments, new each time.

    Returns:
        ``x`` where a backward pass raises after a write to the tensor, ``.`` where it does not, and
        a stroke between arguments and results; nothing where no backward pass succeeds.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            counts = _passes(library, function, arguments, None)
            if counts is None:
                return ""
            letters = ""
            for side, count in enumerate(counts):
                for number in range(count):
                    done = _passes(library, function, arguments, (side, number))
                    letters += "." if done else "x"
                letters += "|" if not side else ""
            return letters
        except AbsentError:
            raise
        except Exception:
            return ""


def _passes(
    library: Any, function: Any, arguments: Any, written: tuple[int, int] | None
) -> tuple[int, int] | None:
    """Return the numbers of arguments and results; None where the pass refuses a write."""
    args, kwargs = arguments()
    given, made = tensors([args, kwargs]), tensors(function(*args, **kwargs))
    outputs = [t for t in made if t.requires_grad]
    inputs = [t for t in given if t.requires_grad]
    if not inputs or not outputs:
        return None
    if written is not None:
        target = (given, made)[written[0]][written[1]]
        with library.no_grad():
            target.copy_(target.detach().clone())
    try:
        starts = [library.ones_like(t) for t in outputs]
        library.autograd.grad(outputs, inputs, starts, allow_unused=True)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return None
    return len(given), len(made)
