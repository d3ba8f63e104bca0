"""Why tinynet leaves a name of PyTorch's out: the only reasons there are."""

import re

COMPLEX = "complex numbers"
SPARSE = "sparse layouts other than the gradients of embeddings"
QUANTISED = "quantised numbers"
DEVICES = "other devices, and memory that is shared with them"
DISTRIBUTED = "several machines or processes"
LEGACY = "kept by PyTorch for compatibility only"
INTERNAL = "PyTorch's own machinery"
SIGNAL = "Fourier transforms"
MASKED = "tensors that carry a mask; the functions of torch.masked take one"
INFERENCE = "fusing layers for inference"

# (namespace, pattern of whole names) -> reason; the first that fits counts.
_PATTERNS = [
    (
        "torch.Tensor",
        r"angle|c(double|float|half)|conj\w*|imag|real|is_conj|is_neg|resolve_\w+",
        COMPLEX,
    ),
    ("torch.Tensor", r"stft|istft", SIGNAL),
    (
        "torch.Tensor",
        r"(to_|is_|as_)?sparse\w*|\w+_sparse(_\w+)?|(c?col|c?row)_indices|s?smm|sspaddmm",
        SPARSE,
    ),
    ("torch.Tensor", r"to_sparse\w*|sparse_\w+|resize_as_sparse_|is_sparse_csr|hspmm", SPARSE),
    ("torch.Tensor", r"dequantize|int_repr|q_\w+|qscheme|is_quantized", QUANTISED),
    (
        "torch.Tensor",
        r"cuda|xpu|ipu|mtia|maia|is_(cpu|ipu|maia|meta|mkldnn|mps|mtia|vulkan|xla|xpu|pinned|shared)"
        r"|pin_memory|record_stream|to_mkldnn|get_device|share_memory_|bfloat16|dim_order",
        DEVICES,
    ),
    ("torch.Tensor", r"is_distributed", DISTRIBUTED),
    (
        "torch.Tensor",
        r"eig|symeig|lstsq|solve|geqrf|volatile|reinforce|resize|resize_as"
        r"|new|name|names|rename_?|refine_names|align_(to|as)|has_names|storage|storage_type",
        LEGACY,
    ),
    (
        "torch.Tensor",
        r"as_subclass|const_data_ptr|grad_dtype|hash_tensor|module_load|nonzero_static|slice_inverse"
        r"|to_padded_tensor|is_nested|is_set_to|untyped_storage|new_empty_strided|index",
        INTERNAL,
    ),
    ("torch.nn", r"Container|NLLLoss2d|CrossMapLRN2d", LEGACY),
    ("torch.nn", r"SyncBatchNorm", DISTRIBUTED),
    ("torch.nn.functional", r"conv_tbc|native_channel_shuffle", INTERNAL),
    ("torch.nn.functional", r"(scaled_)?(grouped_)?mm", DEVICES),
    ("torch.nn.init", r"\w*[a-z]", LEGACY),
    ("torch.nn.utils", r"fuse_\w+", INFERENCE),
    ("torch.nn.utils", r"convert_conv\dd_weight_memory_format", DEVICES),
    ("torch.linalg", r"eig|eigvals", COMPLEX),
    ("torch.masked", r"(as_|is_)?masked_tensor|MaskedTensor", MASKED),
    (
        "torch.utils.data",
        r"\w*DataPipe|DataChunk|functional_datapipe|guaranteed_\w+|non_deterministic"
        r"|(argument|runtime)_validation\w*",
        LEGACY,
    ),
]


def reason(namespace: str, name: str) -> str | None:
    """Why a name is left out; None if it is only not there yet."""
    for space, pattern, why in _PATTERNS:
        if space == namespace and re.fullmatch(pattern, name):
            return why
    return None
