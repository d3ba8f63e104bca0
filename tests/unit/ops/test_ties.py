"""Of equal elements, topk and kthvalue take the first ones, as a stable sort does."""

import numpy as np
import pytest

import tinynet as tn


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("dim", [0, 1])
def test_first_indices(dtype, dim):
    random = np.random.RandomState(0)
    for _ in range(60):
        array = random.randint(0, 4, random.randint(1, 40, 2)).astype(dtype)
        if array.dtype.kind == "f":
            array[random.random_sample(array.shape) < 0.2] = np.nan
        x, n = tn.tensor(array), array.shape[dim]
        k = int(random.randint(1, n + 1))
        for largest in (True, False):
            order = x.sort(dim, descending=largest, stable=True).indices
            found = x.topk(k, dim, largest=largest).indices
            assert tn.equal(found, order.narrow(dim, 0, k))
        order = x.sort(dim, stable=True).indices
        assert tn.equal(x.kthvalue(k, dim).indices, order.select(dim, k - 1))
