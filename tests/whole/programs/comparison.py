"""Whether a program's losses develop as on PyTorch.

The random numbers differ, so no loss is the same. Compared are, for each line that calls
`backward`, where its losses begin and where they end. With `--sync` they are the same numbers, and
each loss, each step's gradients and the first outputs of modules are compared.
"""

from math import isclose, isnan
from statistics import fmean, pstdev
from typing import Any

UNCOMPARED = {"error": "FAILED", "missing": "MISSING"}  # a missing program says nothing
SLOW = 1.5
CLOSE = 1e-3  # of float32 losses after some steps
CLOSE_IN_DOUBLE = 1e-5


def step_verdict(found: dict[str, Any], expected: dict[str, Any], close: float = CLOSE) -> str:
    """Return `ok`, or where the numbers of a run with the same random numbers first differ."""
    if found["status"] in UNCOMPARED:
        return f"{UNCOMPARED[found['status']]} {found['error']}"
    known = {**expected["series"], "outputs": expected["outputs"], "grad": expected["gradients"]}
    here = {**found["series"], "outputs": found["outputs"], "grad": found["gradients"]}
    wrong = [
        difference
        for what, numbers in known.items()
        if (difference := first_difference(what, here.get(what, []), numbers, close))
    ]
    if wrong:
        return "DIFFERS " + "; ".join(wrong)
    return "ok" if any(known.values()) else "ok (it calls no module)"


def first_difference(what: str, found: list[float], expected: list[float], close: float) -> str:
    """Return the first step whose numbers differ; an empty text if none does."""
    if expected and not found:
        return f"{what} was not reached"
    for step, (here, there) in enumerate(zip(found, expected, strict=False)):
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
    wrong = [
        difference
        for site, losses in expected["series"].items()
        if (difference := differs(site, found["series"].get(site, []), losses))
    ]
    if wrong:
        return "DIFFERS " + "; ".join(wrong)
    if found["seconds"] and expected["seconds"]:
        ratio = found["seconds"] / expected["seconds"]
        return f"ok {ratio:.2f}" + (" SLOW" if ratio > SLOW else "")
    return "ok"


def differs(site: str, found: list[float], expected: list[float]) -> str:
    """Return what is wrong with the losses of one line; an empty text if nothing is."""
    count = min(len(found), len(expected))
    if count == 0:
        return f"{site} was not reached"
    if count < 6:  # too few for a direction
        return ""
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
