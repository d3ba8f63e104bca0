"""`add_graph` beside PyTorch's: the same names, errors and printed lines."""

import json

import pytest

import tinynet as tn
from tests.unit.board import pytorch_graphs
from tinynet.board import SummaryWriter

CASES = pytorch_graphs.cases(tn)
RECORDED = json.loads(pytorch_graphs.ANSWERS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name):
    found, expected = pytorch_graphs.answer(SummaryWriter, *CASES[name]), RECORDED[name]
    if "error" in expected:
        assert found["error"] == expected["error"]
        sentence = expected["says"].partition(". ")[0]
        assert found["says"].startswith(sentence)
        assert len(found["printed"]) == len(expected["printed"])
        if expected["printed"]:
            assert found["printed"][0].startswith(sentence)
            assert found["printed"][1] == expected["printed"][1]
        return
    # PyTorch shows the parameters that were used; a structure has one output, here one for each
    # of its tensors.
    assert found["inputs"] == expected["inputs"]
    assert {name.removeprefix("output/output.1")[:1] for name in found["outputs"]} <= {"", "/"}
    assert set(found["parameters"]) >= set(expected["parameters"])
    assert found["scopes"] == expected["scopes"]


@pytest.mark.oracle
def test_the_record_is_what_pytorch_says():
    pytest.importorskip("tensorboard")
    assert pytorch_graphs.answers_of_pytorch() == RECORDED
