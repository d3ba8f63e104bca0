"""scaled_dot_product_attention, multi_head_attention_forward and MultiheadAttention."""

from itertools import product

from tests.tools.recorded.layers import Table, f

TABLE = Table("attention")
INF = float("inf")


def library_of(x):
    return __import__(type(x).__module__.split(".")[0])


def identity(lib):
    return lib.nn.Identity()


def boolean(lib, rows):
    return lib.tensor(rows).bool()


# ---- scaled_dot_product_attention ----------------------------------------------------------------

KEEP = [[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 0]]
KEEP_NONE = [[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 0]]


def attend(keep=None, with_bias=False, **options):
    def call(_, query, key, value, bias=None):
        lib = library_of(query)
        mask = bias if keep is None else boolean(lib, keep)
        return lib.nn.functional.scaled_dot_product_attention(query, key, value, mask, **options)

    return call


def sdpa(name, *inputs, **options):
    """Rows with one batch dimension: PyTorch has second derivatives there."""
    second = options.pop("second", True)
    TABLE.layer(f"sdpa-{name}", identity, *inputs, call=attend(**options), second=second)


QKV = f(2, 3, 4), f(2, 5, 4), f(2, 5, 4)
BY_HEAD = f(2, 3, 3, 4), f(2, 3, 5, 4), f(2, 3, 5, 4)
sdpa("plain", *QKV)
sdpa("matrices", f(3, 4), f(5, 4), f(5, 2))
sdpa("causal", *QKV, is_causal=True)
sdpa("causal-more-queries", f(2, 5, 4), f(2, 3, 4), f(2, 3, 4), is_causal=True)
sdpa("scale", *QKV, scale=1.7)
sdpa("scale-0", *QKV, scale=0.0)
sdpa("keep", *QKV, keep=KEEP)
sdpa("keep-none", *QKV, keep=KEEP_NONE, second=False)  # PyTorch's are NaN
sdpa("bias", *QKV, f(3, 5))
sdpa("bias-batch", *QKV, f(2, 1, 5))
sdpa("bias-const", *QKV, f(3, 5).const)
sdpa("bias-minus-inf", *QKV, f(3, 5).of(0, -INF, 0, 1, -INF, 2, 0.5).const)
sdpa("bias-large", *QKV, f(3, 5).of(-900, 0, 800, 1, -1000, 2, 900).const)
sdpa("large", f(2, 3, 4).of(300, -20, 70, 0.3, 60), f(2, 5, 4), f(2, 5, 4))
sdpa("value-size", f(2, 3, 4), f(2, 5, 4), f(2, 5, 6))
sdpa("no-keys", f(2, 3, 4), f(2, 0, 4), f(2, 0, 4))
sdpa("no-queries", f(2, 0, 4), f(2, 5, 4), f(2, 5, 4))
sdpa("no-size", f(2, 3, 0), f(2, 5, 0), f(2, 5, 4))
sdpa("broadcast", f(2, 3, 4), f(1, 5, 4), f(5, 4))
sdpa("heads-value-size", *BY_HEAD[:2], f(2, 3, 5, 6))
for _name, _options in {
    "heads": {},
    "heads-causal": {"is_causal": True},
    "heads-keep": {"keep": KEEP},
    "heads-keep-none": {"keep": KEEP_NONE},
}.items():
    sdpa(_name, *BY_HEAD, **_options, second=False)  # PyTorch's flash attention has none
sdpa("heads-bias", *BY_HEAD, f(3, 1, 5), second=False)
sdpa("grouped", f(2, 4, 3, 4), f(2, 2, 5, 4), f(2, 2, 5, 4), enable_gqa=True, second=False)
sdpa("grouped-one", f(2, 4, 3, 4), f(2, 1, 5, 4), f(2, 2, 5, 4), enable_gqa=True, second=False)
sdpa("grouped-equal", *BY_HEAD, enable_gqa=True, second=False)


def refused(name, *shapes, mask=None, change=lambda lib, q, k, v: (q, k, v), **options):
    def program(lib):
        inputs = [lib.zeros(*shape) for shape in shapes]
        inputs = inputs * 3 if len(inputs) == 1 else inputs
        given = None if mask is None else mask(lib)
        return lib.nn.functional.scaled_dot_product_attention(
            *change(lib, *inputs), given, **options
        )

    TABLE.fails(f"sdpa-{name}", program)


refused("vectors", (5,))
refused("batch", (2, 3, 4, 5), (3, 3, 7, 5), (3, 3, 7, 5))
refused("heads", (2, 4, 3, 5), (2, 2, 3, 5), (2, 2, 3, 5))
refused("dtypes", (2, 3, 4), change=lambda lib, q, k, v: (q, k.double(), v.double()))
refused("integers", (2, 3, 4), change=lambda lib, q, k, v: (q.long(), k.long(), v.long()))
refused("mask-and-causal", (2, 3, 4), mask=lambda lib: lib.zeros(3, 3), is_causal=True)
refused("mask-integers", (2, 3, 4), mask=lambda lib: lib.zeros(3, 3).long())
refused("mask-double", (2, 3, 4), mask=lambda lib: lib.zeros(3, 3).double())
refused("mask-shape", (2, 3, 3, 4), mask=lambda lib: lib.zeros(3, 2))
refused("mask-dims", (2, 3, 3, 4), mask=lambda lib: lib.zeros(1, 2, 3, 3, 3))
refused("dropout", (2, 3, 4), dropout_p=1.5)
refused("grouped-matrices", (3, 4), enable_gqa=True)

# ---- MultiheadAttention --------------------------------------------------------------------------

OUT = [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]]
PADDED = [[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]]


def heads(**options):
    return lambda lib: lib.nn.MultiheadAttention(8, 2, **options)


def mask_of(lib, x, rows, kind):
    """A mask, of booleans or to be added."""
    if kind is None:
        return None
    out = boolean(lib, rows)
    return out if kind == "bool" else lib.zeros(*out.shape, dtype=x.dtype).masked_fill(out, -INF)


def cross(attn=None, padding=None, rows=OUT, **options):
    """Query, key and value; a batch of three where they have one."""

    def call(module, query, key, value):
        lib = library_of(query)
        padded = PADDED if query.ndim == 3 else PADDED[0]
        return module(
            query,
            key,
            value,
            mask_of(lib, query, padded, padding),
            attn_mask=mask_of(lib, query, rows, attn),
            **options,
        )

    return call


def to_itself(**options):
    call = cross(**options)
    return lambda module, x: call(module, x, x, x)


BUILDS = {
    "plain": {},
    "batch-first": {"batch_first": True},
    "no-bias": {"bias": False},
    "sizes": {"kdim": 6, "vdim": 10},
    "bias-kv": {"add_bias_kv": True},
    "zero": {"add_zero_attn": True},
    "all": {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True, "vdim": 10},
    "dropout": {"dropout": 0.5},
}
MASKS = {
    "": {},
    "-attn": {"attn": "bool"},
    "-attn-added": {"attn": "float"},
    "-padding": {"padding": "bool"},
    "-both": {"attn": "bool", "padding": "bool"},
    "-mixed": {"attn": "float", "padding": "bool"},
}
for (_name, _options), (_mask, _masks), _weights in product(
    BUILDS.items(), MASKS.items(), (True, False)
):
    if _mask and _name not in ("plain", "batch-first", "all"):
        continue
    _shape = (3, 4) if _options.get("batch_first") else (4, 3)
    _inputs = [
        f(*_shape, 8),
        f(*_shape, _options.get("kdim", 8)),
        f(*_shape, _options.get("vdim", 8)),
    ]
    _kept = {"train": False, "steps": False} if _name == "dropout" else {}
    TABLE.layer(
        f"MultiheadAttention-{_name}{_mask}{'' if _weights else '-fast'}",
        heads(**_options),
        *_inputs,
        call=cross(**_masks, need_weights=_weights),
        second=_weights,  # PyTorch's flash attention has none
        initial=not _mask,
        **_kept,
    )
for _name, _weights in product(("plain", "batch-first", "bias-kv", "no-bias"), (True, False)):
    _end = "" if _weights else "-fast"
    _call = to_itself(attn="bool", need_weights=_weights)
    _shape = (3, 4, 8) if _name == "batch-first" else (4, 3, 8)
    _build = heads(**BUILDS[_name])
    for _what, _x in (("self", f(*_shape)), ("unbatched", f(4, 8))):
        TABLE.layer(
            f"MultiheadAttention-{_name}-{_what}{_end}", _build, _x, call=_call, second=_weights
        )
_each = [OUT, OUT[::-1], OUT[1:] + OUT[:1], OUT, OUT, OUT[::-1]]
for _rows, _x, _weights in product((_each, OUT), (f(4, 3, 8), f(4, 8)), (True, False)):
    _dims = 3 if _rows is _each else 2
    TABLE.layer(
        f"MultiheadAttention-{_dims}d-mask-for-{len(_x.shape)}d{'' if _weights else '-fast'}",
        heads(),
        _x,
        call=to_itself(
            attn="bool",
            padding="bool",
            rows=_rows if len(_x.shape) == 3 or _rows is OUT else _each[:2],
            need_weights=_weights,
        ),
        second=_weights,
    )
TABLE.layer(
    "MultiheadAttention-each-head", heads(), f(4, 3, 8), call=to_itself(average_attn_weights=False)
)
TABLE.layer(
    "MultiheadAttention-keys-are-values", heads(), f(5, 3, 8), f(4, 3, 8),
    call=lambda module, query, key: module(query, key, key),
)  # fmt: skip
CAUSAL = [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
for _weights, _padding in product((True, False), (None, "bool")):
    TABLE.layer(
        f"MultiheadAttention-causal-{_weights}-{_padding}",
        heads(),
        f(4, 3, 8),
        call=to_itself(
            attn="bool", rows=CAUSAL, is_causal=True, need_weights=_weights, padding=_padding
        ),
        second=_weights,
    )
TABLE.layer(
    "MultiheadAttention-causal-hint",  # the mask that is given is not looked at
    heads(),
    f(4, 3, 8),
    call=to_itself(attn="bool", is_causal=True, need_weights=False),
    second=False,
)


def call_the_function(**options):
    def call(module, x):
        lib = library_of(x)
        return lib.nn.functional.multi_head_attention_forward(
            *(x, x, x, 8, 2, module.in_proj_weight, module.in_proj_bias, module.bias_k),
            *(module.bias_v, module.add_zero_attn, 0.5),
            *(module.out_proj.weight, module.out_proj.bias),
            training=False,
            **{k: v(lib, x, module) for k, v in options.items()},
        )

    return call


TABLE.layer("F-multi-head", heads(), f(4, 3, 8), call=call_the_function())
TABLE.layer(
    "F-multi-head-static",
    heads(),
    f(4, 3, 8),
    call=call_the_function(
        static_k=lambda lib, x, m: x[:2].reshape(2, 6, 4).transpose(0, 1),
        static_v=lambda lib, x, m: x[2:].reshape(2, 6, 4).transpose(0, 1) * 2,
    ),
)
TABLE.layer(
    "F-multi-head-separate",
    heads(),
    f(4, 3, 8),
    call=call_the_function(
        use_separate_proj_weight=lambda lib, x, m: True,
        q_proj_weight=lambda lib, x, m: m.in_proj_weight[:8],
        k_proj_weight=lambda lib, x, m: m.in_proj_weight[8:16],
        v_proj_weight=lambda lib, x, m: m.in_proj_weight[16:],
    ),
)

# ---- refusals ------------------------------------------------------------------------------------


def refused_heads(name, q=(4, 3, 8), k=(4, 3, 8), v=(4, 3, 8), options=None, **masks):
    """A row that calls MultiheadAttention(8, 2) on zeros."""

    def program(lib):
        module = lib.nn.MultiheadAttention(8, 2, **(options or {}))
        inputs = [lib.zeros(*shape) for shape in (q, k, v)]
        return module(*inputs, **{m: x(lib) if callable(x) else x for m, x in masks.items()})

    TABLE.fails(f"MultiheadAttention-{name}", program)


def ones(*shape):
    return lambda lib: lib.ones(*shape)


refused_heads("vector", (8,), (8,), (8,))
refused_heads("key-dims", k=(4, 8))
refused_heads("key-dims-unbatched", q=(4, 8))
refused_heads("padding-dims", key_padding_mask=ones(4))
refused_heads("padding-dims-unbatched", (4, 8), (4, 8), (4, 8), key_padding_mask=ones(4, 4))
refused_heads("attn-dims", attn_mask=ones(4))
refused_heads("attn-shape-unbatched", (4, 8), (4, 8), (4, 8), attn_mask=ones(3, 4, 4))
refused_heads("attn-shape", attn_mask=ones(4, 3))
refused_heads("attn-shape-3d", attn_mask=ones(3, 4, 4))
refused_heads("padding-batch", key_padding_mask=ones(4, 4))
refused_heads("padding-keys", key_padding_mask=ones(3, 3))
refused_heads("attn-integers", attn_mask=lambda lib: lib.ones(4, 4).long())
refused_heads("padding-integers", key_padding_mask=lambda lib: lib.ones(3, 4).long())
refused_heads("embedding", (4, 3, 6), (4, 3, 6), (4, 3, 6))
refused_heads("value-shape", v=(5, 3, 8))
refused_heads("value-shape-batch-first", v=(4, 5, 8), options={"batch_first": True})
refused_heads("value-steps", v=(5, 3, 10), options={"vdim": 10})
refused_heads("key-size", v=(4, 3, 10), k=(4, 3, 6), options={"vdim": 10})
refused_heads("causal-without-mask", is_causal=True)
TABLE.fails("MultiheadAttention-sizes", lambda lib: lib.nn.MultiheadAttention(0, 2))
TABLE.fails("MultiheadAttention-heads", lambda lib: lib.nn.MultiheadAttention(8, 3))
for _name, _values in {
    "packed": {"in_proj_weight": None},
    "query": {"use_separate_proj_weight": True},
    "key": {"use_separate_proj_weight": True, "q_proj_weight": ones(8, 8)},
    "embedding": {"embed_dim_to_check": 6},
    "num-heads": {"num_heads": 3},
}.items():

    def _program(lib, values=_values):
        names = "query key value embed_dim_to_check num_heads in_proj_weight in_proj_bias bias_k "
        names += "bias_v add_zero_attn dropout_p out_proj_weight out_proj_bias"
        x = lib.zeros(4, 3, 8)
        plain = [x, x, x, 8, 2, lib.zeros(24, 8), None, None, None, False, 0.0, lib.zeros(8, 8)]
        given = dict(zip(names.split(), [*plain, None], strict=True))
        given |= {k: v(lib) if callable(v) else v for k, v in values.items()}
        return lib.nn.functional.multi_head_attention_forward(**given)

    TABLE.fails(f"F-multi-head-{_name}", _program)
