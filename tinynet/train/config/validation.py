"""The default of ``data.validation``, by what selects."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from inspect import isclass
from typing import Any

from tinynet.optim.lr_scheduler import ReduceLROnPlateau
from tinynet.train.config.sections import DataSection

_KEY = "data", "validation"


def by_default(sections: Mapping[str, Any], given: Container[tuple[str | int, ...]]) -> DataSection:
    """Return the section ``[data]``, by default without a validation set if nothing selects.

    Args:
        sections: the sections by name.
        given: the paths of the given values.
    """
    data: DataSection = sections["data"]
    compares = getattr(sections["method"].component.target, "compares", True)
    selects = compares or sections["evaluation"].monitor or _has_plateau(sections["schedule"])
    return data if selects or _KEY in given else replace(data, validation=0.0)


def _has_plateau(schedule: Any) -> bool:
    each = () if schedule is None else [schedule, *schedule.named.values()]
    targets = [one.component.target for one in each if one.component is not None]
    return any(isclass(target) and issubclass(target, ReduceLROnPlateau) for target in targets)
