"""The number of threads under mpirun."""

import pytest

from tests.unit.distributed.launching import needs_mpi, passes


@needs_mpi
@pytest.mark.parametrize("variable", ["", "1"])
def test_ranks_of_a_machine_divide_the_processors(variable):
    environment = {"OPENBLAS_NUM_THREADS": variable, "OMP_NUM_THREADS": "", "MKL_NUM_THREADS": ""}
    passes("threads.py", 2, environment=environment)


@needs_mpi
def test_the_user_may_choose_the_number_of_threads():
    passes("threads.py", 2, "chosen", environment={"OPENBLAS_NUM_THREADS": ""})
