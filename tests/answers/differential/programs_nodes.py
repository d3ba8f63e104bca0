"""Nodes of the graph: names, edges, metadata, and hooks on the nodes themselves."""

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__)


@program
def names_and_edges_of_a_product(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3 + 1
    node = y.grad_fn
    name = node.name()
    edges = [(after and after.name(), number) for after, number in node.next_functions]
    return locals()


@program
def the_edges_of_a_product_with_a_constant(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * T.tensor(3.0)
    edges = [(after and after.name(), number) for after, number in y.grad_fn.next_functions]
    return locals()


@program
def the_edges_of_a_product_of_leaves_lead_to_the_leaves(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    y = x * w
    leaves = [after.variable for after, _ in y.grad_fn.next_functions]
    return locals()


@program
def a_leaf_has_one_accumulator(T):
    x = T.tensor(2.0, requires_grad=True)
    y, z = x * 2, x * 3
    accumulator = y.grad_fn.next_functions[0][0]
    same = accumulator is z.grad_fn.next_functions[0][0]
    equal = accumulator == z.grad_fn.next_functions[0][0]
    name = accumulator.name()
    further = accumulator.next_functions
    return locals()


@program
def the_edges_of_a_linear_layer(T):
    x = T.ones(4, 3)
    layer, plain = T.nn.Linear(3, 2), T.nn.Linear(2, 2, bias=False)
    hidden = layer(x)
    node = hidden.grad_fn
    first = [after and after.name() for after, _ in node.next_functions]
    transposed = node.next_functions[2][0]
    is_weight = transposed.next_functions[0][0].variable is layer.weight
    second = [after and after.name() for after, _ in plain(hidden).grad_fn.next_functions]
    frozen = layer.requires_grad_(False)(x.requires_grad_())
    third = [after and after.name() for after, _ in frozen.grad_fn.next_functions]
    return {
        "first": first,
        "is_bias": node.next_functions[0][0].variable is layer.bias,
        "is_weight": is_weight,
        "second": second,
        "third": third,
    }


@program
def an_edge_to_the_second_output(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    y = b * 2
    numbers = [number for _, number in y.grad_fn.next_functions]
    same = y.grad_fn.next_functions[0][0] is a.grad_fn
    return locals()


@program
def the_edges_of_copy_slices(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    w = T.tensor([3.0], requires_grad=True)
    y = x * 1
    before = y.grad_fn
    y[1:].mul_(w)
    name = y.grad_fn.name()
    edges = [after.name() for after, _ in y.grad_fn.next_functions if after is not None]
    first_is_before = y.grad_fn.next_functions[0][0] is before
    return locals()


@program
def the_same_node_each_time(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    same = y.grad_fn is y.grad_fn
    equal = y.grad_fn == y.grad_fn
    return locals()


@program
def metadata_stays_with_the_node(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    empty = dict(y.grad_fn.metadata)
    y.grad_fn.metadata["note"] = "kept"
    z = y + 1
    note = z.grad_fn.next_functions[0][0].metadata
    return locals()


@program
def a_node_hook_sees_both_sides(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.grad_fn.register_hook(lambda inner, outer: log.append([inner, outer]))
    (y * 5).backward()
    return locals()


@program
def a_node_hook_replaces_the_gradients_of_the_inputs(T):
    x = T.tensor(2.0, requires_grad=True)
    w = T.tensor(3.0, requires_grad=True)
    y = x * w
    y.grad_fn.register_hook(lambda inner, outer: (inner[0] * 10, inner[1] * 100))
    y.backward()
    return locals()


@program
def a_node_hook_shows_none_for_inputs_without_grad(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * T.tensor(3.0)
    log = []
    y.grad_fn.register_hook(lambda inner, outer: log.append([inner, outer]))
    y.backward()
    return locals()


@program
def node_hooks_run_in_order(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.grad_fn.register_hook(lambda inner, outer: log.append("first"))
    y.grad_fn.register_hook(lambda inner, outer: log.append("second"))
    y.backward()
    return locals()


@program
def a_node_prehook_sees_the_gradients_of_the_outputs(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.grad_fn.register_prehook(lambda outer: log.append(outer))
    (y * 5).backward()
    return locals()


@program
def a_node_prehook_replaces_the_gradients_of_the_outputs(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.grad_fn.register_prehook(lambda outer: (outer[0] * 10,))
    y.backward()
    return locals()


@program
def tensor_hooks_prehooks_and_hooks_in_one_pass(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.grad_fn.register_hook(lambda inner, outer: log.append("hook"))
    y.grad_fn.register_prehook(lambda outer: log.append("prehook"))
    y.register_hook(lambda g: log.append("tensor hook"))
    x.register_hook(lambda g: log.append("leaf hook"))
    y.backward()
    return locals()


@program
def a_tensor_hook_after_a_prehook_runs_before_it(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.grad_fn.register_prehook(lambda outer: log.append(["prehook", outer[0].item()]))
    y.register_hook(lambda g: g * 10)
    y.backward()
    return locals()


@program
def a_retained_gradient_is_taken_after_prehooks_or_before(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    y.grad_fn.register_prehook(lambda outer: (outer[0] * 10,))
    y.backward()
    return locals()


@program
def a_removed_node_hook_does_not_run(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    a = y.grad_fn.register_hook(lambda inner, outer: log.append("hook"))
    b = y.grad_fn.register_prehook(lambda outer: log.append("prehook"))
    a.remove()
    b.remove()
    y.backward()
    return locals()


@program
def a_hook_on_an_accumulator_runs_after_accumulation(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_hook(lambda inner, outer: log.append([len(inner), x.grad.item()]))
    y.backward()
    return locals()


@program
def a_prehook_on_an_accumulator_replaces_the_gradient(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda outer: (outer[0] * 10,))
    y.backward()
    return locals()


@program
def a_node_hook_on_split_sees_none_for_the_unused_output(T):
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    log = []
    a.grad_fn.register_prehook(lambda outer: log.append([g is None for g in outer]))
    (b * 2).backward()
    return locals()


@program
def a_node_hook_that_returns_too_few_gradients_is_refused(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    y.grad_fn.register_hook(lambda inner, outer: (inner[0],))
    error = attempt(y.backward)
    return locals()


@program
def a_node_hook_that_returns_no_tuple(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x.exp()
    y.grad_fn.register_hook(lambda inner, outer: inner[0] * 10)
    error = attempt(y.backward)
    return locals()


@program
def a_node_hook_lives_on_after_its_tensor_is_written(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    log = []
    y.grad_fn.register_hook(lambda inner, outer: log.append(outer[0].item()))
    y.mul_(5)
    y.backward()
    return locals()


@program
def a_walk_over_the_whole_graph(T):
    x = T.tensor(2.0, requires_grad=True)
    y = (x * x).exp().sum()
    names, node = [], y.grad_fn
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return locals()


@program
def saved_values_can_be_read_from_the_node(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    z = x.exp()
    saved_self, saved_other = y.grad_fn._saved_self, y.grad_fn._saved_other
    saved_result = z.grad_fn._saved_result
    equal = bool(saved_result == z)
    return locals()


@program
def saved_values_are_gone_after_backward(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * x
    node = y.grad_fn
    y.backward()
    error = attempt(lambda: node._saved_self)
    return locals()


@program
def saved_arguments_can_be_read_from_the_node(T):
    x = T.tensor([[1.0, 2.0]], requires_grad=True)
    dim = x.sum(1).grad_fn._saved_dim
    exponent = (x**3).grad_fn._saved_exponent
    return locals()


@program
def nodes_are_instances_of_node(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 2
    is_node = isinstance(y.grad_fn, T.autograd.graph.Node)
    is_subclass = issubclass(type(y.grad_fn), T.autograd.graph.Node)
    return locals()


@program
def a_gradient_edge_stands_for_its_tensor(T):
    x = T.tensor(2.0, requires_grad=True)
    y = x * 3
    edge = T.autograd.graph.get_gradient_edge(y)
    same_node, number = edge.node is y.grad_fn, edge.output_nr
    error = attempt(lambda: T.autograd.grad(y * y, edge))
    return {"same_node": same_node, "number": number, "error": error}


@program
def saved_sizes_and_dimensions(T):
    x = T.ones(2, 3, requires_grad=True)
    last = T.cat([x, x], -1).grad_fn._saved_dim
    nodes = [y.grad_fn for y in (x.view(6), x[:, 0], x.sum(1), x.repeat(2, 1), x.flatten())]
    sizes = [tuple(node._saved_self_sym_sizes) for node in nodes]
    return locals()
