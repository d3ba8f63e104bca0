"""The response of a run to NaN or infinity: store the step, then stop or skip it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tinynet.base.invocation import command, shown
from tinynet.core.printing import quantity
from tinynet.train.base.problems import TrainError, in_users_code
from tinynet.train.base.run_folder import RunFolder
from tinynet.train.config.sections import RunSection
from tinynet.train.incidents.post_mortem import PostMortem, Report
from tinynet.train.step.task import NonFiniteError


class Incidents:
    """Stores each failed step in the run folder, and decides for `fit` whether to skip it.

    Args:
        run: the settings of the run.
        folder: the run folder.
        message: called with a message for each skipped step.

    Attributes:
        skipped: the number of skipped steps.
    """

    def __init__(self, run: RunSection, folder: RunFolder, message: Callable[[str], None]) -> None:
        self.run = run
        self.folder = folder
        self.message = message
        self.skipped = 0

    def __call__(self, error: NonFiniteError) -> bool:
        """Store the post-mortem, and return whether to skip the step."""
        allowed = self.run.non_finite == "skip"
        skips = allowed and self.skipped < self.run.skip_limit
        self.skipped += skips
        error.remarks += self._store(error, skips)
        if allowed and not skips:
            error.remarks.append(
                f"  {'skipped':<8} {quantity(self.skipped, 'step')} before this one, and "
                "run.skip_limit allows no more"
            )
        if skips and isinstance(error.post_mortem, PostMortem):
            text = brief(error.post_mortem.report)
            self.message(f"skipped {text} ({self.skipped} of at most {self.run.skip_limit})")
        return skips

    def _store(self, error: NonFiniteError, skipped: bool) -> list[str]:
        """Write the post-mortem, and return lines for the message."""
        if not isinstance(error.post_mortem, PostMortem):
            return []
        report = replace(error.post_mortem.report, skipped=skipped)
        path = self.folder.post_mortems / f"step_{report.step}"
        try:
            replace(error.post_mortem, report=report).save(path)
        except TrainError as problem:  # a full disk, or a batch that cannot be stored
            return [f"  {'kept':<8} not everything: {problem}"]
        return [f"  {'kept':<8} {shown(path)}", f"  {'':<8} {command('explain', self.folder.path)}"]


def brief(report: Report) -> str:
    """Format a report as ``step 30 (epoch 2, batch 7 of 23): the loss is nan, made by log``."""
    where = f"step {report.step} (epoch {report.epoch}, batch {report.batch} of {report.batches})"
    made = report.suspects[0].brief if report.suspects else "of unknown origin"
    return f"{where}: {report.what}, {made}"


def error_text(error: Exception) -> str:
    """Return the text of an error for the run record."""
    if isinstance(error, NonFiniteError):
        return error.headline
    if isinstance(error, TrainError):
        return str(error)
    return in_users_code(error)
