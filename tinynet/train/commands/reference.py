"""``tinynet show``, ``list`` and ``explain``: what a config says, may say, and what went wrong."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinynet.base.invocation import command
from tinynet.core.explanations import all_pages, explain, topics
from tinynet.core.explanations.arguments import nearest
from tinynet.train.base.problems import UsageError, did_you_mean, one_of
from tinynet.train.base.terminal import aligned
from tinynet.train.commands.options import CONFIG, SET, argument, declare, full_keys, run_place
from tinynet.train.config.reference import KINDS, explain_key, known_keys, list_types, to_toml
from tinynet.train.config.resolve import load_config
from tinynet.train.diagnose.explanation import explain_run, is_explained, list_runs, replayed
from tinynet.train.metrics.registry import METRICS


@declare(
    "show",
    "print a config in full, with the origin of each value",
    CONFIG,
    SET,
)
def show_command(arguments: argparse.Namespace) -> int:
    """Check a config and print it in full: every value, including defaults, and where each came
    from: a line of the file or of one of its bases, the command line, or the defaults.
    """
    print(to_toml(load_config(arguments.config, full_keys(arguments.set))), end="")
    return 0


_SHOWN = 4


def _kinds() -> list[str]:
    return [*KINDS, "metrics"]


@declare(
    "list",
    "list the available types",
    argument("section", metavar="SECTION", nargs="?", help=f"{one_of(_kinds())}"),
)
def list_command(arguments: argparse.Namespace) -> int:
    """List the types that a section accepts, with their arguments; without a section, list the
    sections.

    A type may also be ./file.py:Name or package.module:Name.
    """
    chosen = arguments.section
    if chosen is not None and chosen not in _kinds():
        hint = did_you_mean(chosen, _kinds())
        raise UsageError(
            f"there is no section {chosen!r}{hint or '.'} Sections: {one_of(_kinds())}"
        )
    print(list_types(chosen) if chosen else _overview())
    return 0


def _overview() -> str:
    """Return a table of the sections and their types, and how to list them."""
    rows = [("section", "types", "such as")]
    for kind in _kinds():
        names = sorted(KINDS[kind].names() if kind in KINDS else METRICS)
        more = ["..."] if len(names) > _SHOWN else []
        rows.append((kind, str(len(names)), ", ".join([*names[:_SHOWN], *more])))
    hints = [
        f"list the types of a section: {command('list', 'SECTION')}",
        f"explain a type or a key: {command('explain', 'NAME')}",
    ]
    return "\n".join([*aligned(rows), "", *hints])


_MOST = 5  # suggested names


@declare(
    "explain",
    "explain how a run went, an error, or a config key",
    argument(
        "topic",
        metavar="TOPIC",
        nargs="?",
        type=run_place,
        help="a run folder (`latest` is the last run in runs), a folder of runs, inplace-saved, "
        "optimizer.lr, ...",
    ),
    argument(
        "--replay",
        action="store_true",
        help="for a run that reached NaN: repeat the step, and report what makes the NaN now",
    ),
    argument("--all", action="store_true", help="print all pages as one document"),
)
def explain_command(arguments: argparse.Namespace) -> int:
    """Explain one of these: how a run went and why it failed (RUN); the runs in a folder; an error,
    by the topic that its message names (inplace-saved); a config key (optimizer.lr), section
    (optimizer), type (AdamW) or metric (top5).

    Without an argument, list the topics.
    """
    if arguments.replay:
        print(replayed(Path(arguments.topic or ".")))
    else:
        print(all_pages() if arguments.all else _page(arguments.topic))
    return 0


def _page(topic: str | None) -> str:
    """Return the page on a topic; without a topic, the titles of all pages."""
    if topic is None:
        titles = {name: explain(name).splitlines()[0].removeprefix("# ") for name in topics()}
        return "\n".join(aligned([*titles.items()]))
    if is_explained(Path(topic)):
        return explain_run(Path(topic))
    if topic in topics():
        return explain(topic).rstrip()
    page = explain_key(topic)
    if page is None:
        if Path(topic).is_dir():
            return list_runs(Path(topic))
        known = [*topics(), *known_keys()]
        inside = [name for name in known if len(topic) > 2 and topic.lower() in name.lower()]
        near = inside[:_MOST] or [*filter(None, [nearest(topic, known)])]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(
            f"There is no explanation of {topic!r}.{hint} Topics: {', '.join(topics())}; "
            f"and the keys and types of configs (see `{command('list')}`)"
        )
    return page
