"""Modules as graphs: leaves, parameters and buffers, copies, submodules, training."""

from __future__ import annotations

import copy
import pickle

from tests.answers.fx.packages import fx_of, rows, texts, without
from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)


def filled(module):
    """Give all parameters of a module the same values in both libraries."""
    for i, parameter in enumerate(module.parameters()):
        parameter.data.fill_(0.1 * (i + 1))
    return module


def residual(T):
    nn = T.nn

    class Block(nn.Module):
        def __init__(self, n, m, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(n, m, 3, stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(m)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(m, m, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(m)
            plain = stride == 1 and n == m
            short = [nn.Conv2d(n, m, 1, stride, bias=False), nn.BatchNorm2d(m)]
            self.downsample = None if plain else nn.Sequential(*short)

        def forward(self, x):
            identity = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out += identity
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 7, stride=2, padding=3, bias=False)
            self.bn1 = nn.BatchNorm2d(4)
            self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
            self.layer1 = nn.Sequential(Block(4, 4), Block(4, 4))
            self.layer2 = nn.Sequential(Block(4, 8, 2), Block(8, 8))
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(8, 10)

        def forward(self, x):
            x = self.maxpool(T.relu(self.bn1(self.conv1(x))))
            x = self.layer2(self.layer1(x))
            return self.fc(T.flatten(self.avgpool(x), 1))

    return ResNet()


def members(T):
    nn = T.nn

    class Members(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(T.ones(3, 3))
            self.register_buffer("mean", T.ones(3))
            self.plain = T.zeros(3)
            self.inner = nn.ModuleDict({"a-b": nn.Linear(3, 3), "list": nn.ModuleList([nn.ReLU()])})
            self.scale = 2.0

        def forward(self, x, mask=None):
            x = (x - self.mean) @ self.weight + self.plain * self.scale
            if mask is not None:
                x = x * mask
            for layer in self.inner["list"]:
                x = layer(x)
            return self.inner["a-b"](x) + self.inner["a-b"].weight.sum() + self.weight.shape[0]

    return Members()


@program
def a_residual_network(T):
    net = residual(T)
    code = texts(T, net)
    traced = fx_of(T).symbolic_trace(net)
    table, keys, name = rows(traced.graph), list(traced.state_dict()), type(traced).__name__
    shown = str(traced).replace("tinynet", "torch")
    scopes = [[*node.meta.get("nn_module_stack", ())] for node in traced.graph.nodes]
    return dict(code=code, table=table, keys=keys, name=name, shown=shown, scopes=scopes)


@program
def members_of_modules(T):
    net = filled(members(T))
    code = texts(T, net)
    special = texts(T, net, {"mask": None})
    x = T.tensor([[1.0, 2.0, 3.0]])
    traced = fx_of(T).symbolic_trace(net, {"mask": None})
    result, same = traced(x, None), net(x)
    refused = str(attempt(lambda: traced(x, x)))
    keys = list(traced.state_dict())
    return without(locals(), "net traced")


@program
def layers_and_attention(T):
    nn = T.nn
    net = nn.Sequential(
        nn.Linear(4, 4), nn.Sequential(nn.LayerNorm(4), nn.GELU()), nn.Dropout(0.1), nn.Softmax(-1)
    )

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
            self.gru = nn.GRU(4, 4)
            self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
            self.norm = nn.LayerNorm(4)

        def forward(self, x, *, need_weights=False):
            y, _ = self.attention(x, x, x, need_weights=need_weights)
            out, hidden = self.gru(self.norm(x + y))
            for block in self.blocks:
                out = out + block(out).relu()
            return {"out": out, "hidden": hidden}

    code, more = texts(T, net), texts(T, Attention())
    return without(locals(), "net")


@program
def tracers_of_users(T):
    fx = fx_of(T)
    net = members(T)

    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return False if module_qualified_name == "" else True

        def call_module(self, m, forward, args, kwargs):
            seen.append(self.path_of_module(m))
            return super().call_module(m, forward, args, kwargs)

        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            node = super().create_node(kind, target, args, kwargs, name, type_expr)
            node.meta["mine"] = kind
            return node

    class Buffers(fx.Tracer):
        proxy_buffer_attributes = True

    class Pairs(fx.Tracer):
        def iter(self, obj):
            return iter([obj[0], obj[1]])

        def to_bool(self, obj):
            return True

    seen = []
    graph = Whole().trace(net)
    whole, kinds = rows(graph), [node.meta["mine"] for node in graph.nodes]
    buffers = str(Buffers().trace(net))
    pairs = str(Pairs().trace(lambda x: [a for a in x] if x > 0 else x))
    constant = fx.Tracer(param_shapes_constant=True)
    shapes = str(constant.trace(net))
    made = fx.GraphModule(net, graph, "Mine")
    name, lacking = type(made).__name__, str(attempt(lambda: Whole().path_of_module(net)))
    whole.append(lacking)
    return dict(
        seen=seen, whole=whole, kinds=kinds, buffers=buffers, pairs=pairs, shapes=shapes, name=name
    )


@program
def copies_and_pickles(T):
    fx = fx_of(T)
    traced = fx.symbolic_trace(filled(residual(T)).eval())
    copied, loaded = copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))
    x = T.arange(3 * 16 * 16.0).view(1, 3, 16, 16) / 100
    codes = copied.code == traced.code, loaded.code == traced.code
    graphs = str(copied.graph) == str(traced.graph), str(loaded.graph) == str(traced.graph)
    values = [f(x) for f in (traced, copied, loaded, copy.copy(traced))]
    apart = copied.fc is traced.fc, copied.graph is traced.graph
    owner = copied.graph.owning_module is copied, traced.graph.owning_module is traced
    modes = copied.training, loaded.training, loaded.layer1.training
    traced.graph.owning_module = copied
    shared = traced.graph.owning_module
    keys = list(loaded.state_dict())
    return without(locals(), "traced copied loaded")


@program
def submodules(T):
    fx, nn = fx_of(T), T.nn
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    added = traced.add_submodule("a.b.c", nn.ReLU()), traced.add_submodule("unused", nn.ReLU())
    with traced.graph.inserting_before(traced.graph.output_node()):
        node = traced.graph.call_module("a.b.c", (traced.graph.output_node().args[0],))
    traced.graph.output_node().args = (node,)
    traced.recompile()
    before, text = [name for name, _ in traced.named_modules()], traced.code
    deleted = traced.delete_submodule("1"), traced.delete_submodule("not.there")
    broken = str(attempt(traced.graph.lint))
    traced.delete_all_unused_submodules()
    after = [name for name, _ in traced.named_modules()]
    nowhere = attempt(lambda: traced.graph.call_module("nowhere"))
    lacking = type(attempt(lambda: fx.GraphModule({}, traced.graph))).__name__
    return without(locals(), "traced node")


@program
def training(T):
    fx = fx_of(T)
    traced = fx.symbolic_trace(filled(members(T)), {"mask": None})
    optimizer = T.optim.SGD(traced.parameters(), lr=0.01)
    x, losses = T.tensor([[1.0, -2.0, 3.0]]), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = traced(x, None).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    modes = traced.training, traced.eval().training
    state = dict(traced.state_dict())
    return without(locals(), "traced optimizer loss")


@program
def readable_code(T):
    fx = fx_of(T)

    class Net(T.nn.Module):
        def forward(self, x, *args):
            return T.relu(x) + len(args.shape)

    traced = fx.symbolic_trace(T.nn.Sequential(T.nn.Linear(2, 2), T.nn.ReLU()))
    text = traced.print_readable(print_output=False)
    variadic = fx.symbolic_trace(lambda x, *args: T.relu(x) + args[0])
    more = variadic.print_readable(print_output=False)
    return dict(text=text, more=more)
