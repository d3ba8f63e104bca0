"""A compiler for loops over numbers and arrays: from Python to machine code, by LLVM.

`README.md` says what it takes. Its modules load when they are used.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.kernels.llvm import kernel as kernel
    from tinynet.kernels.llvm import machine as machine
    from tinynet.kernels.llvm import sharing as sharing
    from tinynet.kernels.llvm import store as store
    from tinynet.kernels.llvm.assembly import External as External
    from tinynet.kernels.llvm.kernel import Kernel as Kernel
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
