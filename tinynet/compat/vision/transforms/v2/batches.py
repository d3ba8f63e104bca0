"""Mixtures of the samples of a batch."""

from __future__ import annotations

from typing import Any

from tinynet.compat.vision.transforms.base import generator
from tinynet.compat.vision.transforms.v2.samples import Transform
from tinynet.core.tensors.tensor import Tensor
from tinynet.data.transforms import mixtures

__all__ = ["CutMix", "MixUp"]


class _Mixture(Transform):
    """Base class of mixtures of each sample of a batch with the one before.

    Args:
        alpha: the parameter of the Beta distribution of the shares.
        num_classes: the number of classes; only labels that are class numbers need it.
    """

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None):
        super().__init__()
        self.alpha = float(alpha)
        self.num_classes = num_classes

    def mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        """Return the images with a share of their own, and the exact share."""
        raise NotImplementedError

    def forward(self, *inputs: Any) -> Any:
        """Return the mixed images and labels of a batch.

        Raises:
            ValueError: the inputs are not a batch of images and a batch of labels.
        """
        images, labels = inputs if len(inputs) == 2 else inputs[0]
        if images.ndim != 4:
            raise ValueError(
                f"Expected a batch of images, [N, C, H, W], and one of labels. Got the shapes "
                f"{list(images.shape)} and {list(labels.shape)}."
            )
        labels = mixtures.one_hot_labels(images, labels, self.num_classes)
        images, share = self.mixed(images, float(generator().beta(self.alpha, self.alpha)))
        return images, mixtures.mixed_labels(labels, share)


class MixUp(_Mixture):
    """Averages each sample of a batch with another, with random weights.

    Args:
        alpha: the parameter of the Beta distribution of the weights.
        num_classes: the number of classes; only labels that are class numbers need it.

    Source: Zhang et al., mixup: Beyond Empirical Risk Minimization (2017),
    https://arxiv.org/abs/1710.09412

    Example:
        >>> from tinynet.compat.vision.transforms import v2
        >>> images, labels = v2.MixUp(num_classes=3)(tn.rand(2, 1, 4, 4), tn.tensor([0, 2]))
        >>> labels.sum(1)
        tensor([1., 1.])
    """

    def mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        """Return the weighted means, and the weight."""
        return mixtures.mix_up(images, share), share


class CutMix(_Mixture):
    """Replaces a random rectangle in each image of a batch with the same part of another.

    Args:
        alpha: the parameter of the Beta distribution of the areas.
        num_classes: the number of classes; only labels that are class numbers need it.

    Source: Yun et al., CutMix: Regularization Strategy to Train Strong Classifiers (2019),
    https://arxiv.org/abs/1905.04899
    """

    def mixed(self, images: Tensor, share: float) -> tuple[Tensor, float]:
        """Return the images with their rectangles, and the area of the rest."""
        return mixtures.cut_mix(generator(), images, share)
