"""Methods of training: several optimizers, adversarial networks, methods of one's own."""

import json
import re
import tomllib

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tinynet as tn
from tests.tools.rounding import near
from tinynet import nn, optim
from tinynet.train import (
    Batch,
    ConfigError,
    Method,
    NonFiniteError,
    Updater,
    UsageError,
    evaluate,
    evaluate_run,
    fit,
    load_config,
    run,
    to_toml,
)
from tinynet.train.cli import main
from tinynet.train.diagnose.dry_run import examine
from tinynet.train.models import GAN, mlp
from tinynet.train.run.runner import prepare
from tinynet.train.step.method import Adversarial

from .test_runner import weights

GAN_CONFIG = """\
[run]
seed = 3
epochs = 2

[data]
type = "Digits"
flatten = true
batch_size = 64

[model]
type = "GAN"
noise = 8
generator = {type = "mlp", sizes = [8, 32, 64]}
discriminator = {type = "mlp", sizes = [64, 32, 1]}

[loss]
type = "BCEWithLogitsLoss"

[method]
type = "adversarial"
real = 0.9

[optimizer]
clip_norm = 5.0

[optimizer.generator]
type = "Adam"
lr = 2e-3

[optimizer.discriminator]
type = "SGD"
lr = 0.1
clip_norm = 1.0

[schedule.generator]
type = "StepLR"
step_size = 1
gamma = 0.5

[evaluation]
metrics = ["binary_accuracy"]
"""


def rows(result):
    return [json.loads(row) for row in (result.folder / "metrics.jsonl").read_text().splitlines()]


# ---- a GAN from a config ----


def test_two_networks_train_each_other(write, capsys):
    result = run(write(GAN_CONFIG), ["evaluation.samples=4"])
    first, second = rows(result)
    names = ("loss_discriminator", "loss_generator")
    assert {f"{part}/{name}" for part in ("train", "test") for name in names} <= {*first}
    assert "train/loss" not in first and "lr" not in first
    assert (first["lr_generator"], second["lr_generator"]) == (2e-3, 1e-3)
    assert (first["lr_discriminator"], second["lr_discriminator"]) == (0.1, 0.1)
    assert first["test/binary_accuracy"] > 0.5  # better than chance after an epoch
    out = capsys.readouterr().out
    assert re.search(r"train loss_discriminator 1\.\d+, train loss_generator 0\.\d+, test", out)
    events = EventAccumulator(str(result.folder), size_guidance={"scalars": 0}).Reload()
    assert {"train/loss_generator", "lr_discriminator"} <= {*events.Tags()["scalars"]}
    assert len(events.Scalars("train/loss_generator")) == 46
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics
    again = run(result.folder / "config.toml", quiet=True)
    assert weights(again.model) == weights(result.model)


def test_no_weights_count_as_best_unless_a_figure_is_named(write):
    path = write(GAN_CONFIG)
    assert not (run(path, quiet=True).folder / "best.npz").exists()
    named = run(path, ["evaluation.monitor=loss_generator"], quiet=True)
    assert named.best.figures and (named.folder / "best.npz").exists()


def test_each_network_has_a_graph_of_its_own(write, capsys):
    path = write(GAN_CONFIG)
    texts = {}
    for part in ("discriminator", "generator"):
        assert main(["graph", path, "--part", part]) == 0
        texts[part] = capsys.readouterr().out
    updates = {part: re.findall(r"^ *(SGD|Adam)/$", text, re.M) for part, text in texts.items()}
    assert updates["discriminator"] == ["SGD"]
    assert "Adam" in updates["generator"]  # beside what SGD made of its inputs


def test_check_knows_both_networks(write):
    found = examine(prepare(load_config(write(GAN_CONFIG))))
    shapes = {row.name: row.output for row in found.modules}
    assert shapes["generator"].startswith("[64, 64]")
    assert shapes["discriminator"].startswith("[64, 1]")
    assert found.optimizer_bytes > 2 * 4 * (8 * 32 + 32 * 64)  # two moments of the generator's


def test_the_steps_are_those_written_out(write):
    """The order of the updates and of the random numbers, compared with a plain program."""

    def networks():
        tn.manual_seed(0)
        model = GAN(mlp([2, 4, 3]), mlp([3, 4, 1]), noise=2)
        return model, (
            optim.SGD(model.discriminator.parameters(), lr=0.3),
            optim.SGD(model.generator.parameters(), lr=0.2),
        )

    loss, images = nn.BCEWithLogitsLoss(), tn.linspace(-1, 1, 15).reshape(5, 3)
    model, (d, g) = networks()
    updaters = {"generator": Updater(g), "discriminator": Updater(d)}
    steps = [*fit(model, loss, updaters, [(images, images)], 3, method=Adversarial())]
    assert [*steps[0].losses] == ["loss_discriminator", "loss_generator"]
    assert steps[0].loss == near(sum(steps[0].losses.values()))
    assert steps[0].rates == {"generator": 0.2, "discriminator": 0.3}
    by_hand, (d, g) = networks()
    for _ in range(3):
        fake = by_hand.generator(tn.randn(5, 2)).detach()
        d.zero_grad()
        real_loss = loss(by_hand.discriminator(images), tn.ones(5, 1))
        (real_loss + loss(by_hand.discriminator(fake), tn.zeros(5, 1))).backward()
        d.step()
        g.zero_grad()
        loss(by_hand.discriminator(by_hand.generator(tn.randn(5, 2))), tn.ones(5, 1)).backward()
        g.step()
    assert weights(model) == weights(by_hand)


def test_accumulated_gradients(write):
    result = run(write(GAN_CONFIG), ["optimizer.accumulate=4"], quiet=True)
    assert [row["step"] for row in rows(result)] == [5, 11]


def test_the_networks_loss_that_is_not_finite_is_named_and_its_step_not_taken():
    model = GAN(mlp([2, 4, 3]), mlp([3, 4, 1]), noise=2)
    updaters = {
        name: Updater(optim.SGD(getattr(model, name).parameters(), lr=1.0))
        for name in ("generator", "discriminator")
    }
    loss, calls = nn.BCEWithLogitsLoss(), []

    def third_is_nan(outputs, targets):
        calls.append(outputs)
        return loss(outputs, targets) * (float("nan") if len(calls) == 3 else 1.0)

    before = {name: weights(getattr(model, name)) for name in updaters}
    images = tn.ones(5, 3)
    with pytest.raises(NonFiniteError, match=r"^the loss of the generator is nan in epoch 1"):
        next(fit(model, third_is_nan, updaters, [(images, images)], 1, method=Adversarial()))
    assert weights(model.generator) == before["generator"]
    assert weights(model.discriminator) != before["discriminator"]  # its turn was before


# ---- several optimizers in supervised learning ----

TWO = """
[optimizer.1]
type = "SGD"
lr = 0.5

[optimizer.3]
type = "Adam"
lr = 1e-2
"""


def test_parts_of_a_model_with_optimizers_of_their_own(write, digits):
    path = write(digits[: digits.index("[optimizer]")] + TWO)
    result = run(path, quiet=True)
    assert result.metrics["accuracy"] > 0.8
    assert rows(result)[0]["lr_1"] == 0.5 and rows(result)[0]["lr_3"] == 1e-2
    one = run(path, ["optimizer.1.lr=1e-12"], quiet=True)
    assert rows(one)[0]["train/accuracy"] < rows(result)[0]["train/accuracy"]


def test_one_schedule_for_all(write, digits):
    schedule = '[schedule]\ntype = "StepLR"\nstep_size = 1\ngamma = 0.5\n'
    result = run(write(digits[: digits.index("[optimizer]")] + TWO + schedule), quiet=True)
    assert rows(result)[1]["lr_1"] == 0.25 and rows(result)[1]["lr_3"] == 5e-3


def test_the_resolved_config_says_it_all_again(write):
    config = load_config(write(GAN_CONFIG))
    assert config.optimizer.each()["generator"].clip_norm == 5.0
    assert config.optimizer.each()["discriminator"].clip_norm == 1.0
    text = to_toml(config)
    again = to_toml(load_config(write(text)))
    assert tomllib.loads(again) == tomllib.loads(text)
    line = GAN_CONFIG[: GAN_CONFIG.index("lr = 2e-3")].count("\n") + 1
    assert re.search(rf"^lr = 0\.002 +# digits\.toml:{line}$", text, re.M)


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "[optimizer.generator]",
            "[optimizer.generatr]",
            "the method adversarial needs the tables",
        ),
        ("lr = 2e-3", "lrr = 2e-3", "optimizer.generator.lrr: unknown key; did you mean 'lr'?"),
        ('type = "Adam"', "", "optimizer.generator: type is missing"),
        ("clip_norm = 5.0", "clip_nrm = 5.0", "optimizer.clip_nrm: unknown key beside tables"),
        ("lr = 0.1\n", "lr = 0.1\naccumulate = 2\n", "optimizer.discriminator.accumulate: unknown"),
        (
            "[schedule.generator]",
            "[schedule.x]",
            "schedule.x: there is no such optimizer; there is",
        ),
        (
            'type = "adversarial"\nreal = 0.9',
            'type = "adverse"',
            "method.type: there is no 'adverse'",
        ),
        ("real = 0.9", "real = 2.0", "The 'real' parameter of adversarial must be"),
    ],
)
def test_mistakes_are_told_with_their_place(write, old, new, message):
    assert old in GAN_CONFIG
    with pytest.raises(ConfigError, match=re.escape(message)):
        prepare(load_config(write(GAN_CONFIG.replace(old, new))))


def test_parameters_belong_to_one_optimizer_each(write, digits):
    head = digits[: digits.index("[optimizer]")]
    for table, message in [
        ("5", "the model has no module '5'; it has: 0, 1, 2, 3"),
        ("1", "no optimizer has the parameters 3.weight and 3.bias"),
    ]:
        config = f'{head}[optimizer.{table}]\ntype = "SGD"\nlr = 0.1\n'
        with pytest.raises(ConfigError, match="optimizer: .*" + re.escape(message[:40])):
            prepare(load_config(write(config)))
    own = head.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    net = """
        from tinynet import nn

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(nn.Flatten(), nn.Linear(64, 10))
                self.tied = self[1]
    """
    config = own + TWO.replace("optimizer.3", "optimizer.tied")
    with pytest.raises(ConfigError, match="'1' and 'tied' have parameters in common"):
        prepare(load_config(write(config, net=net)))


def test_a_model_that_is_no_gan(write, tmp_path):
    config = GAN_CONFIG.replace('type = "GAN"\nnoise = 8\n', 'type = "ModuleDict"\n')
    net = """
        from tinynet import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.generator, self.discriminator = nn.Linear(8, 64), nn.Linear(64, 1)
    """
    config = re.sub(r"\[model\].*?\n\n", '[model]\ntype = "./net.py:Net"\n\n', config, flags=re.S)
    with pytest.raises(UsageError, match=r"needs a model with the modules generator and discr"):
        run(write(config, net=net), quiet=True)
    assert not (tmp_path / "runs").exists()


# ---- a method of one's own ----

DENOISING = """
    import tinynet as tn
    from tinynet.train import Batch, Method

    class Denoising(Method):
        '''The model learns to give back what it saw before noise was added.'''

        def __init__(self, noise: float):
            self.noise = noise

        def step(self, task):
            done = []
            task.zero_grad()
            for images, _ in task:
                outputs = task.model(images + self.noise * tn.randn(*images.shape))
                value = task.backward(task.loss(outputs, images))
                done.append(Batch(images, images, outputs, value))
            task.step()
            return done

        def measure(self, model, loss, batch):
            images, _ = batch
            outputs = model(images)
            return Batch(images, images, outputs, loss(outputs, images).item())
"""


def test_a_method_of_ones_own(write, digits):
    config = digits.replace("[64, 16, 10]", "[64, 32, 64]").replace("CrossEntropyLoss", "MSELoss")
    config = config.replace('"Digits"', '"Digits"\nflatten = true')
    config += '[method]\ntype = "./denoising.py:Denoising"\nnoise = 0.1\n'
    result = run(write(config, denoising=DENOISING), ["run.epochs=3"], quiet=True)
    losses = [row["val/loss"] for row in rows(result) if "val/loss" in row]
    assert len(losses) == 3 and losses == sorted(losses, reverse=True)
    assert evaluate_run(result.folder, quiet=True).metrics == result.metrics
    with pytest.raises(ConfigError, match=r"method\.noise: must be a number"):
        load_config("digits.toml", ["method.noise=much"])
    with pytest.raises(ConfigError, match="must give a method of training"):
        prepare(load_config(write(digits), ["method.type=pathlib:PurePath"]))


def test_what_is_measured_is_up_to_the_method():
    class Twice(Method):
        def measure(self, model, loss, batch):
            return Batch(*batch, batch[1], 2.0, {"loss_a": 1.0, "loss_b": 3.0})

    figures = evaluate(nn.Identity(), None, [(tn.ones(2), tn.ones(2))], method=Twice())
    assert figures == {"loss_a": 1.0, "loss_b": 3.0}
