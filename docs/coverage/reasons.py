"""The reasons for which tinynet leaves out names of PyTorch."""

import re

COMPLEX = "complex numbers with parts of 16 bits"
SPARSE = "sparse layouts, except gradients of embeddings"
QUANTIZED = "quantized numbers"
DEVICES = "other devices, and memory shared with them"
DISTRIBUTED = "distributed computing"
LEGACY = "kept by PyTorch for compatibility only"
INTERNAL = "internal to PyTorch"
MASKED = "masked tensors; the functions of torch.masked take a mask"

GUARDS = "every program has all its guards"
PER_PROCESS = "programs are captured in each process"
AS_IT_RUNS = "functions are captured as they run"

# (namespace, pattern of whole names) -> reason; the first that fits counts.
_PATTERNS = [
    ("torch", r"complex32|chalf", COMPLEX),
    (
        "torch",
        r"\w*sparse\w*|(c?col|c?row)?_?indices_copy|values_copy|(d|h|s)s?(p|m)mm?|hspmm|sspaddmm"
        r"|saddmm|smm",
        SPARSE,
    ),
    (
        "torch",
        r"\w*quant\w*|q_\w+|qscheme|int_repr|Q\w+Storage|fbgemm\w+|choose_qparams\w*",
        QUANTIZED,
    ),
    (
        "torch",
        r"(cudnn|miopen|mkldnn)_\w+|\w*autocast_(ipu|xla)\w*|\w*cuda\w*|\w*DLPack|\w+_dlpack|\w*vulkan\w*"
        r"|AcceleratorError|Event|Stream|OutOfMemoryError|get_device(_module)?"
        r"|\w*FileReader|\w*FileWriter|from_file|hash_tensor",
        DEVICES,
    ),
    ("torch", r"Future|fork|wait|RRef\w*|is_distributed|prepare_multiprocessing_\w+", DISTRIBUTED),
    (
        "torch",
        r"eig|symeig|lstsq|solve|matrix_rank|orgqr|(frobenius|nuclear)_norm|norm_except_dim|range"
        r"|\w*Storage|is_storage|TypedStorage",
        LEGACY,
    ),
    (
        "torch",  # the compiler of TorchScript, symbolic sizes, the dispatcher
        r"\w*Type|\w*Script\w*|Sym\w+|sym_\w+|Dispatch\w+|Disable\w+|\w+Graph\w*|Graph\w*"
        r"|AliasDb|Argument|CompleteArgumentSpec|ArgumentSpec|Benchmark\w+|ThroughputBenchmark|Block"
        r"|CallStack|Capsule|Code|CompilationUnit|Concrete\w+|DeepCopyMemoTable|\w+StorageContext"
        r"|DeviceObj\w+|StreamObj\w+|ErrorReport|Exclude\w+|Execution\w+|FatalError|FileCheck"
        r"|FunctionSchema|Gradient|IODescriptor|JITException|\w*Logger\w*|Node|OperatorInfo|Stat\w+"
        r"|BufferDict|ModuleDict|ParameterDict|Tag|TracingState|Use|Value|classproperty|parse_\w+"
        r"|import_ir_\w+|merge_type_\w+|unify_\w+|compiled_with_\w+|profiler_\w+|cond|while_loop"
        r"|init_num_threads|get_file_path|slice_inverse"
        r"|thread_safe_generator|AggregationType",
        INTERNAL,
    ),
    ("torch.compiler", r"(keep|skip)_\w+_unsafe|set_enable_guard_collectives", GUARDS),
    ("torch.compiler", r"\w+_cache_artifacts|load_compiled_function", PER_PROCESS),
    (
        "torch.compiler",
        r"assume_constant_result|substitute_in_graph|wrap_numpy|nested_compile_region",
        AS_IT_RUNS,
    ),
    (
        "torch",  # what nn.functional, nn and nn.init call, with other arguments
        r"native_\w+|batch_norm\w*|instance_norm|embedding(_bag|_renorm_)?|convolution|conv_tbc"
        r"|\w+_loss|kl_div|binary_cross_entropy_with_logits|(feature_|alpha_)*dropout_?"
        r"|(lstm|gru|rnn_tanh|rnn_relu)(_cell)?|grid_sampler|affine_grid_generator"
        r"|adaptive_max_pool1d|max_pool1d_with_indices|detach|addmv_",
        INTERNAL,
    ),
    (
        "torch.autograd",
        r"NestedIOFunction|\w+_multithreading_enabled|kineto_available|is_view_replay_enabled"
        r"|enforce_grad_layout_policy",
        INTERNAL,
    ),
    ("torch.Tensor", r"chalf", COMPLEX),
    (
        "torch.Tensor",
        r"(to_|is_|as_)?sparse\w*|\w+_sparse(_\w+)?|(c?col|c?row)_indices|s?smm|sspaddmm",
        SPARSE,
    ),
    ("torch.Tensor", r"to_sparse\w*|sparse_\w+|resize_as_sparse_|is_sparse_csr|hspmm", SPARSE),
    ("torch.Tensor", r"dequantize|int_repr|q_\w+|qscheme|is_quantized", QUANTIZED),
    (
        "torch.Tensor",
        r"cuda|xpu|ipu|mtia|maia|is_(cpu|ipu|maia|meta|mkldnn|mps|mtia|vulkan|xla|xpu|pinned)"
        r"|pin_memory|record_stream|to_mkldnn|get_device|dim_order",
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
        r"const_data_ptr|grad_dtype|hash_tensor|module_load|slice_inverse"
        r"|to_padded_tensor|is_nested|is_set_to|untyped_storage|new_empty_strided|index",
        INTERNAL,
    ),
    ("torch.nn.functional", r"conv_tbc|native_channel_shuffle", INTERNAL),
    ("torch.nn.functional", r"(scaled_)?(grouped_)?mm", DEVICES),
    ("torch.nn.init", r"\w*[a-z]", LEGACY),
    ("torch.masked", r"(as_|is_)?masked_tensor|MaskedTensor", MASKED),
    (
        "torch.utils.data",
        r"\w*DataPipe|DataChunk|functional_datapipe|guaranteed_\w+|non_deterministic"
        r"|(argument|runtime)_validation\w*",
        LEGACY,
    ),
]


def reason(namespace: str, name: str) -> str | None:
    """Return why a name is left out; None if it is merely missing so far."""
    for space, pattern, why in _PATTERNS:
        if space == namespace and re.fullmatch(pattern, name):
            return why
    return None
