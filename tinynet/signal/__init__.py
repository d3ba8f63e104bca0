"""Windows of signals: ``torch.signal``."""

from tinynet.signal import windows as windows
