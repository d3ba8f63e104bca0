"""The code and the graphs of functions: names, operators, arguments, and what cannot be traced."""

from __future__ import annotations

import math
import operator
from collections import namedtuple
from dataclasses import dataclass
from math import sqrt

from tests.answers.fx.packages import fx_of, texts
from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, composition=False)
Pair = namedtuple("Pair", "a b")


@dataclass
class Record:
    left: object
    right: object


@program
def operators(T):
    def f(x, y):
        a = -x + ~y - (+x) * 2 / 3 // 4 % 5**x
        b = (x > 1) & (y <= 2) | (x == 3) ^ (y != 4)
        c = 1 + x, 2 - x, 3 * x, 4 / x, 5 // x, 6 % x, 7**x, 8 @ x, 9 << x, 10 >> x
        d = x @ y, x << 1, x >> 1, abs(x), x < y, x >= y, 3 < x
        x += 1
        x @= y
        return a, b, c, d, x

    code = texts(T, f)
    return locals()


@program
def indices_and_attributes(T):
    def f(x):
        a = x[0, :, None, ..., 1:2], x[x > 0], x["key"], x[x.size(0) - 1 :: 2]
        b, c = x.chunk(2, dim=-1)
        d = x.shape[0], x.shape[-2:], x.T.float().data, x.max(dim=1).values, T.max(x, 1)[1]
        e = x.new_zeros((2, x.size(1))).view(x.size(0), -1).permute(*[0, 1])
        return a, b + c, d, e

    code = texts(T, f)
    return locals()


@program
def arguments_and_results(T):
    def f(x, y: int = 2, z=None, *args, flag=True, **kwargs):
        values = [x, {"a": x, "b": (x, [y])}, (x,), slice(x, None, 2), range(3), None, True, 1e-3]
        others = "text", ..., T.float32, T.int64, float("inf"), float("-inf"), float("nan"), 1 + 2j
        where = x.to(T.device("cpu")), x.to(dtype=T.float16, device="cpu"), x.to(T.Size([1, 2]))
        return values, others, where, args, kwargs["k"], flag, Pair(x, 1)

    def g(x, /, lambda_=1, *, max=2):
        return x.sum() + lambda_ + max

    code, more = texts(T, f), texts(T, g)
    return locals()


@program
def data_classes_and_unpacking(T):
    def f(x, y):
        (a, b), c = x
        first, *rest = y.chunk(3)
        return Record(a, b), [*rest, c]

    def g(x, y):
        (a, b), c = x
        return Record(a + b, c), {y.sum()} and 0 < y

    refused = str(attempt(lambda: texts(T, f)))
    code = texts(
        T, lambda x, y: (Record(x, [y, 1]), [*x.split(2)][0]) if x is None else Record(x, 2)
    )
    chain = str(attempt(lambda: texts(T, g)))
    return locals()


@program
def annotations(T):
    def f(x, y=None):
        return x + 1

    f.__annotations__ = {"x": T.Tensor, "y": int, "return": T.Tensor}
    code = texts(T, f)
    return locals()


@program
def functions_of_layers(T):
    F = T.nn.functional

    def f(x, w):
        a = F.relu(x), F.relu(x, True), F.leaky_relu(x, 0.2), F.gelu(x), F.silu(x), F.elu(x)
        b = F.dropout(x), F.dropout(x, 0.3, training=False), F.softmax(x, dim=1), F.softplus(x)
        c = F.log_softmax(x, 1), F.sigmoid(x), F.tanh(x), F.hardtanh(x, -2.0, 2.0), F.mish(x)
        d = F.linear(x, w), F.linear(x, w, bias=None), F.conv2d(x, w, padding=1), F.conv1d(x, w)
        e = F.max_pool2d(x, 2), F.avg_pool2d(x, 3, stride=1), F.adaptive_avg_pool2d(x, (1, 1))
        g = F.max_pool2d(x, 2, return_indices=True), F.interpolate(x, scale_factor=2)
        h = F.cross_entropy(x, w), F.mse_loss(x, w), F.nll_loss(x, w, reduction="sum")
        i = F.batch_norm(x, w, w, training=True), F.layer_norm(x, (3,)), F.group_norm(x, 2)
        j = F.embedding(x, w), F.pad(x, (1, 1)), F.normalize(x, dim=-1), F.one_hot(x, 3)
        k = F.scaled_dot_product_attention(x, x, w, is_causal=True), F.cosine_similarity(x, w)
        m = F.pixel_shuffle(x, 2), F.unfold(x, 3), F.grid_sample(x, w), F.logsigmoid(x)
        n = F.threshold(x, 0.1, 20), F.threshold(x, 0.1, 20, True), F.glu(x), F.prelu(x, w)
        return a, b, c, d, e, g, h, i, j, k, m, n

    code = texts(T, f)
    return locals()


@program
def functions_of_tensors(T):
    def f(x, y):
        a = T.relu(x), T.cat([x, y], dim=1), T.stack((x, y)), T.flatten(x, 1), T.add(x, 1, alpha=2)
        b = T.einsum("ij,jk->ik", x, y), T.einsum("i,i", [x, y]), T.matmul(x, y), T.bmm(x, mat2=y)
        c = T.split(x, 2), T.split(x, [1, 2], 1), T.norm(x), T.norm(x, 2, 1), T.tensordot(x, y, 2)
        d = T.meshgrid(x, y, indexing="ij"), T.cdist(x, y), T.unique(x), T.where(x > 0, x, y)
        e = T.sum(x, dim=[0, 1], keepdim=True), T.mean(x), T.zeros_like(x), T.rand_like(x)
        g = T.linalg.norm(x), T.linalg.solve(x, y), T.fft.rfft(x), T.special.entr(x)
        h = T.clamp(x, min=0), T.transpose(x, 0, 1), T.squeeze(x, 0), T.chunk(x, 2), T.sigmoid(x)
        i = T.broadcast_tensors(x, y), T.atleast_2d(x), T.block_diag(x, y), T.zeros(x.size(0))
        return a, b, c, d, e, g, h, i

    code = texts(T, f)
    return locals()


@program
def tensors_of_the_program(T):
    constant, mask = T.ones(2, 2), T.eye(2)

    def f(x):
        a = constant + x, constant - x, x * constant, constant / x, constant // x, constant % x
        b = constant**x, constant @ x, constant > x, constant == x, constant[x], constant << x
        c = constant.add(x), T.add(constant, x), constant.masked_fill(x, 0), constant.to(x)
        d = T.where(mask > 0, x, constant), constant.view(x.size(0), -1), T.cat([constant, x])
        e = constant.clone()
        e[0] = x
        return a, b, c, d, e

    code = texts(T, f)
    return locals()


@program
def what_cannot_be_traced(T):
    fx = fx_of(T)

    def refused(f):
        error = attempt(lambda: fx.symbolic_trace(f))
        return type(error).__name__, str(error)

    branch = refused(lambda x: x if x > 0 else -x)
    both = refused(lambda x: x and 1)
    loop = refused(lambda x: [a for a in x])
    unpacked = refused(lambda x: print(*x))
    named = refused(lambda x: dict(**x))
    contained = refused(lambda x: 3 in x)
    length = refused(lambda x: len(x))
    whole = refused(lambda x: int(x))
    key = refused(lambda x: {x: 1})
    other = refused(lambda x: object())
    is_one = issubclass(fx_of(T, "proxy").TraceError, ValueError)
    return locals()


@program
def loops_and_branches_on_constants(T):
    def f(x, n, flag):
        for i in range(3):
            x = x * i if flag else x + i
        return sum([x, x, n]) if n is not None else x

    refused = str(attempt(lambda: texts(T, f)))
    special = texts(T, f, {"flag": False, "n": None})
    number = texts(T, f, {"flag": 2.5})
    by_position = texts(T, lambda x, n: x * n, (fx_of(T)._symbolic_trace.PH, 3))
    return locals()


@program
def nested_arguments(T):
    fx = fx_of(T)
    PH = fx_of(T, "_symbolic_trace").PH

    def f(x, d):
        return {"o": x + d["a"][0], "k": (x, d["b"])}

    traced = fx.symbolic_trace(f, concrete_args={"d": {"a": (PH,), "b": PH}})
    code, graph = traced.code, str(traced.graph)
    x = T.ones(2)
    result = traced(x, {"a": (x,), "b": x * 3})
    again = fx.Interpreter(traced).run(x, {"a": (x,), "b": x * 3})
    return locals()


@program
def functions_that_are_wrapped(T):
    fx = fx_of(T)
    names = {"math": math, "sqrt": sqrt, "operator": operator, "__name__": "program"}
    text = """
def doubled(x, k=1):
    return x * 2 * k

def f(x):
    return len(x) + doubled(x, k=2) + sqrt(x) + math.exp(x) + operator.add(x, 1) + doubled(1)
"""
    exec(text, names)
    names["wrap"] = fx.wrap
    exec("wrap('len'); wrap('doubled'); wrap(doubled)", names)
    code = texts(T, names["f"])
    wrong = str(attempt(lambda: fx.wrap(3)))
    inside = str(attempt(lambda: fx.wrap("len")))
    del names  # with all builtins
    return locals()
