"""torch.vmap: functions of single examples over batches."""

from __future__ import annotations

from tests.differential.spec import Family, attempt

program = Family(__name__)


def batch(T, *shape):
    count = 1
    for n in shape:
        count *= n
    return T.arange(count, dtype=T.get_default_dtype()).reshape(shape)


@program
def batches_of_arguments(T):
    x, y, w = batch(T, 3, 2), batch(T, 3, 2) * 2, T.tensor([1.0, -1.0])
    dot = T.vmap(T.dot)(x, y)
    shared = T.vmap(T.dot, in_dims=(0, None))(x, w)
    columns = T.vmap(lambda a: a.sum() * a, in_dims=1)(x)
    last = T.vmap(lambda a: a.sum(), in_dims=-1)(x)
    tree = T.vmap(lambda p, b: p["a"] * b[0] + b[1], in_dims=({"a": 0}, (0, None)))(
        {"a": x}, (y, w)
    )
    by_keyword = T.vmap(lambda a, scale: a * scale)(x, scale=w)
    return locals()


@program
def operations_see_one_example(T):
    x = batch(T, 2, 3, 4)
    found = [
        T.vmap(f)(x)
        for f in (
            lambda a: a.sum(0),
            lambda a: a.mean(-1, keepdim=True),
            lambda a: a.softmax(0),
            lambda a: a.t(),
            lambda a: a.reshape(-1),
            lambda a: a[0],
            lambda a: a[:, 1:],
            lambda a: a @ a.t(),
            lambda a: T.cat([a, a], 1),
            lambda a: T.stack([a, a], -1),
            lambda a: a.max(1).values,
            lambda a: a.argmax(),
            lambda a: a.sort(0, descending=True),
            lambda a: a.cumsum(1),
            lambda a: T.where(a > 5, a, 0.0),
            lambda a: T.nn.functional.layer_norm(a, (4,)),
            lambda a: T.einsum("ij,kj->ik", a, a),
            lambda a: (a.shape[0] * a, a.dim() * a),
        )
    ]
    return {"found": [[*f] if isinstance(f, tuple) else f for f in found]}


@program
def where_results_are_stacked(T):
    x = batch(T, 3, 2)
    second = T.vmap(lambda a: a * 2, out_dims=1)(x)
    last = T.vmap(lambda a: a * 2, out_dims=-1)(x)
    two = T.vmap(lambda a: (a, a.sum()), out_dims=(1, 0))(x)
    tree = T.vmap(lambda a: {"s": a, "t": [a, a]}, out_dims={"s": 1, "t": 0})(x)
    single = T.vmap(lambda a: a, out_dims=(1,))(x)
    constant = T.vmap(lambda a: T.ones(2))(x)
    number = T.vmap(lambda a: (a, "text", 3), out_dims=(0, None, None))(x)
    return locals()


@program
def nested_batches(T):
    x, y = batch(T, 2, 3), batch(T, 2, 3) + 1
    both = T.vmap(T.vmap(T.mul))(x, y)
    outer = T.vmap(T.vmap(T.mul, in_dims=(0, None)), in_dims=(None, 0))(x[0], y[0])
    pairs = T.vmap(lambda a: T.vmap(lambda b: (a - b).pow(2).sum())(x))(x)
    chunked = T.vmap(T.sin, chunk_size=2)(x.t())
    return locals()


@program
def gradients_flow_through_batches(T):
    x = batch(T, 3, 2).requires_grad_()
    w = T.tensor([1.0, 2.0], requires_grad=True)
    out = T.vmap(lambda a: (a * w).sum() ** 2)(x)
    out.sum().backward()
    d_of = T.func.grad(lambda v: T.vmap(lambda a: (a * v).sum())(x.detach()).sum())(w.detach())
    per_sample = T.vmap(T.func.grad(lambda v, a: (a * v).sum() ** 2), (None, 0))(
        w.detach(), x.detach()
    )
    rows = T.vmap(T.func.vjp(lambda v: v * v, w.detach())[1])(T.eye(2))
    return locals()


@program
def nothing_in_a_batch(T):
    x = T.zeros(0, 3)
    doubled = T.vmap(lambda a: a * 2)(x)
    total = T.vmap(lambda a: (a.sum(), a[:2]), out_dims=(0, 1))(x)
    return locals()


@program
def what_vmap_refuses(T):
    x, y = batch(T, 3, 2), batch(T, 4, 2)
    vmap = T.vmap

    def f(*args):
        return args[0]

    errors = [
        attempt(lambda: vmap(f)(x, y)),
        attempt(lambda: vmap(f)()),
        attempt(lambda: vmap(f, in_dims=None)(x)),
        attempt(lambda: vmap(f, in_dims=[0])(x)),
        attempt(lambda: vmap(f, in_dims=(0,))(x, x)),
        attempt(lambda: vmap(f, in_dims=(None,))(x)),
        attempt(lambda: vmap(f, in_dims=(2,))(x)),
        attempt(lambda: vmap(f, in_dims=("a",))(x)),
        attempt(lambda: vmap(f)(x, 3)),
        attempt(lambda: vmap(lambda a: 3)(x)),
        attempt(lambda: vmap(lambda a: (a, None))(x)),
        attempt(lambda: vmap(f, out_dims="a")(x)),
        attempt(lambda: vmap(f, out_dims=(0, 0))(x)),
        attempt(lambda: vmap(lambda a: (a, a), out_dims=(0, 0, 0))(x)),
        attempt(lambda: vmap(f, out_dims=None)(x)),
        attempt(lambda: vmap(f, out_dims=5)(x)),
        attempt(lambda: vmap(f, randomness="some")(x)),
        attempt(lambda: vmap(f, chunk_size=0)),
    ]
    return locals()


@program
def random_numbers_in_batches(T):
    x = T.zeros(4, 3)
    error = attempt(lambda: T.vmap(lambda a: a + T.rand(3))(x))
    nested = attempt(lambda: T.vmap(T.vmap(T.rand_like, randomness="different"))(x))
    masked = attempt(lambda: T.vmap(T.nn.Dropout())(x))
    same = T.vmap(lambda a: a + T.rand(3), randomness="same")(x)
    all_same = (same == same[0]).all()
    different = T.vmap(lambda a: a + T.rand(3), randomness="different")(x)
    all_different = len(set(different.flatten().tolist())) == 12
    afterwards = T.rand(1).shape
    del same, different
    return locals()
