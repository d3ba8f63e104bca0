"""`tinynet find-batch-size`: the search, what memory means, and tries that end in other ways."""

import ctypes
import json
import os
import shlex
import subprocess
import sys
import types

import pytest

from tinynet.train import find_batch_size
from tinynet.train.base import memory
from tinynet.train.base.memory import parse_size
from tinynet.train.base.problems import TrainError, UsageError
from tinynet.train.cli import main
from tinynet.train.study import batch_size as batch_sizes
from tinynet.train.study.batch_size import largest
from tinynet.train.study.one_try import answer

HUNGRY = """
import os
import numpy as np
from tinynet import nn

class Hungry(nn.Linear):
    def __init__(self):
        super().__init__(64, 10)

    def forward(self, x):
        print("a line on stdout")
        if len(x) == 3:
            raise MemoryError
        if len(x) > 3:
            np.ones((50, 10**6))
        if os.path.exists("dies"):
            os._exit(3)
        if os.path.exists("fails"):
            raise ValueError("this model fails")
        return super().forward(x.flatten(1))
"""


@pytest.fixture
def hungry(write, digits):
    """A config whose steps allocate 0.4 GB for more than three examples, and fail for three."""
    config = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./hungry.py:Hungry"')
    return write(config.replace("batch_size = 57", "batch_size = 2"), hungry=HUNGRY)


# ---- the search ----


@pytest.mark.parametrize("start", [1, 7, 32, 5000])
@pytest.mark.parametrize("limit", [0, 1, 2, 31, 33, 1000, 99_999])
def test_the_search(start, limit):
    most, tried = 3000, []

    def fits(size):
        assert 1 <= size <= max(start, most)
        tried.append(size)
        return min(size, most) <= limit

    found = largest(
        fits, start, lambda: most if any(min(s, most) <= limit for s in tried) else None
    )
    assert len(tried) == len({*tried}) <= 20
    if limit >= most:
        assert found == most
    elif limit == 0:
        assert found is None
    else:
        assert limit - max(1, limit // 16) < found <= limit


# ---- sizes and what is available ----


@pytest.mark.parametrize(
    "text, size",
    [("1B", 1), ("2GB", 2 * 10**9), (" 1.5 MiB ", 3 * 2**19), (".5kb", 500), ("1tib", 2**40)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "2", "2G", "GB", "-1GB", "1e3MB", "0B", "2 GBs", "nanGB"])
def test_no_sizes(text):
    with pytest.raises(ValueError, match="must be a size such as 2GB or 512MiB, got '"):
        parse_size(text)


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Writes files of /proc and /sys/fs/cgroup of a machine with 8000 kB available."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "groups")

    def write_files(**files):
        for name, text in {"proc/meminfo": "MemAvailable: 8000 kB\n", **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    return write_files


def test_the_available_memory(system):
    assert memory.available() is None
    system()
    assert memory.available() == 8000 * 1024


@pytest.mark.parametrize("limit, left", [("max", 8000 * 1024), ("5000", 2300), ("100", 0)])
def test_the_available_memory_in_a_container(system, limit, left):
    """The limit of the group around it counts; cached files can be dropped."""
    files = {
        "proc/self/cgroup": "0::/outer/inner\n",
        "groups/outer/inner/memory.max": "max",
        "groups/outer/memory.max": limit,
        "groups/outer/memory.current": "3000",
        "groups/outer/memory.stat": "anon 2\ninactive_file 300\n",
    }
    system(**files)
    assert memory.available() == left


def test_the_available_memory_in_an_older_container(system):
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/\n4:memory:/a\n0::/\n",
        "groups/memory/a/memory.limit_in_bytes": "9000",
        "groups/memory/a/memory.usage_in_bytes": "4000",
        "groups/memory/a/memory.stat": "total_inactive_file 1000",
    }
    system(**files)
    assert memory.available() == 6000


VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10.
Pages active:                            500.
Pages inactive:                           20.
Pages speculative:                         3.
Pages throttled:                           0.
"Translation faults":                    900.
Pages purgeable:                           4.
"""


def test_memory_on_a_mac(system, monkeypatch):
    answers = {"vm_stat": VM_STAT, "ps": "  1234\n"}

    def run(command, **_):
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, answers[command[0]])

    asked = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(memory.subprocess, "run", run)
    assert memory.available() == 37 * 16384
    assert memory.resident(42) == 1234 * 1024
    assert asked[-1] == ("ps", "-o", "rss=", "-p", "42")
    usage = types.SimpleNamespace(ru_maxrss=5_000_000)  # bytes there
    monkeypatch.setattr(memory.resource, "getrusage", lambda who: usage)
    assert memory.peak() == 5_000_000
    answers |= {"vm_stat": "", "ps": ""}  # nothing is known: the process has ended
    assert memory.available() is None and memory.resident(42) is None


def windows(closed):
    """Windows's libraries, with a process 42 and this one."""

    def open_process(rights, inherits, number):
        return 7 if number in (42, os.getpid()) else None

    def process_memory(handle, memory, size):
        found = memory._obj
        assert handle.value == 7 and size == found.size == ctypes.sizeof(found)
        found.working_set, found.peak_working_set = 3000, 9000
        return 1

    def machine_memory(memory):
        assert memory._obj.size == 64
        memory._obj.available = 5 * 10**9
        return 1

    kernel = types.SimpleNamespace(
        OpenProcess=open_process,
        CloseHandle=lambda handle: closed.append(handle.value),
        K32GetProcessMemoryInfo=process_memory,
        GlobalMemoryStatusEx=machine_memory,
    )
    return types.SimpleNamespace(kernel32=kernel)


def test_memory_on_windows(system, monkeypatch):
    closed = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(memory, "resource", None)
    monkeypatch.setattr(memory.ctypes, "windll", windows(closed), raising=False)
    assert memory.available() == 5 * 10**9
    assert (memory.resident(42), memory.resident(), memory.peak()) == (3000, 3000, 9000)
    assert memory.resident(41) is None
    assert closed == [7] * 3


def test_the_peak_is_at_least_what_is_resident():
    peak, resident = memory.peak(), memory.resident()
    assert peak > 10**6 and (resident is None or resident > 10**6)


# ---- tries ----


def test_what_does_not_fit(hungry, capsys, tmp_path):
    before = {p.name for p in tmp_path.iterdir()}
    assert main(["find-batch-size", hungry, "seed=5", "--memory", "300MB"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and {p.name for p in tmp_path.iterdir()} - before <= {"__pycache__"}
    header, *rows = out.partition("\n\n")[0].splitlines()
    assert header.split() == ["batch", "size", "memory", "time", "per", "example"]
    assert [row.split()[0] for row in rows] == ["2", "4", "3"]
    assert ["does not fit" in row for row in rows] == [False, True, True]
    assert "memory: 300.0 MB, as given" in out
    assert "suggested batch size: 2, the largest that fits\n" in out
    train, find = (line.strip() for line in out.splitlines() if line.startswith("  tinynet"))
    assert train == "tinynet train digits.toml --set run.seed=5 data.batch_size=2"
    assert find == train.replace("train", "find-lr")


def test_the_whole_training_set_for_programs(write, digits, capsys):
    words = ["optimizer.accumulate=2", "run.compile=true", "ema.decay=0.9", "data.batch_size=2000"]
    assert main(["find-batch-size", write(digits), *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (one,) = found["tries"]
    assert one["batch_size"] == found["suggestion"] == found["examples"] == 1290
    assert one["fits"] and one["example_seconds"] > 0
    assert found["available"] and 0 < found["before_bytes"] <= one["peak_bytes"] < found["memory"]
    assert found["command"].endswith("ema.decay=0.9 data.batch_size=1290")
    assert main([*shlex.split(found["command"])[1:], "run.epochs=1"]) == 0


def test_nothing_fits(write, digits, capsys):
    words = ["--memory", "2MB", "data.batch_size=1"]
    assert main(["find-batch-size", write(digits), *words]) == 1
    assert "Not even a batch of one example fits." in capsys.readouterr().out


def test_a_try_that_dies(hungry, tmp_path):
    (tmp_path / "dies").touch()
    with pytest.raises(TrainError, match="a try with 2 examples failed\n  a line on stdout"):
        find_batch_size(hungry)


def test_the_answers_of_a_try(hungry, tmp_path):
    request = {"config": hungry, "overrides": {"run.seed": 1}}
    found = answer({**request, "batch_size": 2})
    assert found["fits"] and found["examples"] == 1290 and found["seconds"] > 0
    assert answer({**request, "batch_size": 3}) == {"fits": False}
    (tmp_path / "fails").touch()
    found = answer({**request, "batch_size": 2})
    assert found["exit_code"] == 2 and "this model fails" in found["error"]


def test_an_error_of_a_try_is_that_of_the_command(write, digits, capsys, monkeypatch):
    """It is reported as by other commands."""
    monkeypatch.setattr(batch_sizes, "_answer", lambda request, limit: answer(request))
    assert main(["find-batch-size", write(digits), "model.sizes=[3, 10]"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "the model, the loss and the data do not fit together" in err


@pytest.mark.parametrize("code", [-9, 137])
def test_a_try_that_the_system_kills(code, write, digits, monkeypatch):
    program = f"import os, signal; os.kill(os.getpid(), 9) if {code} < 0 else os._exit({code})"
    monkeypatch.setattr(batch_sizes, "_PROGRAM", ["-c", program])
    request = {"config": write(digits), "overrides": [], "batch_size": 2}
    if code < 0:
        assert batch_sizes._answer(request, 10**9) == {"fits": False}
    else:
        with pytest.raises(TrainError, match="a try with 2 examples failed"):
            batch_sizes._answer(request, 10**9)


def test_a_try_ends_with_what_watches_it(write, digits):
    """It would be alone with its memory."""
    starter = (
        "import os, subprocess, sys; "
        f"subprocess.Popen([sys.executable, *{batch_sizes._PROGRAM}, str(os.getpid())]); "
        "print('started', flush=True)"
    )
    reader, writer = os.pipe()  # a request that never ends
    command = [sys.executable, "-c", starter]
    with subprocess.Popen(command, stdin=reader, stdout=subprocess.PIPE) as started:
        os.close(reader)
        assert started.stdout.read() == b"started\n"  # until the try has ended, too
    os.close(writer)


# ---- what is refused ----


def test_what_is_refused(write, digits, capsys, tmp_path, monkeypatch):
    path = write(digits)

    def refused(*words):
        assert main(["find-batch-size", path, *words]) == 2
        out, err = capsys.readouterr()
        assert out == "" and "Traceback" not in err
        return err

    assert refused("--memory", "2") == (
        "the memory must be a size such as 2GB or 512MiB, got '2'\n"
    )
    assert "2 mistakes; nothing was written." in refused("optimizer.lrr=1", "model.sizes=3")
    with pytest.raises(UsageError, match="at least a byte, got 0"):
        find_batch_size(path, memory=0)
    monkeypatch.setattr(batch_sizes, "available", lambda: None)
    assert "does not report the available memory" in refused()
    monkeypatch.setattr(batch_sizes, "peak", lambda: None)
    assert "does not report the peak memory" in refused("--memory", "1GB")
    assert [p.name for p in tmp_path.iterdir()] == [path]
