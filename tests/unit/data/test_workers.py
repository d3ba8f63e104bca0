"""Workers of a DataLoader, threads and processes: what they give, when, and how they end."""

import ctypes
import faulthandler
import gc
import inspect
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import tinynet as tn
from tests.tools.patience import PATIENCE
from tinynet.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset
from tinynet.data import get_worker_info as worker_info
from tinynet.data.loading import processes as processes_module

pytestmark = pytest.mark.filterwarnings(
    "ignore:This DataLoader will create",  # which depends on the machine
    "ignore:.*use of fork:DeprecationWarning",  # Python's, where other threads run
)

THREADS = {"worker_method": "thread"}
FORK = {"multiprocessing_context": "fork"}
SPAWN = {"multiprocessing_context": "spawn"}
KINDS = [pytest.param(THREADS, id="threads"), pytest.param(FORK, id="processes")]


def seeded(seed=0):
    return tn.Generator().manual_seed(seed)


def plain(value):
    """Nested lists of what nested sequences of tensors hold."""
    if isinstance(value, tn.Tensor):
        return value.tolist()
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def until(condition):
    """Wait for something that happens soon."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.005)


def collected():
    """Collect garbage; while another thread does, Python returns at once."""
    gc.collect()
    return True


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def worker_threads():
    return [t for t in threading.enumerate() if t.name.startswith("DataLoader worker")]


class Numbers(Dataset):
    """0, 1, 2, ...; each as a function makes it of its index."""

    def __init__(self, n=10, made=None):
        self.n, self.made = n, made

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return index if self.made is None else self.made(index)


def drawn(index):
    return index, tn.rand(2), random.random(), np.random.rand(), np.random.randint(1000)


def drawn_by_tinynet(index):
    return index, tn.rand(2), tn.default_generator.numpy.normal()


# ---- the same batches ----


@pytest.mark.parametrize("options", [FORK, SPAWN], ids=["fork", "spawn"])
@pytest.mark.parametrize("num_workers", [1, 3])
def test_batches_and_draws_are_the_same_for_any_number_of_processes(num_workers, options):
    def passes(**how):
        made = {"shuffle": True, "generator": seeded(5), "seed_batches": True, **how}
        loader = DataLoader(Numbers(23, drawn), 4, **made)
        return [plain(list(loader)) for _ in range(2)]

    expected = passes()
    assert expected[0] != expected[1]
    assert passes(num_workers=num_workers, **options) == expected


@pytest.mark.parametrize("num_workers", [1, 3, 8])
@pytest.mark.parametrize("persistent", [False, True])
def test_batches_and_draws_are_the_same_for_any_number_of_threads(num_workers, persistent):
    def passes(**how):
        tn.manual_seed(7)
        loader = DataLoader(Numbers(23, drawn_by_tinynet), 4, shuffle=True, **how)
        return [plain(list(loader)) for _ in range(3)], tn.rand(1).item()

    expected = passes()
    assert passes(num_workers=num_workers, persistent_workers=persistent) == expected


def test_no_two_batches_draw_the_same():
    loader = DataLoader(Numbers(40, drawn), num_workers=0, batch_size=1)
    draws = [sample[1:] for _ in range(2) for sample in plain(list(loader))]
    for column in zip(*draws, strict=True):
        assert len({str(value) for value in column}) > 70


def test_what_a_dataset_draws_leaves_no_trace():
    random.seed(1), np.random.seed(1)
    python, numpy = random.getstate(), np.random.get_state(legacy=False)
    source = seeded()
    batches = iter(DataLoader(Numbers(4, drawn), generator=source, seed_batches=True))
    tn.manual_seed(3)
    state = tn.get_rng_state()
    list(batches)
    assert random.getstate() == python
    assert str(np.random.get_state(legacy=False)) == str(numpy)
    assert tn.equal(tn.get_rng_state(), state)


def test_without_workers_numpy_and_python_go_on_as_in_pytorch():
    random.seed(1), np.random.seed(1)
    expected = [(random.random(), np.random.rand()) for _ in range(8)]
    random.seed(1), np.random.seed(1)
    samples = Numbers(3, lambda index: tn.tensor([random.random(), np.random.rand()]).double())
    loader = DataLoader(samples, 2)
    found = [row.tolist() for _ in range(2) for batch in loader for row in batch]
    found += [[random.random(), np.random.rand()] for _ in range(2)]
    assert np.allclose(found, expected)


def test_a_loader_inside_a_dataset():
    def inner(index):
        batches = plain(list(DataLoader(Numbers(3, drawn), 2, seed_batches=True)))
        return str([index, batches, np.random.rand()])

    def passed(**how):
        own = {"generator": seeded(), "seed_batches": True}
        return list(DataLoader(Numbers(4, inner), 2, **own, **how))

    assert passed() == passed() == passed(num_workers=2, **FORK)


@pytest.mark.parametrize("options", KINDS)
def test_batches_of_all_kinds_arrive(options):
    samples = [
        {"x": tn.ones(2, 3) * i, "name": str(i), "pair": (i, np.float32(i)), "no": tn.zeros(0)}
        for i in range(5)
    ]
    expected = list(DataLoader(samples, 2))
    found = list(DataLoader(samples, 2, num_workers=2, **options))
    assert repr(found) == repr(expected)
    found[0]["x"][0] = 7  # they can be written to


@pytest.mark.parametrize("options", KINDS)
def test_layouts_and_large_arrays_arrive(options):
    arrays = [np.arange(6.0).reshape(2, 3).T, np.arange(10)[::3], np.full((500, 700), 3.0)]
    found = list(DataLoader(arrays, batch_size=None, num_workers=1, **options))
    for array, tensor in zip(arrays, found, strict=True):
        assert tensor.numpy().tobytes() == array.tobytes()
        tensor.zero_()


@pytest.mark.parametrize("options", KINDS)
def test_samplers_with_workers(options):
    loader = DataLoader(Numbers(), batch_sampler=[[3, 1], [2], [9, 9, 9]], num_workers=2, **options)
    assert plain(list(loader)) == [[3, 1], [2], [9, 9, 9]]
    assert len(loader) == len(iter(loader)) == 3


# ---- in advance, and in order ----


class Flags:
    """Flags that a dataset raises, and waits for, in whatever kind of worker."""

    def __init__(self, kind, n=10):
        maker = threading if kind is THREADS else multiprocessing.get_context("fork")
        self.raised = [maker.Event() for _ in range(n)]

    def wait(self, index):
        assert self.raised[index].wait(PATIENCE), f"{index} is not loaded"
        return True


@pytest.mark.parametrize("options", KINDS)
def test_the_next_batch_is_loaded_while_the_first_is_held(options):
    flags = Flags(options)

    def made(index):
        flags.raised[index].set()
        return index

    batches = iter(DataLoader(Numbers(6, made), num_workers=1, prefetch_factor=2, **options))
    for expected in range(4):
        held = next(batches)
        assert held.item() == expected
        assert flags.wait(expected + 1) and flags.wait(expected + 2)  # without asking for it


@pytest.mark.parametrize("options", KINDS)
def test_two_workers_load_at_once_and_order_is_kept(options):
    flags = Flags(options)

    def made(index):
        flags.raised[index].set()
        if index % 2 == 0:  # the first of each two ends after the second has begun
            flags.wait(index + 1)
        return index

    loader = DataLoader(Numbers(6, made), num_workers=2, **options)
    assert plain(list(loader)) == [[0], [1], [2], [3], [4], [5]]


@pytest.mark.parametrize("options", KINDS)
def test_out_of_order(options):
    flags = Flags(options)

    def made(index):
        if index == 0:
            flags.wait(9)  # raised below, when another batch has come
        return index

    loader = DataLoader(Numbers(6, made), num_workers=2, in_order=False, **options)
    found = []
    for batch in loader:
        found.append(batch.item())
        flags.raised[9].set()
    assert found[0] == 1
    assert sorted(found) == [0, 1, 2, 3, 4, 5]


def test_not_more_than_prefetch_factor_batches_per_worker_in_advance():
    asked = []
    loader = DataLoader(Numbers(100, asked.append), 1, collate_fn=len, num_workers=2)
    batches = iter(loader)
    until(lambda: len(asked) == 4)
    for given in range(1, 20):
        next(batches)
        until(lambda given=given: len(asked) == 4 + given)


# ---- errors ----


class Odd(Exception):  # noqa: N818
    def __init__(self, number, text):
        super().__init__(number, text)
        self.number = number


class Unpicklable(Exception):  # noqa: N818
    def __init__(self, number, *, how):
        super().__init__(f"{number} {how}")


def test_retold_as_in_pytorch():
    def made(index):
        raise ValueError(f"bad sample {index}")

    for options, kind in ((THREADS, "thread"), (FORK, "process")):
        with pytest.raises(ValueError) as caught:
            list(DataLoader(Numbers(2, made), num_workers=1, **options))
        first, *middle, last = str(caught.value).splitlines()
        assert first == f"Caught ValueError in DataLoader worker {kind} 0."
        assert middle[0] == "Original Traceback (most recent call last):"
        assert 'raise ValueError(f"bad sample {index}")' in str(caught.value)
        assert last == "ValueError: bad sample 0"
        assert type(caught.value) is ValueError


def test_a_key_error_is_readable():
    with pytest.raises(KeyError) as caught:
        list(DataLoader([{"a": 1}, {"b": 1}], 2, num_workers=1))
    assert str(caught.value).splitlines()[-1] == "KeyError: 'a'"


@pytest.mark.parametrize("options", KINDS)
def test_an_error_with_arguments_of_its_own(options):
    def made(index):
        raise Odd(index, "odd")

    with pytest.raises(Odd) as caught:
        list(DataLoader(Numbers(2, made), num_workers=1, **options))
    assert caught.value.args == (0, "odd")
    assert caught.value.number == 0
    assert caught.value.__notes__[0].startswith("Caught Odd in DataLoader worker ")


def test_an_error_that_cannot_be_pickled():
    def made(index):
        raise Unpicklable(index, how="badly")

    with pytest.raises(RuntimeError, match="Caught Unpicklable in DataLoader worker process 0"):
        list(DataLoader(Numbers(2, made), num_workers=1, **FORK))
    with pytest.raises(Unpicklable, match="0 badly"):
        list(DataLoader(Numbers(2, made), num_workers=1))


def test_a_batch_that_cannot_be_pickled():
    loader = DataLoader([lambda: 1], batch_size=None, num_workers=1, **FORK)
    with pytest.raises(Exception, match="while sending from DataLoader worker process 0"):
        list(loader)
    x = tn.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(DataLoader([x * 2], batch_size=None, num_workers=1, **FORK))


@pytest.mark.parametrize(
    "options", [{"num_workers": 0}, *({"num_workers": 2, **k.values[0]} for k in KINDS)]
)
def test_the_pass_goes_on_after_an_error(options):
    def made(index):
        if index == 3:
            raise ValueError("three")
        return index

    batches = iter(DataLoader(Numbers(6, made), **options))
    found = []
    while (batch := _next_or_error(batches)) is not None:
        found.append(batch)
    assert found == [0, 1, 2, "ValueError", 4, 5]


def _next_or_error(batches):
    try:
        return next(batches).item()
    except StopIteration:
        return None
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("num_workers", [0, 1])
def test_stop_iteration_is_an_error_and_not_the_end(num_workers):
    def made(index):
        return next(iter([]))

    with pytest.raises(RuntimeError, match="the dataset or collate_fn raised StopIteration"):
        list(DataLoader(Numbers(3, made), num_workers=num_workers))


@pytest.mark.parametrize("options", KINDS)
def test_an_exit_arrives(options):
    with pytest.raises(SystemExit, match="DataLoader worker"):
        list(DataLoader(Numbers(3, sys.exit), num_workers=2, **options))


@pytest.mark.parametrize("options", KINDS)
def test_an_error_of_worker_init_fn(options):
    def init(worker):
        raise OSError(f"no file for {worker}")

    with pytest.raises(OSError, match=r"Caught OSError in DataLoader worker \w+ 0"):
        list(DataLoader(Numbers(3), num_workers=2, worker_init_fn=init, **options))


def test_spawned_workers_need_what_can_be_pickled():
    loader = DataLoader(Numbers(3, lambda index: index), num_workers=1, **SPAWN)
    with pytest.raises(
        (AttributeError, TypeError, processes_module.pickle.PicklingError)
    ) as caught:
        list(loader)
    assert "start method 'spawn'" in caught.value.__notes__[0]


# ---- workers that die ----


def die(how):
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "exit":
        os._exit(3)
    faulthandler.disable()
    ctypes.string_at(0)  # a segmentation fault


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("kill", "killed by SIGKILL"),
        ("exit", "with exit code 3"),
        ("segfault", "killed by SIGSEGV"),
    ],
)
def test_a_process_that_dies_is_an_error(how, told, persistent, tmp_path):
    cured = tmp_path / "cured"

    def made(index):
        if index == 5 and not cured.exists():
            die(how)
        return index

    loader = DataLoader(Numbers(9, made), num_workers=2, persistent_workers=persistent, **FORK)
    batches = iter(loader)
    assert [next(batches).item() for _ in range(2)] == [0, 1]
    with pytest.raises(RuntimeError) as caught:
        list(batches)
    assert str(caught.value).startswith("DataLoader worker (pid(s) ")
    assert f") exited unexpectedly ({told})" in str(caught.value)
    assert next(batches, None) is None
    cured.touch()
    assert plain(list(loader)) == [[i] for i in range(9)]  # a new pass has new workers


def test_a_process_that_is_killed_while_it_sends():
    batches = iter(DataLoader([np.zeros(10_000_000)] * 4, num_workers=1, **FORK))
    next(batches)
    os.kill(batches._pool.workers[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(batches)


def test_idle_processes_that_are_killed():
    loader = DataLoader(Numbers(4), num_workers=2, persistent_workers=True, **FORK)
    batches = iter(loader)
    workers = batches._pool.workers
    list(batches)
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
        until(lambda worker=worker: not is_alive(worker.pid))
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(loader)
    assert plain(list(loader)) == [[0], [1], [2], [3]]


@pytest.mark.parametrize("options", KINDS)
def test_timeout(options):
    flags = Flags(options)
    loader = DataLoader(Numbers(3, flags.wait), num_workers=1, timeout=0.05, **options)
    with pytest.raises(RuntimeError, match=r"^DataLoader timed out after 0\.05 seconds"):
        list(loader)
    assert len(list(DataLoader(Numbers(3), num_workers=1, timeout=PATIENCE, **options))) == 3
    if options is THREADS:  # processes were terminated
        [flag.set() for flag in flags.raised]


# ---- workers that are no longer needed ----


@pytest.mark.parametrize("persistent", [False, True])
def test_threads_end(persistent):
    before = set(worker_threads())  # of other tests; they may end meanwhile

    def ours():
        return len(set(worker_threads()) - before)

    loader = DataLoader(Numbers(20), num_workers=3, persistent_workers=persistent)
    for _batch in loader:  # given up
        assert ours() == 3
        break
    if not persistent:
        until(lambda: ours() == 0)
    list(loader)  # exhausted
    if not persistent:
        until(lambda: ours() == 0)
    held = iter(loader)
    assert ours() == 3
    del loader, held, _batch
    gc.collect()
    until(lambda: ours() == 0)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("end", ["break", "exhausted", "in a cycle", "loader first"])
def test_processes_end(end, persistent):
    loader = DataLoader(Numbers(20), num_workers=2, persistent_workers=persistent, **FORK)
    batches = iter(loader)
    pids = [worker.pid for worker in batches._pool.workers]
    assert all(map(is_alive, pids))
    next(batches)
    if end == "exhausted":
        list(batches)
    elif end == "in a cycle":
        cycle = [batches]
        cycle.append(cycle)
        del cycle
    if end != "loader first":
        del batches
        until(lambda: collected() and any(map(is_alive, pids)) == persistent)
    del loader
    if end == "loader first":
        gc.collect()
        assert plain(list(batches))[-1] == [19]
        del batches
    until(lambda: collected() and not any(map(is_alive, pids)))


def test_a_busy_process_is_ended():
    flags = Flags(FORK)
    loader = DataLoader(Numbers(3, flags.wait), num_workers=1, **FORK)
    batches = iter(loader)
    pid = batches._pool.workers[0].pid
    del batches
    assert not is_alive(pid)


PROGRAM = """
import os, sys
from tinynet.data import DataLoader

class Slow:
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        return index

loader = DataLoader(Slow(), num_workers=2, multiprocessing_context={context!r},
                    persistent_workers={persistent})
if __name__ == "__main__":
    batches = iter(loader)
    next(batches), next(batches)  # both are at work
    print(*[worker.pid for worker in batches._pool.workers], flush=True)
    {then}
"""


@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.parametrize(
    ("then", "number"),
    [
        ("import time; time.sleep(1000)", signal.SIGINT),
        ("import time; time.sleep(1000)", signal.SIGKILL),
        ("import time; time.sleep(1000)", signal.SIGTERM),
        ("[next(batches) for _ in iter(int, 1)]", signal.SIGINT),
        ("sys.exit(0)", None),
    ],
    ids=["Ctrl-C", "kill", "terminate", "Ctrl-C while waiting", "exit"],
)
def test_no_process_stays_behind(context, then, number, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(context=context, persistent=number is None, then=then))
    run = subprocess.Popen(
        [sys.executable, "-W", "ignore", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    pids = [int(pid) for pid in run.stdout.readline().split()]
    assert len(pids) == 2
    if number == signal.SIGINT:
        os.killpg(run.pid, number)  # as the terminal does: to all of them
    elif number is not None:
        run.send_signal(number)
    _, errors = run.communicate(timeout=PATIENCE)
    until(lambda: not any(map(is_alive, pids)))
    if number == signal.SIGINT:
        assert errors.count("KeyboardInterrupt") == errors.count("Traceback") == 1
    elif number is None:
        assert (run.returncode, errors) == (0, "")


def test_ctrl_c_with_threads():
    program = (
        "import time; from tinynet.data import DataLoader\n"
        "class Slow(list):\n"
        "    def __getitem__(self, index): print(index, flush=True); time.sleep(1000)\n"
        "list(DataLoader(Slow([1, 2]), num_workers=1))"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "0\n"
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=PATIENCE)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"


# ---- what a worker knows ----


@pytest.mark.parametrize("options", KINDS)
def test_worker_info(options):
    def made(index):
        info = worker_info()
        return info.id, info.num_workers, info.seed, info.worker_method, info.dataset.n

    assert worker_info() is None
    loader = DataLoader(Numbers(4, made), batch_size=None, num_workers=2, **options)
    found = list(loader)
    assert [sample[:2] for sample in found] == [[0, 2], [1, 2], [0, 2], [1, 2]]
    assert found[1][2] == found[0][2] + 1
    assert found[0][3:] == ["thread" if options is THREADS else "multiprocessing", 4]
    assert list(loader)[0][2] != found[0][2]
    assert worker_info() is None


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("persistent", [False, True])
def test_each_worker_has_its_own_copy_of_the_dataset(options, persistent):
    class Own(Dataset):
        number, batches = None, 0

        def __len__(self):
            return 4

        def __getitem__(self, index):
            self.batches += 1
            return self.number, self.batches

    def init(worker):
        worker_info().dataset.dataset.number = worker * 10

    own = Subset(Own(), range(4))
    loader = DataLoader(
        own,
        batch_size=None,
        num_workers=2,
        worker_init_fn=init,
        persistent_workers=persistent,
        **options,
    )
    first, second = list(loader), list(loader)
    assert first == [[0, 1], [10, 1], [0, 2], [10, 2]]
    assert second == ([[0, 3], [10, 3], [0, 4], [10, 4]] if persistent else first)
    assert own.dataset.number is None


def test_threads_share_the_data_itself():
    data = TensorDataset(tn.zeros(3))
    (batch,) = DataLoader([data.tensors[0]], batch_size=None, num_workers=1)
    assert batch is data.tensors[0]


def test_what_cannot_be_copied_is_shared():
    class Locked(Numbers):
        def __copy__(self):
            raise TypeError("not me")

    assert plain(list(DataLoader(Locked(3), num_workers=2))) == [[0], [1], [2]]


def test_two_passes_at_a_time_with_persistent_workers():
    loader = DataLoader(Numbers(4), num_workers=2, persistent_workers=True)
    pairs = [(a.item(), b.item()) for a, b in zip(loader, loader, strict=True)]
    assert pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_a_pass_that_was_given_up_does_not_show_in_the_next():
    for options in (THREADS, FORK):
        loader = DataLoader(Numbers(9), num_workers=2, persistent_workers=True, **options)
        for _ in range(3):
            assert next(iter(loader)).item() == 0
        assert plain(list(loader)) == [[i] for i in range(9)]


def test_no_warnings_of_numpy_in_threads():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(DataLoader(Numbers(3, lambda i: tn.zeros(2).log()), num_workers=2))


def test_threads_need_no_multiprocessing():
    code = (
        "import sys; from tinynet.data import DataLoader\n"
        "print(len(list(DataLoader([1, 2, 3], num_workers=2))), 'multiprocessing' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "3 False\n"


def test_the_default_dtype_goes_to_spawned_processes():
    tn.set_default_dtype(tn.float64)
    try:
        (batch,) = DataLoader([1, 2.5], 2, num_workers=1, **SPAWN)
    finally:
        tn.set_default_dtype(tn.float32)
    assert batch.dtype is tn.float64


def test_more_processes_than_processors_are_warned_about():
    with pytest.warns(UserWarning, match="^This DataLoader will create 5000 worker processes") as w:
        DataLoader([1], num_workers=5000, **FORK)
    assert w[0].filename == __file__


# ---- PyTorch ----


@pytest.mark.oracle
def test_the_signature_is_pytorchs():
    torch_loader = __import__("torch").utils.data.DataLoader
    theirs = inspect.signature(torch_loader).parameters
    ours = inspect.signature(DataLoader).parameters
    assert list(ours) == [*theirs, "worker_method", "seed_batches"]
    assert [p.default for p in theirs.values()] == [ours[name].default for name in theirs]
    assert [p.kind for p in theirs.values()] == [ours[name].kind for name in theirs]


@pytest.mark.oracle
def test_pytorch_retells_errors_in_the_same_words():
    lib = __import__("torch").utils.data

    def made(index):
        raise ValueError(f"bad sample {index}")

    texts = []
    for loader in (lib.DataLoader, DataLoader):
        with pytest.raises(ValueError) as caught:
            list(loader(Numbers(2, made), num_workers=1, **FORK))
        texts.append(str(caught.value).splitlines())
    assert texts[0][:2] == texts[1][:2]
    assert texts[0][-1] == texts[1][-1]


class Endless(IterableDataset):
    def __iter__(self):
        while True:
            yield tn.rand(1)


@pytest.mark.parametrize("options", KINDS)
def test_an_endless_stream_can_be_left(options):
    loader = DataLoader(Endless(), num_workers=2, **options)
    found = [batch.item() for batch, _ in zip(loader, range(5))]  # noqa: B905
    assert len(set(found)) == 5


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("options", [{}, {"worker_method": "multiprocessing"}], ids=str)
def test_worker_init_fn_seeds_the_batches_of_its_worker(options, persistent):
    loader = DataLoader(
        Drawn(4),
        batch_size=None,
        num_workers=2,
        worker_init_fn=seed_worker,
        persistent_workers=persistent,
        **options,
    )
    first, second = ([float(x) for x in loader] for _ in range(2))
    assert len({*first}) == 4 and (first == second) is not persistent
    again = DataLoader(
        Drawn(4), batch_size=None, num_workers=2, worker_init_fn=seed_worker, **options
    )
    assert [float(x) for x in again] == first


class Drawn(Numbers):
    def __getitem__(self, index):
        return tn.rand(())


def seed_worker(number):
    assert tn.initial_seed() == tn.data.get_worker_info().seed
    tn.manual_seed(100 + number)
