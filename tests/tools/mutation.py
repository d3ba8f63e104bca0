"""Do the tests notice when one token of ``tinynet/core`` is wrong?

``python -m tests.tools.mutation --count 100 --seed 0`` copies the project to a temporary folder,
changes one random token of the code there at a time (a comparison, an operator, a constant, a text,
a removed ``not``, another variable as an argument), runs a fast selection of the tests, and prints
which test noticed. A mutation that no test notices is a survivor: a missing test, or a change that
makes no difference. ``mutation_equivalents.txt`` lists the latter, each with its reason.

The same seed gives the same mutations as long as the code stays the same.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENTS = Path(__file__).with_name("mutation_equivalents.txt")
STAGES = (  # the fastest and most likely to notice come first, the rest runs if they do not
    "tests/unit/core/test_laws.py tests/whole/situations tests/unit/autograd "
    "tests/unit/core/test_engine.py tests/unit/core/test_messages.py "
    "tests/unit/core/test_operation.py tests/unit/core tests/answers/seeds",
    "tests/answers/differential tests/unit/optim/test_optimizer.py tests/unit/nn/test_sparse.py "
    "tests/unit/nn/test_module.py tests/unit/nn/machinery tests/unit/board/test_graph.py "
    "tests/unit/board/test_recorder.py tests/laws/property/test_invariants.py "
    "tests/unit/ops/test_gradients.py",
)
TIMEOUT = 300  # seconds; a mutation that makes a test hang is noticed, too

COMPARED: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
COMPUTED: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("+",)),
    ast.Div: ("/", ("*",)),
    ast.FloorDiv: ("//", ("*",)),
    ast.Mod: ("%", ("*",)),
    ast.Pow: ("**", ("*",)),
    ast.BitOr: ("|", ("&",)),
    ast.BitAnd: ("&", ("|",)),
}


class Mutation(NamedTuple):
    """One changed token: ``before`` at ``offset`` of a file becomes ``after``."""

    path: str
    line: int
    offset: int
    before: str
    after: str
    text: str  # the line, without its indentation

    def __str__(self) -> str:
        before, after = (x if len(x) < 40 else f"{x[:37]}..." for x in (self.before, self.after))
        return f"{self.path}:{self.line}  {before!r} -> {after!r}  in  {self.text}"

    @property
    def key(self) -> str:
        """The mutation as ``mutation_equivalents.txt`` names it: line numbers move, lines stay."""
        return f"{Path(self.path).name} | {self.text} | {self.before} -> {self.after}"


class Finder(ast.NodeVisitor):
    """Collects the tokens of one file that can be changed, and into what."""

    def __init__(self, path: str, source: str):
        self.path = path
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.names: list[set[str]] = []  # local names of the functions around
        self.found: list[list[Mutation]] = []  # per token, what it can become
        self.visit(ast.parse(source))

    def place(self, line: int, column: int) -> int:
        """Return the offset in the text; the parser counts columns in UTF-8 bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self.place(node.lineno, node.col_offset),
            self.place(node.end_lineno, node.end_col_offset),
        )

    def add(self, offset: int, before: str, afters: tuple[str, ...]) -> None:
        if not self.source.startswith(before, offset):
            return  # inside an f-string, where Python 3.11 does not know the place
        line = self.source.count("\n", 0, offset) + 1
        text = self.lines[line - 1].strip()
        self.found.append(
            [Mutation(self.path, line, offset, before, after, text) for after in afters]
        )

    def between(self, left: ast.expr, right: ast.expr, token: str, afters: tuple[str, ...]) -> None:
        """Add the operator that stands between two expressions."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), self.source[start:end])
        pattern = re.escape(token).replace(r"\ ", r"\s+")
        match = re.search(rf"\b{pattern}\b" if token[0].isalpha() else pattern, gap)
        if match:
            self.add(start + match.start(), match[0], afters)

    # ---- what is left alone: annotations, docstrings, imports, __slots__ ----------------------

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if not (isinstance(target, ast.Name) and target.id == "__slots__"):
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = {a.arg for a in arguments}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                names.add(inner.id)
        self.names.append(names)
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        for statement in [*node.decorator_list, *node.body]:
            self.visit(statement)
        self.names.pop()

    # ---- what is changed ----------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            self.between(left, right, *COMPARED[type(op)])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in COMPUTED:
            self.between(node.left, node.right, *COMPUTED[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in COMPUTED:
            token, afters = COMPUTED[type(node.op)]
            self.between(node.target, node.value, f"{token}=", tuple(f"{a}=" for a in afters))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        token, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, token, (other,))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.add(self.span(node)[0], "not ", ("",))
        elif isinstance(node.op, ast.USub):
            self.add(self.span(node)[0], "-", ("+",))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self.span(node)
        before, value = self.source[start:end], node.value
        if value is True or value is False:
            self.add(start, before, (str(not value),))
        elif value is None:
            self.add(start, before, ("0",))
        elif isinstance(value, (int, float)) and before.isdigit():
            self.add(start, before, (str(int(before) + 1), str(int(before) - 1)))
        elif isinstance(value, str):
            self.text(start)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.text(self.span(node)[0])
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def text(self, start: int) -> None:
        """Add a string: its text gets two letters in front."""
        match = re.compile(r"""[rRbBfF]*(\"\"\"|'''|"|')""").match(self.source, start)
        if match:
            self.add(start, match[0], (f"{match[0]}XX",))

    def visit_Call(self, node: ast.Call) -> None:
        for argument in [*node.args, *(k.value for k in node.keywords)]:
            if isinstance(argument, ast.Name) and self.names and argument.id not in ("self", "cls"):
                others = sorted(self.names[-1] - {argument.id, "self", "cls"})
                if others:
                    self.add(self.span(argument)[0], argument.id, tuple(others))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.Name):
            self.add(self.span(node.value)[0], node.value.id, ("None",))
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp | ast.While) -> None:
        if isinstance(node.test, (ast.Name, ast.Attribute, ast.Call)):
            start, end = self.span(node.test)
            before = self.source[start:end]
            self.add(start, before, (f"not {before}",))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit_If(node)

    def visit_While(self, node: ast.While) -> None:
        self.visit_If(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(self.place(node.lineno, node.col_offset), "continue", ("break", "pass"))

    def visit_Break(self, node: ast.Break) -> None:
        self.add(self.place(node.lineno, node.col_offset), "break", ("continue", "pass"))


def mutations(root: Path, only: str) -> list[list[Mutation]]:
    """Return, per token of the code, what it can become."""
    found = []
    for file in sorted((root / "tinynet" / "core").rglob(only)):
        path = file.relative_to(root).as_posix()
        found += Finder(path, file.read_text(encoding="utf-8")).found
    return [options for options in found if options]


def sample(root: Path, count: int, seed: int, only: str) -> list[Mutation]:
    """Draw ``count`` different tokens, and one mutation of each that Python can compile."""
    rng = random.Random(seed)
    pool = mutations(root, only)
    rng.shuffle(pool)
    drawn: list[Mutation] = []
    for options in pool:
        if len(drawn) == count:
            break
        mutation = rng.choice(options)
        source = (root / mutation.path).read_text(encoding="utf-8")
        changed = mutated(source, mutation)
        with contextlib.suppress(SyntaxError), warnings.catch_warnings():
            warnings.simplefilter("error")  # Python itself would notice `is 0`
            compile(changed, mutation.path, "exec")
            if ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)):
                drawn.append(mutation)
    return drawn


def mutated(source: str, m: Mutation) -> str:
    """Return the source with the one token changed."""
    return source[: m.offset] + m.after + source[m.offset + len(m.before) :]


@contextlib.contextmanager
def applied(root: Path, m: Mutation) -> Iterator[None]:
    """Change the token in the copy of the project, for the length of the block."""
    file = root / m.path
    source = file.read_text(encoding="utf-8")
    compiled = file.parent / "__pycache__"  # goes by size and second, both may stay the same
    try:
        file.write_text(mutated(source, m), encoding="utf-8")
        for old in compiled.glob(f"{file.stem}.*.pyc"):
            old.unlink()
        yield
    finally:
        file.write_text(source, encoding="utf-8")
        for old in compiled.glob(f"{file.stem}.*.pyc"):
            old.unlink()


def run(root: Path, tests: str, *options: str) -> tuple[int | None, list[str]]:
    """Run tests of the copy; return pytest's exit code (None: hung) and what failed."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", "-rfE"]
    command += ["-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider"]
    command += [*options, *(t for t in tests.split() if (root / t).exists())]
    fast = {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    process = subprocess.Popen(
        command,
        cwd=root,
        env={**os.environ, **fast},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.communicate()
        return None, []
    return process.returncode, re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)


def equivalents() -> dict[str, str]:
    """Return the mutations that make no difference, with the reasons."""
    lines = EQUIVALENTS.read_text(encoding="utf-8").splitlines()
    rows = [line.rpartition(" | ") for line in lines if line and not line.startswith("#")]
    return {key: reason for key, _, reason in rows}


def noticed_by(root: Path, m: Mutation, skip: Sequence[str]) -> str:
    """Return what notices a mutation; "" for a survivor."""
    with applied(root, m):
        for tests in STAGES:
            code, failed = run(root, tests, "-x", *skip)
            if code is None:
                return "a timeout"
            if code != 0:
                return failed[0] if failed else "the import"
    return ""


def report(root: Path, drawn: list[Mutation]) -> list[Mutation]:
    """Run each mutation, print a line for it, and return those that no test noticed."""
    failing = [test for tests in STAGES for test in run(root, tests)[1]]
    skip = [f"--deselect={test}" for test in failing]  # they say nothing about a mutation
    print(f"{len(failing)} tests fail without a mutation and are left out", flush=True)
    reasons, survivors, harmless = equivalents(), [], 0
    for number, m in enumerate(drawn, 1):
        began = time.perf_counter()
        if m.key in reasons:
            harmless += 1
            verdict = f"EQUIVALENT: {reasons[m.key]}"
        elif by := noticed_by(root, m, skip):
            verdict = f"killed by {by}"
        else:
            survivors.append(m)
            verdict = "SURVIVED"
        seconds = time.perf_counter() - began
        print(f"{number:>3} {seconds:4.1f} s  {m}\n      {verdict}", flush=True)
    killed = len(drawn) - len(survivors) - harmless
    print(f"killed {killed} of {len(drawn)}; {harmless} make no difference; survivors:")
    for m in survivors:
        print(f"  {m.key}")
    return survivors


def main() -> int:
    """Run the check; the exit code is 1 if fewer than nine in ten were noticed."""
    parser = argparse.ArgumentParser(description="Mutation check of tinynet/core.")
    parser.add_argument("--count", type=int, default=100, help="how many mutations")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--files", default="*.py", help="only these files of core")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        ignored = shutil.ignore_patterns("__pycache__", ".*", "*.pyc")
        root.mkdir()
        for name in ("tinynet", "tests", "docs", "configs", "examples", "notebooks"):
            if (ROOT / name).exists():
                shutil.copytree(ROOT / name, root / name, ignore=ignored)
        for file in ("pyproject.toml", "conftest.py", "run.py", "README.md", "CONTRIBUTING.md"):
            if (ROOT / file).exists():
                shutil.copy(ROOT / file, root / file)
        drawn = sample(root, arguments.count, arguments.seed, arguments.files)
        survivors = report(root, drawn)
    return int(len(survivors) * 10 > len(drawn))


if __name__ == "__main__":
    sys.exit(main())
