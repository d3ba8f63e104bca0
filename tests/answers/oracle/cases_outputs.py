"""``out=`` of another dtype than the result's: who casts, and who refuses in which words."""

from tests.tools.recorded.rows import Table, f32

TABLE = Table("outputs")
X = f32(3, 3).const

ONE = {
    **{
        name: lambda tn, x, name=name, **out: getattr(tn, name)(x, **out)
        for name in (
            "abs argmax ceil diag floor frac histc isneginf isposinf msort nan_to_num neg "
            "nonzero norm round sgn sign signbit tril triu trunc"
        ).split()
    },
    **{
        name: lambda tn, x, name=name, **out: getattr(tn, name)(x, x, **out)
        for name in "bucketize heaviside inner isin matmul mm searchsorted".split()
    },
    **{
        name: lambda tn, x, name=name, **out: getattr(tn, name)(x, 1, **out)
        for name in (
            "all amax any argmin cumsum diff float_power log_softmax logcumsumexp softmax sum"
        ).split()
    },
    **{
        f"linalg.{name}": lambda tn, x, name=name, **out: getattr(tn.linalg, name)(x, **out)
        for name in "det inv matrix_norm norm svdvals vector_norm".split()
    },
    "addbmm": lambda tn, x, **out: tn.addbmm(x, x[None], x[None], **out),
    "addmm": lambda tn, x, **out: tn.addmm(x, x, x, **out),
    "bitwise_not": lambda tn, x, **out: tn.bitwise_not(x > 0, **out),
    "cross": lambda tn, x, **out: tn.cross(x, x, dim=1, **out),
    "dot": lambda tn, x, **out: tn.dot(x[0], x[1], **out),
    "gather": lambda tn, x, **out: tn.gather(x, 0, (x * 0).long(), **out),
    "index_select": lambda tn, x, **out: tn.index_select(x, 0, tn.tensor([0]), **out),
    "linalg.multi_dot": lambda tn, x, **out: tn.linalg.multi_dot([x, x], **out),
    "linalg.solve_triangular": lambda tn, x, **out: tn.linalg.solve_triangular(
        x, x, upper=True, **out
    ),
    "linalg.vecdot": lambda tn, x, **out: tn.linalg.vecdot(x, x, **out),
    "linspace": lambda tn, x, **out: tn.linspace(x[0, 0], 1, 3, **out),
    "linspace-dtype": lambda tn, x, **out: tn.linspace(x[0, 0], 1, 3, dtype=tn.float32, **out),
    "masked_select": lambda tn, x, **out: tn.masked_select(x, x > 0, **out),
    "quantile": lambda tn, x, **out: tn.quantile(x, 0.5, **out),
    "take": lambda tn, x, **out: tn.take(x, tn.tensor([0]), **out),
    "add": lambda tn, x, **out: tn.add(x, 1, **out),
    "exp": lambda tn, x, **out: tn.exp(x, **out),
    "max-binary": lambda tn, x, **out: tn.max(x, x, **out),
    "mean": lambda tn, x, **out: tn.mean(x, 0, **out),
    "var": lambda tn, x, **out: tn.var(x, 0, **out),
}
SEVERAL = {
    "cummax": lambda tn, x, **out: tn.cummax(x, 0, **out),
    "frexp": lambda tn, x, **out: tn.frexp(x, **out),
    "histogram": lambda tn, x, **out: tn.histogram(x, 3, **out),
    "kthvalue": lambda tn, x, **out: tn.kthvalue(x, 1, **out),
    "linalg.qr": lambda tn, x, **out: tn.linalg.qr(x, **out),
    "max-dim": lambda tn, x, **out: tn.max(x, 0, **out),
    "mode": lambda tn, x, **out: tn.mode(x, **out),
    "sort": lambda tn, x, **out: tn.sort(x, **out),
    "topk": lambda tn, x, **out: tn.topk(x, 1, **out),
}


def attempt(call):
    """The dtype of a result, or the first sentence of its error."""
    try:
        return str(call().dtype).split(".")[1]
    except (RuntimeError, NotImplementedError) as error:
        text = str(error).replace("torch.", "tinynet.").split("\n")[0]
        return f"{type(error).__name__}: {text.split('. ')[0].rstrip('.')}"


def dtypes(tn):
    return tn.float64, tn.int32, tn.uint8


for _name, _call in ONE.items():
    TABLE.case(
        f"{_name}-out",
        lambda tn, x, call=_call: [
            attempt(lambda k=k: call(tn, x, out=tn.empty(0, dtype=k))) for k in dtypes(tn)
        ],
        X,
    )
for _name, _call in SEVERAL.items():
    TABLE.case(
        f"{_name}-out",
        lambda tn, x, call=_call: [
            attempt(lambda pair=pair: call(tn, x, out=[tn.empty(0, dtype=k) for k in pair])[0])
            for k in dtypes(tn)
            for pair in ((k, tn.int64), (tn.float32, k))
        ],
        X,
    )
