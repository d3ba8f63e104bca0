"""``DataParallel``: one process, and one device."""

from __future__ import annotations

from typing import Any

from tinynet.nn.base.module import Module


class DataParallel(Module):
    """A wrapper that runs its module: there is a single device to spread a batch over.

    It has the parameters of ``module``, with names that begin with ``module.``.

    Args:
        module: the module to run.
        device_ids, output_device, dim: ignored.

    Shape:
        That of ``module``.

    Raises:
        Exception: any exception that ``module`` raises.

    Example:
        >>> net = nn.DataParallel(nn.Linear(2, 3))
        >>> net(tn.ones(4, 2)).shape, list(net.state_dict())
        (tinynet.Size([4, 3]), ['module.weight', 'module.bias'])
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ):
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """Return ``module(*inputs)``: there is a single device.

    Args:
        module: the module to run.
        inputs: one input, or a tuple of them.
        device_ids, output_device, dim: ignored.
        module_kwargs: keyword arguments of the module.

    Raises:
        Exception: any exception that ``module`` raises.

    Example:
        >>> from tinynet.nn.parallel import data_parallel
        >>> data_parallel(nn.ReLU(), tn.tensor([-1.0, 1.0]))
        tensor([0., 1.])
    """
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*arguments, **(module_kwargs or {}))
