"""Pillow, given tensors."""

import numpy as np

from .matrix import ONES, TABLES, VECTORS, Matrix

program = Matrix(__name__, "PIL")
if not program.skip:
    from PIL import Image, ImageDraw


def pixels(image):
    return np.asarray(image)


def canvas():
    return Image.new("L", (5, 5))


def painted(draw):
    def call(x):
        image = canvas()
        draw(ImageDraw.Draw(image), x)
        return pixels(image)

    return call


program.rows(
    TABLES,
    from_array=lambda x: pixels(Image.fromarray(x)),
    from_its_numpy=lambda x: pixels(Image.fromarray(x.numpy())),
    from_bytes=lambda x: pixels(Image.fromarray((x * 60).byte().numpy())),
    from_floats=lambda x: pixels(Image.fromarray(np.uint8(x))),
    from_asarray=lambda x: pixels(Image.fromarray(np.asarray(x), "L")),
)
program.rows(
    VECTORS,
    size=lambda x: Image.new("L", (x[1], x[2])).size,
    put_data=lambda x: pixels(Image.new("L", (2, 2)).putdata(x)).shape,
    crop=lambda x: canvas().crop(x).size,
    points=painted(lambda draw, x: draw.point(x, fill=9)),
    line=painted(lambda draw, x: draw.line(x, fill=9)),
    rectangle=painted(lambda draw, x: draw.rectangle([0, 0, x[1], x[2]], fill=9)),
    box=painted(lambda draw, x: draw.rectangle(x, fill=9)),
    box_of_numbers=painted(lambda draw, x: draw.rectangle([*map(int, x)], fill=9)),
    ellipse=painted(lambda draw, x: draw.ellipse([*x], fill=9)),
)
program.rows(
    ONES,
    fill=painted(lambda draw, x: draw.rectangle([0, 0, 1, 1], fill=x)),
    new=lambda x: pixels(Image.new("L", (1, 1), x)),
    put_pixel=lambda x: canvas().putpixel((0, 0), x),
    get_pixel=lambda x: canvas().getpixel((x, x)),
    resize=lambda x: canvas().resize((x, x)).size,
    rotate=lambda x: canvas().rotate(x).size,
    width=painted(lambda draw, x: draw.line([0, 0, 4, 4], fill=9, width=x)),
)
