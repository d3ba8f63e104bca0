"""The command line: ``tinynet train CONFIG`` and the other commands, which are in ``commands/``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from tinynet.train.commands import COMMANDS
from tinynet.train.problems import (
    TrainError,
    did_you_mean,
    in_users_code,
    is_from_users_file,
    one_of,
    warnings_as_lines,
)
from tinynet.train.provenance import version

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
    try:
        arguments = _parse(argv)
        with warnings_as_lines():
            code: int = arguments.run_command(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse, after a mistake (2) or --help (0)
        return stop.code if isinstance(stop.code, int) else 1
    except BrokenPipeError:  # the reader of our output has gone, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except TrainError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except Exception as error:
        if not is_from_users_file(error):
            raise
        print(f"the run failed\n{in_users_code(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped by Ctrl-C", file=sys.stderr)
        return 128 + signal.SIGINT


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; KEY=VALUE that stand alone belong to ``--set``."""
    parser = build_parser()
    words = sys.argv[1:] if argv is None else argv
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


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; the documentation reads it, too."""
    parser = argparse.ArgumentParser(
        prog="tinynet",
        description="Train neural networks from config files.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tinynet {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser
