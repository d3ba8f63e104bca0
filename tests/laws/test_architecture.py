"""The house rules: which way imports point, what stands at the edge, how long things may get."""

import ast
import fnmatch
import functools
import graphlib
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tinynet.base import lazy

PACKAGE = Path(__file__).parents[2] / "tinynet"
PROJECT = PACKAGE / "train/project"  # `tinynet new` writes it: a user's files
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PROJECT)

# A part may import the parts of the rows above its own, and itself; not its neighbours in a row.
ROWS = [
    ["base"],
    ["errors"],
    ["dtypes"],
    ["kernels"],
    ["core"],
    ["random"],
    ["ops"],
    ["autograd", "fft", "masked", "signal", "sparse"],
    ["distributed"],  # samplers ask for the rank, DistributedDataParallel is a Module
    ["nn", "data", "board", "distributions"],
    ["optim"],  # swa_utils.AveragedModel is a Module
    ["capture"],  # steps of optimizers and schedulers are parts of programs
    ["compiler"],
    ["exchange", "onnx"],  # Parameters are among what they store
    ["train"],
    ["backends", "amp"],
    ["cuda"],  # what scripts ask of devices
    ["compat"],  # what scripts ask of PyTorch's other packages
    ["func"],  # transforms take nested lists and dicts apart
    ["utils"],  # doors: nothing in them and __init__ but re-exports
    ["__init__"],
    ["__main__", "as_torch"],
]
# The same inside some parts.
ROWS_OF = {}
ROWS_OF["base"] = [["startup", "lazy"], ["invocation"], ["atomic_write", "memory"], ["__init__"]]
ROWS_OF["kernels"] = [
    ["threads"],
    ["llvm", "low_precision", "strides", "sums"],
    ["distances", "gamma", "indexing", "onednn"],
    ["native"],
    ["__init__"],
]
ROWS_OF["core"] = [
    ["seams"],
    ["callsite", "devices", "layouts", "printing"],
    ["numpy_errors"],
    ["modes"],
    ["trace"],
    ["arrays"],
    ["tensors"],
    ["complex_rules", "messages"],
    ["graph"],
    ["declaration"],
    ["explanations"],  # reads the tracebacks of all others
    ["__init__"],
]
# The rows of train tell the story of a run.
ROWS_OF["train"] = [
    ["base"],  # problems, tables, the files of a run
    ["models"],
    ["metrics"],
    ["step"],
    ["incidents"],  # the guard of the loop
    ["loop"],
    ["outputs"],  # what a model computes, for people
    ["exhibits", "trackers"],  # what a config may name, with models, metrics and callbacks
    ["config"],
    ["assemble"],
    ["observe"],
    ["store"],
    ["diagnose"],
    ["prediction"],
    ["show"],
    ["run"],
    ["study"],
    ["commands"],
    ["cli"],
    ["__init__"],
]
ROW_OF = {part: row for row, parts in enumerate(ROWS) for part in parts}
ROW_IN = {
    part: {room: row for row, rooms in enumerate(rows) for room in rooms}
    for part, rows in ROWS_OF.items()
}
# Rooms that stand above all others of their part: (it, what it may import).
ON_TOP = {
    "ops": "batching",  # rules for the operations of all others
}

# What is neither numpy nor the standard library is imported in one file, there also late (inside a
# function): `import tinynet` must do without it.
EDGE = {
    "board/notebook.py": {"tensorboard"},
    "board/summaries/pixels.py": {"PIL"},  # board and data do not import each other
    "board/tensorboardx.py": {"google", "tensorboardX"},
    "compat/utilities/quasirandom.py": {"scipy"},
    "compat/vision/pillow.py": {"PIL"},  # and what Pillow computes itself
    "data/readers/table_rows.py": {"pyarrow"},
    "data/readers/pillow.py": {"PIL"},
    "distributed/mpi.py": {"mpi4py"},
    "dtypes/extension_dtypes.py": {"ml_dtypes"},
    "kernels/llvm/machine.py": {"llvmlite"},
    "onnx/export.py": {"onnx"},
    "train/show/plots.py": {"matplotlib"},
    "train/study/study.py": {"optuna", "sqlite3"},  # some Pythons are built without sqlite3
    "train/trackers/services.py": {"mlflow", "wandb"},
}
# Modules whose names are known only at run time: what a user's config names.
IMPORTS_BY_NAME = {
    "train/config/user_code.py",
    "as_torch/hook.py",  # and what a path of PyTorch's stands for
    "as_torch/__main__.py",
    "nn/base/module.py",  # Module.compile: capture stands above nn
    "capture/guard/builtin_calls.py",  # captures hear what the user's code imports
    "base/lazy/__init__.py",  # and what a lazy package's table says
    "base/lazy/recorder.py",  # and all that declares operations
    "compat/paths.py",
    "compat/library_hooks.py",  # stands at import, and needs nn and board for a graph only
}

# Lists of lower rooms that upper rooms fill, besides `core/seams.py`, and why they are not there.
LATE = {
    "tinynet.dtypes.before_first": "core imports dtypes",
    "tinynet.core.tensors.tensor.Tensor._make_subclass": "a static method of Tensor",
}
CHANGES = {"append", "add", "update", "insert", "setdefault", "extend"}

# Files of a run are written and read in one place each. What else in train opens a file, and why:
OPENS_FILES = {
    "train/base/files.py": "every file of a run; checkpoints are read by exchange",
    "train/base/run_folder.py": "a new folder, before there is a run",
    "train/config/user_code.py": "the user's source files",
    "train/config/document.py": "the user's configs",
    "train/commands/training.py": "the files of a new project, which are in this package",
    "train/base/memory.py": "/proc",
    "train/show/page.py": "a file of this package",
    "train/cli.py": "/dev/null",
    "train/observe/progress.py": "/dev/null, stdout and stderr",
    "train/prediction/inputs.py": "the user's data",
    "train/run/processes.py": "/dev/null, a pipe, the temporary folders of ranks",
    "train/study/run_group.py": "the output of child processes",
    "train/trackers/services.py": "the tracker's own folder",
}
PATH_METHODS = {"read_bytes", "read_text", "write_bytes", "write_text", "unlink", "rmdir", "mkdir"}
OS_FUNCTIONS = PATH_METHODS | {
    *("open", "fdopen", "fsync", "replace", "rename", "link", "symlink", "remove", "makedirs"),
    *("truncate", "ftruncate", "rmtree", "copy", "copyfile", "copytree", "move"),
}

FILE_LINES, FUNCTION_LINES, PART_LINES = 600, 40, 2000  # of core, and of ops
# path in tinynet/, path:function, "core" or "ops" -> (lines allowed, the reason)
EXCEPTIONS: dict[str, tuple[int, str]] = {
    "core": (
        8_122,
        "PyTorch's rules to the letter; messages that explain them; quick ways for plain cases;"
        " classes derived from Tensor; the tracer of tn.compile; an example for each attribute and"
        " method of a tensor; results in PyTorch's order of memory; the texts of errors",
    ),
    "core/graph/engine.py:_run_plain": (
        45,
        "the innermost loop of training: a call per gradient would cost what it saves",
    ),
    "ops": (
        22_499,
        "all of Tensor, special and linalg, real and complex, with PyTorch's words; stft; the rules"
        " of vmap; the constructors of the first versions, from core; a third is docstrings",
    ),
}


# Doors under PyTorch's paths that stand in another part: they import as `utils` does.
DOORS: set[str] = set()

# Folders have at most 25 entries, and __init__.py; those of more:
ENTRIES = {".": (33, "PyTorch's public packages stand at the top, as users import them")}


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def part_of(path):
    if name_of(path) in DOORS:
        return "utils"
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def imports_of(path):
    """The dotted names of all modules that the import statements of a file may load."""
    return list(imported(nodes_of(path), path))


def imported(nodes, path):
    """The dotted names of all modules that the import statements among nodes may load."""
    package = ["tinynet", *path.relative_to(PACKAGE).parts[:-1]]
    for statement in nodes:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            above = package[: len(package) + 1 - statement.level] if statement.level else []
            module = ".".join([*above, *filter(None, [statement.module])])
            if module == "tinynet":  # `from tinynet import nn`, `from .. import errors`
                yield from (f"tinynet.{alias.name}" for alias in statement.names)
            else:
                yield module


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(path):
    return list(ast.walk(parsed(path)))


def lines_in(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def functions_of(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in nodes_of(path) if isinstance(node, kinds)]


def for_each_file(law):
    """Make a test of a function that asserts something of a file; it names all that break it."""

    def test():
        broken = []
        for path in FILES:
            try:
                law(path)
            except AssertionError as error:
                broken.append(str(error).partition("\nassert ")[0])
        assert not broken, "\n".join(broken)

    test.__doc__ = law.__doc__
    return test


@for_each_file
def test_imports_point_one_way(path):
    part = part_of(path)
    assert part in ROW_OF, f"{part!r} is a new part of tinynet: give it a row in ROWS"
    for name in imports_of(path):
        top, _, rest = name.partition(".")
        target = rest.split(".")[0] or "__init__"
        if top != "tinynet" or target == part:
            continue
        assert target in ROW_OF, f"{name_of(path)} imports {name}, which is no part of tinynet"
        assert ROW_OF[target] < ROW_OF[part], f"{name_of(path)} ({part}) may not import {name}"


def rooms_of(path, part):
    """The rooms of a part from which a file imports."""
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module == f"tinynet.{part}":
            yield from (alias.name for alias in node.names)
    names = (name.split(".") for name in imports_of(path))
    yield from (name[2] for name in names if name[:2] == ["tinynet", part] and len(name) > 2)


@for_each_file
def test_imports_inside_a_part_point_one_way(path):
    part = part_of(path)
    if part not in ROW_IN or name_of(path) in DOORS:
        return
    room = path.relative_to(PACKAGE).parts[1].removesuffix(".py")
    rows = ROW_IN[part]
    assert room in rows, f"{room!r} is a new room of {part}: give it a row in ROWS_OF"
    for target in {*rooms_of(path, part)} - {room}:
        assert rows[target] < rows[room], (
            f"{name_of(path)} ({room}) may not import from {part}/{target}"
        )


@for_each_file
def test_no_room_imports_the_one_on_top(path):
    part = part_of(path)
    top = ON_TOP.get(part)
    if path.relative_to(PACKAGE).parts[1:2] not in [(top,), ("__init__.py",)]:
        assert top not in {*rooms_of(path, part)}, f"{name_of(path)} may not import {part}/{top}"


def module_of(path):
    """The dotted name of the module in a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_no_file_imports_itself_by_way_of_others():
    modules = {module_of(path): path for path in FILES}
    graph = {}
    for module, path in modules.items():
        statements = [n for n in parsed(path).body if isinstance(n, ast.ImportFrom) and n.module]
        names = [(n.module, f"{n.module}.{alias.name}") for n in statements for alias in n.names]
        targets = {full if full in modules else home for home, full in names}
        graph[module] = targets & modules.keys() - {module}
    graphlib.TopologicalSorter(graph).prepare()  # CycleError names the files of a circle


def test_ctrl_c_is_prepared_for_before_anything_that_takes_time():
    first = parsed(PACKAGE / "__init__.py").body[1]
    assert ast.unparse(first).startswith("from tinynet.base import startup")
    path = PACKAGE / "base/startup.py"
    assert {*imports_of(path)} == {"gc", "os", "signal", "sys"}


@for_each_file
def test_only_numpy_and_the_standard_library_except_at_the_edge(path):
    allowed = sys.stdlib_module_names | {"numpy", "tinynet"} | EDGE.get(name_of(path), set())
    strangers = {name.split(".")[0] for name in imports_of(path)} - allowed
    assert not strangers, f"{name_of(path)} imports {sorted(strangers)}: see EDGE"


@for_each_file
def test_no_import_inside_a_function(path):
    for function in functions_of(path):
        late = {name.split(".")[0] for name in imported(ast.walk(function), path)}
        late -= EDGE.get(name_of(path), set())
        assert not late, f"{name_of(path)}:{function.lineno} {function.name} imports {sorted(late)}"


@for_each_file
def test_no_import_by_name(path):
    names = {getattr(node, "id", getattr(node, "attr", None)) for node in nodes_of(path)}
    if name_of(path) not in IMPORTS_BY_NAME:
        assert not names & {"__import__", "import_module"}, f"{name_of(path)}: see IMPORTS_BY_NAME"


@for_each_file
def test_what_lower_rooms_leave_open_is_a_seam(path):
    """An import changes nothing in another room; a room registers by calling a function."""
    rooms = {"core"} & {part_of(path)}
    here = path.relative_to(PACKAGE).parts[: 1 + len(rooms)]
    wrong = []
    for name, line in changed_at_import(path):
        there = name.split(".")[1 : 1 + len(here)]
        own = tuple(there) == tuple(part.removesuffix(".py") for part in here)
        if not own and name not in LATE and not name.startswith("tinynet.core.seams."):
            wrong.append(f"line {line} changes {name}")
    assert not wrong, f"{name_of(path)}: {wrong}: see core/seams.py"


def changed_at_import(path):
    """The imported names that top-level statements assign to or change, with their lines."""
    origins = {}
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tinynet"):
            for alias in node.names:
                origins[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    blocks = (ast.For, ast.If, ast.With, ast.Try)
    for outer in parsed(path).body:
        for statement in ast.walk(outer) if isinstance(outer, blocks) else [outer]:
            for target in changed_by(statement):
                places = [target.attr] if isinstance(target, ast.Attribute) else []
                while isinstance(target := target.value, (ast.Attribute, ast.Subscript)):
                    places += [target.attr] if isinstance(target, ast.Attribute) else []
                if isinstance(target, ast.Name) and target.id in origins:
                    whole = [origins[target.id], *reversed(places)]
                    yield ".".join(whole), statement.lineno


def changed_by(statement):
    """The attributes and items that a statement assigns to, or whose methods change them."""
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    for target in targets:
        for part in getattr(target, "elts", [target]):
            if isinstance(part, (ast.Attribute, ast.Subscript)):
                yield part
    call = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and getattr(call.func, "attr", None) in CHANGES:
        yield ast.Subscript(call.func.value, ast.Constant(0))


@for_each_file
def test_no_simple_queue_is_waited_for_with_a_timeout(path):
    """CPython 3.11's waits for ever where a signal arrives as its timeout ends."""
    names = {getattr(node, "id", getattr(node, "attr", None)) for node in nodes_of(path)}
    waits = [
        node
        for node in nodes_of(path)
        if isinstance(node, ast.keyword) and node.arg == "timeout" and "get" in names
    ]
    assert not waits or "SimpleQueue" not in names, f"{name_of(path)}: use queue.Queue"


def statements(tree):
    """Top-level statements, and in their place those that a lazy package has in its `if`."""
    for node in tree.body:
        lazy = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield from [*node.body, *node.orelse] if lazy else [node]


def test_doors_only_reexport():
    for path in FILES:
        if part_of(path) in ("utils", "__init__"):
            for node in statements(parsed(path)):
                docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                dunder = isinstance(node, ast.Assign) and ast.unparse(node).startswith(
                    ("__", "(__")
                )
                reexport = docstring or dunder or isinstance(node, ast.Import | ast.ImportFrom)
                reexport = reexport or ast.unparse(node) == "startup.imported()"
                assert reexport, f"{name_of(path)}:{node.lineno} is not a re-export"


def test_import_loads_only_numpy_and_the_standard_library():
    code = (
        "import sys, numpy; before = set(sys.modules); import tinynet;"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    root = PACKAGE.parent
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    loaded = set(run.stdout.split())
    assert "tinynet" in loaded
    assert loaded - sys.stdlib_module_names <= {"numpy", "tinynet"}
    assert "multiprocessing" not in loaded


def check_length(name, lines, budget):
    allowed, _reason = EXCEPTIONS.get(name, (budget, ""))
    hint = "split it, or write down the reason in EXCEPTIONS"
    assert lines <= allowed, f"{name} has {lines} lines, and {allowed} are allowed: {hint}"
    assert name not in EXCEPTIONS or lines > allowed - max(10, allowed // 100), (
        f"{name} has {lines} lines: lower its budget of {allowed}, which only falls"
    )


def calls_on_files(path):
    """The functions that open, write, read, rename or remove files, as they are called."""
    for call in nodes_of(path):
        called = getattr(call, "func", None)
        if isinstance(called, ast.Name) and called.id in ("open", "write_atomically", "cut"):
            yield called.id
        elif isinstance(called, ast.Attribute):
            module = getattr(called.value, "id", "") in ("os", "shutil", "io")
            if called.attr in (OS_FUNCTIONS if module else PATH_METHODS | {"touch"}):
                yield called.attr


@for_each_file
def test_files_of_a_run_are_written_and_read_in_one_place(path):
    if part_of(path) == "train":
        assert name_of(path) in OPENS_FILES or not {*calls_on_files(path)}, (
            f"{name_of(path)} calls {sorted({*calls_on_files(path)})}: use train/base/files.py"
        )


@for_each_file
def test_file_and_function_lengths(path):
    for function in functions_of(path):
        length = function.end_lineno - function.lineno + 1
        if ast.get_docstring(function) is not None:  # examples are not what makes it hard to read
            length -= function.body[0].end_lineno - function.body[0].lineno + 1
        check_length(f"{name_of(path)}:{function.name}", length, FUNCTION_LINES)
    check_length(name_of(path), lines_in(path), FILE_LINES)


@pytest.mark.parametrize("part", ["core", "ops"])
def test_core_and_ops_stay_small(part):
    total = sum(lines_in(path) for path in FILES if part_of(path) == part)
    check_length(part, total, PART_LINES)


def test_pytest_looks_into_every_folder(pytestconfig):
    """Its default leaves out folders with names such as ``build``, and the examples in them."""
    left_out = pytestconfig.getini("norecursedirs")
    files = [*PACKAGE.rglob("*.py"), *Path(__file__).parents[1].rglob("*.py")]
    folders = {name for file in files for name in file.relative_to(PACKAGE.parent).parts[:-1]}
    assert not [name for name in folders if any(fnmatch.fnmatch(name, x) for x in left_out)]


def holds_files(path):
    """Whether it is a file, or a folder with files besides those of ``__pycache__``."""
    inside = (p for p in path.rglob("*") if p.is_file())
    return path.is_file() or any("__pycache__" not in p.parts for p in inside)


def test_folders_are_small_and_say_what_is_in_them():
    for folder in {path.parent for path in FILES}:
        entries = [p for p in folder.iterdir() if p.name != "README.md" and holds_files(p)]
        name = name_of(folder)
        assert len(entries) <= ENTRIES.get(name, (26, ""))[0], f"{name} has {len(entries)} entries"
        if len(list(folder.glob("*.py"))) > 10 and folder != PACKAGE:
            readme = folder / "README.md"
            assert readme.exists(), f"{name} has {len(entries)} entries and no README.md"
            assert lines_in(readme) <= 60, f"{name}/README.md is longer than a screen"


@pytest.mark.parametrize("page", sorted(PACKAGE.rglob("README.md")), ids=name_of)
def test_a_readme_names_files_that_exist(page):
    """The files of its folder, of the folders in it, or paths from a folder around it."""
    for name in re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8")):
        around = [
            folder / name for folder in page.parents if PACKAGE.parent in (folder, *folder.parents)
        ]
        assert any(p.exists() for p in around) or [*page.parent.rglob(name)], name


def test_the_lists_name_what_exists_and_why():
    names = [name.partition(":")[0] for name in EXCEPTIONS if name not in ("core", "ops")]
    gone = [
        name
        for name in [*EDGE, *DOORS, *IMPORTS_BY_NAME, *OPENS_FILES, *names]
        if not (PACKAGE / name).exists()
    ]
    assert not gone, f"{gone} are gone: drop their entries"
    assert all(reason for _lines, reason in EXCEPTIONS.values())


# ---- docstrings ----


def public_modules():
    """`tinynet` and the packages that users import from, with the modules that PyTorch has."""
    tops = ("nn", "optim", "data", "autograd", "utils")  # walking imports: not all, not as_torch
    packages = [
        name
        for top in tops
        for name in (
            f"tinynet.{top}",
            *(
                info.name
                for info in pkgutil.walk_packages([str(PACKAGE / top)], f"tinynet.{top}.")
                if info.ispkg
            ),
        )
    ]
    extra = ["tinynet.nn.functional", "tinynet.nn.init"]
    existing = [name for name in extra if (PACKAGE / f"{name[8:].replace('.', '/')}.py").exists()]
    return ["tinynet", *packages, *existing]


def undocumented(name, value):
    """The names of `value` (a function or class) and of its public methods without a docstring."""
    if not value.__doc__ or value.__doc__ == type(value).__doc__:
        yield name
    if inspect.isclass(value):
        for attribute, member in vars(value).items():
            public = not attribute.startswith("_") and inspect.isroutine(member)
            if public and not inspect.getdoc(getattr(value, attribute)):
                yield f"{name}.{attribute}"


@pytest.mark.parametrize("module", public_modules())
def test_public_names_have_docstrings(module):
    loaded = importlib.import_module(module)
    assert loaded.__doc__, f"{module} has no docstring"
    missing = [
        entry
        for name, value in lazy.members(loaded).items()
        if not name.startswith("_")
        and callable(value)
        and getattr(value, "__module__", "").startswith("tinynet")
        for entry in undocumented(name, value)
    ]
    assert not missing, f"without a docstring in {module}: {missing}"
