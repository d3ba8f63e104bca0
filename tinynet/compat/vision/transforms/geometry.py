"""Transforms of places: sizes, borders, flips, rotations, blurring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinynet.compat.vision.pillow import InterpolationMode, interpolation_mode
from tinynet.compat.vision.transforms import functional as F
from tinynet.compat.vision.transforms.base import ImageTransform, Randomly, generator, uniform
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import Range, around, check_range
from tinynet.data.transforms.geometry import Mode, Side, height_and_width, sides
from tinynet.data.transforms.warps import moved_corners, one_or_two, smooth_noise

__all__ = [
    "ElasticTransform",
    "GaussianBlur",
    "Pad",
    "RandomAffine",
    "RandomHorizontalFlip",
    "RandomPerspective",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
]

_NEAREST, _BILINEAR = InterpolationMode.NEAREST, InterpolationMode.BILINEAR


class Resize(ImageTransform):
    """Resizes an image.

    Args:
        size: height and width; or one number, the length of the shorter side.
        interpolation: tensors have nearest, bilinear and bicubic.
        max_size: with one number as ``size``, the maximum of the longer side.
        antialias: average over all pixels that become one; Pillow images always do.

    Example:
        >>> from tinynet.compat.vision import transforms
        >>> transforms.Resize(8)(tn.ones(3, 16, 32)).shape
        tinynet.Size([3, 8, 16])
    """

    shown: Sequence[str] = ("size", "interpolation", "max_size", "antialias")

    def __init__(
        self,
        size: Side,
        interpolation: InterpolationMode | str | int = _BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ):
        super().__init__()
        height_and_width(size, "Resize")
        self.size = size
        self.interpolation = interpolation_mode(interpolation)
        self.max_size, self.antialias = max_size, antialias

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the resized image."""
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)


class Pad(ImageTransform):
    """Adds a border around an image.

    Args:
        padding: one width; two, for left and right, top and bottom; or four, for left, top, right
            and bottom.
        fill: the value of a constant border, or one per channel.
        padding_mode: ``"constant"``, ``"edge"``, ``"reflect"`` or ``"symmetric"``.
    """

    shown: Sequence[str] = ("padding", "fill", "padding_mode")

    def __init__(self, padding: Side, fill: Any = 0, padding_mode: Mode = "constant"):
        super().__init__()
        sides(padding)
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image with its border."""
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class RandomHorizontalFlip(Randomly):
    """Mirrors an image left to right with a given probability.

    Args:
        p: the probability.
    """

    function = staticmethod(F.hflip)


class RandomVerticalFlip(Randomly):
    """Mirrors an image top to bottom with a given probability.

    Args:
        p: the probability.
    """

    function = staticmethod(F.vflip)


class RandomRotation(ImageTransform):
    """Rotates an image by a random angle.

    Args:
        degrees: the range of the angle, counterclockwise; a number x means from -x to x.
        interpolation: nearest or bilinear; Pillow images have bicubic too.
        expand: whether the result is as large as the rotated image.
        center: the point to rotate about, x and y.
        fill: the value outside the image, or one per channel.
    """

    def __init__(
        self,
        degrees: Range,
        interpolation: InterpolationMode | str | int = _NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Any = 0,
    ):
        super().__init__()
        self.degrees = around(degrees, "'degrees' parameter of RandomRotation")
        self.interpolation, self.expand = interpolation_mode(interpolation), expand
        self.center, self.fill = center, fill

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Return a random angle."""
        return uniform(*degrees)

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the angle."""
        return (self.get_params(self.degrees),)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the rotated image."""
        return F.rotate(img, params[0], self.interpolation, self.expand, self.center, self.fill)

    def __repr__(self) -> str:
        center = "" if self.center is None else f", center={self.center}"
        return (
            f"RandomRotation(degrees={self.degrees}, interpolation={self.interpolation.value}, "
            f"expand={self.expand}{center}, fill={self.fill})"
        )


class RandomAffine(ImageTransform):
    """Rotates, moves, scales and shears an image at random, about its center.

    Args:
        degrees: the range of the angle, clockwise; a number x means from -x to x.
        translate: the largest horizontal and vertical move, as fractions of width and height.
        scale: the range of the factor.
        shear: the range of the shear's angle along x, in degrees; a number x means from -x to x.
            Four numbers are two ranges, the second along y.
        interpolation, fill, center: as in ``RandomRotation``.
    """

    def __init__(
        self,
        degrees: Range,
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: Range | None = None,
        interpolation: InterpolationMode | str | int = _NEAREST,
        fill: Any = 0,
        center: Sequence[float] | None = None,
    ):
        super().__init__()
        what = "'{}' parameter of RandomAffine".format
        self.degrees = around(degrees, what("degrees"))
        if translate is not None and not all(0.0 <= part <= 1.0 for part in translate):
            raise ValueError("translation values should be between 0 and 1")
        if scale is not None and check_range(scale, what("scale"), 0, math.inf)[0] == 0:
            raise ValueError("scale values should be positive")
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else _shears(shear, what("shear"))
        self.interpolation = interpolation_mode(interpolation)
        self.fill, self.center = fill, center

    @staticmethod
    def get_params(
        degrees: Sequence[float],
        translate: Sequence[float] | None,
        scale_ranges: Sequence[float] | None,
        shears: Sequence[float] | None,
        img_size: Sequence[int],
    ) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """Return a random angle, move, scale and shear for an image of a width and height."""
        angle, moved = uniform(*degrees), [0, 0]
        if translate is not None:
            most = [part * size for part, size in zip(translate, img_size, strict=True)]
            moved = [round(uniform(-limit, limit)) for limit in most]
        scale = 1.0 if scale_ranges is None else uniform(*scale_ranges)
        angles = [0.0, 0.0]
        if shears is not None:
            angles[0] = uniform(*shears[:2])
            angles[1] = uniform(*shears[2:]) if len(shears) == 4 else 0.0
        return angle, (moved[0], moved[1]), scale, (angles[0], angles[1])

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the angle, move, scale and shear."""
        size = F.get_image_size(img)
        return self.get_params(self.degrees, self.translate, self.scale, self.shear, size)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the mapped image."""
        angle, moved, scale, shear = params
        options = (self.interpolation, self.fill, self.center)
        return F.affine(img, angle, moved, scale, shear, *options)

    def __repr__(self) -> str:
        values = {
            "translate": self.translate,
            "scale": self.scale,
            "shear": self.shear,
            "interpolation": None if self.interpolation is _NEAREST else self.interpolation.value,
            "fill": self.fill or None,
            "center": self.center,
        }
        rest = "".join(f", {key}={value}" for key, value in values.items() if value is not None)
        return f"RandomAffine(degrees={self.degrees}{rest})"


def _shears(value: Range, what: str) -> list[float]:
    """Return one range of angles, or two for four numbers."""
    if isinstance(value, Sequence) and len(value) == 4:
        return [*around(value[:2], what), *around(value[2:], what)]
    return around(value, what)


class RandomPerspective(Randomly):
    """Shows an image in a random perspective, with a given probability.

    Args:
        distortion_scale: how far corners move inwards at most, as a fraction of half the size.
        p: the probability.
        interpolation: nearest or bilinear; Pillow images have bicubic too.
        fill: the value outside the image, or one per channel.

    Example:
        >>> from tinynet.compat.vision import transforms
        >>> transforms.RandomPerspective(0.3, p=1.0)(tn.ones(3, 16, 32)).shape
        tinynet.Size([3, 16, 32])
    """

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: InterpolationMode | str | int = _BILINEAR,
        fill: Any = 0,
    ):
        super().__init__(p)
        self.distortion_scale = distortion_scale
        self.interpolation, self.fill = interpolation_mode(interpolation), fill

    @staticmethod
    def get_params(
        width: int, height: int, distortion_scale: float
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Return the corners of an image, and random ones."""
        return moved_corners((height, width), distortion_scale, generator())

    def params(self, img: Any) -> tuple[Any, ...] | None:
        """Return the corners and the random ones, or None with probability ``1 - p``."""
        if super().params(img) is None:
            return None
        width, height = F.get_image_size(img)
        return self.get_params(width, height, self.distortion_scale)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the image in another perspective."""
        start, end = params
        return F.perspective(img, start, end, self.interpolation, self.fill)


class ElasticTransform(ImageTransform):
    """Deforms an image as if seen through moving water.

    Args:
        alpha: the magnitude of the distances in pixels before smoothing; or two, across and down.
        sigma: the deviation in pixels of the Gaussian that smooths them; or two.
        interpolation: nearest or bilinear.
        fill: the value outside the image, or one per channel.

    Example:
        >>> from tinynet.compat.vision import transforms
        >>> transforms.ElasticTransform(sigma=2.0)(tn.ones(3, 16, 32)).shape
        tinynet.Size([3, 16, 32])
    """

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: InterpolationMode | str | int = _BILINEAR,
        fill: Any = 0,
    ):
        super().__init__()
        self.alpha, self.sigma = one_or_two(alpha, "alpha"), one_or_two(sigma, "sigma")
        self.interpolation = interpolation_mode(interpolation)
        self.fill = fill

    @staticmethod
    def get_params(alpha: Sequence[float], sigma: Sequence[float], size: Sequence[int]) -> Tensor:
        """Return random distances for an image of a height and width, (1, height, width, 2)."""
        return wrap(smooth_noise(size, alpha, sigma, generator())[None])

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the distances."""
        return (self.get_params(self.alpha, self.sigma, F.get_size(img)),)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the deformed image."""
        return F.elastic_transform(img, params[0], self.interpolation, self.fill)

    def __repr__(self) -> str:
        fill = [
            float(one) for one in (self.fill if isinstance(self.fill, Sequence) else [self.fill])
        ]
        values = f"alpha={self.alpha}, sigma={self.sigma}, interpolation={self.interpolation}"
        return f"ElasticTransform({values}, fill={fill})"


class GaussianBlur(ImageTransform):
    """Blurs an image with a Gaussian kernel of random width.

    Args:
        kernel_size: width and height of the kernel in pixels, odd; or one number for both.
        sigma: the range of the standard deviation in pixels, or a fixed one.
    """

    shown: Sequence[str] = ("kernel_size", "sigma")

    def __init__(self, kernel_size: Side, sigma: Range = (0.1, 2.0)):
        super().__init__()
        self.kernel_size = height_and_width(kernel_size, "GaussianBlur")
        if any(size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        self.sigma = (sigma, sigma) if isinstance(sigma, int | float) else sigma
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(
                f"sigma values should be positive and of the form (min, max). Got {sigma}"
            )

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """Return a random standard deviation."""
        return uniform(sigma_min, sigma_max)

    def params(self, img: Any) -> tuple[Any, ...]:
        """Return the standard deviation."""
        return (self.get_params(*self.sigma),)

    def apply_to(self, img: Any, *params: Any) -> Any:
        """Return the blurred image."""
        return F.gaussian_blur(img, self.kernel_size, [params[0], params[0]])
