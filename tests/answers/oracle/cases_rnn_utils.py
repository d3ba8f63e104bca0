"""Packed and padded sequences: `nn.utils.rnn`."""

import numpy as np

from tests.tools.recorded.rows import Table

TABLE = Table("rnn_utils", composition=False)


def numbered(lib, *shape):
    return lib.arange(1, 1 + int(np.prod(shape))).reshape(*shape).to(lib.float64)


def packs(lib, x, lengths, **options):
    return lib.nn.utils.rnn.pack_padded_sequence(x, lengths, **options)


def several(lib, *lengths, width=()):
    return [numbered(lib, n, *width) * 10**k for k, n in enumerate(lengths)]


def gradient(lib, x, run):
    """What `run` returns, and the gradient of it."""
    x = x.requires_grad_()
    made = run(x)
    weights = numbered(lib, *made.shape) ** 2
    return [made, *lib.autograd.grad((made * weights).sum(), x)]


def rnn_of(lib):
    return lib.nn.utils.rnn


LENGTHS = [3, 1, 2]
CALLS = {
    "pack": lambda lib: packs(lib, numbered(lib, 3, 4, 2), [3, 3, 2, 1]),
    "pack-tensor": lambda lib: packs(lib, numbered(lib, 3, 2), lib.tensor([2, 2])),
    "pack-int32": lambda lib: packs(lib, numbered(lib, 3, 2), lib.tensor([2, 2]).int()),
    "pack-fractions": lambda lib: packs(lib, numbered(lib, 3, 2), lib.tensor([2.7, 1.2])),
    "pack-short": lambda lib: packs(lib, numbered(lib, 3, 2), [1, 1]),
    "pack-batch-first": lambda lib: packs(lib, numbered(lib, 2, 3), [3, 2], batch_first=True),
    "pack-any-order": lambda lib: packs(lib, numbered(lib, 3, 3), LENGTHS, enforce_sorted=False),
    "pack-ties": lambda lib: packs(
        lib, numbered(lib, 2, 5, 1), [1, 2, 2, 1, 2], enforce_sorted=False
    ),
    "pack-gradient": lambda lib: gradient(
        lib, numbered(lib, 3, 3, 2), lambda x: packs(lib, x, LENGTHS, enforce_sorted=False).data
    ),
    "pack-unsorted!": lambda lib: packs(lib, numbered(lib, 2, 2), [1, 2]),
    "pack-count!": lambda lib: packs(lib, numbered(lib, 2, 3), [2, 2]),
    "pack-zero!": lambda lib: packs(lib, numbered(lib, 2, 2), [2, 0]),
    "pack-matrix!": lambda lib: packs(lib, numbered(lib, 2, 2), [[2, 1]]),
    "pack-vector!": lambda lib: packs(lib, numbered(lib, 3), [1]),
    "pack-empty!": lambda lib: packs(lib, lib.zeros(2, 0, 3), []),
    "pad-packed": lambda lib: rnn_of(lib).pad_packed_sequence(
        packs(lib, numbered(lib, 3, 3, 2), LENGTHS, enforce_sorted=False)
    ),
    "pad-packed-options": lambda lib: rnn_of(lib).pad_packed_sequence(
        packs(lib, numbered(lib, 3, 2), [2, 1]), True, -1.5, 4
    ),
    "pad-packed-gradient": lambda lib: gradient(
        lib,
        numbered(lib, 6, 2),
        lambda x: rnn_of(lib).pad_packed_sequence(
            rnn_of(lib).PackedSequence(x, lib.tensor([3, 2, 1]), lib.tensor([2, 0, 1]))
        )[0],
    ),
    "pad-packed-total!": lambda lib: rnn_of(lib).pad_packed_sequence(
        packs(lib, numbered(lib, 3, 2), [2, 1]), total_length=1
    ),
    "pad": lambda lib: rnn_of(lib).pad_sequence(several(lib, 2, 3, 1)),
    "pad-left": lambda lib: rnn_of(lib).pad_sequence(several(lib, 2, 3), True, 5.0, "left"),
    "pad-wide": lambda lib: rnn_of(lib).pad_sequence(several(lib, 2, 3, width=(2, 2))),
    "pad-empty-one": lambda lib: rnn_of(lib).pad_sequence(several(lib, 0, 2)),
    "pad-tensor": lambda lib: rnn_of(lib).pad_sequence(numbered(lib, 2, 3)),
    "pad-generator": lambda lib: rnn_of(lib).pad_sequence(x for x in several(lib, 1, 2)),
    "pad-first-decides": lambda lib: rnn_of(lib).pad_sequence(
        [lib.tensor([1, 2]), lib.tensor([0.5])], padding_value=2.5
    ),
    "pad-broadcast": lambda lib: rnn_of(lib).pad_sequence(
        [numbered(lib, 2, 3), numbered(lib, 1, 1)]
    ),
    "pad-gradient": lambda lib: gradient(
        lib, numbered(lib, 4), lambda x: rnn_of(lib).pad_sequence([x[:1], x[1:], x[2:3]])
    ),
    "pad-none!": lambda lib: rnn_of(lib).pad_sequence([]),
    "pad-shapes!": lambda lib: rnn_of(lib).pad_sequence([lib.zeros(2, 3), lib.zeros(2, 4)]),
    "pad-dims!": lambda lib: rnn_of(lib).pad_sequence([lib.ones(3), lib.ones(2, 2)]),
    "pad-side!": lambda lib: rnn_of(lib).pad_sequence([lib.zeros(2)], padding_side="up"),
    "pad-number!": lambda lib: rnn_of(lib).pad_sequence(3),
    "pad-numbers!": lambda lib: rnn_of(lib).pad_sequence([1, 2]),
    "pack-sequence": lambda lib: rnn_of(lib).pack_sequence(several(lib, 3, 2, 2)),
    "pack-sequence-any-order": lambda lib: rnn_of(lib).pack_sequence(several(lib, 1, 3), False),
    "pack-sequence-unsorted!": lambda lib: rnn_of(lib).pack_sequence(several(lib, 1, 3)),
    "pack-sequence-none!": lambda lib: rnn_of(lib).pack_sequence([]),
    "unpack": lambda lib: rnn_of(lib).unpack_sequence(
        rnn_of(lib).pack_sequence(several(lib, 1, 3, 2, width=(2,)), False)
    ),
    "unpad": lambda lib: rnn_of(lib).unpad_sequence(numbered(lib, 3, 2), lib.tensor([3, 1])),
    "unpad-batch-first": lambda lib: rnn_of(lib).unpad_sequence(
        numbered(lib, 2, 3, 2), lib.tensor([2, 0]), batch_first=True
    ),
    "invert": lambda lib: rnn_of(lib).invert_permutation(lib.tensor([3, 0, 2, 1])),
    "packed-pair": lambda lib: rnn_of(lib).PackedSequence((lib.ones(3), lib.tensor([2, 1]))),
    "packed-sorted": lambda lib: rnn_of(lib).PackedSequence(
        lib.ones(3), lib.tensor([2, 1]), lib.tensor([1, 0])
    ),
    "packed-dtypes": lambda lib: [
        getattr(packs(lib, numbered(lib, 2, 2), [2, 1]), name)().data
        for name in "double float half long int short char byte".split()
    ],
    "packed-no-pair!": lambda lib: rnn_of(lib).PackedSequence(lib.ones(3)),
}


def fields(call):
    """Return a call whose result shows what a packed sequence consists of."""

    def shown(tn):
        made = call(tn)
        return made._asdict() if hasattr(made, "batch_sizes") else made

    return shown


for _name, _call in CALLS.items():
    add = TABLE.fails if _name.endswith("!") else TABLE.case
    add(_name.removesuffix("!"), fields(_call))
