"""What PyTorch's layers say and tinynet's do not, with the reasons."""

from tests.tools.recorded.departures import Unsaid

DEPARTURES = (
    Unsaid(
        "Nested tensors are a fast path of PyTorch's encoder, which tinynet does not have.",
        "UserWarning: enable_nested_tensor is True, but self.use_nested_tensor is False .*",
    ),
    Unsaid(
        "Uneven padding is the same code in tinynet.",
        "UserWarning: Using padding='same' with even kernel lengths .*",
    ),
)
