"""tinynet on one page: a program that trains, with the names of the real thing.

    python docs/tiny.py

Each part names the folder of ``tinynet/`` that does the same by all of PyTorch's rules.
"""

import inspect
import itertools

import numpy as np

# ---- core/tensors -------------------------------------------------------------------------------
# A tensor is an array with a history. Its version counts the writes to its memory, which views
# share; this page has no views.


class Tensor:
    """An array; a leaf has no ``grad_fn``, and gets its gradient in ``grad``."""

    def __init__(self, array, requires_grad=False):
        self.array = np.asarray(array, np.float32)
        self.requires_grad = requires_grad
        self.version, self.grad_fn, self.grad = 0, None, None

    def mul_(self, other):
        """Multiply in place: check, write, count the write, take the new history."""
        if self.requires_grad and self.grad_fn is None:
            raise RuntimeError("a leaf that requires grad is used in an in-place operation")
        result = mul(self, other)
        self.array[...] = result.array
        self.version += 1
        self.grad_fn, self.requires_grad = result.grad_fn, result.requires_grad
        return self


# ---- core/graph ---------------------------------------------------------------------------------
# A node leads from a result to its inputs. It saves arrays with their versions, so that `backward`
# notices a write in between. An input is older than its consumers: numbers are an order.


class Node:
    """The history of a result: its inputs, and a formula for the gradient of each."""

    numbers = itertools.count()

    def __init__(self, name, inputs, formulas):
        self.name, self.number, self.saved = name, next(Node.numbers), {}
        self.edges = [(t.grad_fn or t, formulas[n]) for n, t in inputs.items() if t.requires_grad]

    def restore(self, name):
        """Return a saved array, or raise the error of an in-place operation."""
        tensor, array, version = self.saved[name]
        if tensor.version != version:
            raise RuntimeError(
                f"{self.name}: {name!r} has been modified by an in-place operation: it is at "
                f"version {tensor.version}; expected version {version}"
            )
        return array


def backward(loss):
    """Visit the nodes from the newest to the oldest, and pass each its gradient once."""
    reached, waiting = set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Node) and node not in reached:
            reached.add(node)
            waiting += [target for target, _ in node.edges]
    gradients = {loss.grad_fn: np.ones_like(loss.array)}
    for node in sorted(reached, key=lambda node: -node.number):
        for target, formula in node.edges:
            names = [*inspect.signature(formula).parameters][1:]
            part = run(formula, gradients[node], *map(node.restore, names))
            if isinstance(target, Node):
                before = gradients.get(target)
                gradients[target] = part if before is None else run(np.add, before, part)
            else:  # a leaf; if it was broadcast, the sum over what was added
                part = run(lambda g, x: g.sum(tuple(range(g.ndim - x.ndim))), part, target.array)
                target.grad = part if target.grad is None else run(np.add, target.grad, part)


# ---- core/declaration, ops ----------------------------------------------------------------------
# An operation is a kernel on arrays, and a formula for each input. The names in a formula say what
# is saved: an input, or the result. The real decorator writes a straight function of this once.


def operation(kernel):
    """Return the function on tensors of a kernel on arrays."""
    formulas = {}

    def function(*tensors):
        inputs = dict(zip(formulas, tensors, strict=True))
        result = Tensor(run(kernel, *(t.array for t in tensors)))
        result.requires_grad = any(t.requires_grad for t in tensors)
        if result.requires_grad:
            node = result.grad_fn = Node(kernel.__name__, inputs, formulas)
            for formula in (formula for _, formula in node.edges):
                for name in [*inspect.signature(formula).parameters][1:]:
                    t = inputs.get(name, result)
                    node.saved[name] = t, t.array, t.version
        return result

    function.grad = lambda **given: formulas.update(given)
    return function


@operation
def mul(self, other):
    """Multiply."""
    return self * other


mul.grad(self=lambda g, other: g * other, other=lambda g, self: g * self)

add, sub, matmul = operation(np.add), operation(np.subtract), operation(np.matmul)
add.grad(self=lambda g: g, other=lambda g: g)
sub.grad(self=lambda g: g, other=lambda g: -g)
matmul.grad(self=lambda g, other: g @ other.T, other=lambda g, self: self.T @ g)

tanh, mean = operation(np.tanh), operation(np.mean)
tanh.grad(self=lambda g, result: g * (1 - result * result))
mean.grad(self=lambda g, self: np.full_like(self, g / self.size))

Tensor.__add__, Tensor.__sub__, Tensor.__mul__, Tensor.__matmul__ = add, sub, mul, matmul
Tensor.backward = backward


# ---- nn, optim ----------------------------------------------------------------------------------
# Modules hold parameters. An optimizer writes to them, and counts that.


class Linear:
    """``x @ weight + bias``."""

    def __init__(self, rng, inputs, outputs):
        bound = inputs**-0.5
        self.weight = Tensor(rng.uniform(-bound, bound, (inputs, outputs)), requires_grad=True)
        self.bias = Tensor(np.zeros(outputs), requires_grad=True)

    def __call__(self, x):
        return x @ self.weight + self.bias


class SGD:
    """Stochastic gradient descent."""

    def __init__(self, parameters, lr):
        self.parameters, self.lr = parameters, lr

    def zero_grad(self):
        """Forget the gradients."""
        for p in self.parameters:
            p.grad = None

    def step(self):
        """Follow the gradients downwards."""
        for p in self.parameters:
            run(lambda x, g: np.subtract(x, self.lr * g, out=x), p.array, p.grad)
            p.version += 1


# ---- capture ------------------------------------------------------------------------------------
# All computing on arrays goes through `run`, so a step can be written down once, and repeated
# without its graph. The real thing also guards what the code reads, and generates native code.

program = None


def run(function, *arrays):
    """Compute, and write the call down if a step is captured."""
    result = np.asarray(function(*arrays))
    if program is not None:
        program.append((function, arrays, result))
    return result


def compile(step, *inputs):
    """Take a step, and return a function that repeats it for other inputs."""
    global program
    program = calls = []
    loss = step(*inputs)
    program = None

    def replay(*others):
        for t, other in zip(inputs, others, strict=True):
            t.array[...] = other.array
        for function, arrays, result in calls:
            result[...] = function(*arrays)
        return loss

    return replay


# ---- train --------------------------------------------------------------------------------------
# The loop is a generator; whatever else a run does stands in the loop over it.


def fit(step, batches):
    """Take a step for each batch, and yield its loss."""
    for batch in batches:
        yield float(step(*batch).array)


def main():
    """Learn the sine: 500 eager steps, then 2,000 captured ones."""
    rng = np.random.default_rng(0)
    first, second = Linear(rng, 1, 32), Linear(rng, 32, 1)
    sgd = SGD([first.weight, first.bias, second.weight, second.bias], lr=0.1)

    def step(x, y):
        sgd.zero_grad()
        error = second(tanh(first(x))) - y
        loss = mean(error * error)
        loss.backward()
        sgd.step()
        return loss

    def batches(count):
        for _ in range(count):
            x = rng.uniform(-2, 2, (64, 1))
            yield Tensor(x), Tensor(np.sin(2 * x))

    *_, eager = fit(step, batches(500))
    *_, captured = fit(compile(step, *next(batches(1))), batches(2000))
    print(f"loss {eager:.4f}, then {captured:.4f}")


if __name__ == "__main__":
    main()
