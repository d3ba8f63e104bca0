"""PyTorch's import paths: the map to tinynet's modules, and the paths under tinynet's own name.

``PATHS`` lists the modules of tinynet that provide the names of a PyTorch path: a single module is
used directly; several are merged, and the first one takes precedence. ``import torch.x`` finds them
under ``tinynet.as_torch``, and ``import tinynet.x`` in programs whose ``torch`` became ``tinynet``.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from tinynet import optim
from tinynet.base import lazy

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
    fft backends backends.cuda backends.cudnn backends.mkl backends.mkldnn backends.mps
    backends.openmp backends.opt_einsum cuda distributions func masked nn
    nn.grad nn.modules.module nn.modules.utils nn.parallel.data_parallel
    nn.parallel.distributed nn.parameter nn.utils nn.utils.clip_grad
    nn.utils.fusion nn.utils.parametrizations nn.utils.prune nn.utils.parametrize nn.utils.rnn
    nn.utils.stateless optim optim.lr_scheduler signal signal.windows utils
    utils.data utils.tensorboard
""".split()
_QUANTIZATION = "fake_quantize fuse_modules observer qconfig quantize stubs".split()
_QUANTIZED_LAYERS = """
    intrinsic intrinsic.modules intrinsic.qat qat qat.modules quantizable quantizable.modules
    quantized quantized.dynamic quantized.modules
""".split()
_FX = """
    _symbolic_trace graph graph_module interpreter node passes proxy
""".split()
_OPTIMIZERS = [f"optim.{file.name}" for file in iter_modules(optim.__path__) if not file.ispkg]
PATHS: dict[str, str] = {
    "functorch": "func.functorch",
    **{f"torch.{path}": path for path in (*_SAME, *_OPTIMIZERS)},
    **{f"torch.distributions.{name}": "distributions" for name in _DISTRIBUTIONS},
    **{f"torch.quantization.{name}": "compat.quantization" for name in _QUANTIZATION},
    **{f"torch.ao.quantization.{name}": "compat.quantization" for name in _QUANTIZATION},
    **{f"torch.nn.{name}": "compat.quantization" for name in _QUANTIZED_LAYERS},
    **{f"torch.ao.nn.{name}": "compat.quantization" for name in _QUANTIZED_LAYERS},
    "torch": "compat.root .",
    "torch._VF": "compat.root .",
    "torch.accelerator": "compat.accelerator",
    "torch.amp.autocast_mode": "amp.autocast_mode",
    "torch.amp.grad_scaler": "amp.grad_scaler",
    "torch.ao": "compat.quantization",
    "torch.ao.nn": "compat.quantization",
    "torch.ao.quantization": "compat.quantization",
    "torch.autograd.anomaly_mode": "autograd.anomaly",
    "torch.autograd.forward_ad": "func.forward_ad",
    "torch.autograd.functional": "autograd.functional",
    "torch.autograd.grad_mode": "core.modes autograd.modes",
    "torch.autograd.profiler": "compat.profiler",
    "torch.compiler": "compiler",
    "torch.cpu": "compat.cpu",
    "torch.cpu.amp": "amp.cpu",
    "torch.cpu.amp.autocast_mode": "amp.cpu",
    "torch.cpu.amp.grad_scaler": "amp.cpu",
    "torch.cuda.amp": "amp.cuda",
    "torch.cuda.amp.autocast_mode": "amp.cuda",
    "torch.cuda.amp.grad_scaler": "amp.cuda",
    "torch.cuda.comm": "compat.parallel.distributed",
    "torch.cuda.memory": "cuda",
    "torch.mps": "cuda",
    "torch.xpu": "cuda",
    "torch.cuda.nvtx": "compat.refusal",
    "torch.cuda.random": "cuda",
    "torch.distributed": "distributed compat.parallel.distributed",
    "torch.distributed.constants": "distributed.constants",
    "torch.distributed.distributed_c10d": "distributed",
    "torch.distributed._composable": "compat.parallel.distributed",
    "torch.distributed._composable.fsdp": "compat.parallel.distributed",
    "torch.distributed._functional_collectives": "compat.parallel.distributed",
    "torch.distributed.algorithms": "compat.parallel.distributed",
    "torch.distributed.algorithms.join": "compat.parallel.distributed",
    "torch.distributed.autograd": "compat.parallel.distributed",
    "torch.distributed.checkpoint": "compat.parallel.distributed",
    "torch.distributed.checkpoint.hf_storage": "compat.parallel.distributed",
    "torch.distributed.checkpoint.state_dict": "compat.parallel.state_dicts",
    "torch.distributed.device_mesh": "compat.parallel.distributed",
    "torch.distributed.elastic": "compat.parallel.distributed",
    "torch.distributed.elastic.multiprocessing": "compat.parallel.distributed",
    "torch.distributed.elastic.multiprocessing.errors": "compat.parallel.distributed",
    "torch.distributed.fsdp": "compat.parallel.distributed",
    "torch.distributed.fsdp._flat_param": "compat.parallel.distributed",
    "torch.distributed.fsdp.api": "compat.parallel.distributed",
    "torch.distributed.fsdp.fully_sharded_data_parallel": "compat.parallel.distributed",
    "torch.distributed.fsdp.wrap": "compat.parallel.distributed",
    "torch.distributed.rpc": "compat.parallel.distributed",
    "torch.distributed._tensor": "compat.parallel.distributed",
    "torch.distributed._tensor.experimental": "compat.parallel.distributed",
    "torch.distributed.tensor": "compat.parallel.distributed",
    "torch.distributed.tensor.experimental": "compat.parallel.distributed",
    "torch.distributed.tensor.parallel": "compat.parallel.distributed",
    "torch.distributed.tensor._utils": "compat.parallel.distributed",
    "torch.distributed.tensor.placement_types": "compat.parallel.distributed",
    "torch.distributed.nn": "compat.parallel.distributed",
    "torch.distributed.nn.functional": "compat.parallel.distributed",
    "torch.distributed.optim": "optim.zero_redundancy_optimizer",
    "torch.distributions.constraint_registry": "distributions.constraint_registry",
    "torch.distributions.constraints": "distributions.constraints",
    "torch.distributions.kl": "distributions.kl",
    "torch.distributions.multivariate_normal": "distributions.normal distributions",
    "torch.distributions.relaxed_bernoulli": "distributions.bernoulli",
    "torch.distributions.relaxed_categorical": "distributions.categorical",
    "torch.distributions.transforms": "distributions.transforms distributions.transform",
    "torch.distributions.utils": "distributions.utils",
    "torch.functional": "ops",
    "torch.futures": "compat.parallel.processes",
    **{f"torch.fx.{name}": f"compat.fx.{name}" for name in _FX},
    "torch.fx": "compat.fx",
    "torch.fx.immutable_collections": "compat.fx.node",
    "torch.fx.experimental": "compat.fx.passes",
    "torch.fx.experimental.optimization": "compat.fx.passes",
    "torch.fx.passes.shape_prop": "compat.fx.passes",
    "torch.fx.subgraph_rewriter": "compat.fx.passes",
    "torch.fx.experimental.proxy_tensor": "compat.refusal",
    "torch.hub": "compat.hub",
    "torch.jit": "compat.jit",
    "torch.jit.annotations": "compat.jit compat.internals",
    "torch.library": "compat.library",
    "torch.linalg": "ops.linalg",
    "torch.multiprocessing": "as_torch.processes compat.parallel.processes",
    "torch.multiprocessing.pool": "compat.parallel.processes",
    "torch.multiprocessing.queue": "compat.parallel.processes",
    "torch.multiprocessing.spawn": "as_torch.processes compat.parallel.processes",
    "torch.nested": "compat.refusal",
    "torch.nn.attention": "compat.refusal",
    "torch.nn.attention.flex_attention": "compat.refusal",
    "torch.nn.common_types": "compat.types",
    "torch.nn.init": "nn.init compat.utilities.helpers",
    "torch.nn.functional": "nn.functional compat.utilities.helpers",
    "torch.nn.modules": "nn.modules nn",
    "torch.nn.modules.activation": (
        "nn.layers.piecewise_activation nn.layers.smooth_activation nn.layers.attention"
    ),
    "torch.nn.modules.adaptive": "nn.layers.likelihood_losses",
    "torch.nn.modules.batchnorm": "nn.layers.batchnorm nn.layers.lazy",
    "torch.nn.modules.channelshuffle": "nn.layers.images",
    "torch.nn.modules.container": "nn.layers.container nn.layers.parameter_container",
    "torch.nn.modules.conv": "nn.layers.convolution nn.layers.lazy nn.modules.utils",
    "torch.nn.modules.distance": "nn.layers.linear",
    "torch.nn.modules.dropout": "nn.layers.dropout",
    "torch.nn.modules.flatten": "nn.layers.shaping",
    "torch.nn.modules.fold": "nn.layers.shaping",
    "torch.nn.modules.instancenorm": "nn.layers.batchnorm nn.layers.lazy",
    "torch.nn.modules.lazy": "nn.layers.lazy",
    "torch.nn.modules.linear": "nn.layers.linear nn.layers.lazy nn.layers.attention",
    "torch.nn.modules.linear_cross_entropy": "nn.layers.likelihood_losses",
    "torch.nn.modules.loss": (
        "nn.layers.losses nn.layers.likelihood_losses nn.layers.margin_losses"
    ),
    "torch.nn.modules.normalization": "nn.layers.normalization",
    "torch.nn.modules.padding": "nn.layers.images nn.modules.utils",
    "torch.nn.modules.pixelshuffle": "nn.layers.images",
    "torch.nn.modules.pooling": "nn.layers.pooling nn.layers.adaptive_pooling nn.modules.utils",
    "torch.nn.modules.rnn": "nn.layers.rnn nn.layers.rnn_cells",
    "torch.nn.modules.sparse": "nn.layers.embedding",
    "torch.nn.modules.transformer": "nn.layers.transformer",
    "torch.nn.modules.upsampling": "nn.layers.images",
    "torch.nn.parallel": "nn.parallel compat.parallel.distributed",
    "torch.nn.parallel._functions": "compat.parallel.distributed",
    "torch.nn.parallel.comm": "compat.parallel.distributed",
    "torch.nn.parallel.parallel_apply": "compat.parallel.distributed",
    "torch.nn.parallel.replicate": "compat.parallel.distributed",
    "torch.nn.parallel.scatter_gather": "compat.parallel.distributed",
    "torch.optim.lbfgs": "optim.lbfgs",
    "torch.optim.optimizer": "optim.optimizer compat.utilities.helpers",
    "torch.overrides": "compat.fx.overrides",
    "torch.nn.utils.convert_parameters": "nn.utils.parameters",
    "torch.nn.utils.init": "nn.utils.parameters",
    "torch.nn.utils.memory_format": "nn.utils.parameters",
    "torch.nn.utils.spectral_norm": "nn.utils.norm_hooks",
    "torch.nn.utils.weight_norm": "nn.utils.norm_hooks",
    "torch.onnx": "onnx",
    "torch.onnx.errors": "onnx.errors",
    "torch.optim._adafactor": "optim.adafactor",
    "torch.optim._functional": " ".join(_OPTIMIZERS),
    "torch.optim._muon": "optim.muon",
    "torch.optim.adamw": "optim.adam",
    "torch.quasirandom": "compat.utilities.quasirandom",
    "torch.quantization": "compat.quantization",
    "torch.return_types": "compat.native.return_types",
    "torch.serialization": (
        "exchange.serialization exchange.pytorch exchange.safe_globals compat.types"
    ),
    "torch.signal.windows.windows": "signal.windows",
    "torch.profiler": "compat.profiler",
    "torch.profiler.profiler": "compat.profiler",
    "torch.sparse": "sparse",
    "torch.special": "ops.special",
    "torch.storage": "compat.storage compat.internals",
    "torch.testing": "compat.testing",
    "torch.testing._comparison": "compat.testing",
    "torch.torch_version": "compat.version",
    "torch.types": "compat.types",
    "torch.utils._foreach_utils": "compat.root compat.utilities.helpers",
    "torch.utils.benchmark": "compat.utilities.benchmark",
    "torch.utils.collect_env": "compat.utilities.collect_env",
    "torch.utils.cpp_extension": "compat.refusal",
    "torch.utils.data.dataloader": (
        "data.loading.collate data.loading.loader data.loading.passes "
        "data.loading.worker utils.data compat.types"
    ),
    "torch.utils.data.dataset": "data.dataset data.splits",
    "torch.utils.data.distributed": "data.loading.sampler",
    "torch.utils.data.sampler": "data.loading.sampler",
    "torch.utils.deterministic": "compat.utilities.options",
    "torch.utils.dlpack": "compat.utilities.dlpack",
    "torch.utils.flop_counter": "compat.utilities.flop_counter",
    "torch.utils.hooks": "core.graph.node",
    "torch.utils.model_zoo": "compat.hub",
    "torch.utils.tensorboard._pytorch_graph": "board.graphs.recorder",
    "torch.utils.tensorboard.summary": "board.summaries.hparams",
    "torch.utils.tensorboard.writer": "utils.tensorboard",
    "torch.utils.weak": "compat.utilities.weak",
    "torch.version": "compat.version",
    # private modules that programs import nevertheless
    "torch.__config__": "compat.version",
    "torch._C": "compat.internals",
    "torch._C._distributed_rpc": "compat.parallel.distributed",
    "torch._dynamo": "compiler capture.api",
    "torch._dynamo.config": "compat.utilities.options",
    "torch._dynamo.exc": "compat.utilities.options",
    "torch._dynamo.utils": "compat.utilities.options",
    "torch._inductor": "compat.utilities.options",
    "torch._inductor.config": "compat.utilities.options",
    "torch._dynamo._trace_wrapped_higher_order_op": "compat.internals",
    "torch._ops": "compat.library",
    "torch._subclasses": "compat.refusal",
    "torch._subclasses.fake_tensor": "compat.refusal",
    "torch._jit_internal": "compat.jit compat.internals",
    "torch._tensor_str": "compat.internals",
    "torch._tensor": "core.tensors.tensor",
    "torch.nn._reduction": "compat.internals",
    "torch.utils.checkpoint": "utils.checkpoint compat.utilities.helpers",
    "torch._utils": "compat.internals compat.utilities.helpers",
    "torch._vmap_internals": "func.batching",
    "torch.utils._pytree": "compat.pytree",
    "torch.utils.backcompat": "compat.runtime",
    "torch.utils.data._utils": "data.loading.worker",
    "torch.utils.data._utils.collate": "data.loading.collate",
    "torch.utils.data._utils.fetch": "data.loading.collate",
}

# Names, or patterns of names, that PyTorch has under other paths than these, and tinynet's module
# has, too.
_NORMS = "{0} remove_{1} {1}"
_PADDING = "*Pad?d"
_UPSAMPLING = "Upsampl*"
_LOSSES = """
    CTCLoss GaussianNLLLoss KLDivLoss LinearCrossEntropyLoss LinearCrossEntropyOptions
    PoissonNLLLoss
"""
ELSEWHERE: dict[str, str] = {
    "torch.nn.modules.adaptive": _LOSSES,
    "torch.nn.modules.batchnorm": "*Conv*d *InstanceNorm?d *Linear",
    "torch.nn.modules.channelshuffle": f"Pixel* {_PADDING} {_UPSAMPLING}",
    "torch.nn.modules.conv": "*Linear *Norm?d",
    "torch.nn.modules.distance": "*Linear Identity",
    "torch.nn.modules.flatten": "Fold Unfold",
    "torch.nn.modules.fold": "Flatten Unflatten",
    "torch.nn.modules.instancenorm": "*BatchNorm?d *Conv*d *Linear SyncBatchNorm",
    "torch.nn.modules.lazy": "*Conv*d *Linear *Norm?d",
    "torch.nn.modules.linear": "*Conv*d *Norm?d CosineSimilarity MultiheadAttention *Distance",
    "torch.nn.modules.linear_cross_entropy": f"AdaptiveLogSoftmaxWithLoss {_LOSSES}",
    "torch.nn.modules.loss": "AdaptiveLogSoftmaxWithLoss",
    "torch.nn.modules.padding": f"ChannelShuffle Pixel* {_UPSAMPLING}",
    "torch.nn.modules.pixelshuffle": f"ChannelShuffle {_PADDING} {_UPSAMPLING}",
    "torch.nn.modules.upsampling": f"ChannelShuffle Pixel* {_PADDING}",
    "torch.nn.utils.convert_parameters": "convert_* skip_init",
    "torch.nn.utils.init": "convert_* parameters_to_vector vector_to_parameters",
    "torch.nn.utils.memory_format": "*parameters* skip_init",
    "torch.nn.utils.spectral_norm": _NORMS.format("WeightNorm", "weight_norm"),
    "torch.nn.utils.weight_norm": _NORMS.format("SpectralNorm", "spectral_norm"),
    "torch.optim.adam": "AdamW adamw",
}

# The names of paths whose module of tinynet has those of other paths, too.
_FLEX = "AuxRequest BlockMask create_block_mask create_mask flex_attention"
_FAKE = "Any FakeTensor FakeTensorMode SymBool SymInt is_fake"
ONLY: dict[str, str] = {
    "torch.cuda.nvtx": "mark range range_end range_pop range_push range_start",
    "torch.fx.experimental.proxy_tensor": f"Callable get_proxy_mode {_FAKE}",
    "torch.fx.immutable_collections": "Any immutable_dict immutable_list",
    "torch.nested": "SymInt as_nested_tensor nested_tensor to_padded_tensor",
    "torch.nn.attention": f"SDPBackend contextlib sdpa_kernel {_FLEX}",
    "torch.nn.attention.flex_attention": f"Any _DEFAULT_SPARSE_BLOCK_SIZE {_FLEX}",
    "torch.utils.cpp_extension": """
        BuildExtension CUDAExtension CUDA_HOME CUDNN_HOME CppExtension IS_HIP_EXTENSION ROCM_HOME
        SYCL_HOME include_paths is_ninja_available library_paths load load_inline
    """,
    "torch._subclasses": _FAKE,
    "torch._subclasses.fake_tensor": f"SymFloat contextlib {_FAKE}",
}

_UTILITIES = "broadcast_all lazy_property logits_to_probs probs_to_logits"
_LISTS = " ".join(f"BroadcastingList{n}" for n in range(1, 7))
_OVERRIDES = (
    "boolean_dispatch handle_torch_function has_torch_function has_torch_function_unary "
    "has_torch_function_variadic"
)
_OF_OPTIMIZERS = """
    DeviceDict DeviceDtypeDict ParamsT _capturable_doc _default_to_fused_or_foreach
    _device_dtype_check_for_fused _differentiable_doc _disable_dynamo_if_unsupported _foreach_doc
    _fused_doc _get_capturable_supported_devices _get_scalar_dtype _get_value _maximize_doc
    _params_doc _stack_if_compiling _to_scalar _use_grad_for_differentiable _view_as_real
"""
_INITIALIZERS = "constant_ xavier_normal_ xavier_uniform_"
_TRIANGLES = "tril_matrix_to_vec vec_to_tril_matrix"
_JACOBIANS = "get_analytical_jacobian get_numerical_jacobian"
# Names that PyTorch's modules import from each other, by the beginnings of their paths.
_IMPORTED = {
    "torch._jit_internal": _LISTS,
    "torch._tensor": f"Tensor {_OVERRIDES}",
    "torch.autograd": "_is_checkpoint_valid",
    "torch.autograd.gradcheck": _JACOBIANS,
    "torch.distributions": f"F Tensor {_UTILITIES}",
    "torch.distributions.transforms": _TRIANGLES,
    "torch.distributions.utils": "euler_constant",
    "torch.fft": "Tensor",
    "torch.functional": f"F Tensor {_OVERRIDES}",
    "torch.nn.functional": f"{_OVERRIDES} {_LISTS}",
    "torch.nn.modules.": "F Module Parameter Tensor",
    "torch.nn.modules.activation": _INITIALIZERS,
    "torch.nn.modules.container": "OrderedDict chain container_abcs islice",
    "torch.nn.modules.module": "Buffer OrderedDict RemovableHandle namedtuple",
    "torch.nn.modules.rnn": "_apply_permutation apply_permutation",
    "torch.nn.modules.transformer": "xavier_uniform_",
    "torch.optim.": f"Module Optimizer Tensor {_OF_OPTIMIZERS}",
    "torch.optim.lr_scheduler": "_format_param _update_param_group_val",
    "torch.special": "Tensor",
    "torch.utils.data.dataset": "Tensor default_generator randperm",
}
_SOURCES = {
    "F": "torch.nn.functional",
    "Module": "torch.nn.Module",
    "Optimizer": "torch.optim.Optimizer",
    "Parameter": "torch.nn.Parameter",
    **{name: f"torch.{name}" for name in ("Tensor", "default_generator", "randperm")},
    **{name: f"torch.distributions.utils.{name}" for name in _UTILITIES.split()},
    **{name: f"torch.distributions.utils.{name}" for name in _TRIANGLES.split()},
    **{name: f"torch.nn.init.{name}" for name in _INITIALIZERS.split()},
    **{name: f"torch.optim.optimizer.{name}" for name in _OF_OPTIMIZERS.split()},
    **{name: f"torch.overrides.{name}" for name in _OVERRIDES.split()},
    **{name: f"tinynet.autograd.differences.{name}" for name in _JACOBIANS.split()},
    **{name: "tinynet.compat.internals.BroadcastingList" for name in _LISTS.split()},
    **{
        name: f"tinynet.compat.internals.{name}"
        for name in ("_apply_permutation", "apply_permutation", "boolean_dispatch")
    },
    **{name: f"collections.{name}" for name in ("OrderedDict", "namedtuple")},
    **{name: f"itertools.{name}" for name in ("chain", "islice")},
    "_is_checkpoint_valid": "tinynet.autograd.variable.is_checkpoint_valid",
    "_format_param": "tinynet.optim.lr_scheduler.base.per_group",
    "_update_param_group_val": "tinynet.optim.lr_scheduler.base.put",
    "Buffer": "torch.nn.Buffer",
    "RemovableHandle": "torch.utils.hooks.RemovableHandle",
    "container_abcs": "collections.abc",
    "euler_constant": "numpy.euler_gamma",
}

OWN = {
    *vars(ModuleType("")),
    "__all__",
    "__builtins__",
    "__getattr__",
    "__cached__",
    "__file__",
    "__path__",
}
"""The original attributes of each module."""


def path_of(name: str) -> str:
    """Return PyTorch's path of a module: ``torch.jit`` for ``tinynet.jit``."""
    return "torch" + name.removeprefix("tinynet")


def homes_of(path: str) -> list[ModuleType]:
    """Return the modules of tinynet with the names of a path of PyTorch.

    The modules of ``as_torch`` are left out: they serve unchanged programs only.
    """
    homes = [home for home in PATHS[path].split() if not home.startswith("as_torch.")]
    return [import_module(f"tinynet.{home}".rstrip(".")) for home in homes]


def source_of(path: str, name: str) -> str | None:
    """Return the full path of a name that a module of PyTorch imports, None if it does not."""
    imports = (n for beginning, n in _IMPORTED.items() if path.startswith(beginning))
    return _SOURCES[name] if any(name in names.split() for names in imports) else None


def unite(path: str, homes: list[ModuleType], empty: ModuleType) -> ModuleType:
    """Return a module with the names of a path: its home, or ``empty``, filled from several.

    Args:
        path: PyTorch's path.
        homes: the modules with its names; the first one takes precedence.
        empty: a new module.
    """
    is_whole = path not in ELSEWHERE and path not in ONLY
    module = homes[0] if len(homes) == 1 and is_whole else empty
    for home in reversed(homes if module is empty else []):
        for name in lazy.HOMES.get(home.__name__, ()):  # the lazy name of this home comes first
            vars(module).pop(name, None)
        vars(module).update((k, v) for k, v in vars(home).items() if k not in OWN)
        module.__doc__ = home.__doc__
        if "__all__" in vars(home):
            module.__dict__["__all__"] = [*vars(module).get("__all__", ()), *home.__all__]
    patterns = ELSEWHERE.get(path, "").split()
    gone = {name for name in vars(module) for one in patterns if fnmatchcase(name, one)}
    if path in ONLY:
        gone |= vars(module).keys() - OWN - {*ONLY[path].split()}
    for name in gone:
        del vars(module)[name]
    if gone and "__all__" in vars(module):
        module.__dict__["__all__"] = [one for one in module.__all__ if one not in gone]
    vars(module).setdefault("__path__", [])  # its own submodules are looked for
    return module


def lazy_name(homes: list[ModuleType], name: str) -> Any:
    """Return a name that loads lazily from one of the homes.

    Raises:
        KeyError: none of them has it.
    """
    for home in homes:
        if name in lazy.HOMES.get(home.__name__, ()):
            return lazy.load(home.__name__, name)
    raise KeyError(name)


def spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of a module that has another path, None if there is none."""
    parent = name.rpartition(".")[0]
    known = path_of(name) in PATHS or sys.modules[parent].__name__ != parent
    return ModuleSpec(name, AliasLoader(), is_package=True) if known else None


class AliasLoader(Loader):
    """Loads a path of PyTorch under tinynet's name."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None for Python's default; ``exec_module`` replaces the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the empty module that Python created with tinynet's."""
        name, path = module.__name__, path_of(module.__name__)
        parent, _, child = name.rpartition(".")
        inside = f"{sys.modules[parent].__name__}.{child}"
        homes = homes_of(path) if path in PATHS else [import_module(inside)]
        sys.modules[name] = united = unite(path, homes, module)
        if united is module:
            vars(module)["__getattr__"] = partial(inner, name, homes)


def inner(alias: str, homes: list[ModuleType], name: str) -> Any:
    """Return a missing attribute of a module that stands for several: a lazy name, a submodule.

    Raises:
        AttributeError: there is no such name.
    """
    try:
        return lazy_name(homes, name)
    except KeyError:
        return find(alias, name)


def find(package: str, name: str) -> Any:
    """Return a name that PyTorch has in a package and tinynet elsewhere.

    Raises:
        AttributeError: there is no such name.
    """
    path = path_of(package)
    if f"{path}.{name}" in PATHS:
        return import_module(f"{package}.{name}")
    elsewhere = path in PATHS and not name.startswith("__")
    for home in homes_of(path) if elsewhere else ():
        if home.__name__ != package and (value := lazy.find(home, name)) is not None:
            return value
    module = sys.modules[package]
    raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
