"""A capture runs the backward pass once more than the user asks: no effect of it may be visible."""

import warnings

import pytest

import tinynet as tn
from tinynet import nn
from tinynet.autograd import Function
from tinynet.compiler import CompileWarning
from tinynet.utils.checkpoint import checkpoint

GENERATOR, LOG = tn.Generator(), []


def doubling(backward):
    """A function that doubles its input; ``backward`` gets its ctx and the gradient."""

    def forward(ctx, x, net):
        ctx.net = net
        return x * 2

    def passed(ctx, g):
        return backward(ctx, g), None

    methods = {"forward": staticmethod(forward), "backward": staticmethod(passed)}
    return type("Doubling", (Function,), methods)


def draws(ctx, g):
    return g * tn.rand(g.shape)


def draws_from_its_own(ctx, g):
    return g * tn.rand(g.shape, generator=GENERATOR)


def seeds(ctx, g):
    tn.manual_seed(5)
    return g * tn.rand(g.shape)


def writes_to_a_buffer(ctx, g):
    ctx.net.total.add_(1)
    return g * ctx.net.total


def writes_to_a_parameter(ctx, g):
    with tn.no_grad():
        ctx.net.bias.mul_(0.5)
    return g


def counts(ctx, g):
    ctx.net.count += 1
    return g


def counts_in_its_context(ctx, g):
    ctx.calls = getattr(ctx, "calls", 0) + 1
    return g * ctx.calls


def logs(ctx, g):
    LOG.append(1)
    return g


def logs_in_the_module(ctx, g):
    ctx.net.log.append(1)
    return g


def accumulates(ctx, g):
    with tn.enable_grad():
        (ctx.net.weight * 2).sum().backward()
    return g


CODES = [
    draws, draws_from_its_own, seeds, writes_to_a_buffer, writes_to_a_parameter, counts,
    counts_in_its_context, logs, logs_in_the_module, accumulates,
]  # fmt: skip


class Net(nn.Linear):
    """A layer; its forward is the test's."""

    def __init__(self):
        super().__init__(3, 3)
        self.register_buffer("total", tn.zeros(3))
        self.count, self.log = 0, []


def visible(forward, compiled):
    """What can be seen of eight steps, and the number of replays."""
    tn.manual_seed(0)
    GENERATOR.manual_seed(1)
    LOG.clear()
    net = type("Net", (Net,), {"forward": forward})()
    if compiled:
        net.compile(verify=0)
    seen = []
    for i in range(8):
        net.zero_grad()
        x = (tn.ones(2, 3) + i).requires_grad_()
        loss = net(x).sum()
        loss.backward()
        tensors = [loss, x.grad, net.weight, net.bias, net.weight.grad, net.bias.grad, net.total]
        random = tn.rand(1), tn.rand(1, generator=GENERATOR)
        seen.append([t.tolist() for t in (*tensors, *random)])
        seen.append([net.count, len(net.log), len(LOG)])
    return seen, net.forward.calls().replayed if compiled else 0


def assert_unnoticed(forward, least):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        found, replayed = visible(forward, True)
        assert found == visible(forward, False)[0]
    assert replayed >= least


@pytest.mark.parametrize("code", CODES)
def test_code_of_a_backward_pass_runs_once_per_step(code):
    function = doubling(code)

    def forward(net, x):
        return function.apply(nn.Linear.forward(net, x), net)

    assert_unnoticed(forward, least=6 if code in (draws, draws_from_its_own, seeds) else 0)


def test_several_outputs():
    function = doubling(draws)

    def forward(net, x):
        hidden = function.apply(nn.Linear.forward(net, x), net)
        return hidden.sum() + (hidden * x).sum()

    assert_unnoticed(forward, least=6)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_with_random_numbers(reentrant):
    def forward(net, x):
        def part(x):
            return nn.functional.dropout(nn.Linear.forward(net, x), 0.5)

        return checkpoint(part, x, use_reentrant=reentrant)

    assert_unnoticed(forward, least=0)
