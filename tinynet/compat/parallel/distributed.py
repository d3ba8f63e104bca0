"""Names of ``torch.distributed`` and ``torch.nn.parallel`` that tinynet does not have.

Programs set the options of ``torch.distributed.fsdp``, which change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NoReturn

from tinynet.autograd import Function
from tinynet.compat.refusal import absent, refusal

_ONE = "every process has the whole model"


Join = absent("distributed.algorithms.join.Join", "DistributedDataParallel has join()")

HuggingFaceStorageReader = absent("distributed.checkpoint.HuggingFaceStorageReader", _ONE)
HuggingFaceStorageWriter = absent("distributed.checkpoint.HuggingFaceStorageWriter", _ONE)

# ---- torch.distributed.tensor, torch.distributed.device_mesh ------------------------------------

DTensor = absent("distributed.tensor.DTensor", _ONE)
DeviceMesh = absent("distributed.device_mesh.DeviceMesh", _ONE)


class Placement:
    """The description of how processes share a tensor. Plans of libraries list them."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether each process has a part (of dimension ``dim``)."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Return whether each process has the whole tensor."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Return whether each process has a term."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each process has a part of a dimension.

    Example:
        >>> from tinynet.compat.parallel import distributed
        >>> distributed.Shard(0), distributed.Shard(0).is_shard(1)
        (Shard(dim=0), False)
    """

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Each process has parts of a dimension."""

    split_factor: int = field(kw_only=True)


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole tensor."""


@dataclass(frozen=True)
class Partial(Placement):
    """Each process has a term of a sum, or of another reduction."""

    reduce_op: str = "sum"


distribute_tensor = refusal("distributed.tensor.distribute_tensor", _ONE)
empty, full, ones, rand, randn, zeros = (
    refusal(f"distributed.tensor.{name}", _ONE)
    for name in ("empty", "full", "ones", "rand", "randn", "zeros")
)
distribute_module = refusal("distributed.tensor.distribute_module", _ONE)
implicit_replication = refusal("distributed.tensor.experimental.implicit_replication", _ONE)
local_map = refusal("distributed.tensor.experimental.local_map", _ONE)
parallelize_module = refusal("distributed.tensor.parallel.parallelize_module", _ONE)
loss_parallel = refusal("distributed.tensor.parallel.loss_parallel", _ONE)
ParallelStyle = absent("distributed.tensor.parallel.ParallelStyle", _ONE)
ColwiseParallel = absent("distributed.tensor.parallel.ColwiseParallel", _ONE)
RowwiseParallel = absent("distributed.tensor.parallel.RowwiseParallel", _ONE)
SequenceParallel = absent("distributed.tensor.parallel.SequenceParallel", _ONE)
PrepareModuleInput = absent("distributed.tensor.parallel.PrepareModuleInput", _ONE)
PrepareModuleOutput = absent("distributed.tensor.parallel.PrepareModuleOutput", _ONE)
init_device_mesh = refusal("distributed.device_mesh.init_device_mesh", _ONE)
compute_local_shape_and_global_offset = refusal(
    "distributed.tensor._utils.compute_local_shape_and_global_offset", _ONE
)
all_to_all_single_autograd = refusal(
    "distributed._functional_collectives.all_to_all_single_autograd", _ONE
)
wait_tensor = refusal("distributed._functional_collectives.wait_tensor", _ONE)

# ---- torch.distributed.rpc ----------------------------------------------------------------------

_MESSAGES = "processes send tensors with send, recv and the collective functions"
init_rpc = refusal("distributed.rpc.init_rpc", _MESSAGES)
rpc_async = refusal("distributed.rpc.rpc_async", _MESSAGES)
rpc_sync = refusal("distributed.rpc.rpc_sync", _MESSAGES)
context = absent("distributed.autograd.context", _MESSAGES)


def is_available() -> bool:
    """Return False: processes do not call functions of others."""
    return False


def _is_current_rpc_agent_set() -> bool:
    """Return False: no process takes calls of others."""
    return False


def record(fn: Any, error_handler: Any = None) -> Any:
    """Return the function: its errors are shown as Python shows them, and written to no file."""
    return fn


# ---- torch.nn.parallel --------------------------------------------------------------------------

_CPU = "tinynet runs on the CPU only; call the module"
broadcast = refusal("nn.parallel.comm.broadcast", _CPU)
broadcast_coalesced = refusal("nn.parallel.comm.broadcast_coalesced", _CPU)
_broadcast_coalesced_reshape = broadcast_coalesced
reduce_add = refusal("nn.parallel.comm.reduce_add", _CPU)
reduce_add_coalesced = refusal("nn.parallel.comm.reduce_add_coalesced", _CPU)
parallel_apply = refusal("nn.parallel.parallel_apply", _CPU)
replicate = refusal("nn.parallel.replicate", _CPU)
scatter = refusal("nn.parallel.scatter", _CPU)
scatter_kwargs = refusal("nn.parallel.scatter_kwargs", _CPU)
gather = refusal("nn.parallel.gather", _CPU)


class _BetweenDevices(Function):
    """Base of the functions that copy tensors between GPUs."""

    @classmethod
    def apply(cls, *args: Any) -> NoReturn:
        """Raise PyTorch's error: the tensors are on the CPU."""
        raise AssertionError(f"{cls.__name__} function not implemented for CPU tensors")


class Broadcast(_BetweenDevices):
    """Copies of tensors on several devices."""


class Gather(_BetweenDevices):
    """Tensors of several devices as one."""


class ReduceAddCoalesced(_BetweenDevices):
    """Sums of the tensors of several devices."""


class Scatter(_BetweenDevices):
    """The parts of a tensor on several devices."""


# ---- torch.distributed.fsdp ---------------------------------------------------------------------


class ShardingStrategy(Enum):
    """What the processes of a group share among them."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the parameters of the next module are collected in a backward pass."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """The parts that the state_dict of a process contains."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """The keys of an optimizer's state."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


@dataclass
class CPUOffload:
    """Whether parameters wait in main memory."""

    offload_params: bool = False


@dataclass
class MixedPrecision:
    """The dtypes of computations, reductions and buffers."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclass
class StateDictConfig:
    """Whether a state_dict is copied to main memory."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """Options of ``FULL_STATE_DICT``; ``rank0_only``: the other processes get none."""

    rank0_only: bool = False


class LocalStateDictConfig(StateDictConfig):
    """Options of ``LOCAL_STATE_DICT``."""


class ShardedStateDictConfig(StateDictConfig):
    """Options of ``SHARDED_STATE_DICT``."""


@dataclass
class OptimStateDictConfig:
    """Whether the state of an optimizer is copied to main memory."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """As ``FullStateDictConfig``."""

    rank0_only: bool = False


class LocalOptimStateDictConfig(OptimStateDictConfig):
    """As ``LocalStateDictConfig``."""


class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """As ``ShardedStateDictConfig``."""


FullyShardedDataParallel = absent("FullyShardedDataParallel", _ONE)
FlatParameter = absent("distributed.fsdp._flat_param.FlatParameter", _ONE)
OffloadPolicy = absent("distributed.fsdp.OffloadPolicy", _ONE)
CPUOffloadPolicy = absent("distributed.fsdp.CPUOffloadPolicy", _ONE)
MixedPrecisionPolicy = absent("distributed.fsdp.MixedPrecisionPolicy", _ONE)
FSDPModule = absent("distributed.fsdp.FSDPModule", _ONE)
UnshardHandle = absent("distributed.fsdp.UnshardHandle", _ONE)
StateDictSettings = absent("distributed.fsdp.StateDictSettings", _ONE)
fully_shard = refusal("distributed.fsdp.fully_shard", _ONE)
register_fsdp_forward_method = refusal("distributed.fsdp.register_fsdp_forward_method", _ONE)

# ---- torch.distributed.fsdp.wrap ----------------------------------------------------------------

CustomPolicy = absent("distributed.fsdp.wrap.CustomPolicy", _ONE)
ModuleWrapPolicy = absent("distributed.fsdp.wrap.ModuleWrapPolicy", _ONE)
always_wrap_policy = refusal("distributed.fsdp.wrap.always_wrap_policy", _ONE)
enable_wrap = refusal("distributed.fsdp.wrap.enable_wrap", _ONE)
lambda_auto_wrap_policy = refusal("distributed.fsdp.wrap.lambda_auto_wrap_policy", _ONE)
size_based_auto_wrap_policy = refusal("distributed.fsdp.wrap.size_based_auto_wrap_policy", _ONE)
transformer_auto_wrap_policy = refusal("distributed.fsdp.wrap.transformer_auto_wrap_policy", _ONE)
wrap = refusal("distributed.fsdp.wrap.wrap", _ONE)
