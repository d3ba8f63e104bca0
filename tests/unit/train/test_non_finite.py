"""A step that comes to NaN or infinity: stopped before the weights, its first operation named."""

import json
import random

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.data import DataLoader, Subset, TensorDataset
from tinynet.train import NonFiniteError, fit
from tinynet.train.incidents import guard as guards
from tinynet.train.incidents.guard import read_report
from tinynet.train.step.seeds import get_states, seed_all

NAN, INF = float("nan"), float("inf")


class Head(nn.Module):
    """A linear layer, and whatever a test does with what it returns and its input."""

    def __init__(self, then):
        super().__init__()
        self.linear, self.then = nn.Linear(4, 3), then

    def forward(self, x):
        return self.then(self.linear(x), x)


def net(then):
    """The head is inside of another module, inside of the model."""
    return nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Tanh(), Head(then)))


def examples(**changes):
    tn.manual_seed(0)
    pair = {"inputs": tn.randn(20, 4), "targets": tn.randn(20, 3)}
    for name, (row, value) in changes.items():
        pair[name][row, 1] = value
    return TensorDataset(*pair.values())


def shuffled(data_set, size=8):
    generator = tn.Generator().manual_seed(5)
    return DataLoader(data_set, batch_size=size, shuffle=True, generator=generator)


def bits(model):
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


def failure(model, batches, loss=None, lr=0.1, **options):
    """The error of training a model; its weights and buffers are those of before the step."""
    sgd = optim.SGD(model.parameters(), lr=lr)
    before = bits(model)
    with pytest.raises(NonFiniteError) as caught:
        for _ in fit(model, loss or nn.MSELoss(), sgd, batches, 3, **options):
            before = bits(model)
    assert bits(model) == before
    return caught.value


def first(error):
    return error.post_mortem.report.suspects[0]


# ---- which operation ----


def test_the_operation_its_module_its_line_and_the_examples_are_named():
    def then(scores, x):
        safe = scores.abs() + 1
        return tn.where(x[:, :1] == x.max(), safe * 0, safe).log()  # 0 in one row

    data_set = examples()
    row = int(data_set.tensors[0].argmax()) // 4
    if data_set.tensors[0][row].argmax() != 0:  # the largest of all has to stand in front
        data_set.tensors[0][row, 0] = 9.0
    error = failure(net(then), shuffled(data_set))
    report, suspect = error.post_mortem.report, first(error)
    assert (suspect.kind, suspect.name, suspect.module) == ("forward", "log", "Sequential.1.1")
    assert suspect.line.filename == __file__
    assert suspect.line.expression == "tn.where(x[:, :1] == x.max(), safe * 0, safe).log()"
    assert suspect.values == {"self": "0"}
    assert (suspect.inputs[0].low, suspect.output.infinities) == (0.0, 3)
    assert [example.index for example in report.examples] == [row]
    assert (report.batch, report.affected) == (error.batch + 1, 1)
    text = str(error)
    for telling in (
        "stopped before the weights were changed.",
        "by log in Sequential.1.1",
        "with 3 inf; the first at [",
        "from self = 0",
        f"is training example {row}",
        "log of 0 is -inf",
    ):
        assert telling in text


@pytest.mark.parametrize("name, value", [("inputs", NAN), ("inputs", INF), ("targets", NAN)])
def test_what_is_in_the_batch_already_is_told_with_its_example(name, value):
    error = failure(nn.Linear(4, 3), shuffled(examples(**{name: (13, value)})))
    assert (first(error).kind, first(error).name) == ("batch", name)
    assert [example.index for example in error.post_mortem.report.examples] == [13]
    assert f"origin   the batch: {name} had it already" in str(error)
    assert "is training example 13" in str(error)


def test_the_number_in_the_whole_data_set_is_told_too():
    part = Subset(examples(inputs=(13, NAN)), [2, 13, 4])
    (example,) = failure(nn.Linear(4, 3), shuffled(part)).post_mortem.report.examples
    assert (example.index, example.original) == (1, 13)


def test_a_learning_rate_that_explodes():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    error = failure(model, shuffled(examples()), lr=1e8)
    assert first(error).kind == "forward"
    assert max(values.high for values in first(error).inputs) > 1e15
    assert "a smaller optimizer.lr" in str(error)


def test_a_loss_that_overflows():
    error = failure(
        nn.Linear(4, 3), shuffled(examples()), lambda o, t: ((o - t) * 1e30).pow(2).sum()
    )
    assert str(error).startswith("the loss is inf in epoch 1, step 1 (batch 1 of 3)")
    assert (first(error).name, first(error).module) == ("pow", "")


def test_a_module_of_the_loss_is_named():
    targets = tn.zeros(20, dtype=tn.int64)
    loss = nn.NLLLoss()
    model = net(lambda scores, x: scores.relu().log())
    error = failure(model, [(examples().tensors[0], targets)], loss)
    assert first(error).name == "log"
    assert error.post_mortem.report.indices is None  # nobody can tell, and nobody has to


def test_nan_only_in_backward():
    def then(scores, x):
        zeros = scores - scores.detach()
        return scores + zeros.pow(2).sum(1, keepdim=True).sqrt()

    error = failure(net(then), shuffled(examples()))
    suspect = first(error)
    assert (suspect.kind, suspect.name, suspect.module) == (
        "backward",
        "SqrtBackward0",
        "Sequential.1.1",
    )
    assert suspect.line.text == "return scores + zeros.pow(2).sum(1, keepdim=True).sqrt()"
    assert suspect.values["result"] == "0"
    assert "is not finite in epoch 1, step 1" in str(error)
    assert "the derivative of this line" in str(error)


def test_nan_only_in_backward_because_of_what_the_forward_threw_away():
    def then(scores, x):
        positive = scores * (scores > 0)  # its derivative keeps NaN: NaN * 0
        return tn.where(scores > 0, 1 / positive, scores)

    error = failure(net(then), shuffled(examples()))
    backward, forward = error.post_mortem.report.suspects
    assert (backward.kind, forward.kind, forward.name) == ("backward", "forward", "reciprocal")
    assert forward.role == "from"
    assert "0 times an infinite slope" in str(error)


# ---- what is not to blame ----


def test_an_infinite_mask_is_blamed_only_where_it_makes_nan():
    def then(scores, x):
        kept = scores.masked_fill(tn.tensor([True, False, False]), -INF).softmax(1)  # as it should
        return kept + scores.masked_fill(x[:, :1] > 0, -INF).softmax(1)

    softmax, fill = failure(net(then), shuffled(examples())).post_mortem.report.suspects
    assert (softmax.name, fill.name, fill.role) == ("softmax", "masked_fill", "from")
    assert "a row of only -inf (fully masked)" in softmax.hint


def test_a_mask_that_is_a_buffer():
    model = net(lambda scores, x: (scores + model.mask).softmax(1))
    model.register_buffer("mask", tn.full((3,), -INF))
    softmax, mask = failure(model, shuffled(examples())).post_mortem.report.suspects
    assert (softmax.name, mask.kind, mask.name) == ("softmax", "weights", "mask")


def test_an_infinity_that_turns_to_nan_later():
    error = failure(net(lambda scores, x: (scores / 0) * 0), shuffled(examples()))
    divided, times = error.post_mortem.report.suspects
    assert (divided.name, times.name, times.role) == ("div", "mul", "then")
    assert divided.values["other"] == "0"


def test_a_constant_in_the_code():
    error = failure(net(lambda scores, x: scores * NAN), shuffled(examples()))
    assert (first(error).kind, first(error).name) == ("constant", "mul")
    assert "a number in this line is NaN or infinite" in str(error)


def test_writes_in_place():
    def then(scores, x):
        scores = scores.clone()
        scores[2] /= 0
        return scores.exp_()

    error = failure(net(then), shuffled(examples()))
    assert (first(error).name, first(error).line.text) == ("div", "scores[2] /= 0")


def test_a_tensor_of_numpy():
    error = failure(
        net(lambda scores, x: scores * tn.from_numpy(np.full(3, INF, np.float32))),
        shuffled(examples()),
    )
    assert first(error).kind == "elsewhere"
    assert error.post_mortem.report.suspects[1].name == "mul"


def test_weights_that_were_so_before():
    model = nn.Linear(4, 3)
    with tn.no_grad():
        model.weight[1, 1] = NAN
    error = failure(model, shuffled(examples()))
    assert (first(error).kind, first(error).name, first(error).place) == (
        "weights",
        "weight",
        [1, 1],
    )


def test_what_does_not_happen_again():
    class Once(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.calls = nn.Linear(4, 3), []

        def forward(self, x):
            self.calls.append(x)
            return self.linear(x) * (NAN if len(self.calls) == 1 else 1.0)

    calls = iter([NAN])
    error = failure(net(lambda scores, x: scores * next(calls, 1.0)), shuffled(examples()))
    assert error.post_mortem.report.suspects == []
    assert "it did not happen again when the step was repeated" in str(error)


# ---- the same step again, and no trace of it ----


class Random(nn.Module):
    """Draws from all generators, and divides by 0 if the numbers say so."""

    def __init__(self):
        super().__init__()
        self.norm, self.drop, self.linear = nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 3)
        self.drawn = []

    def forward(self, x):
        numbers = (tn.rand(1).item(), float(np.random.rand()), random.random())
        self.drawn = [*self.drawn, numbers]
        scores = self.linear(self.drop(self.norm(x)))
        return scores / (0.0 if numbers[1] < 0.2 else 1.0)


def test_the_step_is_run_again_with_the_same_numbers_and_leaves_no_trace():
    seed_all(7, "training")
    model = Random()
    sgd = optim.SGD(model.parameters(), lr=0.1)
    steps = fit(model, nn.MSELoss(), sgd, shuffled(examples()), 99)
    with pytest.raises(NonFiniteError) as caught:
        for _ in steps:
            before = bits(model)
    assert caught.value.number > 2  # numpy's stream is watched after the first steps, too
    assert first(caught.value).name == "div"
    assert bits(model) == before  # running statistics included
    assert model.drawn[-1][1] < 0.2 <= min(numbers[1] for numbers in model.drawn[:-1])
    once = get_states()
    seed_all(7, "training")
    for _ in model.drawn:
        tn.rand(1), np.random.rand(), random.random()
    assert once["numpy"]["state"]["pos"] == get_states()["numpy"]["state"]["pos"]
    assert once["python"] == get_states()["python"]


@pytest.mark.parametrize("row, batch", [(0, 1), (9, 2), (17, 3)])
def test_which_of_the_accumulated_batches(row, batch):
    loader = DataLoader(examples(inputs=(row, NAN)), batch_size=8)
    error = failure(nn.Linear(4, 3), loader, accumulate=3)
    assert (error.batch, error.post_mortem.report.batch) == (batch - 1, batch)
    assert [e.index for e in error.post_mortem.report.examples] == [row]


def test_which_of_the_accumulated_batches_by_its_gradient():
    def then(scores, x):
        return scores + (scores - scores.detach() + (x[0, 1] != 7)).pow(2).sqrt()

    loader = DataLoader(examples(inputs=(8, 7.0)), batch_size=8)
    error = failure(Head(then), loader, accumulate=3)
    assert first(error).kind == "backward"
    assert (error.batch, error.post_mortem.report.batch) == (1, 2)


def test_a_mistake_of_the_search_does_not_hide_the_error(monkeypatch):
    monkeypatch.setattr(guards, "investigate", lambda *arguments: 1 / 0)
    error = failure(net(lambda scores, x: scores * NAN), shuffled(examples()))
    assert str(error).startswith("the loss is nan in epoch 1, step 1 (batch 1 of 3); stopped")
    assert "the step could not be examined: ZeroDivisionError" in str(error)


def test_sparse_gradients():
    table = nn.Embedding(5, 2, sparse=True)
    batch = (tn.tensor([1, 3]), tn.zeros(2, 2))
    error = failure(table, [batch], lambda o, t: (o - o.detach()).abs().sum().sqrt())
    assert (first(error).kind, first(error).name) == ("backward", "SqrtBackward0")


# ---- skipping ----


def test_a_step_can_be_skipped():
    told = []

    def skip(error):
        told.append(error)
        return True

    model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3))
    sgd = optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(examples(inputs=(19, NAN)), batch_size=8)
    before, steps = None, []
    for step in fit(model, nn.MSELoss(), sgd, loader, 2, skip=skip):
        if not step.batches:
            assert bits(model) == before
        before = bits(model)
        steps.append(step)
    assert [step.number for step in steps] == [0, 1, 2, 3, 4, 5]
    assert [step.number for step in steps if not step.batches] == [2, 5]
    assert steps[2].ends_epoch and np.isnan(steps[2].loss)
    assert [error.number for error in told] == [2, 5]
    assert np.isfinite(model[0].running_mean.numpy()).all()


# ---- kept ----


def test_a_post_mortem_can_be_saved_and_read(tmp_path):
    error = failure(net(lambda scores, x: scores.relu().log()), shuffled(examples()))
    error.post_mortem.save(tmp_path / "kept")
    assert read_report(tmp_path / "kept") == error.post_mortem.report
    json.loads((tmp_path / "kept" / "report.json").read_text(), parse_constant=pytest.fail)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [
        "report.json",
        "step.npz",
    ]
