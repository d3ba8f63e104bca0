"""The command line: ``tinynet train CONFIG``, ``tinynet eval RUN``, ``tinynet explain TOPIC``."""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
from collections.abc import Sequence

from tinynet.explanations import all_pages, explain, topics
from tinynet.train.problems import TrainError, UsageError
from tinynet.train.provenance import version
from tinynet.train.runner import evaluate_run, run

_EPILOG = """\
examples:
  tinynet train configs/digits_mlp.toml
  tinynet train configs/digits_mlp.toml --set optimizer.lr=3e-4 --set run.seed=1
  tinynet eval runs/digits_mlp/2026-01-31_12-00-00
  tinynet explain inplace-saved

exit codes: 0 done, 1 the run failed, 2 a mistake in the config or the arguments,
130 stopped by Ctrl-C.
"""

_TRAIN = """\
Train the model that a TOML file describes. A bar (or, when the output is not a terminal, a line
per epoch) shows how it goes. Everything that comes of it is in a new folder,
runs/<name of the config>/<date and time>: the config in full, a checkpoint, the metrics of each
epoch, and curves and graph for TensorBoard.
"""

_EVAL = """\
Load the checkpoint of a run and measure its model on the test set of its config.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code.

    Args:
        argv: the arguments, without the name of the program; those of the process if left out.
    """
    try:
        arguments = _parser().parse_args(argv)
        return _command(arguments)
    except SystemExit as stop:  # argparse, after a mistake (2) or --help (0)
        return stop.code if isinstance(stop.code, int) else 1
    except TrainError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped by Ctrl-C", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader of our output has gone, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _command(arguments: argparse.Namespace) -> int:
    if arguments.command == "eval":
        evaluate_run(arguments.run)
        return 0
    if arguments.command == "explain":
        print(all_pages() if arguments.all else _explanation(arguments.topic))
        return 0
    result = run(arguments.config, arguments.set, out=arguments.out)
    return 0 if result.stopped_by is None else 128 + result.stopped_by


def _explanation(topic: str | None) -> str:
    """The page on a topic; without one, the titles of all pages."""
    if topic is None:
        titles = {name: explain(name).splitlines()[0].removeprefix("# ") for name in topics()}
        return "\n".join(f"{name:<16} {title}" for name, title in titles.items())
    if topic not in topics():
        near = difflib.get_close_matches(topic, topics(), n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(
            f"There is no explanation of {topic!r}.{hint} There are: {', '.join(topics())}"
        )
    return explain(topic).rstrip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tinynet",
        description="Train neural networks from config files.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tinynet {version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    train = commands.add_parser(
        "train", help="train what a config file describes", description=_TRAIN
    )
    train.add_argument("config", metavar="CONFIG", help="the TOML file")
    train.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="put a value in place of the file's, such as optimizer.lr=3e-4; may be repeated",
    )
    train.add_argument(
        "--out", metavar="DIR", help="the folder for the folders of runs (default: runs)"
    )
    evaluate = commands.add_parser(
        "eval", help="measure the model of a run again", description=_EVAL
    )
    evaluate.add_argument("run", metavar="RUN", help="a run folder, or a checkpoint in one")
    explanation = commands.add_parser(
        "explain",
        help="say what an error means and what to do",
        description="Print the page on an error whose message names it; without one, list them.",
    )
    explanation.add_argument("topic", metavar="TOPIC", nargs="?", help="such as inplace-saved")
    explanation.add_argument("--all", action="store_true", help="print all pages, as one document")
    return parser
