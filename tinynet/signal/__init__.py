"""Window functions: ``torch.signal``."""

from tinynet.signal import windows as windows
