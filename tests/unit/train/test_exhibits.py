"""What TensorBoard is shown at each measurement: that it is right, and that it leaves no trace."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tinynet as tn
from tinynet import data, nn
from tinynet.train import ConfigError, UsageError, load_config, run
from tinynet.train.cli import main
from tinynet.train.exhibits import DecisionBoundary, GeneratedImages, Moment, Reconstructions

from .test_runner import own_model, weights

NET = """
    import tinynet as tn
    from tinynet import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(64, 10)

        def forward(self, images):
            return self.head(images.flatten(1))

        def samples(self, count):
            assert not self.training and not tn.is_grad_enabled()
            return tn.rand(count, 1, 4, 4)
"""
OWN = """
    import tinynet as tn

    class Drawn:
        def __init__(self, fails_in: int = 0):
            self.fails_in = fails_in
            self.calls = 0

        def show(self, at):
            self.calls += 1
            if at.epoch == self.fails_in:
                raise ArithmeticError("no picture today")
            at.writer.add_scalar("drawn", tn.rand(1).item(), at.step)
            at.writer.add_scalar("calls", self.calls, at.step)
"""


def shown(*tables):
    return f"\n[evaluation]\nshow = [{', '.join(tables)}]\n"


def events(result):
    return EventAccumulator(str(result.folder)).Reload()


class Recorder:
    """Instead of a writer: the last picture."""

    def add_image(self, tag, pixels, step, dataformats):
        assert dataformats == "HWC" and pixels.dtype == np.uint8
        self.tag, self.pixels = tag, pixels


def picture(exhibit, model, inputs, targets):
    """What an exhibit makes of a model and a few examples."""
    examples, writer = data.TensorDataset(inputs, targets), Recorder()
    with tn.no_grad():
        exhibit.show(Moment(model, writer, 0, 1, examples, examples))
    return writer.pixels.astype(int)


# ---- in a run ----


def test_the_same_random_numbers_at_each_measurement_and_no_trace(write, digits):
    table = '{type = "GeneratedImages", count = 3, tag = "made"}, {type = "./own.py:Drawn"}'
    path = write(own_model(digits), net=NET, own=OWN)
    plain = run(path, quiet=True)
    Path(path).write_text(own_model(digits) + shown(table))
    result = run(path, quiet=True)
    assert weights(result.model) == weights(plain.model)
    log = events(result)
    one, two = log.Images("made")
    assert one.encoded_image_string == two.encoded_image_string
    drawn, calls = log.Scalars("drawn"), log.Scalars("calls")
    assert drawn[0].value == drawn[1].value
    assert [(row.step, row.value) for row in calls] == [(22, 1), (45, 2)]  # the trial had its own


def test_the_stored_config_shows_the_same(write, digits):
    path = write(own_model(digits) + shown('{type = "GeneratedImages"}'), net=NET)
    text = (run(path, quiet=True).folder / "config.toml").read_text()
    assert '\nshow = [{type = "GeneratedImages", count = 64, tag = "samples"}]' in text


def test_one_that_fails_later_is_left_out(write, digits):
    path = write(digits + shown('{type = "./own.py:Drawn", fails_in = 2}'), own=OWN)
    with pytest.warns(RuntimeWarning, match=r"show.0: .*own.py:Drawn failed\n(?s:.)*no picture"):
        result = run(path, quiet=True)
    assert len(events(result).Scalars("drawn")) == 1
    assert result.metrics["accuracy"] > 0.5


@pytest.mark.parametrize(
    "table, message",
    [
        ('{type = "DecisionBoundry"}', r"toml:22: evaluation.show.0.type: .*'DecisionBoundary'"),
        ('{type = "DecisionBoundary", dots = 3}', r"show.0.dots: unknown key.* takes: points"),
        ('{type = "./own.py:Nothing"}', "evaluation.show.0.type: .*has no 'Nothing'"),
        ('{type = "./own.py:Mute"}', r"must give an exhibit \(with a method show\)"),
        ('{type = "GeneratedImages", count = 0}', "refused its arguments.* must be >= 1. Got 0"),
        ("1", "evaluation.show: must be a list of types or tables, got"),
    ],
)
def test_mistakes_in_the_config(write, digits, table, message):
    path = write(digits + shown(table), own=OWN + "\n    class Mute: pass")
    with pytest.raises(ConfigError, match=message):
        run(path, quiet=True)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "table, message",
    [
        (
            '{type = "DecisionBoundary"}',
            r"toml:22: evaluation.show.0: DecisionBoundary cannot be shown. ValueError: "
            r"inputs must be points \(batch, 2\), are \[143, 1, 8, 8\] tinynet.float32",
        ),
        ('{type = "GeneratedImages"}', r"Sequential has no method samples\(count\)"),
        ('{type = "Reconstructions"}', r"like the inputs \[16, 1, 8, 8\] .*, are \[16, 10\]"),
        ('{type = "./own.py:Drawn", fails_in = 1}', "Drawn failed\n.*own.py"),
    ],
)
def test_what_cannot_be_shown_is_told_before_anything_is_written(write, digits, table, message):
    path = write(digits + shown(table), own=OWN)
    with pytest.raises(UsageError, match=message):
        run(path, quiet=True)
    assert not Path("runs").exists()
    assert main(["check", path]) == 2


def test_they_are_listed_and_explained(capsys):
    assert main(["list", "exhibit"]) == 0
    assert "GeneratedImages(count=64" in capsys.readouterr().out
    assert main(["explain", "evaluation.show"]) == 0
    assert "DecisionBoundary, GeneratedImages" in capsys.readouterr().out
    assert main(["explain", "Reconstructions"]) == 0
    assert "below each." in capsys.readouterr().out


def test_show_says_where_each_came_from(write, digits):
    path = write(own_model(digits) + shown('{type = "GeneratedImages"}'), net=NET)
    config = load_config(path)
    assert str(config.origin("evaluation.show")) == "digits.toml:21"
    assert [c.type for c in config.evaluation.show] == ["GeneratedImages"]


# ---- what they show ----


def test_what_a_part_of_a_data_set_says_of_itself():
    whole = data.TensorDataset(tn.zeros(4, 2), tn.zeros(4))
    whole.classes = ["a", "b"]
    part, _ = data.random_split(whole, [3, 1])
    at = Moment(nn.Flatten(), Recorder(), 0, 1, whole, data.Subset(part, [0]))
    assert at.about("classes") == ["a", "b"]
    assert at.about("tokenizer") is None
    assert len(at.examples(9)[0]) == 1 and len(at.examples(9, train=True)[0]) == 4


def halves():
    """A classifier of points: class 1 where the second number is above 0."""
    model = nn.Linear(2, 2)
    with tn.no_grad():
        model.weight.copy_(tn.tensor([[0.0, 0.0], [0.0, 50.0]]))
        model.bias.zero_()
    return model


def test_a_decision_boundary_has_the_colours_of_the_classes_in_the_right_places():
    points = tn.tensor([[-1.0, -1.0], [1.0, 1.0]])
    pixels = picture(DecisionBoundary(resolution=50), halves(), points, tn.tensor([0, 1]))
    assert pixels.shape == (100, 100, 3)
    top, bottom = pixels[10, 50], pixels[90, 50]
    assert top[0] > top[2] and bottom[2] > bottom[0]  # above 0: class 1, which is orange
    assert np.abs(pixels[5:40, 5:80] - top).max() <= 1
    assert pixels[94, 5].tolist() == [0, 114, 178]  # the point at the bottom left, of class 0
    assert pixels[5, 94].tolist() == [230, 126, 0]


@pytest.mark.parametrize("shape", [(1,), ()], ids=["(batch, 1)", "(batch,)"])
def test_a_decision_boundary_of_one_logit(shape):
    points, targets = tn.tensor([[-1.0, -1.0], [1.0, 1.0]]), tn.tensor([0.0, 1.0])

    class Logit(nn.Module):
        def forward(self, inputs):
            return (50 * inputs[:, 1]).reshape(-1, *shape)

    exhibit = DecisionBoundary(resolution=50)
    one = picture(exhibit, Logit(), points, targets.reshape(-1, *shape))
    two = picture(exhibit, halves(), points, tn.tensor([0, 1]))
    assert (one == two).all()


@pytest.mark.parametrize(
    "model, targets, message",
    [
        (nn.Linear(2, 11), tn.tensor([0, 1]), "colours for 10 classes, not 11"),
        (nn.Unflatten(1, (1, 2)), tn.tensor([0, 1]), r"outputs must be .* are \[2500, 1, 2\]"),
        (nn.Linear(2, 2), tn.zeros(2, 3), r"a class for each point, are \[2, 3\]"),
    ],
)
def test_what_has_no_decision_boundary(model, targets, message):
    with pytest.raises(ValueError, match=message):
        picture(DecisionBoundary(resolution=50), model, tn.rand(2, 2), targets)


def test_reconstructions_are_below_their_inputs():
    class First(nn.Module):
        def forward(self, images):
            return (1 - images).flatten(1), images.sum()

    images = tn.stack([tn.zeros(1, 8, 8), tn.ones(1, 8, 8)])
    pixels = picture(Reconstructions(), First(), images, tn.zeros(2))
    assert pixels.shape == (67, 67, 3)
    corners = pixels[[16, 16, 50, 50], [16, 50, 16, 50], 0]
    assert corners.tolist() == [0, 255, 255, 0]  # black and white; below, white and black


def test_generated_images_must_be_images():
    class Silent(nn.Module):
        def samples(self, count):
            return tn.zeros(count, 64)

    with pytest.raises(ValueError, match=r"samples\(4\) must be images .* is \[4, 64\]"):
        picture(GeneratedImages(count=4), Silent(), tn.zeros(1, 2), tn.zeros(1))


def test_pictures_that_tensorboard_shows_are_those_that_were_drawn(write, digits):
    path = write(own_model(digits) + shown('{type = "GeneratedImages", count = 4}'), net=NET)
    image = events(run(path, quiet=True)).Images("samples")[-1]
    with Image.open(io.BytesIO(image.encoded_image_string)) as opened:
        assert opened.size == (67, 67)
        assert len(np.unique(np.asarray(opened))) > 20
