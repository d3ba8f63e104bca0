"""Convolutions, pools, pads, and resampling."""

from functools import partial
from itertools import product

import numpy as np

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn

from .cases import INF, NAN, Case, integers, normal, of_lengths, with_edges

IMAGES = normal(2, 4, 7, 6)
OF_RANK = {1: normal(2, 4, 9), 2: IMAGES, 3: normal(1, 4, 5, 4, 6)}
LOWEST = np.full((2, 4, 7, 6), -INF, np.float32)


def convolutions():
    tn.manual_seed(0)
    near = {"roundings": 512, "scale": 4.0}
    for rank, kernel, stride, padding, dilation, groups in product(
        (1, 2, 3), (1, 2, 3), (1, 2, 3), (0, 1, 2, "same"), (1, 2), (1, 4)
    ):
        if (padding == "same" and stride > 1) or (rank == 3 and (groups > 1 or stride > 2)):
            continue
        options = (kernel, stride, padding, dilation)
        layer = getattr(nn, f"Conv{rank}d")(4, 4, *options, groups)
        yield Case(f"conv{rank} {options} {groups}", layer, (OF_RANK[rank],), **near)
        for extra in (0, 1) if padding != "same" else ():
            if extra < max(stride, dilation):
                kind = getattr(nn, f"ConvTranspose{rank}d")
                layer = kind(4, 4, kernel, stride, padding, extra, groups, dilation=dilation)
                label = f"transposed{rank} {options} {groups} {extra}"
                yield Case(label, layer, (OF_RANK[rank],), **near)
    for rank, x in OF_RANK.items():
        kind = getattr(nn, f"Conv{rank}d")
        for mode in ("zeros", "reflect", "replicate", "circular"):
            layer = kind(4, 2, 3, padding=2, padding_mode=mode, bias=False)
            sizes = tuple((y,) for y in of_lengths(x, 1, 3, 0))
            yield Case(f"conv{rank} {mode}", layer, (x,), sizes, **near)
        transposed = getattr(nn, f"ConvTranspose{rank}d")
        for layer in (kind(4, 2, 3), transposed(4, 2, 3), transposed(4, 2, 3, bias=False)):
            name = f"{type(layer).__name__}"
            yield Case(f"{name} edges", layer, (with_edges(x),), **near)
            yield Case(f"{name} of one", layer, (x[0],), **near)


def pools():
    images = {"plain": IMAGES, "nan": with_edges(IMAGES, NAN, INF, -INF), "lowest": LOWEST}
    images |= {
        "1d": OF_RANK[1],
        "3d": OF_RANK[3],
        "ties": integers(2, 2, 4, 7, 6).astype(np.float32),
    }
    for (label, x), kernel, stride in product(images.items(), (1, 2, 3, 4), (None, 1, 2, 3, 4)):
        rank = x.ndim - 2
        largest, mean = (getattr(F, f"{name}_pool{rank}d") for name in ("max", "avg"))
        for padding, up in product(range(kernel // 2 + 1), (False, True)):
            sizes = f"{label} {kernel} {stride} {padding} {up}"
            for dilation in (1, 2):
                case = partial(largest, kernel_size=kernel, stride=stride, padding=padding)
                case = partial(case, dilation=dilation, ceil_mode=up)
                yield Case(f"max {sizes} {dilation}", case, (x,))
            for counted in (True, False):
                case = partial(mean, kernel_size=kernel, stride=stride, padding=padding)
                case = partial(case, ceil_mode=up, count_include_pad=counted)
                yield Case(f"mean {sizes} {counted}", case, (x,))
                if rank > 1:
                    case = partial(case, divisor_override=5)
                    yield Case(f"mean {sizes} {counted} of 5", case, (x,))
    for label, x in images.items():
        rank = x.ndim - 2
        for name in ("adaptive_max", "adaptive_avg"):
            pool = getattr(F, f"{name}_pool{rank}d")
            for size in (1, 2, 3, 4, 5, 7):
                yield Case(f"{name} {label} {size}", partial(pool, output_size=size), (x,))
        for kind in ("float64", "float16", "int64", "uint8"):
            case = partial(getattr(F, f"max_pool{rank}d"), kernel_size=3, stride=2, padding=1)
            numbers = (np.nan_to_num(x, posinf=1, neginf=-1) * 9).astype(kind)
            yield Case(f"max {label} {kind}", case, (numbers,))
            for dilation, up in product((1, 2), (False, True)):
                far = partial(case, kernel_size=2, dilation=dilation, ceil_mode=up)
                yield Case(f"max {label} {kind} {dilation} {up}", far, (numbers,))
    for name in ("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d"):
        sizes = tuple((x,) for x in of_lengths(IMAGES, 1, 3, 0))
        pool = getattr(F, name)
        yield Case(f"{name}, dynamic", lambda x, pool=pool: pool(x, 2), (IMAGES,), sizes)
        yield Case(f"{name} of one", lambda x, pool=pool: pool(x, 2), (IMAGES[0],))


PADS = [
    (1, 2), (0, 3), (1, 0, 2, 1), (2, 2, 2, 2), (-1, 1, 0, 0), (-1, -2, -1, 0), (3, 3, 2, 2),
    (0, 0, 0, 0), (4, 4), (-3, 2, 1, 1), (1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 0, 0, 0, 1),
]  # fmt: skip


def pads():
    images = {"plain": IMAGES, "edges": with_edges(IMAGES), "dot": IMAGES[:1, :2, :1, :1]}
    modes = {"reflect": [{}], "replicate": [{}], "circular": [{}]}
    modes["constant"] = [{"value": value} for value in (0.0, 2.5, NAN, INF)]
    for mode, pad, (label, x), rank in product(modes, PADS, images.items(), (4, 3, 2)):
        for options in modes[mode]:
            case = partial(F.pad, pad=pad, mode=mode, **options)
            yield Case(f"{mode} {pad} {options} {label} {rank}", case, (x[(0,) * (4 - rank)],))
    for mode, kind in product(modes, ("int64", "bool", "float64", "uint8")):
        case = partial(F.pad, pad=(1, 2, 1, 1), mode=mode)
        yield Case(f"{mode} {kind}", case, ((IMAGES * 3).astype(kind),))
    for mode in modes:
        case = partial(F.pad, pad=(1, 2, 1, 1, 0, 1), mode=mode)
        yield Case(f"{mode} 3d", case, (OF_RANK[3],))


SIZES = [
    (7, 6),
    (14, 12),
    (3, 3),
    (4, 9),
    (1, 1),
    (1, 5),
    (11, 2),
    (2, 1),
    (13, 20),
    (6, 7),
    (21, 18),
]
FACTORS = [2, 0.5, 1.5, (2, 3), 0.7, (1.3, 0.4), 3]


def resampling():
    modes = [("nearest", {}), ("nearest-exact", {}), ("area", {})]
    modes += [(m, {"align_corners": a}) for m in ("bilinear", "bicubic") for a in (False, True)]
    modes += [(m, {"antialias": True}) for m in ("bilinear", "bicubic")]
    for (mode, options), (label, x) in product(
        modes, {"plain": IMAGES, "dot": IMAGES[:1, :2, :1, :1]}.items()
    ):
        case = partial(F.interpolate, mode=mode, **options)
        for size in SIZES:
            yield Case(f"{mode} {options} {label} {size}", partial(case, size=size), (x,))
        for factor, again in product(FACTORS, (None, True)):
            scaled = partial(case, scale_factor=factor, recompute_scale_factor=again)
            yield Case(f"{mode} {options} {label} times {factor} {again}", scaled, (x,))
    for mode, size in product(("nearest", "nearest-exact"), SIZES):
        case = partial(F.interpolate, mode=mode, size=size)
        yield Case(f"{mode} edges {size}", case, (with_edges(IMAGES, NAN, INF, -INF),))
        for kind in ("float64", "float16", "uint8", "int64"):
            yield Case(f"{mode} {kind} {size}", case, ((IMAGES * 50).astype(kind),))
    for rank, linear in ((1, "linear"), (3, "trilinear")):
        x = OF_RANK[rank]
        for mode, size in product(
            ("nearest", "nearest-exact", "area", linear), (1, 3, 4, 9, 12, 5)
        ):
            yield Case(f"{mode} {rank} {size}", partial(F.interpolate, size=size, mode=mode), (x,))
