"""The LLVM backend runs what is computed and the step of the optimizer in one native call."""

import copy

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn, optim
from tinynet.capture.native import whole_steps
from tinynet.compat.testing import assert_close

from .interpreted import interpret

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """Native functions run as Python; ``test_native.py`` compiles such steps."""
    interpret(monkeypatch)


class Pair:
    """A model and its optimizer, trained eagerly and compiled."""

    def __init__(self, kind=optim.SGD, clear=True, **options):
        options = options or {"lr": 0.1, "momentum": 0.9}
        tn.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
        self.nets = copy.deepcopy(net), copy.deepcopy(net)
        self.optimizers = [kind(n.parameters(), **options) for n in self.nets]
        eager, other = (self.step(*both, clear) for both in self.both())
        self.steps = eager, tn.compile(other, backend="llvm")
        self.generator = np.random.default_rng(1)

    def both(self):
        return zip(self.nets, self.optimizers, strict=True)

    @staticmethod
    def step(net, optimizer, clear):
        def step(x, y):
            if clear is True:
                optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            if clear == "by hand":
                for p in optimizer.param_groups[0]["params"]:
                    p.grad = None
            return loss

        return step

    def run(self, count=1, target=3):
        """Run steps of both; compare losses, values, gradients, versions and states."""
        for _ in range(count):
            x = tn.tensor(self.generator.standard_normal((6, 4), dtype=np.float32))
            y = tn.tensor(self.generator.integers(0, target, 6))
            assert_close(self.steps[0](x, y), self.steps[1](x, y))
            self.compare()

    def compare(self):
        for p, q in zip(*(n.parameters() for n in self.nets), strict=True):
            assert_close(p, q)
            assert p._version == q._version
            assert (p.grad is None) == (q.grad is None)
            if p.grad is not None:
                assert_close(p.grad, q.grad)
            mine, other = (o.state.get(t, {}) for o, t in zip(self.optimizers, (p, q), strict=True))
            assert mine.keys() == other.keys()
            for name in mine:
                assert_close(mine[name], other[name])


@pytest.fixture
def apart(monkeypatch):
    """The list of the optimizers whose steps ran apart from the rest."""
    found = []
    original = whole_steps.WholeStep._run_apart

    def run(self, *values):
        found.append(self._optimizer)
        return original(self, *values)

    monkeypatch.setattr(whole_steps.WholeStep, "_run_apart", run)
    return found


def whole(pair):
    """The number of functions of whole steps that the programs contain."""
    spaces = [entry.namespace for _, entry in pair.steps[1].programs()]
    names = [getattr(v, "__name__", "") for space in spaces for v in space.values()]
    return names.count("whole")


KINDS = {
    "descent": (optim.SGD, {"lr": 0.1, "weight_decay": 0.1}),
    "momentum": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    "Adam": (optim.Adam, {"lr": 0.01, "weight_decay": 0.1}),
    "AdamW": (optim.AdamW, {"lr": 0.01}),
    "nesterov": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    "RMSprop": (optim.RMSprop, {"lr": 0.01, "centered": True}),
    "Rprop": (optim.Rprop, {"lr": 0.01}),
}


@pytest.mark.parametrize("clear", [True, False], ids=["cleared", "accumulated"])
@pytest.mark.parametrize("name", KINDS)
def test_is_one_native_call(name, clear, apart):
    kind, options = KINDS[name]
    pair = Pair(kind, clear, **options)
    pair.run(6)
    # Gradients that are added up are stored by the engine; then the step has a call of its own.
    assert whole(pair) == 1 and len(apart) == (0 if clear else 4)


def test_a_formula_that_changes_is_compiled_again(apart):
    """RAdam's sixth step is the first that divides by the root of the average square."""
    pair = Pair(optim.RAdam, lr=0.01)
    pair.run(10)
    assert whole(pair) == 1 and len(apart) == 1


def load(pair):
    for optimizer in pair.optimizers:
        optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))


def set_rate(pair):
    for optimizer in pair.optimizers:
        optimizer.param_groups[0]["lr"] = 0.03


def switch_momentum(pair):
    for optimizer in pair.optimizers:
        optimizer.param_groups[0]["momentum"] = 0


def switch_nesterov(pair):
    for optimizer in pair.optimizers:
        optimizer.param_groups[0]["nesterov"] = True


def replace_state(pair):
    for optimizer in pair.optimizers:
        for state in optimizer.state.values():
            state["momentum_buffer"] = state["momentum_buffer"] * 2


def write_state(pair):
    for optimizer in pair.optimizers:
        for state in optimizer.state.values():
            state["momentum_buffer"].mul_(2)


def clear_state(pair):
    for optimizer in pair.optimizers:
        optimizer.state.clear()


def add_group(pair):
    for optimizer in pair.optimizers:
        optimizer.add_param_group({"params": [tn.ones(2, requires_grad=True)]})


def set_hooks(pair):
    def clear(optimizer, args, kwargs):
        optimizer.param_groups[0]["params"][1].grad.zero_()

    for optimizer in pair.optimizers:
        optimizer.register_step_pre_hook(clear)


def hook_a_leaf(pair):
    for net in pair.nets:
        net[0].bias.register_hook(lambda g: g * 3)


def replace_parameter(pair):
    """Let the optimizer forget a parameter, whose gradients are added up from now on."""
    for optimizer in pair.optimizers:
        optimizer.param_groups[0]["params"][0] = nn.Parameter(tn.ones(5, 4))


def replace_group(pair):
    """Leave a group without gradients; another one still has some."""
    move_parameter(pair)
    for optimizer in pair.optimizers:
        optimizer.param_groups[0]["params"][:] = [nn.Parameter(tn.ones(5, 4))]


def move_parameter(pair):
    for optimizer in pair.optimizers:
        optimizer.add_param_group({"params": [optimizer.param_groups[0]["params"].pop()]})


CHANGES = (load, set_rate, switch_momentum, switch_nesterov, replace_state, write_state,
           clear_state, add_group, set_hooks, hook_a_leaf, replace_parameter,
           replace_group, move_parameter)  # fmt: skip


@pytest.mark.parametrize("clear", [True, False, "by hand"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_changes_between_steps_count(change, clear):
    pair = Pair(clear=clear)
    pair.run(5)
    change(pair)
    pair.run(5)


@pytest.mark.parametrize("change", [load, replace_state, set_rate], ids=lambda f: f.__name__)
def test_new_state_is_adopted(change, apart):
    pair = Pair()
    pair.run(5)
    change(pair)
    pair.run(3)
    apart.clear()
    pair.run(3)
    assert not apart


def test_a_gradient_that_is_left_over_is_applied_or_cleared():
    for clear in (True, False):
        pair = Pair(clear=clear)
        extra = [tn.ones(2, requires_grad=True) for _ in pair.nets]
        for optimizer, p in zip(pair.optimizers, extra, strict=True):
            optimizer.param_groups[0]["params"].append(p)
        pair.run(5)
        for p in extra:
            p.grad = tn.ones(2)
        pair.run(2)
        assert_close(*extra)
        assert [p.grad is None for p in extra] == [clear, clear]


def test_earlier_gradients_keep_their_values():
    pair = Pair()
    pair.run(5)
    first = pair.nets[1][0].weight.grad
    before = first.tolist()
    pair.run(1)
    assert first.tolist() == before and pair.nets[1][0].weight.grad is not first


def test_a_bad_target_raises_and_changes_nothing():
    pair = Pair(optim.AdamW, lr=0.1)
    pair.run(5)
    for step in pair.steps:
        with pytest.raises(IndexError, match="Target 7 is out of bounds"):
            step(tn.ones(6, 4), tn.tensor([0, 1, 7, 0, 0, 0]))
    pair.compare()
    pair.run(2)


def test_two_optimizers_in_one_step(apart):
    tn.manual_seed(0)
    nets = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
    pairs = []
    for model in (nets, copy.deepcopy(nets)):
        one, other = (optim.Adam(part.parameters(), lr=0.01) for part in model)

        def step(x, model=model, one=one, other=other):
            one.zero_grad()
            first = model[0](x).square().sum()
            first.backward()
            one.step()
            other.zero_grad()
            second = model[1](x).square().sum()
            second.backward()
            other.step()
            return first, second

        pairs.append((model, step))
    compiled = tn.compile(pairs[1][1], backend="llvm")
    for i in range(6):
        x = tn.full((2, 3), 0.1 * i)
        assert_close(pairs[0][1](x), compiled(x))
        for p, q in zip(pairs[0][0].parameters(), pairs[1][0].parameters(), strict=True):
            assert_close(p, q)
    assert not apart


def test_the_error_of_a_change_after_saving_names_the_line_of_the_step():
    pair = Pair()
    pair.run(5)
    loss = pair.nets[1](tn.ones(1, 4)).square().sum()
    pair.run(1)
    with pytest.raises(RuntimeError, match=r"changed .*in run .*self\.steps\[1\]\(x, y\)"):
        loss.backward()
