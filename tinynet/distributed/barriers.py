"""A barrier that names the ranks that do not arrive."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from tinynet.distributed.channel import TAGS, Patience
from tinynet.distributed.process_group import ProcessGroup, member

TAG = TAGS + 600


def monitored_barrier(
    group: Any = None,
    timeout: datetime.timedelta | None = None,
    wait_all_ranks: bool = False,
) -> None:
    """Wait until all ranks have called this, and name a rank that does not.

    Args:
        group: the group; by default all ranks.
        timeout: the longest time to wait; by default the timeout of the group.
        wait_all_ranks: name all ranks that are missing, not only the first.

    Raises:
        RuntimeError: a rank did not arrive in time. Rank 0 names it.

    Example:
        >>> tn.distributed.monitored_barrier(timeout=timedelta(seconds=10))  # doctest: +SKIP
    """
    pg = member(group, "monitored_barrier")
    if pg is None:
        return
    seconds = (timeout or pg.timeout).total_seconds()
    if pg.rank() == 0:
        _wait_for_others(pg, seconds, wait_all_ranks)
    else:
        _report_to_first(pg, seconds)


def _wait_for_others(pg: ProcessGroup, seconds: float, wait_all_ranks: bool) -> None:
    others = range(1, pg.size())
    tokens = {rank: np.zeros(1, np.uint8) for rank in others}
    requests = {rank: pg.channel.receive(tokens[rank], rank, TAG) for rank in others}
    missing: list[int] = []

    def all_arrived() -> bool:
        missing[:] = [rank for rank, request in requests.items() if not request.Test()]
        return not missing

    def late() -> Exception:
        named = missing if wait_all_ranks else missing[:1]
        ranks = ", ".join(str(pg.ranks[rank]) for rank in named)
        return RuntimeError(
            f"Rank{'s' * (len(named) > 1)} {ranks} failed to pass monitoredBarrier in "
            f"{seconds * 1000:.0f} ms"
        )

    Patience(seconds, late).wait(all_arrived)
    pg.channel.exchange(list(tokens.items()), [], pg.patience("monitored_barrier"), TAG)


def _report_to_first(pg: ProcessGroup, seconds: float) -> None:
    def late() -> Exception:
        return RuntimeError(
            f"Rank {pg.ranks[pg.rank()]} successfully reached monitoredBarrier, but received "
            f"errors while waiting for rank {pg.ranks[0]}: no answer in {seconds * 1000:.0f} ms. "
            f"Please check rank {pg.ranks[0]} logs for faulty rank."
        )

    token = np.zeros(1, np.uint8)
    patience = Patience(seconds, late)
    pg.channel.exchange([(0, token)], [], patience, TAG)
    pg.channel.exchange([], [(0, token)], patience, TAG)
