"""Logging never stops a training run: disks that fill, folders that vanish, processes that die."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE
from tests.unit.board import every_method, reader
from tinynet.board import BoardWarning, SummaryWriter, storage
from tinynet.board.summaries.embeddings import CONFIG

STEPS = 200


def log(writer, start=0, count=STEPS):
    for step in range(start, start + count):
        writer.add_scalar("loss", float(step), step)


def steps(folder):
    return [step for _, step, _ in reader.scalars(folder)]


@contextlib.contextmanager
def one_warning(*words):
    """Exactly one warning, and it says why."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert [w.category for w in caught] == [BoardWarning], [str(w.message) for w in caught]
    for word in words:
        assert word in str(caught[0].message)


def test_folder_removed_in_the_middle(tmp_path):
    folder = tmp_path / "run"
    writer = SummaryWriter(folder)
    log(writer)
    shutil.rmtree(folder)
    with one_warning(repr(str(folder)), "was moved or removed", "Training goes on"):
        log(writer, STEPS)
        writer.close()
    assert steps(folder) == list(range(STEPS, 2 * STEPS))


def test_folder_with_several_event_files_removed(tmp_path):
    folder = tmp_path / "run"
    writer = SummaryWriter(folder)
    for step in range(2):
        writer.add_scalars("loss", {"train": 1.0, "test": 2.0}, step)
        writer.add_scalar("loss", 1.0, step)
        writer.flush()
    for _ in range(2):
        shutil.rmtree(folder)
        with one_warning("was moved or removed"):
            writer.add_scalars("loss", {"train": 1.0, "test": 2.0}, 2)
            writer.add_scalar("loss", 1.0, 2)
            writer.flush()
        writer.flush()
    writer.close()
    assert steps(folder) == steps(folder / "loss_test") == [2]


def test_folder_that_nothing_waits_for_is_not_made_again(tmp_path):
    folder = tmp_path / "run"
    writer = SummaryWriter(folder)
    log(writer)
    writer.flush()
    shutil.rmtree(folder)
    writer.flush()
    writer.close()
    assert not folder.exists()


def test_folder_removed_before_a_forgotten_writer_ends(tmp_path):
    folder = tmp_path / "run"
    writer = SummaryWriter(folder)
    log(writer, count=3)
    shutil.rmtree(folder)
    del writer
    assert not folder.exists()


def test_a_file_stands_where_the_folder_should_be(tmp_path):
    blocked = tmp_path / "run"
    blocked.write_text("not a folder")
    with one_warning("File exists"):
        writer = SummaryWriter(blocked)
        log(writer)
        writer.flush()
    blocked.unlink()
    log(writer, STEPS)
    writer.close()
    assert steps(blocked) == list(range(2 * STEPS))


@contextlib.contextmanager
def unprivileged():
    """Run as a user for whom permissions count."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX permissions")
def test_read_only_folder():
    with tempfile.TemporaryDirectory() as folder, unprivileged_access(folder):
        with unprivileged(), one_warning("Permission denied"):
            writer = SummaryWriter(f"{folder}/run")
            log(writer)
            writer.flush()
        os.chmod(folder, 0o777)
        with unprivileged():
            log(writer, STEPS)
            writer.close()
        assert steps(f"{folder}/run") == list(range(2 * STEPS))


@contextlib.contextmanager
def unprivileged_access(folder):
    """A folder that others may read but not write, whoever owns it."""
    os.chmod(folder, 0o555)
    try:
        yield
    finally:
        os.chmod(folder, 0o777)


def python(code, *arguments, before=()):
    """Start code in a Python of its own, with the names of this module."""
    setup = f"import sys; from {__name__} import *\n"
    command = [*before, sys.executable, "-c", setup + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)


ROOT = Path(__file__).parents[3]


def test_no_space_in_the_middle_of_a_record(tmp_path):
    """A limit on the size of files: a write is cut short, the next one fails, then it is lifted."""
    pytest.importorskip("resource", reason="needs POSIX resource limits")
    done = python(
        """
import resource
folder = sys.argv[1]
writer = SummaryWriter(folder)
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, unlimited[1]))
with one_warning("File too large"):
    log(writer)
    writer.flush()
written = steps(folder)
assert 0 < len(written) < STEPS and written == list(range(len(written)))
assert 1500 < reader.files(folder)[0].stat().st_size <= 2000
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
log(writer, STEPS)
writer.close()
assert steps(folder) == list(range(2 * STEPS))
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_full_disk(tmp_path):
    """A real one: a file system of 64 KiB, mounted in a name space of its own."""
    unshare = ["unshare", "--map-root-user", "--mount"]
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    try:
        probe = subprocess.run([*unshare, *mount], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("needs unshare, a command of util-linux")
    if probe.returncode:
        pytest.skip(f"mounting a small file system is not permitted here: {probe.stderr.strip()}")
    done = python(
        f"""
subprocess.run({mount!r}, check=True)
folder, ballast = sys.argv[1] + "/run", Path(sys.argv[1], "ballast")
writer = SummaryWriter(folder)
log(writer)
with contextlib.suppress(OSError):
    ballast.write_bytes(bytes(1 << 20))
with one_warning("No space left on device"):
    log(writer, STEPS, 4 * STEPS)
    writer.flush()
written = steps(folder)
assert STEPS <= len(written) < 5 * STEPS and written == list(range(len(written)))
ballast.unlink()
writer.flush()
assert steps(folder) == list(range(5 * STEPS))
log(writer, 5 * STEPS, 5)
writer.close()
assert steps(folder) == list(range(5 * STEPS + 5))
assert len(reader.files(folder)) == 1
# Full again, and closed while it is: nothing hangs, nothing is torn.
with contextlib.suppress(OSError):
    ballast.write_bytes(bytes(1 << 20))
with one_warning("No space left on device"):
    log(writer, 0, 2 * STEPS)
    writer.close()
    writer.close()
assert steps(folder)[: 5 * STEPS] == list(range(5 * STEPS))
""",
        tmp_path,
        before=unshare,
    )
    assert done.returncode == 0, done.stderr


def test_memory_during_an_outage_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "MAX_WAITING", 1000)
    blocked = tmp_path / "run"
    blocked.write_text("not a folder")
    with one_warning():
        writer = SummaryWriter(blocked)
        log(writer)
    blocked.unlink()
    writer.close()
    kept = steps(blocked)
    assert 10 < len(kept) < 30
    assert kept == list(range(STEPS - len(kept), STEPS))


def test_a_torn_record_is_cut_off(tmp_path):
    """What an interrupt in the middle of a write leaves behind does not spoil what follows."""
    writer = SummaryWriter(tmp_path)
    log(writer, count=20)
    (path,) = reader.files(tmp_path)
    with path.open("ab") as file:
        file.write(b"half a rec")
    log(writer, 20, 20)
    writer.close()
    assert steps(tmp_path) == list(range(40))


def test_flush_from_a_signal_handler_in_the_middle_of_a_write(tmp_path, monkeypatch):
    writer = SummaryWriter(tmp_path)
    append = storage.EventFile._append

    def interrupted(self, data):
        writer.flush()
        append(self, data)

    monkeypatch.setattr(storage.EventFile, "_append", interrupted)
    log(writer)
    monkeypatch.undo()
    writer.close()
    assert steps(tmp_path) == list(range(STEPS))


def test_flush_synchronises_with_the_disk(tmp_path, monkeypatch):
    synchronised = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (fsync(file), synchronised.append(file)))
    writer = SummaryWriter(tmp_path)
    log(writer)
    assert not synchronised  # not at each event: that would cost milliseconds
    writer.flush()
    assert len(synchronised) == 1
    writer.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_kill_after_flush_loses_nothing(tmp_path):
    done = python(
        """
writer = SummaryWriter(sys.argv[1])
log(writer, count=STEPS + 3)
writer.flush()
log(writer, STEPS + 3, 2)
os.kill(os.getpid(), signal.SIGKILL)
""",
        tmp_path,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert steps(tmp_path) == list(range(STEPS + 3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_writes_a_file_of_its_own(tmp_path):
    done = python(
        """
writer = SummaryWriter(sys.argv[1])
log(writer, count=5)
child = os.fork()
if child == 0:
    log(writer, 100, 3)
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
log(writer, 5, 5)
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert len(reader.files(tmp_path)) == 2
    assert sorted(steps(tmp_path)) == [*range(10), 100, 101, 102]


def test_warnings_as_errors_do_not_lose_events(tmp_path):
    """Where a user turns warnings into errors, the next flush still writes everything."""
    folder = tmp_path / "run"
    writer = SummaryWriter(folder)
    shutil.rmtree(folder)
    with pytest.raises(BoardWarning):
        log(writer)
    writer.flush()
    assert steps(folder) == list(range(10))
    writer.close()


# ---- files beside the event files ------------------------------------------------------------


def embedding(folder, step=0):
    return Path(folder, f"{step:05d}", "default", "tensors.tsv")


def test_embeddings_wait_for_their_folder(tmp_path):
    folder = tmp_path / "run"
    folder.write_text("not a folder")
    with one_warning("File exists"):
        writer = SummaryWriter(folder)
        for step in range(3):
            writer.add_embedding([[1.0, 2.0]], global_step=step)
            writer.add_scalars("loss", {"train": 1.0, "test": 2.0}, step)
        writer.add_hparams({"lr": 0.1}, {"final": 1.0}, run_name="trial")
        writer.flush()
    folder.unlink()
    writer.flush()
    assert embedding(folder, 2).read_text() == "1.0\t2.0\n"
    assert (folder / CONFIG).read_text().count("embeddings {") == 3
    assert steps(folder / "loss_test") == [0, 1, 2]
    shutil.rmtree(folder)
    folder.write_text("not a folder")
    with one_warning("Not a directory"):  # the next outage is told again
        writer.add_scalars("loss", {"train": 1.0, "test": 2.0}, 3)
        writer.add_embedding([[1.0, 2.0]], global_step=3)
        writer.flush()
    folder.unlink()
    writer.close()
    assert steps(folder / "loss_test") == [3]


def test_embeddings_of_a_forgotten_writer(tmp_path, monkeypatch):
    writer = SummaryWriter(tmp_path / "run")
    with monkeypatch.context() as patched, one_warning("no more"):
        patched.setattr(os, "replace", refuse)
        writer.add_embedding([[1.0, 2.0]])
        assert not list(tmp_path.rglob("*.tmp"))
    assert not embedding(tmp_path / "run").exists()
    del writer
    assert embedding(tmp_path / "run").exists()


def refuse(*_):
    raise OSError(errno.ENOSPC, "no more space")


def test_memory_of_waiting_embeddings_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "MAX_WAITING", 9000)
    writer = SummaryWriter(tmp_path)
    with monkeypatch.context() as patched, one_warning("no more"):
        patched.setattr(os, "replace", refuse)
        for step in range(50):
            writer.add_embedding([list(range(50))], global_step=step)
    writer.close()
    assert embedding(tmp_path, 49).exists()
    assert not embedding(tmp_path, 0).exists()


def test_full_disk_with_every_method(tmp_path):
    """No method raises or tears a record on a full disk, and all is there afterwards."""
    unshare = ["unshare", "--map-root-user", "--mount"]
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)]
    try:
        probe = subprocess.run([*unshare, *mount], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("needs unshare, a command of util-linux")
    if probe.returncode:
        pytest.skip(f"mounting a small file system is not permitted here: {probe.stderr.strip()}")
    done = python(
        f"""
from tests.unit.board import every_method
subprocess.run({mount!r}, check=True)
folder, ballast = Path(sys.argv[1], "run"), Path(sys.argv[1], "ballast")
with contextlib.suppress(OSError):
    ballast.write_bytes(bytes(1 << 20))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    writer = SummaryWriter(folder)
    every_method.fill(writer)
    writer.flush()
assert {{w.category for w in caught}} == {{BoardWarning}}, caught
assert "No space left on device" in str(caught[0].message)
ballast.unlink()
writer.close()
values = [value for event in reader.events(folder) for value in event.summary.value]
assert len([value for value in values if value.tag == "train/loss"]) == 3
assert (folder / "projector_config.pbtxt").read_text().count("embeddings {{") == 2
assert (folder / "00000" / "a%2fb" / "sprite.png").exists()
assert len(list(folder.glob("lr*/events*"))) == 2
""",
        tmp_path,
        before=unshare,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_kill_after_flush_loses_nothing_of_any_method(tmp_path):
    done = python(
        """
from tests.unit.board import every_method
writer = SummaryWriter(sys.argv[1])
every_method.fill(writer)
writer.flush()
os.kill(os.getpid(), signal.SIGKILL)
""",
        tmp_path / "killed",
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    every_method.write(tmp_path / "closed")
    for folder in ("", "lr0.1", "both_a"):
        killed, closed = (
            [
                value.SerializeToString()
                for event in reader.events(tmp_path / name / folder)
                for value in event.summary.value
                if not value.tag.startswith("_hparams_/session")  # they hold the time
            ]
            for name in ("killed", "closed")
        )
        assert killed == closed
