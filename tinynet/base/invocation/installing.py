"""Commands that install optional packages, for messages."""

from __future__ import annotations

from tinynet.base.invocation.commands import python

PACKAGES: dict[str, tuple[str, ...]] = {
    "bfloat16": ("ml_dtypes",),
    "images": ("pillow",),
    "mlflow": ("mlflow-skinny", "sqlalchemy", "alembic"),
    "mpi": ("mpi4py",),
    "llvm": ("llvmlite",),
    "onnx": ("onnx",),
    "parquet": ("pyarrow",),
    "report": ("matplotlib",),
    "search": ("optuna",),
    "tensorboard": ("tensorboard",),
    "wandb": ("wandb",),
}
"""The packages of each extra in pyproject.toml that a message names.

Messages name packages, not extras: the registry may have another project under tinynet's name.
"""


def installation(extra: str, *more: str) -> str:
    """Return the command that installs the packages of an extra for the running Python.

    Args:
        extra: the name of the extra.
        more: further packages.

    Example:
        >>> from tinynet.base.invocation.installing import installation
        >>> installation("mpi", "mpich")
        '...python... -m pip install mpi4py mpich'
    """
    return python("-m", "pip", "install", *PACKAGES[extra], *more)
