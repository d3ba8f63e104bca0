"""All forms over shapes and edge values: the model's answers, or a refusal that names a reason."""

import itertools

import pytest

from tests.unit.onnx_export.edges import TABLES
from tests.unit.onnx_export.edges.cases import outcome
from tinynet.onnx import translation
from tinynet.onnx.operations import FORMS, RANDOM

pytestmark = pytest.mark.filterwarnings("ignore:(var|std).*degrees of freedom is <= 0")

STRIDE = 23  # without --full, one of 23 cases runs
REASONS = (
    "refused: these operations have no form in ONNX",
    "refused: the model cannot be captured",
    "refused: no kernel of onnxruntime",
)
REFUSED = {
    "unary": 3, "binary": 3, "numbers": 14, "shapes": 9, "indices": 46, "convolutions": 15,
    "pools": 25, "pads": 16, "resampling": 108, "losses": 4,
}  # fmt: skip
ELSEWHERE = {
    "core.arrays:number",  # in test_operations.py
    "alias", "kept", "max_pool_2x2", "rrelu_with_noise",  # recorded only for gradients
}  # fmt: skip


def check(name, cases):
    found = {case.label: outcome(case) for case in cases}
    wrong = {
        k: v for k, v in found.items() if v not in (None, "same") and not v.startswith(REASONS)
    }
    assert not wrong, f"{len(wrong)} of {len(found)} {name}: {dict([*wrong.items()][:5])}"
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", TABLES)
def test_some_edges(name):
    count = sum(1 for _ in TABLES[name]())
    start = sum(map(ord, name)) % STRIDE  # another residue for each table
    # The others are not kept: a capture looks at all functions that share the code of its own.
    cases = itertools.islice(TABLES[name](), start % count, None, min(STRIDE, count))
    check(name, cases)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_all_edges(name):
    found = check(name, TABLES[name]())
    refused = [text for text in found.values() if text and text.startswith(REASONS[:2])]
    assert len(refused) == REFUSED.get(name, 0), {*refused}


class Asked(dict):
    """The forms, with the names that a translation asked for."""

    def __init__(self):
        super().__init__(FORMS)
        self.names = set()

    def get(self, name):
        self.names.add(name)
        return super().get(name)


@pytest.mark.slow
def test_every_form_has_a_case(monkeypatch):
    forms = Asked()
    monkeypatch.setattr(translation, "FORMS", forms)
    for cases in TABLES.values():
        for case in cases():
            outcome(case)
    asked = {FORMS[name] for name in forms.names if name in FORMS}  # several names may share one
    missing = {n for n in FORMS if FORMS[n] not in asked and not n.startswith(RANDOM)}
    assert missing == ELSEWHERE
