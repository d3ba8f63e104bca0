"""Modes that see the calls of all functions."""

from __future__ import annotations

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)


def mode_of(T):
    """Return ``TorchFunctionMode``, and a mode that notes the names of the functions."""
    if T.__name__ == "torch":
        from torch.overrides import TorchFunctionMode
    else:
        from tinynet.compat.fx.overrides import TorchFunctionMode

    class Names(TorchFunctionMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    return TorchFunctionMode, Names


@program
def a_mode_sees_functions_methods_and_operators(T):
    F, x = T.nn.functional, T.ones(4, 2)
    net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.Linear(3, 1))
    with mode_of(T)[1]() as functions:
        F.mse_loss(net(x), T.zeros(4, 1))
        T.cat([x, x]), T.stack([x, x])
    with mode_of(T)[1]() as methods:
        (x * 2 + 1).sum().view(1)
        x[0] = x[1] - 1
        x += 1
        y = -x, 1 - x, 2 * x, 1 + x, x @ T.ones(2, 1)
    T.relu(x)
    seen, of_methods = functions.names, methods.names
    del functions, methods, net, F, y
    return locals()


@program
def modes_stand_inside_each_other(T):
    _, Names = mode_of(T)
    with Names() as outer, Names() as inner:
        T.relu(T.ones(1))
    seen, also = outer.names, inner.names
    del outer, inner, Names, _
    return locals()


@program
def a_mode_answers_in_place_of_a_function(T):
    base, _ = mode_of(T)

    class Negated(base):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return -func(*args, **(kwargs or {}))

    with Negated():
        x = T.relu(T.tensor([1.0, -1.0])), T.tensor([2.0]).exp()

    def unanswered():
        with base():
            T.ones(1)

    wrong = type(attempt(unanswered)).__name__
    after = T.relu(T.ones(1))
    return {"x": x, "wrong": wrong, "after": after}


@program
def a_mode_gets_the_function_that_the_program_names(T):
    base, _ = mode_of(T)

    class Wide(base):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func in (T.zeros, T.ones, T.full):
                kwargs = {"dtype": T.float64, **(kwargs or {})}
            return func(*args, **(kwargs or {}))

    with Wide():
        made = T.zeros(2), T.ones(1), T.full((1,), 3.0), T.eye(1)
    del Wide, base, _
    return locals()
