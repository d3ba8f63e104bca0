"""Write images of Fashion-MNIST as folders of PNG files: clothes/train/coat/0001.png and so on.

Arguments: the folder of Fashion-MNIST's files, the folder to write, and the number of images of
each class for training.
"""

import sys
from collections import Counter
from pathlib import Path

from PIL import Image

from tinynet.data import FashionMNIST

root = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"
out = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent / "clothes")
most = int(sys.argv[3]) if len(sys.argv) > 3 else 300

for part, limit in (("train", most), ("test", most // 3)):
    data = FashionMNIST(root, train=part == "train", normalize=False)
    written = Counter()
    for image, label in data:
        name = data.classes[label].lower().replace("/", " or ")
        if written[name] < limit:
            written[name] += 1
            folder = out / part / name
            folder.mkdir(parents=True, exist_ok=True)
            pixels = image[0].numpy().astype("uint8")
            Image.fromarray(pixels).save(folder / f"{written[name]:04}.png")
    print(f"{out / part}: {sum(written.values())} images of {len(written)} classes")
