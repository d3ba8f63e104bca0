"""The map from PyTorch's import paths to tinynet's modules, and the paths without a counterpart.

``PATHS`` lists the modules of tinynet that provide the names of a PyTorch path: a single module is
used directly; several are merged, and the first one takes precedence. ``LEFT_OUT`` gives the
reasons for missing paths, ``NAMES`` for other missing names.
"""

from __future__ import annotations

import re
from pkgutil import iter_modules

from tinynet import optim
from tinynet.as_torch import companions

_DISTRIBUTIONS = """
    bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet distribution
    exp_family exponential fishersnedecor gamma generalized_pareto geometric gumbel half_cauchy
    half_normal independent inverse_gamma kumaraswamy laplace lkj_cholesky log_normal
    logistic_normal lowrank_multivariate_normal mixture_same_family multinomial
    multivariate_normal negative_binomial normal one_hot_categorical pareto poisson
    relaxed_bernoulli relaxed_categorical studentT transformed_distribution uniform von_mises
    weibull wishart
""".split()
_SAME = """
    amp random autograd autograd.function autograd.gradcheck autograd.graph autograd.variable
    fft backends backends.cuda backends.cudnn backends.mkl backends.mkldnn
    backends.mps backends.openmp backends.opt_einsum cuda distributions func masked nn
    nn.init nn.modules.batchnorm nn.modules.dropout nn.modules.instancenorm nn.modules.lazy
    nn.modules.module nn.modules.normalization nn.modules.utils nn.parallel
    nn.parallel.data_parallel nn.parallel.distributed nn.parameter
    nn.utils nn.utils.clip_grad nn.utils.convert_parameters nn.utils.parametrizations nn.utils.prune
    nn.utils.parametrize nn.utils.rnn nn.utils.stateless optim optim.lr_scheduler
    signal signal.windows utils utils.backcompat utils.checkpoint utils.data
    utils.data.dataset utils.data.distributed utils.data.sampler utils.hooks utils.tensorboard
    utils.tensorboard.summary
""".split()
_QUANTIZATION = "fake_quantize fuse_modules observer qconfig quantize stubs".split()
_QUANTIZED_LAYERS = """
    intrinsic intrinsic.modules intrinsic.qat qat qat.modules quantizable quantizable.modules
    quantized quantized.dynamic quantized.modules
""".split()
_FX = """
    _symbolic_trace graph graph_module immutable_collections interpreter node passes
    passes.shape_prop proxy subgraph_rewriter
""".split()
_OPTIMIZERS = [f"optim.{file.name}" for file in iter_modules(optim.__path__) if not file.ispkg]
PATHS: dict[str, str] = {
    "functorch": "func.functorch",
    **{f"torch.{path}": path for path in (*_SAME, *_OPTIMIZERS)},
    **{f"torch.distributions.{name}": "distributions" for name in _DISTRIBUTIONS},
    **{f"torch.quantization.{name}": "compat.quantized.quantization" for name in _QUANTIZATION},
    **{f"torch.ao.quantization.{name}": "compat.quantized.quantization" for name in _QUANTIZATION},
    **{f"torch.nn.{name}": "compat.quantized.modules" for name in _QUANTIZED_LAYERS},
    **{f"torch.ao.nn.{name}": "compat.quantized.modules" for name in _QUANTIZED_LAYERS},
    "torch": "compat.root .",
    "torch._VF": "compat.root .",
    "torch.accelerator": "compat.accelerator",
    "torch.amp.autocast_mode": "amp.autocast_mode",
    "torch.amp.grad_scaler": "amp.grad_scaler",
    "torch.ao": "compat.quantized.quantization",
    "torch.ao.nn": "compat.quantized.modules",
    "torch.ao.quantization": "compat.quantized.quantization",
    "torch.autograd.anomaly_mode": "autograd.anomaly",
    "torch.autograd.functional": "autograd.functional autograd.jacobian_helpers",
    "torch.autograd.grad_mode": "core.modes autograd.inference",
    "torch.autograd.profiler": "compat.profiler",
    "torch.compiler": "compiler",
    "torch.cpu": "compat.cpu",
    "torch.cpu.amp": "amp.cpu",
    "torch.cpu.amp.autocast_mode": "amp.cpu",
    "torch.cpu.amp.grad_scaler": "amp.cpu",
    "torch.cuda.amp": "amp.cuda",
    "torch.cuda.amp.autocast_mode": "amp.cuda",
    "torch.cuda.amp.grad_scaler": "amp.cuda",
    "torch.cuda.comm": "compat.distributed",
    "torch.cuda.memory": "cuda",
    "torch.mps": "cuda",
    "torch.xpu": "cuda",
    "torch.cuda.nvtx": "compat.refusal",
    "torch.cuda.random": "cuda",
    "torch.distributed": "distributed compat.distributed",
    "torch.distributed.constants": "distributed.constants",
    "torch.distributed.distributed_c10d": "distributed",
    "torch.distributed._composable": "compat.distributed",
    "torch.distributed._composable.fsdp": "compat.distributed",
    "torch.distributed._functional_collectives": "compat.distributed",
    "torch.distributed.algorithms": "compat.distributed",
    "torch.distributed.algorithms.join": "compat.distributed",
    "torch.distributed.checkpoint": "compat.distributed",
    "torch.distributed.checkpoint.hf_storage": "compat.distributed",
    "torch.distributed.device_mesh": "compat.distributed",
    "torch.distributed.fsdp": "compat.distributed",
    "torch.distributed.rpc": "compat.distributed",
    "torch.distributed._tensor": "compat.distributed",
    "torch.distributed._tensor.experimental": "compat.distributed",
    "torch.distributed.tensor": "compat.distributed",
    "torch.distributed.tensor.experimental": "compat.distributed",
    "torch.distributed.tensor.parallel": "compat.distributed",
    "torch.distributed.tensor._utils": "compat.distributed",
    "torch.distributed.tensor.placement_types": "compat.distributed",
    "torch.distributed.nn": "compat.distributed",
    "torch.distributed.nn.functional": "compat.distributed",
    "torch.distributed.optim": "optim.zero_redundancy_optimizer",
    "torch.distributions.constraint_registry": "distributions.constraint_registry",
    "torch.distributions.constraints": "distributions.constraints",
    "torch.distributions.kl": "distributions.kl",
    "torch.distributions.multivariate_normal": "distributions.multivariate_normal distributions",
    "torch.distributions.relaxed_bernoulli": "distributions.bernoulli",
    "torch.distributions.relaxed_categorical": "distributions.categorical",
    "torch.distributions.transforms": "distributions.transforms distributions.transform",
    "torch.distributions.utils": "distributions.utils",
    "torch.functional": "ops",
    "torch.futures": "compat.futures",
    **{f"torch.fx.{name}": f"compat.fx.{name}" for name in _FX},
    "torch.fx": "compat.fx",
    "torch.fx.experimental": "compat.fx.passes",
    "torch.fx.experimental.optimization": "compat.fx.passes.fusion",
    "torch.fx.experimental.proxy_tensor": "compat.refusal",
    "torch.hub": "compat.hub",
    "torch.jit": "compat.jit",
    "torch.jit.annotations": "compat.jit compat.internals",
    "torch.library": "compat.library",
    "torch.linalg": "ops.linalg",
    "torch.multiprocessing": "as_torch.processes compat.multiprocessing",
    "torch.multiprocessing.pool": "compat.multiprocessing",
    "torch.multiprocessing.queue": "compat.multiprocessing",
    "torch.multiprocessing.spawn": "as_torch.processes compat.multiprocessing",
    "torch.nested": "compat.refusal",
    "torch.nn.attention": "compat.attention",
    "torch.nn.attention.flex_attention": "compat.attention",
    "torch.nn.common_types": "compat.types",
    "torch.nn.functional": "nn.functional autograd.overrides",
    "torch.nn.modules": "nn.modules nn",
    "torch.nn.modules.activation": (
        "nn.layers.activation.piecewise nn.layers.activation.smooth nn.layers.attention.multihead"
    ),
    "torch.nn.modules.adaptive": "nn.layers.losses.likelihood",
    "torch.nn.modules.channelshuffle": "nn.layers.images.shuffle",
    "torch.nn.modules.container": "nn.layers.container nn.layers.parameter_container",
    "torch.nn.modules.conv": "nn.layers.convolution.conv nn.layers.convolution.lazy",
    "torch.nn.modules.distance": "nn.layers.distance",
    "torch.nn.modules.flatten": "nn.layers.flatten",
    "torch.nn.modules.fold": "nn.layers.convolution.fold",
    "torch.nn.modules.linear": "nn.layers.linear nn.layers.attention.multihead",
    "torch.nn.modules.linear_cross_entropy": "nn.layers.losses.likelihood",
    "torch.nn.modules.loss": (
        "nn.layers.losses.loss nn.layers.losses.likelihood nn.layers.losses.margin"
    ),
    "torch.nn.modules.padding": "nn.layers.images.padding",
    "torch.nn.modules.pixelshuffle": "nn.layers.images.shuffle",
    "torch.nn.modules.pooling": "nn.layers.pooling.windows nn.layers.pooling.adaptive",
    "torch.nn.modules.rnn": "nn.layers.recurrent.rnn nn.layers.recurrent.cells",
    "torch.nn.modules.sparse": "nn.layers.embedding",
    "torch.nn.modules.transformer": "nn.layers.attention.transformer",
    "torch.nn.modules.upsampling": "nn.layers.images.upsampling",
    "torch.nn.parallel._functions": "compat.distributed",
    "torch.nn.parallel.comm": "compat.distributed",
    "torch.nn.parallel.parallel_apply": "compat.distributed",
    "torch.nn.parallel.replicate": "compat.distributed",
    "torch.nn.parallel.scatter_gather": "compat.distributed",
    "torch.optim.lbfgs": "optim.lbfgs",
    "torch.nn.utils.fusion": "compat.fusion",
    "torch.overrides": "autograd.overrides compat.fx.function_modes",
    "torch.nn.utils.init": "nn.utils.skip_init",
    "torch.nn.utils.spectral_norm": "nn.utils.norm_hooks",
    "torch.nn.utils.weight_norm": "nn.utils.norm_hooks",
    "torch.onnx": "onnx",
    "torch.onnx.errors": "onnx.errors",
    "torch.optim.adamw": "optim.adam",
    "torch.quasirandom": "compat.utilities.quasirandom",
    "torch.quantization": "compat.quantized.quantization",
    "torch.serialization": "serialization compat.types",
    "torch.signal.windows.windows": "signal.windows",
    "torch.profiler": "compat.profiler",
    "torch.profiler.profiler": "compat.profiler",
    "torch.sparse": "sparse",
    "torch.special": "ops.special",
    "torch.storage": "compat.storage",
    "torch.testing": "compat.testing",
    "torch.torch_version": "compat.version",
    "torch.types": "compat.types",
    "torch.utils._foreach_utils": "compat.root",
    "torch.utils.benchmark": "compat.utilities.benchmark",
    "torch.utils.collect_env": "compat.utilities.collect_env",
    "torch.utils.cpp_extension": "compat.utilities.cpp_extension",
    "torch.utils.data.dataloader": "utils.data.dataloader utils.data compat.types",
    "torch.utils.dlpack": "compat.utilities.dlpack",
    "torch.utils.model_zoo": "compat.hub",
    "torch.utils.tensorboard._pytorch_graph": "board.pytorch_graph",
    "torch.utils.tensorboard.writer": "utils.tensorboard",
    "torch.utils.weak": "compat.utilities.weak",
    "torch.version": "compat.version",
    # private modules that programs import nevertheless
    "torch.__config__": "compat.version",
    "torch._C": "compat.internals",
    "torch._C._distributed_rpc": "compat.distributed",
    "torch._dynamo": "compiler capture.api",
    "torch._dynamo._trace_wrapped_higher_order_op": "compat.internals",
    "torch._ops": "compat.library",
    "torch._subclasses": "compat.refusal",
    "torch._subclasses.fake_tensor": "compat.refusal",
    "torch._jit_internal": "compat.jit compat.internals",
    "torch._tensor_str": "compat.internals",
    "torch._tensor": "core.tensors.tensor",
    "torch.nn._reduction": "compat.internals",
    "torch._utils": "compat.internals",
    "torch._vmap_internals": "func.batching",
    "torch.utils._pytree": "compat.pytree",
    "torch.utils.data._utils": "data.loading.worker",
    "torch.utils.data._utils.collate": "data.loading.collate",
    # other packages
    **companions.PATHS,
}

# Names that PyTorch has under other paths than these, whose module of tinynet has both.
_NORMS = "{0} remove_{1} {1}"
_LOSSES = """
    CTCLoss GaussianNLLLoss KLDivLoss LinearCrossEntropyLoss LinearCrossEntropyOptions
    PoissonNLLLoss
"""
ELSEWHERE: dict[str, str] = {
    "torch.nn.modules.adaptive": _LOSSES,
    "torch.nn.modules.channelshuffle": "PixelShuffle PixelUnshuffle",
    "torch.nn.modules.linear": "MultiheadAttention",
    "torch.nn.modules.linear_cross_entropy": f"AdaptiveLogSoftmaxWithLoss {_LOSSES}",
    "torch.nn.modules.loss": "AdaptiveLogSoftmaxWithLoss",
    "torch.nn.modules.pixelshuffle": "ChannelShuffle",
    "torch.nn.utils.spectral_norm": _NORMS.format("WeightNorm", "weight_norm"),
    "torch.nn.utils.weight_norm": _NORMS.format("SpectralNorm", "spectral_norm"),
    "torch.optim.adam": "AdamW",
}

_GPU = "tinynet runs on the CPU only"
_MEMORY = "the memory of a tensor is its numpy array: x.numpy()"
_NAMED = "dimensions have no names; use their numbers"
_COMPILER = "tinynet.compile captures functions as they run; graphs are not exported"
_QUANTIZED = "there are no quantized numbers; train and save in float32"
_PROCESSES = "processes share batches, not models, and run on MPI: see docs/distributed.md"
_INTERNAL = "it is internal to PyTorch"
LEFT_OUT: list[tuple[str, str]] = [
    (r"torch\.(ao|quantization|nn\.(intrinsic|qat|quantiz\w+))(\..+)?", _QUANTIZED),
    (r"torch\.(cuda|mps|xpu|mtia|backends|accelerator)(\..+)?", _GPU),
    (r"torch\.nn\.parallel\..+", _GPU),
    (r"torch\.distributed(\..+)?", _PROCESSES),
    (r"torch\.(export|fx|jit|compiler|nativert|package|utils\.jit)(\..+)?", _COMPILER),
    (r"torch\.autograd\.forward_ad", "there is no forward mode; use autograd.functional.jvp"),
    (r"torch\.autograd\.profiler\w+|torch\.profiler\..+", "record with tinynet.board.record"),
    (r"torch\.nn\.grad", _INTERNAL),
    (r"torch\.nn\.modules\.linear_cross_entropy_options", _INTERNAL),
    (r"torch\.nn\.utils\.memory_format", _COMPILER),
    (r"torch\.return_types", _INTERNAL),
    (r"torch\.onnx\..+", "torch.onnx.export is the way to ONNX"),
    (r"torch\.masked\..+", "there are no masked tensors; use the functions of torch.masked"),
    (r"torch\.nn\.attention\.(bias|experimental|varlen)", _COMPILER),
    (r"torch\.utils\.data\.(datapipes.*|graph.*|backward_compatibility)", "data pipes are gone"),
    (r"torch\.utils\.(mobile_optimizer|bundled_inputs|mkldnn)", _QUANTIZED),
    (r"torch\.(monitor|numa(\..+)?|contrib|multiprocessing\..+)", _INTERNAL),
    (r"torch\.sparse\..+", "there are products of sparse with dense matrices only"),
    (r"torch\.(nn\.(backends(\..+)?|cpp)|utils\..+)", _INTERNAL),
]
NAMES: list[tuple[str, str]] = [
    (r"torch\.(fake_)?q(u?int|uantize)\w+", _QUANTIZED),
    (r"torch\.Tensor\.(rename_?|refine_names|align_\w+|names)", _NAMED),
    (r"torch\.Tensor\.(untyped_storage|pin_memory)", _MEMORY),
]


def reason(path: str) -> str | None:
    """Return why a module or name of PyTorch is missing; None if no reason is known."""
    known = LEFT_OUT + NAMES + companions.REASONS
    return next((why for pattern, why in known if re.fullmatch(pattern, path)), None)


def is_served(path: str) -> bool:
    """Return whether tinynet stands in for a module: PyTorch's own, or a package beside it."""
    package = path.partition(".")[0]
    if package in companions.PACKAGES:
        return not companions.is_left_to_python(package)
    return package in ("torch", "functorch")
