"""``torch.distributed.fsdp``: options that programs set, and names that tinynet does not have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from tinynet.compat.refusal import absent, refusal

_ONE = "every process has the whole model"


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
