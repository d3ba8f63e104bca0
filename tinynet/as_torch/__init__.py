"""PyTorch programs on tinynet, unchanged.

Put ``import tinynet.as_torch`` in the first line of a program, or run ``python -m tinynet.as_torch
program.py``. After that, ``import torch`` and ``import torch.x.y`` import tinynet's modules, and so
does ``import torchvision``, where it is not installed.
"""

from tinynet.as_torch import hook

hook.install()
