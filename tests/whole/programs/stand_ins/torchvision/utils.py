"""Pictures of batches."""

import math

import numpy as np
import torch
from PIL import Image


def make_grid(tensor, nrow=8, padding=2, normalize=False, pad_value=0.0, **options):
    if isinstance(tensor, (list, tuple)):
        tensor = torch.stack(list(tensor))
    if tensor.dim() == 2:
        tensor = tensor[None]
    if tensor.dim() == 3:
        tensor = tensor[None]
    if tensor.size(1) == 1:
        tensor = tensor.expand(-1, 3, -1, -1)
    images = tensor.detach()
    if normalize:
        images = (images - images.min()) / (images.max() - images.min() + 1e-5)
    count, channels, height, width = images.shape
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    shape = (channels, rows * (height + padding) + padding, columns * (width + padding) + padding)
    grid = torch.full(shape, float(pad_value))
    for n in range(count):
        top = n // columns * (height + padding) + padding
        left = n % columns * (width + padding) + padding
        grid[:, top : top + height, left : left + width] = images[n]
    return grid


def save_image(tensor, fp, **options):
    grid = make_grid(tensor, **options)
    array = (grid.clamp(0, 1) * 255).to(torch.uint8).permute(1, 2, 0).numpy()
    Image.fromarray(np.ascontiguousarray(array)).save(fp)
