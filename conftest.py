"""Test options and fixtures; at the top so that they also serve the docstring examples."""

import collections
import gc
import importlib
import importlib.metadata
import os
import pathlib
import signal

import hypothesis
import pytest

os.environ["TINYNET_COMMAND"] = "python -m tinynet"  # whatever started pytest
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # whatever else the processors do

DOCSTRING_NAMES = {
    "tn": "tinynet",
    "nn": "tinynet.nn",
    "F": "tinynet.nn.functional",
    "optim": "tinynet.optim",
}
ORACLE = "2.13.0"
TESTS = pathlib.Path(__file__).parent / "tests"
# To import it opens the door for the whole process: torch would be tinynet for all other tests.
collect_ignore_glob = ["tinynet/as_torch/*.py"]

# The same examples in every run, and no clock: a test may not fail because a machine is busy.
hypothesis.settings.register_profile("quick", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("full", max_examples=1000, deadline=None, database=None)


def pytest_addoption(parser):
    parser.addoption("--oracle", action="store_true", help="compare with live PyTorch, too")
    parser.addoption("--full", action="store_true", help="run the slow tests, too")


def pytest_configure(config):
    os.fsync = without_waiting
    # All that loads lazily, before a single file of it is collected, which would else be imported a
    # second time; and tests that go through all operations find them, whatever ran before.
    lazy = importlib.import_module("tinynet.base.lazy")
    for package in lazy.HOMES:
        lazy.members(importlib.import_module(package))
    importlib.import_module("tinynet.ops.everything")
    # A shell starts background jobs with Ctrl-C ignored, and programs that tests start inherit it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    hypothesis.settings.load_profile("full" if config.getoption("--full") else "quick")
    if config.getoption("--oracle"):
        require_oracle()


def without_waiting(file):
    """Stand in for ``os.fsync`` in tests: refuse what it refuses, and do not wait for the disk.

    Only a computer that loses power shows the difference. Tests that ask when something is
    synchronized replace it by functions of their own.
    """
    os.fstat(file if isinstance(file, int) else file.fileno())


def require_oracle():
    """Refuse to compare with another PyTorch than the one whose answers are recorded."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        version = "none"
    if version.split("+")[0] != ORACLE:
        raise pytest.UsageError(
            f"--oracle needs torch {ORACLE}. Got {version} instead. "
            "Run: python3 run.py test --oracle"
        )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples in docstrings of tinynet only: of tests, it would import each program."""
    collectors = yield
    if TESTS in file_path.parents:
        return [each for each in collectors if type(each) is pytest.Module]
    return collectors


def pytest_itemcollected(item):
    """Let ``-k`` find a test of several cases by the name of each (tests/tools/grouped.py)."""
    if hasattr(item, "callspec"):
        item.extra_keyword_matches.update(map(str, item.callspec.params.get("cases", ())))


def pytest_collection_modifyitems(config, items):
    """Leave out what runs with an option only, and cases of samples, unless tests are named.

    To skip a test takes pytest as long as to run a small one, and there are thousands. Tests that
    are named are skipped: that says which option they need.
    """
    has_keyword = config.getoption("keyword")
    omitted = set() if config.getoption("--full") or has_keyword else {*left_cases(items)}
    is_named = has_keyword or any("::" in argument for argument in config.args)
    for marker, option in {"oracle": "--oracle", "slow": "--full"}.items():
        if not config.getoption(option):
            # Not by keywords: a folder is called oracle.
            found = [item for item in items if item.get_closest_marker(marker)]
            if is_named:
                for item in found:
                    item.add_marker(pytest.mark.skip(reason=f"only with {option}"))
            else:
                omitted.update(found)
    if omitted:
        config.hook.pytest_deselected(items=[item for item in items if item in omitted])
        items[:] = [item for item in items if item not in omitted]


def left_cases(items):
    """Find all but each n-th case of tests marked ``sampled(n)``, always the same ones."""
    seen = collections.Counter()
    for item in items:
        marker = item.get_closest_marker("sampled")
        if marker is not None:
            test = item.path, item.originalname
            if seen[test] % marker.args[0]:
                yield item
            seen[test] += 1


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep what is collected out of the garbage collector's sight: it stays to the end.

    Neither collection nor tests that collect garbage, look at all objects, compile or fork need go
    through it.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_runtest_setup(item):
    """Let an example in a docstring use some names without importing them."""
    if isinstance(item, pytest.DoctestItem):
        for name, module in DOCSTRING_NAMES.items():
            item.dtest.globs.setdefault(name, importlib.import_module(module))


@pytest.fixture
def fast_captures():
    """A capture looks at all objects that are alive; those of other tests do not matter here.

    A test freezes what is there before its own fixtures: it is to make its tensors itself.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _settings_are_left_as_found():
    """Fail a test that changes a setting of the process for the tests after it."""
    settings = importlib.import_module("tests.tools.settings").settings
    before = settings()
    yield
    changed = {name: value for name, value in settings().items() if value != before[name]}
    assert not changed, f"the test leaves settings changed: {changed}"
