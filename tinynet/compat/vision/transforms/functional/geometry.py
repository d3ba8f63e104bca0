"""Geometry: flips, crops, borders, sizes; rotations and other maps of places; blurring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.compat.vision.pillow import InterpolationMode, interpolation_mode, is_pillow
from tinynet.compat.vision.transforms.functional.conversion import for_images, on_array
from tinynet.core.callsite import warn
from tinynet.core.tensors.size import Size
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.transforms.augmentation import blurred
from tinynet.data.transforms.base import image_array
from tinynet.data.transforms.color import as_floats
from tinynet.data.transforms.geometry import (
    Mode,
    Side,
    as_dtype,
    height_and_width,
    padded,
    resized,
    sides,
    size_from_shorter,
)
from tinynet.data.transforms.warps import (
    Points,
    elastic_places,
    expanded_size,
    inverse_map,
    linear_map,
    old_places,
    perspective_places,
    sampled,
)
from tinynet.dtypes import Array
from tinynet.nn.functional import interpolate
from tinynet.nn.functional import pad as pad_tensor

__all__ = [
    "center_crop",
    "crop",
    "erase",
    "five_crop",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "get_size",
    "hflip",
    "pad",
    "resize",
    "resized_crop",
    "ten_crop",
    "vflip",
    "affine",
    "elastic_transform",
    "gaussian_blur",
    "perspective",
    "rotate",
]


_BILINEAR = InterpolationMode.BILINEAR


def get_dimensions(img: Any) -> list[int]:
    """Return the number of channels, the height and the width of an image.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> geometry.get_dimensions(tn.ones(3, 4, 5))
        [3, 4, 5]
    """
    if isinstance(img, Tensor):
        shape = image_array(img, "get_dimensions").shape
        return [1 if len(shape) == 2 else shape[-3], shape[-2], shape[-1]]
    if is_pillow(img):
        return [len(img.getbands()), img.height, img.width]
    shape = np.asarray(img).shape
    if len(shape) not in (2, 3):
        raise TypeError(f"Unexpected type {type(img)}")
    return [1 if len(shape) == 2 else shape[2], *shape[:2]]


def get_image_size(img: Any) -> list[int]:
    """Return the width and height of an image."""
    return get_dimensions(img)[:0:-1]


def get_size(img: Any) -> list[int]:
    """Return the height and width of an image."""
    return get_dimensions(img)[1:]


def get_image_num_channels(img: Any) -> int:
    """Return the number of channels of an image."""
    return get_dimensions(img)[0]


@for_images
def hflip(img: Any) -> Any:
    """Return an image mirrored left to right.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> geometry.hflip(tn.tensor([[[1, 2]]]))
        tensor([[[2, 1]]])
    """
    return img.flip(-1)


@for_images
def vflip(img: Any) -> Any:
    """Return an image mirrored top to bottom."""
    return img.flip(-2)


@for_images
def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """Return a part of an image; what is outside is 0.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> geometry.crop(tn.tensor([[[1, 2]]]), 0, 1, 1, 2)
        tensor([[[2, 0]]])
    """
    rows, columns = image_array(img, "crop").shape[-2:]
    bottom, right = top + height, left + width
    inside = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    if 0 <= top and bottom <= rows and 0 <= left and right <= columns:
        return inside
    above, before = min(max(-top, 0), height), min(max(-left, 0), width)
    below = height - above - inside.shape[-2]
    return pad_tensor(inside, (before, width - before - inside.shape[-1], above, below))


def pad(img: Any, padding: Side, fill: Any = 0, padding_mode: Mode = "constant") -> Any:
    """Return an image with a border.

    Args:
        img: the image.
        padding: one width; two, for left and right, top and bottom; or four, for left, top, right
            and bottom.
        fill: the value of a constant border; one per channel is allowed.
        padding_mode: ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.

    Raises:
        ValueError: the padding is invalid.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> geometry.pad(tn.ones(1, 1, 2), [1, 0])
        tensor([[[0., 1., 1., 0.]]])
    """
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    border = sides(padding)
    if padding_mode == "constant" and min(border) >= 0:
        return with_border(img, border, fill)
    return _padded(img, border, fill, padding_mode)


@for_images
def with_border(img: Any, border: Sequence[int], fill: Any) -> Any:
    """Return an image with a border of a value, or of one per channel."""
    if isinstance(fill, Sequence):
        return _padded(img, border, fill, "constant")
    left, top, right, bottom = border
    return pad_tensor(img, (left, right, top, bottom), value=fill or 0)


@for_images
def _padded(img: Any, border: Sequence[int], fill: Any, padding_mode: Mode) -> Any:
    filled: Any = np.reshape(fill, (-1, 1, 1)) if isinstance(fill, Sequence) else fill or 0
    return on_array(img, "pad", lambda a: padded(a, border, filled, padding_mode))


def center_crop(img: Any, output_size: Side) -> Any:
    """Return the center of an image; a smaller image gets a black border."""
    height, width = height_and_width(output_size, "center_crop")
    _, rows, columns = get_dimensions(img)
    down, across = max(0, height - rows), max(0, width - columns)
    if down or across:
        img = pad(img, [across // 2, down // 2, (across + 1) // 2, (down + 1) // 2])
        _, rows, columns = get_dimensions(img)
    return crop(img, round((rows - height) / 2), round((columns - width) / 2), height, width)


def resize(
    img: Any,
    size: Side,
    interpolation: InterpolationMode | str | int = _BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """Return an image of another size.

    Args:
        img: the image.
        size: height and width; or one number, the length of the shorter side.
        interpolation: ``InterpolationMode``; tensors have nearest, bilinear and bicubic.
        max_size: with one number as ``size``, the maximum of the longer side.
        antialias: average over all pixels that become one; Pillow images always do.

    Raises:
        ValueError: the size does not fit ``max_size``, or tensors lack the interpolation.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> geometry.resize(tn.ones(3, 16, 32), 8).shape
        tinynet.Size([3, 8, 16])
    """
    if antialias is False and is_pillow(img):
        warn("Anti-alias option is always applied for PIL Image input: antialias is ignored.")
    target = height_and_width(size, "Resize")
    if isinstance(size, int) or len(size) == 1:
        if max_size is not None and max_size <= target[0]:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the "
                f"smaller edge size = {size}"
            )
        target = size_from_shorter(get_size(img), target[0], max_size)
    elif max_size is not None:
        raise ValueError(
            "max_size should only be passed if size specifies the length of the smaller edge, "
            "i.e. size should be an int or a sequence of length 1 in torchscript mode."
        )
    return resize_to(img, target, interpolation_mode(interpolation), antialias is not False)


@for_images
def resize_to(img: Any, size: tuple[int, int], mode: InterpolationMode, antialias: bool) -> Any:
    """Return an image of a given height and width."""
    name: Any = mode.value
    if name not in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        raise ValueError("This Interpolation mode is unsupported with Tensor input")
    array = image_array(img, "resize")
    if array.shape[-2:] == size:
        return img
    if array.dtype.kind != "f":
        return on_array(img, "resize", lambda a: resized(a, size, name, antialias))
    smooth = name in ("bilinear", "bicubic")
    planes = img.reshape(-1, 1, *array.shape[-2:])
    options = {"align_corners": False, "antialias": antialias} if smooth else {}
    return interpolate(planes, size, mode=name, **options).reshape(*array.shape[:-2], *size)


def resized_crop(
    img: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Side,
    interpolation: InterpolationMode | str | int = _BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """Return a part of an image in another size."""
    return resize(crop(img, top, left, height, width), size, interpolation, None, antialias)


def five_crop(img: Any, size: Side) -> tuple[Any, ...]:
    """Return the four corners of an image and its center.

    Raises:
        ValueError: the image is smaller.
    """
    height, width = height_and_width(size, "five_crop")
    _, rows, columns = get_dimensions(img)
    if width > columns or height > rows:
        raise ValueError(
            f"Requested crop size {(height, width)} is bigger than input size {(rows, columns)}"
        )
    corners = [(y, x) for y in (0, rows - height) for x in (0, columns - width)]
    parts = [crop(img, top, left, height, width) for top, left in corners]
    return (*parts, center_crop(img, [height, width]))


def ten_crop(img: Any, size: Side, vertical_flip: bool = False) -> tuple[Any, ...]:
    """Return five crops of an image, and of the mirrored one."""
    mirrored = vflip(img) if vertical_flip else hflip(img)
    return five_crop(img, size) + five_crop(mirrored, size)


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    """Overwrite a rectangle of a tensor.

    Args:
        img: the image, a tensor.
        i, j, h, w: the top, left, height and width of the rectangle.
        v: the values.
        inplace: write into the given tensor.

    Raises:
        TypeError: the image is not a tensor.
    """
    image_array(img, "erase")
    img = img if inplace else img.clone()
    img[..., i : i + h, j : j + w] = v
    return img


_NEAREST = InterpolationMode.NEAREST

# ---- maps of places -----------------------------------------------------------------------------


def rotate(
    img: Any,
    angle: float,
    interpolation: InterpolationMode | str | int = _NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Any:
    """Return an image rotated counterclockwise.

    Args:
        img: the image.
        angle: in degrees.
        interpolation: nearest or bilinear; Pillow images have bicubic too.
        expand: whether the result is as large as the rotated image.
        center: the point to rotate about, x and y.
        fill: the value outside the image, or one per channel.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> geometry.rotate(tn.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 90)
        tensor([[[2., 4.],
                 [1., 3.]]])
    """
    if center is not None and len(center) != 2:
        raise TypeError("Argument center should be a sequence")
    mode = interpolation_mode(interpolation)
    return rotate_by(img, angle, mode, expand, center, fill)


@for_images
def rotate_by(
    img: Any, angle: float, mode: InterpolationMode, expand: bool, center: Any, fill: Any
) -> Any:
    """Return an image rotated counterclockwise, with all arguments given."""
    size = image_array(img, "rotate").shape[-2:]
    linear = linear_map(-angle)
    inverse = inverse_map(linear, size, None if expand else center)
    result = expanded_size(linear, size) if expand else size
    return _mapped(img, "rotate", old_places(inverse, result, size), mode, fill)


def affine(
    img: Any,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: float | Sequence[float],
    interpolation: InterpolationMode | str | int = _NEAREST,
    fill: Any = None,
    center: Sequence[float] | None = None,
) -> Any:
    """Return an image rotated (clockwise), scaled, sheared and moved.

    Args:
        img: the image.
        angle: in degrees.
        translate: the move to the right and down, in pixels.
        scale: the factor.
        shear: the angles of the shear along x and y, in degrees; or only the first.
        interpolation, fill, center: as in ``rotate``.

    Raises:
        ValueError: the scale is not positive, or a pair is none.
    """
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    angles = [*shear, 0.0] if isinstance(shear, Sequence) else [shear, 0.0]
    if len(angles) > 3:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    parts = (angle, scale, angles[:2])
    return affine_by(img, parts, translate, interpolation_mode(interpolation), center, fill)


@for_images
def affine_by(
    img: Any,
    parts: tuple[float, float, Sequence[float]],
    moved: Sequence[float],
    mode: InterpolationMode,
    center: Any,
    fill: Any,
) -> Any:
    """Return an image after the affine map of an angle, a scale and two angles of a shear."""
    size = image_array(img, "affine").shape[-2:]
    inverse = inverse_map(linear_map(*parts), size, center, moved)
    return _mapped(img, "affine", old_places(inverse, size, size), mode, fill)


def perspective(
    img: Any,
    startpoints: Points,
    endpoints: Points,
    interpolation: InterpolationMode | str | int = _BILINEAR,
    fill: Any = None,
) -> Any:
    """Return an image in the perspective that moves four points.

    Args:
        img: the image.
        startpoints: four points of the image, x and y: the corners, clockwise from the top left.
        endpoints: the places to which they move.
        interpolation, fill: as in ``rotate``.

    Raises:
        ValueError: these are not four points each.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> image = tn.arange(6.0).reshape(1, 2, 3)
        >>> moved = [[1, 0], [3, 0], [3, 2], [1, 2]]
        >>> geometry.perspective(image, [[0, 0], [2, 0], [2, 2], [0, 2]], moved, "nearest")
        tensor([[[0., 0., 1.],
                 [0., 3., 4.]]])
    """
    mode = interpolation_mode(interpolation)
    return perspective_by(img, startpoints, endpoints, mode, fill)


@for_images
def perspective_by(img: Any, start: Points, end: Points, mode: InterpolationMode, fill: Any) -> Any:
    """Return an image in a perspective, with all arguments given."""
    places = perspective_places(image_array(img, "perspective").shape[-2:], start, end)
    return _mapped(img, "perspective", places, mode, fill)


def elastic_transform(
    img: Any,
    displacement: Tensor,
    interpolation: InterpolationMode | str | int = _BILINEAR,
    fill: Any = None,
) -> Any:
    """Return an image whose pixels come from places beside their own.

    Args:
        img: the image.
        displacement: the distances, (1, height, width, 2): across, in halves of the width, and
            down, in halves of the height.
        interpolation: nearest or bilinear.
        fill: as in ``rotate``.

    Raises:
        TypeError: the displacement is not a tensor.
        ValueError: it has another shape.

    Example:
        >>> from tinynet.compat.vision.transforms.functional import geometry
        >>> geometry.elastic_transform(tn.tensor([[[1.0, 2.0]]]), tn.ones(1, 1, 2, 2) * 0.5)
        tensor([[[1.1250, 0.7500]]])
    """
    if not isinstance(displacement, Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    return _deformed(img, displacement, interpolation_mode(interpolation), fill)


@for_images
def _deformed(img: Any, displacement: Tensor, mode: InterpolationMode, fill: Any) -> Any:
    size = image_array(img, "elastic_transform").shape[-2:]
    if displacement.shape != (1, *size, 2):
        raise ValueError(
            f"Argument displacement shape should be {Size((1, *size, 2))}, but given "
            f"{displacement.shape}"
        )
    places = elastic_places(size, displacement.detach().numpy()[0])
    return _mapped(img, "elastic_transform", places, mode, fill)


def _mapped(
    img: Tensor, name: str, places: tuple[Array, Array], mode: InterpolationMode, fill: Any
) -> Tensor:
    """Return the values at old places; with ``fill``, edges fade as torchvision's do."""
    if mode not in (_NEAREST, _BILINEAR):
        raise ValueError(
            f"Interpolation mode '{mode.value}' is unsupported with Tensor input: use nearest or "
            "bilinear."
        )
    kind: Any = mode.value

    def mapped(array: Array) -> Array:
        if fill is None or kind == "nearest":
            return sampled(array, places, kind, 0 if fill is None else fill)
        values = as_floats(array)
        covered = sampled(np.ones((1, *array.shape[-2:]), values.dtype), places, kind, 0)
        filled = np.reshape(np.asarray(fill, values.dtype), (-1, 1, 1))
        total = sampled(values, places, kind, 0)
        return as_dtype(total * covered + (1 - covered) * filled, array.dtype)

    return on_array(img, name, mapped)


@for_images
def gaussian_blur(img: Any, kernel_size: Side, sigma: Any = None) -> Any:
    """Return an image blurred with a Gaussian kernel.

    Args:
        img: the image.
        kernel_size: its width and height in pixels, odd; or one number for both.
        sigma: the standard deviations across and down, or one; by default
            ``0.15 * kernel_size + 0.35``.

    Raises:
        ValueError: a size is not odd, or a deviation is not positive.
    """
    kernel = height_and_width(kernel_size, "gaussian_blur")
    if any(size % 2 == 0 for size in kernel):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in kernel]
    deviations = [*sigma] * 2 if isinstance(sigma, Sequence) else [sigma, sigma]
    if min(deviations) <= 0:
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return on_array(img, "gaussian_blur", lambda a: blurred(a, kernel, deviations[:2]))
