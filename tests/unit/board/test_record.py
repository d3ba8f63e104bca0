"""Recorded training steps: every graph says what ran, and nothing is different afterwards."""

import gc
import weakref

import numpy as np
import pytest

import tinynet as tn
from tests.unit.board import models, steps
from tests.unit.board.test_recorder import fingerprint
from tinynet import board, nn, optim
from tinynet.board.graphs import timing
from tinynet.board.graphs.assemble import BACKWARD, FORWARD, OPTIMIZER
from tinynet.board.graphs.graph import SOURCES, problems
from tinynet.core import trace as observe
from tinynet.core import trace as scope
from tinynet.core.graph import engine as passes
from tinynet.core.modes import mode
from tinynet.core.trace import observing

FILES = ("steps.py", "models.py")


def recorded(name, **options):
    tn.manual_seed(0)
    model, step = steps.STEPS[name]()
    with board.record(model, **options) as rec:
        step(rec)
    for graph in rec.graphs.values():
        assert problems(graph) == []
    return rec, model


def named(graph):
    return {node.name: node for node in graph.nodes}


def nodes_of(rec, graph="step"):
    return named(rec.graphs[graph])


def by_op(rec, op, graph="step"):
    return [node for node in rec.graphs[graph].nodes if node.op == op]


@pytest.fixture(params=steps.STEPS)
def example(request):
    return request.param


# ---- every step ------------------------------------------------------------------------------


def test_every_operation_that_ran_is_a_node(example):
    tn.manual_seed(0)
    _, step = steps.STEPS[example]()
    ran = []
    with observing(lambda op, ins, outs, attrs: ran.append((op.title, outs[0].shape))):
        step()
    rec, _ = recorded(example)
    found = [
        (node.attributes.get("operation", node.op), node.outputs[0].shape)
        for node in rec.graphs["step"].nodes
        if node.cost is not None and node.device != BACKWARD
    ]
    assert found == ran


def test_every_node_of_backward_is_a_node(example):
    visited = []

    class Observer(passes.BackwardObserver):
        def began(self, backward_pass):
            pass

        def visit(self, backward_pass, node, go):
            visited.append(node.name().rpartition("::")[2])
            go(node)

        def ended(self, backward_pass):
            pass

    tn.manual_seed(0)
    _, step = steps.STEPS[example]()
    with passes.observing_backward(Observer()):
        step()
    rec, _ = recorded(example)
    ran = [n.op for n in rec.graphs["step"].nodes if n.device == BACKWARD and n.cost is not None]
    assert ran == visited != []


def test_backward_nodes_and_operations_name_each_other(example):
    rec, _ = recorded(example)
    known = nodes_of(rec)
    linked = 0
    for node in known.values():
        if node.device == BACKWARD and node.cost is not None:
            forward = known[node.attributes["forward"]]
            assert node.name in forward.attributes["backward"].split(", ")
            assert forward.scope in node.name
            linked += 1
    assert linked > 2


def test_gradients_run_backwards_to_every_parameter(example):
    rec, model = recorded(example)
    known = nodes_of(rec)
    sums = [
        n
        for n in known.values()
        if n.op in ("AccumulateGrad", "AssignAdd") and n.name.endswith(".grad")
    ]
    updated = {n.name for n in known.values() if n.op == "AssignSub"}
    assert len({id(p) for p in model.parameters()}) <= len(sums) if example != "branching" else sums
    for node in sums:
        seen, todo = set(), [node.name]
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += known[name].producers
        assert any("grad_of_" in name for name in seen), node.name
    assert updated


def test_updates_are_references_to_parameters(example):
    rec, _ = recorded(example)
    updates = by_op(rec, "AssignSub", "optimizer")
    assert updates
    for node in updates:
        target, gradient = node.producers[:2]
        assert target.endswith(node.name.split("/", 1)[1]) or "/" in target
        assert gradient.endswith(".grad")
        assert node.device == OPTIMIZER
        assert node.cost.time > 0


def test_nodes_have_shapes_types_lines_and_times(example):
    rec, _ = recorded(example)
    for node in rec.graphs["step"].nodes:
        if node.cost is not None:
            assert node.outputs, node.name
            assert node.attributes["source"].partition(":")[0] in FILES, node.name
            # Small parameters have less than a nanosecond of a short update.
            assert node.cost.time > 0 or node.device == OPTIMIZER, node.name
            assert node.device in (FORWARD, BACKWARD, OPTIMIZER)
    costs = [node.cost for node in rec.graphs["step"].nodes if node.device == OPTIMIZER]
    assert not costs or sum(cost.time for cost in costs if cost is not None) > 0


def test_what_ran_has_a_time_where_the_clock_of_threads_counts_in_ticks(monkeypatch):
    monkeypatch.setattr(timing.time, "thread_time_ns", lambda: 0)
    monkeypatch.setattr(timing, "_interruptions", iter(range(10**6)).__next__)
    test_nodes_have_shapes_types_lines_and_times("transformer")


def test_parts_hold_nothing_but_what_is_theirs(example):
    rec, _ = recorded(example)
    whole = nodes_of(rec)
    devices = {"forward": FORWARD, "backward": BACKWARD, "optimizer": OPTIMIZER}
    for name, device in devices.items():
        part = nodes_of(rec, name)
        own = {node.name for node in part.values() if node.device == device}
        assert own == {node.name for node in whole.values() if node.device == device}
        for node in part.values():
            if node.device != device:
                assert node.op in SOURCES and not node.inputs and name != "backward"


def test_training_is_the_same_to_the_bit(example):
    def results(look):
        tn.manual_seed(0)
        model, step = steps.STEPS[example]()
        for _ in range(2):
            if look:
                with board.record(model) as rec:
                    step(rec)
            else:
                step()
        return [p.detach().numpy().tobytes() for p in model.parameters()] + [
            None if p.grad is None else p.grad.numpy().tobytes() for p in model.parameters()
        ]

    assert results(True) == results(False)


def test_nothing_is_left_behind(example):
    before = (*_swapped(),)
    _, model = recorded(example)
    assert (*_swapped(),) == before
    assert not observe.observers and mode.scope is None
    for module in model.modules():
        assert "_hooks" not in vars(module)


def _swapped():
    kernel = observe.observable.namespace["mul_kernel"]
    return kernel, [*observe.observers], [*passes.passes.listeners], [*scope.calls.listeners]


def test_the_outside_of_a_recorded_forward_is_the_same():
    """Version counters, flags, random numbers, identities: as a plain forward leaves them."""

    def after(look):
        tn.manual_seed(0)
        model, x = models.MLP(), tn.rand(2, 4)
        identities = id(model), id(x)
        if look:
            with board.record(model):
                model(x)
        else:
            model(x)
        found = fingerprint(model, x)
        return identities, {key: found[key] for key in ("rng", "numpy", "python", "state", "scope")}

    plain, looked = after(False)[1], after(True)[1]
    assert plain == looked
    model, x = models.MLP(), tn.rand(2, 4)
    before = fingerprint(model, x)
    with board.record(model):
        model(x)
    assert fingerprint(model, x) == before


def test_memory_is_let_go_of():
    model = models.MLP()
    with board.record(model) as rec:
        hidden = model.fc1(tn.rand(2, 4))
        array = weakref.ref(hidden._array)
        node = weakref.ref(hidden.grad_fn)
        del hidden
        assert array() is not None  # kept, so that edges can be found
    gc.collect()
    assert array() is None and node() is None
    assert rec.graphs["step"].nodes


# ---- what the nodes say ----------------------------------------------------------------------


def test_cnn():
    rec, _ = recorded("cnn")
    known = nodes_of(rec)
    convolution = known["CNN/Conv2d[stem]/convolution"]
    assert convolution.producers == ["input/x", "CNN/Conv2d[stem]/weight", "CNN/Conv2d[stem]/bias"]
    assert convolution.attributes["flops"] == str(2 * (2 * 4 * 6 * 6) * 9)
    assert convolution.attributes["parameters"] == str(4 * 9 + 4)
    assert convolution.attributes["saved"] == "input"
    assert convolution.attributes["walk"].startswith("kernel (3, 3), stride (1, 1), padding (0, 0)")
    assert convolution.attributes["_XlaCluster"] == "saved for backward"
    assert convolution.cost.memory == 2 * 4 * 6 * 6 * 4
    assert convolution.attributes["source"].endswith(
        "x = self.pool(self.norm(self.stem(x)).relu())"
    )
    assert known["target"].outputs[0].dtype == "int64"
    relu = known["CNN/relu"]
    node = known["backward/CNN/ReluBackward0"]
    assert relu.attributes["saved"] == "result"
    assert node.attributes["saved"] == "result: CNN/relu"
    assert "CNN/relu" in node.producers  # the saved value goes from forward to backward
    writes = [n for n in known.values() if n.op == "Assign"]
    assert {n.producers[0] for n in writes} == {
        "CNN/BatchNorm2d[norm]/running_mean",
        "CNN/BatchNorm2d[norm]/running_var",
    }
    assert {n.inputs[1] for n in writes} == {
        f"CNN/BatchNorm2d[norm]/native_batch_norm:{i}" for i in (1, 2)
    }
    head = known["backward/CNN/Linear[head]/AddmmBackward0"]
    assert head.attributes["flops"] == str(
        2 * int(known["CNN/Linear[head]/addmm"].attributes["flops"])
    )
    update = known["Adam/CNN/Linear[head]/weight"]
    assert update.producers == [
        "CNN/Linear[head]/weight",
        "backward/CNN/Linear[head]/weight.grad",
        "Adam/CNN/Linear[head]/weight.exp_avg",
        "Adam/CNN/Linear[head]/weight.exp_avg_sq",
    ]


def test_the_pass_begins_after_the_loss():
    rec, _ = recorded("cnn")
    start = nodes_of(rec)["backward/grad_of_nll_loss"]
    assert (start.op, start.inputs) == ("Const", ["^CrossEntropyLoss/nll_loss"])


def test_calls_in_a_loop_have_scopes_of_their_own():
    rec, _ = recorded("lstm")
    scopes = {node.scope for node in rec.graphs["forward"].nodes}
    calls = ["Loop/LSTMCell[cell]"] + [f"Loop/LSTMCell[cell]_{i}" for i in range(1, 6)]
    assert scopes.issuperset(calls)
    assert "Loop/LSTMCell[cell]_6" not in scopes
    backward = {node.scope for node in rec.graphs["backward"].nodes}
    assert backward.issuperset(f"backward/{call}" for call in calls)


def test_a_tied_weight_is_one_node_that_gets_both_gradients():
    rec, _ = recorded("transformer")
    known = nodes_of(rec)
    weight = known["Language/Embedding[embed]/weight"]
    assert weight.attributes["shared_with"] == "Language/Linear[decode]/weight"
    assert "Language/Linear[decode]/weight" not in known
    grad = known["backward/Language/Embedding[embed]/weight.grad"]
    assert [known[name].op for name in grad.producers] == ["MmBackward0", "EmbeddingBackward0"]


def test_only_the_branch_that_ran_is_there():
    rec, _ = recorded("branching")
    known = nodes_of(rec, "forward")
    assert "Branching/Sequential[large]/Linear[0]/addmm" in known
    assert not any(node.scope == "Branching/Linear[small]" and node.cost for node in known.values())
    assert {"input/batch/x", "input/batch/extra/0", "input/scale"} <= set(known)
    assert known["input/batch/extra/2"].attributes["value"] == "hello"
    assert {"output/output.1/out", "output/output.1/aux/0", "output/output.1/aux/1"} <= set(known)


def test_a_renormed_embedding_is_written_before_it_is_read():
    rec, _ = recorded("renormed")
    known = nodes_of(rec)
    (write,) = [n for n in known.values() if n.op == "Assign"]
    assert write.producers[0] == "Renormed/Embedding[embed]/weight"
    assert write.scope == "Renormed/Embedding[embed]"
    (lookup,) = [n for n in known.values() if n.op == "embedding"]
    assert lookup.producers[0] == write.name


def test_a_gan_has_a_graph_for_each_part():
    rec, _ = recorded("gan")
    assert list(rec.graphs) == [
        *("step", "forward", "backward", "optimizer", "discriminator", "generator")
    ]
    optimized = {
        name: {n.name for n in by_op(rec, "AssignSub", name)}
        for name in ("discriminator", "generator")
    }
    assert all(
        name.startswith("Adam/ModuleDict/Sequential[D]/") for name in optimized["discriminator"]
    )
    assert all(name.startswith("Adam_1/ModuleDict/Linear[G]/") for name in optimized["generator"])
    assert len(optimized["discriminator"]) == 4 and len(optimized["generator"]) == 2


# ---- more than one model, more than one pass -------------------------------------------------


def test_models_can_be_named_and_are_found_otherwise():
    generator, critic, other = nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(1, 1)
    with board.record(critic=critic, generator=generator) as rec:
        other(critic(generator(tn.ones(1, 2))))
    names = set(nodes_of(rec))
    assert {"generator/addmm", "critic/addmm", "Linear/addmm"} <= names


def test_models_of_one_class_are_told_apart():
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    with board.record(first, second) as rec:
        second(first(tn.ones(1, 2)))
    assert {"Linear/weight", "Linear2/weight", "Linear/addmm", "Linear2/addmm"} <= set(
        nodes_of(rec)
    )


def test_what_is_no_module_is_refused():
    with pytest.raises(
        TypeError, match="record\\(\\) takes modules. Got Tensor for 'Tensor' instead"
    ):
        board.record(tn.ones(1))
    rec = board.record()
    with rec:
        pass
    with pytest.raises(RuntimeError, match="has ended"):
        rec.__enter__()
    with pytest.raises(RuntimeError, match="inside of the `with` block"):
        with rec.part("a"):
            pass
    with pytest.raises(KeyError, match="no graph 'other'. There are: 'step'"):
        rec.text("other")


def test_gradients_that_are_accumulated_are_written_to():
    layer, x = nn.Linear(2, 1), tn.ones(1, 2)
    with board.record(layer) as rec:
        layer(x).sum().backward()
        layer(x).sum().backward()
    known = nodes_of(rec)
    second = known["backward_1/Linear/weight.grad"]
    assert second.op == "AssignAdd"
    assert second.producers[0] == "backward/Linear/weight.grad"


def test_a_second_pass_over_one_graph_is_of_the_same_operations():
    x = tn.ones(2, requires_grad=True)
    with board.record() as rec:
        loss = (x.exp() * 2).exp().sum()
        loss.backward(retain_graph=True)
        loss.backward()
    known = nodes_of(rec)
    for name in ("exp", "exp_1", "mul", "sum"):
        first, second = known[name].attributes["backward"].split(", ")
        assert second == first.replace("backward/", "backward_1/")
        assert known[first].attributes["forward"] == known[second].attributes["forward"] == name


def test_products_are_counted_once_per_factor():
    parts = [tn.ones(2, 3, requires_grad=True), tn.ones(3, 4, requires_grad=True)]
    with board.record() as rec:
        added = tn.addmm(tn.ones(2, 4, requires_grad=True), *parts)
        (added.sum() + (parts[0].detach() @ parts[1]).sum()).backward()
    known = nodes_of(rec)
    assert known["addmm"].attributes["flops"] == known["mm"].attributes["flops"] == "48"
    assert known["backward/AddmmBackward0"].attributes["flops"] == "96"
    assert known["backward/MmBackward0"].attributes["flops"] == "48"


def test_only_new_memory_counts():
    x = tn.ones(4, 6, requires_grad=True)
    with board.record() as rec:
        (x.view(6, 4).t() + x).exp_().sum().backward()
    known = nodes_of(rec)
    memory = {name: known[name].cost.memory for name in known if known[name].cost}
    assert (memory["view"], memory["t"], memory["add"], memory["sum"]) == (0, 0, 96, 4)
    assert memory["exp_"] == 0
    assert memory["backward/AddBackward0"] == 0  # the gradient goes on as it is
    assert memory["backward/ExpBackward"] == 96


def test_the_time_of_a_step_is_shared_out():
    rec, _ = recorded("mlp")
    known = nodes_of(rec)
    of_weight = known["SGD/MLP/Linear[fc1]/weight"].cost.time
    of_bias = known["SGD/MLP/Linear[fc1]/bias"].cost.time
    assert abs(of_weight - 4 * of_bias) <= 4  # roundings to nanoseconds


def test_autograd_grad_and_a_second_derivative():
    x = tn.tensor([1.0, 2.0], requires_grad=True)
    with board.record() as rec:
        (g,) = tn.autograd.grad((x**3).sum(), x, create_graph=True)
        g.sum().backward()
    known = nodes_of(rec)
    assert problems(rec.graphs["step"]) == []
    (captured,) = [n for n in known.values() if n.op == "Gradient"]
    assert captured.name.startswith("backward/")
    inside = [
        n for n in known.values() if ".inside/" in n.name and not n.name.startswith("backward_1")
    ]
    assert inside and all(n.device == BACKWARD for n in inside)
    second = [n for n in known.values() if n.name.startswith("backward_1/") and n.cost]
    assert any(".inside/" in n.attributes.get("forward", "") for n in second)
    assert x.grad.numpy().tolist() == [6.0, 12.0]


def test_a_function_of_the_users_own():
    class Square(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = tn.tensor(3.0, requires_grad=True)
    with board.record() as rec:
        Square.apply(x * 1).backward()
    known = nodes_of(rec)
    assert known["backward/SquareBackward"].attributes["saved"] == "0: mul"
    assert "backward/SquareBackward.inside/mul" in known


def test_in_place_operations_are_writes_and_their_history_is_there():
    x = tn.ones(3, requires_grad=True)
    with board.record() as rec:
        y = x * 2
        y[0] = 5
        y.mul_(3)
        y.sum().backward()
    known = nodes_of(rec)
    assert "backward/CopySlices" in known
    assert [n.attributes["operation"] for n in known.values() if n.op == "Assign"] == [
        *("__setitem__", "mul_")
    ]
    assert x.grad.numpy().tolist() == [0.0, 6.0, 6.0]


def test_a_leaf_that_was_moved_into_the_graph():
    x = tn.ones(3, requires_grad=True)
    with board.record() as rec:
        y = x * 2
        x[0] = 5
        with pytest.raises(RuntimeError, match="moved into the graph interior"):
            y.sum().backward()
    assert problems(rec.graphs["step"]) == []
    board.draw(y, x)


def test_a_step_by_hand_is_an_update():
    w = nn.Linear(2, 1)
    with board.record(w) as rec:
        w(tn.ones(1, 2)).sum().backward()
        with tn.no_grad():
            for p in w.parameters():
                p -= 0.1 * p.grad
    assert "isub/Linear/weight" in nodes_of(rec, "optimizer")


def test_an_exception_in_the_block_is_the_users_and_everything_is_put_back():
    before = (*_swapped(),)
    model = models.MLP()
    with pytest.raises(ZeroDivisionError):
        with board.record(model) as rec:
            model(tn.rand(1, 4))
            1 / 0  # noqa: B018
    assert (*_swapped(),) == before
    assert "MLP/Linear[fc1]/addmm" in nodes_of(rec)


def test_an_exception_in_a_forward_and_in_a_backward():
    class Fails(nn.Module):
        def forward(self, x):
            x.exp()
            raise KeyError("no")

    x = tn.ones(2, requires_grad=True)
    y = x.exp()
    with board.record() as rec:
        with pytest.raises(KeyError):
            Fails()(x)
        z = y * 2
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.exp().sum().backward()
            z.sum().backward()
        x.neg()
    assert problems(rec.graphs["step"]) == []
    assert "Fails/exp" in nodes_of(rec) and "neg" in nodes_of(rec)


def test_hooks_of_the_user_see_what_they_saw_before():
    model, seen = models.MLP(), []
    model.fc1.register_forward_hook(lambda module, args, out: seen.append("hook"))
    model.register_forward_hook(lambda module, args, out: out * 2)
    expected = model(tn.ones(1, 4))
    with board.record(model):
        found = model(tn.ones(1, 4))
    assert np.array_equal(found.detach().numpy(), expected.detach().numpy())
    assert seen == ["hook", "hook"]
    assert len(model._hooks.after) == 1


def test_recordings_within_recordings():
    model = models.MLP()
    with board.record(model) as outer:
        model(tn.rand(1, 4))
        with board.record(model) as inner:
            model(tn.rand(1, 4))
    assert len(by_op(inner, "addmm")) == 2
    assert len(by_op(outer, "addmm")) == 4


def test_other_threads_are_not_recorded():
    import threading

    model = models.MLP()
    with board.record(model) as rec:
        thread = threading.Thread(target=lambda: model(tn.rand(1, 4)).sum().backward())
        thread.start()
        thread.join()
    assert not [n for n in rec.graphs["step"].nodes if n.cost]


# ---- large graphs ----------------------------------------------------------------------------


def test_ten_thousand_operations_are_folded_and_it_is_said():
    tn.manual_seed(0)
    model, xs = steps.Loop(), tn.rand(2000, 1, 3)
    with board.record(model) as rec:
        model(xs).sum().backward()
    assert len(rec.graphs["step"].nodes) < 50
    folds = by_op(rec, "Repeated")
    assert {n.device for n in folds} == {FORWARD, BACKWARD}
    assert all(problems(graph) == [] for graph in rec.graphs.values())
    assert len(rec.notes) >= len(folds)
    assert any(
        "1998 repeats like Loop/LSTMCell[cell] (3 operations: " in note for note in rec.notes
    )
    assert all(f"{n.name}: {n.attributes['folded']}" in rec.notes for n in folds)
    taken = sum(int(n.attributes["nodes"]) for n in folds)
    assert taken >= 9_985
    assert "folded: " in rec.text()


def test_many_steps_in_one_recording():
    """Every graph is folded on its own: a round of the whole is forward, backward and update."""
    tn.manual_seed(0)
    model, step = steps.mlp()
    with board.record(model, max_nodes=40) as rec:
        for _ in range(10):
            with rec.part("training"):
                step()
    for name in ("step", "forward", "backward", "optimizer", "training"):
        graph = rec.graphs[name]
        assert problems(graph) == []
        (fold,) = by_op(rec, "Repeated", name)
        assert fold.attributes["folded"].startswith(("7 repeats like ", "8 repeats like "))
    assert sum(int(n.attributes.get("nodes", 1)) for n in rec.graphs["training"].nodes) > 200


def test_max_nodes_decides():
    tn.manual_seed(0)
    model, xs = steps.Loop(), tn.rand(12, 1, 3)
    for limit, folds in ((30, True), (2000, False)):
        with board.record(model, max_nodes=limit) as rec:
            model(xs)
        assert bool(by_op(rec, "Repeated")) == folds == bool(rec.notes)
        assert problems(rec.graphs["step"]) == []


def test_a_fold_keeps_the_sums():
    tn.manual_seed(0)
    model, xs = steps.Loop(), tn.rand(40, 1, 3)
    sums = []
    for limit in (10, 100_000):
        with board.record(model, max_nodes=limit) as rec:
            model(xs)
        nodes = rec.graphs["step"].nodes
        sums.append(
            (
                sum(n.cost.memory for n in nodes if n.cost),
                sum(int(n.attributes.get("flops", 0)) for n in nodes),
                sum(int(n.attributes.get("nodes", 1)) for n in nodes) - len(by_op(rec, "Repeated")),
            )
        )
    assert sums[0][:2] == sums[1][:2]
    assert sums[0][2] + len(by_op(rec, "Repeated")) <= sums[1][2]


# ---- the price -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [optim.SGD, optim.Adam, optim.LBFGS, optim.Adafactor, optim.RMSprop, optim.Adagrad]
)
def test_optimizers_report_their_writes_to_observers(kind):
    layer = nn.Linear(2, 1)
    optimizer = kind(layer.parameters(), lr=0.1)
    seen = []

    def loss():
        optimizer.zero_grad()
        value = layer(tn.ones(1, 2)).sum()
        value.backward()
        return value

    loss()
    with observing(lambda *told: seen.append(told), timed=True):
        optimizer.step(loss if kind is optim.LBFGS else None)
    optimizer.step(loss if kind is optim.LBFGS else None)
    told = [(op.title, arrays[0]) for op, arrays, *_ in seen if op.writes]
    assert {title for title, _ in told} == {f"{kind.__name__}.step"}
    assert {id(a) for _, a in told} == {id(p._array) for p in layer.parameters()}
    for _, _, _, _, times in seen:
        assert times is None or times[0] <= times[1]


def test_the_state_of_an_optimizer_is_named():
    layer = nn.Linear(2, 1)
    optimizer = optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    layer(tn.ones(1, 2)).sum().backward()
    with board.record(layer) as rec:
        optimizer.step()
    node = nodes_of(rec)["SGD/Linear/weight"]
    assert node.producers == [
        *("Linear/weight", "SGD/Linear/weight.gradient", "SGD/Linear/weight.momentum_buffer")
    ]


def test_sparse_gradients():
    table = nn.Embedding(9, 3, sparse=True)
    sgd = optim.SGD(table.parameters(), lr=0.1)
    with board.record(table) as rec:
        table(tn.tensor([1, 2, 2])).sum().backward()
        sgd.step()
    known = nodes_of(rec)
    gradient = "backward/Embedding/weight.grad"
    assert known["SGD/Embedding/weight"].producers == ["Embedding/weight", gradient]
    assert known[gradient].producers == ["backward/Embedding/EmbeddingBackward0"]


def test_a_loss_made_of_gradients_is_forward():
    x = tn.tensor([1.0, 2.0], requires_grad=True)
    with board.record() as rec:
        (g,) = tn.autograd.grad((x**3).sum(), x, create_graph=True)
        penalty = (g.norm() - 1) ** 2
        penalty.backward()
    known = nodes_of(rec)
    assert known["sub"].device == known["pow_1"].device == FORWARD
    assert "optimizer" not in rec.graphs


def test_a_model_that_is_made_while_recording():
    with board.record() as rec:
        nn.Linear(2, 1)(tn.ones(1, 2)).sum().backward()
    assert list(rec.graphs) == ["step", "forward", "backward"]


def test_a_mistake_of_ours_is_a_warning(monkeypatch):
    def fails(watch):
        raise IndexError("oh")

    monkeypatch.setattr("tinynet.board.graphs.recording.Assembly", fails)
    rec = board.record()
    with pytest.warns(board.BoardWarning, match="There is no graph of what .* IndexError: oh"):
        with rec:
            tn.ones(1).exp()
    assert rec.graphs == {}
