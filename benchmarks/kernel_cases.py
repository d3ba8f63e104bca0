"""The points of the sweeps other than convolutions."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

Timed = Callable[[], object]
Point = tuple[str, Callable[[Any], dict[str, Timed]]]


def _case(name: str, make: Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]) -> Point:
    """Return a point whose function and arguments ``make`` builds; its directions are timed.

    The arguments that require grad take part in one backward pass.
    """

    def build(tn: Any) -> dict[str, Timed]:
        tn.manual_seed(0)
        function, arguments = make(tn)
        found = {"forward": tn.no_grad()(lambda: function(*arguments))}
        leaves = [x for x in arguments if isinstance(x, tn.Tensor) and x.requires_grad]
        if leaves:
            y = function(*arguments)
            y = y[0] if isinstance(y, tuple) else y
            g = tn.ones_like(y)
            found["gradients"] = lambda: tn.autograd.grad(y, leaves, g, retain_graph=True)
        return found

    return name, build


def _noise(tn: Any, *shape: int) -> Any:
    return tn.empty(*shape).normal_().requires_grad_()


def _of(name: str, function: Callable[..., Any], *inputs: Any) -> Point:
    """Return a point of ``function(tn, *tensors)``.

    The tensors are of the given shapes and require grad; a callable makes one that does not.
    """

    def make(tn: Any) -> Any:
        tensors = [x(tn) if callable(x) else _noise(tn, *x) for x in inputs]
        return lambda *arguments: function(tn, *arguments), tuple(tensors)

    return _case(name, make)


def _functional(name: str, shape: tuple[int, ...], *arguments: Any) -> Point:
    """Return a point of a function in ``nn.functional`` of one array."""

    def function(tn: Any, x: Any) -> Any:
        return getattr(tn.nn.functional, name)(x, *arguments)

    told = ", ".join(map(str, arguments))
    return _of(f"{name}({told}) of {list(shape)}", function, shape)


def _indices(high: int, *shape: int) -> Callable[[Any], Any]:
    return lambda tn: tn.randint(0, high, shape)


def pooling() -> Iterator[Point]:
    """Yield windows of several sizes, strides and kinds."""
    sizes = (1, 512, 8), (8, 64, 16), (8, 3, 64), (32, 16, 32), (128, 64, 8)
    windows = (2, 2), (3, 2), (3, 1), (5, 1), (7, 7), (2, 1)
    for (n, c, size), kind in itertools.product(sizes, ("max", "avg")):
        shape = n, c, size, size
        for window in windows:
            yield _functional(f"{kind}_pool2d", shape, *window)
        for target in (1, 4, 7):
            yield _functional(f"adaptive_{kind}_pool2d", shape, target)


def normalization() -> Iterator[Point]:
    """Yield norms over rows, channels and groups."""
    for rows, width in (1, 128), (32, 64), (512, 256), (2048, 768):
        for name in "layer_norm", "rms_norm":
            yield _functional(name, (rows, width), (width,))
    for n, c, size in (1, 64, 32), (8, 16, 64), (32, 64, 16), (64, 256, 4):
        shape = n, c, size, size
        yield _functional("batch_norm", shape, None, None, None, None, True)
        yield _functional("group_norm", shape, 8)
        yield _functional("instance_norm", shape)


def attention() -> Iterator[Point]:
    """Yield several lengths, heads and masks, and single queries with cached keys."""
    sizes = (8, 4, 64, 64), (2, 8, 256, 256), (32, 4, 16, 16), (1, 4, 1024, 1024)
    steps = (1, 12, 1, 16), (1, 12, 1, 128), (1, 12, 1, 1024), (8, 4, 1, 64), (1, 12, 4, 256)
    for (batch, heads, queries, keys), causal in itertools.product(sizes + steps, (False, True)):
        if causal and queries < keys:
            continue

        def function(tn: Any, *inputs: Any, causal: bool = causal) -> Any:
            return tn.nn.functional.scaled_dot_product_attention(*inputs, is_causal=causal)

        shapes = [(batch, heads, n, 32) for n in (queries, keys, keys)]
        told = f"{batch} x {heads} heads, {queries} of {keys}{', causal' * causal}"
        yield _of(f"attention({told})", function, *shapes)


def indexing() -> Iterator[Point]:
    """Yield rows and elements that are read, written and added."""
    for n, edges, width in (2708, 10556, 8), (2708, 10556, 64), (10000, 512, 64), (64, 4096, 1):
        told = f"{edges} of [{n}, {width}]"
        at = _indices(n, edges)
        yield _of(f"x[i], {told}", lambda tn, x, i: x[i], (n, width), at)
        yield _of(f"embedding, {told}", _embedding, (n, width), at)
        yield _of(f"index_select, {told}", lambda tn, x, i: x.index_select(0, i), (n, width), at)
        yield _of(
            f"index_add, {told}",
            lambda tn, x, i, y: x.index_add(0, i, y),
            (n, width),
            at,
            (edges, width),
        )
        yield _of(
            f"scatter_add, {told}",
            lambda tn, x, i, y: x.scatter_add(0, i[:, None].expand_as(y), y),
            (n, width),
            at,
            (edges, width),
        )
        yield _of(f"sparse.mm, {told}", _sparse(n), (n, width), _indices(n, 2, edges), (edges,))
    yield _of("gather", lambda tn, x, i: x.gather(1, i), (256, 1000), _indices(1000, 256, 16))
    yield _of("x[mask]", lambda tn, x, m: x[m == 0], (1000, 1000), _indices(2, 1000, 1000))


def _embedding(tn: Any, weight: Any, index: Any) -> Any:
    return tn.nn.functional.embedding(index, weight)


def _sparse(n: int) -> Callable[..., Any]:
    def function(tn: Any, dense: Any, index: Any, values: Any) -> Any:
        return tn.sparse.mm(tn.sparse_coo_tensor(index, values, (n, n)), dense)

    return function


def rows() -> Iterator[Point]:
    """Yield products of few rows and of many small matrices, and operations on rows."""
    for n, (inputs, outputs) in itertools.product((1, 2, 4, 8), ((128, 128), (768, 3072))):
        shapes = (n, inputs), (outputs, inputs), (outputs,)
        told = f"{n} rows, {inputs} to {outputs}"
        yield _of(f"linear({told})", lambda tn, *x: tn.nn.functional.linear(*x), *shapes)
    for batch, n, m, p in (512, 8, 8, 8), (512, 1, 64, 32), (64, 16, 64, 16):
        told = f"{batch} of {n} x {m} x {p}"
        yield _of(f"bmm({told})", lambda tn, a, b: tn.bmm(a, b), (batch, n, m), (batch, m, p))
    for shape in (1, 50000), (64, 1000), (1000, 1000):
        for name in "softmax", "log_softmax":
            yield _functional(name, shape, -1)
        for name in "leaky_relu", "elu", "gelu", "silu":
            yield _functional(name, shape)
        yield _of(f"sort of {list(shape)}", lambda tn, x: x.sort(-1), shape)
        yield _of(f"topk of {list(shape)}", lambda tn, x: x.topk(40), shape)
        yield _of(f"cumsum of {list(shape)}", lambda tn, x: x.cumsum(-1), shape)
        yield _of(f"roll of {list(shape)}", lambda tn, x: x.roll(1, -1), shape)
        yield _of(f"cat of {list(shape)}", lambda tn, x, y: tn.cat((x, y), -1), shape, shape)


def distributions() -> Iterator[Point]:
    """Yield a sample and its log probability, of one row and of many."""
    for n in 1, 256:
        yield _of(f"Categorical, {n} rows", _categorical, (n, 4))
        yield _of(f"Normal, {n} rows", _normal, (n, 2), (n, 2))


def _categorical(tn: Any, logits: Any) -> Any:
    chosen = tn.distributions.Categorical(logits=logits)
    return chosen.log_prob(chosen.sample())


def _normal(tn: Any, mean: Any, deviation: Any) -> Any:
    chosen = tn.distributions.Normal(mean, deviation.exp())
    return chosen.log_prob(chosen.sample())


def functions() -> Iterator[Point]:
    """Yield distances, bags of rows, special functions, remainders, equations and transforms."""
    for n, width in (8, 8), (64, 256), (500, 64):
        for p in 1.0, 2.0, 3.0:
            yield _functional("pdist", (n, width), p)
            shapes = (n, width), (n, width)
            yield _of(f"cdist({p}) of {[n, width]}", lambda tn, *x, p=p: tn.cdist(*x, p), *shapes)
    for bags, length, width in (4, 4, 8), (64, 32, 64), (512, 32, 64):
        told = f"embedding_bag, {bags} x {length} of [10000, {width}]"
        yield _of(told, _embedding_bag, (10000, width), _indices(10000, bags, length))
    for steps, batch, classes, labels in (12, 2, 8, 4), (50, 16, 20, 10), (200, 8, 50, 40):
        told = f"ctc_loss, {steps} steps, {batch} x {labels} labels"
        targets = _indices(classes - 1, batch, labels)
        yield _of(told, _ctc_loss, (steps, batch, classes), targets)
    for shape in (8, 8), (64, 256), (1000, 1000):
        for name in "lgamma", "digamma", "tril":
            yield _of(f"{name} of {[*shape]}", lambda tn, x, f=name: getattr(tn, f)(x), shape)
        for name in "remainder", "fmod":
            yield _of(f"{name} of {[*shape]}", lambda tn, x, f=name: getattr(tn, f)(x, 0.7), shape)
        for equation in "ij,kj->ik", "ij,ij->i":
            told = f"einsum({equation}) of {[*shape]}"
            yield _of(told, lambda tn, *x, e=equation: tn.einsum(e, *x), shape, shape)
        yield _of(f"fft of {[*shape]}", lambda tn, x: tn.fft.fft(x).abs(), shape)
        yield _of(f"var of {[*shape]}", lambda tn, x: x.var(-1), shape)
        yield _functional("group_norm", shape, 4)


def _embedding_bag(tn: Any, weight: Any, index: Any) -> Any:
    return tn.nn.functional.embedding_bag(index, weight, mode="sum")


def _ctc_loss(tn: Any, scores: Any, targets: Any) -> Any:
    lengths = [tn.full((scores.shape[1],), n) for n in (len(scores), targets.shape[1])]
    return tn.nn.functional.ctc_loss(scores.log_softmax(-1), targets + 1, *lengths)


FAMILIES: dict[str, Callable[[], Iterator[Point]]] = {
    "pooling": pooling,
    "normalization": normalization,
    "attention": attention,
    "indexing": indexing,
    "rows": rows,
    "distributions": distributions,
    "functions": functions,
}
