"""Collectives, messages, groups and their refusals, under mpirun."""

import pytest

from tests.unit.distributed.launching import needs_mpi, passes


@needs_mpi
@pytest.mark.parametrize("n", [2, 4])
def test_collectives_give_what_one_process_computes(n):
    passes("collectives.py", n)
