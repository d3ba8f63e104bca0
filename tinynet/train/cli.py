"""The command line, ``tinynet COMMAND``. The commands are in ``commands/``."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

from tinynet.base import startup
from tinynet.base.invocation import command
from tinynet.base.invocation.commands import end_on_ctrl_c, raise_on_ctrl_c
from tinynet.core.callsite import OUTSIDE
from tinynet.distributed.mpi import launched_rank
from tinynet.train.base.problems import (
    TrainError,
    UsageError,
    did_you_mean,
    in_users_code,
    is_from_users_file,
    one_of,
    warnings_as_lines,
)
from tinynet.train.commands import COMMANDS, find
from tinynet.train.observe.progress import prepare_streams, survive_closed_output
from tinynet.train.store.provenance import version

_NEGATIVE_POINT = re.compile(r"-[\d.][\d.eE+-]*(,[\d.eE+-]+)+")
"""An argument such as ``-0.5,1``, which argparse would take for an option."""

_EPILOG = """\
examples:
  tinynet train configs/digits_mlp.toml
  tinynet train configs/digits_mlp.toml --set optimizer.lr=3e-4 seed=1
  mpirun -n 4 tinynet train configs/digits_mlp.toml
  tinynet sweep configs/digits_mlp.toml --set optimizer.lr=1e-3,1e-2 seed=0..4 --jobs 2
  tinynet check configs/digits_mlp.toml
  tinynet find-lr configs/digits_mlp.toml
  tinynet eval runs/digits_mlp/2026-01-31_12-00-00
  tinynet explain optimizer.lr

exit codes: 0 success, 1 the run failed, 2 a mistake in the config or the arguments,
130 stopped by Ctrl-C, 143 stopped by SIGTERM.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        argv: the arguments, without the name of the program; by default the process's.
    """
    if argv is not None:
        return _exit_code_of(argv)
    startup.started()
    OUTSIDE[sys.argv[0]] = False  # the script that pip writes is not the user's code
    prepare_streams()
    raise_on_ctrl_c()
    code = _exit_code_of(sys.argv[1:], survive_closed_output)
    end_on_ctrl_c()
    return code


def _exit_code_of(argv: Sequence[str], before_work: Callable[[], object] = bool) -> int:
    """Run one command, print its errors, and return its exit code.

    Args:
        before_work: called before a command that must finish even if its output is closed.
    """
    try:
        try:
            with _said_once():
                arguments = _parse(argv)
            if launched_rank() and not arguments.declared.shares_work(arguments):
                return 0  # the first process of mpirun runs the command
            _refuse_a_deleted_folder()
            if arguments.declared.trains:
                before_work()
            with warnings_as_lines(), _warned_once():
                code: int = arguments.declared(arguments)
        except SystemExit as stop:  # argparse, after a mistake (2) or --help (0)
            code = stop.code if isinstance(stop.code, int) else 1
        sys.stdout.flush()
        return code
    except TrainError as error:
        print(error, end="\n" if str(error) else "", file=sys.stderr)
        return error.exit_code
    except Exception as error:
        if not is_from_users_file(error):
            raise
        print(f"the run failed\n{in_users_code(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        print("stopped by Ctrl-C", *getattr(stop, "__notes__", []), sep="\n", file=sys.stderr)
        return 128 + signal.SIGINT


@contextlib.contextmanager
def _said_once() -> Iterator[None]:
    """Let only the first process of mpirun print."""
    if not launched_rank():
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        with contextlib.redirect_stderr(nowhere), contextlib.redirect_stdout(nowhere):
            yield


@contextlib.contextmanager
def _warned_once() -> Iterator[None]:
    """Let only the first process of mpirun warn, unless the user has chosen what to show."""
    if launched_rank() and not sys.warnoptions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    else:
        yield


def _refuse_a_deleted_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("the current folder has been deleted: change to another one") from None


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; a KEY=VALUE without an option belongs to ``--set``."""
    parser = build_parser(command(), words[:1] if words[:1] and words[0] in COMMANDS else COMMANDS)
    if not words:
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    if not words[0].startswith("-") and words[0] not in COMMANDS:
        hint = did_you_mean(words[0], COMMANDS) or "."
        parser.error(f"there is no command {words[0]!r}{hint} Commands: {one_of([*COMMANDS])}")
    points = [f" {word}" if _NEGATIVE_POINT.fullmatch(word) else word for word in words]
    arguments, others = parser.parse_known_args(points)  # the space: it is not an option
    for word in others:
        if word.startswith("-") or "=" not in word or not arguments.declared.takes_values:
            parser.error(f"unrecognized arguments: {' '.join(others)}{_hint(word, arguments)}")
        arguments.set = [*arguments.set, word]  # the default is shared
    return arguments


def _hint(word: str, arguments: argparse.Namespace) -> str:
    declared = arguments.declared.arguments
    options = [name for one in declared for name in one.names if name.startswith("-")]
    near = did_you_mean(word.partition("=")[0], options) if word.startswith("--") else ""
    if near or "--set" not in options:
        return near
    return " (use --set KEY=VALUE for values of the config)"


def build_parser(
    program: str = "tinynet", names: Iterable[str] = COMMANDS
) -> argparse.ArgumentParser:
    """Build the parser of some commands; the documentation is generated from it, too."""
    parser = argparse.ArgumentParser(
        prog=program.replace("%", "%%"),
        description="Train neural networks from config files.",
        epilog=_EPILOG.replace("tinynet", program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tinynet {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for one in map(find, names):
        one.add_to(commands.add_parser(one.name, help=one.help, description=one.description))
    return parser
