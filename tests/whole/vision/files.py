"""Files of data sets."""

import struct

import numpy as np


def write_idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(head + array.astype(np.uint8).tobytes())


def write_mnist(folder, train=640, test=200):
    """Write images of ten classes, with a bright square at a place of its own for each."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    for part, count in (("train", train), ("t10k", test)):
        labels = random.integers(0, 10, count)
        images = random.integers(0, 60, (count, 28, 28))
        for image, label in zip(images, labels, strict=True):
            top, left = 2 + 12 * (label // 5), 2 + 5 * (label % 5)
            image[top : top + 6, left : left + 4] = 250
        write_idx(folder / f"{part}-images-idx3-ubyte", images)
        write_idx(folder / f"{part}-labels-idx1-ubyte", labels)
