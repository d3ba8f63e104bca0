"""Transforms of PIL images and of tensors."""

import math
import random
import sys

import numpy as np
import torch
from PIL import Image

BILINEAR = Image.BILINEAR


class InterpolationMode:
    """Names of the ways to resize."""

    NEAREST, BILINEAR, BICUBIC, LANCZOS = 0, 2, 3, 1


def pair(size):
    return (size, size) if isinstance(size, int) else tuple(size)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class Lambda:
    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, image):
        return self.lambd(image)


class ToTensor:
    def __call__(self, image):
        array = np.array(image)
        if array.ndim == 2:
            array = array[:, :, None]
        array = np.ascontiguousarray(array.transpose(2, 0, 1))
        if array.dtype == np.uint8:
            return torch.from_numpy(array.astype(np.float32) / np.float32(255))
        return torch.from_numpy(array)


class PILToTensor:
    def __call__(self, image):
        array = np.array(image)
        return torch.from_numpy(np.ascontiguousarray(np.atleast_3d(array).transpose(2, 0, 1)))


class ConvertImageDtype:
    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, image):
        return image.to(self.dtype) / 255


class ToPILImage:
    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, picture):
        array = np.asarray(picture)
        if array.ndim == 3 and torch.is_tensor(picture):
            array = array.transpose(1, 2, 0)
        if array.dtype.kind == "f":
            array = (array * 255).clip(0, 255).astype(np.uint8)
        return Image.fromarray(array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array)


class Normalize:
    def __init__(self, mean, std, inplace=False):
        self.mean, self.std = torch.as_tensor(mean), torch.as_tensor(std)

    def __call__(self, tensor):
        return (tensor - self.mean.view(-1, 1, 1)) / self.std.view(-1, 1, 1)


class Resize:
    def __init__(self, size, interpolation=BILINEAR, **options):
        self.size = size

    def __call__(self, image):
        if torch.is_tensor(image):
            size = pair(self.size)
            return torch.nn.functional.interpolate(image[None], size=size, mode="bilinear")[0]
        width, height = image.size
        if isinstance(self.size, int):
            scale = self.size / min(width, height)
            size = (round(width * scale), round(height * scale))
        else:
            size = tuple(reversed(self.size))
        return image.resize(size, BILINEAR)


Scale = Resize


class CenterCrop:
    def __init__(self, size):
        self.size = pair(size)

    def __call__(self, image):
        (height, width), (w, h) = self.size, image.size
        left, top = (w - width) // 2, (h - height) // 2
        return image.crop((left, top, left + width, top + height))


class RandomCrop:
    def __init__(self, size, padding=0, **options):
        self.size, self.padding = pair(size), padding or 0

    def __call__(self, image):
        if self.padding:
            image = Pad(self.padding)(image)
        (height, width), (w, h) = self.size, image.size
        left, top = random.randint(0, max(w - width, 0)), random.randint(0, max(h - height, 0))
        return image.crop((left, top, left + width, top + height))


class Pad:
    def __init__(self, padding, fill=0, **options):
        self.padding = padding

    def __call__(self, image):
        p, (w, h) = self.padding, image.size
        return image.crop((-p, -p, w + p, h + p))


class RandomResizedCrop:
    def __init__(self, size, scale=(0.08, 1.0), **options):
        self.size, self.scale = pair(size), scale

    def __call__(self, image):
        w, h = image.size
        side = max(1, int(math.sqrt(random.uniform(*self.scale)) * min(w, h)))
        left, top = random.randint(0, w - side), random.randint(0, h - side)
        return image.crop((left, top, left + side, top + side)).resize(self.size[::-1], BILINEAR)


RandomSizedCrop = RandomResizedCrop


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, image):
        if random.random() >= self.p:
            return image
        return image.flip(-1) if torch.is_tensor(image) else image.transpose(0)


class RandomVerticalFlip(RandomHorizontalFlip):
    def __call__(self, image):
        if random.random() >= self.p:
            return image
        return image.flip(-2) if torch.is_tensor(image) else image.transpose(1)


class RandomRotation:
    def __init__(self, degrees, **options):
        self.degrees = (-degrees, degrees) if isinstance(degrees, (int, float)) else degrees

    def __call__(self, image):
        return image.rotate(random.uniform(*self.degrees))


class Grayscale:
    def __init__(self, num_output_channels=1):
        self.mode = "L" if num_output_channels == 1 else "RGB"

    def __call__(self, image):
        return image.convert("L").convert(self.mode)


class RandomApply(Compose):
    def __init__(self, transforms, p=0.5):
        super().__init__(transforms)
        self.p = p

    def __call__(self, image):
        return super().__call__(image) if random.random() < self.p else image


class ColorJitter:
    def __init__(self, *args, **options):
        pass

    def __call__(self, image):
        return image


RandomGrayscale = RandomAffine = RandomErasing = RandomPerspective = GaussianBlur = ColorJitter
transforms = sys.modules[__name__]  # the package has a module of this name
