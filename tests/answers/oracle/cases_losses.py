"""Losses and distances of `nn.functional`: what the rows of the classes do not show."""

import math

from tests.tools.recorded.rows import Table, each, f32, f64, function, i64, layouts

TABLE = Table("losses")
case, fails = TABLE.case, TABLE.fails


def functional(name, **options):
    return function(f"nn.functional.{name}", **options)


# ---- layouts ----

TWO = (
    "soft_margin_loss",
    "hinge_embedding_loss",
    "poisson_nll_loss",
    "multilabel_soft_margin_loss",
)
for _layout, _spec in layouts(2, 3).items():
    for _name in TWO:
        if _name == "multilabel_soft_margin_loss" and _layout == "0d":
            continue  # PyTorch has no classes to count there
        case(f"{_name}-{_layout}", functional(_name), _spec, _spec.upto(2).const)
    case(f"gaussian_nll_loss-{_layout}", functional("gaussian_nll_loss"), _spec, _spec,
         _spec.positive)  # fmt: skip
    case(f"margin_ranking_loss-{_layout}", functional("margin_ranking_loss"), _spec, _spec,
         _spec.upto(2, -1).const)  # fmt: skip
    case(f"pairwise_distance-{_layout}", functional("pairwise_distance"), _spec, _spec)
    if _layout not in ("0d", "empty"):
        case(f"cosine_similarity-{_layout}", functional("cosine_similarity"), _spec, _spec)
        case(f"triplet_margin_loss-{_layout}", functional("triplet_margin_loss", margin=9.0),
             _spec, _spec, _spec)  # fmt: skip
        case(f"normalize-{_layout}", functional("normalize"), _spec)
        if _layout != "expanded":  # equal rows have no second derivative
            case(f"pdist-{_layout}", functional("pdist"), _spec, second_order=False)
case(
    "soft_margin_loss-float32", functional("soft_margin_loss"), f32(3), f32(3).of([1, -1, 1]).const
)
case("multi_margin_loss-strided", functional("multi_margin_loss"), f64(2, 3).strided,
     i64(2).upto(3).strided, second_order=False)  # fmt: skip
case("multi_margin_loss-transposed", functional("multi_margin_loss", p=2), f64(2, 3).t,
     i64(2).upto(3), second_order=False)  # fmt: skip
case("multi_margin_loss-expanded", functional("multi_margin_loss"), f64(2, 3).expanded,
     i64(2).upto(3), second_order=False)  # fmt: skip
case("multilabel_margin_loss-expanded", functional("multilabel_margin_loss"), f64(2, 3).expanded,
     i64(2, 3).of([2, -1, 0]), second_order=False)  # fmt: skip
case("multilabel_margin_loss-none", functional("multilabel_margin_loss"), f64(2, 3),
     i64(2, 3).of(-1), second_order=False)  # fmt: skip

# ---- distances ----

for _p in (0.5, 1.0, 2.0, 3.0, math.inf):
    case(f"pdist-p-{_p}", functional("pdist", p=_p), f64(4, 3), second_order=False)
    case(f"pairwise_distance-p-{_p}", functional("pairwise_distance", p=_p), f64(4, 3), f64(4, 3))
    case(f"normalize-p-{_p}", functional("normalize", p=_p), f64(4, 3))
case("pdist-equal-rows", functional("pdist"), f64(3, 2).of([[0, 0], [0, 0], [1, 2]]),
     second_order=False)  # fmt: skip
case("pdist-one", functional("pdist"), f64(1, 2).const)
case("pdist-none", functional("pdist"), f64(0, 2).const)
case("pdist-float32", functional("pdist"), f32(4, 3), second_order=False)
fails("pdist-vector", functional("pdist"), f64(3))
fails("pdist-cube", functional("pdist"), f64(3, 2, 2))
fails("pdist-int64", functional("pdist"), i64(3, 2))
fails("pdist-negative", functional("pdist", p=-1.0), f64(3, 2))
case("cosine_similarity-int64", functional("cosine_similarity"), f64(2, 3), i64(2, 3).positive)
fails("cosine_similarity-shapes", functional("cosine_similarity"), f64(2, 3), f64(2, 4))
fails("cosine_similarity-integers", functional("cosine_similarity"), i64(2, 3), i64(2, 3))
case("pairwise_distance-keepdim", functional("pairwise_distance", keepdim=True), f64(2, 3), f64(3))
case("pairwise_distance-mixed", functional("pairwise_distance"), f64(2, 3), f32(2, 3))
fails("pairwise_distance-shapes", functional("pairwise_distance"), f64(2, 3), f64(2, 4))
case("normalize-zero", functional("normalize"), f64(2, 3).of(0.0), second_order=False)
case("normalize-dims", functional("normalize", dim=(0, 2)), f64(2, 3, 2))
case("normalize-eps", functional("normalize", eps=9.0), f64(2, 3))
fails("normalize-dim", functional("normalize"), f64(3))
fails("normalize-int64", functional("normalize"), i64(2, 3))
for _label, _args in {
    "counted": (i64(4).upto(4),),
    "matrix": (i64(2, 2).upto(3),),
    "number": (i64().upto(3),),
}.items():
    # PyTorch writes its result in place, which shows in the version: hence + 0, here and below.
    case(f"one_hot-{_label}", lambda tn, x: tn.nn.functional.one_hot(x) + 0, *_args)
    case(f"one_hot-{_label}-of-5", lambda tn, x: tn.nn.functional.one_hot(x, 5) + 0, *_args)
case("one_hot-empty", functional("one_hot", num_classes=3), i64(0))
fails("one_hot-empty-uncounted", functional("one_hot"), i64(0))
fails("one_hot-negative", functional("one_hot"), i64(1).of(-1))
fails("one_hot-few", functional("one_hot", num_classes=2), i64(1).of(2))
fails("one_hot-float", functional("one_hot"), f64(2).const)

# ---- bilinear ----

BILINEAR = (f64(2, 3), f64(2, 4), f64(5, 3, 4), f64(5))
case("bilinear-plain", functional("bilinear"), *BILINEAR)
case("bilinear-no-bias", functional("bilinear"), *BILINEAR[:3])
case("bilinear-vector", functional("bilinear"), f64(3), f64(4), *BILINEAR[2:])
case("bilinear-strided", functional("bilinear"), *(s.strided for s in BILINEAR))
case("bilinear-transposed", functional("bilinear"), *(s.t for s in BILINEAR))
case("bilinear-expanded", functional("bilinear"), f64(2, 3).expanded, *BILINEAR[1:])
case("bilinear-empty", functional("bilinear"), f64(0, 3), f64(0, 4), *BILINEAR[2:])
fails("bilinear-batch", functional("bilinear"), f64(2, 3), f64(3, 4), *BILINEAR[2:])
fails("bilinear-first", functional("bilinear"), f64(2, 4), f64(2, 4), *BILINEAR[2:])
fails("bilinear-second", functional("bilinear"), f64(2, 3), f64(2, 3), *BILINEAR[2:])
fails("bilinear-bias", functional("bilinear"), *BILINEAR[:3], f64(4))
fails("bilinear-dtypes", functional("bilinear"), f64(2, 3), f32(2, 4), *BILINEAR[2:])

# ---- likelihoods at the edge ----

case("soft_margin_loss-far", functional("soft_margin_loss", reduction="none"),
     f64(4).of([-600.0, -30.0, 30.0, 600.0]), f64(4).of(1.0).const)  # fmt: skip
case("poisson_nll_loss-zero-counts",
     lambda tn, x, y: tn.nn.functional.poisson_nll_loss(x, y, full=True, reduction="none") + 0,
     f64(4), f64(4).of([0.0, 1.0, 2.0, 50.0]).const)  # fmt: skip
case("poisson_nll_loss-zero-rate", functional("poisson_nll_loss", log_input=False),
     f64(3).of(0.0), f64(3).positive)  # fmt: skip
case("gaussian_nll_loss-below-eps", functional("gaussian_nll_loss", eps=0.5), f64(4), f64(4),
     f64(4).of([0.0, 0.1, 0.4, 0.9]))  # fmt: skip
case("gaussian_nll_loss-number", lambda tn, x, y: tn.nn.functional.gaussian_nll_loss(x, y, 2.0),
     f64(4), f64(4))  # fmt: skip

# ---- the rest of what is refused: a reduction that is none ----


def unknown_reductions(tn, x, y, c):
    F, options = tn.nn.functional, {"reduction": "avg"}
    return each(
        [
            lambda: F.margin_ranking_loss(x, x, y, **options),
            lambda: F.hinge_embedding_loss(x, y, **options),
            lambda: F.cosine_embedding_loss(x, x, y[:, 0], **options),
            lambda: F.soft_margin_loss(x, y, **options),
            lambda: F.multi_margin_loss(x, c, **options),
            lambda: F.multilabel_margin_loss(x, c.unsqueeze(1).repeat(1, 3), **options),
            lambda: F.triplet_margin_loss(x, x, x, **options),
            lambda: F.triplet_margin_with_distance_loss(x, x, x, **options),
            lambda: F.poisson_nll_loss(x, y, **options),
            lambda: F.ctc_loss(x.unsqueeze(1), c[None, :1], (2,), (1,), **options),
        ]
    )


case("reductions-unknown", unknown_reductions, f64(2, 3).const, f64(2, 3).of(1.0), i64(2).upto(3))


def legacy_arguments(tn, x, y, classes):
    """The arguments from before ``reduction``, by position."""
    F, nn, found = tn.nn.functional, tn.nn, []
    for old in ((True, None), (False, None), (None, False), (False, True), (True, False)):
        found += [
            F.mse_loss(x, y, *old),
            F.kl_div(x, y, *old),
            F.hinge_embedding_loss(x, y, 1, *old),
        ]
        found += [nn.L1Loss(*old)(x, y), nn.MultiLabelSoftMarginLoss(None, *old)(x, y)]
        found += [F.cross_entropy(x, classes, None, old[0], 0, old[1])]
        found += [nn.NLLLoss(None, old[0], -100, old[1], "sum")(x, classes)]
    return found


case("reductions-legacy", legacy_arguments, f64(2, 3), f64(2, 3).positive.const, i64(2).upto(3))
fails("triplet_margin_loss-margin", functional("triplet_margin_loss", margin=0.0), f64(3), f64(3),
      f64(3))  # fmt: skip
fails("triplet_margin_loss-dims", functional("triplet_margin_loss"), f64(2, 3), f64(3), f64(2, 3))
fails("triplet_margin_loss-shapes", functional("triplet_margin_loss"), f64(2, 3), f64(3, 3),
      f64(2, 3))  # fmt: skip
fails("hinge_embedding_loss-shapes", functional("hinge_embedding_loss"), f64(3), f64(2).const)
fails("margin_ranking_loss-shapes", functional("margin_ranking_loss"), f64(3), f64(2), f64(3).const)
fails("linear_cross_entropy-ignored-probabilities",
      functional("linear_cross_entropy", ignore_index=1), f64(2, 3), f64(4, 3),
      f64(2, 4))  # fmt: skip
fails("linear_cross_entropy-bias",
      lambda tn, x, w, y, b: tn.nn.functional.linear_cross_entropy(x, w, y, linear_bias=b),
      f64(2, 3), f64(4, 3), i64(2).upto(4), f64(3))  # fmt: skip
fails("linear_cross_entropy-weight", functional("linear_cross_entropy"), f64(2, 3), f64(3),
      i64(2).upto(3))  # fmt: skip
