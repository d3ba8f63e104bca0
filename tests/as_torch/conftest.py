"""The door is imported here once, and closed again: for other tests torch stays what it is."""

import sys

collect_ignore = ["scripts"]

finders, torch = [*sys.meta_path], sys.modules.pop("torch", None)
import tinynet.as_torch  # noqa: E402, F401

sys.meta_path[:] = finders
if torch is not None:
    sys.modules["torch"] = torch
