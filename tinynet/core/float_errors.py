"""Division by zero, overflow and invalid values: silent inside tinynet, as in PyTorch.

numpy warns about them, and a warning for each ``log(0)`` of a training step would be noise at best
(and an error where warnings are errors). Disabling the warnings per operation would cost more than
many operations do, and disabling them globally would hide those of user code. So numpy calls a
function that is silent for tinynet's frames and warns for all others.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from tinynet.core.callsite import is_outside

_NUMPY = np.__file__.rpartition("/")[0] or np.__file__


def _report(kind: str, flag: int) -> None:
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NUMPY):
        frame, level = frame.f_back, level + 1
    if is_outside(frame.f_code.co_filename):
        warnings.warn(f"{kind} encountered", RuntimeWarning, stacklevel=level)


def install() -> None:
    """Take over numpy's floating-point errors that are set to ``"warn"``."""
    warned = {name: "call" for name, how in np.geterr().items() if how == "warn"}
    np.seterr(**warned)  # type: ignore[arg-type]
    np.seterrcall(_report)
