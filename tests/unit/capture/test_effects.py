"""What a compiled step may do: higher order, custom Functions, views, writes, random numbers."""

import pytest

import tinynet as tn
from tinynet import autograd, nn, optim
from tinynet.nn import functional as F
from tinynet.utils.checkpoint import checkpoint

from .pairs import compare


def batches(i):
    return tn.randn(4, 6), tn.randint(0, 3, (4,))


def training(make, loss_of):
    """Return a program that trains a network."""

    def build():
        net = make()
        made = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def step(x, y):
            made.zero_grad()
            loss = loss_of(net, x, y)
            loss.backward()
            made.step()
            return loss

        return [net, made], step

    return build


def perceptron():
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 3))


# ---- derivatives --------------------------------------------------------------------------------


def gradient_penalty(net, x, y):
    x = x.clone().requires_grad_()
    out = net(x)
    (slope,) = autograd.grad(out.sum(), x, create_graph=True)
    return F.cross_entropy(out, y) + (slope.norm(2, dim=1) - 1).square().mean()


def gradients_of_parameters(net, x, y):
    loss = F.cross_entropy(net(x), y)
    grads = autograd.grad(loss, [*net.parameters()], create_graph=True)
    return loss + sum((g * g).sum() for g in grads)


def second_backward(net, x, y):
    loss = F.cross_entropy(net(x), y)
    loss.backward(retain_graph=True)
    return loss * 2


def checkpointed(net, x, y):
    hidden = checkpoint(net[:3], x, use_reentrant=False)
    return F.cross_entropy(net[3](hidden), y)


def checkpointed_reentrant(net, x, y):
    hidden = checkpoint(net[:3], x.clone().requires_grad_(), use_reentrant=True)
    return F.cross_entropy(net[3](hidden), y)


def hooked(net, x, y):
    hidden = net[:3](x)
    hidden.register_hook(lambda g: g * 2)
    return F.cross_entropy(net[3](hidden), y)


def retained(net, x, y):
    hidden = net[:3](x)
    hidden.retain_grad()
    return F.cross_entropy(net[3](hidden), y)


def functional_call(net, x, y):
    doubled = {name: p * 2 for name, p in net.named_parameters()}
    return F.cross_entropy(tn.func.functional_call(net, doubled, (x,)), y)


def checked_function(net, x, y):
    return F.cross_entropy(Cube.apply(net(x)), y)


class Cube(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Straight(autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.slope = slope
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope, None


def straight_through(net, x, y):
    return F.cross_entropy(net(x) + Straight.apply(net(x), 0.5), y)


LOSSES = {
    f.__name__: f
    for f in (
        gradient_penalty, gradients_of_parameters, second_backward, checkpointed,
        checkpointed_reentrant, hooked, retained, functional_call, checked_function,
        straight_through,
    )
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives(name):
    assert compare(training(perceptron, LOSSES[name]), batches) is None


class Spiking(nn.Module):
    """A model whose class has no code in its backward pass, but for that of its function."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return Straight.apply(self.layer(x), 0.5) * self.layer(x)


@pytest.mark.parametrize("compiled", [lambda net: net, lambda net: net.forward])
def test_a_module_with_a_function_of_its_own(compiled):
    net = Spiking()
    run = tn.compile(compiled(net), verify=0)
    for _ in range(5):
        run(tn.ones(2, 3)).sum().backward()
    assert getattr(run, "forward", run).calls() == (3, 2, 0)


class Checkpoint(autograd.Function):
    """A checkpoint written by hand, as diffusion models have: its pass uses its ctx up."""

    @staticmethod
    def forward(ctx, run, x, *params):
        ctx.run, ctx.inputs, ctx.params, ctx.calls = run, [x], list(params), [0]
        with tn.no_grad():
            return run(x)

    @staticmethod
    def backward(ctx, g):
        ctx.calls[0] += 1
        assert ctx.calls == [1]
        ctx.inputs = [x.detach().requires_grad_() for x in ctx.inputs]
        with tn.enable_grad():
            out = ctx.run(*ctx.inputs)
        found = tn.autograd.grad(out, ctx.inputs + ctx.params, g)
        del ctx.inputs, ctx.params
        return None, *found


def test_a_pass_that_uses_its_context_up():
    net = nn.Linear(3, 3)

    def function(x):
        return Checkpoint.apply(net, x.tanh(), *net.parameters())

    compiled = tn.compile(function, verify=0)
    for i in range(6):
        seen = []
        for run in (function, compiled):
            net.zero_grad()
            run(tn.ones(2, 3) + i).sum().backward()
            seen.append(net.weight.grad)
        assert tn.equal(*seen), i
    assert compiled.calls().replayed + compiled.calls().eager >= 2


SLOPE = 0.5


class Surrogate(autograd.Function):
    """A step whose slope is a global number, and an attribute of a module, as in spiking nets."""

    @staticmethod
    def forward(ctx, x, owner):
        ctx.owner = owner
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g * SLOPE * ctx.owner.width, None


def surrogates():
    tn.manual_seed(0)
    net = nn.Linear(3, 3)
    net.width = 2.0
    return net, lambda x: Surrogate.apply(net(x), net) * net(x)


@pytest.mark.parametrize("change", ["width", "SLOPE"])
def test_a_backward_pass_may_read_what_changes_between_steps(change):
    global SLOPE
    sides = [surrogates(), surrogates()]
    compiled = tn.compile(sides[1][1], verify=0)
    for i in range(9):
        seen = []
        for (net, _), run in zip(sides, (sides[0][1], compiled), strict=True):
            net.zero_grad()
            net.width, SLOPE = (3.0 if i > 5 else 2.0), 0.5
            if change == "SLOPE":
                net.width, SLOPE = 2.0, (0.1 if i > 5 else 0.5)
            run(tn.ones(2, 3) + i).sum().backward()
            seen.append(net.weight.grad)
        assert tn.equal(*seen), i
    assert compiled.calls().replayed >= 4


def test_what_a_backward_pass_reads_must_not_change_before_it():
    net, function = surrogates()
    compiled = tn.compile(function, verify=0)
    for _ in range(4):
        out = compiled(tn.ones(2, 3))
    net.width = 3.0
    with pytest.raises(RuntimeError, match=r"width was 2.0 when .* compiled; .* has changed since"):
        out.sum().backward()
    net.width = 2.0
    out.sum().backward()


def test_gradients_are_set_by_hand():
    def build():
        net = perceptron()

        def step(x, y):
            for p in net.parameters():
                p.grad = None
            F.cross_entropy(net(x), y).backward()
            with tn.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad

        return [net], step

    assert compare(build, batches) is None


@pytest.mark.parametrize("to_none", [True, False])
def test_a_module_resets_its_gradients(to_none):
    def build():
        net = perceptron()

        def step(x, y):
            net.zero_grad(set_to_none=to_none)
            F.cross_entropy(net(x), y).backward()
            return [p.grad * 2 for p in net.parameters()]

        return [net], step

    assert compare(build, batches) is None


def test_whether_there_is_a_gradient_is_a_guard():
    def build():
        w = tn.ones(2, requires_grad=True)

        def step(x):
            if w.grad is not None:
                w.grad.zero_()
                x = x * 2
            (w * x).sum().backward()

        return [w], step

    def between(i, state):
        if i in (5, 9):
            state[0].grad = None

    assert compare(build, lambda i: (tn.randn(2),), between=between, calls=12) is None


# ---- shared parameters, recurrence, embeddings --------------------------------------------------


def tied():
    net = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6), nn.Linear(6, 3))
    net[2].weight = net[0].weight
    return net


def test_shared_parameters():
    assert compare(training(tied, lambda net, x, y: F.cross_entropy(net(x), y)), batches) is None


class Unrolled(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(2, 5), nn.Linear(5, 3)

    def forward(self, x):
        h = x.new_zeros(len(x), 5)
        for part in x.chunk(3, 1):
            h = self.cell(part, h)
        return self.out(h)


def test_a_cell_in_a_loop():
    assert (
        compare(training(Unrolled, lambda net, x, y: F.cross_entropy(net(x), y)), batches) is None
    )


@pytest.mark.parametrize(
    "options",
    [{"max_norm": 0.5}, {"sparse": True}, {"sparse": True, "max_norm": 0.5}, {"padding_idx": 0}],
    ids=str,
)
@pytest.mark.parametrize("rows", [7, 500])
def test_embeddings(options, rows):
    def make():
        return nn.Sequential(nn.Embedding(rows, 4, **options), nn.Flatten(), nn.Linear(12, 3))

    def inputs(i):
        return tn.randint(0, 7, (4, 3)), tn.randint(0, 3, (4,))

    assert compare(training(make, lambda net, x, y: F.cross_entropy(net(x), y)), inputs) is None


def test_packed_sequences_run_eagerly():
    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.out = nn.LSTM(2, 5, batch_first=True), nn.Linear(5, 3)

        def forward(self, x):
            packed = nn.utils.rnn.pack_padded_sequence(
                x.view(4, 3, 2), [3, 1, 2, 2], batch_first=True, enforce_sorted=False
            )
            return self.out(self.rnn(packed)[1][0][0])

    build = training(Packed, lambda net, x, y: F.cross_entropy(net(x), y))
    assert "examines the values" in compare(build, batches)


# ---- views and writes ---------------------------------------------------------------------------


def first_row(x, w):
    y = x * w
    y[0].mul_(2)
    return y


def masked(x, w):
    y = x * w
    y[y > 0] = 0
    return y


def masked_rows(x, w):
    y = x * w
    y[x[:, 0] > 0] = w
    return y


def chained_views(x, w):
    y = x * w
    part = y[1:, ::2].t()
    part += 1
    part[0] = part[1] * 3
    return y, part


def by_numbers(x, w):
    y = x * w
    y[[0, 2]] = 1.0
    y[tn.tensor([1, 1]), 2] += 5
    y[-1, ..., None] *= 2
    return y[:, [0, 1, 1]]


def by_tensors(x, w):
    places = x.argmax(0)
    y = x * w
    y.index_add_(0, places, x.new_ones(6, 6) * w)
    y.scatter_(0, places[None], 0.5)
    y.index_fill_(1, places[:2], 7.0)
    y.masked_fill_(x > 1, 3.0)
    y.index_copy_(0, tn.tensor([0]), w[None])
    return y.gather(1, x.argsort(1)), y.take_along_dim(x.argsort(1), 1), y[places]


def copies(x, w):
    y = tn.zeros(4, 6)
    y.copy_(x)
    y[:, :3].copy_(x[:, 3:] * w[3:])
    z = tn.empty_like(y)
    z.fill_(2.0)
    z.zero_()
    z.add_(y).sub_(w).clamp_(min=0)
    return y.detach(), z


def outputs(x, w):
    out = tn.zeros(4, 6)
    with tn.no_grad():
        tn.mul(x, w, out=out)
        tn.add(x, out, out=out[:, :])
    return out * w


def turned_in_place(x, w):
    y = x * w
    y.t_()
    y.unsqueeze_(0).squeeze_(0)
    y.transpose_(0, 1)
    return y * 2


def detached(x, w):
    y = (x * w).detach()
    y.exp_()
    return y + w


def swapped(x, w):
    with tn.no_grad():
        before = w.clone()
        w.mul_(0.9)
        w[0] += before[1]
    return x * w


def put_back(x, w):
    y = x * w
    y.index_put_((tn.tensor([0, 1]), tn.tensor([2, 2])), tn.tensor(4.0), accumulate=True)
    y.put_(tn.tensor([3]), w[:1])
    return y


WRITES = {
    f.__name__: f
    for f in (
        first_row, masked, masked_rows, chained_views, by_numbers, by_tensors, copies, outputs,
        turned_in_place, detached, swapped, put_back,
    )
}  # fmt: skip


def with_weight(function):
    """Return a program whose function is differentiated outside, and one that does it inside."""

    def outside():
        w = tn.randn(6, requires_grad=True)
        return [w], lambda x: function(x, w)

    def inside():
        w = tn.randn(6, requires_grad=True)

        def step(x):
            w.grad = None
            found = function(x, w)
            found = found if isinstance(found, tuple) else (found,)
            sum((t * t).sum() for t in found).backward()
            return [t.detach() for t in found]

        return [w], step

    return outside, inside


def numbers(i):
    return (tn.randn(4, 6),)


def differentiate(result, args):
    parts = result if isinstance(result, (tuple, list)) else (result,)
    sum((t * t).sum() for t in parts if t.requires_grad).backward()


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("where", [0, 1], ids=["outside", "inside"])
def test_writes(name, where):
    build = with_weight(WRITES[name])[where]
    after = differentiate if where == 0 else lambda r, a: None
    assert compare(build, numbers, after=after, calls=6) is None


def test_writes_to_arguments():
    def build():
        return [], lambda x, y: (x.add_(y), x.mul_(2) * 3)

    assert compare(build, lambda i: (tn.randn(3), tn.randn(3))) is None


def test_a_written_argument_with_a_history():
    def build():
        w = tn.randn(3, requires_grad=True)
        return [w], lambda x: nn.functional.relu_(x) * 2

    def inputs(i):
        x = tn.randn(3, requires_grad=True) * 1
        x.retain_grad()
        return (x,)

    assert "history" in compare(build, inputs, after=lambda r, a: (r.sum() + a[0].sum()).backward())


def test_a_view_of_an_argument_is_returned():
    assert compare(lambda: ([], lambda x: x[0]), numbers) is None


def test_the_shape_of_an_argument_changes():
    compare(lambda: ([], lambda x: x.unsqueeze_(0) * 2), numbers)
    compare(lambda: ([], lambda x: x.resize_(2, 2) * 2), numbers)


# ---- random numbers -----------------------------------------------------------------------------

DRAWS = {
    "rand": lambda x: tn.rand(3, 2),
    "rand_like": lambda x: tn.rand_like(x),
    "rand_like of a view": lambda x: tn.rand_like(x.t()),
    "randn_like": lambda x: tn.randn_like(x) * x,
    "randint": lambda x: tn.randint(0, 10, (4,)),
    "randint_like": lambda x: tn.randint_like(x, 5),
    "randperm": lambda x: x[tn.randperm(4)],
    "normal": lambda x: tn.normal(0.0, 2.0, (3,)),
    "normal of tensors": lambda x: tn.normal(x, x.abs()),
    "normal of a mean": lambda x: tn.normal(x, 1.0),
    "normal of a deviation": lambda x: tn.normal(0.0, x.abs()),
    "bernoulli": lambda x: tn.bernoulli(x.sigmoid()),
    "bernoulli of p": lambda x: x.bernoulli(0.3),
    "poisson": lambda x: tn.poisson(x.exp()),
    "binomial": lambda x: tn.binomial(tn.full((4, 6), 5.0), x.sigmoid()),
    "multinomial": lambda x: tn.multinomial(x.exp(), 3),
    "multinomial with replacement": lambda x: tn.multinomial(x.exp(), 9, replacement=True),
    "normal_": lambda x: tn.empty(3).normal_(1.0, 2.0),
    "uniform_": lambda x: tn.empty(3).uniform_(1.0, 2.0),
    "random_": lambda x: tn.empty(3).random_(7),
    "bernoulli_": lambda x: tn.empty(4, 6).bernoulli_(x.sigmoid()),
    "exponential_": lambda x: tn.empty(3).exponential_(2.0),
    "geometric_": lambda x: tn.empty(3).geometric_(0.3),
    "cauchy_": lambda x: tn.empty(3).cauchy_(),
    "log_normal_": lambda x: tn.empty(3).log_normal_(),
    "kaiming": lambda x: nn.init.kaiming_normal_(tn.empty(3, 4)),
    "xavier": lambda x: nn.init.xavier_uniform_(tn.empty(3, 4)),
    "trunc_normal": lambda x: nn.init.trunc_normal_(tn.empty(3, 4)),
    "orthogonal": lambda x: nn.init.orthogonal_(tn.empty(3, 4)),
    "sparse": lambda x: nn.init.sparse_(tn.empty(3, 4), 0.4),
    "constants": lambda x: nn.init.eye_(tn.empty(3, 4)) + nn.init.constant_(tn.empty(4), 2.0),
    "dirac": lambda x: nn.init.dirac_(tn.empty(3, 3, 2)),
    "dropout": lambda x: F.dropout(x, 0.4),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.4, training=True),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, hard=True),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.4),
    "seeded": lambda x: (tn.manual_seed(3), tn.rand(2))[1],
    "restored": lambda x: (tn.set_rng_state(tn.get_rng_state()), tn.rand(2))[1],
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers(name):
    draw = DRAWS[name]

    def build():
        return [], lambda x: (draw(x), tn.rand(1))

    assert compare(build, numbers) is None


def test_a_forked_generator():
    def f(x):
        with tn.random.fork_rng():
            tn.manual_seed(2)
            first = tn.rand(2)
        return first, tn.rand(2)

    assert compare(lambda: ([], f), numbers) is None


def test_a_generator_of_its_own():
    def build():
        own = tn.Generator().manual_seed(5)
        return [], lambda x: (tn.rand(2, generator=own), x.bernoulli(0.5, generator=own))

    assert compare(build, numbers) is None


def test_the_hook_of_an_output_without_a_gradient():
    """Outputs of one program have one node; the hooks of others do not run."""

    def differentiated(result, args):
        heard = []
        result[0].register_hook(lambda g: heard.append(g * 2))
        result[1].sum().backward()
        return heard

    def build():
        w = tn.ones(2, requires_grad=True)

        def step(x):
            return x * w, x - w

        return [w], step

    assert compare(build, lambda i: (tn.randn(2),), after=differentiated) is None


# ---- checks of values ---------------------------------------------------------------------------

CHECKED = {
    "cross_entropy": (lambda x, y: F.cross_entropy(x, y), (tn.randn(2, 3), tn.tensor([0, 7]))),
    "weighted": (
        lambda x, y: F.cross_entropy(x, y, weight=tn.tensor([1.0, 2.0, 3.0])),
        (tn.randn(2, 3), tn.tensor([0, -1])),
    ),
    "nll of images": (
        lambda x, y: F.nll_loss(x[:, :, None], y[:, None]),
        (tn.randn(2, 3), tn.tensor([0, 3])),
    ),
    "nll of bytes": (
        lambda x, y: F.nll_loss(x, y.to(tn.uint8)),
        (tn.randn(2, 3), tn.tensor([0, 3])),
    ),
    "probabilities": (
        lambda x, y: F.binary_cross_entropy(x[:, 0], y.float()),
        (tn.ones(2, 3) * 1.5, tn.tensor([0, 1])),
    ),
    "embedding": (lambda x, y: F.embedding(y, x), (tn.randn(2, 3), tn.tensor([0, 2]))),
    "renormalised": (
        lambda x, y: F.embedding(y, x, max_norm=1.0),
        (tn.randn(2, 3), tn.tensor([0, 2])),
    ),
    "bag": (
        lambda x, y: F.embedding_bag(y[:1], x, y[:1] * 0),
        (tn.randn(2, 3), tn.tensor([9, 2])),
    ),
    "offsets": (
        lambda x, y: F.embedding_bag(y * 0, x, y - 1),
        (tn.randn(2, 3), tn.tensor([1, 7])),
    ),
    "margin": (lambda x, y: F.multi_margin_loss(x, y), (tn.randn(2, 3), tn.tensor([0, 7]))),
    "variance": (
        lambda x, y: F.gaussian_nll_loss(x, x * 2, x.exp() * y[:, None]),
        (tn.randn(2, 3), tn.tensor([0, -1])),
    ),
    "one_hot": (lambda x, y: F.one_hot(y, 3), (tn.randn(2, 3), tn.tensor([0, 7]))),
    "index": (lambda x, y: x[y], (tn.randn(2, 3), tn.tensor([0, 7]))),
    "gather": (lambda x, y: x.gather(1, y[:, None]), (tn.randn(2, 3), tn.tensor([0, 7]))),
    "scatter": (
        lambda x, y: x.scatter(1, y[:, None], 1.0),
        (tn.randn(2, 3), tn.tensor([0, 7])),
    ),
    "index_add": (
        lambda x, y: tn.zeros(2, 3).index_add_(0, y, x),
        (tn.randn(2, 3), tn.tensor([0, 7])),
    ),
    "poisson": (lambda x, y: tn.poisson(y.float()), (tn.randn(2, 3), tn.tensor([0, -1]))),
    "bernoulli": (lambda x, y: tn.bernoulli(y.float()), (tn.randn(2, 3), tn.tensor([0, 2]))),
    "multinomial": (
        lambda x, y: tn.multinomial(y.float() + 1, 1),
        (tn.randn(2, 3), tn.tensor([0, -9])),
    ),
    "ctc": (
        lambda x, y: F.ctc_loss(x[:, None].log_softmax(2), tn.tensor([[1]]), y[:1] + 1, y[1:] + 0),
        (tn.randn(2, 3), tn.tensor([5, 1])),
    ),
    "unpool": (
        lambda x, y: F.max_unpool1d(x[:1, None, :2], y.view(1, 1, 2), 2),
        (tn.randn(2, 3), tn.tensor([0, 77])),
    ),
    "inverse": (
        lambda x, y: tn.linalg.inv(x[:, :2] * 0 + y.float().diag()),
        (tn.randn(2, 3), tn.tensor([1, 0])),
    ),
    "cholesky": (
        lambda x, y: tn.linalg.cholesky((y * 2 - 1).float().diag()),
        (tn.randn(2, 3), tn.tensor([1, 0])),
    ),
    "covariance": (
        lambda x, y: tn.cov(x, aweights=tn.stack([y[0], y[1], y[0]]).float()),
        (tn.randn(2, 3), tn.tensor([0, 0])),
    ),
}
GOOD = tn.tensor([1, 1])


@pytest.mark.parametrize("name", CHECKED)
def test_a_replay_repeats_checks(name):
    """The fifth call gets bad values, after replays with good ones."""
    function, bad = CHECKED[name]

    def inputs(i):
        return bad if i == 4 else (tn.rand(2, 3), GOOD * 1)

    compare(lambda: ([], function), inputs, calls=7)
