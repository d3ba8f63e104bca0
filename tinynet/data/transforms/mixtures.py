"""Mixtures of the samples of a batch: MixUp and CutMix."""

from __future__ import annotations  # avoids importing numpy.random, which loads slowly

import math
from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data.transforms.base import RandomTransform
from tinynet.random import Generator

__all__ = ["CutMix", "MixUp"]


class Mixture(RandomTransform):
    """Base class of mixtures of each sample of a batch with the one before."""

    def __init__(
        self,
        alpha: float = 1.0,
        num_classes: int | None = None,
        *,
        generator: Generator | None = None,
    ):
        super().__init__(generator)
        if not alpha > 0:
            kind = type(self).__name__
            raise ValueError(f"The 'alpha' parameter of {kind} must be > 0. Got {alpha} instead.")
        self.alpha = float(alpha)
        self.num_classes = num_classes

    def _mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        raise NotImplementedError

    def __call__(self, *batch: Any) -> Any:
        """Return the mixed images and the shares of the classes in them, (N, classes)."""
        images, labels = batch if len(batch) == 2 else batch[0]
        labels = one_hot_labels(images, labels, self.num_classes)
        images, share = self._mixed(images, float(self._numpy.beta(self.alpha, self.alpha)))
        return images, mixed_labels(labels, share)


class MixUp(Mixture):
    """Averages each sample of a batch with the one before it, with a random weight.

    The labels become shares of classes, which ``CrossEntropyLoss`` takes, also with label
    smoothing. In a config, ``data.mix = ["MixUp"]`` applies it to training batches.

    Args:
        alpha: the parameter of the Beta distribution of the weight.
        num_classes: the number of classes; only labels that are class numbers need it, and not in a
            config.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``alpha`` is not positive; (when called) the batch is not a pair of images and
            labels, or ``num_classes`` is missing.

    Source: Zhang et al., mixup: Beyond Empirical Risk Minimization (2017),
    https://arxiv.org/abs/1710.09412

    Example:
        >>> batch = tn.rand(2, 1, 4, 4), tn.tensor([0, 2])
        >>> images, labels = tn.data.transforms.MixUp(num_classes=3)(batch)
        >>> labels.sum(1)
        tensor([1., 1.])
    """

    def _mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        return mix_up(images, share), share


class CutMix(Mixture):
    """Replaces a random rectangle in each image of a batch with the same part of the one before.

    The labels become shares of classes, those of the areas. In a config, ``data.mix = ["CutMix"]``
    applies it to training batches.

    Args:
        alpha: the parameter of the Beta distribution of the area.
        num_classes: the number of classes; only labels that are class numbers need it, and not in a
            config.
        generator: the source of random numbers (the default generator).

    Raises:
        ValueError: ``alpha`` is not positive; (when called) the batch is not a pair of images and
            labels, or ``num_classes`` is missing.

    Source: Yun et al., CutMix: Regularization Strategy to Train Strong Classifiers (2019),
    https://arxiv.org/abs/1905.04899

    Example:
        >>> batch = tn.rand(2, 1, 4, 4), tn.tensor([0, 2])
        >>> images, labels = tn.data.transforms.CutMix(num_classes=3)(batch)
        >>> labels.sum(1)
        tensor([1., 1.])
    """

    def _mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        if images.ndim < 3:
            raise ValueError(f"CutMix needs a batch of images. Got the shape {[*images.shape]}.")
        return cut_mix(self._numpy, images, share)


def one_hot_labels(images: Tensor, labels: Tensor, classes: int | None) -> Tensor:
    """Return the labels of a batch as shares of classes, floats of shape (N, classes).

    Raises:
        ValueError: there are not as many labels as images, or the number of classes is missing or
            too small.
    """
    if not images.ndim or not labels.ndim or len(labels) != len(images):
        raise ValueError(
            "Expected a batch of images, [N, C, H, W], and one of labels. Got the shapes "
            f"{list(images.shape)} and {list(labels.shape)}."
        )
    if labels.ndim == 1:
        if classes is None:
            raise ValueError("num_classes must be passed if the labels are not one-hot-encoded")
        numbers = labels.numpy()
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < classes:
            raise ValueError(f"Class values must be from 0 to {classes - 1}.")
        return wrap(np.eye(classes, dtype=np.float32)[numbers])
    return labels.float()


def mixed_labels(labels: Tensor, share: float) -> Tensor:
    """Return the weighted means of labels and those before them."""
    return labels.roll(1, 0) * (1.0 - share) + labels * share


def mix_up(images: Tensor, share: float) -> Tensor:
    """Return the weighted means of images and those before them."""
    return images.roll(1, 0) * (1.0 - share) + images * share


def cut_mix(rng: np.random.Generator, images: Tensor, share: float) -> tuple[Tensor, float]:
    """Return images with a part of those before them, and the exact share of the rest."""
    height, width = images.shape[-2:]
    x, y = int(rng.integers(width)), int(rng.integers(height))
    half = 0.5 * math.sqrt(1.0 - share)
    down, across = int(half * height), int(half * width)
    top, bottom = max(y - down, 0), min(y + down, height)
    left, right = max(x - across, 0), min(x + across, width)
    result = images.clone()
    result[..., top:bottom, left:right] = images.roll(1, 0)[..., top:bottom, left:right]
    return result, 1.0 - (bottom - top) * (right - left) / (height * width)
