"""The rows of `samples.SAMPLES` for angles, logarithms, special functions, rounding, limits."""

from .elementwise import FUNCTIONS
from .samples import elementwise, f, i, sample

for _name, _domain in FUNCTIONS.items():
    elementwise(_name.removeprefix("special."), _domain)
sample("logit", f(4).of(0.05, 0.3, 0.7, 0.95), eps=0.1)
sample("lgamma digamma", f(3).of(-0.4, -1.6, -2.3))
sample("positive", f(2, 3))
sample("inverse_mills beyond_line", f(4).of(-30.0, -2.5, 0.3, 5.0))
for _order in range(3):
    sample("higher_gamma", f(2, 3).positive, _order)
sample("mvlgamma", f(3).of(2.1, 3.5, 8.0), 3)
sample("frexp", f(4).of(0.7, -3.3, 5.5, 12.0))

for _args in (
    (f(2, 3), f(2, 3).transposed),
    (f(2, 3).expanded, f(3)),
    (f(2, 1), f(3).strided),
    (f(), f(2)),
    (f(0, 3), f(3)),
):
    sample("atan2 hypot copysign ldexp logaddexp logaddexp2", *_args)
    sample("fmax fmin clamp_min clamp_max clamp_from clamp_to", *_args)
    sample("xlogy xlog1py float_power", *(x.positive for x in _args))
sample("clamp_min clamp_max copysign", f(2, 3), 0.4)
sample("nextafter", f(), f(0, 3))  # a step of one ulp has no finite differences
sample("xlogy xlog1py float_power", f(2, 3).positive, 0.7)
sample("fmod", f(3).of(2.3, -1.7, 0.4), f(3).of(0.9, 1.3, -0.7))
sample("fmod", f(3).of(2.3, -1.7, 0.4), 0.7)
A = i(1, 2, 3).double() + 0.5
sample("igamma igammac", A, f(3).positive)
sample("zeta", A + 1, f(3).positive)
