"""torch.vmap: functions of single examples over batches."""

from __future__ import annotations

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


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


def small_net(T):
    net = T.nn.Sequential(
        T.nn.Conv2d(1, 2, 3), T.nn.Tanh(), T.nn.AvgPool2d(2), T.nn.Flatten(), T.nn.Linear(8, 3)
    )
    for p in net.parameters():
        p.data = (T.arange(p.numel(), dtype=p.dtype) / p.numel() - 0.4).reshape(p.shape)
    return net


@program
def gradients_per_example(T):
    net = small_net(T)
    params = {name: p.detach() for name, p in net.named_parameters()}
    x, y = batch(T, 4, 1, 6, 6).cos(), T.tensor([0, 2, 1, 1])

    def loss(p, a, b):
        out = T.func.functional_call(net, p, (a.unsqueeze(0),))
        return T.nn.functional.cross_entropy(out, b.unsqueeze(0))

    per_sample = T.vmap(T.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    in_chunks = T.vmap(T.func.grad(loss), in_dims=(None, 0, 0), chunk_size=3)(params, x, y)
    values = T.vmap(T.func.grad_and_value(loss), in_dims=(None, 0, 0))(params, x, y)[1]
    norms = T.vmap(lambda g: g.norm())(per_sample["4.weight"])
    models = {name: T.stack([p, p * 0.5]) for name, p in params.items()}
    ensemble = T.vmap(lambda p: T.func.functional_call(net, p, (x,)))(models)
    by_model = T.vmap(T.func.grad(loss), in_dims=(0, None, None))(models, x[0], y[0])
    return {
        "per_sample": per_sample,
        "in_chunks": in_chunks,
        "values": values,
        "norms": norms,
        "ensemble": ensemble,
        "by_model": by_model,
    }


@program
def gradients_of_what_a_batch_shares(T):
    w = T.tensor([1.0, 2.0], requires_grad=True)
    v = (w * 3).exp()
    x = batch(T, 3, 2).requires_grad_()
    out = T.vmap(lambda a: (a * v).sum().sin())(x)
    by_w, by_x = T.autograd.grad(out.sum(), (w, x), create_graph=True)
    second = T.autograd.grad(by_w.sum() + by_x.pow(2).sum(), (w, x), retain_graph=True)
    nested = T.vmap(lambda a: T.vmap(lambda b: (a * b * v).sum())(x))(x)
    nested.pow(2).sum().backward()
    inner = T.vmap(T.func.grad(lambda a: (a * a * v.detach()).sum()))(x.detach())
    return locals()


@program
def second_derivatives_in_one_pass(T):
    x = batch(T, 3) / 3 + 0.1
    weight = batch(T, 4, 3).sin()

    def f(a):
        return (weight @ a).tanh().pow(3).sum()

    hessian = T.func.hessian(f)(x)
    by_rows = T.func.jacrev(T.func.jacrev(f), chunk_size=2)(x)
    by_columns = T.func.jacfwd(T.func.jacfwd(f))(x)
    of_each = T.vmap(T.func.hessian(f))(T.stack([x, x * 2]))
    vectorized = T.autograd.functional.hessian(f, x, vectorize=True)
    jacobian = T.autograd.functional.jacobian(lambda a: weight * a, x, vectorize=True)
    forward = T.autograd.functional.jacobian(
        lambda a: weight * a, x, vectorize=True, strategy="forward-mode"
    )
    leaf = x.clone().requires_grad_()
    y = (weight @ leaf).sin()
    (rows,) = T.autograd.grad(y, leaf, T.eye(4), is_grads_batched=True)
    products = T.vmap(lambda t: T.func.jvp(f, (x,), (t,))[1])(T.eye(3))
    return locals()


@program
def where_dimensions_are(T):
    x, y = batch(T, 2, 3, 4), batch(T, 4, 3)
    found = [
        T.vmap(T.matmul, in_dims=(0, None))(x, y),
        T.vmap(T.matmul, in_dims=(1, 1))(x, y[:, :, None]),
        T.vmap(lambda a, b: a + b, in_dims=(-1, 0))(x, y),
        T.vmap(lambda a, b: T.where(a > b, a, b), in_dims=(2, None), out_dims=-1)(x, y[0]),
        T.vmap(lambda a: (a.amax(), a.amin(0)), in_dims=1, out_dims=(0, 1))(x),
        T.vmap(T.vmap(lambda a: a.sum() + a, in_dims=1), in_dims=1, out_dims=2)(x),
        T.vmap(T.vmap(T.dot, in_dims=(1, None)), in_dims=(None, 1))(y, y),
    ]
    return {"found": [[*f] if isinstance(f, tuple) else f for f in found]}


@program
def indices_in_batches(T):
    x = batch(T, 3, 4)
    i, pairs = T.tensor([2, 0, 1]), T.tensor([[0, 1], [3, 3], [2, 0]])
    table = batch(T, 5, 2)
    found = [
        T.vmap(lambda a, k: a[k])(x, i),
        T.vmap(lambda a, k: a[k])(x, pairs),
        T.vmap(lambda k: table[k])(pairs),
        T.vmap(lambda k: table[:, k % 2])(i),
        T.vmap(lambda a, k: a.gather(0, k))(x, pairs),
        T.vmap(lambda a, k: a.index_select(0, k), in_dims=(0, None))(x, i),
        T.vmap(lambda k: T.nn.functional.embedding(k, table))(pairs),
        T.vmap(lambda a, k: a.scatter(0, k, -1.0))(x, pairs),
        T.vmap(T.func.grad(lambda t, k: t[k].pow(2).sum()), in_dims=(None, 0))(table, pairs),
    ]
    return {"found": found}


@program
def writes_in_batches(T):
    x = batch(T, 2, 3)

    def on_zeros(a):
        made = T.zeros_like(a)
        made[1] = a[0]
        made[2:] += a[2:] * 2
        return made

    zeros = T.vmap(on_zeros)(x)
    copy = x.clone()
    T.vmap(lambda a: a.add_(1))(copy)
    halves = T.vmap(lambda a: a.clone().mul_(0.5))(x)
    return locals()


@program
def what_batches_refuse(T):
    x = batch(T, 2, 3)
    shared = T.zeros(3)
    errors = [
        attempt(lambda: T.vmap(lambda a: a.sum().item())(x)),
        attempt(lambda: T.vmap(lambda a: float(a.sum()))(x)),
        attempt(lambda: T.vmap(lambda a: int(a[0]))(x)),
        attempt(lambda: T.vmap(lambda a: a if a.sum() > 0 else -a)(x)),
        attempt(lambda: T.vmap(lambda a: shared.copy_(a))(x)),
        attempt(lambda: T.vmap(lambda a: shared.mul_(a.sum()))(x)),
        attempt(lambda: T.vmap(lambda a: a.sum(3))(x)),
    ]
    return locals()


@program
def how_batches_print(T):
    shown = []
    T.vmap(lambda a: shown.append((repr(a), repr(a.sum()))) or a)(batch(T, 2, 3))
    T.vmap(T.vmap(lambda a: shown.append(repr(a)) or a))(batch(T, 2, 1, 2))
    return {"shown": shown}
