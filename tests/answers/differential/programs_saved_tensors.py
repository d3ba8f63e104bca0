"""Saved tensors as users reach them: hooks on one value, and hooks as a context manager."""

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def hooks_on_one_saved_value(T):
    x = T.ones(2, requires_grad=True)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: 2 * t, lambda t: t / 2)
    seen = y.grad_fn._saved_self
    y.sum().backward()
    return locals()


@program
def hooks_on_a_saved_result(T):
    x = T.zeros(2, requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.tolist(), T.tensor)
    y.sum().backward()
    return locals()


@program
def hooks_on_a_saved_value_only_once(T):
    x = T.ones(2, requires_grad=True)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    error = attempt(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    return locals()


@program
def hooks_on_a_saved_value_that_was_freed(T):
    x = T.ones(2, requires_grad=True)
    y = x * x
    y.sum().backward()
    error = attempt(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    return locals()


@program
def hooks_on_what_a_function_saved(T):
    class Square(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = T.ones(2, requires_grad=True)
    y = Square.apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t * 3, lambda t: t)
    y.sum().backward()
    return {"x": x}


@program
def saved_tensor_hooks_can_be_subclassed(T):
    log = []

    class Logging(T.autograd.graph.saved_tensors_hooks):
        def __init__(self):
            super().__init__(self.pack, self.unpack)

        def pack(self, t):
            log.append("pack")
            return t

        def unpack(self, t):
            log.append("unpack")
            return t

    x = T.ones(2, requires_grad=True)
    with Logging():
        y = x * x
    y.sum().backward()
    return {"log": log, "x": x}


@program
def saved_tensor_hooks_that_raise(T):
    def fail(t):
        raise ValueError("no")

    x = T.ones(2, requires_grad=True)
    with T.autograd.graph.saved_tensors_hooks(fail, lambda t: t):
        packing = attempt(lambda: x.exp())
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, fail):
        y = x.exp()
    unpacking = attempt(lambda: y.sum().backward())
    z = x.exp()
    z.sum().backward()
    return {"packing": packing, "unpacking": unpacking, "x": x}


@program
def a_pack_hook_that_writes_its_tensor(T):
    def write(t):
        with T.no_grad():
            return t.add_(1)

    x = T.ones(2, requires_grad=True)
    y = x * 1
    with T.autograd.graph.saved_tensors_hooks(write, lambda t: t):
        error = attempt(lambda: y * y)
    return {"error": error}


@program
def saved_tensor_hooks_see_double_backward(T):
    log = []
    hooks = T.autograd.graph.saved_tensors_hooks(
        lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t
    )
    x = T.ones(2, requires_grad=True)
    with hooks:
        y = x * x
        (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    log.append("second")
    g.sum().backward()
    return {"log": log, "x": x}


@program
def saved_tensor_hooks_are_left_within_backward(T):
    def leave(ctx, g):
        hooks.__exit__(None, None, None)
        return g

    hooks = T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with hooks:  # what backward leaves is left on its own stack
        function(T, lambda ctx, x: x * 1, leave).apply(x).sum().backward()
    return {"x": x}


@program
def a_grad_mode_set_among_saved_tensor_hooks_stays(T):
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        T.set_grad_enabled(False)
    stayed = T.is_grad_enabled()
    T.set_grad_enabled(True)
    return {"stayed": stayed}
