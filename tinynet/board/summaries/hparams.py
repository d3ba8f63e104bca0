"""Hyperparameters of runs and their results: the HParams tab."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.summaries.family import Family, as_number, as_step, check_tag
from tinynet.core.tensors.tensor import Tensor

_NAMES = {
    bool: ("bool_value", "DATA_TYPE_BOOL"),
    float: ("number_value", "DATA_TYPE_FLOAT64"),
    str: ("string_value", "DATA_TYPE_STRING"),
}
_PLUGIN_VERSION = 0


class Hparams(Family):
    """The methods of SummaryWriter for hyperparameters."""

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Write hyperparameters and results as a separate run in a subfolder.

        Args:
            hparam_dict: name -> number, bool, str or one-element tensor; None is skipped.
            metric_dict: name -> number. The names are scalar tags: use other names than for
                this run's curves.
            hparam_domain_discrete: name -> all possible values, which the tab lists.
            run_name: the folder below `log_dir`; the current time by default.
            global_step: the step of all values; 0 by default.

        Raises:
            TypeError: an argument is not a dictionary, or a domain not a list of such values.
            ValueError: a hyperparameter has another type.

        Example:
            >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
            >>> from tinynet.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/example") as writer:
            ...     writer.add_hparams({"lr": 0.1, "optimizer": "SGD"}, {"final/loss": 0.5})
        """
        if not (isinstance(hparam_dict, Mapping) and isinstance(metric_dict, Mapping)):
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        summaries = hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        metrics = {name: as_number(name, value) for name, value in metric_dict.items()}
        step, when = as_step(global_step, "add_hparams"), time.time()
        folder = os.path.join(self.log_dir, run_name or str(when))
        for summary in summaries:
            (value,) = summary.value
            self._summary(value.tag, step, when, folder, metadata=value.metadata)
        for name, metric in metrics.items():
            self._summary(name, step, when, folder, simple_value=metric)


def hparams(
    hparam_dict: Mapping[str, Any] | None = None,
    metric_dict: Mapping[str, Any] | None = None,
    hparam_domain_discrete: Mapping[str, list[Any]] | None = None,
) -> tuple[Any, Any, Any]:
    """Return the events of `add_hparams` other than results, for `file_writer.add_summary`.

    Use it to write hyperparameters into the same run as the curves.

    Args:
        hparam_dict, hparam_domain_discrete: as in `SummaryWriter.add_hparams`.
        metric_dict: its names are the curves that the HParams tab shows.

    Returns:
        Three ``Summary`` messages: the experiment, the beginning and the end of the session.

    Raises:
        TypeError: an argument is not a dictionary, or a domain not a list of such values.
        ValueError: a hyperparameter has another type.

    Example:
        >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
        >>> from tinynet.utils.tensorboard import SummaryWriter
        >>> from tinynet.utils.tensorboard.summary import hparams
        >>> with SummaryWriter("runs/example") as writer:
        ...     for summary in hparams({"lr": 0.1}, {"loss": 0}):
        ...         writer.file_writer.add_summary(summary)
        ...     writer.add_scalar("loss", 0.5, global_step=1)
    """
    domains = hparam_domain_discrete or {}
    _check(hparam_dict, metric_dict, domains)
    assert hparam_dict is not None and metric_dict is not None
    values = {name: _value(v) for name, v in hparam_dict.items() if v is not None}
    domains = {name: [_value(one) for one in domain] for name, domain in domains.items()}
    when = time.time()
    end = tensorboardx.load().SessionEndInfo(status="STATUS_SUCCESS", end_time_secs=when)
    return (
        _summary("experiment", _experiment(values, metric_dict, domains)),
        _summary("session_start_info", _start(values, when)),
        _summary("session_end_info", end),
    )


def _summary(field: str, message: Any) -> Any:
    messages = tensorboardx.load()
    content = messages.HParamsPluginData(version=_PLUGIN_VERSION, **{field: message})
    metadata = tensorboardx.metadata("hparams", content.SerializeToString())
    value = messages.Summary.Value(tag=f"_hparams_/{field}", metadata=metadata)
    return messages.Summary(value=[value])


def _check(hparams: Any, metrics: Any, domains: Any) -> None:
    named = {
        "hparam_dict": hparams,
        "metric_dict": metrics,
        "hparam_domain_discrete": domains,
    }
    for name, given in named.items():
        if not isinstance(given, Mapping):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
        for key in given:
            check_tag(key, "add_hparams")
    for name, domain in domains.items():
        known = name in hparams and isinstance(domain, list)
        if not known or not all(isinstance(one, type(hparams[name])) for one in domain):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                f"hparam_dict[{name}]."
            )


def _value(value: Any) -> bool | float | str:
    found = value._array if isinstance(value, Tensor) else value
    if isinstance(found, (np.ndarray, np.generic)) and found.size == 1:
        found = found.item()
    if isinstance(found, (bool, str)):
        return found
    if isinstance(found, (int, float)):
        return float(found)
    raise ValueError("value should be one of int, float, str, bool, or tinynet.Tensor")


def _experiment(
    values: dict[str, bool | float | str],
    metrics: Mapping[str, Any],
    domains: Mapping[str, list[bool | float | str]],
) -> Any:
    messages = tensorboardx.load()
    infos = []
    for name, value in values.items():
        field, kind = _NAMES[type(value)]
        info = messages.HParamInfo(name=name, type=kind)
        for one in domains.get(name, ()):
            info.domain_discrete.values.add(**{field: one})
        infos.append(info)
    names = [messages.MetricInfo(name=messages.MetricName(tag=name)) for name in metrics]
    return messages.Experiment(hparam_infos=infos, metric_infos=names)


def _start(values: dict[str, bool | float | str], when: float) -> Any:
    start = tensorboardx.load().SessionStartInfo(start_time_secs=when)
    for name, value in values.items():
        setattr(start.hparams[name], _NAMES[type(value)][0], value)
    return start
