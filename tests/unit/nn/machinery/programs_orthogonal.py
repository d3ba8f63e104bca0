"""The orthogonal parametrization: all maps, square, tall, wide and several matrices."""

from __future__ import annotations

import numpy as np

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def numbers(T, *shape):
    """Fixed numbers without structure."""
    n = T.arange(float(np.prod(shape)))
    return (n * n * 0.7 + n).cos().reshape(*shape)


def holder(T, *shape):
    net = T.nn.Module()
    net.weight = T.nn.Parameter(numbers(T, *shape))
    return net


def far(T, Q):
    """How far the columns (the rows of a wide matrix) are from orthonormal."""
    Q = Q.mT if Q.shape[-2] < Q.shape[-1] else Q
    return (Q.mT @ Q - T.eye(Q.shape[-1])).abs().max().item() < 1e-12


def fixed(T, net):
    """Take the random part out: an orthogonal base of our own."""
    base = net.parametrizations.weight[0].base
    Q = np.linalg.qr(numbers(T, *base.shape).numpy())[0]
    with T.no_grad():
        base.copy_(T.tensor(Q))


SHAPES = {"square": (3, 3), "tall": (4, 2), "wide": (2, 4), "several": (2, 4, 3)}

for _shape_name, _shape in SHAPES.items():
    for _map in ("matrix_exp", "cayley", "householder"):

        def trivialized(T, shape=_shape, orthogonal_map=_map):
            net = T.nn.utils.parametrizations.orthogonal(
                holder(T, *shape), "weight", orthogonal_map
            )
            shapes = {key: list(value.shape) for key, value in net.state_dict().items()}
            near = far(T, net.weight)
            fixed(T, net)
            begin = net.weight
            original = net.parametrizations.weight.original
            with T.no_grad():
                original.sub_(numbers(T, *original.shape).tril(-1))
            (net.weight**3).sum().backward()
            value, near_again = net.weight, far(T, net.weight)
            return {k: v for k, v in locals().items() if k != "shape"}

        def free(T, shape=_shape, orthogonal_map=_map):
            net = T.nn.utils.parametrizations.orthogonal(
                holder(T, *shape), "weight", orthogonal_map, use_trivialization=False
            )
            (net.weight**3).sum().backward()
            value, near = net.weight, far(T, net.weight)
            return {k: v for k, v in locals().items() if k != "shape"}

        program.add(f"{_shape_name}_{_map}", trivialized)
        program.add(f"{_shape_name}_{_map}_not_trivialized", free)


@program
def the_map_follows_the_shape(T):
    orthogonal = T.nn.utils.parametrizations.orthogonal
    shapes = [(3, 3), (4, 2), (2, 4)]
    keys = [list(orthogonal(holder(T, *shape)).state_dict()) for shape in shapes]
    printed = repr(orthogonal(T.nn.Linear(2, 3))).split("\n")
    return {"keys": keys, "printed": printed}


@program
def an_orthogonal_matrix_stays(T):
    net = holder(T, 3, 3)
    with T.no_grad():
        net.weight.copy_(T.tensor(np.linalg.qr(net.weight.detach().numpy())[0]))
    T.nn.utils.parametrizations.orthogonal(net)
    value = net.weight
    with T.no_grad():
        net.weight = -value
    return locals()


@program
def training_keeps_it_orthogonal(T):
    net = T.nn.Linear(3, 3)
    with T.no_grad():
        net.weight.copy_(numbers(T, 3, 3))
        net.bias.zero_()
    T.nn.utils.parametrizations.orthogonal(net)
    optimizer, losses = T.optim.SGD(net.parameters(), lr=0.1), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((net(numbers(T, 2, 3)) - 1) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    near, value = far(T, net.weight), net.weight
    T.nn.utils.parametrize.remove_parametrizations(net, "weight")
    return locals()


@program
def what_cannot_be_orthogonal(T):
    orthogonal = T.nn.utils.parametrizations.orthogonal
    net = orthogonal(holder(T, 3, 3))
    loose = orthogonal(holder(T, 3, 3), use_trivialization=False)
    texts = [
        attempt(lambda: orthogonal(T.nn.Linear(2, 2), "nothing")),
        attempt(lambda: orthogonal(T.nn.Linear(2, 2), "bias")),
        attempt(lambda: orthogonal(T.nn.Linear(2, 2), orthogonal_map="x")),
        attempt(lambda: setattr(net, "weight", T.ones(2, 2))),
        attempt(lambda: setattr(loose, "weight", T.eye(3))),
    ]
    return {"texts": texts}
