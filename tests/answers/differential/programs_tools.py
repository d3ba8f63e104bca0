"""autograd's tools: inference mode, saved-tensor hooks, anomaly mode, checkpoints, functional."""

from tests.tools.recorded.programs import Family, attempt, function

program = Family(__name__)


@program
def inference_mode_records_nothing(T):
    x = T.ones(2, requires_grad=True)
    with T.inference_mode():
        y = x * 2
        states = [T.is_grad_enabled(), T.is_inference_mode_enabled(), y.is_inference()]
    outside = T.is_inference_mode_enabled()
    return {"states": states, "outside": outside, "wants": y.requires_grad}


@program
def an_inference_tensor_cannot_be_saved_for_backward(T):
    w = T.ones(2, requires_grad=True)
    with T.inference_mode():
        c = T.ones(2)
    error = attempt(lambda: w * c)
    fine = (w + c).sum()
    fine.backward()
    return {"error": error, "w": w}


@program
def an_inference_tensor_cannot_be_written_outside(T):
    with T.inference_mode():
        c = T.ones(2)
    error = attempt(lambda: c.add_(1))
    return {"error": error, "values": c.tolist()}


@program
def an_inference_tensor_cannot_require_grad_outside(T):
    with T.inference_mode():
        c = T.ones(2)
    error = attempt(c.requires_grad_)
    return {"error": error}


@program
def an_inference_tensor_has_no_version(T):
    with T.inference_mode():
        c = T.ones(2)
        error = attempt(lambda: c._version)
    return {"error": error}


@program
def a_usual_tensor_written_in_inference_mode(T):
    c = T.ones(2)
    with T.inference_mode():
        c.add_(1)
    return locals()


@program
def inference_mode_as_a_decorator_and_switched_off(T):
    @T.inference_mode()
    def double(x):
        with T.inference_mode(False):
            inner = T.is_inference_mode_enabled()
        return (x * 2).is_inference(), inner

    x = T.ones(2, requires_grad=True)
    outcome = double(x)
    return locals()


@program
def saved_tensors_hooks_see_each_saved_tensor(T):
    x = T.tensor([1.0, 4.0], requires_grad=True)
    log = []

    def pack(t):
        log.append(["pack", t.tolist()])
        return t

    def unpack(t):
        log.append(["unpack", t.tolist()])
        return t

    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
        z = y.sqrt()
    z.sum().backward()
    return locals()


@program
def saved_tensors_hooks_may_pack_anything(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    hooks = T.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda p: T.tensor(p) * 10)
    with hooks:
        y = x.exp()
    y.sum().backward()
    return locals()


@program
def saved_tensors_hooks_apply_only_inside(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    log = []
    with T.autograd.graph.saved_tensors_hooks(lambda t: (log.append("pack"), t)[1], lambda t: t):
        y = x * 3.0
        z = x.sin()
    w = x.cos()
    (y + z + w).sum().backward()
    return locals()


@program
def nested_saved_tensors_hooks_use_the_innermost(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    log = []
    hooks = T.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: log.append("outer") or t, lambda t: t):
        with hooks(lambda t: log.append("inner") or t, lambda t: t):
            x.sin()
        x.cos()
    return locals()


@program
def saved_tensors_hooks_that_write_are_refused(T):
    y = T.tensor([1.0, 2.0], requires_grad=True) * 1
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        error = attempt(lambda: y.sin())
    return locals()


@program
def a_packed_value_does_not_notice_writes(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z = y.sin()
    y.zero_()
    error = attempt(lambda: z.sum().backward())
    return locals()


@program
def saved_tensors_hooks_see_what_a_function_saves(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = T.tensor([1.0, 2.0], requires_grad=True)
    log = []
    custom = function(T, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0])
    with T.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: t * 10):
        y = custom.apply(x)
    y.sum().backward()
    return locals()


@program
def saved_values_can_be_switched_off(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.autograd.graph.disable_saved_tensors_hooks("not here"):
        error = attempt(
            lambda: T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
        )
    return locals()


@program
def saved_on_the_cpu_and_back(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.autograd.graph.save_on_cpu():
        y = (x * x).exp()
    y.sum().backward()
    return locals()


@program
def saved_tensors_allowed_to_be_written(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y.sin()
        y.zero_()
        z.sum().backward()
    return locals()


@program
def anomaly_mode_names_the_node_that_made_nan(T):
    x = T.tensor(-1.0, requires_grad=True)
    with T.autograd.detect_anomaly():
        y = x.sqrt()
        error = attempt(y.backward)
    return locals()


def nan_in_the_second_backward(T, inside):
    """Return the error of a double backward; its forward runs ``inside`` anomaly mode or before."""

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Inner.apply(g * x)

    Inner = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * T.tensor([float("nan"), 1.0]))
    Outer = function(
        T, lambda ctx, x: (ctx.save_for_backward(x), x.sum(0, keepdim=True))[1], backward
    )

    def slope():
        x = T.ones(2, requires_grad=True)
        (g,) = T.autograd.grad(Outer.apply(x).sum(), x, create_graph=True)
        return g.sum()

    before = None if inside else slope()
    with T.autograd.detect_anomaly():
        return attempt((slope() if inside else before).backward)


@program
def anomaly_mode_names_the_nodes_whose_backward_made_the_node(T):
    return {"error": nan_in_the_second_backward(T, inside=True)}


@program
def anomaly_mode_after_the_forward(T):
    return {"error": nan_in_the_second_backward(T, inside=False)}


@program
def a_failing_node_in_anomaly_mode(T):
    x = T.ones(2, requires_grad=True)
    with T.autograd.detect_anomaly():
        y = x + 1
        z = y**2
        y += 1
        error = attempt(z.sum().backward)
    return {"raised": error is not None}


@program
def anomaly_mode_without_a_look_for_nan(T):
    x = T.tensor(-1.0, requires_grad=True)
    with T.autograd.detect_anomaly(check_nan=False):
        x.sqrt().backward()
    return locals()


@program
def anomaly_mode_can_be_set(T):
    states = [T.is_anomaly_enabled()]
    with T.autograd.set_detect_anomaly(True):
        states += [T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()]
    states.append(T.is_anomaly_enabled())
    return locals()


@program
def a_checkpoint_runs_its_function_again(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    log = []

    def block(x):
        log.append("run")
        return (x * x).exp()

    y = T.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    y.sum().backward()
    return locals()


@program
def a_reentrant_checkpoint(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    log = []

    def block(x):
        log.append(T.is_grad_enabled())
        return (x * x).exp()

    y = T.utils.checkpoint.checkpoint(block, x, use_reentrant=True)
    y.sum().backward()
    return locals()


@program
def functional_vjp_and_jvp(T):
    x = T.tensor([1.0, 2.0])
    out, d_vjp = T.autograd.functional.vjp(lambda x: x**2, x, T.tensor([1.0, 10.0]))
    same_out, d_jvp = T.autograd.functional.jvp(lambda x: x**2, x, T.tensor([1.0, 10.0]))
    return locals()


@program
def functional_jacobian_and_hessian(T):
    x = T.tensor([1.0, 2.0])
    d_jacobian = T.autograd.functional.jacobian(lambda x: x**2 * x[0], x)
    d_hessian = T.autograd.functional.hessian(lambda x: (x**3).sum() * x[0], x)
    return locals()


@program
def functional_hvp_and_vhp(T):
    x, v = T.tensor([1.0, 2.0]), T.tensor([1.0, 10.0])
    out, d_hvp = T.autograd.functional.hvp(lambda x: (x**3).sum() * x[0], x, v)
    same_out, d_vhp = T.autograd.functional.vhp(lambda x: (x**3).sum() * x[0], x, v)
    return locals()


@program
def functional_jacobian_of_several_inputs(T):
    x, w = T.tensor([1.0, 2.0]), T.tensor(3.0)
    d_parts = T.autograd.functional.jacobian(lambda x, w: (x * w, x + w), (x, w))
    return locals()


@program
def functional_jacobian_with_create_graph(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    d_jacobian = T.autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    (d_xx,) = T.autograd.grad(d_jacobian.sum(), x)
    return {"d_xx": d_xx, "d_jacobian": d_jacobian}


@program
def functional_jacobian_refuses_what_is_no_tensor(T):
    error = attempt(lambda: T.autograd.functional.jacobian(lambda x: 5, T.ones(2)))
    return locals()


@program
def gradcheck_accepts_and_refuses(T):
    x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    wrong = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 3)
    accepted = T.autograd.gradcheck(lambda x: x**2, x)
    quiet = T.autograd.gradcheck(wrong.apply, x, raise_exception=False)
    error = attempt(lambda: T.autograd.gradcheck(wrong.apply, x))
    return locals()


@program
def gradcheck_of_float32_warns(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    accepted = T.autograd.gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2)
    return locals()


@program
def gradcheck_needs_an_input_with_grad(T):
    error = attempt(lambda: T.autograd.gradcheck(lambda x: x * 2, T.ones(2)))
    return locals()


@program
def gradgradcheck_refuses_a_wrong_second_derivative(T):
    x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    accepted = T.autograd.gradgradcheck(lambda x: x**3, x)
    return locals()


@program
def swapping_two_tensors(T):
    a = T.tensor([1.0, 2.0], requires_grad=True)
    b = T.tensor([[3.0]])
    T.utils.swap_tensors(a, b)
    return locals()


@program
def setting_the_source_of_a_tensor(T):
    x = T.tensor([1.0, 2.0])
    y = T.tensor([[3.0]])
    x.set_(y)
    y.add_(1)
    return locals()


@program
def resizing_by_resize_as_of_data(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    error = attempt(lambda: x.resize_(3))
    return locals()
