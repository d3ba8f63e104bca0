"""The sampler for distributed training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any

from tinynet.data.loading.sampler import Sampler, permutation
from tinynet.distributed.groups import get_rank, get_world_size
from tinynet.random import Generator


class DistributedSampler(Sampler[int]):
    """One process's share of a dataset: every ``num_replicas``-th index, starting at ``rank``.

    The order depends only on ``seed`` and the epoch, so all processes draw the same one and their
    shares are disjoint. The shares have equal size: indices from the front are repeated at the
    end, or, with ``drop_last``, the tail is dropped.

    Args:
        dataset: the dataset, for its length.
        num_replicas: the number of processes, by default that of the default process group.
        rank: the number of this process, from 0, by default its rank in that group.
        shuffle: draw a new order in each epoch; call `set_epoch` before each.
        seed: must be the same in all processes.
        drop_last: drop the tail instead of repeating the front.

    Raises:
        ValueError: ``rank`` is not below ``num_replicas``; or one of them is missing, and
            `distributed.init_process_group` has not been called.

    Example:
        >>> for rank in range(2):
        ...     share = tn.data.DistributedSampler(range(5), 2, rank, shuffle=False)
        ...     print(list(share))
        [0, 2, 4]
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        share = len(dataset) / num_replicas
        self.num_samples = math.floor(share) if drop_last else math.ceil(share)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        order = list(range(n))
        if self.shuffle:
            seeded = Generator().manual_seed(self.seed + self.epoch)
            order = permutation(n, seeded, "DistributedSampler")
        if n:
            order *= math.ceil(self.total_size / n)
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the next epoch, which determines the order.

        Example:
            >>> share = tn.data.DistributedSampler(range(100), num_replicas=4, rank=1)
            >>> first = list(share)
            >>> share.set_epoch(1)
            >>> list(share) != first
            True
        """
        self.epoch = epoch

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`: the epoch."""
        return {"epoch": self.epoch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the epoch of a state returned by `state_dict`."""
        self.epoch = state["epoch"]
