"""What a SummaryWriter writes, read back by a reader of our own."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

from tests.tools.patience import PATIENCE
from tests.unit.board import reader
from tinynet.board import SummaryWriter
from tinynet.core.tensors.tensor import wrap


@pytest.mark.parametrize(
    "value",
    [
        *(2, 2.0, True, np.float32(2), np.float64(2), np.int8(2), np.bool_(True)),
        *(np.array(2.0), np.array([[2]]), wrap(np.array(2.0)), wrap(np.array([2]))),
        *(float("inf"), float("-inf")),
    ],
)
def test_a_number_of_any_kind(tmp_path, value):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("train/loss", value, 3)
    expected = (
        value if isinstance(value, (int, float)) else np.asarray(getattr(value, "_array", value))
    )
    assert reader.scalars(tmp_path) == [("train/loss", 3, float(np.float32(expected).item()))]


def test_nan_stays_nan(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", float("nan"))
    assert np.isnan(reader.scalars(tmp_path)[0][2])


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (None, NotImplementedError, "Got <class 'NoneType'>, but numpy array or tinynet tensor"),
        ([1.0], NotImplementedError, "Got <class 'list'>, but numpy array or tinynet tensor are"),
        (1j, TypeError, "float() argument must be a string or a real number, not 'complex'"),
        (np.array("a"), ValueError, "could not convert string to float: 'a'"),
        (np.zeros((2, 3)), AssertionError, "Tensor should contain one element (0 dimensions). "),
        (wrap(np.zeros(0)), AssertionError, "Tensor should contain one element (0 dimensions). "),
        (10**400, OverflowError, "int too large to convert to float"),
    ],
)
def test_anything_else_is_refused_by_the_name_of_its_tag(tmp_path, value, error, message):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(error) as caught:
            writer.add_scalar("train/loss", value)
        with pytest.raises(error):
            writer.add_scalars("train", {"loss": value})
    said = str(caught.value)
    assert said.startswith(message)
    assert "'train/loss'" in "\n".join([said, *getattr(caught.value, "__notes__", [])])
    assert reader.scalars(tmp_path) == []


def test_tags_steps_and_texts_are_checked(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match=r"^The tag of add_scalar must be a str\. Got int"):
            writer.add_scalar(1, 1.0)
        with pytest.raises(TypeError, match=r"^The step of 'a' must be a 64-bit integer\. Got 'x'"):
            writer.add_scalar("a", 1.0, "x")
        with pytest.raises(TypeError, match="Got 9223372036854775808 instead"):
            writer.add_scalar("a", 1.0, 2**63)
        with pytest.raises(TypeError, match=r"must be a str\. Got float instead, for the tag 'a'"):
            writer.add_text("a", 1.0)
    with pytest.raises(ValueError, match=r"^The 'max_queue' parameter of SummaryWriter must be"):
        SummaryWriter(tmp_path, max_queue=-1)


def test_step_and_walltime(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1, walltime=123.5)
        writer.add_scalar("a", 1, np.int64(7))
        writer.add_scalar("a", 1, wrap(np.array(8)))
    first, *rest = reader.events(tmp_path)
    assert (first.step, first.wall_time) == (0, 123.5)
    assert [event.step for event in rest] == [7, 8]
    assert rest[0].wall_time > 1.6e9


def test_new_style_and_double_precision(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 0.1, new_style=True)
        writer.add_scalar("a", 0.1, new_style=True, double_precision=True)
    single, double = (event.summary.value[0] for event in reader.events(tmp_path))
    assert list(single.tensor.float_val) == [np.float32(0.1)]
    assert list(double.tensor.double_val) == [0.1]
    assert {value.metadata.plugin_data.plugin_name for value in (single, double)} == {"scalars"}


def test_scalars_of_one_chart_are_runs_below(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("loss/all", {"train": 1.0, "test": 2.0}, 5)
    assert reader.scalars(tmp_path / "loss_all_train") == [("loss/all", 5, 1.0)]
    assert reader.scalars(tmp_path / "loss_all_test") == [("loss/all", 5, 2.0)]


def test_text(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("config", "*größe* = 3", 2)
    (event,) = reader.events(tmp_path)
    (value,) = event.summary.value
    assert value.tag == "config/text_summary"
    assert value.tensor.string_val[0].decode() == "*größe* = 3"
    assert value.metadata.plugin_data.plugin_name == "text"


def test_default_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr0.1") as writer:
        assert writer.get_logdir() == writer.log_dir
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("_lr0.1")
    assert os.fspath(folder.relative_to(tmp_path)) == writer.log_dir
    (path,) = reader.files(folder)
    assert path.name.startswith("events.out.tfevents.")


def test_file_name_suffix(tmp_path):
    SummaryWriter(tmp_path, filename_suffix=".mine").close()
    (path,) = reader.files(tmp_path)
    assert path.name.endswith(".mine")


def test_purge_step_hides_what_was_there(tmp_path):
    with SummaryWriter(tmp_path, purge_step=4) as writer:
        writer.add_scalar("a", 1.0, 4)
    version, *starts, _scalar = reader.events(tmp_path)
    assert (version.file_version, version.step) == ("brain.Event:2", 4)
    assert [start.step for start in starts] == [4, 4]  # one loader takes the first for a beginning
    assert all(start.session_log.status == start.session_log.START for start in starts)


def test_close_twice_and_add_after_close(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1.0, 1)
    writer.close()
    writer.close()
    assert len(reader.files(tmp_path)) == 1
    writer.add_scalar("a", 2.0, 2)
    writer.close()
    assert len(reader.files(tmp_path)) == 2
    assert reader.scalars(tmp_path) == [("a", 1, 1.0), ("a", 2, 2.0)]


def test_events_wait_until_the_queue_is_full(tmp_path):
    writer = SummaryWriter(tmp_path, max_queue=3)
    for step, visible in enumerate([0, 0, 3, 3, 3, 6]):
        writer.add_scalar("a", 1.0, step)
        assert len(reader.scalars(tmp_path)) == visible
    writer.add_scalar("a", 1.0, 6)
    writer.flush()
    assert len(reader.scalars(tmp_path)) == 7
    writer.close()


def test_events_wait_no_longer_than_flush_secs(tmp_path, monkeypatch):
    class Clock:
        now = 100.0
        time = staticmethod(lambda: 1.7e9)
        monotonic = staticmethod(lambda: Clock.now)

    monkeypatch.setattr("tinynet.board.storage.time", Clock)
    writer = SummaryWriter(tmp_path, max_queue=1000, flush_secs=60)
    writer.add_scalar("a", 1.0)
    Clock.now += 59
    writer.add_scalar("a", 1.0)
    assert len(reader.scalars(tmp_path)) == 0
    Clock.now += 1
    writer.add_scalar("a", 1.0)
    assert len(reader.scalars(tmp_path)) == 3
    writer.close()


def test_what_was_never_closed_is_written(tmp_path):
    writer = SummaryWriter(tmp_path)
    writer.add_scalar("a", 1.0)
    gone = weakref.ref(writer)
    del writer
    gc.collect()
    assert gone() is None
    assert len(reader.scalars(tmp_path)) == 1


ROOT = Path(__file__).parents[3]


def run(code, *arguments):
    """Run code in a Python of its own, with warnings as errors, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_what_was_never_closed_is_written_at_exit(tmp_path):
    run(
        "import sys; from tinynet.utils.tensorboard import SummaryWriter\n"
        "writer = SummaryWriter(sys.argv[1]); writer.add_scalar('a', 1.0)",
        tmp_path,
    )
    assert len(reader.scalars(tmp_path)) == 1


def test_nothing_heavy_is_imported_and_tensorboardx_stays_usable(tmp_path):
    """Neither before a writer exists nor afterwards; and the user's tensorboardX is its own."""
    run(
        """
import sys
from tinynet.utils.tensorboard import SummaryWriter
def loaded(): return {name.split(".")[0] for name in sys.modules}
assert not loaded() & {"tensorboardX", "google", "tensorboard", "torch", "tensorflow"}
with SummaryWriter(sys.argv[1]) as writer:
    writer.add_scalar("a", 1.0)
assert not loaded() & {"tensorboardX", "tensorboard", "torch", "matplotlib", "tensorflow"}
import tensorboardX.proto.event_pb2
assert tensorboardX.SummaryWriter and tensorboardX.proto.event_pb2.Event
with SummaryWriter(sys.argv[1]) as writer:
    writer.add_scalar("a", 2.0)
""",
        tmp_path,
    )
    assert [value for _, _, value in reader.scalars(tmp_path)] == [1.0, 2.0]


def test_a_tensorboardx_that_is_loaded_already_is_used(tmp_path):
    run(
        """
import sys, warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import tensorboardX
from tinynet.utils.tensorboard import SummaryWriter
with SummaryWriter(sys.argv[1]) as writer:
    writer.add_scalar("a", 1.0)
assert sys.modules["tensorboardX"] is tensorboardX
""",
        tmp_path,
    )
    assert len(reader.scalars(tmp_path)) == 1


def test_missing_tensorboardx_says_what_to_install(tmp_path):
    printed = run(
        """
import sys, importlib.util
from tinynet.utils.tensorboard import SummaryWriter
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "tensorboardX" else find(name)
try:
    SummaryWriter(sys.argv[1])
except ImportError as error:
    print(error)
""",
        tmp_path / "run",
    )
    assert "pip install tensorboardX" in printed
    assert not (tmp_path / "run").exists()


def test_there_is_no_thread(tmp_path):
    before = threading.active_count()
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("a", 1.0)
        assert threading.active_count() == before


def test_threads_may_share_a_writer(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        threads = [
            threading.Thread(
                target=lambda tag=tag: [writer.add_scalar(tag, i, i) for i in range(200)]
            )
            for tag in "abcd"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = reader.scalars(tmp_path)
    for tag in "abcd":
        assert [step for name, step, _ in found if name == tag] == list(range(200))


def test_tensorboards_own_messages_are_written(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.compat.proto.config_pb2 import RunMetadata
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.node_def_pb2 import NodeDef
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.proto.summary_pb2 import Summary

    message = Summary(value=[Summary.Value(tag="loss", simple_value=0.5)])
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalars("parts", {"a": 1.0}, 0)
        writer.file_writer.add_summary(message, 3)
        writer.file_writer.add_event(Event(summary=message), step=4)
        writer._get_file_writer().add_summary(message, 5)  # as programs for PyTorch do
        writer.file_writer.add_graph((GraphDef(node=[NodeDef(name="a", op="b")]), RunMetadata()))
        assert writer.file_writer.get_logdir() == str(tmp_path)
        assert sorted(writer.all_writers) == [str(tmp_path), str(tmp_path / "parts_a")]
    assert writer.file_writer is None and writer.all_writers is None
    found = EventAccumulator(str(tmp_path)).Reload()
    events = found.Scalars("loss")
    assert [(e.step, e.value) for e in events] == [(3, 0.5), (4, 0.5), (5, 0.5)]
    assert [(node.name, node.op) for node in found.Graph().node] == [("a", "b")]
    assert found.Tags()["run_metadata"] == ["step1"]
