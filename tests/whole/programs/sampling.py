"""The sampling of distributions with the same random numbers on PyTorch and on tinynet."""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.whole.programs.sync import Draws


def _method(draw: Any, detach: bool = False) -> Any:
    """Return a method of distributions that calls a function with them."""

    def sample(made: Any, sample_shape: Any = ()) -> Any:
        drawn = draw(made, sample_shape)
        return drawn.detach() if detach else drawn

    return sample


class Sampling:
    """What replaces the sampling of an engine's distributions."""

    def __init__(self, draws: "Draws"):
        self.draws, self.torch = draws, draws.torch

    def install(self) -> None:
        """Replace the sampling where an engine draws in its own code."""
        kinds = self.torch.distributions
        drawn = {
            "Beta": self.beta,
            "Bernoulli": self.bernoulli,
            "Binomial": self.binomial,
            "Categorical": self.categorical,
            "Dirichlet": self.dirichlet,
            "Gamma": self.gamma,
            "Geometric": self.geometric,
            "LKJCholesky": self.lkj_cholesky,
            "Multinomial": self.multinomial,
            "NegativeBinomial": self.negative_binomial,
            "Normal": self.normal,
            "Poisson": self.poisson,
            "VonMises": self.von_mises,
        }
        for name, draw in drawn.items():
            getattr(kinds, name).sample = _method(draw, detach=True)
        kinds.Laplace.rsample = _method(self.laplace)
        kinds.Normal.rsample = _method(self.normal)
        self._without_gradient(kinds.Gamma, self.gamma, "concentration")
        self._without_gradient(kinds.Beta, self.beta, "concentration1")
        self._without_gradient(kinds.Dirichlet, self.dirichlet, "concentration")
        self._without_gradient(kinds.Wishart, self.wishart, "df")
        self.torch.normal = self.drawn_normal
        self._replace_gamma(self.torch._standard_gamma)
        self._rename()
        self._shift_sequences(self.torch.quasirandom.SobolEngine)

    def _replace_gamma(self, engines: Any) -> None:
        """Replace the function below `Gamma`, which programs call with a generator of their own."""

        def drawn(alpha: Any, generator: Any = None) -> Any:
            if alpha.requires_grad and self.torch.is_grad_enabled():
                return engines(alpha)
            values = self.draws.counts("standard_gamma", tuple(alpha.shape), alpha)
            return self.torch.from_numpy(np.asarray(values)).to(alpha.dtype)

        self.torch._standard_gamma = drawn

    def _shift_sequences(self, engine: Any) -> None:
        """Shift points of Sobol's sequence in place of each engine's own scramble."""
        create, draw = engine.__init__, engine.draw

        def created(made: Any, dimension: int, scramble: bool = False, seed: Any = None) -> None:
            create(made, dimension)
            made.shift = self.torch.rand(dimension) if scramble else self.torch.zeros(dimension)

        def drawn(made: Any, *args: Any, **options: Any) -> Any:
            points = draw(made, *args, **options)
            return (points + made.shift.to(points.dtype)) % 1

        engine.__init__, engine.draw = created, drawn

    def _rename(self) -> None:
        """Replace what modules of distributions have imported by name."""
        own = {"rand": self.draws.made("rand"), "_standard_normal": self.standard_normal}
        for module in [m for name, m in sys.modules.items() if ".distributions" in name]:
            vars(module).update((k, own[k]) for k in own.keys() & vars(module).keys())
        for name, module in list(sys.modules.items()):  # tinynet's import these by name
            if name.startswith("tinynet.distributions"):
                for drawing in {"rand", "randn", "normal", "multinomial"} & set(vars(module)):
                    if callable(getattr(module, drawing)):  # not the module `normal`
                        setattr(module, drawing, getattr(self.torch, drawing))

    def _without_gradient(self, distribution: Any, drawn: Any, parameter: str) -> None:
        """Replace `rsample` where it needs no gradient, which is each engine's own."""
        engines = distribution.rsample

        def rsample(made: Any, sample_shape: Any = ()) -> Any:
            needs = getattr(made, parameter).requires_grad and self.torch.is_grad_enabled()
            return (engines if needs else drawn)(made, sample_shape)

        distribution.rsample = rsample

    def numbers(self, made: Any, sample_shape: Any, name: str, *levels: Any) -> Any:
        """Draw from one of numpy's distributions with tensors for its parameters."""
        shape = tuple(made._extended_shape(sample_shape))
        values = self.draws.counts(name, shape, *levels)
        return self.torch.from_numpy(np.asarray(values)).to(levels[0].dtype)

    def normal(self, made: Any, sample_shape: Any = ()) -> Any:
        loc = made.loc.expand(made._extended_shape(sample_shape))
        return loc + made.scale * self.torch.empty_like(loc.detach()).normal_()

    def categorical(self, made: Any, sample_shape: Any = ()) -> Any:
        shape = made._extended_shape(sample_shape)
        rows = made.probs.expand(*shape, made.probs.shape[-1])
        return self.torch.multinomial(rows.reshape(-1, rows.shape[-1]), 1, True).reshape(shape)

    def bernoulli(self, made: Any, sample_shape: Any = ()) -> Any:
        return self.torch.bernoulli(made.probs.detach().expand(made._extended_shape(sample_shape)))

    def beta(self, made: Any, sample_shape: Any = ()) -> Any:
        return self.numbers(made, sample_shape, "beta", made.concentration1, made.concentration0)

    def gamma(self, made: Any, sample_shape: Any = ()) -> Any:
        drawn = self.numbers(made, sample_shape, "standard_gamma", made.concentration)
        return drawn / made.rate

    def dirichlet(self, made: Any, sample_shape: Any = ()) -> Any:
        shares = self.numbers(made, sample_shape, "standard_gamma", made.concentration)
        return shares / shares.sum(-1, keepdim=True)

    def binomial(self, made: Any, sample_shape: Any = ()) -> Any:
        return self.numbers(made, sample_shape, "binomial", made.total_count, made.probs)

    def geometric(self, made: Any, sample_shape: Any = ()) -> Any:
        return self.numbers(made, sample_shape, "geometric", made.probs) - 1

    def negative_binomial(self, made: Any, sample_shape: Any = ()) -> Any:
        failure = 1 - made.probs
        return self.numbers(made, sample_shape, "negative_binomial", made.total_count, failure)

    def poisson(self, made: Any, sample_shape: Any = ()) -> Any:
        return self.numbers(made, sample_shape, "poisson", made.rate)

    def von_mises(self, made: Any, sample_shape: Any = ()) -> Any:
        return self.numbers(made, sample_shape, "vonmises", made.loc, made.concentration)

    def laplace(self, made: Any, sample_shape: Any = ()) -> Any:
        shape, kind = made._extended_shape(sample_shape), made.loc.dtype
        signed = self.torch.rand(shape, dtype=kind) * 2 - 1
        return made.loc - made.scale * signed.sign() * (-signed.abs()).log1p()

    def multinomial(self, made: Any, sample_shape: Any = ()) -> Any:
        shares = made.probs.detach().double().numpy()
        shape = tuple(made._extended_shape(sample_shape))[:-1]
        drawn = self.draws.numpy.multinomial(
            made.total_count, shares / shares.sum(-1, keepdims=True), shape
        )
        return self.torch.from_numpy(drawn).to(made.probs.dtype)

    def lkj_cholesky(self, made: Any, sample_shape: Any = ()) -> Any:
        """Draw rows of length 1: a random direction, and the rest on the diagonal."""
        shape = tuple(made._extended_shape(sample_shape))
        level = made.concentration.detach().double().numpy()
        factor, side = np.zeros(shape), shape[-1]
        factor[..., 0, 0] = 1.0
        for row in range(1, side):
            square = self.draws.numpy.beta(row / 2, level + (side - 1 - row) / 2, shape[:-2])
            way = self.draws.numpy.standard_normal((*shape[:-2], row))
            way /= np.linalg.norm(way, axis=-1, keepdims=True)
            factor[..., row, :row] = np.sqrt(square)[..., None] * way
            factor[..., row, row] = np.sqrt(1 - square)
        return self.torch.from_numpy(factor).to(made.concentration.dtype)

    def wishart(self, made: Any, sample_shape: Any = ()) -> Any:
        """Draw a triangle of normal numbers, with roots of chi-squared ones on its diagonal."""
        shape = tuple(made._extended_shape(sample_shape))
        triangle = np.tril(self.draws.numpy.standard_normal(shape), -1)
        diagonal = np.arange(shape[-1])
        levels = made.df.detach().double().numpy()[..., None] - diagonal
        drawn = self.draws.numpy.chisquare(levels, shape[:-1])
        triangle[..., diagonal, diagonal] = np.sqrt(drawn)
        factor = made.scale_tril @ self.torch.from_numpy(triangle).to(made.scale_tril.dtype)
        return factor @ factor.mT

    def drawn_normal(self, mean: Any, std: Any = 1.0, size: Any = None, **_: Any) -> Any:
        if size is None:
            size = (mean + 0.0 * std).shape
        return mean + std * self.torch.empty(size).normal_()

    def standard_normal(self, shape: Any, dtype: Any, device: Any) -> Any:
        return self.torch.empty(shape, dtype=dtype).normal_()
