"""``torch.nn.utils.fusion``: layers that contain the batch norm that follows them."""

from __future__ import annotations

import copy
from typing import TypeVar

from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.parameter import Parameter
from tinynet.ops import ones_like, zeros_like

M = TypeVar("M", bound=Module)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Return the weight and bias of a convolution followed by a batch norm in evaluation.

    ``w * bn_w / sqrt(bn_rv + bn_eps)`` and
    ``(b - bn_rm) * bn_w / sqrt(bn_rv + bn_eps) + bn_b``.

    Args:
        conv_w, conv_b: of the convolution.
        bn_rm, bn_rv, bn_eps: the batch norm's running mean and variance, and what is added to it.
        bn_w, bn_b: of the batch norm; ones and zeros unless given.
        transpose: of a transposed convolution, whose output channels are the second dimension.

    Raises:
        RuntimeError: the numbers of channels differ.

    Example:
        >>> one = tn.ones(1)
        >>> weight, bias = nn.utils.fuse_conv_bn_weights(
        ...     tn.ones(1, 1, 1, 1), None, one, one * 4, 0.0, None, None
        ... )
        >>> weight.item(), bias.item()
        (0.5, -0.5)
    """
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    scale = (ones_like(bn_rm) if bn_w is None else bn_w) * (bn_rv + bn_eps).rsqrt()
    shift = zeros_like(bn_rm) if bn_b is None else bn_b
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    weight = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
    fused = ((bias - bn_rm) * scale + shift).to(bias.dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(fused, bias.requires_grad)


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """Return a copy of a convolution that computes what it and a batch norm compute.

    Its weight is ``w * bn.weight / sqrt(bn.running_var + bn.eps)``, see ``fuse_conv_bn_weights``.

    Args:
        conv: a convolution.
        bn: a batch norm with running statistics.
        transpose: whether the convolution is a transposed one.

    Raises:
        AssertionError: one of them is in training mode, or there are no running statistics.

    Example:
        >>> conv, bn = nn.Conv2d(1, 1, 1).eval(), nn.BatchNorm2d(1, eps=0.0).eval()
        >>> fused, x = nn.utils.fuse_conv_bn_eval(conv, bn), tn.ones(1, 1, 2, 2)
        >>> tn.allclose(fused(x), bn(conv(x)))
        True
    """
    assert not (conv.training or bn.training), "Fusion only for eval!"
    assert bn.running_mean is not None and bn.running_var is not None
    fused = copy.deepcopy(conv)
    statistics = bn.running_mean, bn.running_var, bn.eps
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, *statistics, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Return the weight and bias of a linear layer followed by a batch norm in evaluation.

    ``w * bn_w / sqrt(bn_rv + bn_eps)``, see ``fuse_conv_bn_weights``.

    Args:
        linear_w, linear_b: of the layer.
        bn_rm, bn_rv, bn_eps: the batch norm's running mean and variance, and what is added to it.
        bn_w, bn_b: of the batch norm.

    Raises:
        RuntimeError: the numbers of features differ.

    Example:
        >>> one = tn.ones(1)
        >>> weight, _ = nn.utils.fuse_linear_bn_weights(
        ...     tn.ones(1, 1), None, one, one * 4, 0.0, one, one
        ... )
        >>> weight.item()
        0.5
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """Return a copy of a linear layer that computes what it and a batch norm compute.

    Its weight is ``w * bn.weight / sqrt(bn.running_var + bn.eps)``.

    Args:
        linear: a linear layer.
        bn: a batch norm with running statistics.

    Raises:
        AssertionError: one of them is in training mode, or their numbers of features differ.

    Example:
        >>> linear, bn = nn.Linear(2, 1).eval(), nn.BatchNorm1d(1, eps=0.0).eval()
        >>> fused = nn.utils.fuse_linear_bn_eval(linear, bn)
        >>> tn.allclose(fused(tn.ones(1, 2)), bn(linear(tn.ones(1, 2))))
        True
    """
    assert linear.out_features == bn.num_features or bn.num_features == 1, (
        "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
    )
    return fuse_conv_bn_eval(linear, bn)
