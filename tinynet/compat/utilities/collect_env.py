"""``torch.utils.collect_env``: the versions and the machine, for reports of bugs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import sys
from typing import NamedTuple

from tinynet.compat.version import __version__

_LIBRARIES = r"numpy|scipy|llvmlite|tinynet|torch.*|onnx.*|tensorboard.*"


class SystemEnv(NamedTuple):
    """What a report of a bug needs.

    Attributes:
        torch_version: the version of PyTorch whose interface tinynet has.
        os: the operating system.
        libc_version: the C library.
        python_version: Python's version.
        python_platform: the platform, as Python names it.
        is_cuda_available: ``"False"``.
        pip_packages: ``name==version`` of installed packages, a line each.
        cpu_info: the processor and the number of cores.
    """

    torch_version: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    pip_packages: str
    cpu_info: str


def get_env_info() -> SystemEnv:
    """Return the versions and the machine.

    Example:
        >>> from tinynet.compat.utilities import collect_env
        >>> collect_env.get_env_info().is_cuda_available
        'False'
    """
    found = {
        f"{package.name}=={package.version}"
        for package in importlib.metadata.distributions()
        if re.fullmatch(_LIBRARIES, package.name or "", re.I)
    }
    return SystemEnv(
        torch_version=f"{__version__} (tinynet)",
        os=platform.platform(),
        libc_version="-".join(platform.libc_ver()),
        python_version=sys.version.replace("\n", ""),
        python_platform=platform.platform(),
        is_cuda_available="False",
        pip_packages="\n".join(sorted(found)),
        cpu_info=f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
    )


def get_pretty_env_info() -> str:
    """Return the report of ``python -m torch.utils.collect_env`` as text."""
    info = get_env_info()
    packages = "\n".join(f"[pip3] {line}" for line in info.pip_packages.splitlines())
    return (
        f"PyTorch version: {info.torch_version}\nIs debug build: False\n"
        f"OS: {info.os}\nLibc version: {info.libc_version}\n\n"
        f"Python version: {info.python_version}\nPython platform: {info.python_platform}\n"
        f"Is CUDA available: {info.is_cuda_available}\n\nCPU:\n{info.cpu_info}\n\n"
        f"Versions of relevant libraries:\n{packages}\n"
    )


def main() -> None:
    """Print the report."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
