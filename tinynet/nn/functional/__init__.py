"""Layers as functions: what the modules of ``nn`` compute, without state."""

from tinynet.nn.functional.activations import hardshrink as hardshrink
from tinynet.nn.functional.activations import hardsigmoid as hardsigmoid
from tinynet.nn.functional.activations import hardswish as hardswish
from tinynet.nn.functional.activations import hardtanh as hardtanh
from tinynet.nn.functional.activations import leaky_relu as leaky_relu
from tinynet.nn.functional.activations import prelu as prelu
from tinynet.nn.functional.activations import relu as relu
from tinynet.nn.functional.activations import relu6 as relu6
from tinynet.nn.functional.activations import rrelu as rrelu
from tinynet.nn.functional.activations import softshrink as softshrink
from tinynet.nn.functional.activations import threshold as threshold
from tinynet.nn.functional.activations_inplace import celu_ as celu_
from tinynet.nn.functional.activations_inplace import elu_ as elu_
from tinynet.nn.functional.activations_inplace import hardtanh_ as hardtanh_
from tinynet.nn.functional.activations_inplace import leaky_relu_ as leaky_relu_
from tinynet.nn.functional.activations_inplace import relu_ as relu_
from tinynet.nn.functional.activations_inplace import rrelu_ as rrelu_
from tinynet.nn.functional.activations_inplace import selu_ as selu_
from tinynet.nn.functional.activations_inplace import threshold_ as threshold_
from tinynet.nn.functional.adaptive_pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from tinynet.nn.functional.adaptive_pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from tinynet.nn.functional.adaptive_pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from tinynet.nn.functional.adaptive_pooling import adaptive_max_pool1d as adaptive_max_pool1d
from tinynet.nn.functional.adaptive_pooling import adaptive_max_pool2d as adaptive_max_pool2d
from tinynet.nn.functional.adaptive_pooling import adaptive_max_pool3d as adaptive_max_pool3d
from tinynet.nn.functional.affine import bilinear as bilinear
from tinynet.nn.functional.affine import linear as linear
from tinynet.nn.functional.attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from tinynet.nn.functional.bags import embedding_bag as embedding_bag
from tinynet.nn.functional.classification import cross_entropy as cross_entropy
from tinynet.nn.functional.classification import nll_loss as nll_loss
from tinynet.nn.functional.convolution import conv1d as conv1d
from tinynet.nn.functional.convolution import conv2d as conv2d
from tinynet.nn.functional.convolution import conv3d as conv3d
from tinynet.nn.functional.convolution import conv_transpose1d as conv_transpose1d
from tinynet.nn.functional.convolution import conv_transpose2d as conv_transpose2d
from tinynet.nn.functional.convolution import conv_transpose3d as conv_transpose3d
from tinynet.nn.functional.ctc import ctc_loss as ctc_loss
from tinynet.nn.functional.folding import fold as fold
from tinynet.nn.functional.folding import unfold as unfold
from tinynet.nn.functional.likelihoods import gaussian_nll_loss as gaussian_nll_loss
from tinynet.nn.functional.likelihoods import poisson_nll_loss as poisson_nll_loss
from tinynet.nn.functional.linear_entropy import linear_cross_entropy as linear_cross_entropy
from tinynet.nn.functional.lookup import embedding as embedding
from tinynet.nn.functional.losses import binary_cross_entropy as binary_cross_entropy
from tinynet.nn.functional.losses import (
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
)
from tinynet.nn.functional.losses import huber_loss as huber_loss
from tinynet.nn.functional.losses import kl_div as kl_div
from tinynet.nn.functional.losses import l1_loss as l1_loss
from tinynet.nn.functional.losses import mse_loss as mse_loss
from tinynet.nn.functional.losses import smooth_l1_loss as smooth_l1_loss
from tinynet.nn.functional.margin_losses import cosine_embedding_loss as cosine_embedding_loss
from tinynet.nn.functional.margin_losses import hinge_embedding_loss as hinge_embedding_loss
from tinynet.nn.functional.margin_losses import margin_ranking_loss as margin_ranking_loss
from tinynet.nn.functional.margin_losses import multi_margin_loss as multi_margin_loss
from tinynet.nn.functional.margin_losses import multilabel_margin_loss as multilabel_margin_loss
from tinynet.nn.functional.margin_losses import (
    multilabel_soft_margin_loss as multilabel_soft_margin_loss,
)
from tinynet.nn.functional.margin_losses import soft_margin_loss as soft_margin_loss
from tinynet.nn.functional.multi_head import (
    multi_head_attention_forward as multi_head_attention_forward,
)
from tinynet.nn.functional.noise import alpha_dropout as alpha_dropout
from tinynet.nn.functional.noise import dropout as dropout
from tinynet.nn.functional.noise import dropout1d as dropout1d
from tinynet.nn.functional.noise import dropout2d as dropout2d
from tinynet.nn.functional.noise import dropout3d as dropout3d
from tinynet.nn.functional.noise import feature_alpha_dropout as feature_alpha_dropout
from tinynet.nn.functional.normalization import batch_norm as batch_norm
from tinynet.nn.functional.normalization import group_norm as group_norm
from tinynet.nn.functional.normalization import instance_norm as instance_norm
from tinynet.nn.functional.normalization import layer_norm as layer_norm
from tinynet.nn.functional.normalization import local_response_norm as local_response_norm
from tinynet.nn.functional.normalization import rms_norm as rms_norm
from tinynet.nn.functional.padding import pad as pad
from tinynet.nn.functional.pooling import avg_pool1d as avg_pool1d
from tinynet.nn.functional.pooling import avg_pool2d as avg_pool2d
from tinynet.nn.functional.pooling import avg_pool3d as avg_pool3d
from tinynet.nn.functional.pooling import lp_pool1d as lp_pool1d
from tinynet.nn.functional.pooling import lp_pool2d as lp_pool2d
from tinynet.nn.functional.pooling import lp_pool3d as lp_pool3d
from tinynet.nn.functional.pooling import max_pool1d as max_pool1d
from tinynet.nn.functional.pooling import max_pool2d as max_pool2d
from tinynet.nn.functional.pooling import max_pool3d as max_pool3d
from tinynet.nn.functional.resampling import interpolate as interpolate
from tinynet.nn.functional.resampling import upsample as upsample
from tinynet.nn.functional.resampling import upsample_bilinear as upsample_bilinear
from tinynet.nn.functional.resampling import upsample_nearest as upsample_nearest
from tinynet.nn.functional.shuffle import channel_shuffle as channel_shuffle
from tinynet.nn.functional.shuffle import pixel_shuffle as pixel_shuffle
from tinynet.nn.functional.shuffle import pixel_unshuffle as pixel_unshuffle
from tinynet.nn.functional.smooth_activations import celu as celu
from tinynet.nn.functional.smooth_activations import elu as elu
from tinynet.nn.functional.smooth_activations import gelu as gelu
from tinynet.nn.functional.smooth_activations import glu as glu
from tinynet.nn.functional.smooth_activations import logsigmoid as logsigmoid
from tinynet.nn.functional.smooth_activations import mish as mish
from tinynet.nn.functional.smooth_activations import selu as selu
from tinynet.nn.functional.smooth_activations import sigmoid as sigmoid
from tinynet.nn.functional.smooth_activations import silu as silu
from tinynet.nn.functional.smooth_activations import softplus as softplus
from tinynet.nn.functional.smooth_activations import softsign as softsign
from tinynet.nn.functional.smooth_activations import tanh as tanh
from tinynet.nn.functional.smooth_activations import tanhshrink as tanhshrink
from tinynet.nn.functional.softmax import gumbel_softmax as gumbel_softmax
from tinynet.nn.functional.softmax import log_softmax as log_softmax
from tinynet.nn.functional.softmax import softmax as softmax
from tinynet.nn.functional.softmax import softmin as softmin
from tinynet.nn.functional.triplet_losses import triplet_margin_loss as triplet_margin_loss
from tinynet.nn.functional.triplet_losses import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from tinynet.nn.functional.unpooling import fractional_max_pool2d as fractional_max_pool2d
from tinynet.nn.functional.unpooling import fractional_max_pool3d as fractional_max_pool3d
from tinynet.nn.functional.unpooling import max_unpool1d as max_unpool1d
from tinynet.nn.functional.unpooling import max_unpool2d as max_unpool2d
from tinynet.nn.functional.unpooling import max_unpool3d as max_unpool3d
from tinynet.nn.functional.vector import cosine_similarity as cosine_similarity
from tinynet.nn.functional.vector import normalize as normalize
from tinynet.nn.functional.vector import one_hot as one_hot
from tinynet.nn.functional.vector import pairwise_distance as pairwise_distance
from tinynet.nn.functional.vector import pdist as pdist
from tinynet.nn.functional.warping import affine_grid as affine_grid
from tinynet.nn.functional.warping import grid_sample as grid_sample
from tinynet.nn.functional.with_indices import (
    adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices,
)
from tinynet.nn.functional.with_indices import (
    adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices,
)
from tinynet.nn.functional.with_indices import (
    adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices,
)
from tinynet.nn.functional.with_indices import (
    fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices,
)
from tinynet.nn.functional.with_indices import (
    fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices,
)
from tinynet.nn.functional.with_indices import max_pool1d_with_indices as max_pool1d_with_indices
from tinynet.nn.functional.with_indices import max_pool2d_with_indices as max_pool2d_with_indices
from tinynet.nn.functional.with_indices import max_pool3d_with_indices as max_pool3d_with_indices
