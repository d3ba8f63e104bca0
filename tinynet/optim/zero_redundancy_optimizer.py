"""An optimizer whose state is distributed over processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinynet.core.modes import enable_grad
from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.objects import all_gather_object
from tinynet.distributed.process_group import ProcessGroup, default_group
from tinynet.nn.parallel.module_state import broadcast_coalesced
from tinynet.optim.base.groups import Group, Params
from tinynet.optim.optimizer import Optimizer


class ZeroRedundancyOptimizer(Optimizer):
    """A wrapper that keeps the state of each parameter on one rank only.

    Each rank updates its own share of the parameters and then sends it to the others. Averages of
    Adam, for example, take ``1 / n`` of the memory. The weights equal the wrapped optimizer's,
    to the bit, as long as it treats each parameter by itself.

    Args:
        params: as of an optimizer, the same on all ranks.
        optimizer_class: the optimizer of each share, such as ``optim.Adam``.
        process_group: the ranks; by default all.
        parameters_as_bucket_view: without effect.
        overlap_with_ddp: False; True is not supported.
        **defaults: the options of ``optimizer_class``.

    Attributes:
        optim: the optimizer of this rank's share.

    Raises:
        ValueError: there is no process group; or as ``optimizer_class``.
        NotImplementedError: ``overlap_with_ddp`` is True.

    Source: stage 1 of Rajbhandari, Rasley, Ruwase and He, "ZeRO: memory optimizations toward
    training trillion parameter models", 2020, arXiv:1910.02054.

    Example:
        >>> from tinynet.distributed.optim import ZeroRedundancyOptimizer
        >>> net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))  # doctest: +SKIP
        >>> optimizer = ZeroRedundancyOptimizer(
        ...     net.parameters(), optim.Adam, lr=0.01
        ... )  # doctest: +SKIP
    """

    def __init__(
        self,
        params: Params,
        optimizer_class: type[Optimizer],
        process_group: ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ):
        if overlap_with_ddp:
            raise NotImplementedError(
                "tinynet's ZeroRedundancyOptimizer has no overlap_with_ddp: omit the argument."
            )
        self.process_group = default_group() if process_group is None else process_group
        self.world_size, self.rank = self.process_group.size(), self.process_group.rank()
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optimizer_class = optimizer_class
        self._sizes = [0] * self.world_size  # elements on each rank
        self._owner: dict[Tensor, int] = {}
        self._all_states: list[dict[str, Any]] | None = None
        super().__init__(params, defaults)
        for group in self.param_groups:
            self._distribute(group)
        own = [self._share(group) for group in self.param_groups]
        self.optim = optimizer_class(own, **defaults)
        self.defaults = self.optim.defaults
        self._share_options(self.optim.param_groups, self.param_groups)
        self.state = self.optim.state

    def _distribute(self, group: Group) -> None:
        """Assign the parameters of a group to ranks: the largest first, to the emptiest rank."""
        for p in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
            rank = self._sizes.index(min(self._sizes))
            self._owner[p] = rank
            self._sizes[rank] += p.numel()

    def _share(self, group: Group) -> Group:
        own = [p for p in group["params"] if self._owner[p] == self.rank]
        return {k: v for k, v in group.items() if k != "param_names"} | {"params": own}

    @staticmethod
    def _share_options(source: list[Group], target: list[Group]) -> None:
        if len(source) != len(target):
            raise RuntimeError(
                "param_groups no longer has the groups that ZeroRedundancyOptimizer distributed "
                "among the ranks. Add a group with add_param_group(), and make a new optimizer to "
                "remove one."
            )
        for old, new in zip(source, target, strict=True):
            new.update({k: v for k, v in old.items() if k not in ("params", "param_names")})

    def add_param_group(self, param_group: Group) -> None:
        """Add a parameter group, and distribute it; see `Optimizer`."""
        super().add_param_group(param_group)
        if hasattr(self, "optim"):
            self._distribute(self.param_groups[-1])
            self.optim.add_param_group(self._share(self.param_groups[-1]))
            self._share_options(self.optim.param_groups, self.param_groups)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the share of this rank, then receive the other ranks' shares; see `Optimizer`."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._share_options(self.param_groups, self.optim.param_groups)
        if self._sizes[self.rank]:
            self.optim.step()
        self._share_options(self.optim.param_groups, self.param_groups)
        for rank in range(self.world_size):
            owned = [p for p, owner in self._owner.items() if owner == rank]
            broadcast_coalesced(owned, self.process_group, rank)
        return loss

    # ---- saving ------------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Collect the state of all ranks on one of them; all ranks must call this.

        Args:
            to: the rank in the group whose ``state_dict()`` then returns everything.
        """
        self._share_options(self.param_groups, self.optim.param_groups)
        states: list[Any] = [None] * self.world_size
        all_gather_object(states, self.optim.state_dict(), group=self.process_group)
        self._all_states = states if self.rank == to else None

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all ranks, as the wrapped optimizer would.

        Raises:
            RuntimeError: `consolidate_state_dict` has not collected it on this rank.
        """
        if self._all_states is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant "
                "to save the global state."
            )
        made = super().state_dict()
        made["state"] = {}
        for rank, states in enumerate(self._all_states):
            numbers = self._numbers(rank)
            for place, state in states["state"].items():
                made["state"][numbers[place]] = state
        made["state"] = dict(sorted(made["state"].items()))
        return made

    def _numbers(self, rank: int) -> list[int]:
        """Return the numbers of a rank's parameters in the whole state."""
        every = [p for group in self.param_groups for p in group["params"]]
        return [number for number, p in enumerate(every) if self._owner[p] == rank]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the share of this rank from the state of all; see `Optimizer`."""
        super().load_state_dict({**state_dict, "state": {}})
        numbers, start, groups = self._numbers(self.rank), 0, []
        own = {number: place for place, number in enumerate(numbers)}
        for saved, group in zip(state_dict["param_groups"], self.optim.param_groups, strict=True):
            places = list(range(start, start + len(group["params"])))
            start += len(places)
            groups.append({**saved, "params": places})
        state = {own[k]: v for k, v in state_dict["state"].items() if k in own}
        self.optim.load_state_dict({"state": state, "param_groups": groups})
        self.state = self.optim.state
        self._all_states = None

    def __getstate__(self) -> dict[str, Any]:
        raise RuntimeError(
            "A ZeroRedundancyOptimizer cannot be pickled: save its state_dict() after "
            "consolidate_state_dict()."
        )
