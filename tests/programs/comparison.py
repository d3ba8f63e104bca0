"""Whether a program's losses develop as on PyTorch.

The random numbers differ, so no loss is the same. Compared are, for each line that calls
`backward`, where its losses begin and where they end.
"""

from statistics import fmean, pstdev
from typing import Any

SLOW = 1.5


def verdict(found: dict[str, Any], expected: dict[str, Any] | None) -> str:
    """Return `ok`, with the time if it is long; or what is wrong."""
    if found["status"] == "error":
        return f"FAILED {found['error']}"
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
