"""PyTorch's tables of operations: the record, and under --oracle PyTorch itself."""

import itertools

import pytest

import tinynet as tn
from tests.tools.grouped import for_each, in_parts

from . import store
from .compare import difference
from .known import known
from .outcomes import AbsentError, Call

RECORD = {
    op: list(group)
    for op, group in itertools.groupby(store.load().items(), key=lambda item: item[0].split("/")[0])
}
LIVE_SHARE = 0.995  # of the samples agree with PyTorch, known differences not counted


def differences(name, sample):
    """Yield the id of each row of a sample, and its difference or None."""
    op, dtype, number = name.split("/")
    for face, made, answer in store.answers(sample):
        known_tensors = []
        args, kwargs = (store.thawed(sample[k], known_tensors) for k in ("args", "kwargs"))
        call = Call(face, made.get("differentiable", False), made.get("second", False))
        try:
            ours = call.outcome(tn, store.looked_up(made["path"]), args, kwargs)
            text = difference(answer, ours, op)
        except AbsentError as error:
            text = f"absent: {error}"
        yield f"{op}/{face}/{dtype}/{number}", text


@for_each(in_parts(RECORD, 15))
def test_the_record(samples):
    found = {
        row: text
        for name, sample in samples
        for row, text in differences(name, sample)
        if text is not None and known(row) is None
    }
    assert not found


def test_no_known_difference_has_gone():
    """A row of known.py of which no recorded sample differs any more is to be struck."""
    fitting = {}
    for name, sample in itertools.chain(*RECORD.values()):
        op, dtype, number = name.split("/")
        if any(known(f"{op}/{face}/{dtype}/{number}") for face in sample["faces"]):
            for row, text in differences(name, sample):
                fitting.setdefault(known(row), []).append(text)
    fitting.pop(None, None)
    assert [pattern for pattern, texts in fitting.items() if not any(texts)] == []


@pytest.mark.oracle
@pytest.mark.slow
def test_the_installed_pytorch():
    from . import rows, translate

    translate.install()
    ours = [row for row in rows.rows(most=rows.MOST) if known(row.id) is None]
    wrong = {row.id: text for row in ours if (text := rows.compared(row)) is not None}
    assert len(wrong) <= (1 - LIVE_SHARE) * len(ours), wrong
