"""A recording written to a folder, and what it prints."""

import pytest

import tinynet as tn
from tinynet import board


def test_writes_to_a_folder_and_says_what_it_holds(tmp_path):
    recording = board.record()
    assert repr(recording) == "Recording(not ended)"
    with recording:
        tn.ones(2) * 2
    assert repr(recording).startswith("Recording(step: ")
    recording.write(tmp_path / "run")
    assert any(path.name.startswith("events") for path in (tmp_path / "run").iterdir())
    with pytest.raises(TypeError, match="must be a SummaryWriter or a folder. Got int"):
        recording.write(3)
