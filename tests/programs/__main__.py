"""`python -m tests.programs`: run the listed public programs through the door.

python -m tests.programs --repositories FOLDER           all, compared with the recorded answers
python -m tests.programs --repositories FOLDER pygcn     those whose names contain `pygcn`
python -m tests.programs --repositories FOLDER --record  run them on PyTorch, and note its answers
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
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from tests.programs.comparison import verdict
from tests.programs.made import MAKERS

HERE = Path(__file__).parent
ANSWERS = HERE / "answers.json"


class Program(NamedTuple):
    """A program: where it is, how it is called, and how long it may run."""

    repository: str
    commit: str
    command: str
    steps: int
    seconds: float
    files: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return f"{self.repository} {self.command}"


def listed() -> list[Program]:
    """The programs of programs.toml."""
    found = []
    for entry in tomllib.loads((HERE / "programs.toml").read_text("utf-8"))["repository"]:
        for program in entry["programs"]:
            options: dict[str, Any] = {"run": program} if isinstance(program, str) else program
            steps, seconds = options.get("steps", 24), options.get("seconds", 8.0)
            files = tuple({**entry.get("files", {}), **options.get("files", {})}.items())
            found.append(
                Program(entry["name"], entry["commit"], options["run"], steps, seconds, files)
            )
    return found


class Repositories:
    """Git repositories: those of a folder, `OWNER+NAME/repo` in it, else GitHub's."""

    def __init__(self, folder: Path | None, work: Path):
        self.folder, self.work = folder, work

    def checked_out(self, name: str, commit: str) -> Path:
        """A folder with the files of a commit."""
        target = self.work / name.replace("/", "+")
        if not target.exists():
            git = self._git(name)
            target.mkdir()
            archive = target / "all.tar"
            command = ["archive", "-o", str(archive), commit, ".", *lacking(git, commit)]
            output(git, *command)
            shutil.unpack_archive(archive, target, filter="data")
            archive.unlink()
        return target

    def _git(self, name: str) -> Path:
        if self.folder is not None:
            bare = self.folder / name.replace("/", "+") / "repo"
            return bare / ".git" if (bare / ".git").exists() else bare
        clone = self.work / (name.replace("/", "+") + ".git")
        command = ["git", "clone", "--bare", f"https://github.com/{name}", str(clone)]
        subprocess.run(command, check=True, capture_output=True)
        return clone


def output(git: Path, *command: str, said: str = "") -> str:
    """What a git command prints."""
    full = ["git", "--git-dir", str(git), *command]
    return subprocess.run(full, input=said, capture_output=True, text=True, check=True).stdout


def lacking(git: Path, commit: str) -> list[str]:
    """Pathspecs that exclude the files that a copy came without: large ones."""
    paths: dict[str, list[str]] = {}
    for line in output(git, "ls-tree", "-r", "-z", commit).split("\0")[:-1]:
        facts, _, path = line.partition("\t")
        paths.setdefault(facts.split()[2], []).append(path)
    there = output(git, "cat-file", "--batch-check", said="\n".join(paths) + "\n")
    gone = [line.split()[0] for line in there.splitlines() if line.endswith("missing")]
    return [f":(exclude,literal){path}" for name in gone for path in paths[name]]


def run(program: Program, engine: str, repositories: Repositories) -> dict[str, Any]:
    """Run a program on "torch" or "tinynet"; what launch.py found out."""
    root = repositories.checked_out(program.repository, program.commit)
    for path, maker in program.files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        MAKERS[maker](root / path)  # each time anew: a program may have changed them
    file, *arguments = shlex.split(program.command)
    place = (root / file.partition("#")[0]).parent
    result = Path(tempfile.mkstemp(dir=repositories.work)[1])
    result.unlink()
    limits = [str(program.steps), str(program.seconds)]
    name = str(root / file)
    command = [sys.executable, str(HERE / "launch.py"), engine, str(result), *limits, name]
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    paths = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    child = subprocess.Popen(
        [*command, *arguments], cwd=place, env=paths, start_new_session=True, **quiet
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(program.seconds * 8)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # the workers of data loaders, too
    child.wait()
    if not result.exists():
        return {
            "status": "error",
            "error": "it ended without a word",
            "series": {},
            "seconds": None,
        }
    return json.loads(result.read_text("utf-8"))  # type: ignore[no-any-return]


def lines(answers: dict[str, Any]) -> str:
    """Answers as JSON, a line for each program."""
    found = [f"{json.dumps(name)}: {json.dumps(answers[name])}" for name in sorted(answers)]
    return "{\n" + ",\n".join(found) + "\n}\n"


def main(arguments: list[str]) -> int:
    """Run programs and print a line for each; 1 if less than 95 % run as on PyTorch."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description=__doc__)
    parser.add_argument("names", nargs="*", help="only programs whose names contain one of these")
    parser.add_argument("--repositories", type=Path, help="a folder of git repositories")
    parser.add_argument("--record", action="store_true", help="run on PyTorch, note the answers")
    parser.add_argument("--new", action="store_true", help="with --record: only what is not noted")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="where they are noted")
    options = parser.parse_args(arguments)
    answers = json.loads(options.answers.read_text("utf-8")) if options.answers.exists() else {}
    chosen = [p for p in listed() if not options.names or any(n in p.name for n in options.names)]
    if options.new:
        chosen = [p for p in chosen if p.name not in answers]
    if not options.record:  # what does not run on PyTorch says nothing
        chosen = [
            p for p in chosen if answers.get(p.name, {"status": "error"})["status"] != "error"
        ]
    good = 0
    with tempfile.TemporaryDirectory() as work:
        repositories = Repositories(options.repositories, Path(work))
        for program in chosen:
            engine = "torch" if options.record else "tinynet"
            found = run(program, engine, repositories)
            if options.record:
                said = f"{found['status']} {found['error']}".strip()
                answers[program.name] = found
                options.answers.write_text(
                    json.dumps(answers, indent=0, sort_keys=True) + "\n", "utf-8"
                )
            else:
                said = verdict(found, answers.get(program.name))
                good += said.startswith("ok")
            print(f"{program.name}: {said}", flush=True)
    if options.record:
        return 0
    print(f"{good} of {len(chosen)} run as on PyTorch")
    return int(good < 0.95 * len(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
