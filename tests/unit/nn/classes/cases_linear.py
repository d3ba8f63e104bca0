"""Linear layers, shapes, and layers that do nothing in evaluation mode."""

from tests.tools.recorded.layers import Table, f, i

TABLE = Table("linear")
layer, fails = TABLE.layer, TABLE.fails

layer("Linear", lambda lib: lib.nn.Linear(4, 3), f(5, 4))
layer("Linear-no-bias", lambda lib: lib.nn.Linear(4, 3, bias=False), f(5, 4))
layer("Linear-vector", lambda lib: lib.nn.Linear(4, 3), f(4))
layer("Linear-3d", lambda lib: lib.nn.Linear(4, 3), f(2, 5, 4))
layer("Linear-empty", lambda lib: lib.nn.Linear(4, 3), f(0, 4), steps=False)
fails("Linear-shape", lambda lib: lib.nn.Linear(4, 3)(lib.zeros(2, 3)))
fails("Linear-number", lambda lib: lib.nn.Linear(4, 3)(lib.tensor(1.0)))
fails("Linear-dtype", lambda lib: lib.nn.Linear(4, 3)(lib.zeros(2, 4, dtype=lib.float64)))

layer("Bilinear", lambda lib: lib.nn.Bilinear(4, 3, 2), f(5, 4), f(5, 3))
layer("Bilinear-no-bias", lambda lib: lib.nn.Bilinear(4, 3, 2, bias=False), f(5, 4), f(5, 3))
layer("Bilinear-vector", lambda lib: lib.nn.Bilinear(4, 3, 2), f(4), f(3))
layer("Bilinear-3d", lambda lib: lib.nn.Bilinear(4, 3, 2), f(2, 5, 4), f(2, 5, 3))
layer("Bilinear-empty", lambda lib: lib.nn.Bilinear(4, 3, 2), f(0, 4), f(0, 3), steps=False)
fails("Bilinear-no-features", lambda lib: lib.nn.Bilinear(0, 3, 2))


def bilinear(label, one, other):
    fails(f"Bilinear-{label}", lambda lib: lib.nn.Bilinear(4, 3, 2)(one(lib), other(lib)))


bilinear("first", lambda lib: lib.ones(5, 3), lambda lib: lib.ones(5, 3))
bilinear("second", lambda lib: lib.ones(5, 4), lambda lib: lib.ones(5, 4))
bilinear("batch", lambda lib: lib.ones(5, 4), lambda lib: lib.ones(2, 3))
bilinear("dims", lambda lib: lib.ones(5, 4), lambda lib: lib.ones(3))
bilinear("dtype", lambda lib: lib.ones(5, 4), lambda lib: lib.ones(5, 3, dtype=lib.float64))
bilinear("number", lambda lib: lib.tensor(1.0), lambda lib: lib.tensor(1.0))

layer("Identity", lambda lib: lib.nn.Identity(), f(2, 3))
layer("Identity-arguments", lambda lib: lib.nn.Identity(54, unused=0.1), i(3, 2))
layer("Flatten", lambda lib: lib.nn.Flatten(), f(2, 3, 2, 2))
layer("Flatten-dims", lambda lib: lib.nn.Flatten(0, -2), f(2, 3, 2, 2))
fails("Flatten-order", lambda lib: lib.nn.Flatten(2, 1)(lib.zeros(2, 3, 2)))
fails("Flatten-range", lambda lib: lib.nn.Flatten(1, 3)(lib.zeros(2, 3, 2)))
layer("Unflatten", lambda lib: lib.nn.Unflatten(1, (2, 3)), f(4, 6))
layer("Unflatten-guess", lambda lib: lib.nn.Unflatten(-1, [2, -1]), f(4, 6))
fails("Unflatten-size", lambda lib: lib.nn.Unflatten(1, (2, 4))(lib.zeros(4, 6)))
fails("Unflatten-float", lambda lib: lib.nn.Unflatten(1, (2, 3.0)))
fails("Unflatten-set", lambda lib: lib.nn.Unflatten(1, {2, 3}))
layer("Dropout-eval", lambda lib: lib.nn.Dropout(), f(4, 3), train=False)
layer("Dropout-never", lambda lib: lib.nn.Dropout(0.0), f(4, 3))
layer("Dropout-always", lambda lib: lib.nn.Dropout(1.0), f(4, 3))
fails("Dropout-range", lambda lib: lib.nn.Dropout(1.5))

# ---- distances ----

layer("PairwiseDistance", lambda lib: lib.nn.PairwiseDistance(), f(4, 3), f(4, 3))
layer(
    "PairwiseDistance-keepdim",
    lambda lib: lib.nn.PairwiseDistance(1.0, 0.01, keepdim=True),
    *(f(4, 3), f(3)),
)
layer("PairwiseDistance-infinite", lambda lib: lib.nn.PairwiseDistance(float("inf")), f(4), f(4))
layer("PairwiseDistance-cubic", lambda lib: lib.nn.PairwiseDistance(3), f(2, 4), f(2, 4))
fails("PairwiseDistance-shapes", lambda lib: lib.nn.PairwiseDistance()(lib.ones(3), lib.ones(2)))
layer("CosineSimilarity", lambda lib: lib.nn.CosineSimilarity(), f(4, 3), f(4, 3))
layer("CosineSimilarity-dim", lambda lib: lib.nn.CosineSimilarity(0), f(4, 3), f(4, 1))
layer("CosineSimilarity-broadcast", lambda lib: lib.nn.CosineSimilarity(-1), f(2, 1, 3), f(4, 3))
layer(
    "CosineSimilarity-zero", lambda lib: lib.nn.CosineSimilarity(), f(2, 3).of(0.0).const, f(2, 3)
)
fails(
    "CosineSimilarity-shapes",
    lambda lib: lib.nn.CosineSimilarity()(lib.ones(2, 3), lib.ones(2, 4)),
)
fails(
    "CosineSimilarity-dim-range", lambda lib: lib.nn.CosineSimilarity(1)(lib.ones(3), lib.ones(3))
)
fails(
    "CosineSimilarity-int",
    lambda lib: lib.nn.CosineSimilarity()(lib.tensor([[1]]), lib.tensor([[1]])),
)
