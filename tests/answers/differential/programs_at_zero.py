"""First and second derivatives where a formula would divide by zero, or take its logarithm."""

from tests.tools.recorded.programs import Family

program = Family(__name__)

ONE = {
    "x_to_0": lambda T, x: x**0,
    "x_to_0_as_a_float": lambda T, x: x**0.0,
    "x_to_half": lambda T, x: x**0.5,
    "x_to_minus_half": lambda T, x: x**-0.5,
    "x_to_one_and_a_half": lambda T, x: x**1.5,
    "x_squared": lambda T, x: x**2,
    "x_inverted": lambda T, x: x**-1,
    "zero_to_x": lambda T, x: 0**x,
    "zero_to_x_by_pow": lambda T, x: T.pow(0.0, x),
    "zero_to_x_by_float_power": lambda T, x: T.float_power(0.0, x),
    "two_to_x": lambda T, x: 2**x,
    "minus_one_to_x": lambda T, x: T.pow(-1.0, x),
    "float_power": lambda T, x: T.float_power(x, 0.5),
    "sqrt": lambda T, x: x.sqrt(),
    "rsqrt": lambda T, x: x.rsqrt(),
    "log": lambda T, x: x.log(),
    "log1p": lambda T, x: (x - 1).log1p(),
    "abs": lambda T, x: x.abs(),
    "entr": lambda T, x: T.special.entr(x),
    "elu": lambda T, x: T.nn.functional.elu(x),
    "selu": lambda T, x: T.nn.functional.selu(x),
    "celu": lambda T, x: T.nn.functional.celu(x),
    "leaky_relu": lambda T, x: T.nn.functional.leaky_relu(x),
    "hardtanh": lambda T, x: T.nn.functional.hardtanh(x),
    "softplus_at_its_threshold": lambda T, x: T.nn.functional.softplus(x + 20),
    "smooth_l1_loss": lambda T, x: T.nn.functional.smooth_l1_loss(x, x.detach() * 0),
    "huber_loss": lambda T, x: T.nn.functional.huber_loss(x, x.detach() * 0),
    "norm_of_each": lambda T, x: x[:, None].norm(dim=1),
    "distance_of_each": lambda T, x: T.dist(x[:1], x[:1].detach()),
    "normalize": lambda T, x: T.nn.functional.normalize(x[:, None]),
    "prod": lambda T, x: x.prod(),
    "cumprod": lambda T, x: x.cumprod(0),
}
TWO = {
    "x_to_y": lambda T, x, y: x**y,
    "float_power_of_two": lambda T, x, y: T.float_power(x, y),
    "atan2": lambda T, x, y: T.atan2(x, y),
    "hypot": lambda T, x, y: T.hypot(x, y),
    "xlogy": lambda T, x, y: T.special.xlogy(x, y),
    "xlog1py": lambda T, x, y: T.special.xlog1py(x, y),
    "logaddexp": lambda T, x, y: T.logaddexp(x, y),
    "maximum": lambda T, x, y: T.maximum(x, y),
    "minimum": lambda T, x, y: T.minimum(x, y),
}
POINTS = [0.0, -0.0, 1.0, -1.0, 2.0]


def _derivatives(T, y, inputs):
    firsts = T.autograd.grad(y.sum(), inputs, create_graph=True)
    found = {"y": y.detach()}
    for i, first in enumerate(firsts):
        found[f"first{i}"] = first.detach() + T.zeros(1)  # a copy: PyTorch's may have no memory
        if first.requires_grad:
            seconds = T.autograd.grad(first.sum(), inputs, retain_graph=True, allow_unused=True)
            for j, second in enumerate(seconds):
                found[f"second{i}{j}"] = None if second is None else second + T.zeros(1)
    return found


def _of_one(function):
    def run(T):
        x = T.tensor(POINTS, requires_grad=True)
        return _derivatives(T, function(T, x), [x])

    return run


def _of_two(function):
    def run(T):
        x = T.tensor([a for a in POINTS for _ in POINTS], requires_grad=True)
        y = T.tensor([b for _ in POINTS for b in POINTS], requires_grad=True)
        return _derivatives(T, function(T, x, y), [x, y])

    return run


for _name, _function in ONE.items():
    program.add(_name, _of_one(_function))
for _name, _function in TWO.items():
    program.add(_name, _of_two(_function))


@program
def the_larger_of_a_number_and_nan(T):
    x = T.tensor([1.0, float("nan")], requires_grad=True)
    y = T.tensor([float("nan"), 1.0], requires_grad=True)
    return _derivatives(T, T.maximum(x, y), [x, y])
