"""torch.func: gradients, products with Jacobians, Jacobians and Hessians of functions."""

from __future__ import annotations

import warnings

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


@program
def gradients_and_values(T):
    x = T.tensor([1.0, 2.0])
    d = T.func.grad(lambda x: (x**3).sum())(x)
    both = T.func.grad_and_value(lambda x: (x * x).sum())(x)
    aux = T.func.grad(lambda x: ((x * x).sum(), {"twice": x * 2}), has_aux=True)(x)
    all_three = T.func.grad_and_value(lambda x: ((x * x).sum(), x), has_aux=True)(x)
    return locals()


@program
def gradients_by_chosen_arguments(T):
    x, y = T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0])

    def f(x, y, scale=1.0):
        return (x * x * y).sum() * scale

    second = T.func.grad(f, argnums=1)(x, y, scale=2.0)
    last = T.func.grad(f, argnums=-1)(x, y)
    two = T.func.grad(f, argnums=(0, 1))(x, y)
    turned = T.func.grad(f, argnums=(1, 0))(x, y)
    return locals()


@program
def gradients_by_trees(T):
    params = {"w": T.tensor([1.0, 2.0]), "b": [T.tensor(1.0), T.tensor(5.0)]}
    d = T.func.grad(lambda p: (p["w"] * p["b"][0]).sum())(params)
    return locals()


@program
def nested_gradients(T):
    x = T.tensor(2.0)
    first = T.func.grad(T.sin)(x)
    second = T.func.grad(T.func.grad(lambda x: x**4))(x)
    third = T.func.grad(T.func.grad(T.func.grad(lambda x: x**4)))(x)
    mixed = T.func.grad(lambda y: T.func.grad(lambda x: x * x * y)(x) * y)(T.tensor(3.0))
    return locals()


@program
def enclosing_gradients_see_through(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([3.0, 5.0], requires_grad=True)
    d, value = T.func.grad_and_value(lambda x: (x * x * w).sum())(x)
    d.sum().backward()
    value.backward()
    constant = T.func.grad(lambda x: (x * x).sum())(T.ones(2))
    captured = T.func.grad(lambda x: (x * w).sum())(T.ones(2))
    linear = T.func.grad(lambda x: (x + w).sum())(T.ones(2))
    return locals()


@program
def grad_mode_outside_and_inside(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.no_grad():
        outside = T.func.grad(lambda x: (x * x).sum())(x)

    def f(x):
        with T.no_grad():
            c = x * x
        return (x * c).sum()

    inside = T.func.grad(f)(x)
    return locals()


@program
def what_a_gradient_is_not_taken_of(T):
    x, n = T.ones(2), T.ones(2, dtype=T.int64)
    grad = T.func.grad
    errors = [
        attempt(lambda: grad(lambda x: x)(x)),
        attempt(lambda: grad(lambda x: (x.sum(), x))(x)),
        attempt(lambda: grad(lambda x: x.sum(), has_aux=True)(x)),
        attempt(lambda: grad(lambda x: 3.0)(x)),
        attempt(lambda: grad(lambda x: x.sum(), argnums=1)(x)),
        attempt(lambda: grad(lambda x: x.sum(), argnums=())(x)),
        attempt(lambda: grad(lambda x: x.sum(), argnums=(0, 0))(x)),
        attempt(lambda: grad(lambda x: x.sum(), argnums=1.5)(x)),
        attempt(lambda: grad(lambda x: x.sum())(n)),
        attempt(lambda: grad(lambda x: x)(1.0)),
    ]
    independent = grad(lambda x: T.tensor(1.0))(x)
    return locals()


@program
def products_from_the_left(T):
    x, y = T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0])
    value, product = T.func.vjp(lambda x, y: (x * y, x.sum()), x, y)
    d_all = product((T.ones(2), T.tensor(2.0)))
    single, product_of_one = T.func.vjp(T.exp, x)
    d_one = product_of_one(T.ones(2))
    *rest, aux = T.func.vjp(lambda x: (x * 2, {"a": x}), x, has_aux=True)
    errors = [
        attempt(lambda: T.func.vjp(lambda x: (x, x), x)[1](x)),
        attempt(lambda: T.func.vjp(lambda x: None, x)),
        attempt(lambda: T.func.vjp(lambda x: (x, 1), x)),
        attempt(lambda: T.func.vjp(lambda x: x.long(), x)),
        attempt(lambda: T.func.vjp(lambda x: x, 3)),
    ]
    del rest, product, product_of_one
    return locals()


@program
def products_from_the_right(T):
    with warnings.catch_warnings():  # PyTorch warns of functions that it calls itself
        warnings.simplefilter("ignore")
        x, y = T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0])
        one = T.func.jvp(T.sin, (x,), (T.ones(2),))
        two = T.func.jvp(lambda x, y: (x * y, x.sum()), (x, y), (T.ones(2), T.zeros(2)))
        aux = T.func.jvp(lambda x: (x * x, x), (x,), (y,), has_aux=True)
        constant = T.func.jvp(lambda x: T.ones(3), (x,), (y,))
        tree = T.func.jvp(lambda p: p["a"] * p["b"], ({"a": x, "b": y},), ({"a": y, "b": x},))
        twice = T.func.jvp(lambda t: T.func.jvp(lambda x: x**3, (t,), (x,))[1], (x,), (y,))
        errors = [
            attempt(lambda: T.func.jvp(T.sin, x, x)),
            attempt(lambda: T.func.jvp(T.sin, (x,), (x, x))),
            attempt(lambda: T.func.jvp(T.sin, (), ())),
            attempt(lambda: T.func.jvp(lambda x: T.ones(2), (x,), (x,), strict=True)),
        ]
    return locals()


@program
def jacobians_both_ways(T):
    x, y = T.tensor([1.0, 2.0]), T.tensor([[3.0, 4.0]])

    def f(x, y):
        return {"a": x * y, "b": (x.sum(), y.exp())}

    found = {
        (name, argnums): getattr(T.func, name)(f, argnums=argnums)(x, y)
        for name in ("jacrev", "jacfwd")
        for argnums in (0, 1, (0, 1), (1,))
    }
    found = [*found.values()]
    aux = [getattr(T.func, n)(lambda x: (x * x, x), has_aux=True)(x) for n in ("jacrev", "jacfwd")]
    chunked = T.func.jacrev(T.sin, chunk_size=1)(x)
    by_dict = T.func.jacrev(lambda p: p["u"] * p["v"])({"u": x, "v": x})
    nothing = T.func.jacrev(lambda x: x[:0])(x)
    error = attempt(lambda: T.func.jacrev(T.sin, chunk_size=0))
    return locals()


@program
def hessians(T):
    x, y = T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0])
    one = T.func.hessian(lambda x: (x**3).sum() * x[0])(x)
    two = T.func.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(x, y)
    composed = T.func.jacrev(T.func.jacrev(lambda x: (x**3).sum()))(x)
    return locals()


@program
def modules_as_functions(T):
    net = T.nn.Linear(2, 1)
    with T.no_grad():
        net.weight.copy_(T.tensor([[1.0, 2.0]]))
        net.bias.fill_(0.5)
    params = {k: v.detach() for k, v in net.named_parameters()}
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])

    def loss(params, x):
        return T.func.functional_call(net, params, (x,)).pow(2).mean()

    d = T.func.grad(loss)(params, x)
    per_sample = T.func.vmap(T.func.grad(loss), in_dims=(None, 0))(params, x)
    stacked, buffers = T.func.stack_module_state([net, net])
    ensemble = T.vmap(lambda p: T.func.functional_call(net, p, (x,)))(stacked)
    return locals()


@program
def products_are_functions_of_their_direction(T):
    x, y = T.tensor([0.5, 1.5]), T.tensor([2.0, -1.0])
    _, product = T.func.vjp(lambda x: (x**3).sum(0, keepdim=True), x)
    with T.no_grad():
        _, quiet = T.func.vjp(T.sin, x)
    found = [
        T.func.grad(lambda v: product(v)[0].sum())(y[:1]),
        T.func.grad(lambda v: (quiet(v)[0] ** 2).sum())(y),
        T.func.jacrev(lambda v: quiet(v)[0])(y),
        T.func.vmap(lambda v: quiet(v)[0])(T.eye(2)),
    ]

    def inside(v):
        _, product = T.func.vjp(T.func.grad(lambda x: (x**3).sum()), x)
        return T.func.grad(lambda v: product(v)[0].sum())(v)

    found += [inside(y), T.func.grad(lambda v: inside(v * v).sum())(y)]
    return {"found": found}


@program
def products_under_no_grad_have_no_history(T):
    x = T.tensor([0.5, 1.5], requires_grad=True)
    value, product = T.func.vjp(lambda x: x**2, x)
    with T.no_grad():
        found = product(T.ones(2))
    again = product(T.ones(2))
    again[0].sum().backward()
    return {"value": value, "found": found, "again": again, "x": x}
