"""nn.init: what is not random, and what is refused; see also tests/unit/nn/test_init.py."""

from __future__ import annotations

import math

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


@program
def constants(T):
    init = T.nn.init
    p = T.nn.Parameter(T.empty(2, 3))
    same = init.constant_(p, 0.5) is p
    filled = [
        init.ones_(T.empty(2)),
        init.zeros_(T.ones(2)),
        init.eye_(T.empty(2, 3)),
        init.eye_(T.empty(3, 2)),
        init.constant_(T.empty(2, dtype=T.int64), 3),
        init.normal_(T.empty(2), 1.5, 0),
        init.uniform_(T.empty(2), 1.5, 1.5),
    ]
    return locals()


@program
def dirac(T):
    dirac_ = T.nn.init.dirac_
    filled = [
        dirac_(T.ones(2, 2, 3)),
        dirac_(T.ones(2, 3, 2)),
        dirac_(T.ones(3, 2, 1)),
        dirac_(T.ones(2, 2, 3, 3)),
        dirac_(T.ones(2, 1, 2, 1, 3)),
        dirac_(T.ones(4, 2, 3), groups=2),
        dirac_(T.ones(6, 1, 3), 3),
        dirac_(T.ones(4, 3, 2, 2), 2),
    ]
    return locals()


@program
def gains(T):
    gain = T.nn.init.calculate_gain
    names = ["linear", "conv1d", "conv3d", "conv_transpose2d", "sigmoid", "tanh", "relu", "selu"]
    values = [float(gain(name)) for name in names]
    values += [gain("leaky_relu"), gain("leaky_relu", 0.2), gain("leaky_relu", 1), gain("tanh", 3)]
    texts = [
        attempt(lambda: gain("gelu")),
        attempt(lambda: gain("leaky_relu", "x")),
        attempt(lambda: gain("leaky_relu", True)),
    ]
    return locals()


@program
def fans(T):
    init = T.nn.init
    found = [init._calculate_fan_in_and_fan_out(T.empty(*s)) for s in [(2, 3), (2, 3, 4), (0, 2)]]
    found.append(init._calculate_correct_fan(T.empty(2, 3), "FAN_OUT"))
    return locals()


@program
def shapes_that_do_not_fit(T):
    init, flat = T.nn.init, T.empty(3)
    texts = [
        attempt(lambda: init.eye_(flat)),
        attempt(lambda: init.dirac_(T.empty(2, 2))),
        attempt(lambda: init.dirac_(T.empty(3, 2, 2), 2)),
        attempt(lambda: init.xavier_uniform_(flat)),
        attempt(lambda: init.xavier_normal_(flat)),
        attempt(lambda: init.kaiming_uniform_(flat)),
        attempt(lambda: init.kaiming_normal_(flat)),
        attempt(lambda: init.orthogonal_(flat)),
        attempt(lambda: init.sparse_(flat, 0.1)),
        attempt(lambda: init._calculate_fan_in_and_fan_out(flat)),
    ]
    return {"texts": texts}


@program
def arguments_that_do_not_fit(T):
    init = T.nn.init
    texts = [
        attempt(lambda: init.kaiming_uniform_(T.empty(2, 2), mode="x")),
        attempt(lambda: init.kaiming_normal_(T.empty(2, 2), nonlinearity="x")),
        attempt(lambda: init.normal_(T.empty(2), 0, -1)),
        attempt(lambda: init.uniform_(T.empty(2), 2, 1)),
        attempt(lambda: init.trunc_normal_(T.empty(2), 0, 1, 2, -2)),
        attempt(lambda: init.uniform_(T.zeros(2, dtype=T.int64))),
        attempt(lambda: init.normal_(T.zeros(2, dtype=T.int64))),
    ]
    return {"texts": texts}


@program
def nothing_to_fill(T):
    init = T.nn.init
    filled = [
        init.kaiming_uniform_(T.empty(0, 2)),
        init.kaiming_normal_(T.empty(2, 0)),
        init.orthogonal_(T.empty(0, 2)),
        init.sparse_(T.empty(0, 2), 0.5),
    ]
    return locals()


@program
def orthogonal_matrices_are_orthogonal(T):
    near = []
    for shape in [(3, 3), (2, 4), (4, 2), (2, 2, 3)]:
        w = T.nn.init.orthogonal_(T.empty(*shape), gain=2.0).reshape(shape[0], -1)
        product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
        near.append(bool((product - 4 * T.eye(len(product))).abs().max() < 1e-12))
    return {"near": near}


@program
def the_zeros_of_a_sparse_matrix(T):
    counts = []
    for rows, sparsity in [(10, 0.3), (10, 0.31), (7, 0.5), (5, 0.0), (5, 1.0)]:
        w = T.nn.init.sparse_(T.empty(rows, 4), sparsity)
        counts.append((w == 0).sum(0).tolist())
    w = T.nn.init.sparse_(T.empty(100, 100), 0.5, std=2.0)
    spread = abs(w[w != 0].std().item() - 2.0) < 0.2
    return {"counts": counts, "spread": spread}


@program
def leaves_stay_leaves(T):
    init, facts = T.nn.init, []
    for fill in (
        init.uniform_,
        init.normal_,
        init.trunc_normal_,
        init.ones_,
        init.zeros_,
        init.eye_,
        init.xavier_uniform_,
        init.xavier_normal_,
        init.kaiming_uniform_,
        init.kaiming_normal_,
        init.orthogonal_,
        lambda t: init.sparse_(t, 0.5),
        lambda t: init.constant_(t, math.pi),
    ):
        p = T.nn.Parameter(T.empty(3, 2))
        facts.append([fill(p) is p, p.is_leaf, p.requires_grad])
    return {"facts": facts}
