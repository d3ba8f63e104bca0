"""Strides of results: PyTorch's, recorded, and under --oracle its own."""

import pytest

from . import layouts, store

LIVE_SHARE = 0.999  # of the laid-out samples have PyTorch's strides, known ones not counted


def differences(name, theirs):
    """Return the differences of a recorded sample by variant."""
    sample = store.load()[name]
    function = store.looked_up(sample["faces"]["function"]["path"])
    found = {}
    for variant, recorded in theirs.items():
        known_tensors = []
        args, kwargs = (store.thawed(sample[k], known_tensors) for k in ("args", "kwargs"))
        ours = layouts.strides(function, args, kwargs, variant)
        if text := layouts.difference(recorded, ours):
            found[variant] = text
    return found


def test_results_have_the_strides_of_pytorch():
    wrong, used = {}, set()
    for name, theirs in layouts.COLUMN.load().items():
        for variant, text in differences(name, theirs).items():
            pattern = layouts.COLUMN.known(f"{name.split('/')[0]} {variant}")
            used.add(pattern)
            if pattern is None:
                wrong[f"{name} {variant}"] = text
    assert wrong == {}
    assert layouts.COLUMN.unused(used) == [], "strike them"


@pytest.mark.oracle
@pytest.mark.slow
def test_the_installed_pytorch():
    from . import rows, translate

    translate.install()
    count, wrong = 0, {}
    for row in rows.rows(faces=("function",), dtypes=("float64", "int64", "bool")):
        for variant, theirs in row.their_strides().items():
            if layouts.COLUMN.known(f"{row.op} {variant}") is None:
                count += 1
                if text := row.stride_difference(variant, theirs):
                    wrong[f"{row.id} {variant}"] = text
    assert len(wrong) <= (1 - LIVE_SHARE) * count, wrong
