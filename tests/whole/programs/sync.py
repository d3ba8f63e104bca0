"""The same random numbers on PyTorch and on tinynet.

`install` replaces what draws numbers by functions that draw with numpy. Both engines then begin
with the same weights and see the same noise, so losses and gradients can be compared step by step.
`restart` is called at each step: a number that one engine alone draws does not shift later steps.
A nudge changes each number by its last digits, at random: the difference that this makes on one
engine is the least that rounding can make between two.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sampling import Sampling


def compute_in_double(torch: Any) -> None:
    """Make float64 of all that is float32: then rounding no longer explains a difference."""
    torch.set_default_dtype(torch.float64)
    single = torch.float32
    torch.float32 = torch.float = torch.float64
    torch.complex64 = torch.cfloat = torch.complex128
    torch.FloatTensor, torch.Tensor.float = torch.DoubleTensor, torch.Tensor.double
    converted = torch.Tensor.type
    torch.Tensor.type = lambda t, dtype=None, **options: converted(
        t, torch.float64 if dtype is single else dtype, **options
    )
    for name in ("from_numpy", "tensor", "as_tensor"):
        setattr(torch, name, _in_double(getattr(torch, name), single))


def _in_double(create: Any, single: Any) -> Any:
    """Return a function that creates tensors, with float64 for float32."""

    def created(*args: Any, **options: Any) -> Any:
        made = create(*args, **options)
        if made.dtype is not single:
            return made
        return made.detach().double().requires_grad_(made.requires_grad)

    return created


class Draws:
    """The generator of a run, and what replaces an engine's random functions."""

    def __init__(self, torch: Any, nudge: float = 0.0):
        self.torch, self.nudge = torch, nudge
        self.signs = np.random.default_rng(2)
        self.restart(0)

    def restart(self, step: int) -> None:
        self.numpy = np.random.default_rng([1, step])

    def fill(self, tensor: Any, values: Any) -> Any:
        """Write values into a tensor, as an in-place random function does."""
        values = np.array(values).reshape(tuple(tensor.shape))
        if self.nudge and values.dtype.kind in "fc":
            values *= 1 + self.nudge * self.signs.choice([-1.0, 1.0], values.shape)
        with self.torch.no_grad():
            made = self.torch.from_numpy(values)
            return tensor.copy_(made.to(tensor.dtype))

    def install(self) -> None:
        """Replace the engine's functions and methods."""
        torch, tensor = self.torch, self.torch.Tensor
        for name in """
            uniform_ normal_ exponential_ bernoulli_ cauchy_ log_normal_ geometric_ random_
        """.split():
            setattr(tensor, name, getattr(self, name)())
        for name in ("rand", "randn"):
            setattr(torch, name, self.made(name))
            setattr(torch, name + "_like", self.made_like(name))
        torch.randperm = lambda n, **options: torch.tensor(
            self.numpy.permutation(int(n)).tolist(), dtype=options.get("dtype") or torch.int64
        )
        torch.nn.init.trunc_normal_ = self.trunc_normal_
        torch.nn.init.orthogonal_ = self.orthogonal_
        torch.nn.init.sparse_ = self.sparse_
        torch.nn.functional.gumbel_softmax = self.gumbel_softmax
        self._install_masks()
        torch.bernoulli = lambda p, **_: torch.empty_like(p).bernoulli_(p.detach())
        for layer in (torch.nn.MultiheadAttention, torch.nn.RNNBase):
            self._without_dropout(layer)
        attention = torch.nn.functional.scaled_dot_product_attention
        torch.nn.functional.scaled_dot_product_attention = (
            lambda q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, **options: attention(
                q, k, v, attn_mask, 0.0, is_causal, **options
            )
        )
        self._install_choices()
        Sampling(self).install()
        self._install_orders()
        self._without_workers(torch.utils.data.DataLoader)

    def _install_masks(self) -> None:
        """Replace the functions and layers that draw what they multiply by."""
        layers, functions = self.torch.nn, self.torch.nn.functional
        drops = {
            "dropout": (self.dropout, [layers.Dropout]),
            "alpha_dropout": (self.alpha_dropout, [layers.AlphaDropout]),
            "feature_alpha_dropout": (self.feature_alpha_dropout, [layers.FeatureAlphaDropout]),
            "dropout1d": (self.channel_dropout, [layers.Dropout1d]),
            "dropout2d": (self.channel_dropout, [layers.Dropout2d]),
            "dropout3d": (self.channel_dropout, [layers.Dropout3d]),
        }
        for name, (drop, kinds) in drops.items():
            setattr(functions, name, drop)
            for kind in kinds:
                kind.forward = lambda made, x, drop=drop: drop(x, made.p, made.training)
        for name in ("dropout", "alpha_dropout", "feature_alpha_dropout"):
            setattr(self.torch, name, drops[name][0])
        functions.rrelu = self.torch.rrelu = self.rrelu
        functions.rrelu_ = lambda x, *bounds, training=False: self.rrelu(x, *bounds, training, True)
        layers.RReLU.forward = lambda made, x: self.rrelu(
            x, made.lower, made.upper, made.training, made.inplace
        )

    def counts(self, name: str, shape: Any, *levels: Any) -> Any:
        """Draw from one of numpy's distributions with tensors for its parameters."""
        values = [a.detach().double().numpy() for a in levels]
        if name == "binomial":
            values[0] = values[0].astype(np.int64)
        return getattr(self.numpy, name)(*values, shape)

    def _install_orders(self) -> None:
        """Replace the orders of samplers, and the parts that `random_split` draws."""
        data = self.torch.utils.data
        split = data.random_split

        def repeated(count: int, drawn: int) -> Iterator[int]:
            for begin in range(0, drawn, 32):  # of as many as a program asks for
                yield from self.numpy.integers(count, size=min(32, drawn - begin)).tolist()

        def order(sampler: Any) -> Any:
            count, drawn = len(sampler.data_source), len(sampler)
            if sampler.replacement:
                return repeated(count, drawn)
            rounds = -(-drawn // max(count, 1))
            found = [i for _ in range(rounds) for i in self.numpy.permutation(count).tolist()]
            return iter(found[:drawn])

        def random_split(dataset: Any, lengths: Any, generator: Any = None) -> Any:
            parts, begin = split(dataset, lengths), 0
            places = self.numpy.permutation(sum(map(len, parts))).tolist()
            for part in parts:
                part.indices = places[begin : begin + len(part)]
                begin += len(part)
            return parts

        data.RandomSampler.__iter__, data.random_split = order, random_split
        data.SubsetRandomSampler.__iter__ = lambda sampler: (
            sampler.indices[i] for i in self.numpy.permutation(len(sampler.indices))
        )

        data.WeightedRandomSampler.__iter__ = lambda sampler: iter(
            self.torch.multinomial(
                sampler.weights, sampler.num_samples, sampler.replacement
            ).tolist()
        )

    def _without_workers(self, loader: Any) -> None:
        """Load in this process: each engine seeds its workers, which draw in data sets."""
        create = loader.__init__

        def created(made: Any, *args: Any, **options: Any) -> None:
            for name in (
                "persistent_workers",
                "prefetch_factor",
                "timeout",
                "multiprocessing_context",
            ):
                options.pop(name, None)
            if len(args) > 5:
                create(made, *args[:5], 0, *args[6:], **options)
            else:
                create(made, *args, **{**options, "num_workers": 0})

        loader.__init__ = created

    def _without_dropout(self, layer: Any) -> None:
        """Switch a layer's inner dropout off: each engine draws it in its own code."""
        create = layer.__init__

        def created(made: Any, *args: Any, **options: Any) -> None:
            create(made, *args, **options)
            made.dropout = 0.0

        layer.__init__ = created

    def _install_choices(self) -> None:
        """Replace the functions that choose integers and categories."""
        torch = self.torch

        def randint(*args: Any, size: Any = None, **options: Any) -> Any:
            low, high = options.pop("low", None), options.pop("high", None)
            given = list(args)
            if size is None:
                size = given.pop()
            bounds = [*given, *(x for x in (low, high) if x is not None)]
            values = np.asarray(self.numpy.integers(*bounds, size=tuple(size)), np.int64)
            kind = options.get("dtype") or torch.int64
            return torch.from_numpy(values).to(kind)

        def multinomial(weights: Any, num_samples: int, replacement: bool = False, **_: Any) -> Any:
            rows = weights.detach().double().numpy()
            flat = rows.reshape(-1, rows.shape[-1])
            rounds = num_samples if replacement else 1
            waits = self.numpy.exponential(size=(flat.shape[0], rounds, flat.shape[1]))
            with np.errstate(divide="ignore"):
                waits = waits / flat[:, None, :]
            picked = waits.argmin(-1) if replacement else waits[:, 0].argsort(-1)[:, :num_samples]
            return torch.from_numpy(picked.reshape(*rows.shape[:-1], num_samples).astype(np.int64))

        def randint_like(t: Any, *bounds: Any, **options: Any) -> Any:
            return randint(*bounds, size=t.shape, **{"dtype": t.dtype, **options})

        def drawn(name: str) -> Any:
            return lambda *levels, generator=None: torch.from_numpy(
                np.asarray(self.counts(name, tuple(levels[-1].shape), *levels))
            ).to(levels[-1].dtype)

        torch.binomial, torch.poisson = drawn("binomial"), drawn("poisson")
        torch.randint, torch.multinomial = randint, multinomial
        torch.randint_like = randint_like
        torch.Tensor.multinomial = multinomial

    def uniform_(self) -> Any:
        def filled(t: Any, a: float = 0.0, b: float = 1.0, **options: Any) -> Any:
            low, high = options.get("from_", a), options.get("to", b)
            return self.fill(t, float(low) + (float(high) - float(low)) * self.uniform_of(t))

        return filled

    def normal_(self) -> Any:
        return lambda t, mean=0.0, std=1.0, **_: self.fill(
            t, self.normal_of(t) * float(std) + float(mean)
        )

    def trunc_normal_(
        self, t: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, **_: Any
    ) -> Any:
        """Reject what lies outside; at last, cut it off."""
        values = mean + std * self.numpy.standard_normal(tuple(t.shape))
        for _round in range(99):
            outside = (values < a) | (values > b)
            values[outside] = mean + std * self.numpy.standard_normal(int(outside.sum()))
        return self.fill(t, values.clip(a, b))

    def orthogonal_(self, t: Any, gain: float = 1.0, **_: Any) -> Any:
        """Make the rows or columns orthonormal, whichever are shorter."""
        drawn = self.numpy.standard_normal((t.shape[0], t[0].numel()))
        q, r = np.linalg.qr(drawn if drawn.shape[0] > drawn.shape[1] else drawn.T)
        q = q * np.sign(np.diagonal(r))
        return self.fill(t, float(gain) * (q if q.shape == drawn.shape else q.T))

    def exponential_(self) -> Any:
        return lambda t, lambd=1.0, **_: self.fill(
            t, self.numpy.exponential(1 / float(lambd), tuple(t.shape))
        )

    def cauchy_(self) -> Any:
        return lambda t, median=0.0, sigma=1.0, **_: self.fill(
            t, self.numpy.standard_cauchy(tuple(t.shape)) * float(sigma) + float(median)
        )

    def log_normal_(self) -> Any:
        return lambda t, mean=1.0, std=2.0, **_: self.fill(
            t, self.numpy.lognormal(float(mean), float(std), tuple(t.shape))
        )

    def geometric_(self) -> Any:
        return lambda t, p, **_: self.fill(t, self.numpy.geometric(float(p), tuple(t.shape)))

    def random_(self) -> Any:
        """Fill with integers below a bound, or between two; loaders draw a seed without one."""
        engines = self.torch.Tensor.random_

        def filled(t: Any, *bounds: int, **options: Any) -> Any:
            bounds = (*bounds, *(options[k] for k in ("from_", "to") if k in options))
            if not bounds and not t.dim():
                return engines(t, **options)
            bounds = bounds or (2 ** min(24, 8 * t.element_size() - 1),)
            return self.fill(t, self.numpy.integers(*bounds, size=tuple(t.shape)))

        return filled

    def bernoulli_(self) -> Any:
        def filled(t: Any, p: Any = 0.5, **_: Any) -> Any:
            level = p.detach().double().numpy() if isinstance(p, self.torch.Tensor) else p
            return self.fill(t, self.numpy.random(tuple(t.shape)) < level)

        return filled

    def made(self, name: str) -> Any:
        """Return `rand` or `randn`."""
        draw = {"rand": self.uniform_of, "randn": self.normal_of}[name]

        def function(*size: Any, requires_grad: bool = False, **options: Any) -> Any:
            options.pop("generator", None)
            out = options.pop("out", None)
            size = options.pop("size", size)
            t = self.torch.empty(*size, **options) if out is None else out
            return self.fill(t, draw(t)).requires_grad_(requires_grad)

        return function

    def made_like(self, name: str) -> Any:
        draw = {"rand": self.uniform_of, "randn": self.normal_of}[name]

        def function(x: Any, requires_grad: bool = False, **options: Any) -> Any:
            t = self.torch.empty_like(x.detach(), **options)
            return self.fill(t, draw(t)).requires_grad_(requires_grad)

        return function

    def uniform_of(self, t: Any) -> Any:
        """Draw numbers for a tensor; of a complex one, both parts of each."""
        values = self.numpy.random(tuple(t.shape))
        return values + 1j * self.numpy.random(values.shape) if t.is_complex() else values

    def normal_of(self, t: Any) -> Any:
        values = self.numpy.standard_normal(tuple(t.shape))
        if not t.is_complex():
            return values
        return (values + 1j * self.numpy.standard_normal(values.shape)) / 2**0.5

    def gumbel_softmax(
        self, logits: Any, tau: float = 1, hard: bool = False, **options: Any
    ) -> Any:
        axis, waits = options.get("dim", -1), self.torch.empty_like(logits).exponential_()
        soft = ((logits - waits.log()) / tau).softmax(axis)
        if not hard:
            return soft
        index = soft.max(axis, keepdim=True)[1]
        return self.torch.zeros_like(logits).scatter_(axis, index, 1.0) - soft.detach() + soft

    def dropout(self, x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        if not training or p == 0.0:
            return x
        kept = self.torch.empty_like(x.detach()).bernoulli_(1.0 - p)
        factors = kept / (1.0 - p) if p < 1.0 else kept
        return x.mul_(factors) if inplace else x * factors

    def alpha_dropout(self, x: Any, p: float = 0.5, training: bool = False, *_: Any) -> Any:
        """Replace elements by SELU's limit, and keep the mean and the variance."""
        return self._replaced(x, self.torch.empty_like(x.detach()), p, training)

    def feature_alpha_dropout(self, x: Any, p: float = 0.5, training: bool = False, *_: Any) -> Any:
        """Replace whole channels of `(N, C, ...)`, as `alpha_dropout` does elements."""
        return self._replaced(x, self._of_channels(x), p, training)

    def _replaced(self, x: Any, drawn: Any, p: float, training: bool) -> Any:
        if not training or p == 0.0:
            return x
        limit = -1.7580993408473766
        kept = drawn.bernoulli_(1.0 - p)
        scale = ((1.0 - p) * (1.0 + p * limit**2)) ** -0.5
        return scale * (x * kept + limit * (1.0 - kept)) - scale * limit * p

    def _of_channels(self, x: Any) -> Any:
        """Return ones, one for each channel of `(N, C, ...)`."""
        return self.torch.ones(*x.shape[:2], *[1] * (x.dim() - 2), dtype=x.dtype)

    def channel_dropout(self, x: Any, p: float = 0.5, training: bool = True, *_: Any) -> Any:
        """Drop whole channels of `(N, C, ...)`."""
        if not training or p == 0.0:
            return x
        return x * self.dropout(self._of_channels(x), p)

    def rrelu(
        self,
        x: Any,
        lower: float = 1 / 8,
        upper: float = 1 / 3,
        training: bool = False,
        inplace: bool = False,
    ) -> Any:
        slopes = self.torch.empty_like(x.detach())
        slopes = slopes.uniform_(lower, upper) if training else slopes.fill_((lower + upper) / 2)
        slopes = self.torch.where(x.detach() > 0, self.torch.ones_like(slopes), slopes)
        return x.mul_(slopes) if inplace else x * slopes

    def sparse_(self, t: Any, sparsity: float, std: float = 0.01, **_: Any) -> Any:
        """Clear a share of the rows of each column."""
        values = self.numpy.standard_normal(tuple(t.shape)) * std
        for column in values.T:
            column[self.numpy.permutation(len(column))[: math.ceil(sparsity * len(column))]] = 0.0
        return self.fill(t, values)
