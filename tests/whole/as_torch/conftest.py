"""The door is imported here once, and closed again: for other tests torch stays what it is."""

import sys

import tinynet
from tinynet import nn
from tinynet.base import lazy

types = [value for home in (tinynet, nn.parameter) for value in lazy.members(home).values()]
modules = {value: value.__module__ for value in types if isinstance(value, type)}
finders, torch = [*sys.meta_path], sys.modules.pop("torch", None)
import tinynet.as_torch  # noqa: E402

sys.meta_path[:] = finders
if torch is not None:
    sys.modules["torch"] = torch
for renamed in (cls for classes in tinynet.as_torch.hook.RENAMED.values() for cls in classes):
    renamed.__module__ = modules[renamed]
