"""bfloat16, regions of autocast, and GradScaler."""

from tests.tools.recorded.programs import Family, attempt
from tinynet.dtypes.extension_dtypes import installed

program = Family(__name__, skip="" if installed() else "needs ml_dtypes")


def kind(t):
    """The name of a dtype, the same for both libraries."""
    return str(t.dtype).rpartition(".")[2]


@program
def bfloat16_promotes_as_the_smallest_of_its_category(T):
    x = T.tensor([1.5, -2.0], dtype=T.bfloat16)
    others = T.float16, T.float32, T.float64, T.int64, T.bool
    kinds = [kind(x + T.ones(2, dtype=other)) for other in others]
    numbers = [kind(x * 2), kind(x * 0.5), kind(x + T.tensor(1.0)), kind(T.tensor(1.0) + x[0])]
    return {"kinds": kinds, "numbers": numbers}


@program
def bfloat16_rounds_to_even(T):
    x = T.tensor([1.00390625, 1.01171875, 3.14159, 1e-40, 1e30])
    y = x.bfloat16().float()
    z = (x.bfloat16() * 0.1).float()
    return locals()


@program
def gradients_through_a_cast_to_bfloat16(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x.bfloat16()
    z = (y * y).sum().float()
    names = [type(y.grad_fn).__name__, kind(y)]
    z.backward()
    del y
    return locals()


@program
def leaves_of_bfloat16_get_gradients_of_bfloat16(T):
    w = T.tensor([1.0, 2.0], dtype=T.bfloat16, requires_grad=True)
    (w * T.tensor([3.0, 4.0])).sum().backward()
    told = kind(w.grad), w.grad.float().tolist()
    return {"told": told}


@program
def writes_in_place_to_bfloat16(T):
    x = T.zeros(3, dtype=T.bfloat16)
    x[1:] += 2.7
    x.mul_(1.1).clamp_(max=2.5)
    values, version = x.float().tolist(), x._version
    error = attempt(lambda: T.ones(3, dtype=T.int64).add_(x))
    return {"values": values, "version": version, "error": error}


@program
def bfloat16_has_no_array_of_numpy(T):
    error = attempt(T.ones(1).bfloat16().numpy)
    return locals()


@program
def autocast_casts_products_and_losses(T):
    w = T.ones(2, 3, requires_grad=True)
    x = T.tensor([[1.0, 2.0, 4.0]])
    with T.autocast("cpu"):
        y = T.nn.functional.linear(x, w)
        loss = T.nn.functional.mse_loss(y, T.zeros(1, 2))
        other = y.softmax(1)
    names = [kind(y), kind(loss), kind(other), type(y.grad_fn).__name__]
    loss.backward()
    del y, other
    return locals()


@program
def regions_of_autocast_nest(T):
    x, log = T.ones(2, 2), []
    with T.autocast("cpu", dtype=T.float16):
        log.append(kind(x @ x))
        with T.autocast("cpu", enabled=False):
            log.append(kind(x @ x))
            with T.autocast("cpu", dtype=T.bfloat16):
                log.append(kind(x @ x))
        log.append(kind(x @ x))
        log.append(T.is_autocast_enabled("cpu"))
    log.append(kind(x @ x))
    return locals()


@program
def autocast_decorates_a_function(T):
    @T.autocast("cpu", dtype=T.bfloat16)
    def product(x):
        return kind(x @ x)

    inside, outside = product(T.ones(2, 2)), kind(T.ones(2, 2) @ T.ones(2, 2))
    del product
    return locals()


@program
def the_casts_of_parameters_are_kept_for_a_region(T):
    w = T.ones(2, 2, requires_grad=True)
    with T.autocast("cpu"):
        y, z = w @ T.ones(2, 2), w @ T.ones(2, 2)
    same = y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]
    (y.float() * z.float()).sum().backward()
    del y, z
    return locals()


@program
def autocast_of_what_is_not_supported_warns_and_is_off(T):
    for region in (T.autocast("cpu", dtype=T.float32), T.autocast("cuda")):
        with region:
            inside = kind(T.ones(2, 2) @ T.ones(2, 2))
    del region
    error = attempt(lambda: T.autocast("gpu"))
    another = attempt(lambda: T.autocast(1))
    third = attempt(lambda: T.autocast("cpu")(1))
    return locals()


@program
def a_scaler_scales_and_scales_back(T):
    p = T.ones(2, requires_grad=True)
    optimizer = T.optim.SGD([p], lr=0.25)
    scaler, log = T.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2), []
    for factor in (1.0, 1.0, float("inf"), 1.0):
        optimizer.zero_grad()
        scaler.scale((p * p).sum()).backward()
        p.grad.mul_(factor)
        scaler.step(optimizer)
        scaler.update()
        log.append((p.tolist(), scaler.state_dict()))
    return {"log": log}


@program
def a_scaler_refuses_calls_in_a_wrong_order(T):
    p = T.ones(2, requires_grad=True)
    optimizer, scaler = T.optim.SGD([p], lr=0.25), T.amp.GradScaler("cpu")
    errors = [attempt(lambda: scaler.step(optimizer)), attempt(scaler.update)]
    scaler.scale((p * p).sum()).backward()
    errors.append(attempt(scaler.update))
    errors.append(attempt(lambda: scaler.step(optimizer, closure=int)))
    scaler.unscale_(optimizer)
    errors.append(attempt(lambda: scaler.unscale_(optimizer)))
    scaler.step(optimizer)
    errors.append(attempt(lambda: scaler.step(optimizer)))
    errors.append(attempt(lambda: scaler.unscale_(optimizer)))
    scaler.update()
    errors.append(attempt(lambda: scaler.load_state_dict({})))
    errors.append(attempt(lambda: scaler.scale(3)))
    return {"errors": errors}


@program
def a_scaler_for_a_gpu_is_off(T):
    scaler = T.amp.GradScaler("cuda")
    told = scaler.is_enabled(), scaler.get_scale(), scaler.state_dict(), scaler.scale(3)
    return {"told": told}


@program
def a_network_trained_under_autocast_with_a_scaler(T):
    rows = [[(7 * i + 3 * j) % 11 / 11 for j in range(4)] for i in range(12)]
    x, y = T.tensor(rows), T.tensor([int(row[0] > 0.5) for row in rows])
    net = T.nn.Sequential(T.nn.Linear(4, 8), T.nn.Tanh(), T.nn.Linear(8, 2))
    with T.no_grad():
        for number, p in enumerate(net.parameters()):
            values = [((5 * i + number) % 13 - 6) / 16 for i in range(p.numel())]
            p.copy_(T.tensor(values).reshape(p.shape))
    optimizer, scaler = T.optim.SGD(net.parameters(), lr=1.0), T.amp.GradScaler("cpu")
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        with T.autocast("cpu"):
            loss = T.nn.functional.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    kinds = [kind(p.grad) for p in net.parameters()]
    return {"first": round(losses[0], 2), "kinds": kinds, "falls": losses[-1] < losses[0] / 3}
