"""Distributions in captured steps: parameters and values are validated in each replay."""

import pytest

import tinynet as tn
from tinynet import distributions as D

DENSITIES = {
    "Bernoulli": lambda x: D.Bernoulli(logits=x),
    "Categorical": lambda x: D.Categorical(probs=x),
    "Independent": lambda x: D.Independent(D.Normal(x, x), 1),
    "LogNormal": lambda x: D.LogNormal(x, x),
    "Mixture": lambda x: D.MixtureSameFamily(D.Categorical(logits=x), D.Normal(x, x)),
    "Normal": lambda x: D.Normal(x, x),
    "Tanh": lambda x: D.TransformedDistribution(D.Normal(x, x), [D.TanhTransform(cache_size=1)]),
    "Uniform": lambda x: D.Uniform(x - 1, x),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_samples_and_densities_are_those_of_eager_code(name):
    def run(x):
        chosen = DENSITIES[name](x)
        return chosen.log_prob(chosen.sample())

    compiled, found = tn.compile(run, fullgraph=True), []
    for f in (run, compiled):
        tn.manual_seed(0)
        found.append([f(tn.rand(3, 4) + 0.1).tolist() for _ in range(5)])
    assert found[0] == found[1]
    assert compiled.calls() == (3, 2, 0)


@pytest.mark.parametrize("value", [(-1.0, 0.0), (1.0, float("nan"))])
def test_a_replay_refuses_what_eager_code_does(value):
    def run(scale, x):
        return D.Normal(tn.zeros(2), scale.expand(2)).log_prob(x.expand(2))

    compiled = tn.compile(run, fullgraph=True)
    for _ in range(4):
        compiled(tn.ones(1), tn.ones(1))
    given = [tn.tensor([x]) for x in value]
    texts = []
    for f in (run, compiled):
        with pytest.raises(ValueError, match="to satisfy the constraint|to be within") as error:
            f(*given)
        texts.append(str(error.value).partition("\n  got ")[0])
    assert texts[0] == texts[1]
    assert compiled.calls().eager == 0
