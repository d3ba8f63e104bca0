"""What belongs to a thread: the modules that run, modes, observers, random numbers."""

import threading
import warnings

import numpy as np
import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.core.modes import mode
from tinynet.core.trace import observing


def in_thread(function, *args):
    """Call a function in a thread of its own; return its result, or raise its exception."""
    done = []

    def call():
        try:
            done.append((function(*args), None))
        except BaseException as error:
            done.append((None, error))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(60)
    result, error = done[0]
    if error is not None:
        raise error
    return result


def test_modules_that_overlap_on_two_threads_leave_nothing_behind():
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    class First(nn.Module):
        def forward(self, x):
            first_in.set()
            second_in.wait(60)
            return x

    class Second(nn.Module):
        def forward(self, x):
            second_in.set()
            first_out.wait(60)
            return x

    x = tn.ones(2)
    thread = threading.Thread(target=lambda: first_in.wait(60) and Second()(x))
    thread.start()
    First()(x)
    first_out.set()
    thread.join(60)
    assert mode.scope is None
    assert in_thread(lambda: mode.scope) is None


def test_messages_name_the_module_of_their_own_thread():
    barrier = threading.Barrier(2)

    class Spoil(nn.Module):
        def forward(self, x):
            barrier.wait(60)
            out = x.tanh()
            barrier.wait(60)
            out.add_(1)
            barrier.wait(60)
            return out

    class Left(nn.Sequential):
        pass

    class Right(nn.Sequential):
        pass

    def message(net):
        with pytest.raises(RuntimeError) as caught:
            net(tn.ones(2, requires_grad=True)).sum().backward()
        return str(caught.value)

    left, right = run_at_once([lambda: message(Left(Spoil())), lambda: message(Right(Spoil()))])
    assert "Left.0" in left and "Right" not in left
    assert "Right.0" in right and "Left" not in right


def run_at_once(functions):
    """Return the results of functions that run on threads at the same time."""
    results = [None] * len(functions)

    def call(number, function):
        try:
            results[number] = function()
        except BaseException as error:
            results[number] = error

    threads = [
        threading.Thread(target=call, args=(number, function))
        for number, function in enumerate(functions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def test_anomaly_mode_of_one_thread_is_not_another_threads():
    with tn.autograd.set_detect_anomaly(True):
        assert tn.is_anomaly_enabled()
        assert not in_thread(tn.is_anomaly_enabled)
    assert not tn.is_anomaly_enabled()

    def nan():
        x = tn.zeros(1, requires_grad=True)
        (x.sqrt() * 0).sum().backward()
        return float(x.grad)

    with tn.autograd.set_detect_anomaly(True):
        assert np.isnan(in_thread(nan))


def test_observers_see_their_own_thread_only():
    seen = []
    with observing(lambda op, *rest: seen.append(op.name)):
        in_thread(lambda: tn.ones(2).exp())
        assert seen == []
        tn.ones(2).exp()
    assert "exp" in seen


def test_division_by_zero_is_silent_in_every_thread():
    def diverge():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return nn.Identity()(tn.zeros(1)).log().item()

    assert in_thread(diverge) == -np.inf


# ---- random numbers ------------------------------------------------------------------------------


def test_a_thread_that_seeds_has_a_stream_of_its_own():
    def draw():
        tn.manual_seed(5)
        return tn.rand(3)

    expected = draw()
    tn.manual_seed(0)
    first = tn.rand(2)
    tn.manual_seed(0)
    assert bool((in_thread(draw) == expected).all())
    assert bool((tn.rand(2) == first).all())


def test_threads_that_do_not_seed_share_the_main_stream():
    tn.manual_seed(3)
    expected = tn.rand(4)
    tn.manual_seed(3)
    head = in_thread(tn.rand, 2)
    assert bool((tn.cat([head, tn.rand(2)]) == expected).all())
    assert in_thread(tn.initial_seed) == 3


def test_a_seeded_block_restores_the_stream_of_its_thread():
    def draw():
        with tn.default_generator.forked(1):
            inside = tn.rand(2)
        return inside, tn.initial_seed()

    tn.manual_seed(9)
    inside, after = in_thread(draw)
    assert after == 9
    again, after = draw()
    assert bool((inside == again).all()) and after == 9


# ---- trainings -----------------------------------------------------------------------------------


def train(seed, steps=25):
    """Train with dropout, batch norm, max_norm and clipping; return weights, losses, a message."""
    tn.manual_seed(seed)
    net = nn.Sequential(
        nn.Embedding(20, 8, max_norm=1.0),
        nn.Flatten(),
        nn.Linear(24, 16),
        nn.BatchNorm1d(16),
        nn.ReLU(inplace=True),
        nn.Dropout(0.3),
        nn.Linear(16, 4),
    )
    optimizer = optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        words, labels = tn.randint(0, 20, (16, 3)), tn.randint(0, 4, (16,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(words), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    with tn.no_grad():
        net.eval()(words)
    hidden = net[:4](words)
    out = net[4](hidden)
    hidden.mul_(2)
    with pytest.raises(RuntimeError) as caught:
        out.sum().backward()
    return [p.detach().numpy() for p in net.parameters()], losses, str(caught.value)


def test_eight_trainings_at_once_are_each_what_they_are_alone():
    alone = [train(seed) for seed in range(8)]
    together = run_at_once([lambda seed=seed: train(seed) for seed in range(8)])
    for (weights, losses, message), (weights2, losses2, message2) in zip(
        alone, together, strict=True
    ):
        assert losses == losses2
        assert message == message2
        for a, b in zip(weights, weights2, strict=True):
            np.testing.assert_array_equal(a, b)
