"""Modules as functions of their parameters: the part of ``torch.func`` that tinynet has."""

from tinynet.nn.utils.stateless import functional_call as functional_call
from tinynet.nn.utils.stateless import stack_module_state as stack_module_state
