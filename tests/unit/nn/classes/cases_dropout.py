"""Dropouts where nothing is random: in evaluation, and with a probability of 0 or 1."""

from tests.tools.recorded.layers import Table, f

TABLE = Table("dropout")
SHAPES = {
    "Dropout": (2, 3),
    "Dropout1d": (2, 3, 4),
    "Dropout2d": (2, 3, 2, 2),
    "Dropout3d": (2, 3, 2, 2, 2),
    "AlphaDropout": (2, 3),
    "FeatureAlphaDropout": (2, 3, 4),
}
for _name, _shape in SHAPES.items():

    def build(lib, p, name=_name):
        return getattr(lib.nn, name)(p)

    for _p in (0.0, 1.0):
        TABLE.layer(f"{_name}-{_p}", lambda lib, p=_p, build=build: build(lib, p), f(*_shape))
    TABLE.layer(f"{_name}-eval", lambda lib, build=build: build(lib, 0.3), f(*_shape), train=False)
    TABLE.layer(
        f"{_name}-inplace",
        lambda lib, n=_name: getattr(lib.nn, n)(1.0, inplace=True),
        f(*_shape),
        call=lambda module, x: module(x * 2),
    )
    TABLE.fails(f"{_name}-probability", lambda lib, build=build: build(lib, 1.5))
    TABLE.fails(f"{_name}-negative", lambda lib, build=build: build(lib, -0.5))
TABLE.layer("Dropout1d-unbatched", lambda lib: lib.nn.Dropout1d(1.0), f(3, 4))
TABLE.layer("Dropout3d-unbatched", lambda lib: lib.nn.Dropout3d(1.0), f(3, 2, 2, 2))
TABLE.fails("Dropout1d-4d", lambda lib: lib.nn.Dropout1d()(lib.zeros(2, 3, 4, 4)))
TABLE.fails("Dropout2d-1d", lambda lib: lib.nn.Dropout2d()(lib.zeros(3)))
TABLE.fails("FeatureAlphaDropout-1d", lambda lib: lib.nn.FeatureAlphaDropout()(lib.zeros(3)))
for _name in SHAPES:
    TABLE.fails(
        f"{_name}-integers",
        lambda lib, n=_name: getattr(lib.nn, n)()(lib.ones(2, 3, 4, dtype=lib.int64)),
    )
