"""Writes names.json and modules.json, PyTorch's public names and modules.

`python -m docs.coverage.record` (needs PyTorch).
"""

import importlib
import inspect
import json
import pkgutil
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

# namespace -> "classes", "functions" or "all" (classes and functions; for Tensor, attributes)
NAMESPACES = {
    "torch": "all",
    "torch.autograd": "all",
    "torch.func": "all",
    "torch.compiler": "functions",
    "torch.special": "functions",
    "torch.nn": "classes",
    "torch.nn.functional": "functions",
    "torch.nn.init": "functions",
    "torch.nn.utils": "all",
    "torch.nn.utils.rnn": "all",
    "torch.nn.utils.parametrize": "all",
    "torch.nn.utils.parametrizations": "functions",
    "torch.nn.utils.stateless": "functions",
    "torch.linalg": "all",
    "torch.masked": "functions",
    "torch.signal.windows": "functions",
    "torch.Tensor": "attributes",
    "torch.optim": "classes",
    "torch.optim.lr_scheduler": "classes",
    "torch.optim.swa_utils": "all",
    "torch.utils.data": "all",
    "torch.distributions": "all",
    "torch.distributions.constraints": "all",
}
# Helpers that these modules import or define for themselves.
INTERNAL = set(
    "assert_int_or_pair boolean_dispatch handle_torch_function has_torch_function bind "
    "has_torch_function_unary has_torch_function_variadic copy_method_params "
    "PackedSequence_".split()
)


def names_of(namespace: str, kind: str) -> list[str]:
    """The public names of one namespace."""
    parent, _, last = namespace.rpartition(".")
    if kind == "attributes":
        return [n for n in dir(getattr(torch, last)) if not n.startswith("_")]
    module = importlib.import_module(namespace)
    return [n for n in dir(module) if belongs(n, getattr(module, n), namespace, kind)]


def belongs(name: str, value: object, namespace: str, kind: str) -> bool:
    """Whether a name of a module is one that its users are meant to use."""
    if name.startswith("_") or name in INTERNAL or inspect.ismodule(value) or not callable(value):
        return False
    home = getattr(value, "__module__", None) or ""
    if inspect.isclass(value):
        imported = namespace != "torch.nn" and not home.startswith(namespace)
        return kind != "functions" and home.startswith("torch") and not imported
    if kind == "classes":
        return False
    if isinstance(value, types.BuiltinFunctionType) or namespace == "torch.nn.functional":
        return home.startswith("torch") or not home
    return home.startswith(namespace)


def modules_in(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """The public modules below a package, found without importing them."""
    for info in pkgutil.iter_modules(folders, prefix):
        name = info.name.rpartition(".")[2]
        if not name.startswith("_"):
            yield info.name
            if info.ispkg:
                inside = [str(Path(folder) / name) for folder in folders]
                yield from modules_in(inside, f"{info.name}.")


if __name__ == "__main__":
    found = {space: names_of(space, kind) for space, kind in NAMESPACES.items()}
    lines = [f"{json.dumps(space)}: {json.dumps(names)}" for space, names in found.items()]
    head = f'"PyTorch": "{torch.__version__.split("+")[0]}"'
    text = "{\n" + ",\n".join([head, *lines]) + "\n}\n"
    Path(__file__).with_name("names.json").write_text(text, encoding="utf-8")
    print({space: len(names) for space, names in found.items()})
    modules = ["torch", *modules_in([*torch.__path__], "torch.")]
    text = json.dumps(modules, indent=0) + "\n"
    Path(__file__).with_name("modules.json").write_text(text, encoding="utf-8")
