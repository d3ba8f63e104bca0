"""The behaviour of all schedules; test_as_pytorch.py compares their numbers."""

import copy
import warnings

import pytest

import tinynet as tn
from tinynet import optim
from tinynet.optim import lr_scheduler as schedules

from .trajectories import SCHEDULES, descend, scheduled


def sgd(*rates):
    groups = [{"params": [tn.ones(1, requires_grad=True)], "lr": r} for r in rates or (1.0,)]
    return optim.SGD(groups)


def step(optimizer):
    for group in optimizer.param_groups:
        group["params"][0].grad = tn.ones(1)
    optimizer.step()


def run(optimizer, schedule, epochs):
    rates = []
    for _ in range(epochs):
        rates.append([g["lr"] for g in optimizer.param_groups])
        assert rates[-1] == schedule.get_last_lr()
        step(optimizer)
        schedule.step()
    return rates


def test_each_group_has_its_own_rate():
    optimizer = sgd(1.0, 0.5)
    rates = run(optimizer, schedules.StepLR(optimizer, 2, 0.1), 3)
    assert rates == [[1.0, 0.5], [1.0, 0.5], [0.1, 0.05]]


def test_schedules_multiply_and_changes_by_hand_last():
    optimizer = sgd()
    one, two = schedules.ExponentialLR(optimizer, 0.5), schedules.ExponentialLR(optimizer, 0.1)
    step(optimizer)
    one.step()
    two.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.05)
    optimizer.param_groups[0]["lr"] = 8.0
    one.step()
    assert optimizer.param_groups[0]["lr"] == 4.0


@pytest.mark.parametrize("label", SCHEDULES)
@pytest.mark.filterwarnings("ignore:Detected call of")  # nested ones; in PyTorch, too
def test_a_resumed_schedule_is_the_uninterrupted_one(label):
    def rates(state, epochs):
        optimizer, params, schedule, _ = scheduled(tn, label)
        if state:
            optimizer.load_state_dict(state[0])
            schedule.load_state_dict(state[1])
        found = descend(tn, optimizer, params, epochs, schedule)
        return found, copy.deepcopy((optimizer.state_dict(), schedule.state_dict()))

    straight, _ = rates(None, range(8))
    before, saved = rates(None, range(4))
    assert before + rates(saved, range(4, 8))[0] == straight


def test_a_schedule_that_starts_at_a_later_epoch():
    optimizer = sgd()
    with pytest.raises(KeyError, match=r"param 'initial_lr' is not specified in param_groups\[0\]"):
        schedules.StepLR(optimizer, 1, last_epoch=3)
    optimizer.param_groups[0]["initial_lr"] = 1.0
    assert schedules.CosineAnnealingLR(optimizer, 10, last_epoch=3).last_epoch == 4
    assert optimizer.param_groups[0]["lr"] == 1.0  # comes with the optimizer's state


def test_the_keys_of_the_state():
    state = schedules.StepLR(sgd(), 3).state_dict()
    assert sorted(state) == sorted(
        "step_size gamma base_lrs last_epoch _step_count _is_initial _get_lr_called_within_step "
        "_last_lr".split()
    )


def test_functions_are_not_saved_but_what_objects_hold_is():
    class Decay:
        def __init__(self, rate):
            self.rate = rate

        def __call__(self, epoch):
            return self.rate**epoch

    optimizer = sgd(1.0, 1.0)
    schedule = schedules.LambdaLR(optimizer, [Decay(0.5), lambda epoch: 1.0])
    state = schedule.state_dict()
    assert state["lr_lambdas"] == [{"rate": 0.5}, None]
    other = schedules.LambdaLR(sgd(1.0, 1.0), [Decay(0.1), lambda epoch: 1.0])
    other.load_state_dict(state)
    assert other.lr_lambdas[0].rate == 0.5


def test_the_state_of_more_schedules_is_refused_before_anything_changes():
    def chained(count):
        optimizer = sgd()
        return schedules.ChainedScheduler(
            [schedules.ExponentialLR(optimizer, 0.5) for _ in range(count)]
        )

    two, three = chained(2), chained(3)
    three._last_lr = [7.0]
    with pytest.raises(IndexError, match=r"has 3 schedulers, this ChainedScheduler has 2\."):
        two.load_state_dict(three.state_dict())
    assert two.get_last_lr() == [1.0]
    three.load_state_dict(two.state_dict())  # accepted, as in PyTorch
    assert three.get_last_lr() == [1.0]


def test_schedules_in_a_row_need_the_initial_rate_of_a_group_added_between():
    optimizer = sgd()
    parts = [schedules.ExponentialLR(optimizer, 0.5) for _ in range(2)]
    optimizer.add_param_group({"params": [tn.ones(1, requires_grad=True)]})
    with pytest.raises(KeyError, match=r"'initial_lr' is not specified in param_groups\[1\]"):
        schedules.SequentialLR(optimizer, parts, [2])


def test_a_schedule_of_ones_own_with_too_few_rates():
    class Short(schedules.LRScheduler):
        def get_lr(self):
            return [1.0]

    with pytest.raises(ValueError, match=r"get_lr\(\) of Short must return one .* Got 1 instead"):
        Short(sgd(1.0, 1.0))


def test_a_schedule_before_the_optimizer_warns_once():
    optimizer = sgd()
    schedule = schedules.ExponentialLR(optimizer, 0.9)
    with pytest.warns(UserWarning, match=r"^Detected call of `lr_scheduler.step\(\)` before"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()


def test_asking_for_the_next_rates_warns():
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedules.ExponentialLR(sgd(), 0.9).get_lr()


def test_a_rate_that_is_a_tensor_is_written_in_place():
    optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=tn.tensor(1.0))
    rate = optimizer.param_groups[0]["lr"]
    schedule = schedules.ExponentialLR(optimizer, 0.5)
    step(optimizer)
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.5
    assert schedule.get_last_lr() == [0.5]


def test_one_of_ones_own():
    class Halves(schedules.LRScheduler):
        def get_lr(self):
            return [base / (self.last_epoch + 1) for base in self.base_lrs]

    optimizer = sgd(6.0)
    assert run(optimizer, Halves(optimizer), 3) == [[6.0], [3.0], [2.0]]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: schedules.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (
            lambda: schedules.LambdaLR(sgd(), [abs, abs]),
            ValueError,
            "Expected 1 lr_lambdas, but got 2",
        ),
        (
            lambda: schedules.LinearLR(sgd(), 0),
            ValueError,
            "Starting multiplicative factor expected",
        ),
        (
            lambda: schedules.LinearLR(sgd(), 1, 2),
            ValueError,
            "Ending multiplicative factor expected",
        ),
        (lambda: schedules.ConstantLR(sgd(), 2), ValueError, "Constant multiplicative factor"),
        (lambda: schedules.StepLR(sgd(), 0), ValueError, "The 'step_size' parameter of StepLR"),
        (lambda: schedules.CosineAnnealingLR(sgd(), 0), ValueError, "The 'T_max' parameter of"),
    ],
)
def test_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_step_that_was_replaced_later_warns():
    optimizer = sgd()
    schedule = schedules.ExponentialLR(optimizer, 0.9)
    step(optimizer)
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match=r"^Seems like `optimizer.step\(\)` has been overridden"):
        schedule.step()


def test_a_step_that_was_replaced_before_does_not():
    optimizer = sgd()
    optimizer.step = lambda: None
    schedules.ExponentialLR(optimizer, 0.9).step()


def test_asking_for_an_epoch_warns():
    optimizer = sgd()
    schedule = schedules.StepLR(optimizer, 1, 0.5)
    step(optimizer)
    with pytest.warns(UserWarning, match=r"^The epoch parameter in `scheduler.step\(\)` was not"):
        schedule.step(3)
    assert schedule.get_last_lr() == [0.125] and schedule.last_epoch == 3


def test_last_rates_are_not_the_tensors_of_the_optimizer():
    optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=tn.tensor(1.0))
    schedule = schedules.ExponentialLR(optimizer, 0.5)
    schedule.get_last_lr()[0].fill_(7.0)
    assert optimizer.param_groups[0]["lr"].item() == 1.0 and schedule.base_lrs[0].item() == 1.0


def test_a_plateau_takes_a_tensor_and_goes_on_from_its_state():
    optimizer = sgd(1.0, 1.0)
    first = schedules.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    for loss in (tn.tensor(1.0), 1.0):
        first.step(loss)
    again = schedules.ReduceLROnPlateau(optimizer, mode="max")
    again.load_state_dict(first.state_dict())
    again.step(1.0)
    assert again.get_last_lr() == [0.5, 0.5] and again.mode == "min"


def test_a_scale_that_is_an_object_is_saved():
    class Scale:
        def __init__(self, rate):
            self.rate = rate

        def __call__(self, x):
            return self.rate

    def made(rate):
        optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
        return schedules.CyclicLR(optimizer, 0.1, 0.2, scale_fn=Scale(rate))

    state = made(0.5).state_dict()
    assert state["_scale_fn_custom"] == {"rate": 0.5}
    other = made(1.0)
    other.load_state_dict(state)
    assert other.scale_fn(3) == 0.5


def test_a_subclass_replaces_how_the_plateau_reduces_and_what_is_better():
    class Noting(schedules.ReduceLROnPlateau):
        def _reduce_lr(self, epoch):
            epochs.append(epoch)
            super()._reduce_lr(epoch)

        def _is_better(self, a, best):
            compared.append((a, best))
            return super()._is_better(a, best)

    epochs, compared = [], []
    optimizer = sgd(1.0)
    schedule = Noting(optimizer, patience=0, factor=0.5)
    for metric in (3.0, 4.0, 5.0):
        schedule.step(metric)
    assert epochs == [2, 3] and optimizer.param_groups[0]["lr"] == 0.25
    assert compared == [(3.0, float("inf")), (4.0, 3.0), (5.0, 3.0)]


def test_a_plateau_begins_anew_after_reset():
    optimizer = sgd(1.0)
    schedule = schedules.ReduceLROnPlateau(optimizer, mode="max", patience=1, cooldown=2)
    for metric in (3.0, 2.0, 1.0):
        schedule.step(metric)
    assert schedule.cooldown_counter == 2
    schedule._reset()
    found = schedule.best, schedule.cooldown_counter, schedule.num_bad_epochs
    assert found == (-float("inf"), 0, 0)
    schedule.step(0.5)
    assert schedule.best == 0.5 and optimizer.param_groups[0]["lr"] == pytest.approx(0.1)


def test_a_cycle_goes_by_the_steps_that_a_subclass_defines():
    class Steep(schedules.OneCycleLR):
        @staticmethod
        def _annealing_cos(start, end, pct):
            return start if pct < 1 else end

    optimizer = optim.SGD([tn.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    schedule = Steep(optimizer, 1.0, total_steps=4, pct_start=0.5)
    optimizer.stepped = True
    rates = []
    for _ in range(4):
        rates += schedule.get_last_lr()
        schedule.step()
    assert rates == [0.04, 1.0, 1.0, 0.04 / 1e4]
    assert schedule._annealing_linear(1.0, 3.0, 0.25) == 1.5
    assert schedule._anneal_func(2.0, 4.0, 1) == 4.0


def test_the_scales_of_cycles_are_functions_of_their_own():
    cyclic = schedules.CyclicLR
    assert cyclic._triangular_scale_fn(3) == 1.0
    assert cyclic._triangular2_scale_fn(3) == 0.25
    assert cyclic._exp_range_scale_fn(0.5, 3) == 0.125
