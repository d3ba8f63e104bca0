"""What scripts ask of the runtime and of other devices."""

import functools
import inspect

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim


def test_threads_of_matrix_products():
    before = tn.get_num_threads()
    try:
        tn.set_num_threads(1)
        assert tn.get_num_threads() == 1
        assert (tn.ones(64, 64) @ tn.ones(64, 64))[0, 0].item() == 64.0
    finally:
        tn.set_num_threads(before)
    assert tn.get_num_threads() == before >= 1
    with pytest.raises(RuntimeError, match="expects a positive integer"):
        tn.set_num_threads(0)
    with pytest.raises(TypeError, match="expects an int, but got float"):
        tn.set_num_threads(1.0)


def test_a_script_that_would_use_a_gpu_runs_on_the_cpu():
    device = tn.device("cuda" if tn.cuda.is_available() else "cpu")
    assert str(device) == "cpu" and tn.cuda.device_count() == 0 and not tn.cuda.is_initialized()
    assert not tn.backends.mps.is_available() and not tn.backends.cudnn.is_available()
    tn.backends.cudnn.benchmark = True
    tn.backends.cuda.matmul.allow_tf32 = True
    tn.cuda.manual_seed_all(0)
    tn.cuda.empty_cache()
    tn.cuda.synchronize()
    with pytest.raises(RuntimeError, match="no current GPU"):
        tn.cuda.current_device()
    tn.use_deterministic_algorithms(True)
    assert tn.are_deterministic_algorithms_enabled()
    assert not tn.is_deterministic_algorithms_warn_only_enabled()
    tn.backends.cudnn.benchmark = False


# ---- arguments that many functions take ----------------------------------------------------------

LENGTHS = """in_features out_features in1_features in2_features in_channels out_channels high p
    num_features num_embeddings embedding_dim embed_dim num_heads d_model nhead input_size
    hidden_size kernel_size num_classes num_groups normalized_shape sz n row col steps num_channels
    num_samples window_length""".split()
OPTIONAL = {
    "normal": {"size": (2,)},
    "randint": {"high": 4, "size": (2,)},
    "randint_like": {"high": 4},
}
NAMED_AFTER_DEVICES = {"cuda", "ipu", "mtia", "xpu"}  # methods of modules, which always refuse
# What these do without a GPU, in PyTorch too: nothing.
IGNORE_DEVICES = {
    *("synchronize", "device", "ipc_collect", "is_pinned", "max_memory_cached"),
    *("reset_accumulated_memory_stats", "memory_stats", "memory_stats_as_nested_dict"),
}


def parameters_of(function):
    try:
        return inspect.signature(function).parameters
    except ValueError:  # an exception that takes what all exceptions take
        return {}


def taking(parameter):
    """The public functions, classes and methods with this parameter, each once, by their names."""
    places = [tn, tn.Tensor, tn.amp, tn.cuda, tn.autograd, tn.data, tn.data.transforms, tn.linalg]
    places += [tn.special, nn, nn.Module, nn.Transformer, nn.functional, nn.init, nn.utils, optim]
    places += [optim.lr_scheduler, optim.swa_utils]
    found = {}
    for place in places:
        for name in vars(place):
            value = getattr(place, name)
            called = inspect.isfunction(value) or inspect.isclass(value)
            public = not name.startswith("_") and name != "numbers_of"  # of a module's neighbours
            if called and public and parameter in parameters_of(value):
                found[value] = name
    return sorted(((name, value) for value, name in found.items()), key=lambda pair: pair[0])


def values_for(name):
    """What required arguments are given, by their names."""
    return {
        **dict.fromkeys(LENGTHS, 4),
        **{"data": [1.0], "obj": [1.0], "fill_value": 1.0, "start": 0.0, "end": 1.0, "s": 1.0},
        **{"buffer": bytearray(8), "dtype": tn.uint8, "stride": (1,), "size": (2,), "low": 1},
        **{"n_classes": 8, "cutoffs": [4], "mode": "GRU", "bias": True, "num_chunks": 4},
        **{"dataset": [1, 2], "data_source": [1, 2], "indices": [1], "weights": [1.0]},
        **{"transforms": [abs], "lengths": [1, 1], "sparsity": 0.5, "loader": [], "seed": 1},
        **{"input": tn.ones(2), "tensor": tn.ones(2, 2), "count": tn.ones(2), "prob": tn.ones(2)},
        **{"model": nn.Linear(2, 2), "mean": tn.ones(2), "filename": __file__},
        **{"degrees": 10, "bits": 2, "threshold": 0.5, "sharpness_factor": 2.0},
        "physical_layout": (0,),
        "self": nn.Linear(2, 2) if name in {"to_empty", *NAMED_AFTER_DEVICES} else tn.ones(2),
        **{
            "GaussianBlur": {"kernel_size": 3},
            "geometric_": {"p": 0.5},
            "multinomial": {"num_samples": 1},
            "sparse_coo_tensor": {"indices": [[0]], "values": [1.0]},
        }.get(name, {}),
    }


def call(name, function, **given):
    values, positional = values_for(name), []
    given = {**OPTIONAL.get(name, {}), **given}
    for key, parameter in parameters_of(function).items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += [2] if key == "size" else []
        elif parameter.default is parameter.empty and key not in given:
            if parameter.kind is parameter.KEYWORD_ONLY:
                given[key] = values[key]
            elif parameter.kind is not parameter.VAR_KEYWORD:
                positional.append(values[key])
    return function(*positional, **given)


@pytest.mark.filterwarnings("ignore:tinynet.range is deprecated", "ignore:The argument 'device'")
@pytest.mark.parametrize(("name", "function"), taking("device"))
def test_nobody_takes_another_device_than_the_cpu(name, function):
    if name in ("GradScaler", "pin_memory"):  # off, or an error, on a machine without a GPU
        return
    if name in NAMED_AFTER_DEVICES:
        with pytest.raises(RuntimeError, match="^tinynet runs on the cpu only"):
            call(name, function)
        return
    for device in (None, "cpu", "cpu:0", tn.device("cpu")):
        call(name, function, device=device)
    if name in IGNORE_DEVICES:
        call(name, function, device="cuda")
        return
    for device in ("cuda", "cuda:0", "meta", "bogus", "cpu:", "cpu:x", 0):
        with pytest.raises((RuntimeError, TypeError) if device == 0 else RuntimeError) as raised:
            call(name, function, device=device)
        expected = f"tinynet runs on the cpu only. Got device {device!r} instead."
        first, *fix = str(raised.value).splitlines()
        assert first == expected or device == 0
        assert bool(fix) == (str(device).startswith(("cuda", "meta", "cpu")))


@pytest.mark.parametrize(("name", "function"), taking("generator"))
def test_a_generator_is_one_of_tinynet(name, function):
    for generator in (None, tn.Generator()):
        call(name, function, generator=generator)
    for wrong in (0, 3, np.random.default_rng()):
        with pytest.raises(TypeError, match="tinynet.Generator"):
            call(name, function, generator=wrong)


def test_who_wanted_a_generator():
    with pytest.raises(TypeError) as raised:
        tn.ones(2).uniform_(generator=3)
    assert str(raised.value) == (
        "uniform_(): argument 'generator' must be tinynet.Generator, not int"
    )


def test_layers_without_parameters_refuse_devices_too():
    table = tn.ones(2, 2)
    for make in (
        functools.partial(nn.BatchNorm1d, 2, affine=False, track_running_stats=False),
        functools.partial(nn.LazyBatchNorm2d, affine=False, track_running_stats=False),
        functools.partial(nn.LayerNorm, 2, elementwise_affine=False),
        functools.partial(nn.RMSNorm, 2, elementwise_affine=False),
        functools.partial(nn.GroupNorm, 1, 2, affine=False),
        functools.partial(nn.Embedding, 2, 2, _weight=table),
        functools.partial(nn.EmbeddingBag, 2, 2, _weight=table),
        functools.partial(nn.Transformer, custom_encoder=nn.ReLU(), custom_decoder=nn.ReLU()),
    ):
        make(device="cpu")
        with pytest.raises(RuntimeError, match="^tinynet runs on the cpu only. Got device 'cuda'"):
            make(device="cuda")
