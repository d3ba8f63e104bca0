"""Where lazy packages find their names. Written by ``python -m tinynet.base.lazy``.

Of each, the modules with their names: ``name``, ``name=attribute``, or ``name=`` for the module
itself.
"""

MODULES = {
    "tinynet": {
        "tinynet.amp": "amp= GradScaler autocast",
        "tinynet.autograd": "autograd=",
        "tinynet.backends": "backends=",
        "tinynet.board": "board=",
        "tinynet.compiler": "compiler=",
        "tinynet.cuda": "cuda=",
        "tinynet.data": "data=",
        "tinynet.distributed": "distributed=",
        "tinynet.distributions": "distributions=",
        "tinynet.exchange": "exchange= load save",
        "tinynet.fft": "fft=",
        "tinynet.func": "func= vmap",
        "tinynet.masked": "masked=",
        "tinynet.nn": "nn=",
        "tinynet.onnx": "onnx=",
        "tinynet.optim": "optim=",
        "tinynet.signal": "signal=",
        "tinynet.sparse": "sparse= spmm=mm sparse_coo_tensor sparse_csr_tensor",
        "tinynet.train": "train=",
        "tinynet.utils": "utils=",
        "tinynet.amp.state": (
            "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
            "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype "
            "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
            "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled "
            "set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype"
        ),
        "tinynet.autograd.anomaly": "is_anomaly_check_nan_enabled is_anomaly_enabled",
        "tinynet.autograd.modes": "inference_mode is_inference is_inference_mode_enabled",
        "tinynet.capture": "capture=",
        "tinynet.capture.api": "compile",
        "tinynet.compat": "compat=",
        "tinynet.compat.accelerator": "accelerator=",
        "tinynet.compat.storage": (
            "storage= BFloat16Storage BoolStorage ByteStorage CharStorage DoubleStorage "
            "FloatStorage HalfStorage IntStorage LongStorage ShortStorage Storage TypedStorage "
            "UntypedStorage from_file is_storage"
        ),
        "tinynet.compat.native.tensor_methods": "tensor_methods=",
        "tinynet.compat.native.functions": (
            "alpha_dropout constant_pad_nd dropout grid_sampler grid_sampler_2d grid_sampler_3d "
            "group_norm layer_norm native_batch_norm native_dropout native_group_norm "
            "native_layer_norm threshold"
        ),
        "tinynet.compat.runtime": (
            "are_deterministic_algorithms_enabled get_default_device get_float32_matmul_precision "
            "get_num_interop_threads get_num_threads "
            "is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled "
            "set_default_device set_float32_matmul_precision set_flush_denormal "
            "set_num_interop_threads set_num_threads set_warn_always typename "
            "use_deterministic_algorithms"
        ),
        "tinynet.dtypes": "dtypes=",
        "tinynet.dtypes.type_info": "finfo iinfo",
        "tinynet.nn.functional": (
            "adaptive_avg_pool1d avg_pool1d bilinear celu celu_ channel_shuffle conv1d conv2d "
            "conv3d conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity "
            "hardshrink max_pool1d max_pool2d max_pool3d pairwise_distance pdist pixel_shuffle "
            "pixel_unshuffle prelu rms_norm rrelu rrelu_ selu selu_ threshold_"
        ),
        "tinynet.ops": (
            "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor "
            "IntTensor LongTensor ShortTensor _dirichlet_grad _sample_dirichlet _standard_gamma "
            "_standard_gamma_grad abs abs_ absolute acos acos_ acosh acosh_ add addbmm addcdiv "
            "addcmul addmm addmv addmv_ addr adjoint alias_copy all allclose amax amin aminmax "
            "angle any arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ "
            "arctan arctan2 arctan_ arctanh arctanh_ argmax argmin argsort argwhere as_strided "
            "as_strided_ as_strided_copy as_strided_scatter as_tensor asarray asin asin_ asinh "
            "asinh_ atan atan2 atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d baddbmm "
            "bernoulli bincount binomial bitwise_and bitwise_left_shift bitwise_not bitwise_or "
            "bitwise_right_shift bitwise_xor block_diag bmm broadcast_shapes broadcast_tensors "
            "broadcast_to bucketize cartesian_prod cat cdist ceil ceil_ chain_matmul cholesky "
            "cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min "
            "clamp_min_ clip clip_ clone column_stack combinations complex concat concatenate "
            "conj conj_physical conj_physical_ copysign corrcoef cos cos_ cosh cosh_ "
            "count_nonzero cov cross cummax cummin cumprod cumsum cumulative_trapezoid deg2rad "
            "deg2rad_ det detach detach_ detach_copy diag diag_embed diagflat diagonal "
            "diagonal_copy diagonal_scatter diff digamma dist div divide dot dsplit dstack einsum "
            "empty empty_like empty_permuted empty_strided eq equal erf erf_ erfc erfc_ erfinv "
            "exp exp2 exp2_ exp_ expand_copy expm1 expm1_ eye fill fill_ fix fix_ flatten flip "
            "fliplr flipud float_power floor floor_ floor_divide fmax fmin fmod frac frac_ frexp "
            "from_numpy frombuffer full full_like gather gcd gcd_ ge geqrf ger get_device "
            "gradient greater greater_equal gt heaviside histc histogram histogramdd hsplit "
            "hstack hypot i0 i0_ igamma igammac imag index_add index_copy index_fill index_put "
            "index_put_ index_reduce index_select inner inverse is_complex is_conj "
            "is_floating_point is_neg is_nonzero is_same_size is_signed is_tensor isclose "
            "isfinite isin isinf isnan isneginf isposinf isreal istft kron kthvalue lcm lcm_ "
            "ldexp ldexp_ le lerp less less_equal lgamma linspace log log10 log10_ log1p log1p_ "
            "log2 log2_ log_ log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and "
            "logical_not logical_or logical_xor logit logit_ logspace logsumexp lt lu lu_solve "
            "lu_unpack masked_fill masked_scatter masked_select matmul matrix_exp matrix_power "
            "max maximum mean median meshgrid min minimum mm mode moveaxis movedim msort mul "
            "multinomial multiply mv mvlgamma nan_to_num nan_to_num_ nanmean nanmedian "
            "nanquantile nansum narrow narrow_copy ne neg neg_ negative negative_ nextafter "
            "nonzero nonzero_static norm normal not_equal numel ones ones_like ormqr outer "
            "pca_lowrank permute permute_copy pinverse poisson polar polygamma positive pow prod "
            "put qr quantile rad2deg rad2deg_ rand rand_like randint randint_like randn "
            "randn_like randperm range ravel real reciprocal reciprocal_ relu relu_ remainder "
            "renorm repeat_interleave reshape resize_as_ resolve_conj resolve_neg result_type "
            "roll rot90 round round_ row_stack rsqrt rsqrt_ rsub scalar_tensor scatter "
            "scatter_add scatter_reduce searchsorted segment_reduce select select_copy "
            "select_scatter set_default_tensor_type sgn sigmoid sigmoid_ sign signbit sin sin_ "
            "sinc sinc_ sinh sinh_ slice_copy slice_scatter slogdet softmax sort split split_copy "
            "split_with_sizes split_with_sizes_copy sqrt sqrt_ square square_ squeeze "
            "squeeze_copy stack std std_mean stft sub subtract sum svd svd_lowrank swapaxes "
            "swapdims t t_copy take take_along_dim tan tan_ tanh tanh_ tensor tensor_split "
            "tensordot tile topk trace transpose transpose_copy trapezoid trapz triangular_solve "
            "tril tril_indices triu triu_indices true_divide trunc trunc_ unbind unbind_copy "
            "unflatten unfold unfold_copy unique unique_consecutive unravel_index unsafe_chunk "
            "unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy vander var var_mean "
            "vdot view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy "
            "vsplit vstack where xlogy xlogy_ zero_ zeros zeros_like"
        ),
        "tinynet.ops.linalg": "linalg=",
        "tinynet.ops.special": "special=",
        "tinynet.random": (
            "random= Generator default_generator get_rng_state initial_seed manual_seed seed "
            "set_rng_state"
        ),
        "tinynet.signal.periodic": (
            "bartlett_window blackman_window hamming_window hann_window kaiser_window"
        ),
        "tinynet.train.observe.summary": "summary",
    },
    "tinynet.autograd": {
        "tinynet.autograd.functional": "functional=",
        "tinynet.autograd.graph": "graph=",
        "tinynet.autograd.anomaly": (
            "anomaly= detect_anomaly is_anomaly_check_nan_enabled is_anomaly_enabled "
            "set_detect_anomaly"
        ),
        "tinynet.autograd.derivatives": "derivatives= backward grad",
        "tinynet.autograd.function": "function= Function",
        "tinynet.autograd.gradcheck": "GradcheckError gradgradcheck",
        "tinynet.autograd.modes": "modes= inference_mode is_inference_mode_enabled",
        "tinynet.autograd.variable": "variable= Variable",
        "tinynet.core.modes": "enable_grad no_grad set_grad_enabled",
    },
    "tinynet.base.invocation": {
        "tinynet.base.invocation.commands": (
            "commands= VARIABLE command installation is_wrapped python shown typed"
        ),
    },
    "tinynet.board": {
        "tinynet.board.graphs": "graphs=",
        "tinynet.board.graphs.build": "Arguments",
        "tinynet.board.graphs.draw": "Drawing draw",
        "tinynet.board.graphs.recording": "Recording record",
        "tinynet.board.notebook": "notebook= launch",
        "tinynet.board.storage": "storage= BoardWarning",
        "tinynet.board.writer": "writer= SummaryWriter",
    },
    "tinynet.capture": {
        "tinynet.capture.api": "api= compile",
        "tinynet.capture.compiled": "compiled= CAPTURES Calls Compiled CompileError CompileWarning",
        "tinynet.capture.continued": "continued= Continued",
        "tinynet.capture.graph": "graph= program_graph",
    },
    "tinynet.data": {
        "tinynet.data.transforms": "transforms=",
        "tinynet.data.dataset": (
            "dataset= ChainDataset ConcatDataset Dataset IterableDataset TensorDataset"
        ),
        "tinynet.data.loading": "loading=",
        "tinynet.data.loading.collate": "default_collate default_convert",
        "tinynet.data.loading.loader": "DataLoader",
        "tinynet.data.loading.sampler": (
            "BatchSampler DistributedSampler RandomSampler Sampler SequentialSampler "
            "SubsetRandomSampler WeightedRandomSampler"
        ),
        "tinynet.data.loading.worker": "WorkerInfo get_worker_info",
        "tinynet.data.readers": "readers=",
        "tinynet.data.readers.arrays": "NPY NPZ",
        "tinynet.data.readers.bundled": "Digits Spirals",
        "tinynet.data.readers.files": "FormatError",
        "tinynet.data.readers.image_folder": "DatasetFolder ImageFolder",
        "tinynet.data.readers.images": "CIFAR10 CIFAR100 IDX MNIST FashionMNIST read_idx",
        "tinynet.data.readers.table_rows": "CSV Parquet",
        "tinynet.data.splits": "splits= StackDataset Subset random_split",
        "tinynet.data.texts": "texts=",
        "tinynet.data.texts.byte_pairs": "BPETokenizer",
        "tinynet.data.texts.labelled": "LabelledTexts",
        "tinynet.data.texts.text": "PythonSources SkipGrams Text",
        "tinynet.data.texts.tokenizer": "CharTokenizer Tokenizer WordTokenizer",
    },
    "tinynet.data.transforms": {
        "tinynet.data.transforms.augmentation": (
            "augmentation= GaussianBlur GaussianNoise RandomApply RandomChoice RandomCrop "
            "RandomErasing RandomHorizontalFlip RandomOrder RandomRotation90 RandomVerticalFlip"
        ),
        "tinynet.data.transforms.base": "base= Compose Lambda Transform",
        "tinynet.data.transforms.color": (
            "color= ColorJitter Grayscale RGB RandomAdjustSharpness RandomAutocontrast "
            "RandomGrayscale RandomInvert RandomPosterize RandomSolarize"
        ),
        "tinynet.data.transforms.conversion": (
            "conversion= ConvertImageDtype Normalize OneHot ToDtype ToImage ToTensor"
        ),
        "tinynet.data.transforms.geometry": (
            "geometry= CenterCrop FiveCrop Pad RandomResizedCrop Resize TenCrop"
        ),
        "tinynet.data.transforms.mixtures": "mixtures= CutMix MixUp",
        "tinynet.data.transforms.policies": (
            "policies= AugMix AutoAugment RandAugment TrivialAugmentWide"
        ),
        "tinynet.data.transforms.warps": (
            "warps= ElasticTransform RandomAffine RandomPerspective RandomRotation"
        ),
    },
    "tinynet.distributed": {
        "tinynet.distributed.buffers": "buffers= GradBucket",
        "tinynet.distributed.collectives": (
            "collectives= all_gather all_gather_into_tensor all_to_all all_to_all_single barrier "
            "broadcast gather scatter"
        ),
        "tinynet.distributed.constants": (
            "constants= Backend DebugLevel ReduceOp default_pg_timeout reduce_op"
        ),
        "tinynet.distributed.divergence": (
            "divergence= get_debug_level set_debug_level set_debug_level_from_env"
        ),
        "tinynet.distributed.groups": (
            "groups= destroy_process_group get_backend get_global_rank get_group_rank "
            "get_pg_count get_process_group_ranks get_rank get_world_size init_process_group "
            "is_initialized new_group new_subgroups new_subgroups_by_enumeration"
        ),
        "tinynet.distributed.mpi": (
            "mpi= get_default_backend_for_device get_node_local_rank is_available "
            "is_backend_available is_gloo_available is_mpi_available is_nccl_available "
            "is_torchelastic_launched is_ucc_available is_xccl_available"
        ),
        "tinynet.distributed.objects": (
            "objects= all_gather_object broadcast_object_list gather_object recv_object_list "
            "scatter_object_list send_object_list"
        ),
        "tinynet.distributed.point_to_point": (
            "point_to_point= P2POp batch_isend_irecv irecv isend monitored_barrier recv send"
        ),
        "tinynet.distributed.process_group": "process_group= GroupMember ProcessGroup group",
        "tinynet.distributed.reductions": (
            "reductions= all_reduce all_reduce_coalesced reduce reduce_scatter "
            "reduce_scatter_tensor"
        ),
        "tinynet.distributed.work": "work= Future Work",
    },
    "tinynet.exchange": {
        "tinynet.exchange.files": "files= ExchangeError UnsafeError",
        "tinynet.exchange.model": "model= load_model save_model",
        "tinynet.exchange.pytorch": "pytorch= load_pytorch save_pytorch",
        "tinynet.exchange.safetensors": "safetensors= load_file safe_open save_file",
        "tinynet.exchange.serialization": "serialization= load save",
    },
    "tinynet.kernels.llvm": {
        "tinynet.kernels.llvm.kernel": "kernel= Kernel",
        "tinynet.kernels.llvm.machine": "machine=",
        "tinynet.kernels.llvm.sharing": "sharing=",
        "tinynet.kernels.llvm.store": "store=",
        "tinynet.kernels.llvm.assembly": "assembly= External",
    },
    "tinynet.kernels.native": {
        "tinynet.kernels.native.attention": "attention=",
        "tinynet.kernels.native.blas": "blas=",
        "tinynet.kernels.native.compiler": "compiler= disable enable used",
        "tinynet.kernels.native.gates": "gates=",
        "tinynet.kernels.native.images": "images=",
        "tinynet.kernels.native.images_last": "images_last=",
        "tinynet.kernels.native.tables": "tables=",
    },
    "tinynet.kernels.onednn": {
        "tinynet.kernels.onednn.convolution": "convolution=",
        "tinynet.kernels.onednn.library": "library= is_available",
        "tinynet.kernels.onednn.parts": "parts=",
    },
    "tinynet.nn": {
        "tinynet.nn.functional": "functional=",
        "tinynet.nn.grad": "grad=",
        "tinynet.nn.init": "init=",
        "tinynet.nn.modules": "modules=",
        "tinynet.nn.utils": "utils=",
        "tinynet.nn.base": "base=",
        "tinynet.nn.base.module": "Module",
        "tinynet.nn.functional.losses.linear_cross_entropy": "LinearCrossEntropyOptions",
        "tinynet.nn.layers": "layers=",
        "tinynet.nn.layers.adaptive_pooling": (
            "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
            "AdaptiveMaxPool2d AdaptiveMaxPool3d FractionalMaxPool2d FractionalMaxPool3d"
        ),
        "tinynet.nn.layers.attention": "MultiheadAttention",
        "tinynet.nn.layers.batchnorm": (
            "BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d "
            "SyncBatchNorm"
        ),
        "tinynet.nn.layers.container": "Container Sequential ModuleList ModuleDict",
        "tinynet.nn.layers.convolution": (
            "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d"
        ),
        "tinynet.nn.layers.dropout": (
            "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout"
        ),
        "tinynet.nn.layers.embedding": "Embedding EmbeddingBag",
        "tinynet.nn.layers.images": (
            "ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
            "ConstantPad3d PixelShuffle PixelUnshuffle ReflectionPad1d ReflectionPad2d "
            "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d Upsample "
            "UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d"
        ),
        "tinynet.nn.layers.lazy": (
            "LazyLinear LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d "
            "LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d "
            "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d"
        ),
        "tinynet.nn.layers.likelihood_losses": (
            "AdaptiveLogSoftmaxWithLoss CTCLoss GaussianNLLLoss KLDivLoss LinearCrossEntropyLoss "
            "PoissonNLLLoss"
        ),
        "tinynet.nn.layers.linear": "Linear Bilinear Identity PairwiseDistance CosineSimilarity",
        "tinynet.nn.layers.losses": (
            "BCELoss BCEWithLogitsLoss CrossEntropyLoss HuberLoss L1Loss MSELoss NLLLoss "
            "NLLLoss2d SmoothL1Loss"
        ),
        "tinynet.nn.layers.margin_losses": (
            "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss MultiLabelMarginLoss "
            "MultiLabelSoftMarginLoss MultiMarginLoss SoftMarginLoss TripletMarginLoss "
            "TripletMarginWithDistanceLoss"
        ),
        "tinynet.nn.layers.normalization": (
            "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm"
        ),
        "tinynet.nn.layers.parameter_container": "ParameterList ParameterDict",
        "tinynet.nn.layers.piecewise_activation": (
            "Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU PReLU RReLU ReLU ReLU6 "
            "Softshrink Threshold"
        ),
        "tinynet.nn.layers.pooling": (
            "AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d "
            "MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"
        ),
        "tinynet.nn.layers.rnn": "GRU LSTM RNN RNNBase",
        "tinynet.nn.layers.rnn_cells": "GRUCell LSTMCell RNNCell RNNCellBase",
        "tinynet.nn.layers.shaping": "Flatten Fold Unflatten Unfold",
        "tinynet.nn.layers.smooth_activation": (
            "CELU ELU GELU GLU LogSigmoid LogSoftmax Mish SELU SiLU Sigmoid Softmax Softmax2d "
            "Softmin Softplus Softsign Tanh Tanhshrink"
        ),
        "tinynet.nn.layers.transformer": (
            "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
            "TransformerEncoderLayer"
        ),
        "tinynet.nn.parallel": "parallel= DataParallel",
        "tinynet.nn.parameter": (
            "parameter= Buffer Parameter UninitializedBuffer UninitializedParameter"
        ),
    },
    "tinynet.nn.functional": {
        "tinynet.nn.grad": "grad=",
        "tinynet.nn.functional.affine": "affine= linear bilinear",
        "tinynet.nn.functional.convolution": "convolution=",
        "tinynet.nn.functional.convolution.convolution": (
            "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"
        ),
        "tinynet.nn.functional.convolution.folding": "unfold fold",
        "tinynet.nn.functional.dropouts": (
            "dropouts= dropout alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d"
        ),
        "tinynet.nn.functional.images": "images=",
        "tinynet.nn.functional.images.grid_sampling": "affine_grid grid_sample",
        "tinynet.nn.functional.images.interpolation": (
            "interpolate upsample upsample_nearest upsample_bilinear"
        ),
        "tinynet.nn.functional.images.padding": "pad",
        "tinynet.nn.functional.images.shuffle": "pixel_shuffle pixel_unshuffle channel_shuffle",
        "tinynet.nn.functional.lookup": "lookup= embedding embedding_bag",
        "tinynet.nn.functional.losses": "losses=",
        "tinynet.nn.functional.losses.classification": (
            "poisson_nll_loss gaussian_nll_loss nll_loss cross_entropy"
        ),
        "tinynet.nn.functional.losses.ctc": "ctc_loss",
        "tinynet.nn.functional.losses.linear_cross_entropy": "linear_cross_entropy",
        "tinynet.nn.functional.losses.margin": (
            "triplet_margin_loss triplet_margin_with_distance_loss margin_ranking_loss "
            "hinge_embedding_loss cosine_embedding_loss soft_margin_loss "
            "multilabel_soft_margin_loss multi_margin_loss multilabel_margin_loss"
        ),
        "tinynet.nn.functional.losses.regression": (
            "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
            "binary_cross_entropy_with_logits kl_div"
        ),
        "tinynet.nn.functional.multi_head_attention": (
            "multi_head_attention= multi_head_attention_forward"
        ),
        "tinynet.nn.functional.normalization": (
            "normalization= batch_norm group_norm instance_norm layer_norm local_response_norm "
            "rms_norm"
        ),
        "tinynet.nn.functional.piecewise_activation": (
            "piecewise_activation= hardshrink hardsigmoid hardswish hardtanh leaky_relu prelu "
            "relu relu6 rrelu softshrink threshold"
        ),
        "tinynet.nn.functional.pooling": "pooling=",
        "tinynet.nn.functional.pooling.pooling": (
            "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
            "adaptive_max_pool1d_with_indices adaptive_max_pool2d "
            "adaptive_max_pool2d_with_indices adaptive_max_pool3d "
            "adaptive_max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d "
            "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices lp_pool1d "
            "lp_pool2d lp_pool3d max_pool1d max_pool1d_with_indices max_pool2d "
            "max_pool2d_with_indices max_pool3d max_pool3d_with_indices"
        ),
        "tinynet.nn.functional.pooling.unpooling": (
            "max_unpool1d max_unpool2d max_unpool3d fractional_max_pool2d fractional_max_pool3d"
        ),
        "tinynet.nn.functional.scaled_dot_product": (
            "scaled_dot_product= scaled_dot_product_attention"
        ),
        "tinynet.nn.functional.smooth_activation": (
            "smooth_activation= celu celu_ elu elu_ gelu glu gumbel_softmax hardtanh_ leaky_relu_ "
            "log_softmax logsigmoid mish relu_ rrelu_ selu selu_ sigmoid silu softmax softmin "
            "softplus softsign tanh tanhshrink threshold_"
        ),
        "tinynet.nn.functional.vector": (
            "vector= normalize cosine_similarity pairwise_distance pdist one_hot"
        ),
    },
    "tinynet.optim": {
        "tinynet.optim.lr_scheduler": "lr_scheduler=",
        "tinynet.optim.swa_utils": "swa_utils=",
        "tinynet.optim.adadelta": "adadelta= Adadelta",
        "tinynet.optim.adafactor": "adafactor= Adafactor",
        "tinynet.optim.adagrad": "adagrad= Adagrad",
        "tinynet.optim.adam": "adam= Adam AdamW",
        "tinynet.optim.adamax": "adamax= Adamax",
        "tinynet.optim.asgd": "asgd= ASGD",
        "tinynet.optim.base": "base=",
        "tinynet.optim.base.swapping": "swap_in_optimizer_params_and_state",
        "tinynet.optim.lbfgs": "lbfgs= LBFGS",
        "tinynet.optim.muon": "muon= Muon",
        "tinynet.optim.nadam": "nadam= NAdam",
        "tinynet.optim.optimizer": "optimizer= Optimizer",
        "tinynet.optim.radam": "radam= RAdam",
        "tinynet.optim.rmsprop": "rmsprop= RMSprop",
        "tinynet.optim.rprop": "rprop= Rprop",
        "tinynet.optim.sgd": "sgd= SGD",
        "tinynet.optim.sparse_adam": "sparse_adam= SparseAdam",
    },
    "tinynet.train": {
        "tinynet.train.commands": "commands=",
        "tinynet.train.base": "base=",
        "tinynet.train.base.checkpoint_file": "CheckpointError",
        "tinynet.train.base.problems": "ConfigError Origin Problem TrainError UsageError",
        "tinynet.train.base.run_folder": "latest_run",
        "tinynet.train.config": "config=",
        "tinynet.train.config.reference": "to_toml",
        "tinynet.train.config.resolve": "load_config",
        "tinynet.train.config.sections": "Config",
        "tinynet.train.config.signatures": "Component",
        "tinynet.train.diagnose": "diagnose=",
        "tinynet.train.diagnose.changes": "ChangedWarning",
        "tinynet.train.loop": "loop=",
        "tinynet.train.loop.callback": "Callback Callbacks Moment",
        "tinynet.train.loop.fit": "Step Steps evaluate fit",
        "tinynet.train.outputs": "outputs= generate generate_text",
        "tinynet.train.run.measures": "Result",
        "tinynet.train.run.resuming": "resume",
        "tinynet.train.run.runner": "evaluate_run load_run",
        "tinynet.train.step": "step=",
        "tinynet.train.step.method": "Batch Method",
        "tinynet.train.step.task": "NonFiniteError Task Updater",
        "tinynet.train.store": "store=",
        "tinynet.train.store.storage": "StorageWarning",
        "tinynet.train.study": "study=",
        "tinynet.train.study.batch_size": "BatchSizeSearch find_batch_size",
        "tinynet.train.study.learning_rate": "RangeTest find_lr",
        "tinynet.train.trackers": "trackers=",
        "tinynet.train.trackers.tracking": "Track Tracker TrackerWarning",
    },
    "tinynet.train.commands": {
        "tinynet.train.commands.export": "export=",
        "tinynet.train.commands.finders": "finders=",
        "tinynet.train.commands.inspection": "inspection=",
        "tinynet.train.commands.predict": "predict=",
        "tinynet.train.commands.reference": "reference=",
        "tinynet.train.commands.rehearsal": "rehearsal=",
        "tinynet.train.commands.runs": "runs=",
        "tinynet.train.commands.studies": "studies=",
        "tinynet.train.commands.training": "training=",
    },
    "tinynet.train.models": {
        "tinynet.train.models.feedforward": "feedforward= GAN VAE VAELoss cnn mlp sequential",
        "tinynet.train.models.texts": "texts= GPT LSTMLanguageModel SkipGram TextClassifier",
    },
    "tinynet.train.prediction": {
        "tinynet.train.prediction.answers": "answers= Writing",
        "tinynet.train.prediction.trained": "trained= Trained",
    },
    "tinynet.train.show": {
        "tinynet.train.show.writing": "writing= costs_of write_report",
    },
    "tinynet.train.trackers": {
        "tinynet.train.trackers.services": "services= MLflow Wandb",
        "tinynet.train.trackers.tracking": "tracking= Point TrackedRun Tracker",
    },
}
