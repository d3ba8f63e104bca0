"""Batch, instance, layer, group, RMS and local response norm."""

from tests.tools.recorded.layers import Table, f

TABLE = Table("normalization")
layer, fails = TABLE.layer, TABLE.fails

# ---- batch norm ---------------------------------------------------------------------------------

BATCHES = {
    "BatchNorm1d": [(4, 3), (4, 3, 5)],
    "BatchNorm2d": [(4, 3, 2, 5), (2, 3, 10, 11)],  # few and many places are computed differently
    "BatchNorm3d": [(2, 3, 2, 3, 2)],
}
for _name, _shapes in BATCHES.items():
    for _shape in _shapes:
        _title = f"{_name}-{len(_shape)}d-{_shape[-1]}"
        for _train in (True, False):
            _mode = "" if _train else "-eval"
            layer(
                _title + _mode, lambda lib, n=_name: getattr(lib.nn, n)(3), f(*_shape), train=_train
            )
OPTIONS = {
    "options": {"eps": 0.1, "momentum": 0.3},
    "cumulative": {"momentum": None},
    "untracked": {"track_running_stats": False},
    "plain": {"affine": False},
    "no-bias": {"bias": False},
    "bare": {"affine": False, "track_running_stats": False},
}
for _title, _options in OPTIONS.items():
    for _train in (True, False):
        layer(
            f"BatchNorm2d-{_title}{'' if _train else '-eval'}",
            lambda lib, o=_options: lib.nn.BatchNorm2d(3, **o),
            f(4, 3, 2, 2),
            train=_train,
        )
for _shape in ((4, 3), (2, 3, 2, 2)):
    layer(f"SyncBatchNorm-{len(_shape)}d", lambda lib: lib.nn.SyncBatchNorm(3), f(*_shape))
for _title, _made in {
    "sequence": lambda nn: nn.Sequential(nn.BatchNorm2d(3), nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2)),
    "alone": lambda nn: nn.BatchNorm2d(3, momentum=None, affine=False),
    "evaluation": lambda nn: nn.Sequential(nn.BatchNorm2d(3, bias=False).eval()),
}.items():
    layer(
        f"SyncBatchNorm-converted-{_title}",
        lambda lib, m=_made: lib.nn.SyncBatchNorm.convert_sync_batchnorm(m(lib.nn)),
        f(2, 3, 2, 2),
    )
fails("SyncBatchNorm-1d", lambda lib: lib.nn.SyncBatchNorm(3)(lib.zeros(3)))
fails("SyncBatchNorm-no-channels", lambda lib: lib.nn.SyncBatchNorm(3)(lib.zeros(2, 0)))
layer("BatchNorm1d-far-from-zero", lambda lib: lib.nn.BatchNorm1d(2), f(3, 2).of(900, 9, 901, -9))
layer("BatchNorm2d-empty", lambda lib: lib.nn.BatchNorm2d(3), f(0, 3, 2, 2))


def switched(module, x):
    """Training, evaluation, training: the second uses what the first has left."""
    module.reset_running_stats()
    first = module.train()(x)
    second = module.eval()(x.detach()).detach()
    return first, second, module.train()(x + 1)


for _momentum in (0.2, None):
    layer(
        f"BatchNorm1d-switched-{_momentum}",
        lambda lib, m=_momentum: lib.nn.BatchNorm1d(3, momentum=m),
        f(4, 3),
        call=switched,
    )
layer(
    "BatchNorm1d-twice",
    lambda lib: lib.nn.BatchNorm1d(3),
    f(4, 3),
    call=lambda module, x: module(module(x)),
)
fails("BatchNorm1d-4d", lambda lib: lib.nn.BatchNorm1d(3)(lib.zeros(2, 3, 4, 4)))
fails("BatchNorm1d-1d", lambda lib: lib.nn.BatchNorm1d(3)(lib.zeros(3)))
fails("BatchNorm2d-2d", lambda lib: lib.nn.BatchNorm2d(3)(lib.zeros(2, 3)))
fails("BatchNorm3d-4d", lambda lib: lib.nn.BatchNorm3d(3)(lib.zeros(2, 3, 4, 4)))
fails("BatchNorm2d-channels", lambda lib: lib.nn.BatchNorm2d(3)(lib.zeros(2, 4, 2, 2)))
fails("BatchNorm1d-one-value", lambda lib: lib.nn.BatchNorm1d(3)(lib.zeros(1, 3)))
fails("BatchNorm1d-dtype", lambda lib: lib.nn.BatchNorm1d(3)(lib.zeros(2, 3, dtype=lib.float64)))
fails("BatchNorm1d-integers", lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(2, 3, dtype=lib.int64)))
fails("BatchNorm1d-eps", lambda lib: lib.nn.BatchNorm1d(3, eps=0.0)(lib.zeros(2, 3)))

# ---- instance norm ------------------------------------------------------------------------------

INSTANCES = {
    "InstanceNorm1d": [(2, 3, 5), (3, 5)],
    "InstanceNorm2d": [(2, 3, 2, 5), (3, 2, 5)],
    "InstanceNorm3d": [(2, 3, 2, 3, 2), (3, 2, 3, 2)],
}
for _name, _shapes in INSTANCES.items():
    for _shape in _shapes:
        layer(f"{_name}-{len(_shape)}d", lambda lib, n=_name: getattr(lib.nn, n)(3), f(*_shape))
    for _train in (True, False):
        layer(
            f"{_name}-everything{'' if _train else '-eval'}",
            lambda lib, n=_name: getattr(lib.nn, n)(3, 0.1, 0.3, True, True),
            f(*_shapes[0]),
            train=_train,
        )
layer(
    "InstanceNorm1d-no-bias",
    lambda lib: lib.nn.InstanceNorm1d(3, affine=True, bias=False),
    f(2, 3, 5),
)
layer("InstanceNorm1d-other-channels", lambda lib: lib.nn.InstanceNorm1d(7), f(2, 3, 5))
fails("InstanceNorm1d-4d", lambda lib: lib.nn.InstanceNorm1d(3)(lib.zeros(2, 3, 4, 4)))
fails("InstanceNorm2d-2d", lambda lib: lib.nn.InstanceNorm2d(3)(lib.zeros(2, 3)))
fails("InstanceNorm3d-2d", lambda lib: lib.nn.InstanceNorm3d(3)(lib.zeros(2, 3)))
fails(
    "InstanceNorm1d-channels", lambda lib: lib.nn.InstanceNorm1d(3, affine=True)(lib.zeros(2, 4, 2))
)
fails("InstanceNorm1d-one-value", lambda lib: lib.nn.InstanceNorm1d(3)(lib.zeros(2, 3, 1)))

# ---- layer, RMS and group norm ------------------------------------------------------------------

layer("LayerNorm", lambda lib: lib.nn.LayerNorm(4), f(3, 4))
layer("LayerNorm-one-row", lambda lib: lib.nn.LayerNorm(4), f(4))
layer("LayerNorm-two-dims", lambda lib: lib.nn.LayerNorm((3, 4)), f(2, 3, 4))
layer("LayerNorm-list", lambda lib: lib.nn.LayerNorm([4], eps=0.1), f(2, 3, 4))
layer("LayerNorm-no-bias", lambda lib: lib.nn.LayerNorm(4, bias=False), f(3, 4))
layer("LayerNorm-plain", lambda lib: lib.nn.LayerNorm(4, elementwise_affine=False), f(3, 4))
layer("LayerNorm-empty", lambda lib: lib.nn.LayerNorm(4), f(0, 4))
layer(
    "LayerNorm-transposed",
    lambda lib: lib.nn.LayerNorm(4),
    f(4, 3),
    call=lambda module, x: module(x.t()),
)
fails("LayerNorm-shape", lambda lib: lib.nn.LayerNorm(4)(lib.zeros(4, 3)))
fails("LayerNorm-dims", lambda lib: lib.nn.LayerNorm((2, 3, 4))(lib.zeros(3, 4)))
fails("LayerNorm-dtype", lambda lib: lib.nn.LayerNorm(4)(lib.zeros(3, 4, dtype=lib.float64)))
fails("LayerNorm-no-dims", lambda lib: lib.nn.LayerNorm(())(lib.zeros(3, 4)))

layer("RMSNorm", lambda lib: lib.nn.RMSNorm(4), f(3, 4))
layer("RMSNorm-two-dims", lambda lib: lib.nn.RMSNorm((3, 4), eps=0.1), f(2, 3, 4))
layer("RMSNorm-plain", lambda lib: lib.nn.RMSNorm([4], elementwise_affine=False), f(3, 4))
layer("RMSNorm-empty", lambda lib: lib.nn.RMSNorm(4), f(0, 4))
fails("RMSNorm-shape", lambda lib: lib.nn.RMSNorm(4)(lib.zeros(4, 3)))
fails("RMSNorm-no-dims", lambda lib: lib.nn.RMSNorm(())(lib.zeros(3, 4)))

layer("GroupNorm", lambda lib: lib.nn.GroupNorm(2, 6), f(3, 6, 2, 2))
layer("GroupNorm-2d", lambda lib: lib.nn.GroupNorm(3, 6), f(3, 6))
layer("GroupNorm-one-group", lambda lib: lib.nn.GroupNorm(1, 4, eps=0.1), f(2, 4, 5))
layer("GroupNorm-as-instance", lambda lib: lib.nn.GroupNorm(4, 4), f(2, 4, 5))
layer("GroupNorm-many-places", lambda lib: lib.nn.GroupNorm(2, 4), f(2, 4, 10, 11))
layer("GroupNorm-no-bias", lambda lib: lib.nn.GroupNorm(2, 4, bias=False), f(2, 4, 3))
layer("GroupNorm-plain", lambda lib: lib.nn.GroupNorm(2, 4, affine=False), f(2, 4, 3))
layer("GroupNorm-empty", lambda lib: lib.nn.GroupNorm(2, 4), f(0, 4, 3))
fails("GroupNorm-not-divisible", lambda lib: lib.nn.GroupNorm(2, 3))
fails("GroupNorm-channels", lambda lib: lib.nn.GroupNorm(2, 4)(lib.zeros(2, 6, 3)))
fails("GroupNorm-1d", lambda lib: lib.nn.GroupNorm(2, 4)(lib.zeros(4)))
fails("GroupNorm-one-value", lambda lib: lib.nn.GroupNorm(4, 4)(lib.zeros(1, 4)))

# ---- local response norm ------------------------------------------------------------------------

for _size in (1, 2, 3, 4):
    layer(
        f"LocalResponseNorm-{_size}",
        lambda lib, s=_size: lib.nn.LocalResponseNorm(s, alpha=0.3),
        f(2, 3, 4),
    )
layer("LocalResponseNorm-4d", lambda lib: lib.nn.LocalResponseNorm(3, 0.5, 0.6, 2.0), f(2, 5, 2, 3))
layer("LocalResponseNorm-5d", lambda lib: lib.nn.LocalResponseNorm(7, 0.5), f(2, 3, 2, 1, 2))
for _size in (1, 3, 4, 9):  # PyTorch's gradient is not that of its result
    layer(
        f"CrossMapLRN2d-{_size}",
        lambda lib, s=_size: lib.nn.CrossMapLRN2d(s, 0.5, 0.6, 2.0),
        f(2, 7, 2, 3).const,
    )
fails("CrossMapLRN2d-2d", lambda lib: lib.nn.CrossMapLRN2d(3)(lib.zeros(2, 3)))
fails("LocalResponseNorm-2d", lambda lib: lib.nn.LocalResponseNorm(2)(lib.zeros(2, 3)))
