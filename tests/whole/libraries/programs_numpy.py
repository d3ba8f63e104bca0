"""numpy, given tensors."""

import io

import numpy as np

from .matrix import ONES, TABLES, VECTORS, Matrix

program = Matrix(__name__)


def _saved(x):
    file = io.BytesIO()
    np.save(file, x)
    return np.load(io.BytesIO(file.getvalue()))


def _text(x):
    file = io.StringIO()
    np.savetxt(file, x)
    return file.getvalue()


def _put(x):
    array = np.zeros(4)
    array[:] = x
    return array


def _put_one(x):
    array = np.zeros(4)
    array[1] = x
    return array


def _added(x):
    array = np.ones(4)
    array += x
    return array


program.rows(
    VECTORS,
    numpy=lambda x: x.numpy(),
    numpy_by_force=lambda x: x.numpy(force=True),
    numpy_of_detached=lambda x: x.detach().cpu().numpy(),
    asarray=np.asarray,
    array=np.array,
    array_of_floats=lambda x: np.array(x, dtype=np.float64),
    array_of_objects=lambda x: np.array(x, dtype=object).shape,
    array_of_two=lambda x: np.array([x, x]),
    ascontiguousarray=np.ascontiguousarray,
    atleast_2d=np.atleast_2d,
    frombuffer=lambda x: np.frombuffer(x, dtype=np.uint8).size,
    fromiter=lambda x: np.fromiter(x, dtype=np.float64),
    shape=np.shape,
    ndim=np.ndim,
    size=np.size,
    isscalar=np.isscalar,
    iscomplexobj=np.iscomplexobj,
    result_type=lambda x: str(np.result_type(x)),
    sqrt=np.sqrt,
    exp=np.exp,
    abs_=np.abs,
    isnan=np.isnan,
    add_a_number=lambda x: np.add(x, 1),
    add_itself=lambda x: np.add(x, x),
    maximum=lambda x: np.maximum(x, 1),
    greater=lambda x: np.greater(x, 1),
    sign=np.sign,
    floor=np.floor,
    array_plus=lambda x: np.ones(4) + x,
    plus_array=lambda x: x + np.ones(4),
    array_times=lambda x: np.full(4, 2.0, np.float32) * x,
    times_array=lambda x: x * np.full(4, 2.0, np.float32),
    scalar_times=lambda x: np.float64(2) * x,
    times_scalar=lambda x: x * np.float64(2),
    float32_minus=lambda x: np.float32(2) - x,
    integer_times=lambda x: np.int64(2) * x,
    divided_by=lambda x: x / np.float32(2),
    to_the_power=lambda x: x ** np.float64(2),
    compared_with_array=lambda x: x > np.ones(4),
    array_compared=lambda x: np.ones(4) < x,
    equals_array=lambda x: x == np.ones(4),
    matmul_array=lambda x: x @ np.ones(4, np.float32),
    array_matmul=lambda x: np.ones(4, np.float32) @ x,
    added=_added,
    put=_put,
    sum_=np.sum,
    mean=np.mean,
    std=np.std,
    max_=np.max,
    min_=np.amin,
    argmax=np.argmax,
    median=np.median,
    percentile=lambda x: np.percentile(x, 50),
    prod=np.prod,
    cumsum=np.cumsum,
    any_=np.any,
    all_=np.all,
    sort=np.sort,
    argsort=np.argsort,
    unique=np.unique,
    clip=lambda x: np.clip(x, 1, 2),
    round_=np.round,
    where=lambda x: np.where(x > 1, x, 0),
    nonzero=np.nonzero,
    concatenate=lambda x: np.concatenate([x, x]),
    stack=lambda x: np.stack([x, x]),
    hstack=lambda x: np.hstack([x, x]),
    vstack=lambda x: np.vstack((x, x)),
    append=lambda x: np.append(x, 1),
    reshape=lambda x: np.reshape(x, (2, -1)),
    transpose=np.transpose,
    squeeze=np.squeeze,
    expand_dims=lambda x: np.expand_dims(x, 0),
    ravel=np.ravel,
    tile=lambda x: np.tile(x, 2),
    repeat=lambda x: np.repeat(x, 2),
    roll=lambda x: np.roll(x, 1),
    flip=np.flip,
    diff=np.diff,
    dot=lambda x: np.dot(x, x),
    outer=lambda x: np.outer(x, x),
    norm=np.linalg.norm,
    interp=lambda x: np.interp(x, [0, 4], [0, 8]),
    histogram=lambda x: np.histogram(x, bins=2, range=(0, 4)),
    digitize=lambda x: np.digitize(x, [1, 2]),
    bincount=np.bincount,
    convolve=lambda x: np.convolve(x, [1, 1]),
    allclose=lambda x: np.allclose(x, x),
    array_equal=lambda x: np.array_equal(x, x),
    assert_allclose=lambda x: np.testing.assert_allclose(x, x),
    zeros_like=np.zeros_like,
    full_like=lambda x: np.full_like(x, 2),
    linspace=lambda x: np.linspace(0, x, 2).shape,
    meshgrid=lambda x: np.meshgrid(x, x),
    index_by_it=lambda x: np.arange(9)[x],
    index_a_mask=lambda x: np.arange(4)[x > 1],
    index_with_array=lambda x: x[np.array([1, 0])],
    index_with_mask=lambda x: x[np.array([True, False, True, False])],
    index_with_integer=lambda x: x[np.int64(1)],
    is_in=lambda x: np.isin(x, [1.5, 4]),
    choice=lambda x: np.random.default_rng(0).choice(x),
    permutation=lambda x: np.random.default_rng(0).permutation(x),
    normal=lambda x: np.random.default_rng(0).normal(x),
    save=_saved,
    savetxt=_text,
    text=np.array2string,
    vectorize=lambda x: np.vectorize(lambda v: float(v))(x),
    einsum=lambda x: np.einsum("i,i->", x, x),
    dtype_of_array=lambda x: np.ones(1, dtype=x.dtype),
    astype=lambda x: x.numpy().astype(np.float64),
    tolist=lambda x: x.tolist(),
    array_interface=lambda x: hasattr(x, "__array_interface__"),
    array_priority=lambda x: x.__array_priority__,
)
program.rows(
    ONES,
    number=lambda x: np.float64(x),
    single=lambda x: np.float32(x),
    integer=lambda x: np.int64(x),
    put_one=_put_one,
    index=lambda x: np.arange(9)[x],
    zeros_of_size=lambda x: np.zeros(x).shape,
    arange=lambda x: np.arange(x),
    isfinite=np.isfinite,
    array_of_numbers=lambda x: np.array([x, x]),
    mean_of_list=lambda x: np.mean([x, x]),
    sum_of_list=lambda x: np.sum([x, 1]),
    append_one=lambda x: np.append(np.ones(1), x),
    item=lambda x: x.item(),
    scalar_plus=lambda x: np.float64(1) + x,
    scalar_less=lambda x: np.float64(1) < x,
    full=lambda x: np.full(2, x),
    mean_of_items=lambda x: np.mean([v.item() for v in [x]]),
)
program.rows(
    TABLES,
    array_of_table=np.array,
    mean_of_columns=lambda x: np.mean(x, axis=0),
    max_of_rows=lambda x: np.max(x, axis=1),
    argmax_of_rows=lambda x: np.argmax(x, axis=1),
    matmul=lambda x: np.matmul(np.ones((1, 2), np.float32), x),
    cov=np.cov,
    corrcoef=np.corrcoef,
    svd=lambda x: np.linalg.svd(x, compute_uv=False),
    moveaxis=lambda x: np.moveaxis(x, 0, 1),
    swapaxes=lambda x: np.swapaxes(x, 0, 1),
    vstack_of_rows=lambda x: np.vstack([*x]),
    stack_of_rows=lambda x: np.stack([*x]),
    column_stack=lambda x: np.column_stack([*x]),
    pad=lambda x: np.pad(x, 1),
    split=lambda x: np.split(x, 2),
    take=lambda x: np.take(x, [0], axis=1),
    apply=lambda x: np.apply_along_axis(np.sum, 1, x),
)
