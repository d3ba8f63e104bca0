"""The nodes that create_graph records where PyTorch has an operation for a derivative."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)

# Functions of a [2, 4] tensor between 0.1 and 0.9.
FUNCTIONS = {
    "tanh": lambda T, x: x.tanh(),
    "sigmoid": lambda T, x: x.sigmoid(),
    "relu": lambda T, x: x.relu(),
    "threshold": lambda T, x: T.nn.functional.threshold(x, 0.5, 1.0),
    "leaky_relu": lambda T, x: T.nn.functional.leaky_relu(x - 0.5),
    "elu": lambda T, x: T.nn.functional.elu(x - 0.5),
    "selu": lambda T, x: T.nn.functional.selu(x - 0.5),
    "celu": lambda T, x: T.nn.functional.celu(x - 0.5, 0.7),
    "gelu": lambda T, x: T.nn.functional.gelu(x),
    "gelu_by_tanh": lambda T, x: T.nn.functional.gelu(x, approximate="tanh"),
    "softplus": lambda T, x: T.nn.functional.softplus(x, 2.0, 1.0),
    "hardtanh": lambda T, x: T.nn.functional.hardtanh(x, 0.3, 0.6),
    "relu6": lambda T, x: T.nn.functional.relu6(x - 0.5),
    "hardswish": lambda T, x: T.nn.functional.hardswish(x),
    "hardshrink": lambda T, x: T.nn.functional.hardshrink(x),
    "softshrink": lambda T, x: T.nn.functional.softshrink(x),
    "logsigmoid": lambda T, x: T.nn.functional.logsigmoid(x),
    "glu": lambda T, x: T.nn.functional.glu(x, 1),
    "softmax": lambda T, x: x.softmax(1),
    "log_softmax": lambda T, x: x.log_softmax(1),
    "mse_loss": lambda T, x: T.nn.functional.mse_loss(x, T.ones(2, 4)),
    "smooth_l1_loss": lambda T, x: T.nn.functional.smooth_l1_loss(x, T.ones(2, 4), beta=0.5),
    "huber_loss": lambda T, x: T.nn.functional.huber_loss(x, T.ones(2, 4), delta=0.5),
    "binary_cross_entropy": lambda T, x: T.nn.functional.binary_cross_entropy(x, T.ones(2, 4)),
    "nll_loss": lambda T, x: T.nn.functional.nll_loss(x, T.tensor([3, 1])),
    "nll_loss_of_places": lambda T, x: T.nn.functional.nll_loss(x, T.tensor([[[3, 1]]])),
    "conv1d": lambda T, x: T.nn.functional.conv1d(x, T.ones(1, 2, 2)),
    "conv_transpose1d": lambda T, x: T.nn.functional.conv_transpose1d(x, T.ones(2, 1, 2)),
    "select": lambda T, x: x[0],
    "slice": lambda T, x: x[:, 1:3],
    "diagonal": lambda T, x: x.diagonal(),
    "unfold": lambda T, x: x.unfold(1, 2, 1),
    "index": lambda T, x: x[T.tensor([1, 1])],
    "masked_select": lambda T, x: x.masked_select(x > 0.5),
    "mse_loss_to_its_target": lambda T, x: T.nn.functional.mse_loss(T.zeros(2, 4), x),
    "huber_loss_to_its_target": lambda T, x: T.nn.functional.huber_loss(T.zeros(2, 4), x),
}
SHAPES = {"nll_loss_of_places": (1, 4, 1, 2), "conv1d": (1, 2, 4), "conv_transpose1d": (1, 2, 4)}


def _shown(name):
    def run(T):
        x = T.linspace(0.1, 0.9, 8).reshape(SHAPES.get(name, (2, 4))).requires_grad_()
        y = FUNCTIONS[name](T, x)
        g = T.full_like(y, 2.0).requires_grad_()
        (d_x,) = T.autograd.grad(y, x, g, create_graph=True)
        node = d_x.grad_fn
        names = [type(y.grad_fn).__name__, type(node).__name__]
        direction = T.linspace(1, 2, 8).reshape(x.shape)
        d_xx, d_xg = T.autograd.grad(d_x, [x, g], direction, create_graph=True, allow_unused=True)
        if d_xx is None or not d_xx.any():
            return {"d_x": d_x, "d_xg": d_xg, "names": names}
        return {"d_x": d_x, "d_xx": d_xx, "d_xg": d_xg, "names": names}

    return run


for _name in FUNCTIONS:
    program.add(_name, _shown(_name))


@program
def what_the_node_of_a_derivative_saves(T):
    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = x.tanh()
    (d_x,) = T.autograd.grad(y, x, T.ones(2, requires_grad=True), create_graph=True)
    node = d_x.grad_fn
    names = [type(n).__name__ for n, _ in node.next_functions]
    g, result = node._saved_grad_output, node._saved_output
    same = result.grad_fn is y.grad_fn
    return {"names": names, "g": g, "result": result, "same": same}


@program
def a_result_written_before_the_second_derivative(T):
    x = T.tensor([0.0, 1.0], requires_grad=True)
    y = x.sigmoid()
    (d_x,) = T.autograd.grad(y.sum(), x, create_graph=True)
    y.mul_(2)
    error = attempt(lambda: d_x.sum().backward())
    return {"error": error}


@program
def a_gradient_written_before_the_second_derivative(T):
    x = T.tensor([0.5, 1.0], requires_grad=True)
    (d_x,) = T.autograd.grad(x.tanh().sum(), x, create_graph=True)
    z = d_x * d_x
    d_x.add_(1)
    error = attempt(lambda: z.sum().backward())
    return {"error": error}


@program
def a_hook_on_the_node_of_a_derivative(T):
    x = T.tensor([0.5, 1.0], requires_grad=True)
    (d_x,) = T.autograd.grad(x.sigmoid().sum(), x, create_graph=True)
    log = []
    d_x.grad_fn.register_hook(lambda inputs, outputs: log.append((len(inputs), len(outputs))))
    d_x.sum().backward()
    return {"log": log, "x": x}


@program
def the_third_derivative_of_what_has_a_node_for_its_first(T):
    x = T.tensor([0.5, 1.0], requires_grad=True)
    (d_x,) = T.autograd.grad(x.tanh().sum(), x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_x.sum(), x, create_graph=True)
    (d_xxx,) = T.autograd.grad(d_xx.sum(), x)
    return locals()


@program
def a_number_is_no_saved_tensor_for_hooks(T):
    x = T.tensor([2.0], requires_grad=True)
    log = []
    with T.autograd.graph.saved_tensors_hooks(lambda t: log.append(t.tolist()) or t, lambda t: t):
        z = 3.0 * x**3
        (d_x,) = T.autograd.grad(z, x, create_graph=True)
    d_x.backward()
    return {"log": log, "x": x}
