"""All forms over shapes and edge values: the model's answers, or a refusal that names a reason."""

import pytest

from tests.onnx_export.edges import TABLES
from tests.onnx_export.edges.cases import outcome

STRIDE = 23  # every case has its turn with --full, one of so many without
REASONS = (
    "refused: these operations have no form in ONNX",
    "refused: the model cannot be captured",
    "refused: no kernel of onnxruntime",
)
MOST_REFUSED = 0.12
UNTRIED = {"nn.functional.lookup.embeddings:shorten_rows"}


def check(name, cases):
    found = {case.label: outcome(case) for case in cases}
    wrong = {
        k: v for k, v in found.items() if v not in (None, "same") and not v.startswith(REASONS)
    }
    assert not wrong, f"{len(wrong)} of {len(found)} {name}: {dict([*wrong.items()][:5])}"
    return found


@pytest.mark.parametrize("name", TABLES)
def test_some_edges(name):
    cases = TABLES[name]
    start = sum(map(ord, name)) % STRIDE  # another residue for each table
    check(name, cases[start % len(cases) :: min(STRIDE, len(cases))])


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_all_edges(name):
    found = check(name, TABLES[name])
    refused = [label for label, text in found.items() if text not in (None, "same")]
    assert len(refused) <= MOST_REFUSED * len(found), refused
