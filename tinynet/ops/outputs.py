"""What operations want of ``out=`` beyond room for their results."""

from __future__ import annotations

from collections.abc import Callable

from tinynet.core.out import DEMANDS, Demand
from tinynet.dtypes import Array
from tinynet.ops.refuse import c_name, name_of


def _expected(result: Array, out: Array) -> str:
    return f"Expected out tensor to have dtype {c_name(result)}, but got {c_name(out)} instead"


def _matching(result: Array, out: Array) -> str:
    return (
        f"Expected the dtype for input and out to match, but got {name_of(result)} for input's "
        f"dtype and {name_of(out)} for out's dtype."
    )


def _of_take(result: Array, out: Array) -> str:
    return (
        "take(): self and out expected to have the same dtype, but got self.dtype = "
        f"{name_of(result)} and out.dtype = {name_of(out)}"
    )


def _same(name: str) -> Callable[[Array, Array], str]:
    return lambda result, out: f"{name}(): self and result must have the same scalar type"


DEMANDS.update(
    amax=Demand(texts=(_matching,)),
    amin=Demand(texts=(_matching,)),
    aminmax=Demand(texts=(_expected,)),
    arange=Demand(by_count=True),
    cat=Demand(apart=True),
    cumprod=Demand(inside=True, texts=(_expected,)),
    cumsum=Demand(inside=True, texts=(_expected,)),
    gather=Demand(apart=True, texts=(_expected,)),
    index_select=Demand(apart=True, texts=(_same("index_select"),)),
    kthvalue=Demand(
        apart=True,
        texts=(
            lambda result, out: "output values must be of same type as input",
            lambda result, out: f"output indices must be of scalar type {name_of(result)}",
        ),
    ),
    linspace=Demand(by_count=True),
    logspace=Demand(by_count=True),
    masked_select=Demand(apart=True, texts=(_same("masked_select"),)),
    multinomial=Demand(
        texts=(
            lambda result, out: (
                f"multinomial expects {name_of(result)} tensor out, got: {name_of(out)}"
            ),
        )
    ),
    prod=Demand(dim=True, inside=True, texts=(_expected,)),
    stack=Demand(apart=True),
    sum=Demand(dim=True, inside=True, texts=(_expected,)),
    take=Demand(apart=True, texts=(_of_take,)),
)
