"""``torchvision.ops``: boxes, stochastic depth and frozen batch norm.

A box is ``[x1, y1, x2, y2]`` with ``x1 <= x2`` and ``y1 <= y2``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.ops import cat, empty, maximum, minimum, ones, stack, tensor, zeros


def box_area(boxes: Tensor) -> Tensor:
    """Return the areas of boxes.

    Args:
        boxes: ``[N, 4]``.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> ops.box_area(tn.tensor([[0.0, 0.0, 2.0, 3.0]]))
        tensor([6.])
    """
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def _shared(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Return the areas of the intersections and unions of all pairs."""
    start = maximum(one[..., None, :2], other[..., None, :, :2])
    end = minimum(one[..., None, 2:], other[..., None, :, 2:])
    both = (end - start).clamp(min=0).prod(-1)
    return both, box_area(one)[..., None] + box_area(other)[..., None, :] - both


def box_iou(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> Tensor:
    """Return the intersection of each pair of boxes, divided by their union.

    Args:
        boxes1: ``[N, 4]``.
        boxes2: ``[M, 4]``.
        fmt: as in ``box_convert``.

    Returns:
        ``[N, M]``.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> box = tn.tensor([[0.0, 0.0, 2.0, 2.0]])
        >>> ops.box_iou(box, box + tn.tensor([1.0, 0.0, 1.0, 0.0]))
        tensor([[0.3333]])
    """
    both, union = _shared(*(box_convert(boxes, fmt, "xyxy") for boxes in (boxes1, boxes2)))
    return both / union


def generalized_box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return ``box_iou`` less the share of the enclosing box that neither covers.

    The generalized measure of Rezatofighi et al. (2019).

    Args:
        boxes1: ``[N, 4]``.
        boxes2: ``[M, 4]``.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> box = tn.tensor([[0.0, 0.0, 1.0, 1.0]])
        >>> ops.generalized_box_iou(box, box + 1)
        tensor([[-0.5000]])
    """
    both, union = _shared(boxes1, boxes2)
    start = minimum(boxes1[..., None, :2], boxes2[..., None, :, :2])
    end = maximum(boxes1[..., None, 2:], boxes2[..., None, :, 2:])
    around = (end - start).clamp(min=0).prod(-1)
    return both / union - (around - union) / around


def box_convert(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Return boxes in another format.

    Args:
        boxes: ``[N, 4]``.
        in_fmt: ``"xyxy"``, two corners; ``"xywh"``, a corner and the size; or ``"cxcywh"``, the
            center and the size.
        out_fmt: one of the same.

    Raises:
        ValueError: another format.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> ops.box_convert(tn.tensor([[1.0, 1.0, 3.0, 5.0]]), "xyxy", "cxcywh")
        tensor([[2., 3., 2., 4.]])
    """
    if not {in_fmt, out_fmt} <= {"xyxy", "xywh", "cxcywh"}:
        raise ValueError("Unsupported Bounding Box Conversions for given in_fmt and out_fmt")
    if in_fmt == out_fmt:
        return boxes.clone()
    first, second = boxes[..., :2], boxes[..., 2:]
    size = second - first if in_fmt == "xyxy" else second
    start = first - size / 2 if in_fmt == "cxcywh" else first
    parts = {
        "xyxy": (start, start + size),
        "xywh": (start, size),
        "cxcywh": (start + size / 2, size),
    }
    return cat(parts[out_fmt], -1)


def clip_boxes_to_image(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """Return boxes cut off at the edges of an image.

    Args:
        boxes: ``[..., 4]``.
        size: the height and the width of the image.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> ops.clip_boxes_to_image(tn.tensor([[-1.0, 0.0, 9.0, 2.0]]), (5, 5))
        tensor([[0., 0., 5., 2.]])
    """
    height, width = size
    x, y = boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)
    return stack((x, y), -1).reshape(boxes.shape)


def remove_small_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """Return the indices of the boxes whose sides are at least ``min_size`` long.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> ops.remove_small_boxes(tn.tensor([[0.0, 0.0, 1.0, 9.0], [0.0, 0.0, 2.0, 2.0]]), 2)
        tensor([1])
    """
    sides = boxes[:, 2:] - boxes[:, :2]
    return (sides >= min_size).all(1).nonzero().flatten()


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return the indices of boxes that no better one overlaps, the best first.

    Args:
        boxes: ``[N, 4]``.
        scores: ``[N]``.
        iou_threshold: the share from which on a box with a lower score is dropped.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> boxes = tn.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [3.0, 3.0, 4.0, 4.0]])
        >>> ops.nms(boxes, tn.tensor([0.5, 0.9, 0.7]), 0.5)
        tensor([1, 2])
    """
    order = scores.detach().sort(descending=True, stable=True).indices.numpy()
    shares = box_iou(boxes.detach(), boxes.detach()).numpy()
    kept: list[int] = []
    for i in order:
        if not (shares[i, kept] > iou_threshold).any():
            kept.append(int(i))
    return tensor(np.array(kept, dtype=np.int64))


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """Return ``nms`` among the boxes of each class.

    Args:
        boxes: ``[N, 4]``.
        scores: ``[N]``.
        idxs: ``[N]``, the classes.
        iou_threshold: as in ``nms``.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> box = tn.tensor([[0.0, 0.0, 2.0, 2.0]] * 2)
        >>> ops.batched_nms(box, tn.tensor([0.5, 0.9]), tn.tensor([0, 1]), 0.5)
        tensor([1, 0])
    """
    if not boxes.numel():
        return empty(0, dtype=idxs.dtype)
    apart = idxs.to(boxes.dtype) * (boxes.max() + 1)
    return nms(boxes + apart[:, None], scores, iou_threshold)


def stochastic_depth(input: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    """Return the input with whole samples, or all of it, set to zero (Huang et al., 2016).

    Args:
        input: ``[batch, ...]``.
        p: the probability of zeros; what stays is divided by ``1 - p``.
        mode: ``"batch"`` for all or nothing, ``"row"`` for each sample.
        training: whether to do anything.

    Raises:
        ValueError: ``p`` is not a probability, or ``mode`` another text.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> ops.stochastic_depth(tn.ones(2), 1.0, "row")
        tensor([0., 0.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0:
        return input
    rows = input.shape[0] if mode == "row" else 1
    kept = empty([rows] + [1] * (input.dim() - 1), dtype=input.dtype).bernoulli_(1 - p)
    return input * (kept / (1 - p) if p < 1 else kept)


class StochasticDepth(Module):
    """Samples, or the whole batch, set to zero in training; see ``stochastic_depth``.

    Args:
        p, mode: as of ``stochastic_depth``.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> ops.StochasticDepth(0.5, "row").eval()(tn.ones(1))
        tensor([1.])
    """

    def __init__(self, p: float, mode: str):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, or zeros."""
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p}, mode={self.mode})"


class FrozenBatchNorm2d(Module):
    """Batch norm whose statistics and factors are buffers, and never change.

    Args:
        num_features: number of channels.
        eps: added to the variance for numerical stability.

    Example:
        >>> from tinynet.compat.vision import ops
        >>> ops.FrozenBatchNorm2d(1, eps=0.0)(tn.ones(1, 1, 1, 1)).item()
        1.0
    """

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, num_features: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        starts = {"weight": ones, "bias": zeros, "running_mean": zeros, "running_var": ones}
        for name, start in starts.items():
            self.register_buffer(name, start(num_features))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        state_dict.pop(f"{prefix}num_batches_tracked", None)  # of a batch norm that was trained
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``[N, channels, H, W]``, normalised."""
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        shift = self.bias - self.running_mean * scale
        return x * scale[:, None, None] + shift[:, None, None]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"
