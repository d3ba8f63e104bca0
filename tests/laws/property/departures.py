"""Where a program must not go, or where it ends: all in one place, each with its reason.

`DEPARTURES` stay: PyTorch is undefined or wrong there, or tinynet differs on purpose. `OPEN` are
bugs of tinynet's that are known and not fixed yet; their names only tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .forms import FLAG, HOOK, INTO, RESHAPE, WRITE, Facts, Form


class Situation(NamedTuple):
    """A line that could come next."""

    form: Form
    x: Facts | None
    y: Facts | None
    quiet: bool


class Avoided(NamedTuple):
    """Lines that no program has."""

    name: str
    reason: str
    applies: Callable[[Situation], bool]


class Forgiven(NamedTuple):
    """A difference in errors that ends a program without being reported."""

    name: str
    reason: str
    ours: str  # patterns of "Class: message"
    theirs: str


def _family(s: Situation, *families: str) -> bool:
    return s.form.family in families


def _overlapping_write(s: Situation) -> bool:
    if not _family(s, WRITE) or "{y}" not in s.form.text or s.x is None or s.y is None:
        return False
    if s.x.memory != s.y.memory:
        return False
    if any(t in s.form.text for t in ("[i]", "[m]", "(i,)")):
        return True
    if "[{f}]" in s.form.text:
        return not s.x.contiguous or not s.y.dense
    plain = s.x.dense and s.y.dense and s.x.contiguous and s.y.contiguous
    return s.x is not s.y and not plain


def _expanded_write(s: Situation) -> bool:
    odd = ("[{f}]", "[i]", "[m]", "(i,)", "(m", "copy_", " = ", "zero_", "fill_")
    return bool(_family(s, WRITE) and s.x and s.x.expanded and any(t in s.form.text for t in odd))


DEPARTURES: list[Avoided | Forgiven] = [
    Avoided(
        "overlap",
        "PyTorch's result is undefined where source and target overlap and one of them is not "
        "dense; tinynet copies first.",
        _overlapping_write,
    ),
    Avoided(
        "expanded",
        "PyTorch warns about some writes to expanded tensors and refuses others only in "
        "backward; tinynet refuses them at once or computes the right result.",
        _expanded_write,
    ),
    Avoided(
        "deepcopy",
        "In PyTorch, a deep copy of an expanded tensor is expanded.",
        lambda s: bool("deepcopy" in s.form.text and s.x and s.x.expanded),
    ),
    Avoided(
        "shared gradient",
        "In PyTorch, deep copies of a tensor and its gradient share memory if the originals did.",
        lambda s: bool("grad = {y}" in s.form.text and s.x and s.y and s.x.memory == s.y.memory),
    ),
    Avoided(
        "written index",
        "tinynet copies index tensors and masks, so later writes to them have no effect.",
        lambda s: _family(s, INTO),
    ),
    Avoided(
        "asked node",
        "In PyTorch, backward(inputs=[a]) also runs the node of a non-leaf `a`: it may fail "
        "there, and frees its saved values.",
        lambda s: bool("inputs=" in s.form.text and s.y and not s.y.leaf),
    ),
    Avoided(
        "reshaped unseen",
        "An in-place view operation under no_grad changes the shape without the graph's "
        "knowledge; how backward then fails is unspecified.",
        lambda s: bool(_family(s, RESHAPE) and s.x and (s.x.graded or (s.quiet and s.x.wants))),
    ),
    Avoided(
        "leaf views",
        "After a write to the memory, PyTorch gives a view a history that leads nowhere if its "
        "own requires_grad was turned on, or its base's off. In tinynet, the former stays a leaf "
        "and the latter has no history.",
        lambda s: bool(
            s.x
            and (
                (_family(s, FLAG) and (s.x.view or ("False" in s.form.text and s.x.viewed)))
                or ("detach_" in s.form.text and s.x.viewed)
            )
        ),
    ),
    Avoided(
        "former leaves",
        "In PyTorch, a leaf whose requires_grad was turned off and which was then written to "
        "still ends its old graph.",
        lambda s: bool(
            s.x
            and s.x.leaf
            and s.x.wants
            and (("detach_" in s.form.text) or (_family(s, FLAG) and "False" in s.form.text))
        ),
    ),
    Avoided(
        "broken views",
        "PyTorch permits hooks on views whose history cannot be regenerated, or crashes.",
        lambda s: bool(_family(s, HOOK) and s.x and s.x.broken),
    ),
    Avoided(
        "hooks that stay",
        "In PyTorch, a result keeps its hooks when it is detached in place, and mixes them with "
        "later ones when its shape changes in place.",
        lambda s: bool(s.x and s.x.hooked and ("detach_" in s.form.text or _family(s, RESHAPE))),
    ),
    Forgiven(
        "zero tensors", "PyTorch's internal zero tensors interfere.", r".*", r".*ZeroTensors.*"
    ),
    Forgiven(
        "detached",
        "PyTorch refuses to use a saved tensor that was detached in place; tinynet saved its"
        " values.",
        r".*",
        r".*detached in-place.*",
    ),
    Forgiven(
        "unallocated",
        "PyTorch's internal zero tensors have no memory to inspect.",
        r".*",
        r".*unallocated storage.*",
    ),
    Forgiven(
        "buffers",
        "Writing a whole tensor by index is a CopySlices, which is freed.",
        r".*but the buffers have already been freed.*",
        r".*",
    ),
    Forgiven(
        "unneeded view",
        "PyTorch unpacks a view created under no_grad, and so refuses it after a write, even "
        "where its value is not needed.",
        r"",
        r".*A view was created in no_grad mode and its base or another view.*",
    ),
    Forgiven(
        "assertion", "An assertion inside PyTorch failed.", r".*", r".*INTERNAL ASSERT FAILED.*"
    ),
]

OPEN: list[Avoided | Forgiven] = [
    Forgiven("Q2", "PyTorch does not detect all overlap.", r"", r".*single memory location.*"),
    Forgiven("Q2", "Single elements overlap.", r".*single memory location.*", r""),
]


def avoided(s: Situation) -> bool:
    """Whether no program may have a line."""
    return any(d.applies(s) for d in (*DEPARTURES, *OPEN) if isinstance(d, Avoided))


def forgiven(ours: str, theirs: str) -> bool:
    """Whether two different errors, as "Class: message" or empty, only end the program."""
    return any(
        re.fullmatch(d.ours, ours, re.S) and re.fullmatch(d.theirs, theirs, re.S)
        for d in (*DEPARTURES, *OPEN)
        if isinstance(d, Forgiven)
    )
