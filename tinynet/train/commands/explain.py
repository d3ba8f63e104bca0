"""``tinynet explain [RUN | TOPIC | KEY]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinynet.base.invocation import command
from tinynet.core.explanations import all_pages, explain, topics
from tinynet.core.explanations.arguments import nearest
from tinynet.train.base.problems import UsageError
from tinynet.train.base.terminal import aligned
from tinynet.train.commands.options import argument, declare, run_place
from tinynet.train.config.reference import explain_key, known_keys
from tinynet.train.diagnose.explanation import explain_run, is_explained, list_runs, replayed

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
def run_command(arguments: argparse.Namespace) -> int:
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
