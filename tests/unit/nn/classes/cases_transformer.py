"""The encoder and decoder layers, stacks of them, and Transformer."""

from itertools import product

from tests.tools.recorded.layers import Table, f

from .cases_attention import CAUSAL, OUT, PADDED, boolean, library_of, mask_of

TABLE = Table("transformer")

# Dropout would be random; the initialisation is compared once per class.
SMALL = {"dim_feedforward": 12, "dropout": 0.0}
OPTIONS = {
    "plain": {},
    "norm-first": {"norm_first": True},
    "batch-first": {"batch_first": True},
    "gelu": {"activation": "gelu"},
    "no-bias": {"bias": False, "norm_first": True, "batch_first": True},
    "eps": {"layer_norm_eps": 0.5},
}
# PyTorch's flash attention has no second derivative.
FIRST = {"second": False}


def masked(*names, kind="bool", rows=OUT, causal=None):
    """A call with masks: `names` are those of the attention masks and of the padding masks."""

    def call(module, *inputs):
        lib = library_of(inputs[0])
        given = {}
        for name in names:
            shown = PADDED if "padding" in name else rows
            given[name] = mask_of(lib, inputs[0], shown, kind)
        if causal is not None:
            given[causal] = True
        return module(*inputs, **given)

    return call


def shaped(options, steps=4):
    return f(3, steps, 8) if options.get("batch_first") else f(steps, 3, 8)


# ---- layers --------------------------------------------------------------------------------------

for name, options in OPTIONS.items():
    source, target = shaped(options), shaped(options, 5)
    encoder = lambda lib, o=options: lib.nn.TransformerEncoderLayer(8, 2, **SMALL, **o)  # noqa: E731
    decoder = lambda lib, o=options: lib.nn.TransformerDecoderLayer(8, 2, **SMALL, **o)  # noqa: E731
    shown = {"initial": name in ("plain", "no-bias"), **FIRST}
    TABLE.layer(f"TransformerEncoderLayer-{name}", encoder, source, **shown)
    TABLE.layer(f"TransformerDecoderLayer-{name}", decoder, target, source, **shown)
    for kind in ("bool", "float"):
        TABLE.layer(
            f"TransformerEncoderLayer-{name}-{kind}",
            encoder,
            source,
            call=masked("src_mask", "src_key_padding_mask", kind=kind),
            initial=False,
            **FIRST,
        )
        TABLE.layer(
            f"TransformerDecoderLayer-{name}-{kind}",
            decoder,
            shaped(options),
            source,
            call=masked(
                "tgt_mask",
                "tgt_key_padding_mask",
                "memory_mask",
                "memory_key_padding_mask",
                kind=kind,
            ),
            initial=False,
            **FIRST,
        )


def encoder_layer(lib, **options):
    return lib.nn.TransformerEncoderLayer(8, 2, **(SMALL | options))


def decoder_layer(lib, **options):
    return lib.nn.TransformerDecoderLayer(8, 2, **(SMALL | options))


QUIET = {"initial": False, **FIRST}
TABLE.layer("TransformerEncoderLayer-unbatched", encoder_layer, f(4, 8), **QUIET)
TABLE.layer("TransformerDecoderLayer-unbatched", decoder_layer, f(5, 8), f(4, 8), **QUIET)
TABLE.layer(
    "TransformerEncoderLayer-module",
    lambda lib: encoder_layer(lib, activation=lib.nn.SiLU()),
    f(4, 3, 8),
    **QUIET,
)
TABLE.layer(
    "TransformerEncoderLayer-function",
    lambda lib: encoder_layer(lib, activation=lib.nn.functional.silu),
    f(4, 3, 8),
    **QUIET,
)
TABLE.layer(
    "TransformerEncoderLayer-causal",
    encoder_layer,
    f(4, 3, 8),
    call=masked("src_mask", rows=CAUSAL, causal="is_causal"),
    **QUIET,
)
TABLE.layer(
    "TransformerDecoderLayer-causal",
    decoder_layer,
    f(4, 3, 8),
    f(4, 3, 8),
    call=masked("tgt_mask", rows=CAUSAL, causal="tgt_is_causal"),
    **QUIET,
)
TABLE.layer(
    "TransformerEncoderLayer-dropout",
    lambda lib: encoder_layer(lib, dropout=0.5),
    f(4, 3, 8),
    train=False,
    steps=False,
    **QUIET,
)
TABLE.layer(
    "TransformerEncoderLayer-defaults",
    lambda lib: lib.nn.TransformerEncoderLayer(4, 1),
    f(2, 1, 4),
    train=False,
    steps=False,
    **QUIET,
)

# ---- stacks --------------------------------------------------------------------------------------


def encoder(lib, norm=True, **options):
    last = lib.nn.LayerNorm(8) if norm else None
    return lib.nn.TransformerEncoder(encoder_layer(lib, **options), 2, last)


def decoder(lib, norm=True, **options):
    last = lib.nn.LayerNorm(8) if norm else None
    return lib.nn.TransformerDecoder(decoder_layer(lib, **options), 2, last)


for norm, batch_first in product((True, False), (True, False)):
    name = f"{'norm' if norm else 'plain'}{'-batch-first' if batch_first else ''}"
    o = {"norm": norm, "batch_first": batch_first}
    TABLE.layer(
        f"TransformerEncoder-{name}", lambda lib, o=o: encoder(lib, **o), shaped(o), **QUIET
    )
    TABLE.layer(
        f"TransformerDecoder-{name}",
        lambda lib, o=o: decoder(lib, **o),
        shaped(o, 5),
        shaped(o),
        **QUIET,
    )
for rows, kind in product((OUT, CAUSAL), ("bool", "float")):
    name = f"{'causal' if rows is CAUSAL else 'mask'}-{kind}"
    call = masked("mask", kind=kind, rows=rows)
    TABLE.layer(f"TransformerEncoder-{name}", encoder, f(4, 3, 8), call=call, **QUIET)
    TABLE.layer(f"TransformerEncoder-{name}-unbatched", encoder, f(4, 8), call=call, **QUIET)
    call = masked("mask", "src_key_padding_mask", kind=kind, rows=rows)
    TABLE.layer(f"TransformerEncoder-{name}-padding", encoder, f(4, 3, 8), call=call, **QUIET)
    call = masked("tgt_mask", "memory_mask", kind=kind, rows=rows)
    TABLE.layer(f"TransformerDecoder-{name}", decoder, f(4, 3, 8), f(4, 3, 8), call=call, **QUIET)
TABLE.layer(
    "TransformerDecoder-padding",
    decoder,
    f(4, 3, 8),
    f(4, 3, 8),
    call=masked("tgt_key_padding_mask", "memory_key_padding_mask"),
    **QUIET,
)


def transformer(lib, **options):
    return lib.nn.Transformer(8, 2, 2, 1, **(SMALL | options))


for name, options in OPTIONS.items():
    TABLE.layer(
        f"Transformer-{name}",
        lambda lib, o=options: transformer(lib, **o),
        shaped(options),
        shaped(options, 5),
        initial=name == "plain",
        **FIRST,
    )
TABLE.layer("Transformer-unbatched", transformer, f(4, 8), f(5, 8), **QUIET)
TABLE.layer(
    "Transformer-masks",
    transformer,
    f(4, 3, 8),
    f(4, 3, 8),
    call=masked(
        "src_mask",
        "tgt_mask",
        "memory_mask",
        "src_key_padding_mask",
        "tgt_key_padding_mask",
        "memory_key_padding_mask",
    ),
    **QUIET,
)
TABLE.layer(
    "Transformer-causal",
    transformer,
    f(4, 3, 8),
    f(4, 3, 8),
    call=masked("tgt_mask", rows=CAUSAL, kind="float"),
    **QUIET,
)
TABLE.layer(
    "Transformer-custom",
    lambda lib: transformer(
        lib, custom_encoder=encoder(lib, norm=False), custom_decoder=decoder(lib, norm=False)
    ),
    f(4, 3, 8),
    f(5, 3, 8),
    **QUIET,
)
TABLE.layer(
    "Transformer-mask",
    lambda lib: lib.nn.Identity(),
    f(4, 4),
    call=lambda _, x: (
        library_of(x).nn.Transformer.generate_square_subsequent_mask(4).to(x.dtype) + x
    ),
)

# ---- refusals ------------------------------------------------------------------------------------

TABLE.fails("TransformerEncoderLayer-activation", lambda lib: encoder_layer(lib, activation="x"))
TABLE.fails("TransformerDecoderLayer-activation", lambda lib: decoder_layer(lib, activation="x"))
TABLE.fails("TransformerEncoderLayer-heads", lambda lib: lib.nn.TransformerEncoderLayer(8, 3))
TABLE.fails(
    "TransformerEncoderLayer-mask",
    lambda lib: encoder_layer(lib)(lib.zeros(4, 3, 8), lib.ones(4, 4).long()),
)
TABLE.fails(
    "TransformerEncoderLayer-padding",
    lambda lib: encoder_layer(lib)(lib.zeros(4, 3, 8), src_key_padding_mask=lib.ones(3, 4).long()),
)
TABLE.fails(
    "TransformerEncoder-mask",
    lambda lib: encoder(lib)(lib.zeros(4, 3, 8), lib.ones(4, 4).long()),
)
TABLE.fails(
    "TransformerEncoderLayer-causal",
    lambda lib: encoder_layer(lib)(lib.zeros(4, 3, 8), is_causal=True),
)
TABLE.fails(
    "TransformerEncoderLayer-mask-shape",
    lambda lib: encoder_layer(lib)(lib.zeros(4, 3, 8), boolean(lib, OUT[:3])),
)
TABLE.fails(
    "Transformer-batch", lambda lib: transformer(lib)(lib.zeros(4, 3, 8), lib.zeros(4, 2, 8))
)
TABLE.fails(
    "Transformer-batch-first",
    lambda lib: transformer(lib, batch_first=True)(lib.zeros(4, 3, 8), lib.zeros(3, 3, 8)),
)
TABLE.fails(
    "Transformer-size", lambda lib: transformer(lib)(lib.zeros(4, 3, 8), lib.zeros(4, 3, 6))
)
