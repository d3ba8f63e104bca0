"""Writes to what a backward pass needs: PyTorch's refusals, recorded, and live under --oracle."""

import re

import pytest

import tinynet as tn

from . import store, writes


def ours(name):
    """Return the writes that tinynet refuses for a recorded sample."""
    sample = store.load()[name]

    def arguments():
        known_tensors = []
        return [store.thawed(sample[k], known_tensors) for k in ("args", "kwargs")]

    function = store.looked_up(sample["faces"]["function"]["path"])
    return writes.refused(tn, function, arguments)


def test_writes_are_refused_as_in_pytorch():
    found = {name: (theirs, ours(name)) for name, theirs in writes.COLUMN.load().items()}
    wrong = {name: pair for name, pair in found.items() if pair[0] != pair[1]}
    used = {name: writes.COLUMN.known(name.split("/")[0]) for name in wrong}
    assert {name: wrong[name] for name, pattern in used.items() if pattern is None} == {}
    assert writes.COLUMN.unused({*used.values()}) == [], "strike them"


@pytest.mark.oracle
@pytest.mark.slow
def test_the_record_is_that_of_the_installed_pytorch():
    from . import rows

    record = writes.COLUMN.load()
    live = {
        name: row.their_refusals()
        for row in rows.rows(faces=("function",), dtypes=("float64",), most=rows.MOST)
        if (name := re.sub("/function", "", row.id)) in record
    }
    assert live == record
