"""Mistakes that raise no error: each is reported once, and its near miss is not."""

import warnings

import pytest

import tinynet as tn
from tests.unit.train.conftest import DIGITS
from tinynet import nn, optim
from tinynet.data import DataLoader, TensorDataset
from tinynet.errors import TrainingWarning
from tinynet.nn import functional as F
from tinynet.train import fit, run
from tinynet.train.base.files import read_text
from tinynet.train.base.run_folder import RunFolder, parse_record

INPUTS = 5


def batches(targets, size=32):
    tn.manual_seed(1)
    xs = tn.randn(320, INPUTS)
    return DataLoader(TensorDataset(xs, targets(xs)), batch_size=size)


def net(outputs, *tail, hidden=16, activation=nn.ReLU):
    return nn.Sequential(nn.Linear(INPUTS, hidden), activation(), nn.Linear(hidden, outputs), *tail)


def classes(xs):
    return (xs[:, 0] > 0).long() + (xs[:, 1] > 0).long()


def is_positive(xs):
    return (xs[:, :1] > 0).float()


def sums(xs):
    return xs.sum(1, keepdim=True)


def prices(xs):
    return 180_000 + 50_000 * sums(xs)


def changed(model, **values):
    """Fill parameters with a value each: ``changed(net(1), **{"0.bias": -100})``."""
    with tn.no_grad():
        for name, value in values.items():
            model.get_parameter(name).fill_(value)
    return model


def adam(model, lr=1e-2):
    return optim.Adam(model.parameters(), lr=lr)


def sgd(model, lr=0.1):
    return optim.SGD(model.parameters(), lr=lr)


def warned(*arguments, **options):
    """Return the warnings of a training."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit(*arguments, **options).run()
    assert {warning.category for warning in found} <= {TrainingWarning}
    assert {warning.filename for warning in found} <= {__file__}
    return [str(warning.message) for warning in found]


def trained(model, loss, targets, optimizer=adam, epochs=8, size=32, **options):
    return warned(model, loss, optimizer(model), batches(targets, size), epochs, **options)


def own_cross_entropy(outputs, targets):
    return -F.log_softmax(outputs, 1).gather(1, targets[:, None]).mean()


def own_nll(probabilities, targets):
    return -(probabilities + 1e-9).log().gather(1, targets[:, None]).mean()


class Scaled(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor, self.layer = factor, nn.Linear(INPUTS, 1)

    def forward(self, xs):
        return self.factor * self.layer(xs)


class Blind(nn.Module):
    """Outputs that depend on the inputs only by a tiny share."""

    def __init__(self, share):
        super().__init__()
        self.share, self.layer = share, nn.Linear(INPUTS, 1)

    def forward(self, xs):
        return 1 + self.share * self.layer(xs)


def dead(hidden, alive=0):
    """A network whose first units are negative for all inputs."""
    model = net(3, hidden=hidden)
    with tn.no_grad():
        model[0].bias[: hidden - alive] = -1000
    return model


def rates(*values):
    """An optimizer with a parameter group per learning rate."""

    def make(model):
        groups = [{"params": [p]} for p in model.parameters()]
        made = optim.SGD(groups, lr=values[-1])
        for group, lr in zip(made.param_groups, values, strict=False):
            group["lr"] = lr
        return made

    return make


def scheduled(per, rate):
    """A loop with a schedule: the rate of each step or epoch."""

    def train():
        tn.manual_seed(0)
        model = net(3)
        optimizer = sgd(model)
        schedule = optim.lr_scheduler.LambdaLR(optimizer, rate)
        data = batches(classes)
        return warned(model, nn.CrossEntropyLoss(), optimizer, data, 6, schedule=schedule, per=per)

    return train


CE, BCE, MSE = nn.CrossEntropyLoss(), nn.BCEWithLogitsLoss(), nn.MSELoss()

# name -> (what the warning says, the mistake, near misses)
MISTAKES = {
    "softmax": (
        "The outputs of the model are probabilities, but cross_entropy expects scores",
        lambda: trained(net(3, nn.Softmax(1)), CE, classes),
        [
            lambda: trained(net(3), CE, classes),
            lambda: trained(net(3, nn.LogSoftmax(1)), CE, classes),
            lambda: trained(net(3, nn.LogSoftmax(1)), nn.NLLLoss(), classes),
            lambda: trained(net(3, nn.Softmax(1)), own_nll, classes),
            lambda: trained(net(3, nn.Softmax(1)), MSE, lambda xs: F.one_hot(classes(xs)).float()),
        ],
    ),
    "softmax, the function": (
        "The outputs of the model are probabilities",
        lambda: trained(net(3, nn.Softmax(1)), F.cross_entropy, classes),
        [lambda: trained(net(3), F.cross_entropy, classes)],
    ),
    "softmax, a function of the user's": (
        "The outputs of the model are probabilities",
        lambda: trained(net(3, nn.Softmax(1)), own_cross_entropy, classes),
        [lambda: trained(net(3), own_cross_entropy, classes)],
    ),
    "softmax, compiled": (
        "The outputs of the model are probabilities",
        lambda: trained(net(3, nn.Softmax(1)), CE, classes, compile=True),
        [lambda: trained(net(3), CE, classes, compile=True)],
    ),
    "sigmoid": (
        "The outputs of the model come from a sigmoid",
        lambda: trained(net(1, nn.Sigmoid()), BCE, is_positive),
        [
            lambda: trained(net(1), BCE, is_positive),
            lambda: trained(net(1, nn.Sigmoid()), nn.BCELoss(), is_positive),
        ],
    ),
    "sigmoid, squeezed": (
        "The outputs of the model come from a sigmoid",
        lambda: trained(net(1, nn.Sigmoid(), nn.Flatten(0)), BCE, lambda x: is_positive(x)[:, 0]),
        [lambda: trained(net(1, nn.Flatten(0)), BCE, lambda xs: is_positive(xs)[:, 0])],
    ),
    "rate": (
        "The learning rate was 0 in all 10 steps so far",
        lambda: trained(net(3), CE, classes, lambda model: sgd(model, lr=0.0)),
        [lambda: trained(net(3), CE, classes, rates(0.0, 0.0, 0.1))],  # a frozen layer
    ),
    "a schedule at 0": (
        "The learning rate was 0 in all 10 steps so far",
        scheduled("epoch", lambda epoch: epoch / 5),
        [
            scheduled("step", lambda step: step / 5),
            scheduled("epoch", lambda epoch: 1 - epoch / 5),
        ],
    ),
    "divergence": (
        "The loss has been above 1e+15 for 20 steps",
        lambda: trained(
            Scaled(1e15), MSE, sums, lambda model: sgd(model, lr=1e-40), size=320, epochs=30
        ),
        [
            lambda: trained(
                Scaled(1e15), MSE, sums, lambda model: sgd(model, lr=1e-40), size=320, epochs=15
            )
        ],
    ),
    "divergence from a small loss": (
        "at first ",
        lambda: trained(
            Scaled(1e4), MSE, sums, lambda model: sgd(changed(model, **ZEROS), lr=1.1e-8), epochs=9
        ),
        [lambda: trained(net(1), MSE, sums)],
    ),
    "chance": (
        "The accuracy has stayed at chance for 5 epochs",
        lambda: trained(net(3), CE, classes, lambda model: sgd(model, lr=1e-7), epochs=5),
        [
            lambda: trained(net(3), CE, classes, lambda model: sgd(model, lr=1e-7), epochs=4),
            lambda: trained(net(3), CE, classes, lambda model: sgd(model, lr=0.01), epochs=12),
        ],
    ),
    "chance, by labels of others": (
        "The accuracy has stayed at chance",
        lambda: trained(
            nn.Linear(INPUTS, 3),
            CE,
            lambda xs: classes(xs)[tn.randperm(len(xs))],
            lambda model: sgd(model, lr=0.01),
            epochs=40,
        ),
        [
            lambda: trained(  # nearly all of one class: the accuracy is that of guessing
                net(2), CE, lambda xs: (xs[:, 0] > 2).long(), lambda model: sgd(model, lr=0.05)
            )
        ],
    ),
    "constant outputs": (
        "The outputs of the model are the same for all inputs",
        lambda: trained(Blind(0), MSE, sums, lambda model: sgd(model, lr=1e-3)),
        [
            lambda: trained(Blind(1e-4), MSE, sums, lambda model: sgd(model, lr=1e-3)),
            # zeros at the beginning only
            lambda: trained(changed(net(1), **{"2.weight": 0.0, "2.bias": 0.0}), MSE, sums),
        ],
    ),
    "dead units": (
        "12 of the 16 units of 0 (Linear) are dead",
        lambda: trained(dead(16, alive=4), CE, classes),
        [
            lambda: trained(dead(16, alive=6), CE, classes),
            lambda: trained(net(3, activation=nn.Tanh), CE, classes),
        ],
    ),
    "targets of a regression": (
        "Standardise the targets",
        lambda: trained(net(1), MSE, prices),
        [
            lambda: trained(net(1), MSE, lambda xs: (prices(xs) - 180_000) / 112_000),
            lambda: trained(net(1), MSE, lambda xs: 5 + 3 * sums(xs)),
            # they are large, but learned
            lambda: trained(nn.Linear(INPUTS, 1), MSE, prices, lambda model: sgd(model, lr=0.3)),
        ],
    ),
    "targets of a regression, another loss": (
        "Standardise the targets",
        lambda: trained(net(1), lambda o, t: (o - t).abs().mean(), prices),
        [lambda: trained(net(1), lambda o, t: (o - t).abs().mean(), sums)],
    ),
}
ZEROS = {"layer.weight": 0.0, "layer.bias": 0.0}


@pytest.fixture(autouse=True)
def _seeded():
    tn.manual_seed(0)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_once(name):
    text, mistake, _ = MISTAKES[name]
    found = [message for message in mistake() if text in message]
    assert len(found) == 1
    assert "\n" not in found[0]
    assert found[0].endswith(" explain silent-mistakes")


@pytest.mark.parametrize(
    "name, number", [(name, n) for name, row in MISTAKES.items() for n in range(len(row[2]))]
)
def test_a_near_miss_is_not_reported(name, number):
    assert MISTAKES[name][2][number]() == []


def test_they_can_be_switched_off():
    assert trained(net(3, nn.Softmax(1)), CE, classes, hints=False) == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        model = net(3, nn.Softmax(1))
        fit(model, CE, adam(model), batches(classes), 1).run()


def test_looking_changes_nothing():
    results = []
    for hints in (True, False):
        tn.manual_seed(0)
        model = nn.Sequential(nn.Linear(INPUTS, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))
        losses = fit(model, CE, adam(model), batches(classes), 3, hints=hints).run()
        results.append((losses, [p.tolist() for p in model.parameters()], tn.rand(1).item()))
    assert results[0] == results[1]


# ---- loops of the user's ----


def by_hand(before=None, after=None, keep=None, steps=210, make=sgd):
    """Train in a loop; return the warnings."""
    model, xs = net(1), tn.randn(8, INPUTS)
    optimizer, kept = make(model, lr=1e-5), []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(steps):
            if before is not None:
                before(optimizer, model)
            loss = F.mse_loss(model(xs), sums(xs))
            loss.backward()
            if after is not None:
                after(model)
            optimizer.step()
            if keep is not None:
                keep(kept, loss)
    return [str(warning.message) for warning in found]


def reset(optimizer, model):
    optimizer.zero_grad()


def each_gradient(change):
    def before(optimizer, model):
        for p in model.parameters():
            if p.grad is not None:
                change(p)

    return before


def clip(model):
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)


@pytest.mark.parametrize("after", [None, clip])
@pytest.mark.parametrize("make", [sgd, adam])
def test_a_missing_zero_grad(after, make):
    (text,) = by_hand(after=after, make=make)
    assert "step() applies the gradients of all steps so far" in text
    assert text.endswith(" explain silent-mistakes")


@pytest.mark.parametrize(
    "before",
    [
        reset,
        lambda optimizer, model: optimizer.zero_grad(set_to_none=False),
        lambda optimizer, model: model.zero_grad(),
        lambda optimizer, model: model.zero_grad(set_to_none=False),
        each_gradient(lambda p: p.grad.zero_()),
        each_gradient(lambda p: p.grad.data.zero_()),
        each_gradient(lambda p: p.grad.numpy().fill(0)),
        each_gradient(lambda p: setattr(p, "grad", None)),
        each_gradient(lambda p: p.grad.mul_(0.5)),  # a momentum by hand
    ],
)
def test_ways_to_reset_gradients(before):
    assert by_hand(before=before) == []


def test_accumulated_gradients_are_no_mistake():
    model, xs = net(1), tn.randn(8, INPUTS)
    optimizer = sgd(model, lr=1e-3)
    for step in range(60):
        F.mse_loss(model(xs), sums(xs)).backward()
        if step % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


def add(kept, loss):
    kept[:] = [kept[0] + loss if kept else loss]


def add_in_epochs(kept, loss):
    add(kept, loss)
    if kept[0].item() > 90 * loss.item():
        kept.clear()


@pytest.mark.parametrize("keep", [list.append, add])
def test_losses_that_are_kept_with_their_graphs(keep):
    (text,) = by_hand(before=reset, keep=keep)
    assert "losses of 100 past steps are still in memory with their graphs" in text
    assert "test_silent_mistakes.py" in text and "F.mse_loss(" in text


@pytest.mark.parametrize(
    "keep",
    [
        lambda kept, loss: kept.append(loss.item()),
        lambda kept, loss: kept.append(loss.detach()),
        add_in_epochs,
    ],
)
def test_ways_to_keep_losses(keep):
    assert by_hand(before=reset, keep=keep) == []


# ---- runs ----

SOFTMAX = DIGITS.replace("report = false", "").replace(
    'type = "mlp"\nsizes = [64, 16, 10]', 'type = "./net.py:Net"'
)
NET = """\
from tinynet import nn

class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten(), nn.Linear(64, 10), nn.Softmax(1))
"""


@pytest.fixture
def config(tmp_path):
    (tmp_path / "net.py").write_text(NET)
    path = tmp_path / "softmax.toml"
    path.write_text(SOFTMAX)
    return path


def test_the_record_and_the_report_of_a_run_have_them(config, tmp_path, reports):
    with pytest.warns(TrainingWarning, match="The outputs of the model are probabilities"):
        result = run(config, out=tmp_path, quiet=True)
    folder = RunFolder(result.folder)
    (recorded,) = parse_record(folder)["warnings"]
    assert recorded.startswith("TrainingWarning: The outputs of the model are probabilities")
    assert "TrainingWarning: The outputs of the model are probabilities" in read_text(folder.report)


def test_a_config_switches_them_off(config, tmp_path):
    result = run(config, {"run.hints": False}, out=tmp_path, quiet=True)
    assert "warnings" not in parse_record(RunFolder(result.folder))
