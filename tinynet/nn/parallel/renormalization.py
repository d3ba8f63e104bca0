"""``max_norm`` of embeddings: the same rows are scaled on all ranks, as often and in one order.

A look-up scales the rows that it returns, and each rank looks up others. Scaling a row twice may
round twice, so ranks must agree on the number of times, too. Rank k scales the rows of the ranks 0
to k before its look-up, and those of the others after its backward pass: then each look-up sees
what it would see if one process computed the batches of all ranks in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinynet.core.tensors.tensor import Tensor
from tinynet.distributed.objects import all_gather_object
from tinynet.distributed.process_group import ProcessGroup
from tinynet.dtypes import Array
from tinynet.nn.functional.lookup import check_rows, renormalise_rows

Lookup = tuple[Array, float, float]  # the distinct rows, max_norm and norm_type


class Renormalization:
    """What scales the rows of one weight.

    Args:
        weight: the weight of embeddings.
        group: the ranks that have a copy of it.

    Attributes:
        is_shared: a forward pass of all ranks is running, in which they make the same look-ups.
    """

    def __init__(self, weight: Tensor, group: ProcessGroup):
        self.weight, self.group = weight, group
        self.is_shared = False
        self._own: list[Lookup] = []  # of this rank alone, which the others have not scaled
        self._later: list[Lookup] = []  # of higher ranks

    def __call__(self, indices: Array, max_norm: float, norm_type: float) -> None:
        """Scale rows before a look-up."""
        check_rows(self.weight, indices)
        lookup = (np.unique(indices), max_norm, norm_type)
        if not self.is_shared:
            self._own.append(lookup)
            renormalise_rows(self.weight, *lookup)
            return
        lookups = self._exchange(lookup)
        for rows in lookups[: self.group.rank() + 1]:
            renormalise_rows(self.weight, *rows)
        self._later += lookups[self.group.rank() + 1 :]

    def _exchange(self, lookup: Any) -> list[Any]:
        """Return what each rank passes; scale the rows that single ranks have looked up."""
        every: list[Any] = [None] * self.group.size()
        all_gather_object(every, (self._own, lookup), group=self.group)
        self._own = []
        for rank, (others, _) in enumerate(every):
            for rows in others if rank != self.group.rank() else ():
                renormalise_rows(self.weight, *rows)
        return [found for _, found in every]

    def complete(self) -> None:
        """Scale the rows of the look-ups of higher ranks."""
        later, self._later = self._later, []
        for rows in later:
            renormalise_rows(self.weight, *rows)
