"""PyTorch's import path: ``from tinynet.utils.checkpoint import checkpoint``."""

from tinynet.autograd.checkpoint import CheckpointError as CheckpointError
from tinynet.autograd.checkpoint import CheckpointPolicy as CheckpointPolicy
from tinynet.autograd.checkpoint import checkpoint as checkpoint
from tinynet.autograd.checkpoint import checkpoint_sequential as checkpoint_sequential
from tinynet.autograd.checkpoint import (
    create_selective_checkpoint_contexts as create_selective_checkpoint_contexts,
)
from tinynet.autograd.checkpoint import get_device_states as get_device_states
from tinynet.autograd.checkpoint import noop_context_fn as noop_context_fn
from tinynet.autograd.checkpoint import set_checkpoint_early_stop as set_checkpoint_early_stop
from tinynet.autograd.checkpoint import set_device_states as set_device_states
from tinynet.autograd.recomputation import CheckpointFunction as CheckpointFunction
