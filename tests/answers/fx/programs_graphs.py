"""Graphs that are built, changed, run node by node, and rewritten."""

from __future__ import annotations

import copy
import operator

from tests.answers.fx.packages import fx_of, printed, rows, without
from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)


def small(T):
    fx = fx_of(T)
    graph = fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y", T.Tensor, 3)
    b = graph.call_function(T.relu, (x,))
    c = graph.call_method("sum", (b,), {"dim": 1})
    d = graph.create_node("call_function", operator.iadd, (c, y), name="foo bar")
    graph.output(graph.call_function(operator.add, (d, 1), type_expr=T.Tensor), T.Tensor)
    return graph


@program
def graphs_built_by_hand(T):
    fx = fx_of(T)
    graph = small(T)
    graph.lint()
    text, code = str(graph), graph.python_code("self").src
    made = fx.GraphModule(T.nn.Module(), graph, "MyName")
    name, result = type(made).__name__, made(T.ones(2, 3), 2)
    relu = graph.find_nodes(op="call_function", target=T.relu)[0]
    nodes = str(list(graph.nodes)), str(list(reversed(graph.nodes))), len(graph.nodes)
    links = str((relu.users, relu.next, relu.prev, relu.next.all_input_nodes, relu.graph is graph))
    order = relu < relu.next, relu > relu.next, relu <= relu, sorted(graph.nodes) == [*graph.nodes]
    wrong = [
        str(attempt(lambda: graph.erase_node(relu))),
        str(attempt(lambda: graph.create_node("foo", "x"))),
        repr(attempt(lambda: relu.kwargs.update(k=1))),
        repr(attempt(lambda: graph.create_node("call_method", "x", ([relu],)).args[0].append(2))),
        str(attempt(lambda: graph.create_node("call_function", "x"))).splitlines()[-1],
        str(attempt(lambda: graph.create_node("call_method", "x", [relu]))),
        str(attempt(lambda: relu.insert_arg(5, 1))),
        str(attempt(lambda: fx.GraphModule(3, graph))),
    ]
    return without(locals(), "graph made relu")


@program
def names_of_nodes(T):
    graph = fx_of(T).Graph()
    names = [
        graph.create_node("call_method", name, ()).name
        for name in "x x x_1 x_3 x x_3 max CamelCase a.b.0 0 conv2D def __add__ inf getattr".split()
    ]
    names.append(graph.placeholder("*args").name)
    names.append(graph.placeholder("**kwargs").name)
    names.append(graph.create_node("call_method", "y", (), name="given.name_7").name)
    return without(locals(), "graph")


@program
def graphs_that_change(T):
    fx = fx_of(T)
    graph = small(T)
    relu = graph.find_nodes(op="call_function", target=T.relu)[0]
    with graph.inserting_after(relu):
        negative = graph.call_function(T.neg, (relu,))
        second = graph.call_function(T.abs, (relu,))
    changed = str(relu.replace_all_uses_with(negative))
    negative.args = (relu,)
    middle = str(graph)
    with graph.inserting_before(relu):
        graph.get_attr("weight")
    with graph.inserting_before():
        first = graph.placeholder("first")
    second.replace_input_with(relu, first)
    relu.next.append(first)
    first.prepend(second)
    second.update_arg(0, 5)
    second.update_kwarg("k", [relu])
    second.insert_arg(0, first)
    disorder = str(attempt(graph.lint)).splitlines()[0]
    second.kwargs, second.args = {}, (1,)
    before = rows(graph)
    removed = graph.eliminate_dead_code(), graph.eliminate_dead_code()
    after = str(graph)
    return without(locals(), "graph relu negative second first")


@program
def dead_code(T):
    fx = fx_of(T)

    def f(x):
        T.rand_like(x)
        T.nn.functional.dropout(x)
        x.add_(1)
        T.relu(x)
        x.relu_()
        T.bernoulli(x)
        return x

    traced = fx.symbolic_trace(f)
    before = traced.code
    traced.graph.eliminate_dead_code()
    traced.recompile()
    after = traced.code
    traced.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    traced.recompile()
    last = traced.code
    return without(locals(), "traced f")


@program
def copies_of_graphs(T):
    fx = fx_of(T)
    graph = small(T)
    copied = copy.deepcopy(graph)
    same = str(copied) == str(graph)
    new, values = fx.Graph(), {}
    start = new.placeholder("start")
    values[next(iter(graph.nodes))] = start
    result = new.graph_copy(graph, values)
    new.output((result, start))
    text = str(new)
    other = fx.Graph()
    for node in graph.nodes:
        values[node] = other.node_copy(node, lambda n: values[n])
    one_by_one = str(other)
    foreign = str(attempt(lambda: graph.erase_node(start))).splitlines()[0]
    return without(locals(), "graph copied new values start result other node")


@program
def proxies_outside_a_trace(T):
    fx = fx_of(T)
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    y = T.relu(x).shape[0] + x.foo.bar(2)(3) - x.size(-1)
    graph.output(y.node)
    shown = str((x, y, x.foo.bar, x.keys()))
    text = str(graph)
    tracer = fx_of(T, "proxy").GraphAppendingTracer(graph)
    kind = type(x.tracer).__name__, type(fx.Proxy(x.node, tracer).tracer).__name__
    decomposed = fx.Graph()
    env, steps = {}, fx_of(T, "proxy").GraphAppendingTracer(decomposed)
    for node in fx.symbolic_trace(lambda x: T.nn.functional.relu(x) * 2).graph.nodes:
        if node.target is T.nn.functional.relu:
            argument = fx.Proxy(env[node.args[0].name], steps)
            env[node.name] = ((argument > 0) * argument).node
        else:
            env[node.name] = decomposed.node_copy(node, lambda n: env[n.name])
    rewritten = str(decomposed)
    result = fx.GraphModule({}, decomposed)(T.tensor([-1.0, 2.0]))
    return without(locals(), "graph x y tracer decomposed env steps node argument")


@program
def interpreters(T):
    fx = fx_of(T)

    class Net(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = T.nn.Parameter(T.ones(2, 2))

        def forward(self, x, y=2.0):
            return (x @ self.weight).relu() * y

    class Watch(fx.Interpreter):
        def run_node(self, n):
            result = super().run_node(n)
            seen.append(n.format_node())
            return result

        def call_method(self, target, args, kwargs):
            return super().call_method("neg" if target == "relu" else target, args, kwargs)

    seen = []
    traced = fx.symbolic_trace(Net())
    result = Watch(traced).run(T.ones(3, 2))
    given = list(traced.graph.nodes)[3]
    early = fx.Interpreter(traced).run(T.ones(3, 2), 3.0, initial_env={given: T.ones(1)})
    error = attempt(lambda: fx.Interpreter(traced).run())
    missing = str(error).split("Original traceback")[0]
    boxed = [T.ones(1, 2), 5.0]
    fromlist, left = fx.Interpreter(traced).boxed_run(boxed), len(boxed)
    return without(locals(), "traced given error Net Watch")


@program
def transformers(T):
    fx = fx_of(T)

    class Swap(fx.Transformer):
        def call_function(self, target, args, kwargs):
            target = T.sigmoid if target is T.relu else target
            return super().call_function(target, args, kwargs)

        def call_module(self, target, args, kwargs):
            return super().call_module(target, args, kwargs) * 2

        def call_method(self, target, args, kwargs):
            return super().call_method("tanh", args, kwargs)

    class Net(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = T.nn.Linear(2, 2)
            self.weight = T.nn.Parameter(T.ones(2))

        def forward(self, x, k=3):
            return T.relu(self.linear(x)).exp() + self.weight, k

    new = Swap(fx.symbolic_trace(Net())).transform()
    code, text, name = new.code, str(new.graph), type(new).__name__
    keys = list(new.state_dict())
    plain = fx.Transformer(fx.symbolic_trace(Net())).transform().code
    return without(locals(), "new Net Swap")


@program
def patterns(T):
    fx = fx_of(T)

    def replaced(f, pattern, replacement):
        traced = fx.symbolic_trace(f)
        matches = fx.replace_pattern(traced, pattern, replacement)
        traced.graph.lint()
        return traced.code, str([(m.anchor, m.nodes_map) for m in matches])

    twice = replaced(
        lambda x: T.relu(x) + 1 + (T.relu(x) + 1), lambda x: T.relu(x) + 1, lambda x: T.sigmoid(x)
    )
    nested = replaced(
        lambda x: T.relu(T.relu(T.relu(x))), lambda x: T.relu(x), lambda x: T.neg(T.exp(x))
    )
    several = replaced(
        lambda x, w1, w2: T.cat([w1, w2]).sum() + T.cat([w1, w2]).sum() + x,
        lambda a, b: T.cat([a, b]).sum(),
        lambda a, b: T.stack([a, b]),
    )
    used = replaced(
        lambda x: T.relu(x + 1) * (x + 1), lambda x: T.relu(x + 1), lambda x: T.sigmoid(x)
    )
    shared = replaced(
        lambda x: (lambda y: T.relu(y) * y)(x + 1), lambda x: T.relu(x + 1), lambda x: T.neg(x)
    )
    none = replaced(lambda x: x + 2, lambda x: x + 1, lambda x: x)
    methods = replaced(
        lambda x: x.view(2, -1).t(), lambda x: x.view(2, -1), lambda x: x.reshape((2, -1))
    )
    return without(locals(), "replaced")


@program
def shapes_of_values(T):
    fx = fx_of(T)
    shape_prop = fx_of(T, "passes.shape_prop")

    def f(x):
        return x.relu().sum(dim=0), x.size(0), x.t()

    traced = fx.symbolic_trace(f)
    result = shape_prop.ShapeProp(traced).propagate(T.ones(3, 2, requires_grad=True))
    known = []
    for node in traced.graph.nodes:
        meta = node.meta.get("tensor_meta")
        if hasattr(meta, "dtype"):
            known.append((node.name, tuple(meta.shape), meta.dtype, meta.stride))
            known.append((meta.requires_grad, str(meta.memory_format), meta.is_quantized))
        known.append((node.name, sorted(node.meta), node.meta["type"].__name__))
    return without(locals(), "traced f node meta")


@program
def folded_batch_norms(T):
    fusion = fx_of(T, "experimental.optimization")
    nn = T.nn
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.BatchNorm2d(2)).eval()
    for i, value in enumerate(net.state_dict().values()):
        if value.is_floating_point():
            value.fill_(0.5 + 0.25 * i)
    x = T.arange(25.0).view(1, 1, 5, 5)
    fused = fusion.fuse(net)
    code, values, same = fused.code, fused(x), net(x)
    dropped = fusion.remove_dropout(nn.Sequential(nn.ReLU(), nn.Dropout(), nn.ReLU())).code
    return without(locals(), "net fused")


@program
def code_that_users_change(T):
    fx = fx_of(T)
    traced = fx.symbolic_trace(lambda x: T.relu(x) * 2)

    def transformer(before):
        def changed(lines):
            lines = before(lines) if before else lines
            return [*lines[:1], "print('between')\n", *lines[1:]]

        return changed

    with traced.graph.on_generate_code(transformer):
        traced.recompile()
        code = traced.code
        heard = printed(lambda: traced(T.ones(1)))
    traced.recompile()
    after = traced.code
    return without(locals(), "traced transformer")
