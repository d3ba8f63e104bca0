"""tinynet: neural-network training on numpy, with PyTorch's names and autograd semantics."""

from tinynet.base import startup as startup  # isort: skip  # Ctrl-C and kills during all that follows

from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING

from numpy import newaxis as newaxis

from tinynet import ops as ops
from tinynet.base.lazy import attach as _attach
from tinynet.compat import library_hooks as library_hooks
from tinynet.core import explanations as explanations
from tinynet.core.devices import device as device
from tinynet.core.layouts import channels_last as channels_last
from tinynet.core.layouts import channels_last_3d as channels_last_3d
from tinynet.core.layouts import contiguous_format as contiguous_format
from tinynet.core.layouts import layout as layout
from tinynet.core.layouts import memory_format as memory_format
from tinynet.core.layouts import preserve_format as preserve_format
from tinynet.core.layouts import sparse_coo as sparse_coo
from tinynet.core.layouts import sparse_csr as sparse_csr
from tinynet.core.layouts import strided as strided
from tinynet.core.modes import enable_grad as enable_grad
from tinynet.core.modes import is_grad_enabled as is_grad_enabled
from tinynet.core.modes import no_grad as no_grad
from tinynet.core.modes import set_grad_enabled as set_grad_enabled
from tinynet.core.printing import set_printoptions as set_printoptions
from tinynet.core.tensors.tensor import Size as Size
from tinynet.core.tensors.tensor import Tensor as Tensor
from tinynet.dtypes import bfloat16 as bfloat16
from tinynet.dtypes import bool as bool
from tinynet.dtypes import can_cast as can_cast
from tinynet.dtypes import cdouble as cdouble
from tinynet.dtypes import cfloat as cfloat
from tinynet.dtypes import complex64 as complex64
from tinynet.dtypes import complex128 as complex128
from tinynet.dtypes import double as double
from tinynet.dtypes import dtype as dtype
from tinynet.dtypes import float as float
from tinynet.dtypes import float16 as float16
from tinynet.dtypes import float32 as float32
from tinynet.dtypes import float64 as float64
from tinynet.dtypes import get_default_dtype as get_default_dtype
from tinynet.dtypes import half as half
from tinynet.dtypes import int as int
from tinynet.dtypes import int8 as int8
from tinynet.dtypes import int16 as int16
from tinynet.dtypes import int32 as int32
from tinynet.dtypes import int64 as int64
from tinynet.dtypes import long as long
from tinynet.dtypes import promote_types as promote_types
from tinynet.dtypes import set_default_dtype as set_default_dtype
from tinynet.dtypes import short as short
from tinynet.dtypes import uint8 as uint8
from tinynet.dtypes import uint16 as uint16
from tinynet.dtypes import uint32 as uint32
from tinynet.dtypes import uint64 as uint64

if TYPE_CHECKING:
    from tinynet import amp as amp
    from tinynet import autograd as autograd
    from tinynet import backends as backends
    from tinynet import board as board
    from tinynet import compiler as compiler
    from tinynet import cuda as cuda
    from tinynet import data as data
    from tinynet import distributed as distributed
    from tinynet import distributions as distributions
    from tinynet import exchange as exchange
    from tinynet import fft as fft
    from tinynet import func as func
    from tinynet import masked as masked
    from tinynet import nn as nn
    from tinynet import onnx as onnx
    from tinynet import optim as optim
    from tinynet import signal as signal
    from tinynet import sparse as sparse
    from tinynet import train as train
    from tinynet import utils as utils
    from tinynet.amp import GradScaler as GradScaler
    from tinynet.amp import autocast as autocast
    from tinynet.amp.state import autocast_decrement_nesting as autocast_decrement_nesting
    from tinynet.amp.state import autocast_increment_nesting as autocast_increment_nesting
    from tinynet.amp.state import clear_autocast_cache as clear_autocast_cache
    from tinynet.amp.state import get_autocast_cpu_dtype as get_autocast_cpu_dtype
    from tinynet.amp.state import get_autocast_dtype as get_autocast_dtype
    from tinynet.amp.state import get_autocast_gpu_dtype as get_autocast_gpu_dtype
    from tinynet.amp.state import is_autocast_cache_enabled as is_autocast_cache_enabled
    from tinynet.amp.state import is_autocast_cpu_enabled as is_autocast_cpu_enabled
    from tinynet.amp.state import is_autocast_enabled as is_autocast_enabled
    from tinynet.amp.state import set_autocast_cache_enabled as set_autocast_cache_enabled
    from tinynet.amp.state import set_autocast_cpu_dtype as set_autocast_cpu_dtype
    from tinynet.amp.state import set_autocast_cpu_enabled as set_autocast_cpu_enabled
    from tinynet.amp.state import set_autocast_dtype as set_autocast_dtype
    from tinynet.amp.state import set_autocast_enabled as set_autocast_enabled
    from tinynet.amp.state import set_autocast_gpu_dtype as set_autocast_gpu_dtype
    from tinynet.autograd.anomaly import (
        is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
    )
    from tinynet.autograd.anomaly import is_anomaly_enabled as is_anomaly_enabled
    from tinynet.autograd.modes import inference_mode as inference_mode
    from tinynet.autograd.modes import is_inference as is_inference
    from tinynet.autograd.modes import is_inference_mode_enabled as is_inference_mode_enabled
    from tinynet.capture.api import compile as compile
    from tinynet.compat import accelerator as accelerator
    from tinynet.compat import storage as storage
    from tinynet.compat.native import tensor_methods as tensor_methods
    from tinynet.compat.native.functions import alpha_dropout as alpha_dropout
    from tinynet.compat.native.functions import constant_pad_nd as constant_pad_nd
    from tinynet.compat.native.functions import dropout as dropout
    from tinynet.compat.native.functions import grid_sampler as grid_sampler
    from tinynet.compat.native.functions import grid_sampler_2d as grid_sampler_2d
    from tinynet.compat.native.functions import grid_sampler_3d as grid_sampler_3d
    from tinynet.compat.native.functions import group_norm as group_norm
    from tinynet.compat.native.functions import layer_norm as layer_norm
    from tinynet.compat.native.functions import native_batch_norm as native_batch_norm
    from tinynet.compat.native.functions import native_dropout as native_dropout
    from tinynet.compat.native.functions import native_group_norm as native_group_norm
    from tinynet.compat.native.functions import native_layer_norm as native_layer_norm
    from tinynet.compat.native.functions import threshold as threshold
    from tinynet.compat.runtime import (
        are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    )
    from tinynet.compat.runtime import get_default_device as get_default_device
    from tinynet.compat.runtime import (
        get_float32_matmul_precision as get_float32_matmul_precision,
    )
    from tinynet.compat.runtime import get_num_interop_threads as get_num_interop_threads
    from tinynet.compat.runtime import get_num_threads as get_num_threads
    from tinynet.compat.runtime import (
        is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    )
    from tinynet.compat.runtime import is_warn_always_enabled as is_warn_always_enabled
    from tinynet.compat.runtime import set_default_device as set_default_device
    from tinynet.compat.runtime import (
        set_float32_matmul_precision as set_float32_matmul_precision,
    )
    from tinynet.compat.runtime import set_flush_denormal as set_flush_denormal
    from tinynet.compat.runtime import set_num_interop_threads as set_num_interop_threads
    from tinynet.compat.runtime import set_num_threads as set_num_threads
    from tinynet.compat.runtime import set_warn_always as set_warn_always
    from tinynet.compat.runtime import typename as typename
    from tinynet.compat.runtime import (
        use_deterministic_algorithms as use_deterministic_algorithms,
    )
    from tinynet.compat.storage import BFloat16Storage as BFloat16Storage
    from tinynet.compat.storage import BoolStorage as BoolStorage
    from tinynet.compat.storage import ByteStorage as ByteStorage
    from tinynet.compat.storage import CharStorage as CharStorage
    from tinynet.compat.storage import DoubleStorage as DoubleStorage
    from tinynet.compat.storage import FloatStorage as FloatStorage
    from tinynet.compat.storage import HalfStorage as HalfStorage
    from tinynet.compat.storage import IntStorage as IntStorage
    from tinynet.compat.storage import LongStorage as LongStorage
    from tinynet.compat.storage import ShortStorage as ShortStorage
    from tinynet.compat.storage import Storage as Storage
    from tinynet.compat.storage import TypedStorage as TypedStorage
    from tinynet.compat.storage import UntypedStorage as UntypedStorage
    from tinynet.compat.storage import from_file as from_file
    from tinynet.compat.storage import is_storage as is_storage
    from tinynet.dtypes.type_info import finfo as finfo
    from tinynet.dtypes.type_info import iinfo as iinfo
    from tinynet.exchange import load as load
    from tinynet.exchange import save as save
    from tinynet.func import vmap as vmap
    from tinynet.nn.functional import adaptive_avg_pool1d as adaptive_avg_pool1d
    from tinynet.nn.functional import avg_pool1d as avg_pool1d
    from tinynet.nn.functional import bilinear as bilinear
    from tinynet.nn.functional import celu as celu
    from tinynet.nn.functional import celu_ as celu_
    from tinynet.nn.functional import channel_shuffle as channel_shuffle
    from tinynet.nn.functional import conv1d as conv1d
    from tinynet.nn.functional import conv2d as conv2d
    from tinynet.nn.functional import conv3d as conv3d
    from tinynet.nn.functional import conv_transpose1d as conv_transpose1d
    from tinynet.nn.functional import conv_transpose2d as conv_transpose2d
    from tinynet.nn.functional import conv_transpose3d as conv_transpose3d
    from tinynet.nn.functional import cosine_similarity as cosine_similarity
    from tinynet.nn.functional import hardshrink as hardshrink
    from tinynet.nn.functional import max_pool1d as max_pool1d
    from tinynet.nn.functional import max_pool2d as max_pool2d
    from tinynet.nn.functional import max_pool3d as max_pool3d
    from tinynet.nn.functional import pairwise_distance as pairwise_distance
    from tinynet.nn.functional import pdist as pdist
    from tinynet.nn.functional import pixel_shuffle as pixel_shuffle
    from tinynet.nn.functional import pixel_unshuffle as pixel_unshuffle
    from tinynet.nn.functional import prelu as prelu
    from tinynet.nn.functional import rms_norm as rms_norm
    from tinynet.nn.functional import rrelu as rrelu
    from tinynet.nn.functional import rrelu_ as rrelu_
    from tinynet.nn.functional import selu as selu
    from tinynet.nn.functional import selu_ as selu_
    from tinynet.nn.functional import threshold_ as threshold_
    from tinynet.ops import *  # noqa: F403  # the functions, which the stub lists
    from tinynet.ops import linalg as linalg
    from tinynet.ops import special as special
    from tinynet.random import Generator as Generator
    from tinynet.random import default_generator as default_generator
    from tinynet.random import get_rng_state as get_rng_state
    from tinynet.random import initial_seed as initial_seed
    from tinynet.random import manual_seed as manual_seed
    from tinynet.random import seed as seed
    from tinynet.random import set_rng_state as set_rng_state
    from tinynet.signal.periodic import bartlett_window as bartlett_window
    from tinynet.signal.periodic import blackman_window as blackman_window
    from tinynet.signal.periodic import hamming_window as hamming_window
    from tinynet.signal.periodic import hann_window as hann_window
    from tinynet.signal.periodic import kaiser_window as kaiser_window
    from tinynet.sparse import mm as spmm  # noqa: F401  # the name that PyTorch has at the top
    from tinynet.sparse import sparse_coo_tensor as sparse_coo_tensor
    from tinynet.sparse import sparse_csr_tensor as sparse_csr_tensor
    from tinynet.train.observe.summary import summary as summary
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

__version__ = "0.1.0"
startup.imported()
