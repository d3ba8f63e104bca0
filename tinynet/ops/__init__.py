"""Operations, one file per family; ``ops/README.md`` says how to add one.

The package's names are the public functions on tensors, which load when they are first used
(``loading.py``). ``ops/__init__.pyi`` is generated.
"""

from tinynet.base.lazy import attach as _attach
from tinynet.ops import loading as loading  # before all that declares a method
from tinynet.ops.creation import tensor_types as tensor_types  # core calls it: see core/seams.py
from tinynet.ops.reduction import sums as sums  # core calls it, too

__getattr__, __dir__, __all__ = _attach(__name__, loading.function)
