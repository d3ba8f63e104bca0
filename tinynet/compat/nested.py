"""``torch.nested``: not supported."""

from tinynet.compat.refusal import refusal

_PAD = "rows of different lengths are padded; use nn.utils.rnn.pad_sequence and a mask"
nested_tensor = refusal("nested.nested_tensor", _PAD)
as_nested_tensor = refusal("nested.as_nested_tensor", _PAD)
to_padded_tensor = refusal("nested.to_padded_tensor", _PAD)
