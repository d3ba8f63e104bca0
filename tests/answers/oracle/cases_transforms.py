"""Transforms, constraints, and the transforms that belong to constraints."""

from __future__ import annotations

from typing import Any

from tests.tools.recorded.rows import Table, attempt, each

from .cases_probability import plain
from .families import given

TABLE = Table("transforms")
case, fails = TABLE.case, TABLE.fails

VECTOR, POSITIVE = given(0.3, -1.2, 2.0), given(0.4, 1.6, 3.5)
SQUARE = given([0.3, -1.2], [0.7, 0.9])
EXPONENT, OFFSET = given(0.5, 2.0, -1.5), given(1.0, -2.0, 0.5)

# name -> made of the distributions and a parameter, an input, a parameter
TRANSFORMS: dict[str, tuple[Any, Any, Any]] = {
    "AbsTransform": (lambda D, p: D.AbsTransform(), VECTOR, None),
    "AffineTransform": (lambda D, p: D.AffineTransform(p, 2.0), VECTOR, OFFSET),
    "AffineTransform-scale": (lambda D, p: D.AffineTransform(1, p), VECTOR, EXPONENT),
    "AffineTransform-events": (lambda D, p: D.AffineTransform(1, p, 1), VECTOR, EXPONENT),
    "AffineTransform-number-events": (
        lambda D, p: D.AffineTransform(p, -2.0, event_dim=1), VECTOR, OFFSET
    ),
    "CatTransform": (
        lambda D, p: D.CatTransform(
            [D.ExpTransform(), D.AffineTransform(1.0, 2.0)], dim=-1, lengths=[1, 2]
        ),
        VECTOR, None,
    ),
    "CatTransform-events": (
        lambda D, p: D.CatTransform(
            [D.IndependentTransform(D.ExpTransform(), 1), D.AffineTransform(1.0, 2.0, 1)], dim=0
        ),
        SQUARE, None,
    ),
    "ComposeTransform": (
        lambda D, p: D.ComposeTransform([D.ExpTransform(), D.AffineTransform(p, 2.0)]),
        VECTOR, OFFSET,
    ),
    "ComposeTransform-vectors": (
        lambda D, p: D.ComposeTransform([D.ExpTransform(), D.StickBreakingTransform()]),
        VECTOR, None,
    ),
    "ComposeTransform-empty": (lambda D, p: D.ComposeTransform([]), VECTOR, None),
    "CorrCholeskyTransform": (lambda D, p: D.CorrCholeskyTransform(), VECTOR, None),
    "CumulativeDistributionTransform": (
        lambda D, p: D.CumulativeDistributionTransform(D.Normal(p, 1.0)), VECTOR, OFFSET
    ),
    "ExpTransform": (lambda D, p: D.ExpTransform(), VECTOR, None),
    "IndependentTransform": (
        lambda D, p: D.IndependentTransform(D.AffineTransform(0.0, p), 1), VECTOR, EXPONENT
    ),
    "LowerCholeskyTransform": (lambda D, p: D.LowerCholeskyTransform(), SQUARE, None),
    "PositiveDefiniteTransform": (lambda D, p: D.PositiveDefiniteTransform(), SQUARE, None),
    "PowerTransform": (lambda D, p: D.PowerTransform(p), POSITIVE, EXPONENT),
    "ReshapeTransform": (lambda D, p: D.ReshapeTransform((2, 2), (4,)), SQUARE, None),
    "SigmoidTransform": (lambda D, p: D.SigmoidTransform(), VECTOR, None),
    "SoftmaxTransform": (lambda D, p: D.SoftmaxTransform(), VECTOR, None),
    "SoftplusTransform": (lambda D, p: D.SoftplusTransform(), VECTOR, None),
    "StackTransform": (
        lambda D, p: D.StackTransform(
            [D.ExpTransform(), D.AffineTransform(1.0, 2.0), D.TanhTransform()], dim=-1
        ),
        VECTOR, None,
    ),
    "StickBreakingTransform": (lambda D, p: D.StickBreakingTransform(), VECTOR, None),
    "TanhTransform": (lambda D, p: D.TanhTransform(), VECTOR, None),
    "inverse": (lambda D, p: D.AffineTransform(p, 2.0).inv, VECTOR, OFFSET),
    "identity_transform": (lambda D, p: D.identity_transform, VECTOR, None),
}  # fmt: skip


def values(tn: Any, make: Any, x: Any, *parameter: Any) -> list[Any]:
    t = make(tn.distributions, *(parameter or [None]))
    y = t(x)
    found = [y, t.inv(y.detach()), attempt(lambda: t.log_abs_det_jacobian(x, y))]
    inverse = attempt(lambda: t.inv.log_abs_det_jacobian(y, x))
    return plain(tn, [*found, inverse], x, *parameter)


def facts(tn: Any, make: Any, x: Any, *parameter: Any) -> list[Any]:
    D = tn.distributions
    t, same = (make(D, *(parameter or [None])) for _ in range(2))
    again = attempt(lambda: t.with_cache(1))
    cached = again if isinstance(again, Exception) else again.inv(again(x)) is x
    return [
        repr(t), repr(t.inv), t.bijective, repr(t.domain), repr(t.codomain),
        attempt(lambda: t.event_dim), attempt(lambda: t.sign), t == same, t == D.ExpTransform(),
        t.inv.inv is t, t.inv == same.inv, cached,
        attempt(lambda: list(t.forward_shape(tuple(x.shape)))),
        attempt(lambda: list(t.inverse_shape(tuple(t(x).shape)))),
        attempt(lambda: list(t.forward_shape(()))),
        attempt(lambda: list(t.inverse_shape(()))),
    ]  # fmt: skip


for _name, (_make, _input, _parameter) in TRANSFORMS.items():
    _inputs = [_input] if _parameter is None else [_input, _parameter]
    case(f"{_name}-values", lambda tn, *xs, m=_make: values(tn, m, *xs), *_inputs)
    case(f"{_name}-facts", lambda tn, *xs, m=_make: facts(tn, m, *xs), *(x.const for x in _inputs))

EXTREME = given(-800.0, -40.0, 0.0, 40.0, 800.0).const
for _name in ("SigmoidTransform", "SoftplusTransform", "TanhTransform"):
    case(
        f"{_name}-extremes",
        lambda tn, x, n=_name: values(tn, lambda D, p: getattr(D, n)(), x),
        EXTREME,
    )
case(
    "transforms-refusals",
    lambda tn: each(
        [
            lambda: tn.distributions.ExpTransform(cache_size=2),
            lambda: tn.distributions.Transform()(tn.zeros(1)),
            lambda: tn.distributions.Transform().sign,
            lambda: tn.distributions.ReshapeTransform((2, 3), (7,)),
            lambda: tn.distributions.ReshapeTransform((2,), (1, 2)).event_dim,
            lambda: tn.distributions.ReshapeTransform((2, 3), (6,)).forward_shape((4, 3, 2)),
            lambda: tn.distributions.IndependentTransform(tn.distributions.ExpTransform(), 1)(
                tn.tensor(1.0)
            ),
            lambda: tn.distributions.CorrCholeskyTransform().forward_shape((4,)),
            lambda: tn.distributions.CorrCholeskyTransform().inverse_shape((6, 5)),
        ]
    ),
)

# ---- constraints --------------------------------------------------------------------------------

NUMBERS = given(-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, float("inf"), float("nan")).const
ROWS = given([0.5, 0.5], [1.0, 0.0], [1.5, -0.5], [0.0, 3.0], [1.0, 1.0]).const
MATRICES = given(
    [[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.6], [0.6, 1.0]], [[2.0, 0.0], [0.5, 1.0]],
    [[-1.0, 0.0], [0.0, 1.0]], [[1.0, 0.2], [0.0, 1.0]],
).const  # fmt: skip
SYMMETRIC = given(
    [[1.0, 0.6], [0.6, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[2.0, -1.0], [-1.0, 0.8]]
).const
CONSTRAINTS = {
    "numbers": (
        NUMBERS,
        lambda c: [
            c.boolean, c.nonnegative_integer, c.positive_integer, c.integer_interval(0, 2), c.real,
            c.positive, c.nonnegative, c.greater_than(0.5), c.greater_than_eq(0.5),
            c.less_than(1.0), c.unit_interval, c.interval(0.0, 2.0), c.half_open_interval(0.0, 2.0),
            c.real_vector, c.independent(c.positive, 1), c.MixtureSameFamilyConstraint(c.positive),
            c.cat([c.positive, c.real], 0, [3, 5]),
        ],
    ),
    "vectors": (
        ROWS,
        lambda c: [
            c.one_hot, c.simplex, c.multinomial(2), c.real_vector,
            c.stack([c.positive, c.real], -1), c.cat([c.real, c.positive], 1),
            c.independent(c.nonnegative, 2), c.independent(c.simplex, 1), c.square,
            c.MixtureSameFamilyConstraint(c.real_vector),
        ],
    ),
    "matrices": (
        MATRICES,
        lambda c: [
            c.square, c.lower_triangular, c.lower_cholesky, c.corr_cholesky, c.symmetric,
            c.positive_definite, c.positive_semidefinite,
        ],
    ),
    "symmetric": (
        SYMMETRIC, lambda c: [c.symmetric, c.positive_definite, c.positive_semidefinite]
    ),
}  # fmt: skip
for _name, (_input, _make) in CONSTRAINTS.items():
    case(
        f"constraints-{_name}",
        lambda tn, x, m=_make: [
            [repr(c), c.is_discrete, c.event_dim, c.check(x)]
            for c in m(tn.distributions.constraints)
        ],
        _input,
    )


def dependent(tn: Any) -> list[Any]:
    c = tn.distributions.constraints

    class Holder:
        @c.dependent_property(is_discrete=False, event_dim=1)
        def support(self):
            return c.simplex

        @c.dependent_property
        def other(self):
            return c.real

    known = c.dependent(event_dim=2)
    return each(
        [
            lambda: repr(c.dependent),
            lambda: [c.is_dependent(x) for x in (c.dependent, c.real, Holder.support)],
            lambda: c.dependent.event_dim,
            lambda: known.event_dim,
            lambda: known.is_discrete,
            lambda: c.dependent.check(0),
            lambda: [Holder.support.event_dim, Holder.support.is_discrete, repr(Holder().support)],
            lambda: [repr(Holder.other), repr(Holder().other)],
            lambda: Holder.other.event_dim,
            lambda: c.real_vector.check(tn.tensor(1.0)),
            lambda: c.Constraint().check(0),
        ]
    )


case("constraints-dependent", dependent)
case(
    "constraints-of-classes",
    lambda tn: [
        [name, repr(getattr(tn.distributions, name).support)]
        for name in ("Normal", "Uniform", "Categorical", "Dirichlet", "Binomial", "Wishart")
    ],
)

# ---- their transforms ---------------------------------------------------------------------------

REGISTERED = {
    "real": lambda c: c.real,
    "positive": lambda c: c.positive,
    "nonnegative": lambda c: c.nonnegative,
    "greater_than": lambda c: c.greater_than(2.0),
    "greater_than_eq": lambda c: c.greater_than_eq(-2.0),
    "less_than": lambda c: c.less_than(3.0),
    "unit_interval": lambda c: c.unit_interval,
    "interval": lambda c: c.interval(-1.0, 3.0),
    "half_open_interval": lambda c: c.half_open_interval(-1.0, 3.0),
    "simplex": lambda c: c.simplex,
    "corr_cholesky": lambda c: c.corr_cholesky,
    "real_vector": lambda c: c.real_vector,
    "independent": lambda c: c.independent(c.positive, 1),
    "cat": lambda c: c.cat([c.positive, c.real], -1, [1, 2]),
    "stack": lambda c: c.stack([c.positive, c.real, c.unit_interval], -1),
    "lower_cholesky": lambda c: c.lower_cholesky,
    "positive_definite": lambda c: c.positive_definite,
    "positive_semidefinite": lambda c: c.positive_semidefinite,
    "boolean": lambda c: c.boolean,
    "symmetric": lambda c: c.symmetric,
}
MATRIX_LIKE = {"lower_cholesky", "positive_definite", "positive_semidefinite", "symmetric"}


def registered(tn: Any, registry: str, make: Any, x: Any) -> Any:
    D = tn.distributions
    constraint = make(D.constraints)
    t = attempt(lambda: getattr(D, registry)(constraint))
    if isinstance(t, Exception):
        return t
    y = t(x)
    found = [y, t.inv(y), attempt(lambda: t.log_abs_det_jacobian(x, y))]
    return [repr(t), constraint.check(y), *plain(tn, found, x)]


for _name, _make in REGISTERED.items():
    for _registry in ("biject_to", "transform_to"):
        case(
            f"{_registry}-{_name}",
            lambda tn, x, r=_registry, m=_make: registered(tn, r, m, x),
            SQUARE if _name in MATRIX_LIKE else VECTOR,
        )
case("biject_to-number!", lambda tn: tn.distributions.biject_to(3), ends="in the call")
case(
    "biject_to-register!",
    lambda tn: tn.distributions.biject_to.register(3, lambda c: None),
    ends="in the call",
)

# ---- helpers that libraries import --------------------------------------------------------------

HELPERS = {
    "broadcast_all": lambda u, x: list(u.broadcast_all(x, 2.0)),
    "logits_to_probs": lambda u, x: [u.logits_to_probs(x), u.logits_to_probs(x, True)],
    "probs_to_logits": lambda u, x: [
        u.probs_to_logits(x.sigmoid()), u.probs_to_logits(x.sigmoid(), True)
    ],
    "clamp_probs": lambda u, x: [u.clamp_probs(x)],
    "vec_to_tril_matrix": lambda u, x: [u.vec_to_tril_matrix(x), u.vec_to_tril_matrix(x, -1)],
    "tril_matrix_to_vec": lambda u, x: [
        u.tril_matrix_to_vec(x.outer(x)), u.tril_matrix_to_vec(x.outer(x), -1)
    ],
    "_sum_rightmost": lambda u, x: [u._sum_rightmost(x.outer(x), n) for n in range(3)],
}  # fmt: skip
for _name, _call in HELPERS.items():
    case(
        f"{_name}-values",
        lambda tn, x, call=_call: plain(tn, call(tn.distributions.utils, x), x),
        VECTOR,
    )
