"""Python's own functions and standard library, given tensors."""

import csv
import io
import json
import math
import operator
import pickle
import random
import statistics
import struct
from collections import Counter, abc
from decimal import Decimal
from fractions import Fraction

from .matrix import ONES, TABLES, VECTORS, Matrix

program = Matrix(__name__)


def _row(x):
    file = io.StringIO()
    csv.writer(file).writerow(x)
    return file.getvalue()


program.rows(
    ONES,
    int=int,
    float=float,
    bool=bool,
    complex=lambda x: str(complex(x)),
    index=operator.index,
    length_hint=operator.length_hint,
    round=lambda x: round(x),
    round_to_digits=lambda x: round(x, 1),
    range=lambda x: len(range(x)),
    item_of_a_list=lambda x: "abcde"[x],
    times_a_list=lambda x: [0] * x,
    sqrt=math.sqrt,
    floor=math.floor,
    ceil=math.ceil,
    trunc=math.trunc,
    isnan=math.isnan,
    format=lambda x: f"{x:.2f}",
    format_plain=lambda x: f"{x:5}",
    percent=lambda x: operator.mod("%.1f %d", (x, x)),
    str=str,
    json=json.dumps,
    struct=lambda x: struct.pack("f", x).hex(),
    decimal=lambda x: str(Decimal(x)),
    fraction=lambda x: str(Fraction(x)),
    divmod=lambda x: list(divmod(x, 2)),
    power=lambda x: pow(x, 2),
    power_modulo=lambda x: pow(x, 2, 3),
    negative=lambda x: -x,
    invert=lambda x: ~x,
    absolute=abs,
    compare_with_none=lambda x: operator.eq(x, None),
    compare_with_text=lambda x: x == "a",
    compare_with_list=lambda x: x == [4],
    add_a_text=lambda x: x + "a",
    add_a_list=lambda x: x + [1],
    add_to_a_list=lambda x: [1] + x,
    and_one=lambda x: x and 1,
    ternary=lambda x: 1 if x else 0,
    chained=lambda x: 0 < x < 9,
    matmul=lambda x: x @ x,
    call=lambda x: x(),
    length=len,
    iterate_a_number=lambda x: [*x],
    first=lambda x: x[0],
    ellipsis=lambda x: x[...],
    none_index=lambda x: x[None],
    is_number=lambda x: isinstance(x, (int, float, complex)),
)
program.rows(
    VECTORS,
    sum=sum,
    maximum=max,
    minimum=min,
    sorted=sorted,
    reversed=lambda x: [*reversed(x)],
    iterate=lambda x: [*x],
    unpack=lambda x: [(a, b) for a, *b in [x]],
    enumerate=lambda x: [*enumerate(x)],
    zip=lambda x: [*zip(x, "ab", strict=False)],
    map=lambda x: [*map(float, x)],
    all_=all,
    any_=any,
    contains=lambda x: [1.5 in x, 9 in x],
    contains_text=lambda x: "a" in x,
    counted=lambda x: x.tolist().count(1.5),
    counter=lambda x: len(Counter(x)),
    hashed=lambda x: hash(x) == id(x),
    mean=statistics.mean,
    fsum=math.fsum,
    prod=math.prod,
    dist=lambda x: math.dist(x, x),
    choice=lambda x: random.Random(0).choice(x),
    sample=lambda x: len(random.Random(0).sample([*x], 1)),
    shuffle=lambda x: random.Random(0).shuffle([*x]),
    csv=_row,
    pickled=lambda x: pickle.loads(pickle.dumps(x)),
    list_equal=lambda x: [x] == [x],
    in_a_list=lambda x: x in [x],
    text=str,
    formatted=lambda x: f"{x}",
    formatted_with_width=lambda x: f"{x:>30}",
    protocols=lambda x: [
        isinstance(x, kind)
        for kind in (abc.Iterable, abc.Sized, abc.Sequence, abc.Hashable, abc.Container)
    ],
    bytes=bytes,
    memory=lambda x: memoryview(x).nbytes,
    slice_of_a_list=lambda x: list("abcde")[x[0] : x[1]],
    attributes=lambda x: [
        hasattr(x, n) for n in ("__array__", "__len__", "__cuda_array_interface__")
    ],
)
program.rows(
    TABLES,
    rows=lambda x: [*x],
    unzipped=lambda x: [*zip(*x, strict=True)],
    sum_of_rows=lambda x: sum(x),
    maximum_of_rows=max,
    dictionary=dict,
    starred=lambda x: [*map(max, x)],
)
