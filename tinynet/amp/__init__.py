"""Mixed precision: ``torch.amp``."""

from tinynet.amp import cpu as cpu
from tinynet.amp import cuda as cuda
from tinynet.amp.autocast_mode import autocast as autocast
from tinynet.amp.autocast_mode import custom_bwd as custom_bwd
from tinynet.amp.autocast_mode import custom_fwd as custom_fwd
from tinynet.amp.autocast_mode import is_autocast_available as is_autocast_available
from tinynet.amp.grad_scaler import GradScaler as GradScaler
