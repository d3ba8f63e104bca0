"""DistributedDataParallel under mpirun.

The short form starts 3 processes, so that shares are uneven and no power of two; the full form
(``--full``) 2 and 4, too.
"""

import pytest

from tests.unit.distributed.launching import needs_mpi, passes

NUMBERS = [pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(4, marks=pytest.mark.slow)]


@needs_mpi
@pytest.mark.parametrize("n", NUMBERS)
def test_weights_are_those_of_one_process_to_the_bit(n):
    passes("data_parallel.py", n)


@needs_mpi
@pytest.mark.parametrize("n", NUMBERS[:2])
def test_options_and_refusals(n):
    passes("data_parallel_options.py", n)


@needs_mpi
@pytest.mark.parametrize("n", NUMBERS)
def test_batch_norm_in_sync_is_that_of_the_joined_batch(n):
    passes("sync_batch_norm.py", n)


@needs_mpi
@pytest.mark.parametrize("n", NUMBERS[:2])
def test_optimizers_in_shards_give_the_same_weights(n):
    passes("zero_redundancy.py", n)
