"""Reductions, running sums, softmax and normalization of long, shifted and badly scaled inputs."""

from __future__ import annotations

from typing import Any

from benchmarks.accuracy.spec import Cases, Run, numbers, together

MILLION, LONG = 2**20, 2**18
CASES = Cases()
add, each = CASES.add, CASES.each

# ---- reductions ---------------------------------------------------------------------------------

POSITIVE = "uniform|around 100|scaled"
SIGNED = "around 0|around 100|scaled"
SQUARED = "around 0|around 100|roots of scaled"
SHAPES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "all": (None, (LONG,)),
    "rows": (1, (64, 1000)),
    "long rows": (1, (4, LONG // 4)),
    "long columns": (0, (LONG // 4, 4)),
    "wide columns": (0, (LONG // 64, 64)),
    "middle": (1, (16, LONG // 256, 16)),
    "dims 0 and 2": ((0, 2), (256, 4, LONG // 1024)),
}

for _shape, (_dim, _size) in SHAPES.items():
    each(f"sum, {_shape}", lambda tn, x, d=_dim: tn.sum(x, dim=d), POSITIVE, *_size)
    each(f"mean, {_shape}", lambda tn, x, d=_dim: tn.mean(x, dim=d), "around 100", *_size)
    each(f"var, {_shape}", lambda tn, x, d=_dim: tn.var(x, dim=d), SQUARED, *_size)
    each(f"std, {_shape}", lambda tn, x, d=_dim: tn.std(x, dim=d), "around 100", *_size)
    each(f"norm, {_shape}", lambda tn, x, d=_dim: tn.norm(x, dim=d), "around 0|scaled", *_size)
    for _p in (1, 3):
        each(
            f"{_p}-norm, {_shape}",
            lambda tn, x, d=_dim, p=_p: tn.linalg.vector_norm(x, p, dim=d),
            "around 0",
            *_size,
        )
    if _dim is not None:
        each(
            f"logsumexp, {_shape}",
            lambda tn, x, d=_dim: tn.logsumexp(x, d),
            "around 0, wide|around 100",
            *_size,
        )
each("prod, all", lambda tn, x: tn.prod(x), "near 1", 2**14)
each("prod, rows", lambda tn, x: tn.prod(x, 1), "near 1", 4, 2**14)
each("prod, columns", lambda tn, x: tn.prod(x, 0), "near 1", 2**14, 4)
each("nansum, columns", lambda tn, x: tn.nansum(x, 0), "uniform", LONG // 16, 16)
each("nanmean, columns", lambda tn, x: tn.nanmean(x, 0), "around 100", LONG // 16, 16)

# ---- running sums -------------------------------------------------------------------------------

each("cumsum, a million", lambda tn, x: tn.cumsum(x, 0), "uniform|scaled", MILLION)
each("cumsum", lambda tn, x: tn.cumsum(x, 0), "around 0|around 100", LONG)
each("cumsum, columns", lambda tn, x: tn.cumsum(x, 0), "uniform", LONG // 16, 16)
each("cumprod, rows", lambda tn, x: tn.cumprod(x, 1), "near 1", 8, 2**13)
each("cumprod, columns", lambda tn, x: tn.cumprod(x, 0), "near 1", 2**13, 8)
each("logcumsumexp", lambda tn, x: tn.logcumsumexp(x, 0), "around 0|around 100", 2**15)
each("logcumsumexp, columns", lambda tn, x: tn.logcumsumexp(x, 0), "around 0, wide", 2**13, 8)
each("cummax", lambda tn, x: tn.cummax(x, 0)[0], "around 0", 2**14)

# ---- softmax ------------------------------------------------------------------------------------

for _name in ("softmax", "log_softmax"):
    for _shape, _size, _dim in (
        ("long rows", (4, LONG // 8), 1),
        ("rows", (512, 1000), 1),
        ("long columns", (LONG // 8, 4), 0),
        ("channels", (8, 64, 16, 16), 1),
    ):
        each(
            f"{_name}, {_shape}",
            lambda tn, x, n=_name, d=_dim: getattr(tn, n)(x, d),
            "around 0, wide|around 100",
            *_size,
        )

# ---- normalisation ------------------------------------------------------------------------------


def normed(name: str, run: Run, shape: tuple[int, ...], count: int | tuple[int, ...]) -> None:
    """Add cases of a normalization with weight and bias."""
    size = (count,) if isinstance(count, int) else count
    affine = together(numbers("around 0", *size), numbers("around 0", *size))
    for kind in SIGNED.split("|")[: 2 if MILLION in shape else 3]:
        add(f"{name}, {kind}", run, together(numbers(kind, *shape), affine))


normed(
    "layer_norm, a million",
    lambda tn, x, w, b: tn.nn.functional.layer_norm(x, (MILLION,), w, b),
    (1, MILLION), MILLION,
)  # fmt: skip
normed(
    "layer_norm, many rows",
    lambda tn, x, w, b: tn.nn.functional.layer_norm(x, (128,), w, b),
    (1024, 128), 128,
)  # fmt: skip
normed(
    "rms_norm, long rows",
    lambda tn, x, w, b: tn.nn.functional.rms_norm(x, (2**16,), w, 1e-5) + b,
    (4, 2**16), 2**16,
)  # fmt: skip
normed(
    "batch_norm, images",
    lambda tn, x, w, b: tn.nn.functional.batch_norm(x, None, None, w, b, True),
    (32, 8, 32, 32), 8,
)  # fmt: skip
normed(
    "batch_norm, small images",
    lambda tn, x, w, b: tn.nn.functional.batch_norm(x, None, None, w, b, True),
    (512, 16, 4, 4), 16,
)  # fmt: skip
normed(
    "batch_norm, columns",
    lambda tn, x, w, b: tn.nn.functional.batch_norm(x, None, None, w, b, True),
    (2**15, 16), 16,
)  # fmt: skip
normed(
    "group_norm",
    lambda tn, x, w, b: tn.nn.functional.group_norm(x, 4, w, b),
    (4, 16, 64, 64), 16,
)  # fmt: skip
normed(
    "instance_norm",
    lambda tn, x, w, b: tn.nn.functional.instance_norm(x, None, None, w, b),
    (2, 4, 128, 128), 4,
)  # fmt: skip


def moved(tn: Any, x: Any, which: str) -> Any:
    """Return a running statistic of batch norm after a step in training."""
    layer = tn.nn.BatchNorm1d(x.shape[1], momentum=1.0, dtype=x.dtype)
    layer(x)
    return getattr(layer, which)


add(
    "batch_norm, evaluation, around 100",
    lambda tn, x, m, v, w, b: tn.nn.functional.batch_norm(x, m.detach(), v.detach(), w, b),
    together(
        numbers("around 100", 16, 8, 32, 32), numbers("around 100", 8), numbers("uniform", 8),
        numbers("around 0", 8), numbers("around 0", 8),
    ),
)  # fmt: skip
for _which in ("running_mean", "running_var"):
    each(f"batch_norm, {_which}", lambda tn, x, w=_which: moved(tn, x, w), SIGNED, 2**15, 16)
each(
    "local_response_norm",
    lambda tn, x: tn.nn.functional.local_response_norm(x, 5, 1.0),
    SIGNED, 8, 32, 16, 16,
)  # fmt: skip
each("normalize", lambda tn, x: tn.nn.functional.normalize(x), "around 0|scaled", 8, 2**15)
