"""`python -m tests.whole.programs`: run the listed public programs on tinynet.

python -m tests.whole.programs --repositories FOLDER               all; compare with PyTorch
python -m tests.whole.programs --repositories FOLDER pygcn         those whose names contain `pygcn`
python -m tests.whole.programs --repositories FOLDER --results FILE continue a run that was cut off
python -m tests.whole.programs --repositories FOLDER --record      run on PyTorch; note its answers
python -m tests.whole.programs --repositories FOLDER --sync        run on both, step by step
python -m tests.whole.programs --repositories FOLDER --sync --double the same, in float64 only
python -m tests.whole.programs --repositories FOLDER --itself      PyTorch in place of tinynet
python -m tests.whole.programs --repositories FOLDER --captured    modules captured and not
"""

import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.whole.programs.comparison import (
    CLOSE,
    CLOSE_IN_DOUBLE,
    NOTHING,
    REPEATED,
    UNCOMPARED,
    step_verdict,
    verdict,
)
from tests.whole.programs.made import MAKERS, training

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")
NUDGES = "1e-15", "1e-14"  # relative changes of random numbers: rounding, and some of it summed
FIXED = {**ONE_THREAD, "PYTHONHASHSEED": "0"}  # the order of a set of words numbers a vocabulary


class Program(NamedTuple):
    """A program: its location, its command line and its time limit."""

    repository: str
    commit: str
    command: str
    steps: int
    seconds: float
    files: tuple[tuple[str, str], ...]
    code: str = ""

    @property
    def name(self) -> str:
        return f"{self.repository} {self.command}"


def listed(file: Path) -> list[Program]:
    """Return the programs of a list such as programs.toml."""
    found = []
    for entry in tomllib.loads(file.read_text("utf-8"))["repository"]:
        for program in entry["programs"]:
            options: dict[str, Any] = {"run": program} if isinstance(program, str) else program
            steps, seconds = options.get("steps", 24), options.get("seconds", 8.0)
            files = tuple({**entry.get("files", {}), **options.get("files", {})}.items())
            code = training(options["setup"], options["loss"]) if "setup" in options else ""
            facts = entry["name"], entry["commit"], options["run"], steps, seconds, files, code
            found.append(Program(*facts))
    return found


class Repositories:
    """Git repositories: those in a folder, as `OWNER+NAME/repo`, else GitHub's."""

    def __init__(self, folder: Path | None, work: Path):
        self.folder, self.work = folder, work

    def checked_out(self, name: str, commit: str) -> Path:
        """A folder with the files of a commit, and without those that the last run left."""
        target = self.work / name.replace("/", "+")
        shutil.rmtree(target, ignore_errors=True)
        git, archive = self._git(name), self.work / "all.tar"
        output(git, "archive", "-o", str(archive), commit, ".", *lacking(git, commit))
        with tarfile.open(archive) as files:
            files.extractall(target, filter=inside)
        archive.unlink()
        return target

    def _git(self, name: str) -> Path:
        if self.folder is not None:
            bare = self.folder / name.replace("/", "+") / "repo"
            return bare / ".git" if (bare / ".git").exists() else bare
        clone = self.work / (name.replace("/", "+") + ".git")
        if not clone.exists():
            command = ["git", "clone", "--bare", f"https://github.com/{name}", str(clone)]
            subprocess.run(command, check=True, capture_output=True, text=True)
        return clone


def inside(member: tarfile.TarInfo, target: str) -> tarfile.TarInfo | None:
    """Leave out what leaves the folder, such as links to another machine's data."""
    try:
        return tarfile.data_filter(member, target)
    except tarfile.FilterError:
        return None


def output(git: Path, *command: str, said: str = "") -> str:
    """Return the output of a git command."""
    full = ["git", "--git-dir", str(git), *command]
    return subprocess.run(full, input=said, capture_output=True, text=True, check=True).stdout


def lacking(git: Path, commit: str) -> list[str]:
    """Return pathspecs that exclude files missing from a copy: large ones."""
    paths: dict[str, list[str]] = {}
    for line in output(git, "ls-tree", "-r", "-z", commit).split("\0")[:-1]:
        facts, _, path = line.partition("\t")
        paths.setdefault(facts.split()[2], []).append(path)
    there = output(git, "cat-file", "--batch-check", said="\n".join(paths) + "\n")
    gone = [line.split()[0] for line in there.splitlines() if line.endswith("missing")]
    return [f":(exclude,literal){path}" for name in gone for path in paths[name]]


def run(
    program: Program,
    engine: str,
    repositories: Repositories,
    limit: float,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Run a program on "torch" or "tinynet", for at most `limit` seconds; return its result."""
    try:
        root = repositories.checked_out(program.repository, program.commit)
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip() or str(error)
        return without_numbers("missing", said)
    for path, maker in program.files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        MAKERS[maker](root / path)  # each time anew: a program may have changed them
    file, *arguments = shlex.split(program.command)
    if program.code:
        (root / file).write_text(program.code, "utf-8")
    result = Path(tempfile.mkstemp(dir=repositories.work)[1])
    result.unlink()
    limits = [str(program.steps), str(program.seconds)]
    launch = [sys.executable, str(HERE / "launch.py"), engine, str(result), *limits]
    paths = f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    child = subprocess.Popen(
        [*launch, str(root / file), *arguments],
        cwd=(root / file.partition("#")[0]).parent,
        env={**os.environ, **FIXED, **settings, "PYTHONPATH": paths},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ended = "it ended without a word"
    try:
        child.wait(limit)
    except subprocess.TimeoutExpired:
        ended = f"it was stopped after {limit:g} seconds"
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # the workers of data loaders, too
    child.wait()
    if not result.exists():
        return without_numbers("error", ended)
    return json.loads(result.read_text("utf-8"))  # type: ignore[no-any-return]


def without_numbers(status: str, error: str) -> dict[str, Any]:
    """Return the result of a run that wrote none."""
    numbers: dict[str, Any] = {"series": {}, "outputs": [], "gradients": []}
    return {"status": status, "error": error, "seconds": None, **numbers}


class Answers(dict[str, dict[str, Any]]):
    """The results of programs by name, in a file that is updated after each."""

    def __init__(self, file: Path | None):
        known = file.read_text("utf-8") if file is not None and file.exists() else "{}"
        super().__init__(json.loads(known))
        self.file = file

    def note(self, name: str, found: dict[str, Any]) -> None:
        self[name] = found
        if self.file is not None:  # a line for each program; a run that is cut off keeps the rest
            rows = [f"{json.dumps(name)}: {json.dumps(self[name])}" for name in sorted(self)]
            part = self.file.with_name(self.file.name + ".part")
            part.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
            part.replace(self.file)


def short(found: dict[str, Any]) -> dict[str, Any]:
    """Return a result with four digits of each number, and the error only if there is one."""
    series = {site: [float(f"{x:.4g}") for x in losses] for site, losses in found["series"].items()}
    seconds = found["seconds"] and float(f"{found['seconds']:.4g}")
    error = {"error": found["error"]} if found["error"] else {}
    return {"series": series, "seconds": seconds, "status": found["status"], **error}


def record(chosen: list[Program], answers: Answers, repositories: Repositories) -> int:
    """Run programs on PyTorch and record the results."""
    for program in chosen:
        found = run(program, "torch", repositories, program.seconds * 8)
        if found["status"] != "missing":
            answers.note(program.name, short(found))
        print(f"{program.name}: {found['status']} {found['error']}".strip(), flush=True)
    return 0


def compare(
    chosen: list[Program],
    answers: Answers,
    results: Answers,
    repositories: Repositories,
    limit: float,
) -> int:
    """Run programs on tinynet and print verdicts; return 1 if fewer than 95 % are good."""
    counts: Counter[str] = Counter()
    for program in chosen:
        expected = answers.get(program.name)
        found = results.get(program.name)
        if found is None or not verdict(found, expected).startswith("ok"):
            found = run(program, "tinynet", repositories, limit)
            results.note(program.name, found)
        said = verdict(found, expected)
        counts[said.split()[0]] += 1
        print(f"{program.name}: {said}", flush=True)
    known = counts.total() - counts["MISSING"]
    print(f"{counts['ok']} of {known} run as on PyTorch; ", end="")
    print(f"{counts['FAILED']} failed, the losses of {counts['DIFFERS']} differ", end="")
    print(f"; {counts['MISSING']} were not there")
    return few(counts["ok"], known)


def few(good: int, known: int) -> int:
    """Return 1 if fewer than 95 % of the programs that could be compared are good, or none is."""
    return int(good < max(0.95 * known, 1))


def step_by_step(
    chosen: list[Program], repositories: Repositories, limit: float, double: bool = False
) -> int:
    """Run programs on both engines with the same random numbers; return 1 if below 95 %."""
    counts: Counter[str] = Counter()
    for program in chosen:
        said = on_both(program, repositories, limit, double)
        if said.startswith("DIFFERS") and not double:  # rounding explains less in float64
            exact = on_both(program, repositories, limit, double=True)
            agrees = exact.startswith("ok") and exact != NOTHING
            said = f"{exact} in float64: {said}" if agrees else f"{said}; {exact}"
            counts["float64"] += agrees
        counts[said.split()[0]] += 1
        print(f"{program.name}: {said}", flush=True)
    known = counts.total() - counts["UNKNOWN"] - counts["float64"]
    print(f"{counts['ok']} of {known} give PyTorch's numbers, ", end="")
    print(f"{counts['float64']} of them in float64 only; {counts['FAILED']} failed")
    return few(counts["ok"], known)


def on_both(program: Program, repositories: Repositories, limit: float, double: bool) -> str:
    """Run a program on both engines with the same random numbers; return the verdict."""
    settings = {"SAME_NUMBERS": "1", **({"IN_DOUBLE": "1"} if double else {})}
    expected = run(program, "torch", repositories, program.seconds * 8, settings)
    if expected["status"] in UNCOMPARED:
        return f"UNKNOWN PyTorch: {expected['error']}"
    found = run(program, "tinynet", repositories, limit, settings)
    said = step_verdict(found, expected, CLOSE_IN_DOUBLE if double else CLOSE)
    if not (double and said.startswith("DIFFERS")):
        return said
    same, *nudged = [
        run(program, "torch", repositories, program.seconds * 8, {**settings, "NUDGE": nudge})
        for nudge in ("0", *NUDGES)
    ]
    if step_verdict(same, expected, REPEATED) != "ok":  # it draws numbers that are not ours
        return f"{said}; PyTorch gives other numbers each time"
    again = step_verdict(found, expected, CLOSE_IN_DOUBLE, nudged)
    return f"ok (as near as nudged weights on PyTorch; {said})" if again == "ok" else said


def repeated(chosen: list[Program], repositories: Repositories) -> int:
    """Run programs twice on PyTorch with the same random numbers; return 1 if any differs.

    The second run stands in place of tinynet's, with another seed of the engine's own generator:
    what differs is a fault of the comparison.
    """
    good = 0
    for program in chosen:
        settings, limit = {"SAME_NUMBERS": "1"}, program.seconds * 8
        first = second = run(program, "torch", repositories, limit, settings)
        if first["status"] not in UNCOMPARED:
            second = run(program, "torch", repositories, limit, {**settings, "OTHER_SEED": "1"})
        said = step_verdict(second, first, REPEATED)
        good += said.startswith("ok")
        print(f"{program.name}: {said}", flush=True)
    print(f"{good} of {len(chosen)} repeat their numbers on PyTorch")
    return int(good < len(chosen))


def captured(chosen: list[Program], repositories: Repositories, limit: float) -> int:
    """Run programs on tinynet as they are and with compiled modules; return 1 if any differs.

    Replays give eager code's numbers to the bit, without a verification.
    """
    counts: Counter[str] = Counter()
    for program in chosen:

        def run_as(form: str, program: Program = program) -> dict[str, Any]:
            return run(program, "tinynet", repositories, limit, {"CAPTURED": form})

        eager, compiled = run_as("0"), run_as("1")
        said = step_verdict(compiled, eager, 0)
        if eager["status"] in UNCOMPARED:
            said = f"UNKNOWN {eager['error']}"
        elif said.startswith("DIFFERS") and step_verdict(run_as("0"), eager, 0) != "ok":
            said = "UNKNOWN it does not repeat its own numbers"
        replays, captures, others = compiled.get("calls", [0, 0, 0])
        counts[said.split()[0]] += 1
        counts["replayed"] += replays > 0
        calls = f"{replays} calls replayed, {captures} captured, {others} eager"
        words = f"{program.name}: {said}", calls, *compiled.get("reasons", [])
        print("; ".join(words), flush=True)
    same = f"{counts['ok']} give the same numbers captured, {counts['replayed']} of them by replays"
    print(f"{same}; {counts['DIFFERS']} differ, {counts['FAILED']} failed")
    return int(counts["DIFFERS"] > 0)


def main(arguments: list[str]) -> int:
    """Select programs; record or compare them."""
    parser = argparse.ArgumentParser(prog="python -m tests.whole.programs", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", help="only programs whose names contain one of these")
    parser.add_argument("--repositories", type=Path, help="a folder of git repositories")
    parser.add_argument("--record", action="store_true", help="run on PyTorch, note the answers")
    parser.add_argument("--sync", action="store_true", help="the same random numbers on both")
    parser.add_argument("--itself", action="store_true", help="the same, on PyTorch twice")
    parser.add_argument("--captured", action="store_true", help="modules compiled, and not")
    parser.add_argument("--double", action="store_true", help="with --sync: float64 only")
    parser.add_argument("--new", action="store_true", help="with --record: only what is not noted")
    parser.add_argument("--list", type=Path, default=HERE / "programs.toml", help="the programs")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="PyTorch's answers")
    parser.add_argument("--results", type=Path, help="a file of what is done")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a program may take")
    options = parser.parse_args(arguments)
    answers = Answers(options.answers)
    chosen = [
        p
        for p in listed(options.list)
        if not options.names or any(n in p.name for n in options.names)
    ]
    with tempfile.TemporaryDirectory() as work:
        repositories = Repositories(options.repositories, Path(work))
        if options.record:
            chosen = [p for p in chosen if not options.new or p.name not in answers]
            return record(chosen, answers, repositories)
        if options.itself:
            return repeated(chosen, repositories)
        if options.captured:
            return captured(chosen, repositories, options.limit)
        if options.sync:
            return step_by_step(chosen, repositories, options.limit, options.double)
        # what does not run on PyTorch says nothing
        chosen = [
            p for p in chosen if answers.get(p.name, {"status": "error"})["status"] != "error"
        ]
        return compare(chosen, answers, Answers(options.results), repositories, options.limit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
