"""Whether a program's losses develop as on PyTorch.

The random numbers differ, so no loss is the same. Compared are, for each line that calls
`backward`, where its losses begin and where they end. With `--sync` they are the same numbers, and
each loss, each step's gradients and the first outputs of modules are compared.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from math import isclose, isfinite, isnan
from statistics import fmean, pstdev
from typing import Any

UNCOMPARED = {"error": "FAILED", "missing": "MISSING"}  # a missing program says nothing
SLOW = 1.5
CLOSE = 1e-3  # of float32 losses after some steps
CLOSE_IN_DOUBLE = 1e-5
REPEATED = 1e-12  # of the same program run twice
NOTHING = "ok (it calls no module)"
GROWTH = 30  # times the change that nudged weights make on PyTorch


def step_verdict(
    found: dict[str, Any],
    expected: dict[str, Any],
    close: float = CLOSE,
    nudged: Sequence[dict[str, Any]] = (),
) -> str:
    """Return `ok`, or where the numbers of a run with the same random numbers first differ.

    `nudged` are runs on PyTorch whose random numbers differ in their last digits.
    """
    if found["status"] in UNCOMPARED:
        return f"{UNCOMPARED[found['status']]} {found['error']}"
    known, here, others = numbers_of(expected), numbers_of(found), [numbers_of(x) for x in nudged]
    wrong = []
    for what, numbers in known.items():
        bounds = growing_bounds(numbers, [other.get(what, []) for other in others], close)
        if difference := first_difference(what, here.get(what, []), numbers, bounds):
            wrong.append(difference)
    if wrong:
        return "DIFFERS " + "; ".join(wrong)
    return "ok" if any(known.values()) else NOTHING


def numbers_of(run: dict[str, Any]) -> dict[str, list[float]]:
    """Return the losses by line, the first outputs and the gradients of a run."""
    return {**run["series"], "outputs": run["outputs"], "grad": run["gradients"]}


def growing_bounds(
    expected: list[float], nudged: list[list[float]], close: float
) -> Iterator[float]:
    """Yield each step's relative bound: `close`, and more once nudged runs have parted."""
    spread = 0.0
    for values in zip_longest(expected, *nudged):
        first, *others = values
        for other in others:
            if first is not None and other is not None:
                spread = max(spread, abs(other - first) / max(abs(first), 1e-300))
        yield close + GROWTH * spread


def first_difference(
    what: str, found: list[float], expected: list[float], bounds: Iterable[float]
) -> str:
    """Return the first step whose numbers differ; an empty text if none does."""
    if expected and not found:
        return f"{what} was not reached"
    for step, (here, there, close) in enumerate(zip(found, expected, bounds, strict=False)):
        if not isclose(here, there, rel_tol=close, abs_tol=close / 100) and not (
            isnan(here) and isnan(there)
        ):
            return f"{what} of step {step} is {here:.6g}, and {there:.6g} on PyTorch"
    return ""


def verdict(found: dict[str, Any], expected: dict[str, Any] | None) -> str:
    """Return `ok`, with the time if it is long; or what is wrong."""
    if found["status"] in UNCOMPARED:
        return f"{UNCOMPARED[found['status']]} {found['error']}"
    if expected is None:
        return "ok (PyTorch's answer is not recorded)"
    series = found["series"]
    if [*map(_file, series)] == [*map(_file, expected["series"])]:
        # The lines of the files that entries make move when what makes them changes.
        series = dict(zip(expected["series"], series.values(), strict=True))
    wrong = [
        difference
        for site, losses in expected["series"].items()
        if (difference := differs(site, series.get(site, []), losses))
    ]
    if wrong:
        return "DIFFERS " + "; ".join(wrong)
    if found["seconds"] and expected["seconds"]:
        ratio = found["seconds"] / expected["seconds"]
        return f"ok {ratio:.2f}" + (" SLOW" if ratio > SLOW else "")
    return "ok"


def _file(site: str) -> str:
    return site.rpartition(":")[0]


def differs(site: str, found: list[float], expected: list[float]) -> str:
    """Return what is wrong with the losses of one line; an empty text if nothing is."""
    count = min(len(found), len(expected))
    if count == 0:
        return f"{site} was not reached"
    if count < 6 or not all(map(isfinite, expected)):  # no direction
        return ""
    if not all(map(isfinite, found)):
        return f"{site} has losses that are not finite"
    third = count // 3
    begins, ends = fmean(expected[:third]), fmean(expected[count - third : count])
    began, ended = fmean(found[:third]), fmean(found[count - third : count])
    noise = pstdev(expected[count - third : count]) + pstdev(found[count - third : count])
    fell = max(begins - ends, 0)
    if ended > max(ends, ends + began - begins) + 0.5 * fell + 3 * noise + 0.05 * abs(ends):
        return (
            f"{site} fell from {begins:.4g} to {ends:.4g}, and here from {began:.4g} to {ended:.4g}"
        )
    return ""
