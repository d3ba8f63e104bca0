"""What a compiled function must notice: its result equals that of eager code, or one warning."""

import copy
import functools
import gc
import linecache
import operator
import os
import pickle
import random
import threading
import time
import types
import warnings
import weakref

import numpy as np
import pytest

import tinynet as tn
from tinynet import board, nn, optim
from tinynet.capture.compiled import capturing
from tinynet.compiler import CompileError, CompileWarning
from tinynet.core.callsite import OUTSIDE
from tinynet.core.trace import observing

WARM = 3  # calls after which a function replays


def warnings_of(run):
    """Run something; return the warnings about compiled functions."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.simplefilter("error", SyntaxWarning)  # of generated code
        run()
    return [str(w.message) for w in found if issubclass(w.category, CompileWarning)]


def exact(result):
    """What a result is, to the bit."""
    if isinstance(result, tn.Tensor):
        array = result.detach().numpy()
        return str(result.dtype), array.shape, array.tobytes(), result.requires_grad
    if isinstance(result, (tuple, list)):
        return [exact(part) for part in result]
    if isinstance(result, dict):
        return {key: exact(part) for key, part in result.items()}
    return result


def both(make, calls, falls_back=None):
    """Call a function eagerly and compiled with the same arguments, and compare.

    Args:
        make: returns a function; it is called twice.
        calls: what to call with each function, one after the other.
        falls_back: what the only warning says; None: there is none.
    """
    results = []
    for compiling in (False, True):
        tn.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        function = make()
        used = tn.compile(function) if compiling else function
        found = []

        def run(used=used, function=function, found=found):
            for call in calls:
                try:
                    found.append(exact(call(used)))
                except Exception as error:
                    found.append((type(error).__name__, str(error)))

        messages = warnings_of(run)
        results.append(found)
    assert results[0] == results[1]
    if falls_back is None:
        assert messages == []
    else:
        assert len(messages) == 1, messages
        assert falls_back in messages[0]
        assert "to fix it:" in messages[0]
    return used


def with_x(*values):
    """Calls with one tensor of each value, a few times."""
    return [lambda f, v=v: f(tn.full((3,), float(v))) for v in values for _ in range(WARM)]


def replayed(compiled):
    """The number of programs of a compiled function."""
    return sum(map(len, compiled._entries.values()))


# ---- arguments ---------------------------------------------------------------------------------


def test_shapes_dtypes_strides_and_values_of_arguments():
    tensors = [
        tn.arange(6.0).view(2, 3),
        tn.arange(6.0).view(3, 2),
        tn.arange(6.0).view(2, 3).t(),
        tn.arange(6).view(2, 3),
        tn.arange(6.0, dtype=tn.float64).view(2, 3),
        tn.arange(6.0, dtype=tn.float16).view(2, 3),
        tn.arange(6.0, dtype=tn.bfloat16).view(2, 3),
        tn.arange(6).view(2, 3) > 2,
        tn.tensor(2.0),
        tn.zeros(0, 3),
        tn.zeros(2, 0),
        tn.arange(12.0)[::2].view(2, 3),
    ]
    calls = [lambda f, t=t: f(t) for t in tensors[:8] for _ in range(WARM)]
    both(lambda: lambda x: (x * 2).sum(0), calls)
    calls = [lambda f, t=t: f(t) for t in tensors[8:] for _ in range(WARM)]
    both(lambda: lambda x: (x * 2).cumsum(-1), calls)


def test_python_values_of_arguments():
    values = [1, 1.0, True, 2, "mean", None]
    calls = [lambda f, v=v: f(tn.tensor([1, 2]), v) for v in values for _ in range(WARM)]
    both(lambda: lambda x, v: x * v if not isinstance(v, str | None) else x, calls)


def test_a_negative_zero_is_not_zero():
    calls = [lambda f, v=v: f(tn.ones(1), v) for v in (0.0, -0.0) for _ in range(WARM)]
    both(lambda: lambda x, v: x / v, calls)
    calls = [lambda f, v=v: f(tn.ones(1), [v]) for v in (0.0, -0.0) for _ in range(WARM)]
    both(lambda: lambda x, v: x / v[0], calls)


def test_structures_of_arguments():
    x = tn.ones(2)
    both(
        lambda: lambda d, *args, scale=1.0, **more: (d["a"] * scale + sum(args)) * len(more),
        [
            call
            for call in (
                lambda f: f({"a": x}, x, x),
                lambda f: f({"a": x}, x, scale=2.0, other=3),
                lambda f: f({"b": x, "a": x * 3}, x),
            )
            for _ in range(WARM)
        ],
    )


def test_the_same_tensor_twice():
    def f(x, y):
        x.add_(1)
        return x * y

    def same(f):
        x = tn.ones(2)
        return f(x, x)

    both(lambda: f, [*[same] * WARM, *[lambda f: f(tn.ones(2), tn.ones(2))] * WARM, same])
    both(lambda: f, [*[lambda f: f(tn.ones(2), tn.ones(2))] * WARM, *[same] * WARM])


def test_arguments_that_overlap():
    def f(x, y):
        x.mul_(2)
        return x + y

    def apart(f):
        return f(tn.ones(2), tn.ones(2))

    def overlapping(f):
        x = tn.arange(3.0)
        return f(x[:2], x[1:]), x

    both(lambda: f, [apart] * WARM + [overlapping] * WARM)
    both(lambda: f, [overlapping] * WARM + [apart] * WARM)


def test_a_parameter_as_an_argument():
    def make():
        weight = nn.Parameter(tn.ones(2))

        def f(w, x):
            return w * x + weight

        f.weight = weight
        return f

    tensor = tn.full((2,), 5.0, requires_grad=True)
    own = [lambda f: f(getattr(f, "weight", None) or f._function.weight, tn.ones(2))]
    own = [lambda f: f(f.__wrapped__.weight if hasattr(f, "__wrapped__") else f.weight, tn.ones(2))]
    other = [lambda f: f(tensor, tn.ones(2))]
    both(make, own * WARM + other * WARM + own)
    detached = [
        lambda f: f((f.__wrapped__ if hasattr(f, "__wrapped__") else f).weight.detach(), tn.ones(2))
    ]
    both(make, detached * WARM + [lambda f: f(tensor.detach(), tn.ones(2))] * WARM)


def test_leaves_and_results_as_arguments():
    def f(x):
        (x * 2).sum().backward()
        return x.detach() + 1

    leaf = tn.ones(2, requires_grad=True)

    def of_leaf(f):
        f(leaf)
        return leaf.grad

    def of_result(f):
        other = tn.ones(2, requires_grad=True)
        f(other * 3)
        return other.grad

    def check(compiled):
        leaf.grad = None
        return [exact(of_leaf(compiled)) for _ in range(WARM)] + [
            exact(of_result(compiled)) for _ in range(WARM)
        ]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(tn.compile(f)) == check(f)


def test_unhashable_arguments_run_eagerly():
    both(lambda: lambda x, s: x * len(s), [lambda f: f(tn.ones(1), {1, 2})] * 4, "not hashable")


def test_numpy_arrays_as_arguments_run_eagerly_and_scalars_are_numbers():
    array = np.ones(3, np.float32)
    both(lambda: lambda a: tn.from_numpy(a) * 2, [lambda f: f(array)] * 4, "not hashable")
    calls = [lambda f, v=v: f(tn.ones(1), np.float64(v)) for v in (1, 2, 1) for _ in range(5)]
    both(lambda: lambda x, v: x * v, calls)


def test_objects_as_arguments():
    config = types.SimpleNamespace(scale=1.0)

    class Options:
        scale = 2.0

    options = Options()

    def changed(value):
        def call(f):
            options.scale = value
            return f(tn.ones(1), options)

        return call

    both(lambda: lambda x, o: x * o.scale, [changed(v) for v in (1.0, 2.0) for _ in range(WARM)])
    calls = [lambda f: f(tn.ones(1), config)] * 4
    both(lambda: lambda x, o: x * o.scale, calls, "not hashable")


# ---- modes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode",
    [
        tn.no_grad,
        tn.inference_mode,
        lambda: tn.autocast("cpu", dtype=tn.bfloat16),
        tn.enable_grad,
        tn.autograd.detect_anomaly,
        tn.autograd.checked,
        lambda: tn.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t),
        lambda: tn.autograd.set_multithreading_enabled(False),
        lambda: tn.autograd.graph.save_on_cpu(),
    ],
)
def test_modes(mode):
    weight = tn.full((2, 2), 0.5, requires_grad=True)

    def plain(f):
        y = f(tn.ones(2, 2))
        weight.grad = None
        if y.requires_grad:
            y.sum().backward()
        return y, weight.grad, y.is_inference()

    def inside(f):
        with mode(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            y = f(tn.ones(2, 2))
        weight.grad = None
        if y.requires_grad:
            y.sum().backward()
        return y, weight.grad, y.is_inference()

    both(
        lambda: lambda x: (x @ weight).exp(),
        [plain] * WARM + [inside] * WARM + [plain, inside, plain],
    )


def test_modes_inside():
    weight = tn.full((2, 2), 0.5, requires_grad=True)

    def f(x):
        with tn.no_grad():
            y = x @ weight
        with tn.inference_mode():
            z = (x @ weight).sum()
        return y, (x @ weight).tanh(), z.clone()

    both(lambda: f, [lambda f: f(tn.ones(2, 2))] * 4)


def test_the_default_dtype():
    def under(kind):
        def call(f):
            tn.set_default_dtype(kind)
            try:
                return f(tn.arange(3))
            finally:
                tn.set_default_dtype(tn.float32)

        return call

    kinds = (tn.float32, tn.float64, tn.float32)
    both(lambda: lambda x: x / 2 + tn.zeros(3), [under(k) for k in kinds for _ in range(WARM)])


def test_anomaly_mode_names_the_operation():
    weight = tn.zeros(2, requires_grad=True)
    compiled = tn.compile(lambda x: (x * weight).sqrt() * 0)
    for _ in range(WARM):
        compiled(tn.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with tn.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="SqrtBackward0"):
            compiled(tn.ones(2)).sum().backward()


def test_checked_finds_unseen_writes():
    weight = tn.ones(2, requires_grad=True)
    compiled = tn.compile(lambda x: (x * weight).sigmoid())
    for _ in range(WARM):
        compiled(tn.ones(2))
    with tn.autograd.checked():
        y = compiled(tn.ones(2))
    y.data.zero_()
    with pytest.raises(RuntimeError, match="has been modified"):
        y.sum().backward()


# ---- state -------------------------------------------------------------------------------------


def linear():
    tn.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def trained(change, start=None, after=WARM, falls_back=None, make=linear):
    """Train two nets, one compiled, and change something after some steps; compare all of it."""
    results = []
    for compiling in (False, True):
        net = make()
        optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.5)

        def step(x, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        if start is not None:
            start(net, optimizer)
        used = tn.compile(step) if compiling else step
        found = []

        def run(used=used, net=net, optimizer=optimizer, found=found):
            for i in range(2 * after + 2):
                if i == after:
                    change(net, optimizer)
                found.append(exact(used(tn.full((4, 2), 0.5 + i))))
                state = {n: p.detach().clone() for n, p in net.state_dict().items()}
                found.append(exact(state))
                found.append([(p._version, exact(p.grad)) for p in net.parameters()])

        messages = warnings_of(run)
        results.append(found)
    assert results[0] == results[1]
    assert len(messages) == (falls_back is not None), messages
    if falls_back is not None:
        assert falls_back in messages[0]


def replaced(net, optimizer):
    net[0].weight = nn.Parameter(tn.ones(3, 2))


def replaced_by_the_same_values(net, optimizer):
    net[0].weight = nn.Parameter(net[0].weight.detach().clone())


def other_data(net, optimizer):
    net[0].weight.data = tn.ones(3, 2)


def loaded(net, optimizer):
    net.load_state_dict({k: v * 2 for k, v in net.state_dict().items()})


def loaded_and_assigned(net, optimizer):
    net.load_state_dict({k: v * 2 for k, v in net.state_dict().items()}, assign=True)


def submodule_replaced(net, optimizer):
    net[1] = nn.Tanh()


def frozen(net, optimizer):
    net[0].weight.requires_grad_(False)


def evaluating(net, optimizer):
    net.eval()


def rate(net, optimizer):
    optimizer.param_groups[0]["lr"] = 0.5


def momentum(net, optimizer):
    optimizer.param_groups[0]["momentum"] = 0.0


def new_group(net, optimizer):
    optimizer.add_param_group({"params": [nn.Parameter(tn.ones(1))]})


def optimizer_loaded(net, optimizer):
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))


def grads_dropped(net, optimizer):
    net.zero_grad()


def hook_on_a_parameter(net, optimizer):
    net[0].weight.register_hook(lambda g: g * 2)


def double_the_gradient(p):
    p.grad.mul_(2)


def post_accumulate(net, optimizer):
    net[0].weight.register_post_accumulate_grad_hook(double_the_gradient)


def attribute_of_a_module(net, optimizer):
    net[0].in_features = 2
    net[2].weight.requires_grad_(False)


def double(net, optimizer):
    net.double().float()


@pytest.mark.parametrize(
    "change",
    [
        replaced,
        replaced_by_the_same_values,
        other_data,
        loaded,
        loaded_and_assigned,
        submodule_replaced,
        frozen,
        evaluating,
        rate,
        momentum,
        new_group,
        optimizer_loaded,
        grads_dropped,
        hook_on_a_parameter,
        post_accumulate,
        attribute_of_a_module,
        double,
    ],
)
def test_a_training_step_notices_a_change(change):
    trained(change)


def test_dropout_in_training_and_evaluation():
    both_modes = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))

    def call(training):
        def run(f):
            net = getattr(f, "_orig_mod", f)
            net.train(training)
            return f(tn.arange(8.0).view(4, 2))

        return run

    both(
        lambda: copy.deepcopy(both_modes),
        [call(t) for t in (True, False, True) for _ in range(WARM)],
    )


@pytest.mark.parametrize(
    ("register", "why"),
    [
        (
            lambda net, hook: net[0].register_forward_hook(lambda m, a, out: out * hook()),
            "changes a list from outside",
        ),
        (
            lambda net, hook: net.register_forward_pre_hook(lambda m, a: (a[0] * hook(),)),
            "changes a list from outside",
        ),
        (
            lambda net, hook: net[2].register_full_backward_hook(lambda m, i, o: (i[0] * hook(),)),
            "a module has hooks on its gradients",
        ),
    ],
)
@pytest.mark.parametrize("before", [False, True])
def test_hooks_on_modules(register, why, before):
    seen = []

    def hook():
        seen.append(1)
        return 2.0

    counts = []

    def add(net, optimizer):
        counts.append(len(seen))
        register(net, hook)

    def nothing(net, optimizer):
        pass

    if before:
        trained(nothing, start=add, falls_back=why)
    else:
        trained(add, falls_back=why)
    counts.append(len(seen))
    assert counts[1] - counts[0] == counts[2] - counts[1]


def test_hooks_for_all_modules():
    seen = []
    net = linear()
    compiled = tn.compile(net)
    for _ in range(WARM):
        compiled(tn.ones(1, 2))
    handle = nn.modules.module.register_module_forward_hook(lambda m, a, out: seen.append(m))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled(tn.ones(1, 2))
    finally:
        handle.remove()
    assert net[0] in seen


def test_hooks_on_tensors_inside():
    weight = tn.ones(2, requires_grad=True)

    def f(x):
        y = x * weight
        y.register_hook(lambda g: g * 3)
        return y * 2

    def call(f):
        weight.grad = None
        f(tn.ones(2)).sum().backward()
        return weight.grad

    both(lambda: f, [call] * 5, "hook")


def test_schedulers_move_the_learning_rate():
    def run(compiling):
        net = linear()
        optimizer = optim.SGD(net.parameters(), lr=0.1)
        scheduler = optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)

        def step(x):
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()

        used = tn.compile(step) if compiling else step
        for _ in range(8):
            used(tn.ones(4, 2))
            scheduler.step()
        return exact(dict(net.state_dict())), optimizer.param_groups[0]["lr"]

    assert run(False) == run(True)


def test_the_last_batch_is_smaller():
    net = linear()
    calls = [lambda f, n=n: f(tn.ones(n, 2)) for n in (4, 4, 4, 4, 3, 4, 4, 3, 3, 3)]
    both(lambda: net, calls)


# ---- Python state ------------------------------------------------------------------------------

SCALE = 1.0
SCALES = [1.0, 2.0]
TABLE = {"a": 1.0}


class Config:
    scale = 1.0

    def __init__(self):
        self.inner = types.SimpleNamespace(scale=1.0)


CONFIG = Config()


def helper(x, scale=1.0, scales=[1.0]):  # noqa: B006 - a default that changes
    return x * scale * scales[0]


def read_global(x):
    return x * SCALE


def read_list(x):
    return x * SCALES[0]


def read_dict(x):
    return x * TABLE["a"]


def read_items(x):
    for value in TABLE.values():
        x = x * value
    return x


def read_object(x):
    return x * CONFIG.inner.scale


def read_class(x):
    return x * CONFIG.scale


def call_helper(x):
    return helper(x)


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (read_global, lambda v: globals().__setitem__("SCALE", v)),
        (read_list, lambda v: SCALES.__setitem__(0, v)),
        (read_dict, lambda v: TABLE.__setitem__("a", v)),
        (read_items, lambda v: TABLE.__setitem__("a", v)),
        (read_items, lambda v: (TABLE.clear(), TABLE.update(dict.fromkeys(range(int(v)), v)))),
        (read_object, lambda v: setattr(CONFIG.inner, "scale", v)),
        (read_class, lambda v: setattr(Config, "scale", v)),
        (call_helper, lambda v: setattr(helper, "__defaults__", (v, [1.0]))),
        (call_helper, lambda v: helper.__defaults__[1].__setitem__(0, v)),
        (call_helper, lambda v: globals().__setitem__("helper", lambda x, v=v: x * v)),
    ],
)
def test_python_state_that_is_read(function, change):
    before = copy.deepcopy((SCALE, SCALES, TABLE, helper.__defaults__))
    original = helper

    def calls(value):
        def call(f):
            change(value)
            return f(tn.arange(3))

        return call

    try:
        both(lambda: function, [calls(v) for v in (1.0, 2.0, 1, True, 3.0) for _ in range(WARM)])
    finally:
        globals().update(SCALE=before[0], SCALES=before[1], TABLE=before[2], helper=original)
        helper.__defaults__ = before[3]
        CONFIG.inner.scale = Config.scale = 1.0


def test_closure_variables():
    scale, scales = 1.0, [1.0]

    def f(x):
        return x * scale * scales[0]

    def call(f):
        return f(tn.ones(2))

    def first(f):
        nonlocal scale
        scale = 2.0
        return f(tn.ones(2))

    def second(f):
        scales[0] = 3.0
        return f(tn.ones(2))

    def back(f):
        nonlocal scale
        scale, scales[0] = 1.0, 1.0
        return f(tn.ones(2))

    both(lambda: f, [call] * WARM + [first] * WARM + [second] * WARM + [back] * WARM)


def test_attributes_of_modules():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.scales = 1.0, [1.0]

        def forward(self, x):
            return x * self.scale * self.scales[0]

    def call(scale, other):
        def run(f):
            net = getattr(f, "_orig_mod", f)
            net.scale, net.scales[0] = scale, other
            return f(tn.ones(2))

        return run

    values = [(1.0, 1.0), (2.0, 1.0), (2.0, 3.0), (1.0, 1.0)]
    both(Net, [call(*v) for v in values for _ in range(WARM)])


def test_a_module_that_counts_runs_eagerly():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    both(Net, [lambda f: f(tn.ones(1))] * 5, "sets the attribute 'calls'")


def test_a_list_that_the_function_appends_to():
    seen = []

    def f(x):
        seen.append(1)
        return x * len(seen)

    def make():
        seen.clear()
        return f

    both(make, [lambda f: f(tn.ones(1))] * 5, "changes a list from outside")


def test_tensors_in_containers():
    weights = [tn.ones(2), tn.ones(2)]

    def make():
        weights[:] = [tn.ones(2), tn.ones(2)]
        return lambda x: x * weights[0] + weights[1]

    def put(f):
        weights[1] = tn.full((2,), 7.0)
        return f(tn.ones(2))

    def change(f):
        weights[0].mul_(2)
        return f(tn.ones(2))

    call = lambda f: f(tn.ones(2))  # noqa: E731
    both(make, [call] * WARM + [change] * WARM + [put] * WARM + [change, put])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x * random.choice([1.0, 1.0, 1.0, 2.0]), "random"),
        (lambda x: x * (time.time() > 0), "time"),
        (lambda x: x * float(np.random.randint(1, 3)), "random"),
        (lambda x: print(end="") or x * 2, "prints"),
        (lambda x: x * len(open(__file__).read(1)), "opens a file"),
        (lambda x: x * x.sum().item(), "item() reads"),
        (lambda x: x * 2 if (x > 0).all() else x, "bool() reads"),
        (lambda x: x * float(x.sum()), "reads values"),
        (lambda x: x * len(f"{x}"), "reads values"),
        (lambda x: x * x.numpy().sum(), "reads values"),
        (lambda x: x * len(x.tolist()), "reads values"),
        (lambda x: x * x._version, "reads"),
        (lambda x: x * next(COUNTER), "iterator"),
    ],
)
def test_what_a_program_cannot_repeat(function, words):
    both(lambda: function, [lambda f: f(tn.ones(2))] * 5, words)


COUNTER = iter([1, 1, 1, 2, 3, 1, 1, 1, 2, 3])


def test_assertions_about_values():
    def f(x):
        assert (x > 0).all()
        return x * 2

    calls = [lambda f: f(tn.ones(2))] * 5 + [lambda f: f(-tn.ones(2))]
    both(lambda: f, calls, "bool() reads")


def test_code_that_catches_exceptions():
    def f(x):
        try:
            return x.view(7)
        except RuntimeError:
            return x + 1

    both(lambda: f, [lambda f: f(tn.ones(2))] * 5)


def test_generators_and_recursion():
    def halves(x, n):
        for _ in range(n):
            x = x / 2
            yield x

    def power(x, n):
        return x if n == 0 else power(x * x, n - 1)

    both(lambda: lambda x: sum(halves(x, 3)) + power(x, 3), [lambda f: f(tn.ones(2))] * 5)
    both(
        lambda: lambda x: halves(x, 2),
        [lambda f: list(f(tn.ones(2)))] * 4,
        "",
    )


def test_methods_lambdas_partials_and_loops():
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        def method(self, x):
            return x * self.scale

        @classmethod
        def of_class(cls, x):
            return x * 3

        @staticmethod
        def static(x):
            return x * 4

        def __call__(self, x):
            return x * self.scale + 1

    one = Scaled(2.0)
    call = [lambda f: f(tn.ones(2))] * 4
    for function in (one.method, Scaled.of_class, Scaled.static, one):
        both(lambda function=function: function, call)
    both(lambda: functools.partial(lambda s, x: x * s, 5.0), call)
    functions = [tn.compile(lambda x, i=i: x * i) for i in range(4)]
    for _ in range(4):
        assert [f(tn.ones(1)).item() for f in functions] == [0, 1, 2, 3]

    def made(i):
        return tn.compile(lambda x: x * i)

    functions = [made(i) for i in range(4)]
    for _ in range(4):
        assert [f(tn.ones(1)).item() for f in functions] == [0, 1, 2, 3]


def test_a_compiled_method_has_a_program_for_each_object():
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        @tn.compile
        def run(self, x):
            return x * self.scale

    objects = Scaled(1.0), Scaled(2.0)
    for _ in range(4):
        assert [o.run(tn.ones(1)).item() for o in objects] == [1, 2]
    objects[0].scale = 5.0
    assert [o.run(tn.ones(1)).item() for o in objects] == [5, 2]


def test_functions_that_return_no_tensor():
    weight = tn.ones(2)

    def f(x):
        weight.add_(x)

    def make():
        weight.zero_()
        return f

    both(make, [lambda f: (f(tn.ones(2)), weight.clone())] * 5)
    both(lambda: lambda x: None, [lambda f: f(tn.ones(2))] * 4)
    both(lambda: lambda x: 3, [lambda f: f(tn.ones(2))] * 4)
    both(lambda: lambda x: (x.shape, x.dtype, "a"), [lambda f: f(tn.ones(2))[0]] * 4)


# ---- errors ------------------------------------------------------------------------------------


def test_an_exception_in_a_capture_and_in_a_replay():
    weight = tn.zeros(2)

    def f(x, index):
        weight.add_(1)
        y = x[index]
        weight.add_(1)
        return y

    good, bad = tn.tensor([0]), tn.tensor([9])

    def make():
        weight.zero_()
        return f

    def call(index):
        def run(f):
            before = weight._version
            try:
                result = f(tn.ones(3), index)
            except IndexError as error:
                result = str(error).partition("\n")[0]
            return result, weight.clone(), weight._version - before

        return run

    both(make, [call(i) for i in (bad, good, good, good, bad, good, bad)])
    assert tn._mode.tracer is None if hasattr(tn, "_mode") else not tn.compiler.is_compiling()


def test_a_written_parameter_raises_as_in_eager_code():
    net = linear()
    optimizer = optim.SGD(net.parameters(), lr=0.1)

    @tn.compile
    def step(x):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()

    x = tn.ones(4, 2)
    for _ in range(WARM):
        step(x)
    loss = net(x).sum()
    step(x)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*step\(x\)"):
        loss.backward()


def written_after(change):
    """Return the error of a backward pass after a change, compiled and eager."""
    found = []
    for compiling in (False, True):
        weight = tn.full((2,), 0.5, requires_grad=True)

        def f(x, weight=weight):
            return (x * weight).exp()

        used = tn.compile(f) if compiling else f
        for _ in range(WARM):
            x = tn.ones(2)
            y = used(x)
            change(x, weight, y)
            try:
                y.sum().backward()
                found.append(exact(weight.grad))
            except RuntimeError as error:
                found.append("inplace" if "inplace" in str(error) else str(error))
    return found


@pytest.mark.parametrize(
    "change",
    [
        lambda x, weight, y: x.add_(1),
        lambda x, weight, y: y.detach().mul_(2),
        lambda x, weight, y: weight.detach().add_(1),
        lambda x, weight, y: y.view(-1)[:1].detach().zero_(),
        lambda x, weight, y: None,
    ],
)
def test_saved_values_that_change_before_backward(change):
    found = written_after(change)
    assert found[:WARM] == found[WARM:]


def test_outputs_modified_in_place_before_backward():
    weight = tn.full((2,), 0.5, requires_grad=True)

    def call(f):
        weight.grad = None
        y = f(tn.ones(2))
        y.mul_(3)
        y[0] = 1
        y.sum().backward()
        return y, weight.grad

    both(lambda: lambda x: x * weight, [call] * 5)


def test_backward_twice_and_retain_graph():
    weight = tn.full((2,), 0.5, requires_grad=True)

    def twice(f):
        weight.grad = None
        y = f(tn.ones(2))
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        return weight.grad

    def too_often(f):
        y = f(tn.ones(2)).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()

    both(lambda: lambda x: (x * weight).exp(), [twice] * 4 + [too_often] * 2)


def test_a_loss_whose_graph_the_step_has_freed():
    weight = tn.full((2,), 0.5, requires_grad=True)

    def f(x):
        loss = (x * weight).exp().sum()
        loss.backward()
        return loss

    def call(f):
        loss = f(tn.ones(2))
        try:
            loss.backward()
        except RuntimeError as error:
            return "second time" in str(error), loss
        return "no error"

    both(lambda: f, [call] * 5)


def test_parts_of_a_graph_that_the_step_has_freed():
    weight = tn.full((2, 4), 0.5, requires_grad=True)

    def f(x):
        mean, spread = (x @ weight).chunk(2, 1)
        image = (mean * spread.exp()).sigmoid().view(-1)
        image.sum().backward()
        return image, mean, spread

    both(lambda: f, [lambda f: tuple(t.detach() for t in f(tn.ones(3, 2)))] * 5)


def test_gradients_that_pass_through_earlier_operations():
    def call(f):
        x = tn.ones(3, requires_grad=True)
        y = x * x
        grad = f(x, y)
        with pytest.raises(RuntimeError, match="second time"):
            y.sum().backward()
        return grad

    both(lambda: lambda x, y: tn.autograd.grad(y.sum(), [x])[0], [call] * 5, "before the call")


def test_gradients_that_stop_at_earlier_operations():
    def call(f):
        x = tn.ones(3, requires_grad=True)
        y = x * x
        grad = f(y)
        y.sum().backward()
        return grad, x.grad

    both(lambda: lambda y: tn.autograd.grad(y.exp().sum(), [y])[0], [call] * 5)


def test_a_returned_view_with_a_hook():
    def f(x):
        view = x.view(-1)
        view.register_hook(lambda g: 2 * g)
        return view

    def call(f):
        x = tn.ones(3, requires_grad=True)
        f(x).sum().backward()
        return x.grad

    both(lambda: f, [call] * 5, "a view")


def test_a_view_without_a_history():
    def call(f):
        x = tn.ones((), requires_grad=True)
        squared = x * x
        (slope,) = tn.autograd.grad(squared, [x], create_graph=True)
        return f(slope)

    both(lambda: lambda x: x.view(()), [call] * 5)


def test_one_of_several_views_whose_base_was_written_to():
    weight = tn.ones(3, requires_grad=True)

    def f(x):
        y = (x * weight).exp()
        y.sum().backward()
        part = y.unbind(0)[0]
        y[0] = 2.0
        return y, part

    def call(f):
        y, part = f(tn.ones(3))
        with pytest.raises(RuntimeError, match="view"):
            part.backward()
        return y.detach()

    both(lambda: f, [call] * 5, "a view")


def test_numpy_sets_attributes_of_its_own():
    both(lambda: lambda x: x * len(np.ma.ones(3).harden_mask()), [lambda f: f(tn.ones(2))] * 5)


def test_backward_through_two_compiled_functions():
    weight = tn.full((2,), 0.5, requires_grad=True)
    first, second = (lambda x: x * weight), (lambda x: (x * weight).exp())

    def run(f, g):
        weight.grad = None
        g(f(tn.ones(2))).sum().backward()
        return exact(weight.grad)

    a, b = tn.compile(first), tn.compile(second)
    for _ in range(5):
        assert run(first, second) == run(a, b)


def test_one_of_several_outputs_is_used():
    weights = [tn.full((2,), 0.5, requires_grad=True) for _ in range(3)]

    def f(x):
        a, b, c = (x * w for w in weights)
        return a + b, b * c, c.exp()

    def call(*which):
        def run(f):
            for w in weights:
                w.grad = None
            outputs = f(tn.ones(2))
            sum(outputs[i].sum() for i in which).backward()
            return [w.grad for w in weights]

        return run

    both(lambda: f, [call(*w) for w in ((0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2), (1,))])


def test_outputs_that_are_views_and_inputs():
    def call(f):
        x = tn.arange(6.0)
        parts = f(x)
        parts[0].add_(1)
        return [*parts, x, x._version, parts[0] is x, parts[1]._is_view(), parts[1]._base is x]

    both(lambda: lambda x: (x, x.view(2, 3), x[1:], x.view(2, 3).t()), [call] * 5)
    both(lambda: lambda x: (x * 2, (x * 2).view(2, 3), x.detach()), [call] * 5)
    both(lambda: lambda x: [y := x * 2, y.view(2, 3), y, y[0], y.detach()], [call] * 5)


def test_views_of_views_as_arguments():
    data = tn.arange(20.0).view(10, 2)

    def call(i):
        def run(f):
            x = data[i : i + 4]
            y = f(x)
            return y, y._base is data, x

        return run

    both(lambda: lambda x: x[1:], [call(i) for i in (0, 2, 4, 6, 0)])


# ---- sharing, copying, threads -----------------------------------------------------------------


def test_two_threads():
    net = linear()
    compiled = tn.compile(net)
    expected = [exact(net(tn.full((2, 2), float(i)))) for i in range(50)]
    problems = []

    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for i in range(50):
                if exact(compiled(tn.full((2, 2), float(i)))) != expected[i]:
                    problems.append(i)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert problems == []


def test_another_thread_has_other_modes():
    weight = tn.ones(2, requires_grad=True)
    compiled = tn.compile(lambda x: x * weight)
    found = []
    for _ in range(WARM):
        compiled(tn.ones(2))

    def work():
        with tn.no_grad():
            found.append(compiled(tn.ones(2)).requires_grad)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork():
    compiled = tn.compile(lambda x: x * 2)
    for _ in range(WARM):
        compiled(tn.ones(2))
    child = os.fork()
    if child == 0:
        os._exit(0 if compiled(tn.full((2,), 3.0)).tolist() == [6, 6] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_pickling_and_deepcopy():
    net = linear()
    compiled = tn.compile(net)
    for _ in range(WARM):
        compiled(tn.ones(1, 2))
    for other in (pickle.loads(pickle.dumps(compiled)), copy.deepcopy(compiled)):
        with tn.no_grad():
            other._orig_mod[0].weight.zero_()
        for _ in range(4):
            assert exact(other(tn.ones(1, 2))) == exact(other._orig_mod(tn.ones(1, 2)))
            assert exact(compiled(tn.ones(1, 2))) == exact(net(tn.ones(1, 2)))
    function = pickle.loads(pickle.dumps(tn.compile(read_global)))
    assert [function(tn.ones(1)).item() for _ in range(4)] == [1] * 4


def test_nested_compiled_functions_are_inlined():
    inner = tn.compile(lambda x: x * SCALE)
    compiled = both(lambda: lambda x: inner(x) + inner(x * 2), with_x(1, 2))
    assert replayed(compiled) == 1


# ---- the interface -----------------------------------------------------------------------------


def test_disable_is_compiling_and_reset():
    compiling = []

    @tn.compiler.disable
    def excluded(x):
        compiling.append(tn.compiler.is_compiling())
        return x + 1

    both(lambda: lambda x: excluded(x) * 2, with_x(1), "tn.compiler.disable")
    assert not any(compiling)
    assert not tn.compiler.is_compiling()
    compiled = tn.compile(lambda x: x * 2)
    for _ in range(WARM):
        compiled(tn.ones(1))
    assert replayed(compiled) == 1
    tn.compiler.reset()
    assert replayed(compiled) == 0
    assert compiled(tn.ones(1)).item() == 2


def test_fullgraph_is_an_error_with_the_same_words():
    compiled = tn.compile(lambda x: x * x.sum().item(), fullgraph=True)
    with pytest.raises(CompileError, match=r"item\(\) reads values(.|\n)*where(.|\n)*to fix it"):
        compiled(tn.ones(1))


def test_the_limit_of_programs():
    calls = [lambda f, n=n: f(tn.ones(n)) for n in range(1, 13) for _ in range(WARM)]
    compiled = both(lambda: lambda x: x * 2, calls, "8 programs already")
    counter = types.SimpleNamespace(calls=0)
    counting = tn.compile(lambda x: x * counter.calls)
    with pytest.warns(CompileWarning, match=r"values \(a SimpleNamespace.calls was \d+\)"):
        for counter.calls in range(10):
            for _ in range(WARM):
                counting(tn.ones(1))
    assert replayed(compiled) == 8


def test_a_warning_comes_once_and_names_the_line():
    def f(x):
        return x * x.sum().item()

    compiled = tn.compile(f)
    found = warnings_of(lambda: [compiled(tn.ones(n)) for n in (1, 2, 3) for _ in range(4)])
    assert len(found) == 1
    assert "test_guards.py" in found[0]
    assert "x.sum().item()" in found[0]


@pytest.mark.parametrize("model", [3, "net", tn.ones(1), [1]])
def test_what_cannot_be_called(model):
    with pytest.raises((TypeError, RuntimeError), match="expects a module or a function|callable"):
        tn.compile(model)
    with pytest.raises((TypeError, RuntimeError), match="expects a module or a function|callable"):
        tn.compile()(model)


def test_unknown_backends_and_modes():
    with pytest.raises(RuntimeError, match="Invalid backend: 'cuda'"):
        tn.compile(lambda x: x, backend="cuda")
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast, should be one of"):
        tn.compile(lambda x: x, mode="fast")
    with pytest.raises(RuntimeError, match="Either mode or options can be specified"):
        tn.compile(lambda x: x, mode="default", options={"a": 1})


# ---- other tensors and transforms --------------------------------------------------------------


def test_subclasses():
    class Marked(tn.Tensor):
        pass

    def call(f):
        y = f(tn.ones(2).as_subclass(Marked))
        return type(y).__name__, y.as_subclass(tn.Tensor)

    compiled, eager = tn.compile(lambda x: x * 2), (lambda x: x * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(5):
            assert exact(call(compiled)) == exact(call(eager))
        assert type(compiled(tn.ones(2))) is tn.Tensor


def test_sparse_tensors_run_eagerly():
    sparse = tn.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,))
    both(lambda: lambda x: x.to_dense() * 2, [lambda f: f(sparse)] * 4, "sparse")


def test_an_output_that_is_computed_from_another():
    def call(f):
        x = tn.ones(3, requires_grad=True)
        inner, outer = f(x)
        seen = []
        inner.register_hook(lambda g: seen.append(g.clone()) or 2 * g)
        inner.retain_grad()
        (outer.sum() + inner.sum()).backward()
        return inner.grad, x.grad, seen

    def make():
        return lambda x: (y := x.exp(), y * 3)

    both(make, [call] * 5)


@pytest.mark.parametrize("name", ["view", "lstm", "chunk", "sort"])
def test_such_an_output_that_is_a_view_or_one_of_several(name):
    def make():
        head = nn.Linear(4, 2)
        lstm = nn.LSTM(4, 4, batch_first=True)
        forms = {
            "view": lambda x: [(v := head(x).view(-1)), v.tanh()],
            "lstm": lambda x: [(r := lstm(x))[0], r[1][0], head(r[0][:, -1])],
            "chunk": lambda x: [*(c := x.tanh().chunk(2, 1)), c[0] * c[1].exp()],
            "sort": lambda x: [(s := x.tanh().sort(1).values), s.square()],
        }
        return forms[name]

    def call(f):
        x = tn.linspace(-1, 1, 24).view(2, 3, 4).requires_grad_()
        found = f(x)
        sum(part.sin().sum() for part in found).backward()
        return [*(part.detach() for part in found), x.grad]

    both(make, [call] * 5)


def test_each_loss_and_their_sum():
    """As an autoencoder's ``return loss, reconstruction, divergence``."""

    nets = []

    def make():
        nets.append(net := nn.Linear(3, 2))

        def losses(x):
            y = net(x)
            first, second = y.square().mean(), y.abs().mean()
            return first + 0.1 * second, first, second

        return losses

    def call(chosen):
        def run(f):
            nets[-1].zero_grad()
            losses = f(tn.ones(4, 3))
            sum(losses[i] for i in chosen).backward()
            return [p.grad for p in nets[-1].parameters()]

        return run

    for chosen in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]:
        both(make, [call(chosen)] * 5)


def gradients_of_sets(f):
    """Return the gradients of an argument from each set of the results of a function."""
    found = []
    for places in [(0,), (1,), (0, 1), (-1, 0)]:
        x = tn.linspace(-1, 2, 5).requires_grad_()
        outputs = f(x)
        seen = []
        outputs[0].register_hook(lambda g, seen=seen: seen.append(g.clone()))
        sum((outputs[place] * (0.3 + place)).sin().sum() for place in places).backward()
        found.append((x.grad, seen))
    return found


def chained(x, w):
    states, h = [], x * 0.5
    for _ in range(5):
        h = (h * w + x).tanh()
        states.append(h)
    return states


@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: (y := x.exp(), y * x),  # the gradients of both meet at x
        lambda x, w: (y := x.exp(), y * y),
        lambda x, w: (y := x.exp(), y * 0.3 + y.sin() / (y + 1.1)),
        lambda x, w: (y := x.exp(), y.sin(), y.cos()),
        lambda x, w: (y := x.exp() * x + x.sin(), (y * x).tanh() + x.cos()),
        lambda x, w: (y := (x @ w.outer(w)).tanh(), y @ w.outer(w).T + (y * w).sum()),
        chained,
        lambda x, w: (y := (z := x.exp()) * 2, y * z),  # the passes of both go through z
    ],
    ids=[
        "argument",
        "square",
        "three uses",
        "two users",
        "much of both",
        "tied",
        "chained",
        "inner",
    ],
)
def test_outputs_that_meet_where_one_is_computed_from_another(f):
    def make():
        w = tn.linspace(0.1, 0.7, 5).requires_grad_()
        return lambda x: f(x, w)

    both(make, [gradients_of_sets] * 5)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ((parts := x.exp().unbind())[0], parts[0] * parts[1]),
        lambda x: (y := x.exp(), sum(y * i for i in range(9))),
    ],
    ids=["one of several", "many uses"],
)
def test_outputs_that_are_not_separate(f):
    def call(f):
        x = tn.ones(3, requires_grad=True)
        f(x)[1].sum().backward()
        return x.grad

    both(lambda: f, [call] * 5, "computed from it")


@pytest.mark.parametrize("last", [lambda y: y + 2, lambda y: y * y])
def test_such_an_output_of_a_graph_that_was_freed(last):
    """Gradients still flow from one to the other where what is between them kept nothing."""

    def make():
        def step(x):
            inner = x * x
            outer = last(inner)
            outer.sum().backward()
            return inner, outer

        return step

    def call(f):
        x = tn.ones(3, requires_grad=True)
        inner, outer = f(x)
        try:
            return x.grad, tn.autograd.grad(outer.sum(), inner)
        except RuntimeError as error:
            return x.grad, str(error).partition(".")[0]

    both(make, [call] * 5)


def test_a_view_that_is_made_without_recording():
    """The backward pass goes nowhere, and still raises the errors of what was changed."""

    def call(f):
        x = tn.ones(3, requires_grad=True) * 2
        with tn.no_grad():
            view = x[:2]
        f(view).sum().backward()

    both(lambda: lambda view: (view * 1).exp_().relu_(), [call] * 4, "made without recording")


def test_a_view_whose_base_is_written_to_afterwards():
    """Such a view has a history as soon as its base requires grad."""

    def make():
        def function(x):
            view = x[:2]
            x.mul_(2)
            return view

        return function

    def call(f):
        x = tn.ones(3)
        view = f(x)
        x.requires_grad_()
        return view, view.grad_fn is None

    both(make, [call] * 4)


def test_sparse_gradients():
    table = nn.Embedding(4, 2, sparse=True)

    def call(f):
        table.weight.grad = None
        f(tn.tensor([1, 1, 2])).sum().backward()
        return table.weight.grad.to_dense()

    both(lambda: table, [call] * 5)


def test_transforms_around_and_inside():
    def f(x):
        return (x * 2).sin()

    x = tn.arange(3.0)
    compiled = tn.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            assert exact(tn.vmap(compiled)(x)) == exact(tn.vmap(f)(x))
            total = lambda x: compiled(x).sum()  # noqa: E731
            assert exact(tn.func.grad(total)(x)) == exact(tn.func.grad(lambda x: f(x).sum())(x))
            assert exact(compiled(x)) == exact(f(x))
        inside = [lambda x: tn.vmap(f)(x), lambda x: tn.func.grad(lambda x: f(x).sum())(x)]
        for function in inside:
            again = tn.compile(function)
            for _ in range(4):
                assert exact(again(x)) == exact(function(x))


def test_masks_that_select_another_number_of_elements():
    def call(k):
        def run(f):
            x = tn.arange(6.0, requires_grad=True)
            y = f(x * 1, x.detach() > k)
            y.sum().backward()
            return y, x.grad

        return run

    calls = [call(k) for k in (2, 2, 2, 2, 4, 1)]
    both(lambda: lambda x, m: (x[m] * 2 - x[m].mean()) ** 2, calls, "depends on the values")


def test_integer_tensors_as_indices():
    x = tn.arange(5.0)
    single = [lambda f, i=i: f(x, tn.tensor(i)) for i in (1, 1, 1, 1, 2, 3)]
    both(lambda: lambda x, i: x[i] * 2, single, "reads values")
    both(lambda: lambda x, i: x[:i] * 2, single, "reads values")
    lists = [lambda f, i=i: f(x, tn.tensor(i)) for i in ([1, 2], [1, 2], [1, 2], [3, 4])]
    both(lambda: lambda x, i: x[i] * x[[1, 0]], lists)


def test_recorders_see_each_operation():
    compiled = tn.compile(lambda x: x.exp() * 2)
    for _ in range(WARM):
        compiled(tn.ones(2))
    with board.record() as recording:
        compiled(tn.ones(2, requires_grad=True)).sum().backward()
    assert any("Exp" in node.op for node in recording.graphs["backward"].nodes)


def training_of(index):
    """A network, its optimizer and batches, different for each index."""
    tn.manual_seed(index)
    net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
    sgd = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    return net, sgd, [tn.full((4, 8), i / 7 + index) for i in range(7)]


def training_step(net, sgd, x):
    sgd.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    sgd.step()
    return loss


@pytest.mark.parametrize("shared", [False, True])
def test_two_threads_that_train_at_once(shared):
    """Both end up replaying, whether they share the compiled function or have one each."""
    functions = [tn.compile(training_step)] * 2
    if not shared:
        functions = [tn.compile(training_step) for _ in range(2)]
    found, start = [[], []], threading.Barrier(2)

    def work(index):
        net, sgd, batches = trainings[index]
        start.wait()
        for i in range(2000):  # a call while the other thread captures runs eagerly
            before = functions[index].calls().replayed
            found[index].append(exact(functions[index](net, sgd, batches[i % 7])))
            if i > 30 and functions[index].calls().replayed > before and done(index):
                break

    def done(index):
        net = trainings[index][0]
        programs = functions[index].programs()
        return any(key[1][1][1] is net and entry.replays > 9 for key, entry in programs)

    trainings = [training_of(0), training_of(1)]

    def train():
        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert warnings_of(train) == []
    assert done(0) and done(1)
    for index in range(2):
        net, sgd, batches = training_of(index)
        number = len(found[index])
        assert found[index] == [
            exact(training_step(net, sgd, batches[i % 7])) for i in range(number)
        ]


def test_what_another_thread_observes_is_no_matter():
    compiled = tn.compile(lambda x: x * 2)
    watching, over = threading.Event(), threading.Event()

    def watch():
        with observing(lambda *event: None):
            watching.set()
            over.wait(10)

    thread = threading.Thread(target=watch)
    thread.start()
    watching.wait(10)
    for _ in range(5):
        compiled(tn.ones(1))
    over.set()
    thread.join()
    assert compiled.calls() == (3, 2, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_is_forked_while_another_thread_captures():
    compiled = tn.compile(lambda x: x * 2)
    thread = threading.Thread(target=capturing.take)
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        for _ in range(4):
            compiled(tn.ones(1))
        os._exit(compiled.calls() != (2, 2, 0))
    capturing.give_back()
    assert os.waitpid(child, 0)[1] == 0


def test_attributes_of_a_module_that_no_code_reads_change_nothing():
    """As the list of log probabilities and rewards that an agent keeps."""

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.saved, self.steps, self.scale = nn.Linear(3, 2), [], 0, 1.0

        def forward(self, x):
            return self.layer(x) * self.scale

    agent = Agent()
    agent.compile()
    for i in range(8):
        agent.scale = float(i > 4)
        found = agent(tn.ones(1, 3))
        agent.saved.append(found)
        agent.steps += 1
        assert (found.count_nonzero() == 0) == (i < 5)
    assert agent.forward.calls() == (4, 4, 0)


@pytest.mark.parametrize(
    "read",
    [
        lambda agent: vars(agent)["steps"],
        lambda agent: agent.__dict__["steps"],
        lambda agent: getattr(agent, "_steps"[1:]),
        lambda agent: operator.attrgetter("steps")(agent),
        lambda agent: copy.copy(agent).__dict__["steps"],
        lambda agent: object.__getattribute__(agent, "steps"),
        lambda agent: agent.count(),
    ],
)
def test_attributes_of_a_module_that_code_reads_in_some_way(read):
    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = 0

        def count(self):
            return self.steps

        def forward(self, x):
            return x + read(self)

    agent = Agent()
    compiled = tn.compile(agent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for i in range(8):
            agent.steps = int(i > 4)
            assert compiled(tn.zeros(1)).item() == agent.steps


name = None


def test_a_global_variable_with_the_name_of_an_attribute():
    """It is not read, so it may change: a script's `loss` beside a module's `self.loss`."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.name = nn.Linear(2, 2)

        def forward(self, x):
            return self.name(x)

    def call(f):
        global name
        name = tn.ones(1)
        return f(tn.ones(1, 2))

    tn.manual_seed(0)
    net = Net()
    assert both(lambda: copy.deepcopy(net), [call] * 6).forward.calls() == (4, 2, 0)


def test_moves_and_reductions_where_an_error_would_be_handled():
    """As einops does: shapes are guarded, so it cannot fail in a replay, whatever came before."""

    def make():
        def f(x):
            x = nn.functional.dropout(x)
            try:
                x = tn.cat([x.reshape(2, -1).transpose(0, 1), x.permute(1, 0)])
                return x.mean(0), x.amax(1), x.sum(), x.prod(0)
            except RuntimeError as error:
                raise ValueError("shapes") from error

        return f

    assert both(make, [lambda f: f(tn.ones(2, 2))] * 5).calls() == (3, 2, 0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: tn.cat([x, x.int(), x.double(), x > 0]),
        lambda x: tn.stack([x, x.bool()]),
        lambda x: tn.block_diag(x, x.int()),
        lambda x: tn.isin(x.int(), tn.tensor([1, 2])),
        lambda x: tn.linalg.inv(x @ x.T),
        lambda x: tn.linalg.cholesky(x @ x.T),
        lambda x: tn.linalg.solve(x, x[0]),
        lambda x: tn.stft(x.flatten(), 4, window=tn.hann_window(4), return_complex=True).abs(),
    ],
)
def test_operations_that_convert_or_check_their_arrays(f):
    def call(f, n):
        tn.manual_seed(n)
        x = (tn.randn(3, 3) + 3 * tn.eye(3) if n else tn.zeros(3, 3)).requires_grad_()
        found = f(x)  # where n is 0, a singular matrix
        if found.requires_grad:
            found.sum().backward()
        return found.detach(), x.grad

    numbers = [1, 2, 3, 4, 5, 0, 6]
    calls = [lambda f, n=n: call(f, n) for n in numbers]
    assert both(lambda: f, calls).calls().eager == 0


def test_legacy_constructors():
    def make():
        return lambda x: x.new(x.size()).normal_() + tn.FloatTensor(3).zero_() + tn.Tensor([3.0])

    assert both(make, [lambda f: f(tn.ones(3))] * 5).calls() == (3, 2, 0)


def test_weak_references_to_what_is_read_change_nothing():
    class Scale:
        names = "factor", "__weakref__"

        def __init__(self):
            self.factor = 2.0

    class Reference(weakref.ref):
        """The newest one of such is the first."""

    scale, references = Scale(), []

    @tn.compile
    def scaled(x):
        return x * sum(getattr(scale, name) for name in scale.names if name[0] != "_")

    for _ in range(5):
        references.append(Reference(scale))
        scaled(tn.ones(2))
    assert scaled.calls() == (3, 2, 0)


def test_a_function_that_is_dropped_is_freed_at_once():
    """Without the garbage collector: nothing that a program consists of forms a cycle."""

    def run():
        net, sgd, batches = training_of(0)
        compiled = tn.compile(lambda x: training_step(net, sgd, x))
        for x in batches[:4]:
            compiled(x)
        program = compiled.programs()[0][1]
        return [weakref.ref(thing) for thing in (compiled, program, program.run, net)]

    run()
    gc.collect()
    gc.disable()
    try:
        sources, files, objects = len(linecache.cache), len(OUTSIDE), len(gc.get_objects())
        for _ in range(3):
            assert [reference() for reference in run()] == [None] * 4
        assert (len(linecache.cache), len(OUTSIDE)) == (sources, files)
        assert len(gc.get_objects()) < objects + 100
    finally:
        gc.enable()


def test_a_reason_does_not_keep_the_capture_alive():
    compiled = tn.compile(lambda x: x * x.sum().item())
    x = tn.ones(2)
    with pytest.warns(CompileWarning, match="item"):
        for _ in range(4):
            compiled(x)
    assert all(problem.__traceback__ is None for problem in compiled.problems)
