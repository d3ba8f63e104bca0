"""PyTorch programs on tinynet, unchanged.

``import tinynet.as_torch`` as the first line of a program, or ``python -m tinynet.as_torch
program.py``: from then on ``import torch``, and ``import torch.x.y``, give tinynet's modules.
"""

from tinynet.as_torch import hook

hook.install()
