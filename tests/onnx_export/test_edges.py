"""All forms over shapes and edge values: the model's answers, or a refusal that names a reason."""

import pytest

from tests.onnx_export.edges import TABLES
from tests.onnx_export.edges.cases import outcome
from tinynet.onnx import translation
from tinynet.onnx.operations import FORMS, RANDOM

pytestmark = pytest.mark.filterwarnings("ignore:(var|std).*degrees of freedom is <= 0")

STRIDE = 11  # without --full, one of 11 cases runs
REASONS = (
    "refused: these operations have no form in ONNX",
    "refused: the model cannot be captured",
    "refused: no kernel of onnxruntime",
)
MOST_REFUSED = 0.12


def check(name, cases):
    found = {case.label: outcome(case) for case in cases}
    wrong = {
        k: v for k, v in found.items() if v not in (None, "same") and not v.startswith(REASONS)
    }
    assert not wrong, f"{len(wrong)} of {len(found)} {name}: {dict([*wrong.items()][:5])}"
    return found


@pytest.mark.parametrize("name", TABLES)
def test_some_edges(name):
    cases = [*TABLES[name]()]
    start = sum(map(ord, name)) % STRIDE  # another residue for each table
    check(name, cases[start % len(cases) :: min(STRIDE, len(cases))])


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_all_edges(name):
    found = check(name, TABLES[name]())
    refused = [label for label, text in found.items() if text not in (None, "same")]
    assert len(refused) <= MOST_REFUSED * len(found), refused


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
    wanted = {name for name in FORMS if not name.startswith(RANDOM)}
    for cases in TABLES.values():
        for case in [*cases()][::7]:
            outcome(case)
    assert wanted - forms.names == set()
