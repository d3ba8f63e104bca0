"""What goes wrong in one rank ends all, with one message, and never a hang."""

import signal

import pytest

from tests.tools.patience import PATIENCE
from tests.unit.distributed.launching import PROGRAMS, begin, launch, needs_mpi

pytestmark = needs_mpi


def fails(how, **environment):
    """Run the program; return what it printed."""
    ended = launch("faults.py", 3, how, environment=environment)
    assert ended.returncode != 0
    assert ended.stderr.count("all processes end") == 1, ended.stderr
    return ended.stderr


def test_a_rank_that_raises_is_named():
    printed = fails("raises")
    assert "rank 1 of 3:\nTraceback" in printed
    assert printed.count("ValueError: no more paper") == 1
    assert "faults.py" in printed


def test_of_ranks_that_all_raise_one_is_named():
    assert fails("all raise").count("has no more paper") == 2  # the line, and the message


@pytest.mark.parametrize(
    ("how", "event"),
    [("is killed", "has been killed, or has crashed"), ("is stopped", "was stopped by a signal")],
)
def test_a_rank_that_is_killed_or_stopped_is_named_with_its_line(how, event):
    printed = fails(how)
    assert "rank 1 of 3: process " in printed
    assert event in printed
    assert "it was at faults.py:" in printed
    assert "in fails   time.sleep(1)" in printed


@pytest.mark.parametrize("how", ["exits", "leaves"])
def test_a_rank_that_leaves_is_named_by_one_that_waits(how):
    printed = fails(how)
    assert "waits in all_reduce (faults.py:" in printed
    assert "for rank 1, which has left" in printed


def test_a_message_of_a_rank_that_has_left_is_not_waited_for():
    assert "waits in recv (faults.py:" in fails("sends nothing")


@pytest.mark.parametrize("level", ["DETAIL", "OFF"])
def test_ranks_that_diverge_are_named_with_their_lines(level):
    printed = fails("diverges", TORCH_DISTRIBUTED_DEBUG=level)
    assert "Detected mismatch between collectives on ranks." in printed
    assert "OpType=ALLREDUCE" in printed
    assert "OpType=BROADCAST" in printed
    assert "\n  rank 2    faults.py:" in printed


def test_ctrl_c_ends_all_with_one_traceback():
    with begin(3, str(PROGRAMS / "faults.py"), "is interrupted") as running:
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode != 0
    assert errors.count("KeyboardInterrupt") == errors.count("all processes end") == 1
