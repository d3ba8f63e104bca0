"""Attributes of modules that `forward` sets: a replay sets them, too."""

import copy
import warnings

import pytest

import tinynet as tn
from tests.tools.rounding import assert_near
from tests.unit.capture.pairs import same
from tinynet import nn
from tinynet.compiler import CompileWarning
from tinynet.nn.utils import prune


class Net(nn.Module):
    """A layer; what `forward` does with its result is the test's."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("total", tn.zeros(3))
        self.kept = self.mask = None
        self.first, self.second = tn.zeros(1), tn.ones(1)
        self.number = 0


def tensors_of(net):
    """The tensors that stand in attributes, and whether they have a history."""
    found = {name: value for name, value in vars(net).items() if isinstance(value, tn.Tensor)}
    found["total"] = net.total
    return {name: (t.detach(), t.requires_grad, t.grad_fn is None) for name, t in found.items()}


def run(forward, calls=10, rows=lambda i: 2, between=lambda i, net: None, use=None, verify=0):
    """Train twins, one of them compiled, and compare all of it; return the compiled one's calls
    and why it ran eagerly."""
    kind = type("Net", (Net,), {"forward": forward})
    tn.manual_seed(0)
    eager = kind()
    twin = copy.deepcopy(eager)
    twin.compile(verify=verify)
    heard = []
    for i in range(calls):
        seen = []
        for net in (eager, twin):
            tn.manual_seed(100 + i)
            x = tn.randn(rows(i), 3)
            between(i, net)
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                result = net(x)
            heard += [str(w.message) for w in found if issubclass(w.category, CompileWarning)]
            net.zero_grad()
            loss = result.square().sum() if use is None else use(net, result)
            if loss.requires_grad:
                loss.backward()
            grads = [p.grad for p in net.parameters()]
            seen.append([result, loss, grads, tensors_of(net), net.number])
        same(*seen, f"call {i}")
    return twin.forward.calls(), " ".join(heard)


def keep(net, x):
    net.kept = net.layer(x)
    return net.kept.tanh()


def test_a_replay_sets_what_forward_sets():
    calls, heard = run(keep)
    assert calls == (7, 3, 0) and not heard  # the first call finds no tensor there


def test_gradients_flow_through_it():
    def forward(net, x):
        net.kept = net.layer(x).exp()
        return net.layer(x)

    calls, _ = run(forward, use=lambda net, result: (result * net.kept).sum())
    assert calls.replayed == 7


def test_statistics_that_the_rest_of_forward_reads():
    def forward(net, x):
        y = net.layer(x)
        net.total, net.kept = y.detach().sum(0), y.detach().mean(0)
        return y - net.kept + net.total

    calls, heard = run(forward)
    assert calls == (7, 3, 0) and not heard


def test_an_argument_and_a_view_are_kept():
    def forward(net, x):
        net.kept = x
        y = net.layer(x)
        net.mask = y[:, 0]
        return y * 2

    assert run(forward)[0].replayed == 7


def test_an_equal_number_is_no_change():
    def forward(net, x):
        net.number = x.shape[0]
        return net.layer(x) * net.number

    def change(i, net):
        if i == 6:
            net.number = 9

    calls, heard = run(forward, between=change)
    assert calls.replayed == 10 - 3 - 1 and not heard


def test_an_equal_shape_or_size_is_no_change():
    def forward(net, x):
        net.first, net.second, net.number = x.shape, x[0].shape, x.numel() * 1000
        return net.layer(x.view(net.first)) * net.second.numel() / net.number

    calls, heard = run(forward, calls=14, rows=lambda i: 2 + (i == 9))
    assert calls == (9, 5, 0) and not heard


def test_a_number_that_changes_is_the_function_s_own():
    def forward(net, x):
        net.number += 1
        return net.layer(x) * net.number

    calls, heard = run(forward)
    assert calls.replayed == 0 and "sets the attribute 'number'" in heard


def test_a_state_that_it_reads_first_is_carried():
    def forward(net, x):
        net.total = 0.5 * net.total + net.layer(x).detach().sum(0)
        return net.layer(x) * net.total

    calls, heard = run(forward)
    assert calls == (7, 3, 0) and not heard


def test_what_is_carried_may_be_replaced_outside():
    def forward(net, x):
        net.total = 0.5 * net.total + net.layer(x).detach().sum(0)
        return net.layer(x) * net.total

    def change(i, net):
        if i == 5:
            net.total = tn.ones(3)
        if i == 7:
            net.total.mul_(2)

    assert run(forward, between=change)[0].replayed == 7


def test_gradients_flow_through_what_is_carried():
    def forward(net, x):
        net.total = net.layer(x + net.total).tanh()
        return net.total.sum(1)

    def detach(i, net):
        net.total = net.total.detach() if i % 3 else net.total.detach().requires_grad_()
        net.total = net.total.expand(2, 3).clone() if i == 0 else net.total

    calls, heard = run(forward, calls=20, between=detach)
    assert calls.replayed >= 12 and not heard


def test_attributes_that_change_places():
    def forward(net, x):
        net.first, net.second = net.second, net.first
        return net.layer(x) * net.first

    calls, heard = run(forward)
    assert calls == (7, 3, 0) and not heard


def test_what_is_carried_is_written_to_and_returned():
    def forward(net, x):
        before = net.total
        net.total = net.layer(x).detach().sum(0) + before
        before.mul_(2)
        return net.layer(x) + before, before

    calls, heard = run(forward, use=lambda net, result: (result[0] * result[1]).sum())
    assert calls == (7, 3, 0) and not heard


def test_what_is_carried_may_be_an_argument():
    """An argument that is the tensor of the attribute is another form of call."""

    def forward(net, x):
        net.total = 0.5 * net.total + x.sum(0)
        return net.layer(x) + net.total

    net = type("Net", (Net,), {"forward": forward})()
    twin = copy.deepcopy(net)
    twin.compile(verify=0)
    for i in range(12):
        x = tn.full((1, 3), float(i))
        results = [m(m.total.view(1, 3) if i % 4 == 3 else x) for m in (net, twin)]
        same(*results, f"call {i}")
        same(net.total, twin.total, f"call {i}")


def test_a_graph_of_the_gradients_of_what_is_carried():
    def forward(net, x):
        net.total = 0.5 * net.total + net.layer(x).detach().sum(0)
        return (net.layer(x) * net.total).tanh()

    def use(net, result):
        (grad,) = tn.autograd.grad(result.sum(), net.layer.weight, create_graph=True)
        return grad.square().sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        run(forward, use=use)


def test_what_was_there_may_be_returned_or_passed():
    def forward(net, x):
        before, net.kept = net.kept, net.layer(x)
        return net.kept if before is None else before.detach() + net.kept

    assert run(forward)[0].replayed == 6

    def longer(net, x):
        net.kept = net.layer(x) + (0 if net.kept is None else net.kept.shape[0])
        return net.kept

    assert run(longer, rows=lambda i: 2 + i // 5 % 2, calls=20)[0].replayed >= 10


def test_a_mask_that_is_made_for_each_new_shape():
    def forward(net, x):
        if net.mask is None or net.mask.shape != x.shape:
            net.mask = tn.bernoulli(tn.full(x.shape, 0.5))
        return net.layer(x) * net.mask

    run(forward, calls=24, rows=lambda i: (2, 3, 2, 2, 3, 3)[i % 6])
    run(forward, calls=24, rows=lambda i: 2 + i % 2)


def test_attributes_that_others_set_between_calls():
    def change(i, net):
        if i in (5, 9):
            net.kept = None
        if i == 7:
            net.kept = tn.zeros(7)

    calls, _ = run(keep, calls=14, between=change)
    assert calls.replayed >= 5


def test_a_buffer_that_is_counted_up_in_place():
    def forward(net, x):
        net.total += 1
        net.layer.bias.data += net.total
        return net.layer(x) * net.total

    calls, heard = run(forward)
    assert calls == (8, 2, 0) and not heard


def test_an_attribute_of_a_part_and_one_by_its_name():
    def forward(net, x):
        net.layer.mean = x.mean(0)
        for name in ("first", "second"):
            setattr(net, name, net.layer(x).detach().sum(0) + (y := x.sum(0)))
        net.total += y
        return net.layer(x) * net.first + net.layer.mean

    calls, heard = run(forward, use=lambda net, result: (result * net.second).sum())
    assert calls == (7, 3, 0) and not heard


def test_replays_are_verified_with_their_attributes():
    assert run(keep, verify=1, calls=12)[1] == ""
    hidden = [1.0]

    def forward(net, x):
        net.kept = net.layer(x) * sum(map(float, hidden))
        return net.layer(x)

    def change(i, net):
        hidden[0] = 1.0 if i < 7 else 2.0

    run(forward, verify=1, between=change)


def test_second_derivatives_leave_it_as_it_was():
    net = type("Net", (Net,), {"forward": keep})()
    twin = copy.deepcopy(net)
    twin.compile(verify=0)
    for _ in range(6):
        x = tn.randn(2, 3)
        net(x), twin(x)
    assert twin.forward.calls().replayed == 3
    found = []
    for n in (net, twin):
        result, kept = n(x), n.kept
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)  # the twin runs eagerly from now on
            (g,) = tn.autograd.grad(result.sum(), n.layer.weight, create_graph=True)
        assert n.kept is kept
        found.append(tn.autograd.grad(g.square().sum(), n.layer.weight)[0].numpy())
    assert_near(*found, roundings=40)


def test_a_property_or_an_own_setattr_runs_the_user_s_code():
    class Doubled(Net):
        def __setattr__(self, name, value):
            super().__setattr__(name, value * 2 if name == "kept" and value is not None else value)

        def forward(self, x):
            self.kept = self.layer(x)
            return self.kept.tanh()

    net = Doubled()
    net.compile(verify=0)
    with pytest.warns(CompileWarning, match="sets the attribute 'kept'"):
        for _ in range(6):
            net(tn.ones(2, 3))


def test_part_of_a_compiled_step():
    net = type("Net", (Net,), {"forward": keep})()
    twin = copy.deepcopy(net)

    def step(net, optimizer, x):
        optimizer.zero_grad()
        loss = net(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    optimizer, other = (tn.optim.SGD(n.parameters(), 0.1) for n in (net, twin))
    compiled = tn.compile(lambda x: step(twin, other, x), verify=0)
    for _ in range(8):
        x = tn.randn(2, 3)
        same(step(net, optimizer, x), compiled(x))
        same(tensors_of(net), tensors_of(twin))
    assert compiled.calls().replayed >= 4


# ---- the data of a tensor -----------------------------------------------------------------------


def test_a_weight_that_is_masked_in_place():
    """As masked convolutions do: the tensor gets the array that it has."""

    def forward(net, x):
        net.layer.weight.data *= net.total.sign() + 1
        return net.layer(x)

    calls, heard = run(forward)
    assert calls == (8, 2, 0) and not heard


def test_the_data_of_a_result():
    def forward(net, x):
        y = net.layer(x)
        y.data = y.data * 2
        return y.tanh()

    calls, heard = run(forward)
    assert calls == (8, 2, 0) and not heard


def test_other_data_of_a_parameter():
    def forward(net, x):
        net.layer.weight.data = net.layer.weight.data.clamp(-0.1, 0.1)
        return net.layer(x)

    def move(i, net):
        net.layer.weight.data += 0.01 * i

    calls, heard = run(forward, between=move)
    assert calls == (7, 3, 0) and not heard


def test_a_spectral_norm_by_hand():
    """Vectors of the power iteration are replaced at each call, as much code of GANs does."""

    def forward(net, x):
        w = net.layer.weight
        net.second.data = tn.nn.functional.normalize(tn.mv(w.t().data, net.total), dim=0)
        net.total.data = tn.nn.functional.normalize(tn.mv(w.data, net.second.data), dim=0)
        norm = net.total.dot(w.mv(net.second))
        return x @ (w / norm.expand_as(w)).t()

    def begin(i, net):
        if i == 0:
            net.total = tn.ones(3)
        if i == 6:
            net.second = tn.ones(3)

    calls, heard = run(forward, between=begin, calls=12)
    assert calls.replayed >= 5 and not heard
    assert run(forward, between=begin, calls=12, verify=1)[1] == ""


def test_a_backward_pass_reads_the_data_of_a_later_call():
    """As eager code does: the saved vector is the tensor, whose data the second call replaces."""
    tn.manual_seed(0)
    net = Net()
    net.total = tn.ones(3)
    twin = copy.deepcopy(net)

    def forward(net, x):
        net.total.data = tn.nn.functional.normalize(net.layer.weight.data @ net.total, dim=0)
        return x @ (net.layer.weight * net.total.dot(net.layer.weight.mv(net.total)))

    compiled = tn.compile(lambda x: forward(twin, x), verify=0)
    for _ in range(6):
        seen = []
        x, y = tn.randn(2, 3), tn.randn(2, 3)
        for n, f in ((net, lambda x: forward(net, x)), (twin, compiled)):
            n.zero_grad()
            (f(x).sum() + f(y).square().sum()).backward()
            seen.append(n.layer.weight.grad.numpy())
        assert_near(*seen, roundings=40)  # each call adds its gradients up first
    assert compiled.calls().replayed >= 8


def test_the_data_of_an_argument():
    def forward(x, y):
        x.data = x.data * 2 + y
        return x * y

    compiled = tn.compile(forward, verify=0)
    for i in range(8):
        seen = []
        for f in (forward, compiled):
            x, y = tn.full((3,), float(i)), tn.ones(3)
            seen.append([f(x, y), x])
        same(*seen, f"call {i}")
    assert compiled.calls() == (6, 2, 0)


def test_data_that_another_tensor_shares():
    def forward(net, x):
        net.first.data = net.second
        net.second.data = x.sum(0) + net.first
        return net.layer(x) + net.first

    run(forward)


def test_data_of_an_object_that_is_no_tensor_runs_eagerly():
    class Holder:
        data = None

    holder = Holder()

    def forward(net, x):
        part = holder
        part.data = x.shape[0]
        [part][0].data = x.shape[0]
        return net.layer(x)

    def chained(net, x):
        [holder][0].data = x.shape[0]
        return net.layer(x)

    for function in (forward, chained):
        calls, heard = run(function)
        assert calls.replayed == 0 and "sets the attribute 'data'" in heard


# ---- hooks on modules ---------------------------------------------------------------------------


def pruned(layer):
    return prune.l1_unstructured(layer, "weight", 0.3)


def normed(layer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it is deprecated, and used everywhere
        return nn.utils.weight_norm(layer)


def layers(change):
    tn.manual_seed(0)
    parts = [change(nn.Conv2d(2, 3, 3)), nn.ReLU(), change(nn.Conv2d(3, 3, 3)), nn.ReLU()]
    return nn.Sequential(*parts, nn.Flatten(), change(nn.Linear(3 * 2 * 2, 2)))


@pytest.mark.parametrize("change", [nn.utils.spectral_norm, normed, pruned])
def test_weights_that_tinynet_s_hooks_compute(change):
    sides = []
    for _ in range(2):
        net = layers(change)
        sides.append((net, tn.optim.SGD(net.parameters(), 0.1)))
    compiled = tn.compile(sides[1][0], verify=0)
    for i in range(12):
        x, seen = tn.randn(2, 2, 6, 6), []
        for (net, optimizer), f in zip(sides, (sides[0][0], compiled), strict=True):
            net.train(i != 6)
            optimizer.zero_grad()
            loss = f(x).square().mean()
            if net.training:
                loss.backward()
                optimizer.step()
            weight = net[0].weight.detach(), net[0].weight.requires_grad
            seen.append([loss, weight, dict(net.state_dict()), [p.grad for p in net.parameters()]])
        same(*seen, f"call {i}")
    assert compiled.forward.calls() in [(9, 3, 0), (8, 4, 0)]  # the first weight shares memory


def test_hooks_that_only_compute():
    def forward(net, x):
        return net.layer(x)

    handles = {}

    def change(i, net):
        if i in (0, 5):
            hook = net.layer.register_forward_hook(lambda module, args, out: out.tanh())
            handles[id(net)] = hook
        if i == 0:
            net.layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        if i == 10:
            handles[id(net)].remove()

    calls, heard = run(forward, calls=15, between=change)
    assert calls.replayed >= 7 and not heard


def test_a_hook_may_set_an_attribute():
    def forward(net, x):
        return net.layer(x)

    def hook(module, args, out):
        module.seen = out

    def change(i, net):
        if i == 0:
            net.layer.register_forward_hook(hook)

    calls, heard = run(forward, between=change, use=lambda net, y: (y * net.layer.seen).sum())
    assert calls.replayed == 7 and not heard


# ---- data that is replaced between the call and its backward pass -------------------------------


def taken_to_third(x):
    class Third(tn.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    return Third.apply(x)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("which", ["weight", "x", "result"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: nn.functional.linear(x, w),  # saves a view of the weight
        lambda x, w: x @ w,
        lambda x, w: (x * w).exp(),  # saves its result
        lambda x, w: (y := x * w) * y,
        lambda x, w: (x * w).square(),
        lambda x, w: taken_to_third(w * x) + x,
    ],
    ids=["linear", "product", "exp", "square of a result", "square", "function"],
)
def test_data_that_is_replaced_before_the_backward_pass(f, which, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def gradients(compiling):
        weight = tn.arange(9.0).view(3, 3).mul(0.1).requires_grad_()
        called = tn.compile(f, backend=backend, verify=0) if compiling else f
        for i in range(5):
            x = tn.arange(9.0).view(3, 3).sin().requires_grad_()
            result = called(x, weight)
            total = result.sum()
            if i == 4:
                thing = {"weight": weight, "x": x, "result": result}[which]
                thing.data = thing.data * 3
            weight.grad = None
            total.backward()
        return x.grad, weight.grad

    for one, other in zip(gradients(True), gradients(False), strict=True):
        assert tn.allclose(one, other, 1e-5)
