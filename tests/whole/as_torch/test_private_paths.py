"""Names that programs import from PyTorch's private modules."""

import importlib
import os
from types import ModuleType

import pytest

import tinynet as tn
from tinynet.compat import hub, paths


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("torch", "_disable_dynamo"),
        ("torch", "from_dlpack"),
        ("torch", "OutOfMemoryError"),
        ("torch.cuda", "OutOfMemoryError"),
        ("torch._dynamo.exc", "BackendCompilerFailed"),
        ("torch._dynamo.exc", "TorchDynamoException"),
        ("torch._dynamo.exc", "Unsupported"),
        ("torch.distributed.fsdp._flat_param", "FlatParameter"),
        ("torch.distributed.fsdp.api", "ShardedStateDictConfig"),
        ("torch.distributed.fsdp.wrap", "transformer_auto_wrap_policy"),
        ("torch.distributed.tensor", "zeros"),
        ("torch.nn.modules.transformer", "_get_activation_fn"),
        ("torch.nn.parallel", "gather"),
        ("torch.nn.utils.convert_parameters", "_check_param_device"),
        ("torch.nn.parallel", "parallel_apply"),
        ("torch.nn.parallel", "replicate"),
        ("torch.nn.parallel", "scatter"),
        ("torch.optim.optimizer", "StateDict"),
        ("torch.utils._foreach_utils", "_foreach_supported_types"),
        ("torch.utils._foreach_utils", "_get_foreach_kernels_supported_devices"),
    ],
)
def test_they_are_there(path, name):
    assert any(hasattr(home, name) for home in paths.homes_of(path))


def test_what_files_import_from_their_neighbours_is_there():
    for beginning, names in paths._IMPORTED.items():
        assert any(path.startswith(beginning) for path in paths.PATHS)
        for name in names.split():
            module, _, last = paths.source_of(beginning, name).rpartition(".")
            served = module in paths.PATHS
            homes = paths.homes_of(module) if served else [importlib.import_module(module)]
            assert any(hasattr(home, last) for home in homes), name


def test_a_function_without_dynamo_runs():
    (disable,) = (home._disable_dynamo for home in paths.homes_of("torch")[:1])
    assert disable(abs)(-2) == 2 and disable(recursive=False)(abs)(-3) == 3


def test_the_hub_has_a_home(monkeypatch):
    monkeypatch.setenv("TORCH_HOME", os.path.join("~", "weights"))
    home = os.path.expanduser(os.path.join("~", "weights"))
    assert hub._get_torch_home() == home and hub.get_dir() == os.path.join(home, "hub")


def test_parameters_list_the_hooks_that_follow_their_gradients():
    weight = tn.nn.Parameter(tn.ones(2))
    assert weight._post_accumulate_grad_hooks is None
    handle = weight.register_post_accumulate_grad_hook(print)
    assert list(weight._post_accumulate_grad_hooks.values()) == [print]
    handle.remove()
    assert not weight._post_accumulate_grad_hooks


def test_serving_a_submodule_leaves_the_globals_of_its_parent():
    replaced = []
    for child in paths.PATHS:  # importing it sets the attribute of its parent, as Python does
        parent, _, name = child.rpartition(".")
        for module in paths.homes_of(parent) if parent in paths.PATHS else []:
            own = vars(module).get(name)
            if len(paths.PATHS[parent].split()) == 1 and isinstance(own, ModuleType):
                # Its own submodule, or one that another test has served there.
                served = child.replace("torch.", "tinynet.", 1)
                inside = own.__name__ in (f"{module.__name__}.{name}", child, served)
                replaced += [] if inside or own in paths.homes_of(child) else [child]
    assert not replaced
