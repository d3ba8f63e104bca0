"""Seed 002, "2-3 dynamic computational graphs": Functions, hooks, leaves, TensorBoard."""

import re
import struct
import weakref
from functools import partial

import numpy as np
import pytest

import tinynet as torch
from tests.tools.libraries import Library
from tests.tools.rounding import STEPS, near
from tinynet import nn
from tinynet.utils.tensorboard import SummaryWriter

event_pb2 = Library("tensorboardX.proto.event_pb2")
graph_pb2 = Library("tensorboardX.proto.graph_pb2")

FREED = (
    "Trying to backward through the graph a second time, but the saved intermediate results have "
    "already been freed. Specify retain_graph=True when calling backward the first time."
)


def graph_of(tensor):
    """All nodes that the backward of the tensor can reach."""
    found, todo = [], [tensor.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in found:
            found.append(node)
            todo.extend(parent for parent, _ in node.next_functions)
    return found


# ---- 1. dynamic graphs ----


def linear_model():
    """The tensors of In [1]."""
    w = torch.tensor([[3.0, 1.0]], requires_grad=True)
    b = torch.tensor([[3.0]], requires_grad=True)
    x = torch.randn(10, 2)
    y = torch.randn(10, 1)
    y_hat = x @ w.t() + b

    loss = torch.mean(torch.pow(y_hat - y, 2))
    return w, b, x, y, y_hat, loss


def test_nodes_and_edges():
    """Text: nodes are tensors or Functions, an edge is a dependency between the two."""
    w, b, x, y, y_hat, loss = linear_model()
    nodes = graph_of(loss)
    assert y_hat.grad_fn in nodes
    # the graph ends in the leaves that require grad; x and y do not
    ends = [node.variable for node in nodes if not node.next_functions]
    assert len(ends) == 2 and any(t is w for t in ends) and any(t is b for t in ends)


def test_each_statement_adds_nodes_and_runs_at_once():
    """Text: forward is immediate: each statement adds nodes and edges and gives its result."""
    w = torch.tensor([[3.0, 1.0]], requires_grad=True)
    x = torch.tensor([[1.0, 2.0]])
    product = x @ w.t()
    assert product.tolist() == [[5.0]]
    before = graph_of(product)
    shifted = product + 1
    assert shifted.tolist() == [[6.0]]
    after = graph_of(shifted)
    assert len(after) == len(before) + 1 and all(node in after for node in before)
    # so Python's own control flow decides what the graph is
    if shifted.item() > 0:
        shifted = shifted.exp()
    assert len(graph_of(shifted)) == len(after) + 1


def test_cell_1_forward_is_immediate(printed):
    """In [1]: the values are random, so their form and their formula are checked."""
    w, b, x, y, y_hat, loss = linear_model()
    print(loss.detach())
    print(y_hat.detach())
    first, *rows = printed().splitlines()
    assert re.fullmatch(r"tensor\(\d+\.\d{4}\)", first)
    assert len(rows) == 10
    starts, ends = ["tensor(["] + [" " * 8] * 9, [","] * 9 + ["])"]
    for row, start, end in zip(rows, starts, ends, strict=True):
        assert row.startswith(start) and row.endswith(end)
        assert re.fullmatch(r"\[ *-?\d+\.\d{4}\]", row.removeprefix(start).removesuffix(end))
    assert not loss.detach().requires_grad and not y_hat.detach().requires_grad

    expected = x.numpy().astype(float) @ [[3.0], [1.0]] + 3
    assert y_hat.shape == (10, 1) and y.shape == (10, 1) and x.shape == (10, 2)
    assert y_hat.detach().numpy() == near(expected)
    assert loss.item() == near(np.mean((expected - y.numpy()) ** 2), scale=(expected**2).max())


def test_cell_1_printed_values(printed):
    """In [1]: what the document printed, for its values."""
    column = [1.3707, 3.6980, 5.1801, 1.0187, 3.3648, 3.5799, 2.2841, -1.1161, 4.2858, 1.5342]
    print(torch.tensor(12.0878))
    print(torch.tensor(column).view(10, 1))
    assert printed() == (
        "tensor(12.0878)\n"
        "tensor([[ 1.3707],\n"
        "        [ 3.6980],\n"
        "        [ 5.1801],\n"
        "        [ 1.0187],\n"
        "        [ 3.3648],\n"
        "        [ 3.5799],\n"
        "        [ 2.2841],\n"
        "        [-1.1161],\n"
        "        [ 4.2858],\n"
        "        [ 1.5342]])\n"
    )


def test_cell_3_backward_destroys_the_graph():
    """In [3]: shown is the error of the second call, which the comment warns of."""
    w, b, x, y, y_hat, loss = linear_model()
    loss.backward()  # to keep the graph, retain_graph=True is needed
    with pytest.raises(RuntimeError) as caught:
        loss.backward()  # once more is an error
    assert str(caught.value).startswith(FREED)

    error = (y_hat - y).detach().numpy()
    assert w.grad.numpy() == near(2 * (error * x.numpy()).mean(0, keepdims=True), 2 * STEPS)
    assert b.grad.numpy() == near(2 * error.mean(0, keepdims=True), 2 * STEPS)


def test_retain_graph_keeps_it():
    """In [3], its comment: retain_graph=True keeps the graph."""
    w, b, x, y, y_hat, loss = linear_model()
    loss.backward(retain_graph=True)
    once = w.grad.clone()
    loss.backward()
    assert w.grad.numpy() == near(2 * once.numpy())


def test_autograd_grad_destroys_the_graph_too():
    """Text: torch.autograd.grad destroys it as well; the next call needs a new graph."""
    w, b, x, y, y_hat, loss = linear_model()
    torch.autograd.grad(loss, w)
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.grad(loss, b)
    assert str(caught.value).startswith(FREED)

    loss = torch.mean(torch.pow(x @ w.t() + b - y, 2))
    assert torch.autograd.grad(loss, b)[0].shape == (1, 1)


@pytest.mark.parametrize("how", ["backward", "autograd.grad"])
def test_the_memory_of_a_destroyed_graph_is_released(how):
    """Text: the graph is destroyed at once and its storage released."""
    x = torch.ones(1000, requires_grad=True)
    inner = x * 2
    loss = (inner * inner).sum()
    values = inner.detach().numpy()
    while values.base is not None:
        values = values.base
    storage = weakref.ref(values)
    del values, inner
    assert storage() is not None  # the graph needs it
    if how == "backward":
        loss.backward()
    else:
        torch.autograd.grad(loss, x)
    assert storage() is None


# ---- 2. Functions ----


class MyReLU(torch.autograd.Function):
    """In [4]"""

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        # grad_output is the upstream gradient; to get the downstream gradient, all that is to be
        # computed here is the local gradient
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


def test_a_function_has_forward_and_backward():
    """Text: unlike a Python function, a Function has forward and backward; subclass it for that."""
    assert issubclass(MyReLU, torch.autograd.Function)
    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    y = MyReLU.apply(x)
    assert y.tolist() == [0.0, 3.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_downstream_is_upstream_times_local():
    """In [4], its comments: backward gets the upstream gradient and gives the downstream one."""
    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    y = MyReLU.apply(x)
    upstream = []
    y.register_hook(upstream.append)
    (y * torch.tensor([5.0, 7.0])).sum().backward()
    assert upstream[0].tolist() == [5.0, 7.0]
    assert x.grad.tolist() == [0.0, 7.0]


def test_cells_5_and_6_my_relu(printed):
    """In [5], In [6]"""
    w = torch.tensor([[3.0, 1.0]], requires_grad=True)
    b = torch.tensor([[3.0]], requires_grad=True)
    x = torch.tensor([[-1.0, -1.0], [1.0, 1.0]])
    y = torch.tensor([[2.0, 3]])

    myrelu = MyReLU.apply  # the handle of the function
    y_hat = myrelu(x @ w.t() + b)
    loss = torch.mean(torch.pow(y_hat - y, 2))

    loss.backward()

    print(w.grad)
    print(b.grad)
    assert printed() == "tensor([[4.5000, 4.5000]])\ntensor([[4.5000]])\n"

    print(y_hat.grad_fn)
    assert printed() == "<tinynet.autograd.function.MyReLUBackward object at 0x...>\n"


# ---- 3. the graph and backward ----


def two_branches():
    x = torch.tensor(3.0, requires_grad=True)
    y1 = x + 1
    y2 = 2 * x
    loss = (y1 - y2) ** 2
    return x, y1, y2, loss


def test_cell_10_hooks(printed):
    """In [10]"""
    x, y1, y2, loss = two_branches()

    # with hooks one sees more clearly
    def f(name, grad):
        print(name + "_grad:", grad)

    y1_f = partial(f, "y1")
    y2_f = partial(f, "y2")
    y1.register_hook(y1_f)
    y2.register_hook(y2_f)

    loss.backward()
    print("x_grad:", x.grad)
    assert printed() == "y2_grad: tensor(4.)\ny1_grad: tensor(-4.)\nx_grad: tensor(4.)\n"


def test_the_steps_of_backward(nonleaf_grad_warning):
    """Text: what happens, in this order, once loss.backward() is called."""
    x, y1, y2, loss = two_branches()
    steps = []
    loss.register_hook(lambda grad: steps.append(("loss", grad.item())))
    y1.register_hook(lambda grad: steps.append(("y1", grad.item())))
    y2.register_hook(lambda grad: steps.append(("y2", grad.item())))
    x.register_hook(lambda grad: steps.append(("x", grad.item())))
    loss.backward()
    # 1. the scalar loss gets the gradient 1, its upstream gradient in the graph
    assert steps[0] == ("loss", 1.0)
    # 2. from it and loss's backward follow the gradients of y1 and y2 (deleted later)
    assert sorted(steps[1:3]) == [("y1", -4.0), ("y2", 4.0)]
    with nonleaf_grad_warning():
        assert y1.grad is None and y2.grad is None
    # 3. y1 and y2 each give x a gradient, -4 * 1 and 4 * 2, and x adds them up
    assert steps[3:] == [("x", 4.0)]
    assert x.grad.item() == 4.0


def test_cell_14_zeroing_the_gradient(printed):
    """In [14]"""
    x, y1, y2, loss = two_branches()

    for _ in range(2):
        loss.backward(retain_graph=True)
        # 1. without zeroing this prints 4, 8
        # 2. zeroing directly: x.grad.zero_()
        # 3. with detach
        grad = x.grad.detach_()
        grad.zero_()
        print(x.grad)
    assert printed() == "tensor(0.)\ntensor(0.)\n"


def test_cell_14_comment_1_without_zeroing(printed):
    """In [14], comment 1. Text: it adds up, and is not zeroed on its own, by the chain rule."""
    x, y1, y2, loss = two_branches()
    for _ in range(2):
        loss.backward(retain_graph=True)
        print(x.grad)
    assert printed() == "tensor(4.)\ntensor(8.)\n"


def test_cell_14_comment_2_zeroing_directly(printed):
    """In [14], comment 2"""
    x, y1, y2, loss = two_branches()
    for _ in range(2):
        loss.backward(retain_graph=True)
        x.grad.zero_()
        print(x.grad)
    assert printed() == "tensor(0.)\ntensor(0.)\n"


# ---- 4. leaves and other nodes ----


def test_cell_15_nonleaves_have_no_grad(printed, nonleaf_grad_warning):
    """In [15]. Text: loss.grad is not the 1 that we expect, but None; and so for y1 and y2."""
    x, y1, y2, loss = two_branches()

    loss.backward()
    with nonleaf_grad_warning():
        print("loss.grad:", loss.grad)
    with nonleaf_grad_warning():
        print("y1.grad:", y1.grad)
    with nonleaf_grad_warning():
        print("y2.grad", y2.grad)
    print(x.grad)
    assert printed() == "loss.grad: None\ny1.grad: None\ny2.grad None\ntensor(4.)\n"


def test_cell_16_is_leaf_and_requires_grad(printed):
    """In [16]"""
    x, y1, y2, loss = two_branches()
    print("x:", x.is_leaf, x.requires_grad)
    print("y1:", y1.is_leaf, y1.requires_grad)
    print("y2:", y2.is_leaf, y2.requires_grad)
    print("loss:", loss.is_leaf, loss.requires_grad)
    assert printed() == "x: True True\ny1: False True\ny2: False True\nloss: False True\n"


def test_what_a_leaf_is():
    """Text: 1. requires_grad=False makes a leaf; 2. so does creation by the user with True."""
    assert torch.tensor(3.0).is_leaf
    assert (torch.tensor(3.0) + 1).is_leaf
    assert torch.tensor(3.0, requires_grad=True).is_leaf
    assert not (torch.tensor(3.0, requires_grad=True) + 1).is_leaf


def test_cell_17_retain_grad(printed):
    """In [17]"""
    x, y1, y2, loss = two_branches()
    # keep loss's gradient
    loss.retain_grad()

    loss.backward()
    print("loss.grad:", loss.grad)
    print(x.grad)
    assert printed() == "loss.grad: tensor(1.)\ntensor(4.)\n"


def test_register_hook_logs_without_keeping(printed, nonleaf_grad_warning):
    """Text: to look at a gradient only for debugging, log it with register_hook."""
    x, y1, y2, loss = two_branches()
    y1.register_hook(lambda grad: print("y1:", grad))
    loss.backward()
    assert printed() == "y1: tensor(-4.)\n"
    with nonleaf_grad_warning():
        assert y1.grad is None


# ---- 5. the graph in TensorBoard ----


class Net(nn.Module):
    """In [20]"""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2, 1))
        self.b = nn.Parameter(torch.zeros(1, 1))

    def forward(self, x):
        y = x @ self.w + self.b
        return y


def write_graph(folder):
    """In [26]; returns the folder of the events."""
    net = Net()
    logdir = str(folder / "data" / "tensorboard" / "2_3_autograph")
    writer = SummaryWriter(logdir)
    writer.add_graph(net, input_to_model=torch.rand(10, 2))
    writer.close()
    return folder / "data" / "tensorboard" / "2_3_autograph"


def check_graph(graph):
    """Under Net's scope are w, b, the product and the sum; the sum reads b and the product."""
    nodes = {node.name: node for node in graph.node}
    reads = {name: [i.lstrip("^").split(":")[0] for i in n.input] for name, n in nodes.items()}
    assert len(nodes) == len(graph.node)
    assert all(name in nodes for inputs in reads.values() for name in inputs)

    inside = {name: node.op for name, node in nodes.items() if name.startswith("Net/")}
    assert {"Net/w", "Net/b"} < set(inside)
    # `@` of two matrices is `mm`, as in MmBackward0
    (product,) = [name for name, op in inside.items() if op in ("matmul", "mm")]
    (total,) = [name for name, op in inside.items() if op == "add"]
    assert "Net/w" in reads[product] and len(reads[product]) == 2
    assert sorted(reads[total]) == sorted([product, "Net/b"])
    (source,) = set(reads[product]) - {"Net/w"}
    assert not source.startswith("Net/") and not reads[source]  # x comes from outside


def test_cells_20_and_26_add_graph(tmp_path):
    """In [20], In [26]: the graph is in the event file."""
    (file,) = write_graph(tmp_path).iterdir()
    assert "tfevents" in file.name
    data, start, graphs = file.read_bytes(), 0, []
    while start < len(data):  # a record: length (8 bytes), its checksum (4), event, checksum (4)
        (length,) = struct.unpack_from("<Q", data, start)
        event = event_pb2.Event.FromString(data[start + 12 : start + 12 + length])
        if event.WhichOneof("what") == "graph_def":
            graphs.append(graph_pb2.GraphDef.FromString(event.graph_def))
        start += 16 + length
    assert len(graphs) == 1
    check_graph(graphs[0])


def test_cell_26_as_tensorboard_reads_it(tmp_path):
    """In [26]: TensorBoard itself finds the graph."""
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    accumulator = events.EventAccumulator(str(write_graph(tmp_path)))
    accumulator.Reload()
    check_graph(accumulator.Graph())


# In [24] (notebook.list(), notebook.start(...)) belongs to the "TensorBoard" part of the roadmap:
# tinynet.utils.tensorboard.notebook comes with that issue, and its test then stands here.
