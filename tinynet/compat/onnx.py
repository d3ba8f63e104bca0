"""``torch.onnx``: model export is not supported."""

from tinynet.compat.refusal import refusal

_WEIGHTS = "save the weights with save_file (.safetensors), and export them with PyTorch"
export = refusal("onnx.export", _WEIGHTS)
dynamo_export = refusal("onnx.dynamo_export", _WEIGHTS)


def is_in_onnx_export() -> bool:
    """Return False.

    Example:
        >>> from tinynet.compat import onnx
        >>> onnx.is_in_onnx_export()
        False
    """
    return False
