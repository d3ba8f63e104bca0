"""Function transforms, as in ``torch.func``: gradients, Jacobians and batching."""

from tinynet.func.batching import debug_unwrap as debug_unwrap
from tinynet.func.batching import functionalize as functionalize
from tinynet.func.batching import (
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
)
from tinynet.func.batching import set_vmap_fallback_warning as set_vmap_fallback_warning
from tinynet.func.batching import vmap as vmap
from tinynet.func.gradients import grad as grad
from tinynet.func.gradients import grad_and_value as grad_and_value
from tinynet.func.gradients import hessian as hessian
from tinynet.func.gradients import jacfwd as jacfwd
from tinynet.func.gradients import jacrev as jacrev
from tinynet.func.gradients import jvp as jvp
from tinynet.func.gradients import linearize as linearize
from tinynet.func.gradients import vjp as vjp
from tinynet.func.rearrangement import rearrange as rearrange
from tinynet.nn.utils.stateless import functional_call as functional_call
from tinynet.nn.utils.stateless import stack_module_state as stack_module_state
