"""The command line: ``tinynet train CONFIG`` and the other commands, which are in ``commands/``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence

from tinynet.core.callsite import OUTSIDE
from tinynet.invocation import command
from tinynet.startup import end_on_ctrl_c, raise_on_ctrl_c
from tinynet.train.checkpoint.provenance import version
from tinynet.train.commands import COMMANDS
from tinynet.train.config.problems import (
    TrainError,
    UsageError,
    did_you_mean,
    in_users_code,
    is_from_users_file,
    one_of,
    warnings_as_lines,
)
from tinynet.train.report.output import go_on_without_output, prepare_streams

_EPILOG = """\
examples:
  tinynet train configs/digits_mlp.toml
  tinynet train configs/digits_mlp.toml --set optimizer.lr=3e-4 seed=1
  tinynet sweep configs/digits_mlp.toml --set optimizer.lr=1e-3,1e-2 seed=0..4 --jobs 2
  tinynet check configs/digits_mlp.toml
  tinynet eval runs/digits_mlp/2026-01-31_12-00-00
  tinynet explain optimizer.lr

exit codes: 0 done, 1 the run failed, 2 a mistake in the config or the arguments,
130 stopped by Ctrl-C, 143 by SIGTERM.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code.

    Args:
        argv: the arguments, without the name of the program; those of the process if left out.
    """
    if argv is not None:
        return _answered(argv)
    OUTSIDE[sys.argv[0]] = False  # the script that pip makes is not the user's
    prepare_streams()
    raise_on_ctrl_c()
    code = _answered(sys.argv[1:], go_on_without_output)
    end_on_ctrl_c()
    return code


def _answered(argv: Sequence[str], begins_to_work: Callable[[], object] = bool) -> int:
    """Run one command and report what goes wrong.

    Args:
        begins_to_work: called before a command whose work is worth more than its output.
    """
    try:
        try:
            arguments = _parse(argv)
            _refuse_a_deleted_folder()
            if getattr(arguments, "works", False):
                begins_to_work()
            with warnings_as_lines():
                code: int = arguments.run_command(arguments)
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


def _refuse_a_deleted_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("the current folder has been deleted: go to another one") from None


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments; KEY=VALUE that stand alone belong to ``--set``."""
    parser = build_parser(command())
    if not words:
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    names = next(action.choices for action in parser._actions if action.dest == "command") or ()
    if not words[0].startswith("-") and words[0] not in names:
        hint = did_you_mean(words[0], names) or "."
        parser.error(f"there is no command {words[0]!r}{hint} There are: {one_of(names)}")
    arguments, others = parser.parse_known_args(words)
    for word in others:
        if word.startswith("-") or "=" not in word or not hasattr(arguments, "set"):
            parser.error(f"unrecognized arguments: {' '.join(others)}{_hint(word, arguments)}")
        arguments.set.append(word)
    return arguments


def _hint(word: str, arguments: argparse.Namespace) -> str:
    options = [f"--{name.replace('_', '-')}" for name in vars(arguments)]
    near = did_you_mean(word.partition("=")[0], options) if word.startswith("--") else ""
    if near or not hasattr(arguments, "set"):
        return near
    return " (values of the config are given with --set KEY=VALUE)"


def build_parser(program: str = "tinynet") -> argparse.ArgumentParser:
    """The parser of all commands; the documentation reads it, too."""
    parser = argparse.ArgumentParser(
        prog=program.replace("%", "%%"),
        description="Train neural networks from config files.",
        epilog=_EPILOG.replace("tinynet", program),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tinynet {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.add(commands)
    return parser
