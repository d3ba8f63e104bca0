"""Threads that share the work of a kernel; memory that is kept."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import tinynet as tn
from tests.tools.patience import PATIENCE
from tests.tools.rounding import assert_product, bound
from tinynet.base import memory
from tinynet.kernels import threads
from tinynet.kernels.threads import processors, products


@pytest.fixture
def three():
    before = threads.get_count()
    threads.set_count(3)
    yield
    threads.set_count(before)


def test_every_part_is_done_once(three):
    done = []
    threads.share(done.append, range(100))
    assert sorted(done) == list(range(100))
    threads.share(done.append, [])
    assert len(done) == 100


def test_helpers_work_at_the_same_time(three):
    meeting = threading.Barrier(3, timeout=PATIENCE)
    names = set()

    def part(_):
        meeting.wait()
        names.add(threading.current_thread().name)

    threads.share(part, range(3))
    assert len(names) > 1  # helpers have one name


def test_slices_cover_a_length():
    assert threads.slices(7, 3) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert threads.slices(0, 3) == []


def test_the_first_failure_is_raised_and_the_next_work_is_done(three):
    done = []

    def part(number):
        done.append(number)
        if number in (4, 7):
            raise ValueError(number)

    with pytest.raises(ValueError, match="4"):
        threads.share(part, range(10))
    assert sorted(done) == list(range(10))
    threads.share(done.append, range(5))
    assert len(done) == 15


def test_work_of_work_and_of_other_threads_is_done_by_whoever_has_it(three):
    def outer(_):
        inner = []
        threads.share(inner.append, range(4))
        assert inner == [0, 1, 2, 3]

    threads.share(outer, range(6))
    failures = []

    def other():
        try:
            for _ in range(50):
                done = []
                threads.share(done.append, range(7))
                assert sorted(done) == list(range(7))
        except BaseException as error:
            failures.append(error)

    others = [threading.Thread(target=other) for _ in range(4)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in others)


def test_blas_has_one_thread():
    found = threads.openblas.blas_function("openblas_get_num_threads")
    if found is None:
        pytest.skip("another BLAS")
    assert found[0]() == 1


SIZES = [
    (128, 784, 512), (512, 128, 784), (784, 128, 512), (1024, 128, 384), (577, 732, 110),
    (217, 274, 726), (97, 1024, 257), (4099, 64, 64), (64, 1024, 1024), (48, 2000, 2000),
    (72, 512, 784),
]  # fmt: skip


@pytest.fixture(params=["OpenBLAS", "Python"])
def pool(request, monkeypatch):
    """Whose threads compute the parts of products."""
    if request.param == "Python":
        monkeypatch.setattr(threads.openblas, "product", lambda a, b, parts: None)
        monkeypatch.setattr(products, "_LARGE", products.SHARED)
    yield
    threads.set_count(1)


COUNTS = 2, 3, 7
TURNED = [(False, False), (True, False), (False, True)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("turned", TURNED)
def test_products_do_not_depend_on_the_number_of_threads(turned, dtype, pool, request):
    """Each size meets each number in one of the layouts, with ``--full`` in all of them."""
    rng = np.random.default_rng(0)
    for place, (n, m, p) in enumerate(SIZES, TURNED.index(turned)):
        a, b = (
            rng.standard_normal(shape[::-1] if turn else shape).astype(dtype)
            for turn, shape in zip(turned, ((n, m), (m, p)), strict=True)
        )
        a, b = (x.T if turn else x for turn, x in zip(turned, (a, b), strict=True))
        threads.set_count(1)
        expected = products.dot(a, b)
        for count in COUNTS if request.config.getoption("--full") else [COUNTS[place % 3]]:
            threads.set_count(count)
            np.testing.assert_array_equal(products.dot(a, b), expected)


def test_views_and_other_dtypes_have_the_same_products(pool):
    rng, found = np.random.default_rng(0), {}
    x = rng.standard_normal((600, 300)).astype("f4")
    pairs = [
        (x, x.T), (x.T, x), (x[:, 3:], x.T[3:, :400]), (x[::2], x.T), (x[:, ::2], x.T[::2]),
        (x[::-1], x.T), (x.astype(int), x.T.astype(int)), (x.astype(complex), x.T.astype(complex)),
        (np.broadcast_to(x[:1], x.shape), x.T), (x, np.asfortranarray(x.T)),
    ]  # fmt: skip
    for count in (1, 3):
        threads.set_count(count)
        found[count] = [products.dot(a, b) for a, b in pairs]
    for one, other, (a, b) in zip(found[1], found[3], pairs, strict=True):
        np.testing.assert_array_equal(one, other)
        scale = (np.abs(a) @ np.abs(b)).max()
        assert np.abs(one - a @ b).max() <= 2 * bound(np.float32, len(b)) * scale
        assert one.dtype == (a @ b).dtype and one.flags.c_contiguous


FEW_ROWS = {  # what is computed in blocks: the shapes of a product, and which side is transposed
    "_by_columns": [
        *[(2, 768, 1030, "b"), (4, 128, 384, "b"), (16, 300, 301, "b"), (32, 256, 100, "b")],
    ],
    "_by_rows": [(1030, 2, 768, "a"), (300, 16, 301, "a"), (100, 32, 700, "a")],
    "_by_sums": [(2, 1030, 768, ""), (16, 300, 301, ""), (24, 700, 100, "")],
    "_outer": [(1030, 1, 768, "a"), (700, 1, 600, "")],
    "_transposed": [(64, 2048, 128, "b"), (33, 1024, 40, "b")],
}


@pytest.mark.parametrize(
    ("form", "rows", "inner", "columns", "transposed"),
    [(form, *shape) for form, shapes in FEW_ROWS.items() for shape in shapes],
)
def test_products_of_few_rows(form, rows, inner, columns, transposed, monkeypatch):
    draw, called = np.random.default_rng(0), []
    a, b = (draw.standard_normal(shape, np.float32) for shape in ((rows, inner), (inner, columns)))
    a = np.asfortranarray(a) if transposed == "a" else a
    b = np.asfortranarray(b) if transposed == "b" else b
    function = getattr(products, form)
    monkeypatch.setattr(products, form, lambda *given: called.append(form) or function(*given))
    monkeypatch.setattr(products, "_has_avx512", lambda: True)
    assert_product(products.dot(a, b), a, b)
    assert called == [form]
    monkeypatch.setattr(products, "_has_avx512", lambda: False)  # as on older processors
    assert_product(products.dot(a, b), a, b)


def test_other_products_are_not_cut_into_blocks():
    draw = np.random.default_rng(0)
    big, few = (draw.standard_normal((n, 2000), np.float32) for n in (300, 16))
    for a, b in ((big, big.T), (few.astype(np.float64), big.T.astype(np.float64))):
        assert products.of_few_rows(a, b) is None
    assert products.of_few_rows(few[:, ::2], big[:, ::2].T) is None


def test_stacks_do_not_depend_on_the_number_of_threads(pool):
    a, b = np.random.default_rng(0).standard_normal((2, 30, 128, 128)).astype("f4")
    found = []
    for count in (1, 4):
        threads.set_count(count)
        found.append(products.matmul(a, b))
    np.testing.assert_array_equal(*found)


def test_training_does_not_depend_on_the_number_of_threads():
    found = []
    for count in (1, 3):
        threads.set_count(count)
        tn.manual_seed(0)
        net = tn.nn.Sequential(tn.nn.Linear(600, 400), tn.nn.GELU(), tn.nn.Linear(400, 300))
        adam = tn.optim.Adam(net.parameters())
        for _ in range(3):
            adam.zero_grad()
            net(tn.randn(200, 600)).square().mean().backward()
            adam.step()
        found.append([p.detach().numpy() for p in net.parameters()])
    threads.set_count(1)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def _convolved(channels, stride, size):
    """Return a convolution with a batch that threads share, and its arguments."""
    return lambda x, w: tn.nn.functional.conv2d(x, w, stride=stride, padding=1), [
        (24, channels, size, size), (32, channels, 3, 3)
    ]  # fmt: skip


def _normed(**more):
    return lambda x: tn.nn.functional.batch_norm(x, None, None, training=True, **more)


SHARED = {  # what threads share: a function, and the shapes of its arguments
    "relu": (tn.relu, [(300_001,)]),
    "gelu": (tn.nn.functional.gelu, [(300_001,)]),
    "softmax": (lambda x: x.softmax(1), [(1200, 300)]),
    "log_softmax": (lambda x: x.log_softmax(1), [(1200, 300)]),
    "batch norm of images": (_normed(), [(40, 16, 24, 24)]),
    "batch norm of few places": (_normed(), [(300, 100, 3, 3)]),
    "max pooling": (lambda x: tn.nn.functional.max_pool2d(x, 2), [(20, 16, 32, 32)]),
    "max pooling that overlaps": (
        lambda x: tn.nn.functional.max_pool2d(x, 3, 2), [(20, 16, 32, 32)],
    ),
    "rows of windows": _convolved(32, 1, 20),
    "columns": _convolved(3, 1, 32),
    "columns with a stride": _convolved(32, 2, 20),
    "windows of single channels": (
        lambda x, w: tn.nn.functional.conv2d(x, w, padding=2, groups=8),
        [(30, 8, 30, 30), (16, 1, 5, 5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_kernels_do_not_depend_on_the_number_of_threads(name, monkeypatch):
    """Results and gradients are the same to the bit; several threads did compute them."""
    function, shapes = SHARED[name]
    rng, found, helped = np.random.default_rng(0), [], []
    inputs = [tn.tensor(3 * rng.standard_normal(shape).astype("f4")) for shape in shapes]
    inputs[0].view(-1)[:50] = -100.0  # powers of e that are too small for float32
    for x in inputs:
        x.requires_grad_()
    start = threads.sharing._Pool.start_helpers
    monkeypatch.setattr(
        threads.sharing._Pool, "start_helpers",
        lambda pool, wanted: helped.append(wanted) or start(pool, wanted),
    )  # fmt: skip
    for count in (1, 2, 3):
        threads.set_count(count)
        y = function(*inputs)
        grads = tn.autograd.grad(y, inputs, (y.detach() * 7).cos())
        found.append([y.detach().numpy(), *(g.numpy() for g in grads)])
    threads.set_count(1)
    assert len(helped) >= 2
    for other in found[1:]:
        for one, again in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, again)


@pytest.mark.parametrize("name, options", [("AdamW", {}), ("SGD", {"lr": 0.1, "momentum": 0.9})])
def test_updates_do_not_depend_on_the_number_of_threads(name, options):
    found = []
    for count in (1, 2, 3):
        threads.set_count(count)
        tn.manual_seed(0)
        params = [tn.nn.Parameter(tn.randn(*shape)) for shape in [(700, 600), (50,), (280_000,)]]
        optimizer = getattr(tn.optim, name)(params, **options)
        for _ in range(3):
            for p in params:
                p.grad = p.detach().sin()
            optimizer.step()
        found.append([p.detach().numpy() for p in params])
    threads.set_count(1)
    for other in found[1:]:
        for one, again in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, again)


@pytest.fixture
def unchosen(monkeypatch):
    """Let the number of threads be found; the clock and the system's figures are given."""
    now = Now()
    monkeypatch.setattr(threads.sharing, "_pool", threads.sharing._Pool())
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(processors, "usable", lambda: 4)
    monkeypatch.setattr(processors._Sample, "take", now.sample)
    monkeypatch.setattr(processors, "_last", now.sample())
    monkeypatch.setattr(threads.sharing.time, "perf_counter", lambda: now.clock)
    now.clock += 5
    return now


class Now:
    """Times of a system with four processors."""

    clock, idle, own = 10.0, 0.0, 0.0

    def sample(self):
        return processors._Sample(self.clock, self.idle, self.own)

    def pass_by(self, seconds, busy):
        """Let other programs use ``busy`` processors, and this one another."""
        self.clock += seconds
        self.idle += seconds * max(0, 3 - busy)
        self.own += seconds * min(1, 4 / (busy + 1))


@pytest.mark.parametrize(
    "busy, count", [(0, 4), (1, 3), (2, 2), (3, 1), (6, 1), (0.1, 4), (1.5, 2)]
)
def test_threads_leave_busy_processors_to_others(unchosen, busy, count):
    unchosen.clock -= 5
    unchosen.pass_by(5, busy)
    assert threads.get_count() == count
    unchosen.pass_by(5, 0)
    assert threads.get_count() == 4  # they are free again
    threads.set_count(2)
    unchosen.pass_by(5, 0)
    assert threads.get_count() == 2


@pytest.mark.parametrize("value, count", [("3", 3), ("2,4", 2), ("0", 4), ("many", 4), ("", 4)])
def test_the_environment_chooses(unchosen, monkeypatch, value, count):
    unchosen.clock -= 5
    unchosen.pass_by(5, 0)
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert threads.get_count() == count
    threads.limit(1)
    assert threads.get_count() == (1 if count == 4 else count)


def test_a_system_that_does_not_tell(unchosen):
    unchosen.idle = None
    assert threads.get_count() == 4


@pytest.mark.parametrize(
    "groups, files, expected",
    [
        ("0::/", {"cpu.max": "150000 100000"}, [1.5]),
        ("0::/a/b", {"cpu.max": "max 100000", "a/cpu.max": "300000 100000"}, [3.0]),
        ("0::/a", {"a/cpu.max": "nonsense"}, []),
        ("4:cpu,cpuacct:/x", {"cpu/x/cpu.cfs_quota_us": "200000",
                              "cpu/x/cpu.cfs_period_us": "100000"}, [2.0]),
        ("4:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, []),
        ("3:memory:/", {}, []),
    ],
)  # fmt: skip
def test_limits_of_cgroups(groups, files, expected, monkeypatch, tmp_path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text(groups)
    monkeypatch.setattr(processors, "GROUPS", f"{tmp_path}/own")
    monkeypatch.setattr(processors, "LIMITS", str(tmp_path))
    assert [*processors._quotas()] == expected


def test_floating_point_reports_are_those_of_the_caller(three):
    x = np.zeros(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(divide="ignore", invalid="ignore"):
            threads.share(lambda _: x / x, range(50))


def test_a_forked_process_starts_its_own_threads(three):
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    code = """
import os, threading
from tinynet.kernels import threads
threads.set_count(2)
done = []
threads.share(done.append, range(4))
child = os.fork()
if not child:
    assert threading.active_count() == 1
    meeting = threading.Barrier(2, timeout=600)
    threads.share(lambda _: meeting.wait(), range(2))
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=PATIENCE)


def test_without_threads_the_caller_does_it_all(three, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads.sharing, "_pool", threads.sharing._Pool())
    threads.set_count(3)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    done = []
    threads.share(done.append, range(4))
    assert done == [0, 1, 2, 3] and threads.get_count() == 1


def test_nothing_is_started_by_the_import():
    code = "import threading, tinynet; assert threading.active_count() == 1"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


def test_set_num_threads_is_for_kernels_too():
    before = tn.get_num_threads()
    tn.set_num_threads(2)
    assert threads.get_count() == 2 == tn.get_num_threads()
    tn.set_num_threads(before)


@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (4099,), (), (3, 1, 7)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_aligned_memory(shape, dtype):
    for made in (memory.aligned(shape, dtype) for _ in range(20)):
        assert made.shape == shape and made.dtype == dtype and made.flags.writeable
        assert made.ctypes.data % memory.LINE == 0
        made[...] = 1


def test_the_settings_of_the_environment_are_left_alone(monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    assert not memory.keep_freed()
    monkeypatch.delenv("MALLOC_ARENA_MAX")
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert not memory.keep_freed()
